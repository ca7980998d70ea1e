"""Programs of this machine, run without a shell, within a time and to an amount of output."""

from __future__ import annotations

import contextlib
import os
import select
import selectors
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pilotage.core.errors import BadReply, Refused, ToolMissing, Unreachable

LIMIT_SECONDS = 120.0
MOST_BYTES = 2**29
"""A program that writes more than that does not come to an end."""
_CHUNK = 2**16


@dataclass(frozen=True)
class Output:
    """What a program gave.

    Attributes:
        code: its exit code; 0 means that all went well, a negative one that a signal ended it.
        out: its standard output.
        err: its standard error, as text; ends with the signal where one ended it.
    """

    code: int
    out: bytes
    err: str


def find(*names: str) -> str | None:
    """The first of some programs that is on the PATH; None where none is."""
    return next((path for name in names if (path := shutil.which(name)) is not None), None)


def run(  # noqa: PLR0913 - as many as there are sides to a program
    command: Sequence[str],
    *,
    given: bytes = b"",
    folder: Path | None = None,
    variables: Mapping[str, str] | None = None,
    limit_seconds: float = LIMIT_SECONDS,
    terminal: bool = False,
) -> Output:
    """Runs a program to its end.

    Args:
        command: the program and its arguments; no shell reads them.
        given: its standard input.
        folder: where it runs.
        variables: environment variables besides those of this process.
        limit_seconds: after so long it is killed, and what it has started with it.
        terminal: whether it may ask the user, who sees the same terminal; else it has none and is refused.

    Raises:
        ToolMissing: there is no such program.
        Refused: it may not be run.
        Unreachable: it did not end in time.
        BadReply: it writes without an end.
    """
    name = Path(command[0]).name
    try:
        child = subprocess.Popen(  # noqa: S603 - a program of ours, its arguments a list
            list(command),
            stdin=subprocess.PIPE if given else None if terminal else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            env={**os.environ, **(variables or {})},
            start_new_session=not terminal,
        )
    except FileNotFoundError as error:
        raise ToolMissing(f"there is no {name} on the PATH", hint=f"Install {name}.") from error
    except OSError as error:
        raise Refused(f"{name} cannot be run: {error.strerror}") from error
    with child, _ending(child, whole=not terminal):
        try:
            out, err = _exchange(child, given, time.monotonic() + limit_seconds)
        except TimeoutError as error:
            message = f"{name} did not end within {limit_seconds:.3g} s"
            raise Unreachable(message, hint="Run it by hand.") from error
        except OverflowError as error:
            message = f"{name} writes more than {MOST_BYTES >> 20} MiB"
            raise BadReply(message, hint="Run it by hand.") from error
    said = err.decode("utf-8", "replace")
    if child.returncode < 0:
        said = f"{said.rstrip()}\n{name} was ended by {_signal(-child.returncode)}".lstrip()
    return Output(child.returncode, bytes(out), said)


@contextlib.contextmanager
def _ending(child: subprocess.Popen[bytes], *, whole: bool) -> Iterator[None]:
    """Leaves no program behind when something goes wrong, nor one that it has started, such as git."""
    try:
        yield
    except BaseException:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if whole:
                os.killpg(child.pid, signal.SIGKILL)
            else:
                child.kill()
        raise


def _exchange(child: subprocess.Popen[bytes], given: bytes, end: float) -> tuple[bytearray, bytearray]:
    """What a program writes to its standard output and standard error until it ends.

    Raises:
        TimeoutError: it goes on beyond the end.
        OverflowError: it writes too much.
    """
    out, err = bytearray(), bytearray()
    waiting = memoryview(given)
    with selectors.DefaultSelector() as selector:
        for file, into in ((child.stdin, None), (child.stdout, out), (child.stderr, err)):
            if file is not None:
                what = selectors.EVENT_WRITE if into is None else selectors.EVENT_READ
                selector.register(file, what, (file, into))
        while selector.get_map():
            for key, _ in selector.select(_left(end)):
                file, into = key.data
                if into is None:
                    waiting = waiting[_written(key.fd, waiting) :]
                more = len(waiting) > 0 if into is None else _taken(key.fd, into)
                if not more:
                    selector.unregister(file)
                    file.close()
    with contextlib.suppress(subprocess.TimeoutExpired):
        child.wait(_left(end))
        return out, err
    raise TimeoutError


def _left(end: float) -> float:
    left = end - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def _written(file: int, text: memoryview) -> int:
    """How much of a text a program has taken; all, where it wants no more."""
    try:
        return os.write(file, text[: select.PIPE_BUF])
    except BrokenPipeError:
        return len(text)


def _taken(file: int, into: bytearray) -> bool:
    """Takes what a program has written; False at its end."""
    chunk = os.read(file, _CHUNK)
    into += chunk
    if len(into) > MOST_BYTES:
        raise OverflowError
    return bool(chunk)


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
