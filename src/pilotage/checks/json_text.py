"""JSON with the places of its values, and the items of a long list apart.

A parser of YAML would read most of JSON, too, but not all of it, and keeps a node for each word.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from pilotage.checks.dialect import Position
from pilotage.checks.objects import Document
from pilotage.checks.values import KeyPath
from pilotage.checks.yaml_blocks import Common
from pilotage.core.regex import regex

_BLANKS = regex(r"[ \t\r\n]*")
_MOST_COMMON = 12
"""Entries of a mapping that is worth comparing with others: a longer one hardly ever is the same."""

_Read = Callable[[int, str | int], tuple[Any, int]]
"""Reads the value at a place, below a key or position; gives it and the place behind it."""


class Entry(NamedTuple):
    """An entry of a mapping or an item of a list.

    Attributes:
        key: its key or position.
        begin: where it begins in the text.
        start: where its value begins.
        end: where its value ends.
        value: the value.
    """

    key: str | int
    begin: int
    start: int
    end: int
    value: Any


class JsonValue(NamedTuple):
    """A value with its place.

    Attributes:
        value: the value.
        start: where it begins in the text.
        end: where it ends.
        items: of a mapping, what it holds under `items`, where that is a list.
    """

    value: Any
    start: int
    end: int
    items: list[Entry]


def read_json(text: str, start: int, common: Common | None = None) -> JsonValue:
    """The JSON value that begins at a place.

    Args:
        text: what holds it.
        start: where it begins.
        common: what else was read holds, so that of the same mapping there is one only.

    Raises:
        ValueError: it is no JSON.
        RecursionError: it is nested too deep.
    """
    decode = _decoder(common).raw_decode
    items: list[Entry] = []

    def below(at: int, key: str | int) -> tuple[Any, int]:
        if key != "items" or text[at : at + 1] != "[":
            return decode(text, at)
        items[:] = _entries(text, at, lambda place, _: decode(text, place))
        return [one.value for one in items], _closed(text, at, items)

    if text[start : start + 1] != "{":
        return JsonValue(*_spanned(decode(text, start), start), [])
    entries = list(_entries(text, start, below))
    value = {str(one.key): one.value for one in entries}
    return JsonValue(value, start, _closed(text, start, entries), items)


def ends_early(error: ValueError) -> bool:
    """Whether a text is no JSON only since its end is missing, so that it is no YAML either."""
    if not isinstance(error, json.JSONDecodeError):
        return False
    return error.msg.startswith("Unterminated string") or not error.doc[error.pos :].strip()


def _spanned(found: tuple[Any, int], start: int) -> tuple[Any, int, int]:
    return found[0], start, found[1]


def _entries(text: str, at: int, read: _Read) -> Iterator[Entry]:
    """What the mapping or list at a place holds."""
    mapping = text[at] == "{"
    close = "}" if mapping else "]"
    at = _after_blanks(text, at + 1)
    if text[at : at + 1] == close:
        return
    number = 0
    while True:
        begin = at
        key: str | int = number
        if mapping:
            key, at = read(at, "")
            at = _after_blanks(text, at)
            if not isinstance(key, str) or text[at : at + 1] != ":":
                raise json.JSONDecodeError("a key or a colon is missing", text, at)
            at = _after_blanks(text, at + 1)
        value, end = read(at, key)
        yield Entry(key, begin, at, end, value)
        at = _after_blanks(text, end)
        sign = text[at : at + 1]
        if sign == close:
            return
        if sign != ",":
            raise json.JSONDecodeError(f"a comma or {close} is missing", text, at)
        at = _after_blanks(text, at + 1)
        number += 1


def _closed(text: str, start: int, entries: list[Entry]) -> int:
    """The place behind a mapping or list."""
    return _after_blanks(text, entries[-1].end if entries else start + 1) + 1


def _after_blanks(text: str, at: int) -> int:
    match = _BLANKS.match(text, at)
    return match.end() if match else at


def _decoder(common: Common | None) -> json.JSONDecoder:
    hook = None if common is None else _Sharing(common)
    return json.JSONDecoder(parse_float=_finite, parse_constant=_finite, object_pairs_hook=hook)


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"JSON knows no {text}")
    return number


class _Sharing:
    """Makes mappings, and of flat ones that are the same only one."""

    def __init__(self, common: Common) -> None:
        self._common = common

    def __call__(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = {sys.intern(key): value for key, value in pairs}
        if len(pairs) > _MOST_COMMON:
            return made
        try:
            # A number and a boolean may be equal, and are not the same.
            mark = hash((*pairs, *(value.__class__ for _, value in pairs)))
        except TypeError:
            return made
        known: dict[str, Any] = self._common.setdefault(mark, made)
        return known if known == made else made


class JsonDocument(Document, frozen=True, eq=False):
    """A document of JSON, or an item of a list in one.

    Attributes:
        column: where it begins in its first line, from 1.
    """

    column: int = 1

    def position(self, path: KeyPath) -> Position:
        """See `Document.position`."""
        text = self.text
        at = place_of(text, path)
        line = text.count("\n", 0, at)
        column = at - text.rfind("\n", 0, at)
        return Position(self.line + line, column if line else column + self.column - 1)

    def lines_of_key(self, path: KeyPath) -> list[int]:
        """The line at which a key stands: the last one of several counts, and no other is looked for."""
        return [self.position(path).line]

    def same_each_time(self, path: KeyPath) -> bool:  # noqa: ARG002 - the signature is that of all documents
        """See `Document.same_each_time`."""
        return True

    def literal_begin(self, path: KeyPath) -> Position | None:  # noqa: ARG002 - likewise
        """None: JSON has no literal blocks."""
        return None


def place_of(text: str, path: KeyPath) -> int:
    """Where the deepest part of a path stands that is written down: its key in a mapping, the item in a list.

    Args:
        text: a JSON value.
        path: the way into it.
    """
    decode = json.JSONDecoder().raw_decode
    at = value = _after_blanks(text, 0)
    for part in path:
        if text[value : value + 1] not in {"{", "["}:
            break
        found = None
        for entry in _entries(text, value, lambda place, _: decode(text, place)):
            if entry.key == part:
                found = entry
        if found is None:
            break
        at, value = found.begin, found.start
    return at
