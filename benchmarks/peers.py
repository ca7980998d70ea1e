"""The other tools that ours is measured against: where they are, which version."""

from __future__ import annotations

import shutil
import subprocess
from importlib import metadata

PEERS = {
    "checkov": ["--version"],
    "trivy": ["--version"],
    "kube-score": ["version"],
    "kubeconform": ["-v"],
}
"""Name -> the words that make it tell its version."""


def find_peers(named: list[str]) -> dict[str, str]:
    """Name -> path, of those that were named (`NAME=PATH`) or are on the PATH."""
    found = {name: path for name in PEERS if (path := shutil.which(name)) is not None}
    for one in named:
        name, _, path = one.partition("=")
        if name not in PEERS or not path:
            raise SystemExit(f"--peer {one}: write NAME=PATH with one of {', '.join(PEERS)}")
        found[name] = path
    return found


def version_of(name: str, path: str | None) -> str:
    """The version that a tool tells of itself; our own where there is no path."""
    if path is None:
        return metadata.version("pilotage")
    done = subprocess.run([path, *PEERS[name]], capture_output=True, text=True, check=False)
    words = (done.stdout or done.stderr).replace("\n", " ").split()
    told = next((word.strip(",") for word in words if any(c.isdigit() for c in word)), "")
    return told or _module_version(path)


def _module_version(path: str) -> str:
    """What `go install` has left in a program that tells no version of its own."""
    go = shutil.which("go")
    if go is None:
        return "unknown"
    told = subprocess.run([go, "version", "-m", path], capture_output=True, text=True, check=False).stdout
    lines = [line.split() for line in told.splitlines()]
    return next((words[2] for words in lines if words[:1] == ["mod"]), "unknown")
