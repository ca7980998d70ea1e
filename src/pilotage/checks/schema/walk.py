"""What is wrong with a value that does not have its shape, with places and reasons."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from typing import Any

import msgspec

from pilotage.checks.schema.shapes import Free, Scalar, Sequence, Shape, Struct, lacks, repeats
from pilotage.checks.values import KeyPath


class Rule(enum.Enum):
    """Kinds of faults."""

    UNKNOWN = "unknown"
    TYPE = "type"
    NULL = "null"
    REQUIRED = "required"
    VALUE = "value"
    REPEATED = "repeated"


class Fault(msgspec.Struct, frozen=True):
    """Something that does not fit.

    Attributes:
        rule: what kind of fault.
        path: where; of an absent field, where it should stand.
        shape: what was wanted; of an unknown field the type that does not have it.
        value: what stands there.
        positions: of items with one key, where they stand in the list.
    """

    rule: Rule
    path: KeyPath
    shape: Shape
    value: Any = None
    positions: tuple[int, ...] = ()


def faults(value: Any, shape: Shape, path: KeyPath = ()) -> Iterator[Fault]:
    """Everything that keeps a value from having its shape; nothing where it fits."""
    if value is None:
        if not shape.fits(None):
            yield Fault(Rule.NULL, path, shape)
    elif isinstance(shape, Struct):
        yield from _struct(value, shape, path)
    elif isinstance(shape, Sequence):
        yield from _sequence(value, shape, path)
    elif isinstance(shape, Free):
        if not isinstance(value, dict):
            yield Fault(Rule.TYPE, path, shape, value)
            return
        for key, item in value.items():
            if not shape.value.fits(item):
                yield from faults(item, shape.value, (*path, key))
    elif isinstance(shape, Scalar) and not shape.fits(value):
        wrong_value = shape.allowed and Scalar(shape.code).fits(value)
        yield Fault(Rule.VALUE if wrong_value else Rule.TYPE, path, shape, value)


def _struct(value: Any, shape: Struct, path: KeyPath) -> Iterator[Fault]:
    if not isinstance(value, dict):
        yield Fault(Rule.TYPE, path, shape, value)
        return
    missing = [key for key in shape.required if lacks(shape, value, key)]
    for key, item in value.items():
        field = shape.fields.get(key)
        if field is None:
            if not shape.open:
                yield Fault(Rule.UNKNOWN, (*path, key), shape, item)
        elif key not in missing and not field.fits(item):
            yield from faults(item, field, (*path, key))
    for key in missing:
        yield Fault(Rule.REQUIRED, (*path, key), shape.fields.get(key, shape), value.get(key))


def _sequence(value: Any, shape: Sequence, path: KeyPath) -> Iterator[Fault]:
    if not isinstance(value, list):
        yield Fault(Rule.TYPE, path, shape, value)
        return
    for position, item in enumerate(value):
        if not shape.item.fits(item):
            yield from faults(item, shape.item, (*path, position))
    if shape.keys:
        for positions in repeats(value, shape.keys).values():
            yield Fault(Rule.REPEATED, (*path, positions[-1]), shape, value[positions[-1]], tuple(positions))
