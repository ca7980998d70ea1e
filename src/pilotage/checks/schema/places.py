"""Where an unknown field belongs: another spelling here, or the same name at another level."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from pilotage.checks.schema.published import renamed
from pilotage.checks.schema.shapes import Free, Sequence, Shape, Struct
from pilotage.checks.schema.walk import Fault
from pilotage.checks.values import KeyPath, as_map, dig
from pilotage.core.regex import regex
from pilotage.core.text import edits

# Names that many types have: found elsewhere they prove nothing, unless it is next door.
_COMMON = frozenset(
    "name type key value path kind apiVersion metadata spec status port host namespace labels annotations "
    "items data address id reason message mode group version resources rules from to".split()
)
_DEEPEST = 4
_NEXT_DOOR = 2
_MOST_VISITED = 3000
_LISTED = 3
_SURE = 1
_LIKE = 0.75
_SHORTEST = 4
_BEGINNING = 10
_REFERENCE = regex("([a-z]+)(?:Name|Ref|Reference|Id|Selector)")


class Suggestion(msgspec.Struct, frozen=True):
    """What an unknown field was probably meant to be.

    Attributes:
        spelling: the name of a field at the same level; empty where none is near.
        renamed: what a newer version of the API calls it; empty where it is none of those.
        related: a field at the same level that refers to the same thing in another form.
        places: levels that have a field of this very name, nearest first; several are equally near.
        version: another version of the custom resource that has the field where it stands.
    """

    spelling: str = ""
    renamed: str = ""
    related: str = ""
    places: tuple[KeyPath, ...] = ()
    version: str = ""


def suggest(root: Struct, data: Mapping[str, Any], fault: Fault) -> Suggestion:
    """What an unknown field was probably meant to be.

    Args:
        root: the shape of the object.
        data: the object.
        fault: an unknown field in it.
    """
    key, level = str(fault.path[-1]), fault.path[:-1]
    beside = dig(data, *level) if level else data
    if isinstance(fault.shape, Struct) and (name := renamed().get(f"{fault.shape.name}.{key}")):
        return Suggestion(renamed=name)
    if "/" in key and level[-1:] == ("metadata",):
        return Suggestion(places=((*level, "labels"),))
    spelling, distance = _spelling(key, fault, beside)
    if spelling and distance <= _SURE:
        return Suggestion(spelling)
    places = _places(root, data, fault, key)
    if places:
        return Suggestion(places=places)
    return Suggestion(spelling, related="" if spelling else _related(key, fault, beside))


def _spelling(key: str, fault: Fault, beside: Any) -> tuple[str, int]:
    """The nearest name of a field that is not there yet and takes the value, and how far off it is."""
    if not isinstance(fault.shape, Struct):
        return "", 0
    plain = _plain(key)
    best, least = "", len(key)
    for name, shape in fault.shape.fields.items():
        if isinstance(beside, dict) and name in beside:
            continue
        distance = 0 if _plain(name) == plain else edits(key.lower(), name.lower())
        if distance >= least or not _may_be(shape, fault.value):
            continue
        near = distance <= _SURE if len(key) < _SHORTEST * 2 else distance <= len(name) * (1 - _LIKE)
        if distance == 0 or (near and len(key) >= _SHORTEST):
            best, least = name, distance
    return best, least


def _related(key: str, fault: Fault, beside: Any) -> str:
    """The field that refers to the same thing in another form: of `secretName` it is `secretRef`.

    Or that begins alike and takes the value, where only one does: of `publishNotReadyEndpoints` it is
    `publishNotReadyAddresses`.
    """
    if not isinstance(fault.shape, Struct):
        return ""
    free = [name for name in fault.shape.fields if name not in as_map(beside)]
    if (named := _REFERENCE.fullmatch(key)) is not None:
        others = (_REFERENCE.fullmatch(name) for name in free)
        return next((other[0] for other in others if other and other[1] == named[1]), "")
    if len(key) < _BEGINNING:
        return ""
    alike = [
        name
        for name in free
        if name[:_BEGINNING] == key[:_BEGINNING] and _may_be(fault.shape.fields[name], fault.value)
    ]
    return alike[0] if len(alike) == 1 else ""


def _plain(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "")


def _may_be(shape: Shape, value: Any) -> bool:
    return (
        value is None or shape.fits(value) or (isinstance(value, dict) and isinstance(shape, Struct | Free))
    )


def _places(root: Struct, data: Mapping[str, Any], fault: Fault, key: str) -> tuple[KeyPath, ...]:
    found: dict[KeyPath, tuple[int, bool]] = {}
    chain = _chain(root, fault.path[:-1])
    for up, (path, struct) in enumerate(reversed(chain)):
        for down, place, holder in _below(struct, path, data):
            field = holder.fields.get(key)
            near = up + down
            if field is None or place == fault.path[:-1] or not _may_be(field, fault.value):
                continue
            if key in _COMMON and near > _NEXT_DOOR:
                continue
            there = isinstance(dig(data, *place) if place else data, dict)
            # What is not written down is no neighbour: of twenty kinds of volumes one is meant.
            if not there and up and down:
                continue
            if place not in found or found[place][0] > near:
                found[place] = (near, not there)
    if not found:
        return ()
    least = min(found.values())
    nearest = [place for place, score in found.items() if score == least]
    return tuple(nearest) if len(nearest) <= _LISTED else ()


def _chain(root: Struct, path: KeyPath) -> list[tuple[KeyPath, Struct]]:
    """The types on the way to a level, outermost first."""
    found: list[tuple[KeyPath, Struct]] = [((), root)]
    shape: Shape | None = root
    for end, part in enumerate(path, start=1):
        if isinstance(shape, Struct):
            shape = shape.fields.get(str(part))
        elif isinstance(shape, Sequence):
            shape = shape.item
        elif isinstance(shape, Free):
            shape = shape.value
        else:
            break
        if isinstance(shape, Struct):
            found.append((path[:end], shape))
    return found


def _below(struct: Struct, path: KeyPath, data: Mapping[str, Any]) -> Iterator[tuple[int, KeyPath, Struct]]:
    """A type and the types inside it with their distance, nearest first; of a list its only item."""
    level: list[tuple[KeyPath, Struct]] = [(path, struct)]
    seen = {id(struct)}
    visited = 0
    for depth in range(_DEEPEST):
        following: list[tuple[KeyPath, Struct]] = []
        for at, one in level:
            yield depth, at, one
            visited += 1
            if visited > _MOST_VISITED:
                return
            for name, shape in one.fields.items():
                inner = _inner(shape, (*at, name), data)
                if inner is not None and (id(inner[1]), inner[0]) and id(inner[1]) not in seen:
                    following.append(inner)
        seen |= {id(one) for _, one in following}
        level = following


def _inner(shape: Shape, path: KeyPath, data: Mapping[str, Any]) -> tuple[KeyPath, Struct] | None:
    if isinstance(shape, Sequence) and isinstance(shape.item, Struct):
        items = dig(data, *path)
        if isinstance(items, list) and len(items) == 1:
            return (*path, 0), shape.item
        return None
    return (path, shape) if isinstance(shape, Struct) else None


def holds(shape: Shape, path: KeyPath) -> bool:
    """Whether a shape states a field at the end of a path."""
    for part in path:
        if isinstance(shape, Struct) and part in shape.fields:
            shape = shape.fields[str(part)]
        elif isinstance(shape, Sequence) and isinstance(part, int):
            shape = shape.item
        elif isinstance(shape, Free):
            shape = shape.value
        else:
            return False
    return True
