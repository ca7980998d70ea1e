"""How faults are told: messages, evidence and what to write instead."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from pilotage.checks.objects import KubeObject
from pilotage.checks.schema import shapes
from pilotage.checks.schema.places import Suggestion
from pilotage.checks.schema.shapes import Free, Scalar, Shape, Struct
from pilotage.checks.schema.walk import Fault
from pilotage.checks.values import KeyPath, dotted

_LONGEST = 60
_MOST = 5
_HIDDEN = "(not shown)"

Found = tuple[Fault, Suggestion]


def level(path: KeyPath) -> str:
    """A level of an object in words."""
    return f"`{dotted(path)}`" if path else "the top level"


def either(paths: Sequence[KeyPath]) -> str:
    """Some levels, any of which may be meant."""
    return " or ".join(level(path) for path in paths)


def shown(value: Any) -> str:
    """A value as it reads, cut short."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def said(fault: Fault) -> str:
    """What stands where a field is missing."""
    if fault.value == "":
        return f'{dotted(fault.path)}: ""'
    return f"{dotted(fault.path)}: absent"


def evidence(found: Sequence[Fault], *, secret: bool = False) -> tuple[str, ...]:
    """What was read, some of it where it is much; of a Secret only where it stands."""
    lines = [f"{dotted(one.path)}: {_HIDDEN if secret else _quoted(one.value)}" for one in found[:_MOST]]
    if len(found) > _MOST:
        lines.append(f"and {len(found) - _MOST} more")
    return tuple(lines)


def _quoted(value: Any) -> str:
    return f'"{shown(value)}"' if isinstance(value, str) else shown(value)


def grouped(found: Iterable[Found]) -> list[list[Found]]:
    """Unknown fields, those together that are one and the same in several items of a list."""
    groups: dict[object, list[Found]] = {}
    for fault, hint in found:
        anywhere = tuple("*" if isinstance(part, int) else part for part in fault.path)
        groups.setdefault((anywhere, hint.spelling, len(hint.places)), []).append((fault, hint))
    return list(groups.values())


def _times(count: int) -> str:
    return f" ({count} times)" if count > 1 else ""


def unknown(fault: Fault, hint: Suggestion, minor: int, count: int) -> str:
    """That a field is not known."""
    key = str(fault.path[-1])
    text = f"{level(fault.path[:-1])} has no field `{key}`{_times(count)}"
    span = fault.shape.known.get(key) if isinstance(fault.shape, Struct) else None
    if span is not None:
        when = f"since 1.{span[0]}" if span[0] > minor else f"until 1.{span[1]}"
        return f"{text} in 1.{minor}, only {when}: it is dropped"
    if hint.spelling:
        return f"{text}, only `{hint.spelling}`: it is dropped"
    if hint.renamed:
        return f"{text} in this version, only `{hint.renamed}`: it is dropped"
    if hint.version:
        return f"{text} in this version, {hint.version} has it: it is dropped"
    return f"{text}: it is dropped"


def instead_of(key: str, hint: Suggestion, one: KubeObject) -> str:
    """What to do about a field that the API does not have."""
    if hint.spelling or hint.renamed:
        return f"Write `{hint.spelling or hint.renamed}` instead of `{key}`."
    if hint.version:
        return (
            f"Write `apiVersion: {one.group}/{hint.version}`, and look what else differs between the "
            "versions; taking the field out loses what it says."
        )
    if hint.related:
        return (
            f"`{hint.related}` is probably meant: see the reference of the API for the form of its value, "
            f"and move what `{key}` says there."
        )
    return f"Look up where the API keeps what `{key}` says; where nothing needs it, the line can go."


def misplaced(keys: Sequence[str], path: KeyPath, hint: Suggestion, count: int) -> str:
    """That fields stand at the wrong level."""
    here, there = f"{level(path)}{_times(count)}", either(hint.places)
    if len(keys) == 1:
        return f"`{keys[0]}` stands in {here}, where nothing reads it; it belongs to {there}"
    named = ", ".join(f"`{key}`" for key in keys[:-1])
    return f"{named} and `{keys[-1]}` stand in {here}, where nothing reads them; they belong to {there}"


def wanted(shape: Shape) -> str:
    """What a field wants, in words."""
    if isinstance(shape, Scalar):
        return shape.word
    if isinstance(shape, shapes.Sequence):
        return "a list"
    return "a mapping"


def given(value: Any, *, secret: bool = False) -> str:
    """What kind of value stands there, in words; the value itself unless it is secret."""
    if secret and isinstance(value, str | int | float):
        return "another text" if isinstance(value, str) else "a number or a boolean"
    if isinstance(value, bool):
        return f"the boolean {str(value).lower()}"
    if isinstance(value, int | float):
        return f"the number {value}"
    if isinstance(value, str):
        return f'the text "{shown(value)}"'
    return "a list" if isinstance(value, list) else "a mapping"


def wrong_type(fault: Fault, *, secret: bool = False) -> str:
    """That a value has the wrong type."""
    return (
        f"`{dotted(fault.path)}` wants {wanted(fault.shape)} and has {given(fault.value, secret=secret)}: "
        "the API server refuses the object"
    )


def in_the_right_type(fault: Fault) -> Any:
    """The same value in the type that is wanted, where there is no doubt; else None."""
    shape, value = fault.shape, fault.value
    if not isinstance(shape, Scalar):
        return None
    if shape.code == "s" and isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if shape.code == "b" and value in {"true", "false"} if isinstance(value, str) else False:
        return value == "true"
    if shape.code in {"i", "l"} and isinstance(value, str) and value.isascii() and value.isdigit():
        number = int(value) if len(value) < 19 else None  # noqa: PLR2004 - what fits in 64 bits
        return number if number is not None and shape.fits(number) else None
    return None


def write_instead(fault: Fault, better: Any) -> str:
    """What to write where a value has the wrong type."""
    key = fault.path[-1] if fault.path else ""
    if better is not None:
        return f"Write `{key}: {json.dumps(better)}`."
    if isinstance(fault.shape, Scalar) and fault.shape.code == "s" and isinstance(fault.value, bool | float):
        return "Put the value in quotes."
    if isinstance(fault.shape, Scalar) and fault.shape.code == "q" and isinstance(fault.value, str):
        plain = fault.value.strip().removesuffix("B").replace(" ", "")
        if fault.shape.fits(plain):
            return (
                f"Write `{plain}`, or `{plain}i` for powers of 1024."
                if plain[-1:] in "KMGTPE"
                else f"Write `{plain}`."
            )
    if isinstance(fault.shape, Free | Struct) and isinstance(fault.value, list):
        return "Write a mapping; mind the dashes."
    return f"Write {wanted(fault.shape)}."


def null(fault: Fault, *, refused: bool) -> str:
    """That a key has no value."""
    place = f"`{dotted(fault.path)}`"
    if refused:
        return f"{place} is null, which its definition does not allow: the API server refuses the object"
    if fault.path and isinstance(fault.path[-1], int):
        return f"{place} is an empty item of a list"
    return f"{place} has no value, so it is as good as absent"


def missing(fault: Fault) -> str:
    """That a required field is missing."""
    state = "is empty" if fault.value == "" else "is missing"
    return f"`{fault.path[-1]}` {state} in {level(fault.path[:-1])}: the API server refuses the object"


def write_missing(fault: Fault, unknown: Sequence[str]) -> str:
    """What to write where a required field is missing.

    Args:
        fault: the field.
        unknown: fields that stand there and that nobody reads.
    """
    key = str(fault.path[-1])
    if len(unknown) == 1:
        return (
            f"Write `{key}` in the place of `{unknown[0]}`, which nobody reads and which may be meant as it."
        )
    return f"Write `{key}` in {level(fault.path[:-1])}."


def meant(fault: Fault) -> str:
    """The allowed value that differs in case only; else empty."""
    allowed = fault.shape.allowed if isinstance(fault.shape, Scalar) else ()
    same = [one for one in allowed if str(one).lower() == str(fault.value).lower()]
    return str(same[0]) if same else ""


def bad_value(fault: Fault) -> str:
    """That a value is not allowed."""
    allowed = fault.shape.allowed if isinstance(fault.shape, Scalar) else ()
    names = ", ".join(f"`{one}`" for one in allowed)
    value = f"`{shown(fault.value)}`" if fault.value != "" else "an empty text"
    return f"`{dotted(fault.path)}` is {value}; allowed are {names}"


def repeated(fault: Fault, keys: tuple[str, ...], *, refused: bool) -> str:
    """That items of a list share their key."""
    item = fault.value if isinstance(fault.value, dict) else {}
    key = ", ".join(f"{name}: {item.get(name, shapes.DEFAULTS.get(name))}" for name in keys)
    text = f"`{dotted(fault.path[:-1])}` has {len(fault.positions)} items with `{key}`"
    if refused:
        return f"{text}: the API server refuses the object"
    return f"{text}, of which one counts"
