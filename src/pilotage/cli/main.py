"""The command `pilotage`: exit codes and the one place where errors become words."""

from __future__ import annotations

import contextlib
import errno
import gc
import importlib
import itertools
import json
import os
import sys
import traceback
from collections.abc import Iterator, Sequence
from typing import Any

import click

from pilotage.cli.lazy import LazyGroup
from pilotage.core.errors import OutsideError, PilotageError, SafetyStop, StoreError
from pilotage.core.text import printable

EXIT_OK, EXIT_FINDINGS, EXIT_USAGE, EXIT_OUTSIDE, EXIT_SAFETY = 0, 1, 2, 3, 4
_INTERRUPTED = 130
_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})

GROUPS = {
    "library": ("pilotage.cli.library.group:library", "Incident reports: search, read, import, export."),
    "check": ("pilotage.cli.check.group:check", "Look for gaps that have taken others down."),
    "serve": ("pilotage.cli.serve:serve", "Serve pages, REST API and MCP on one port."),
    "mcp": ("pilotage.cli.mcp:mcp", "Serve the library to a coding agent (MCP over stdio)."),
}


class _ReaderGone(Exception):
    """The reader of our standard output (`| head`) has gone; that is no error of ours."""


@contextlib.contextmanager
def _reader_may_go() -> Iterator[None]:
    # click would answer a broken pipe with exit code 1, which here means findings.
    try:
        yield
    except BrokenPipeError as error:
        raise _ReaderGone from error


class _Root(LazyGroup):
    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        with _reader_may_go():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        with _reader_may_go():
            return super().invoke(ctx)


@click.group(cls=_Root, commands_at=GROUPS, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="pilotage", message="%(prog)s %(version)s")
def pilotage() -> None:
    """Public incident reports as things that run.

    \b
    Examples:
      pilotage library import --bundled
      pilotage library search "pods OOMKilled behind the ingress"
      pilotage library search --lang ko "인그레스 통하면 특정 파드만 요청이 몰려요"

    Exit codes: 0 done, 1 findings (validate, verify), 2 wrong use or wrong input, 3 something outside or the
    store failed, 4 stopped for safety.
    """


def exit_code(error: PilotageError) -> int:
    """The exit code of an error: the one mapping of the tree."""
    if isinstance(error, SafetyStop):
        return EXIT_SAFETY
    if isinstance(error, OutsideError | StoreError):
        return EXIT_OUTSIDE
    return EXIT_USAGE


def run(arguments: Sequence[str] | None = None) -> None:
    """Runs the command line and exits."""
    args = list(sys.argv[1:] if arguments is None else arguments)
    # Else the first model looks through every installed package for plug-ins, and none of ours has any.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    # Threads of a product of small matrices wait for one another by spinning, and take twice the time.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    code = _run(args)
    # All that is left would be looked through once more at the end, for nothing.
    gc.freeze()
    sys.exit(code)


def _run(args: list[str]) -> int:
    as_json = _wants_json(args)
    try:
        result = pilotage.main(args=args, prog_name="pilotage", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.Abort:
        _say("interrupted", "Nothing that was under way was kept.", "interrupted", as_json=as_json)
        return _INTERRUPTED
    except click.ClickException as error:
        _usage(error, args, as_json=as_json)
        return EXIT_USAGE
    except PilotageError as error:
        _say(error.message, error.hint, error.code, as_json=as_json)
        return exit_code(error)
    except (_ReaderGone, BrokenPipeError):
        _let_the_rest_go()
        return EXIT_OK
    except Exception as error:  # noqa: BLE001 - the boundary: a fault of ours must still end in one clear message
        _failed(error, as_json=as_json)
        return EXIT_OUTSIDE
    return result if isinstance(result, int) else EXIT_OK


def _let_the_rest_go() -> None:
    # What is left to flush goes nowhere, so that the interpreter does not complain at its end.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _failed(error: Exception, *, as_json: bool) -> None:
    # A file that was opened by name is named in the error; this is our standard output.
    if isinstance(error, OSError) and error.errno in _NO_ROOM and error.filename is None:
        _let_the_rest_go()
        message = f"standard output cannot be written: {error.strerror}"
        _say(message, "Make room there, or write elsewhere.", OutsideError.code, as_json=as_json)
        return
    if isinstance(error, FileNotFoundError) and _here_is_gone():
        message = "the folder in which this runs is no longer there"
        _say(message, "Change to another folder.", OutsideError.code, as_json=as_json)
        return
    traceback.print_exc(file=sys.stderr)
    message = f"{type(error).__name__}: {error}"
    _say(message, "This is a fault of Pilotage; please report it.", "bug", as_json=as_json)


def _here_is_gone() -> bool:
    try:
        os.getcwd()  # noqa: PTH109 - pathlib takes time to import
    except FileNotFoundError:
        return True
    return False


def _wants_json(args: Sequence[str]) -> bool:
    # Known before the arguments are parsed, because the error may be in the arguments.
    if {"--output=json", "-ojson"} & set(args):
        return True
    return any(one in {"--output", "-o"} and two == "json" for one, two in itertools.pairwise(args))


def _usage(error: click.ClickException, args: Sequence[str], *, as_json: bool) -> None:
    if isinstance(error, click.exceptions.NoArgsIsHelpError) and not as_json:
        error.show()
        return
    # Only wrong use needs the words for it.
    usage = importlib.import_module("pilotage.cli.usage")
    message, hint = usage.told(error, usage.spoken(args))
    _say(message, hint, "usage", as_json=as_json)


def _say(message: str, hint: str, code: str, *, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps({"error": {"code": code, "message": message, "hint": hint}}), err=True)
        return
    click.echo(f"pilotage: {printable(message)} [{code}]", err=True)
    if hint:
        click.echo(f"  {printable(hint)}", err=True)
