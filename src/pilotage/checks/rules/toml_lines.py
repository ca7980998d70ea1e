"""Lines of keys in a TOML file, which the parser of the standard library does not tell."""

from __future__ import annotations

from collections import Counter

from pilotage.core.regex import regex

Path = tuple[str | int, ...]

_HEAD = regex(r"^\s*(\[\[?)\s*([^\]#]+?)\s*\]\]?\s*(?:#.*)?$")
_KEY = regex(
    r"""^\s*((?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*'))*)\s*="""
)
_PART = regex(r"""[A-Za-z0-9_-]+|"[^"]*"|'[^']*'""")
_LONG = regex("\"\"\"|'''")


def lines_of_keys(text: str) -> dict[Path, int]:
    """The line of each table and key that is written out; members of a list of tables have numbers from 0.

    Keys within braces are not told apart: `line_of` gives the line of what holds them.
    """
    found: dict[Path, int] = {}
    table: Path = ()
    members: Counter[Path] = Counter()
    within = ""
    for number, line in enumerate(text.split("\n"), start=1):
        if within:
            within = "" if line.count(within) % 2 else within
            continue
        if head := _HEAD.match(line):
            table = _resolved(_parts(head[2]), members)
            if head[1] == "[[":
                members[table] += 1
                table = (*table, members[table] - 1)
            found.setdefault(table, number)
        elif key := _KEY.match(line):
            found.setdefault((*table, *_parts(key[1])), number)
            opened = _LONG.findall(line)
            within = opened[-1] if len(opened) % 2 else ""
    return found


def _parts(text: str) -> Path:
    return tuple(part.strip("\"'") for part in _PART.findall(text))


def _resolved(path: Path, members: Counter[Path]) -> Path:
    """The path with the number of the last member wherever it leads through a list of tables."""
    found: Path = ()
    for part in path[:-1]:
        found = (*found, part)
        if members[found]:
            found = (*found, members[found] - 1)
    return (*found, path[-1]) if path else found


def line_of(lines: dict[Path, int], path: Path) -> int:
    """The line of a key, or of the nearest part that holds it; 0 where nothing does."""
    while path:
        if path in lines:
            return lines[path]
        path = path[:-1]
    return 0
