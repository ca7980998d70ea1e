"""axe-core, the checker of accessibility, from npm into the user's cache."""

from __future__ import annotations

import functools
import shutil
import subprocess
from pathlib import Path
from typing import Any

import platformdirs
from playwright.sync_api import Page

from rig.browser import needed

VERSION = "4.10.3"
_GRAVE = {"serious", "critical"}


@functools.cache
def source() -> str:
    """The script of axe-core; installed once per version."""
    folder = Path(platformdirs.user_cache_dir("pilotage-tests")) / f"axe-core-{VERSION}"
    script = folder / "node_modules" / "axe-core" / "axe.min.js"
    if not script.exists():
        npm = shutil.which("npm")
        if npm is None:
            needed("no npm on the PATH to install axe-core with")
        folder.mkdir(parents=True, exist_ok=True)
        command = [str(npm), "install", "--no-audit", "--no-fund", "--ignore-scripts", f"axe-core@{VERSION}"]
        done = subprocess.run(
            [*command, "--prefix", str(folder)], capture_output=True, text=True, timeout=180, check=False
        )
        if done.returncode or not script.exists():
            needed(f"axe-core could not be installed: {done.stderr[-300:]}")
    return script.read_text("utf-8")


def grave(page: Page) -> list[str]:
    """The serious and critical violations of a page, one line each."""
    # Evaluated by the test, not loaded by the page: its policy forbids scripts that are not its own.
    page.evaluate(source())
    found: dict[str, Any] = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{violation['id']} ({violation['impact']}): {node['html'][:160]} {node['failureSummary'][:200]}"
        for violation in found["violations"]
        if violation["impact"] in _GRAVE
        for node in violation["nodes"][:3]
    ]
