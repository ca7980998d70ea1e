"""axe-core, the checker of accessibility, from npm into the user's cache."""

from __future__ import annotations

import functools
import shutil
import subprocess
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

from rig.browser import needed
from rig.kept import kept

VERSION = "4.10.3"
_SCRIPT = Path("node_modules") / "axe-core" / "axe.min.js"
_GRAVE = {"serious", "critical"}


@functools.cache
def source() -> str:
    """The script of axe-core; installed once per version."""
    return (kept(f"axe-core-{VERSION}", _install) / _SCRIPT).read_text("utf-8")


def _install(folder: Path) -> None:
    npm = shutil.which("npm")
    if npm is None:
        needed("no npm on the PATH to install axe-core with")
    command = [str(npm), "install", "--no-audit", "--no-fund", "--ignore-scripts", f"axe-core@{VERSION}"]
    done = subprocess.run(
        [*command, "--prefix", str(folder)], capture_output=True, text=True, timeout=180, check=False
    )
    if done.returncode or not (folder / _SCRIPT).exists():
        needed(f"axe-core could not be installed: {done.stderr[-300:]}")


def grave(page: Page) -> list[str]:
    """The serious and critical violations of a page, one line each."""
    # Evaluated by the test, not loaded by the page: its policy forbids scripts that are not its own.
    if page.evaluate("typeof axe") == "undefined":
        page.evaluate(source())
    found: dict[str, Any] = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{violation['id']} ({violation['impact']}): {node['html'][:160]} {node['failureSummary'][:200]}"
        for violation in found["violations"]
        if violation["impact"] in _GRAVE
        for node in violation["nodes"][:3]
    ]
