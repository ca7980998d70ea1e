"""What every command writes with: colours and width on a terminal, plain lines in a pipe, JSON."""

from __future__ import annotations

import json
import re
from typing import Any

import click
from rich.console import Console
from rich.text import Text as RichText

from pilotage.core.text import printable

_PIPE_WIDTH = 10_000
_DRIVES_A_TERMINAL = re.compile("[\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


class _Console(Console):
    def on_broken_pipe(self) -> None:
        # rich would exit with code 1, which here means findings; `main` knows what to do.
        raise BrokenPipeError


def console() -> Console:
    """A console that colours on a terminal and never wraps in a pipe."""
    made = _Console(highlight=False)
    return made if made.is_terminal else _Console(highlight=False, width=_PIPE_WIDTH, soft_wrap=True)


def say_json(value: Any) -> None:
    """Writes one JSON document to standard output, escaping what could drive a terminal.

    Such characters can only stand within strings, where an escape means the same.
    """
    text = json.dumps(value, ensure_ascii=False, indent=1)
    click.echo(_DRIVES_A_TERMINAL.sub(lambda found: f"\\u{ord(found[0]):04x}", text))


def say(where: Console, text: str = "", style: str = "", *, indent: int = 0) -> None:
    """Writes text of a record: nothing in it can drive the terminal or be read as markup."""
    line = RichText(printable(text), style=style)
    if indent and where.is_terminal:
        for part in line.wrap(where, max(20, where.width - indent)):
            where.print(" " * indent, part, sep="", soft_wrap=True)
        return
    where.print(" " * indent + line.plain if indent else line, style=style or None, markup=False)
