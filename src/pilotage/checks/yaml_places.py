"""Where a value stands in YAML of the simple form, by columns alone: it need not be parsed once more."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from pilotage.checks.values import KeyPath
from pilotage.checks.yaml_blocks import Unsure, read_blocks
from pilotage.checks.yaml_lines import DASH, FRESH, LINES, OPEN, SKIP, WHOLE, Line

_Spot = tuple[int, Line]
"""A row, and what it says from some column on: an entry of a mapping or list, or the first one of a value."""


def simple_rows(text: str) -> list[str] | None:
    """The lines of a document in the simple form; None for another.

    Args:
        text: the document, with the end of its last line.
    """
    try:
        read_blocks(text)
    except Unsure:
        return None
    return text.splitlines()


def place_of(rows: Sequence[str], path: KeyPath) -> tuple[int, int] | None:
    """Line and column, from 1, of the deepest part of a path that is written down, as `dialect.position_of`.

    Args:
        rows: what `simple_rows` gave.
        path: the way to the value.

    Returns:
        None where the parser of all of YAML must tell.
    """
    spot = value = _first(rows, 0)
    for part in path:
        try:
            found = _entry(rows, value, part)
        except Unsure:
            return None
        if found is None:
            break
        spot = found
        value = found if isinstance(part, int) else _value(rows, found)
    return spot[0] + 1, spot[1].column + 1


def _first(rows: Sequence[str], start: int) -> _Spot:
    """The first row from one on that says anything; behind the last row there is none."""
    for at in range(start, len(rows)):
        line = LINES[rows[at]]
        if line.what != SKIP:
            return at, line
    return len(rows), Line(-1, WHOLE)


def _entry(rows: Sequence[str], value: _Spot, part: str | int) -> _Spot | None:
    """An entry of a mapping, an item of a list; None where there is none."""
    line = value[1]
    if line.key is None and line.what == FRESH:
        # Within brackets nothing has a line of its own.
        raise Unsure
    if isinstance(part, str):
        return next((one for one in _entries(rows, value) if one[1].key == part), None)
    if line.what != DASH or part < 0:
        return None
    item = next(itertools.islice(_entries(rows, value), part, None), None)
    if item is None:
        return None
    at, line = item
    if line.value.what != SKIP:
        return at, line.value
    below = _first(rows, at + 1)
    if below[1].column <= line.column:
        raise Unsure
    return below


def _entries(rows: Sequence[str], value: _Spot) -> Iterator[_Spot]:
    """The entries of a mapping or the items of a list; of anything else itself."""
    start, first = value
    yield value
    deeper = " " * (first.column + 1)
    for at in range(start + 1, len(rows)):
        if rows[at].startswith(deeper):
            continue
        line = LINES[rows[at]]
        if line.what == SKIP:
            continue
        if line.column < first.column or (first.what == DASH and line.what != DASH):
            return
        if (line.what == DASH) == (first.what == DASH):
            yield at, line


def _value(rows: Sequence[str], entry: _Spot) -> _Spot:
    """Where the value of a key begins: behind it, or below."""
    at, line = entry
    if line.what == OPEN:
        below = _first(rows, at + 1)
        inside = line.column + (below[1].what != DASH)
        if below[1].column >= inside:
            return below
    return at, Line(line.column, line.what)
