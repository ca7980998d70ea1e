"""A real nginx: whether it accepts a configuration, and one that serves it on loopback."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rig.haproxy import wait_until

QUIET = "pid {folder}/nginx.pid; error_log stderr info;"
IN_HTTP = "access_log off; " + " ".join(
    f"{kind}_temp_path {kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
)
"""What a test's nginx needs inside of `http`, so that it writes nowhere but in its folder."""


def program() -> str:
    """The nginx of this machine; skips the test with a reason, or fails it under PILOTAGE_REQUIRE_REAL=1."""
    found = shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin")
    if found is not None:
        return found
    message = "nginx is not installed (Debian: nginx-light)"
    if os.environ.get("PILOTAGE_REQUIRE_REAL") == "1":
        pytest.fail(message)
    pytest.skip(message)


def verdict(config: Path, *options: str) -> tuple[bool, str]:
    """Whether nginx accepts a configuration, and what it says; `-T` prints what it read."""
    quiet = QUIET.format(folder=config.parent)
    command = [
        program(),
        *(options or ("-t",)),
        "-p",
        str(config.parent),
        "-c",
        str(config),
        "-e",
        "stderr",
        "-g",
        quiet,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30)
    return done.returncode == 0, done.stdout + done.stderr


@contextmanager
def serving(config: Path) -> Iterator[Path]:
    """nginx with a configuration; gives the file of its log."""
    log = config.parent / "stderr.log"
    pid = config.parent / "nginx.pid"
    quiet = QUIET.format(folder=config.parent) + " daemon off;"
    command = [program(), "-p", str(config.parent), "-c", str(config), "-e", "stderr", "-g", quiet]
    with log.open("wb") as into, subprocess.Popen(command, stderr=into, stdout=into) as process:
        try:
            wait_until(lambda: pid.exists() and pid.read_text().strip() != "", f"nginx: {log}", within=10)
            yield log
        finally:
            process.terminate()
            process.wait(10)
