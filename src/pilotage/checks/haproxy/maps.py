"""Map files of HAProxy, and the calls that use them."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from pilotage.core.regex import regex

_CALL = regex(r"\bmap(?:_[a-z_]+)?\(\s*([^,()]+?)\s*(?:,\s*([^()]*?)\s*)?\)")


class MapCall(msgspec.Struct, frozen=True):
    """A use of a map in an expression.

    Attributes:
        path: the map's file as written.
        default: what is used where nothing matches; empty where there is nothing.
    """

    path: str
    default: str = ""


class Map(msgspec.Struct, frozen=True, eq=False):
    """A map file.

    Attributes:
        path: its path as the configuration gives it.
        entries: line, key and value of each entry.
    """

    path: str
    entries: tuple[tuple[int, str, str], ...]

    @property
    def values(self) -> set[str]:
        """All values."""
        return {value for _, _, value in self.entries}


def map_calls(expression: str) -> Iterator[MapCall]:
    """The maps that an expression uses."""
    for found in _CALL.finditer(expression):
        yield MapCall(found[1].removeprefix("virt@").removeprefix("opt@"), found[2] or "")


def read_map(path: str, content: str) -> Map:
    """Reads a map: a key and a value a line, `#` begins a comment line."""
    entries = []
    for number, line in enumerate(content.split("\n"), start=1):
        words = line.split(None, 1)
        if words and not words[0].startswith("#"):
            entries.append((number, words[0], words[1].strip() if len(words) > 1 else ""))
    return Map(path, tuple(entries))
