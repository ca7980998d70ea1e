"""The shape of a value: which fields, of which types; one model for built-in kinds and for custom resources.

A shape can tell quickly whether a value has it (`fits`, without places and reasons); `walk` tells what is
wrong with one that has not. Nearly all values fit, so nearly all of the time is spent in `fits`.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Mapping
from typing import Any

from pilotage.checks.values import quantity
from pilotage.core.regex import regex

Test = Callable[[Any], bool] | type
"""A class that a value must be of, or what decides."""

WORDS = {
    "s": "text",
    "i": "a whole number",
    "l": "a whole number",
    "n": "a number",
    "b": "true or false",
    "y": "base64 text",
    "t": "a time such as 2024-05-01T12:00:00Z",
    "u": "a time with six digits of a second, such as 2024-05-01T12:00:00.000000Z",
    "d": "a duration such as 30s",
    "q": "a quantity such as 500m or 128Mi",
    "p": "a whole number or text",
}
_INT32 = 2**31
_INT64 = 2**63
_TIME = regex(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:[Zz]|[+-]\d\d:\d\d)")
_MICRO = regex(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}(?:Z|[+-]\d\d:\d\d)")
_DURATION = regex(r"[+-]?(?:0|(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)")


def _whole(limit: int) -> Callable[[Any], bool]:
    def fits(value: Any) -> bool:
        if value.__class__ is int:
            return bool(-limit <= value < limit)
        # YAML's `1.0` goes to the API server as 1.
        return value.__class__ is float and value.is_integer() and -limit <= value < limit

    return fits


def _number(value: Any) -> bool:
    return value.__class__ is int or value.__class__ is float


def _base64(value: Any) -> bool:
    if not isinstance(value, str):
        return False
    try:
        base64.b64decode(value.translate(_LINE_ENDS), validate=True)
    except (binascii.Error, ValueError):
        return False
    return True


_LINE_ENDS = {10: None, 13: None}


def _time(value: Any) -> bool:
    return isinstance(value, str) and _TIME.fullmatch(value) is not None


def _micro(value: Any) -> bool:
    return isinstance(value, str) and _MICRO.fullmatch(value) is not None


def _duration(value: Any) -> bool:
    return isinstance(value, str) and _DURATION.fullmatch(value) is not None


def _quantity(value: Any) -> bool:
    return quantity(value) is not None


def _port(value: Any) -> bool:
    return value.__class__ is str or SCALARS["i"](value)


SCALARS: dict[str, Any] = {
    "s": str,
    "i": _whole(_INT32),
    "l": _whole(_INT64),
    "n": _number,
    "b": bool,
    "y": _base64,
    "t": _time,
    "u": _micro,
    "d": _duration,
    "q": _quantity,
    "p": _port,
}


def is_scalar_of(value: Any, code: str) -> bool:
    """Whether a value is a scalar of a code such as `s` or `q`."""
    test = SCALARS[code]
    return value.__class__ is test if test.__class__ is type else bool(test(value))


class Shape:
    """What a value may be.

    Attributes:
        nullable: whether null may stand in a list of these; as the value of a field it means "absent".
    """

    __slots__ = ("_test", "nullable")

    def __init__(self, *, nullable: bool = True) -> None:
        self.nullable = nullable
        self._test: Test | None = None

    @property
    def test(self) -> Test:
        """What decides whether a value has this shape, made on first use: most shapes are never met."""
        if self._test is None:
            self._test = self._make()
        return self._test

    def fits(self, value: Any) -> bool:
        """Whether a value has this shape in every part."""
        test = self.test
        return value.__class__ is test if isinstance(test, type) else test(value)

    def _make(self) -> Test:
        return _anything


def _anything(_: Any) -> bool:
    return True


class Anything(Shape):
    """Any value at all."""


class Scalar(Shape):
    """A single value: text, a number, a boolean, a quantity.

    Attributes:
        code: the letter of the type, as in `codes`.
        allowed: the only values; empty for any.
        empty: whether an empty text stands for the default where only some values are allowed.
    """

    __slots__ = ("allowed", "code", "empty")

    def __init__(
        self, code: str, allowed: tuple[Any, ...] = (), *, empty: bool = False, nullable: bool = True
    ) -> None:
        super().__init__(nullable=nullable)
        self.code = code
        self.allowed = allowed
        self.empty = empty

    def _make(self) -> Test:
        test: Any = SCALARS[self.code]
        if not self.allowed:
            return test  # type: ignore[no-any-return]
        allowed = (*self.allowed, "") if self.empty else self.allowed
        if test is str:
            return lambda value: value.__class__ is str and value in allowed
        return lambda value: test(value) and value in allowed

    @property
    def word(self) -> str:
        """The type as people say it."""
        return WORDS[self.code]


class Sequence(Shape):
    """A list.

    Attributes:
        item: the shape of its items.
        keys: what tells items apart; empty where nothing does.
    """

    __slots__ = ("item", "keys")

    def __init__(self, item: Shape, keys: tuple[str, ...] = (), *, nullable: bool = True) -> None:
        super().__init__(nullable=nullable)
        self.item = item
        self.keys = keys

    def _make(self) -> Test:
        test: Any = self.item.test
        keys = self.keys
        if isinstance(test, type):
            return lambda value: value.__class__ is list and all(item.__class__ is test for item in value)

        def fits(value: Any) -> bool:
            if value.__class__ is not list or not all(map(test, value)):
                return False
            return not keys or len(value) == 1 or not repeats(value, keys)

        return fits


class Free(Shape):
    """A mapping with free keys.

    Attributes:
        value: the shape of its values.
    """

    __slots__ = ("value",)

    def __init__(self, value: Shape, *, nullable: bool = True) -> None:
        super().__init__(nullable=nullable)
        self.value = value

    def _make(self) -> Test:
        test: Any = self.value.test
        if test is _anything:
            return dict
        if isinstance(test, type):
            return lambda value: (
                value.__class__ is dict and all(item.__class__ is test for item in value.values())
            )
        return lambda value: value.__class__ is dict and all(map(test, value.values()))


class Struct(Shape):
    """A mapping with known fields.

    Attributes:
        name: the type's name; empty for a part of a custom resource.
        fields: field -> shape.
        required: fields that must be there.
        open: whether other fields are kept.
        blank: whether an empty text in a required field counts as absent, as with built-in kinds.
        known: fields of other versions -> first and last minor version that have them.
    """

    __slots__ = ("blank", "fields", "known", "name", "open", "required")

    def __init__(  # noqa: PLR0913 - as many as a type has properties
        self,
        name: str = "",
        fields: Mapping[str, Shape] | None = None,
        required: tuple[str, ...] = (),
        *,
        open: bool = False,  # noqa: A002 - the word of the model
        blank: bool = True,
        nullable: bool = True,
    ) -> None:
        super().__init__(nullable=nullable)
        self.name = name
        self.blank = blank
        self.fields: dict[str, Shape] = dict(fields or {})
        self.required = required
        self.open = open
        self.known: dict[str, tuple[int, int]] = {}

    def _make(self) -> Test:
        tests = _Tests(self)
        required = frozenset(self.required)
        named = [key for key in self.required if self.blank and _is_text(self.fields.get(key))]

        def fits(value: Any) -> bool:
            if value.__class__ is not dict:
                return False
            for key, item in value.items():
                test = tests[key]
                if item.__class__ is not test and (test.__class__ is type or not test(item)):
                    return False
            return required <= value.keys() and all(map(value.get, named))

        return fits


def lacks(shape: Struct, value: dict[str, Any], key: str) -> bool:
    """Whether a required field is missing: absent, null, and with built-in kinds an empty text."""
    found = value.get(key)
    return found is None or (found == "" and shape.blank and _is_text(shape.fields.get(key)))


_TEXTS = frozenset("spy")


def _is_text(shape: Shape | None) -> bool:
    return isinstance(shape, Scalar) and shape.code in _TEXTS


class _Tests(dict[str, Any]):
    """The tests of a type's fields, each made when it is first met; unknown keys are not remembered."""

    def __init__(self, shape: Struct) -> None:
        super().__init__()
        self.shape = shape

    def __missing__(self, key: str) -> Any:
        field = self.shape.fields.get(key)
        if field is None:
            return _anything if self.shape.open else _nothing
        test = self[key] = field.test
        return test


def _nothing(_: Any) -> bool:
    return False


DEFAULTS = {"protocol": "TCP"}
"""What the API server takes for a part of a key that is left out."""


def key_of(item: Any, keys: tuple[str, ...]) -> tuple[Any, ...] | None:
    """What tells an item of a list apart; None where it lacks a part of it."""
    if not isinstance(item, dict):
        return None
    parts = tuple(item.get(key, DEFAULTS.get(key)) for key in keys)
    if None in parts or any(isinstance(part, dict | list) for part in parts):
        return None
    return parts


def _all_differ(items: list[Any], keys: tuple[str, ...]) -> bool:
    """Whether the first part of the key alone tells all items apart, as it nearly always does."""
    if not keys:
        return False
    first = keys[0]
    try:
        found = {item[first] for item in items}
    except (TypeError, KeyError):
        return False
    return len(found) == len(items)


def repeats(items: list[Any], keys: tuple[str, ...]) -> dict[tuple[Any, ...], list[int]]:
    """Key -> positions of the items that share it, for keys that stand more than once."""
    if len(items) < 2 or _all_differ(items, keys):  # noqa: PLR2004
        return {}
    found: dict[tuple[Any, ...], list[int]] = {}
    for position, item in enumerate(items):
        key = key_of(item, keys)
        if key is not None:
            found.setdefault(key, []).append(position)
    if len(found) == len(items):
        return {}
    return {key: positions for key, positions in found.items() if len(positions) > 1}
