"""Lists in block form taken apart: each item is a document of its own.

So an item costs what it would cost in a file of documents: it is parsed beside others, and a place in it is
found without reading the whole list again, which may be all that a cluster holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pilotage.checks.objects import Document
from pilotage.core.regex import regex

_ITEMS = regex(r"items:[ \t]*\r?\n((?:[ \t]*(?:#[^\n]*)?\r?\n)*)( *)- ")


class Divided(NamedTuple):
    """A document that looks like a list in block form.

    Attributes:
        frame: its text without the items.
        items: each item; its text is a list of this one.
    """

    frame: str
    items: Sequence[Document]


def divided(document: Document) -> Divided | None:
    """The parts of a document; None where it is no list, or written in another way.

    Nobody has parsed it: whoever does must take it as a whole where a part cannot be read by itself.
    """
    text = document.text
    start = 0 if text.startswith("items:") else text.find("\nitems:") + 1
    match = _ITEMS.match(text, start)
    if match is None:
        return None
    column, first = len(match[2]), match.start(2)
    end = _end(text, first, column)
    begins = list(_begins(text, first, end, column))
    items: list[Document] = []
    line, counted = document.line, 0
    for begin, behind in zip(begins, [*begins[1:], end], strict=True):
        line += text.count("\n", counted, begin)
        counted = begin
        items.append(Document(document.file, document.start + begin, document.start + behind, line))
    return Divided(text[:start] + text[end:], items)


def items_of(document: Document) -> Sequence[Document]:
    """The items of a list in block form; none of anything else."""
    parts = divided(document)
    return parts.items if parts is not None else ()


def _begins(text: str, at: int, end: int, column: int) -> Iterator[int]:
    """Where the lines of items begin, the first of which is known."""
    dash = "\n" + " " * column + "- "
    while 0 <= at < end:
        yield at
        at = text.find(dash, at, end) + 1 or -1


def _end(text: str, at: int, column: int) -> int:
    """Where a list ends: at a line that stands no deeper than its dashes and is no item."""
    shallow = re.compile(rf"\n {{0,{column}}}(?!- |-\r?\n|#|[ \t\r\n])")
    match = shallow.search(text, at)
    return match.start() + 1 if match is not None else len(text)
