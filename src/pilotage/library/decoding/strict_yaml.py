"""YAML as our records use it: JSON's types and nothing else.

The usual loaders turn an unquoted `no` into a boolean, a date into an object, keep the last of two equal
keys and run tags. Here plain scalars follow the core schema of YAML 1.2 with numbers in JSON's form: a date
stays text, a number with a leading zero too. The C parser does the reading; values are built from its
events, without recursion, so that no nesting can exhaust the stack.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml

from pilotage.core.errors import InvalidInput
from pilotage.library.decoding.json_places import line_column
from pilotage.library.decoding.strict_json import MAX_DEPTH, MAX_ITEM_BYTES, decode_text

Path = tuple[str | int, ...]

MAX_ALIASED = 100_000
"""How many values all aliases of a file may stand for together (the `billion laughs` file has a billion)."""

_INT = re.compile(r"-?(?:0|[1-9][0-9]{0,30})")
_FLOAT = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]{1,3})?")
_NOT_A_NUMBER = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_CONSTANTS: dict[str, bool | None] = {
    "": None,
    "~": None,
    "null": None,
    "Null": None,
    "NULL": None,
    "true": True,
    "True": True,
    "TRUE": True,
    "false": False,
    "False": False,
    "FALSE": False,
}
_CORE = "tag:yaml.org,2002:"
_COLLECTION_TAGS = {"map": yaml.MappingStartEvent, "seq": yaml.SequenceStartEvent}
_UNPRINTABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_SCALAR_TAGS: dict[str, tuple[type, ...]] = {
    "int": (int,),
    "float": (int, float),
    "bool": (bool,),
    "null": (type(None),),
}
_HINTS = (
    ("tab", "Indent with spaces only."),
    ("mapping values are not allowed", "Put a text that holds ': ' in quotes, or write it under `|`."),
    ("did not find expected", "Check the indentation of this line and the one above, and close every quote."),
    (
        "could not find expected ':'",
        "A key needs ': ' behind it; a text over several lines is written under `|`.",
    ),
    ("cannot start any token", "Put a text that begins with a special sign in quotes."),
)
_DEFAULT_HINT = "See `pilotage library new` for the form of a record."


@dataclass
class Document:
    """One document of a YAML file.

    Attributes:
        value: a JSON value.
        places: line and column of every key and list item, both counted from 1.
        line: the line on which it begins.
    """

    value: Any
    places: dict[Path, tuple[int, int]] = field(default_factory=dict)
    line: int = 1


@dataclass(frozen=True)
class Duplicate:
    """A key that its mapping holds already."""

    path: Path
    line: int
    column: int


@dataclass
class _Open:
    """A mapping or sequence that is being filled."""

    value: Any
    path: Path
    anchor: str | None
    size: int = 1
    key: str | None = None


def load(data: bytes, name: str) -> Any:
    """The value of a YAML file with one document.

    Raises:
        InvalidInput: with file, line and column.
    """
    documents = list(load_all(data, name))
    if len(documents) != 1:
        raise InvalidInput(
            f"{name}: expected one document, found {len(documents)}", hint="Documents are divided by `---`."
        )
    return documents[0].value


def load_all(data: bytes, name: str) -> Iterator[Document]:
    """The documents of a YAML file, empty ones left out.

    Raises:
        InvalidInput: with file, line and column.
    """
    if len(data) > MAX_ITEM_BYTES:
        raise InvalidInput(
            f"{name}: more than {MAX_ITEM_BYTES // 2**20} MiB of YAML", hint="Use JSON Lines for large sets."
        )
    text = decode_text(data, name).removeprefix("\ufeff")
    yield from parse_all(text, name)


def parse_all(
    text: str, name: str, *, first_line: int = 1, duplicates: list[Duplicate] | None = None
) -> Iterator[Document]:
    """The documents of a YAML text.

    Args:
        text: the text.
        name: the file, for messages.
        first_line: the line of the file on which the text begins.
        duplicates: where duplicate keys are noted (the last value wins) instead of being refused.

    Raises:
        InvalidInput: with file, line and column.
    """
    bad = _UNPRINTABLE.search(text)
    if bad:
        line, column = line_column(text, bad.start())
        raise InvalidInput(
            f"{name}:{line + first_line - 1}:{column}: control character U+{ord(bad.group()):04X}",
            hint="Remove it, or write it as an escape in double quotes.",
        )
    builder = _Builder(text, name, first_line, duplicates)
    try:
        for event in yaml.parse(text, Loader=yaml.CSafeLoader):
            document = builder.take(event)
            if document is not None:
                yield document
    except yaml.MarkedYAMLError as error:
        raise builder.explain(error) from error
    except yaml.YAMLError as error:
        raise InvalidInput(f"{name}: not YAML: {error}", hint=_DEFAULT_HINT) from error


class _Builder:
    """Makes JSON values of parser events."""

    def __init__(self, text: str, name: str, first_line: int, duplicates: list[Duplicate] | None) -> None:
        self._text = text
        self._name = name
        self._duplicates = duplicates
        self._shift = first_line
        self._document = Document(None)
        self._stack: list[_Open] = []
        self._anchors: dict[str, tuple[Any, int]] = {}
        self._aliased = 0
        self._empty = True

    def take(self, event: yaml.Event) -> Document | None:
        """Handle one event; the document, when it ended one."""
        if isinstance(event, yaml.DocumentStartEvent):
            self._document = Document(None, line=self._mark(event)[0])
            self._anchors = {}
            self._empty = True
        elif isinstance(event, yaml.DocumentEndEvent):
            return None if self._empty else self._document
        elif isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
            self._open(event)
        elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
            self._close()
        elif isinstance(event, yaml.AliasEvent):
            self._alias(event)
        elif isinstance(event, yaml.ScalarEvent):
            self._scalar(event)
        return None

    def problem(self, event: yaml.Event, what: str, hint: str) -> InvalidInput:
        line, column = self._mark(event)
        return InvalidInput(f"{self._name}:{line}:{column}: {what}", hint=hint)

    def explain(self, error: yaml.MarkedYAMLError) -> InvalidInput:
        """A syntax error with its place and what usually causes it."""
        mark = error.problem_mark or error.context_mark
        place = f"{self._name}:{mark.line + self._shift}:{mark.column + 1}" if mark else self._name
        what = error.problem or "cannot be read"
        if mark and "\t" in self._text[mark.index : mark.index + 1]:
            what = "found a tab where only spaces may indent"
        hint = next((hint for part, hint in _HINTS if part in what), _DEFAULT_HINT)
        return InvalidInput(f"{place}: not YAML: {what}", hint=hint)

    def _mark(self, event: yaml.Event) -> tuple[int, int]:
        mark = event.start_mark
        return (mark.line + self._shift, mark.column + 1) if mark else (self._shift, 1)

    def _open(self, event: yaml.MappingStartEvent | yaml.SequenceStartEvent) -> None:
        self._check_collection_tag(event)
        value: Any = {} if isinstance(event, yaml.MappingStartEvent) else []
        if self._stack and self._expects_key():
            raise self.problem(event, "a key must be a text", "Write `key: value`.")
        path = self._place(event)
        if len(self._stack) >= MAX_DEPTH:
            raise self.problem(event, f"nested more than {MAX_DEPTH} levels deep", _DEFAULT_HINT)
        self._put(value)
        self._stack.append(_Open(value, path, event.anchor))
        self._anchors.pop(event.anchor or "", None)

    def _close(self) -> None:
        done = self._stack.pop()
        if done.anchor:
            self._anchors[done.anchor] = (done.value, done.size)
        if self._stack:
            self._stack[-1].size += done.size

    def _alias(self, event: yaml.AliasEvent) -> None:
        known = self._anchors.get(event.anchor or "")
        if known is None or self._expects_key():
            raise self.problem(
                event,
                f"alias '*{event.anchor}' names nothing that ended before it",
                "Put a text with '*' in quotes.",
            )
        value, size = known
        self._aliased += size
        if self._aliased > MAX_ALIASED:
            raise self.problem(event, "aliases stand for too many values", "Write the values out.")
        self._place(event)
        self._put(value)
        if self._stack:
            self._stack[-1].size += size

    def _scalar(self, event: yaml.ScalarEvent) -> None:
        if "\x00" in event.value:
            raise self.problem(event, "a NUL character", "Remove it; no text needs it.")
        if self._expects_key():
            self._key(event)
            return
        value = self._resolve(event)
        self._place(event)
        self._put(value)
        if self._stack:
            self._stack[-1].size += 1
        else:
            self._empty = value is None
        if event.anchor:
            self._anchors[event.anchor] = (value, 1)

    def _expects_key(self) -> bool:
        return bool(self._stack) and isinstance(self._stack[-1].value, dict) and self._stack[-1].key is None

    def _key(self, event: yaml.ScalarEvent) -> None:
        top = self._stack[-1]
        key = event.value
        if key in top.value and self._duplicates is not None:
            self._duplicates.append(Duplicate((*top.path, key), *self._mark(event)))
        elif key in top.value:
            raise self.problem(event, f"duplicate key '{key}'", "Keep one of the two.")
        if key == "<<" and event.implicit[0]:
            raise self.problem(event, "merge keys ('<<') are not read", "Write the keys out.")
        top.key = key
        self._document.places[(*top.path, key)] = self._mark(event)

    def _place(self, event: yaml.Event) -> Path:
        """The path of the value that begins here, noted with its place if it is a list item."""
        if not self._stack:
            return ()
        top = self._stack[-1]
        if top.key is not None:
            return (*top.path, top.key)
        path = (*top.path, len(top.value))
        self._document.places[path] = self._mark(event)
        return path

    def _put(self, value: Any) -> None:
        if not self._stack:
            self._document.value = value
            self._empty = False
            return
        top = self._stack[-1]
        if top.key is None:
            top.value.append(value)
        else:
            top.value[top.key] = value
            top.key = None

    def _check_collection_tag(self, event: yaml.MappingStartEvent | yaml.SequenceStartEvent) -> None:
        tag = event.tag
        if tag in {None, "!"}:
            return
        if not isinstance(event, _COLLECTION_TAGS.get(tag.removeprefix(_CORE), ())):
            raise self.problem(event, f"tag '{tag}' is not read", "Leave the tag out.")

    def _resolve(self, event: yaml.ScalarEvent) -> Any:
        tag, text = event.tag, event.value
        if tag is None and event.implicit[0]:
            return self._plain(event)
        if tag in {None, "!", _CORE + "str"}:
            return text
        kind = tag.removeprefix(_CORE)
        value = self._plain(event)
        allowed = _SCALAR_TAGS.get(kind)
        if allowed is None:
            raise self.problem(event, f"tag '{tag}' is not read", "Leave the tag out.")
        if not isinstance(value, allowed) or (kind in {"int", "float"} and isinstance(value, bool)):
            raise self.problem(event, f"'{text[:40]}' is no {kind}", "Leave the tag out.")
        return value

    def _plain(self, event: yaml.ScalarEvent) -> Any:
        text = event.value
        if text in _CONSTANTS:
            return _CONSTANTS[text]
        if _INT.fullmatch(text):
            return int(text)
        if _FLOAT.fullmatch(text):
            value = float(text)
            if value not in {float("inf"), float("-inf")}:
                return value
        if _FLOAT.fullmatch(text) or _NOT_A_NUMBER.fullmatch(text):
            raise self.problem(
                event, f"'{text[:40]}' is no JSON number", "Put it in quotes if it is meant as text."
            )
        return text
