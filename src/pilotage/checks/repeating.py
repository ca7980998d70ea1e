"""Mappings that name a key twice: the last one counts, as for kubectl, and what came before is lost."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml

from pilotage.checks.values import KeyPath


class Repeating(dict[str, Any]):
    """A mapping with keys that stand more than once, or a document that holds such a mapping somewhere.

    Attributes:
        twice: the keys; empty for a document that only holds such a mapping.
    """

    __slots__ = ("twice",)

    def __init__(self, found: dict[str, Any], twice: tuple[str, ...] = ()) -> None:
        super().__init__(found)
        self.twice = twice


def flagged(value: Any) -> Any:
    """A document that holds such a mapping, so that each object in it tells."""
    if isinstance(value, list):
        return [flagged(item) for item in value]
    if not isinstance(value, dict):
        return value
    if isinstance(items := value.get("items"), list):
        value["items"] = [flagged(item) for item in items]
    return value if isinstance(value, Repeating) else Repeating(value)


def repeated_keys(value: Any, path: KeyPath = ()) -> Iterator[KeyPath]:
    """The way to every key that stands more than once."""
    if isinstance(value, Repeating):
        yield from ((*path, key) for key in value.twice)
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from repeated_keys(inner, (*path, key))
    elif isinstance(value, list):
        for position, inner in enumerate(value):
            yield from repeated_keys(inner, (*path, position))


def lines_of_key(node: Any, path: KeyPath) -> list[int]:
    """The lines at which a key stands, from 1, within the text of the nodes."""
    return [key.start_mark.line + 1 for key, _ in _pairs(_holder(node, path)) if key.value == path[-1]]


def same_each_time(node: Any, path: KeyPath) -> bool:
    """Whether the same value stands under a key each time, so that nothing is lost."""
    found = [_written(value) for key, value in _pairs(_holder(node, path)) if key.value == path[-1]]
    return all(value == found[0] for value in found)


def _holder(node: Any, path: KeyPath) -> Any:
    for part in path[:-1]:
        if isinstance(part, int):
            node = (
                node.value[part] if isinstance(node, yaml.SequenceNode) and part < len(node.value) else None
            )
        else:
            node = next((value for key, value in reversed(_pairs(node)) if key.value == part), None)
    return node


def _written(node: Any) -> Any:
    if isinstance(node, yaml.MappingNode):
        return [(_written(key), _written(value)) for key, value in node.value]
    if isinstance(node, yaml.SequenceNode):
        return [_written(item) for item in node.value]
    return node.tag, node.value


def _pairs(node: Any) -> list[tuple[Any, Any]]:
    return node.value if isinstance(node, yaml.MappingNode) else []
