"""Programs of this machine, run with a limit of time and without a shell."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from pilotage.core.errors import Refused, ToolMissing, Unreachable

LIMIT_SECONDS = 120.0


class Output(msgspec.Struct, frozen=True):
    """What a program gave.

    Attributes:
        code: its exit code; 0 means that all went well.
        out: its standard output.
        err: its standard error, as text.
    """

    code: int
    out: bytes
    err: str


def find(*names: str) -> str | None:
    """The first of some programs that is on the PATH; None where none is."""
    return next((path for name in names if (path := shutil.which(name)) is not None), None)


def run(
    command: Sequence[str],
    *,
    given: bytes = b"",
    folder: Path | None = None,
    variables: Mapping[str, str] | None = None,
    limit_seconds: float = LIMIT_SECONDS,
) -> Output:
    """Runs a program to its end.

    Args:
        command: the program and its arguments; no shell reads them.
        given: its standard input.
        folder: where it runs.
        variables: environment variables besides those of this process.
        limit_seconds: after so long it is killed.

    Raises:
        ToolMissing: there is no such program.
        Refused: it may not be run.
        Unreachable: it did not end in time.
    """
    name = Path(command[0]).name
    try:
        done = subprocess.run(  # noqa: S603 - a program of ours, its arguments a list
            list(command),
            input=given,
            capture_output=True,
            cwd=folder,
            env={**os.environ, **(variables or {})},
            timeout=limit_seconds,
            check=False,
        )
    except FileNotFoundError as error:
        raise ToolMissing(f"there is no {name} on the PATH", hint=f"Install {name}.") from error
    except OSError as error:
        raise Refused(f"{name} cannot be run: {error.strerror}") from error
    except subprocess.TimeoutExpired as error:
        raise Unreachable(f"{name} did not end within {limit_seconds:g} s", hint="Run it by hand.") from error
    return Output(done.returncode, done.stdout, done.stderr.decode("utf-8", "replace"))
