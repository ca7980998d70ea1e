"""Where things stand in a JSON text: a slow, exact tokeniser for messages only."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_TOKEN = re.compile(r'[ \t\r\n]*(?:("(?:[^"\\]|\\.)*")|([\[{])|([\]}])|([:,])|([^\s\[\]{}:,"]+))', re.DOTALL)

_DEEPEST = 250
"""Levels that are followed, more than any reader takes: each place costs as much as it lies deep."""


@dataclass(frozen=True)
class Place:
    """One key of an object or item of a list.

    Attributes:
        path: keys and list indexes from the top.
        offset: of the key, or of the list item, in characters.
        duplicate: the object held the key before.
    """

    path: tuple[str | int, ...]
    offset: int
    duplicate: bool = False


@dataclass
class _Level:
    """An object or list that is open."""

    path: tuple[str | int, ...]
    is_object: bool
    seen: set[str] = field(default_factory=set)
    key: str | int | None = None
    count: int = 0
    wants_key: bool = True


def line_column(text: str, offset: int) -> tuple[int, int]:
    """Line and column of an offset, both counted from 1."""
    return text.count("\n", 0, offset) + 1, offset - (text.rfind("\n", 0, offset) + 1) + 1


def lined(text: str) -> Iterator[tuple[Place, int, int]]:
    """Every place with its line and column, counted from 1; the text is gone through once."""
    line, start, seen = 1, 0, 0
    for place in places(text):
        line += text.count("\n", seen, place.offset)
        start = text.rfind("\n", seen, place.offset) + 1 or start
        seen = place.offset
        yield place, line, place.offset - start + 1


def first_duplicate(text: str) -> Place | None:
    """The first key that its object held before."""
    return next((place for place in places(text) if place.duplicate), None)


def places(text: str) -> Iterator[Place]:
    """Every key and list item in the order of the text.

    Stops quietly where the text ends, is no JSON, or lies too deep to be read anyway.
    """
    levels: list[_Level] = []
    position = 1 if text.startswith("\ufeff") else 0
    while len(levels) <= _DEEPEST and (match := _TOKEN.match(text, position)):
        position = match.end()
        string, opening, closing, sign, _ = match.groups()
        level = levels[-1] if levels else None
        if closing:
            if level is None:
                return
            levels.pop()
        elif sign:
            if level is not None and sign == ",":
                level.wants_key = True
        elif level is not None and level.is_object and level.wants_key:
            if not string:
                return
            yield _key(level, string, match.start(1))
        else:
            if level is not None and not level.is_object:
                level.key = level.count
                level.count += 1
                yield Place((*level.path, level.key), match.start(match.lastindex or 0))
            if opening:
                path = () if level is None else (*level.path, level.key if level.key is not None else "")
                levels.append(_Level(path, opening == "{"))


def _key(level: _Level, string: str, offset: int) -> Place:
    try:
        key = str(json.loads(string, strict=False))
    except ValueError:
        key = string[1:-1]
    duplicate = key in level.seen
    level.seen.add(key)
    level.key = key
    level.wants_key = False
    return Place((*level.path, key), offset, duplicate)


def complaint(error: json.JSONDecodeError) -> str:
    """What the scanner of the json module stumbled over, in plain words."""
    if error.msg.startswith("Invalid control character"):
        return "not JSON: a raw line break or control character in a text (write \\n or \\u00XX)"
    return f"not JSON: {error.msg[:1].lower()}{error.msg[1:]}"
