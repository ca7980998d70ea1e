"""YAML as kubectl reads it, and where its values stand.

kubectl's parser follows YAML 1.1 with exceptions of its own: words mean something else (`plain_words`), an
anchor may be defined again, of two equal keys the last one counts. What is not in the simple form of nearly
all manifests (`yaml_blocks`) PyYAML's C parser reads.
"""

from __future__ import annotations

import base64
import contextlib
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import yaml
from yaml import cyaml

from pilotage.checks.depth import may_be_deep
from pilotage.checks.plain_words import MERGE, NO_JSON, NOT_FINITE, WORDS, key_text, plain_value
from pilotage.checks.repeating import Repeating, flagged
from pilotage.checks.tags import any_outside_of_words, bare_tags
from pilotage.checks.values import KeyPath
from pilotage.checks.yaml_blocks import Common, Unsure, read_blocks
from pilotage.core.regex import regex

Node = Any
"""A node of PyYAML; not typed, since the composer below keeps values where PyYAML keeps tags."""
MappingNode: Any = yaml.MappingNode
ScalarNode: Any = yaml.ScalarNode
SequenceNode: Any = yaml.SequenceNode
_CParser: Any = vars(cyaml)["CParser"]

_HALF = regex("[\ud800-\udfff]")

MOST_VALUES = 400_000
"""Values of one document that aliases may unfold to before it counts as an attack."""
DEEPEST = 400
"""Levels of nesting; the API server refuses far fewer."""


class DialectError(Exception):
    """A document cannot be read.

    Attributes:
        line: from 1, within the text that was parsed; 0 where it is not known.
        column: likewise.
    """

    def __init__(self, message: str, line: int = 0, column: int = 0) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.column = column


class Position(NamedTuple):
    """A place in a text, both from 1."""

    line: int
    column: int


class _Composer(_CParser):  # type: ignore[misc]
    """PyYAML's C composer; for a plain or quoted word the node's tag holds its value in a tuple."""

    def resolve(self, kind: Any, value: str, implicit: tuple[bool, bool]) -> Any:
        """The value of a word in a tuple; for maps and lists only a mark."""
        if kind is ScalarNode:
            return WORDS[value] if implicit[0] else (value,)
        return "map" if kind is MappingNode else "seq"

    def descend_resolver(self, parent: Any, index: Any) -> None:
        """Nothing depends on the surroundings."""

    def ascend_resolver(self) -> None:
        """Nothing depends on the surroundings."""


def compose(text: str) -> Node:
    """The nodes of the first document in a text, with their marks; None where there is none.

    Raises:
        DialectError: it is not YAML.
    """
    if not text.isascii() and (half := _HALF.search(text)) is not None:
        raise DialectError(f"half of a character stands alone: U+{ord(half[0]):04X}")
    _refuse_depth(text)
    bare = bare_tags(text)
    try:
        parser = _Composer(text)
        try:
            node: Node = parser.get_node() if parser.check_node() else None
        finally:
            parser.dispose()
    except yaml.composer.ComposerError as error:
        if "duplicate anchor" in str(error):
            return _compose_slowly(text)
        raise _said(error, text) from error
    except yaml.YAMLError as error:
        raise _said(error, text) from error
    return _compose_slowly(text) if bare and any_outside_of_words(bare, node, text) else node


def _said(error: yaml.YAMLError, text: str) -> DialectError:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "cannot be read as YAML"
    context = getattr(error, "context", None)
    message = f"{problem} ({context})" if context else str(problem)
    if mark is None:
        return DialectError(message)
    if "cannot start any token" in message and _character(text, mark.line, mark.column) == "\t":
        message = "a tab stands here, and only spaces may indent"
    return DialectError(message, mark.line + 1, mark.column + 1)


def _character(text: str, line: int, column: int) -> str:
    lines = text.split("\n", line + 1)
    return lines[line][column : column + 1] if line < len(lines) else ""


def _refuse_depth(text: str) -> None:
    # The C composer calls itself for each level; far too many levels would end the process.
    if not may_be_deep(text, DEEPEST):
        return
    depth = 0
    for event in _events(text):
        if isinstance(event, yaml.events.CollectionStartEvent):
            depth += 1
            if depth > DEEPEST:
                raise DialectError(f"nested more than {DEEPEST} levels deep", *_at(event))
        elif isinstance(event, yaml.events.CollectionEndEvent):
            depth -= 1


def _events(text: str) -> Iterator[Any]:
    try:
        yield from yaml.parse(text, Loader=yaml.CSafeLoader)
    except yaml.YAMLError as error:
        raise _said(error, text) from error


def _compose_slowly(text: str) -> Node:
    """As `compose`, for what PyYAML reads otherwise: an anchor defined again, a tag without a name."""
    events = _events(text)
    for event in events:
        if isinstance(event, yaml.events.DocumentStartEvent):
            try:
                return _node_from(next(events), events, text, {})
            except RecursionError as error:
                raise DialectError("nested too deep") from error
    return None


def _node_from(event: Any, events: Iterator[Any], text: str, anchors: dict[str, Node]) -> Node:
    if isinstance(event, yaml.events.AliasEvent):
        if event.anchor not in anchors:
            raise DialectError(f"unknown anchor '{event.anchor}' referenced", *_at(event))
        return anchors[event.anchor]
    if isinstance(event, yaml.events.ScalarEvent):
        tag: Any = event.tag
        if tag is None or tag == "!":
            plain = event.implicit[0] and not text.startswith("!", _index(event))
            tag = WORDS[event.value] if plain else (event.value,)
        node = ScalarNode(tag, event.value, event.start_mark, event.end_mark, event.style)
        if event.anchor:
            anchors[event.anchor] = node
        return node
    pairs: list[Any] = []
    sequence = isinstance(event, yaml.events.SequenceStartEvent)
    made = SequenceNode if sequence else MappingNode
    node = made(event.tag or ("seq" if sequence else "map"), pairs, event.start_mark, event.end_mark)
    if event.anchor:
        anchors[event.anchor] = node
    while not isinstance(following := next(events), yaml.events.CollectionEndEvent):
        item = _node_from(following, events, text, anchors)
        pairs.append(item if sequence else (item, _node_from(next(events), events, text, anchors)))
    return node


# From nodes to values

_TAG = "tag:yaml.org,2002:"

_MERGE_TAG = _TAG + "merge"


def _as_text(text: str) -> Any:
    return text


def _refused(text: str) -> Any:
    raise DialectError(f"'{text}' is a number that JSON does not know")


def _as_number(text: str) -> Any:
    value = plain_value(text)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise DialectError(f"'{text}' is no number")
    return value


def _as_bool(text: str) -> Any:
    value = plain_value(text)
    if not isinstance(value, bool):
        raise DialectError(f"'{text}' is no boolean")
    return value


def _as_binary(text: str) -> Any:
    try:
        # Line breaks are allowed inside, anything else is not.
        return base64.b64decode("".join(text.split()), validate=True).decode("utf-8", "replace")
    except ValueError as error:
        raise DialectError("the value tagged !!binary is not base64") from error


_TAGGED: dict[str, Callable[[str], Any]] = {
    _TAG + "str": _as_text,
    _TAG + "int": _as_number,
    _TAG + "float": lambda text: float(_as_number(text)),
    _TAG + "bool": _as_bool,
    _TAG + "null": lambda _: None,
    _TAG + "binary": _as_binary,
    _TAG + "timestamp": _as_text,
    NO_JSON: _refused,
}


class _Builder:
    """Values from the nodes of one document; an alias is the same value again, and counted again."""

    def __init__(self) -> None:
        self.made: dict[int, tuple[Any, int]] = {}
        self.open: set[int] = set()
        self.size = 0
        self.repeats = False

    def build(self, node: Node) -> Any:
        if node.__class__ is ScalarNode:
            self.size += 1
            tag = node.tag
            return tag[0] if tag.__class__ is tuple else _tagged(node)
        known = self.made.get(id(node))
        if known is not None:
            self.size += known[1]
            if self.size > MOST_VALUES:
                raise DialectError("excessive aliasing: its aliases unfold to too many values", *_at(node))
            return known[0]
        if id(node) in self.open:
            raise DialectError("an anchor contains itself", *_at(node))
        self.open.add(id(node))
        before = self.size
        self.size += 1
        value = (
            self._mapping(node)
            if node.__class__ is MappingNode
            else [self.build(item) for item in node.value]
        )
        self.open.discard(id(node))
        self.made[id(node)] = (value, self.size - before)
        return value

    def _mapping(self, node: Node) -> dict[str, Any]:
        found: dict[str, Any] = {}
        merged = False
        build = self.build
        for key, value in node.value:
            if key.__class__ is not ScalarNode:
                raise DialectError("a key must be plain text", *_at(key))
            tag = key.tag
            if tag is MERGE or tag == _MERGE_TAG:
                # From top to end, as kubectl does: what stands above is overwritten.
                found.update(self._inherited(value))
                merged = True
                continue
            name = tag[0] if tag.__class__ is tuple else _tagged_key(key)
            found[name if name.__class__ is str else _key_text(name, key)] = build(value)
        return found if merged or len(found) == len(node.value) else self._repeating(found, node)

    def _repeating(self, found: dict[str, Any], node: Node) -> dict[str, Any]:
        self.repeats = True
        counted = Counter(key.value for key, _ in node.value)
        return Repeating(found, tuple(key for key in found if counted[key] > 1))

    def _inherited(self, node: Node) -> dict[str, Any]:
        sources = node.value if node.__class__ is SequenceNode else [node]
        found: dict[str, Any] = {}
        for source in reversed(sources):
            value = self.build(source)
            if not isinstance(value, dict):
                raise DialectError("map merge requires map or sequence of maps as the value", *_at(node))
            found.update(value)
        return found


def _index(node: Any) -> int:
    return int(node.start_mark.index)


def _at(node: Any) -> tuple[int, int]:
    return node.start_mark.line + 1, node.start_mark.column + 1


def _tagged(node: Node) -> Any:
    make = _TAGGED.get(node.tag, _as_text)
    try:
        return make(node.value)
    except DialectError as error:
        raise DialectError(error.message, *_at(node)) from error


def _tagged_key(node: Node) -> Any:
    return NOT_FINITE[node.value] if node.tag == NO_JSON else _tagged(node)


def _key_text(key: object, node: Node) -> str:
    try:
        return key_text(key)
    except ValueError as error:
        raise DialectError(str(error), *_at(node)) from error


def load(text: str, common: Common | None = None) -> Any:
    """The value of the first document in a text.

    Args:
        text: the text.
        common: what other documents hold, so that of the same mapping or list there is one only.

    Raises:
        DialectError: it cannot be read; with the place.
    """
    with contextlib.suppress(Unsure):
        return read_blocks(text, common)
    return load_any(text)


def load_any(text: str) -> Any:
    """As `load`, by the parser of all of YAML.

    Raises:
        DialectError: it cannot be read; with the place.
    """
    node = compose(text)
    if node is None:
        return None
    builder = _Builder()
    try:
        value = builder.build(node)
        return flagged(value) if builder.repeats else value
    except RecursionError as error:
        raise DialectError("nested too deep") from error


# From paths to places


def position_of(node: Node, path: KeyPath) -> Position:
    """Where the deepest existing part of the path stands: its key in a mapping, the item in a list."""
    if node is None:
        return Position(1, 1)
    mark = node.start_mark
    for part in path:
        step = _step(node, part)
        if step is None:
            break
        mark, node = step
    return Position(mark.line + 1, mark.column + 1)


def literal_line(node: Node, path: KeyPath) -> int | None:
    """The first line of a value written as a literal block; None where it is absent or written otherwise."""
    for part in path:
        step = _step(node, part) if node is not None else None
        if step is None:
            return None
        node = step[1]
    literal = node.__class__ is ScalarNode and node.style == "|"
    return node.start_mark.line + 2 if literal else None


def _step(node: Node, part: str | int) -> tuple[Any, Node] | None:
    if isinstance(part, int):
        if node.__class__ is not SequenceNode or not 0 <= part < len(node.value):
            return None
        item = node.value[part]
        return item.start_mark, item
    if node.__class__ is not MappingNode:
        return None
    found: tuple[Any, Node] | None = None
    for key, value in node.value:
        if key.tag is MERGE or key.tag == _MERGE_TAG:
            sources = value.value if value.__class__ is SequenceNode else [value]
            found = next((step for source in sources if (step := _step(source, part)) is not None), found)
        elif key.__class__ is ScalarNode and (key.value == part or _key_is(key, part)):
            found = (key.start_mark, value)
    return found


def _key_is(key: Node, part: str) -> bool:
    tag = key.tag
    return tag.__class__ is tuple and tag[0].__class__ is not str and key_text(tag[0]) == part
