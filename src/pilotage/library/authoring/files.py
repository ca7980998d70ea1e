"""Record files as validation needs them: values with the line of each key, mistakes collected."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pilotage.core.errors import InvalidInput
from pilotage.core.text import kind_of
from pilotage.library.decoding.json_places import lined
from pilotage.library.decoding.strict_json import decode_text, parse
from pilotage.library.decoding.strict_yaml import Duplicate, parse_all

Path = tuple[str | int, ...]
_PLACED = re.compile(r"(?s)(?:.*?):(\d+):(\d+): (.*)")
_MAX_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True)
class Mistake:
    """A problem of the text itself."""

    line: int
    column: int
    message: str
    instead: str = ""
    key: str = ""


@dataclass(frozen=True)
class Loaded:
    """One record of a file.

    Attributes:
        name: the file.
        value: the JSON value.
        strict_keys: unknown keys are mistakes (our YAML), not extensions (incident JSON).
        line: where the record begins.
        column: likewise.
        places: line and column of each key, for YAML.
        text: for JSON, the text that holds the record; places are looked up in it when they are needed.
        span: where in that text the record begins, and where it has ended.
    """

    name: str
    value: Any
    strict_keys: bool
    line: int = 1
    column: int = 1
    places: Mapping[Path, tuple[int, int]] = field(default_factory=dict)
    text: str = ""
    span: tuple[int, int] = (0, 0)
    cache: dict[Path, tuple[int, int]] = field(default_factory=dict)

    def place(self, path: Path) -> tuple[int, int]:
        """Line and column of a path, or of the nearest of its parents that is there."""
        known = self.places if self.strict_keys else self._json_places()
        while path and path not in known:
            path = path[:-1]
        return known.get(path, (self.line, self.column))

    def _json_places(self) -> Mapping[Path, tuple[int, int]]:
        if not self.cache:
            # The text of this record alone: a file of many is not gone through once for each of them.
            for item, line, column in lined(self.text[slice(*self.span)]):
                beside = self.column - 1 if line == 1 else 0
                self.cache[item.path] = (line + self.line - 1, column + beside)
        return self.cache


def load_file(data: bytes, name: str) -> tuple[list[Loaded], list[Mistake]]:
    """The records of a file and the mistakes of its text."""
    mistakes: list[Mistake] = []
    if len(data) > _MAX_BYTES:
        return [], [Mistake(1, 1, f"larger than {_MAX_BYTES // 2**20} MiB", "split it")]
    if data.startswith(b"PK\x03\x04"):
        return [], [
            Mistake(1, 1, "this is a zip", "unpack it, or try `pilotage library import FILE --dry-run`")
        ]
    try:
        text = decode_text(data, name).removeprefix("\ufeff")
    except InvalidInput as error:
        return [], [_mistake(error)]
    if not text.strip():
        return [], [Mistake(1, 1, "the file is empty", "see `pilotage library new` for the form")]
    is_json = name.lower().endswith((".json", ".jsonl", ".ndjson"))
    found = _load_json(text, name, mistakes) if is_json else _load_yaml(text, name, mistakes)
    return [one for one in found if _is_object(one, mistakes)], mistakes


def _is_object(one: Loaded, mistakes: list[Mistake]) -> bool:
    if isinstance(one.value, dict):
        return True
    kind = kind_of(one.value)
    line, column = one.place(())
    mistakes.append(
        Mistake(line, column, f"a record must be an object, found {kind}", "write `key: value` pairs")
    )
    return False


def _mistake(error: InvalidInput) -> Mistake:
    found = _PLACED.fullmatch(error.message)
    if not found:
        return Mistake(1, 1, error.message, error.hint)
    return Mistake(int(found.group(1)), int(found.group(2)), found.group(3), error.hint)


def _load_yaml(text: str, name: str, mistakes: list[Mistake]) -> list[Loaded]:
    found = []
    duplicates: list[Duplicate] = []
    try:
        for document in parse_all(text, name, duplicates=duplicates):
            line, where = document.line, document.places
            found.append(Loaded(name, document.value, strict_keys=True, line=line, places=where))
    except InvalidInput as error:
        mistakes.append(_mistake(error))
    for duplicate in duplicates:
        key = ".".join(str(part) for part in duplicate.path)
        message = f"duplicate key '{duplicate.path[-1]}'"
        mistakes.append(Mistake(duplicate.line, duplicate.column, message, "keep one of the two", key))
    if not found and not mistakes:
        mistakes.append(
            Mistake(1, 1, "there is no record in the file", "see `pilotage library new` for the form")
        )
    return found


def _load_json(text: str, name: str, mistakes: list[Mistake]) -> list[Loaded]:
    lines = [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
    if name.lower().endswith((".jsonl", ".ndjson")) or _is_lines(lines):
        found = []
        for number, line in lines:
            found += _load_value(line, name, number, mistakes)
        return found
    return _load_value(text, name, 1, mistakes)


def _is_lines(lines: list[tuple[int, str]]) -> bool:
    if len(lines) < 2 or not lines[0][1].lstrip().startswith("{"):  # noqa: PLR2004 - one line is one object
        return False
    try:
        json.loads(lines[0][1])
    except (ValueError, RecursionError):
        return False
    return True


def _load_value(text: str, name: str, line: int, mistakes: list[Mistake]) -> list[Loaded]:
    duplicates = False
    items: list[tuple[int, int, int]] = []
    for place, row, column in lined(text):
        if place.duplicate:
            duplicates = True
            key = ".".join(str(part) for part in place.path)
            message = f"duplicate key '{place.path[-1]}'"
            mistakes.append(Mistake(row + line - 1, column, message, "keep one of the two", key))
        if len(place.path) == 1 and isinstance(place.path[0], int):
            items.append((place.offset, row + line - 1, column))
    try:
        value = parse(text, name, first_line=line)
    except InvalidInput as error:
        if not duplicates:
            mistakes.append(_mistake(error))
        return []
    if not isinstance(value, list):
        return [Loaded(name, value, strict_keys=False, text=text, line=line, span=(0, len(text)))]
    ends = [*(offset for offset, _, _ in items), len(text)][1:]
    return [
        Loaded(name, item, strict_keys=False, line=row, column=column, text=text, span=(offset, end))
        for item, (offset, row, column), end in zip(value, items, ends, strict=True)
    ]
