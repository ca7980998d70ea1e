"""Reading values that somebody else wrote: every function here is total, a wrong type is an absent value."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from pilotage.core.regex import regex

KeyPath = tuple[str | int, ...]
"""The way to a value inside an object: keys and list positions."""

_EMPTY: Mapping[str, Any] = {}
_PLAIN_KEY = regex(r"[A-Za-z_][\w-]*")


def as_map(value: object) -> Mapping[str, Any]:
    """The value if it is a mapping, else an empty one."""
    return value if isinstance(value, dict) else _EMPTY


def as_list(value: object) -> list[Any]:
    """The value if it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def as_text(value: object) -> str:
    """The value if it is text, else an empty one."""
    return value if isinstance(value, str) else ""


def as_int(value: object) -> int | None:
    """The value if it is a whole number, else None. A boolean is none; `1.0` is 1, as for the API server."""
    if isinstance(value, bool):
        return None
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) else None


def dig(value: object, *path: str | int) -> Any:
    """The value at the end of a path; None where the way is barred."""
    for part in path:
        if value.__class__ is dict and part.__class__ is str:
            value = value.get(part)
        elif isinstance(part, str):
            value = value.get(part) if isinstance(value, dict) else None
        else:
            value = value[part] if isinstance(value, list) and -len(value) <= part < len(value) else None
    return value


def dotted(path: KeyPath) -> str:
    """`spec.template.spec.containers[0]`, with odd keys in quotes."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        elif _PLAIN_KEY.fullmatch(part):
            text += f".{part}" if text else part
        else:
            text += f'["{part}"]'
    return text


def pointer(path: KeyPath) -> str:
    """The path as a JSON pointer (RFC 6901)."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in path)


_QUANTITY = regex(r"([+-]?(?:\d+(?:\.\d*)?|\.\d+))(?:([eE][+-]?\d+)|(n|u|m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei))?")
_SUFFIXES = {
    "n": Decimal("1e-9"), "u": Decimal("1e-6"), "m": Decimal("1e-3"),
    "k": Decimal(10**3), "M": Decimal(10**6), "G": Decimal(10**9), "T": Decimal(10**12),
    "P": Decimal(10**15), "E": Decimal(10**18),
    "Ki": Decimal(2**10), "Mi": Decimal(2**20), "Gi": Decimal(2**30), "Ti": Decimal(2**40),
    "Pi": Decimal(2**50), "Ei": Decimal(2**60),
}  # fmt: skip
_LONGEST_QUANTITY = 64


def quantity(value: object) -> Decimal | None:
    """A Kubernetes quantity (`100m`, `1.5Gi`, `2e3`, 3) as a number of base units; None where it is none."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    text = str(value)
    match = _QUANTITY.fullmatch(text) if len(text) <= _LONGEST_QUANTITY else None
    if match is None:
        return None
    number, exponent, suffix = match.groups()
    if exponent is not None:
        power = int(exponent[1:])
        # The API server's own limits lie far inside; beyond, Decimal could take all memory.
        return Decimal(number).scaleb(power) if abs(power) <= 100 else None  # noqa: PLR2004
    return Decimal(number) * _SUFFIXES[suffix] if suffix else Decimal(number)


_DURATION = regex(r"(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h|d)?")
_SECONDS = {
    "ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3,
    "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0,
}  # fmt: skip


def duration(value: object, *, unit: str = "s") -> float | None:
    """A duration (`1h30m`, `500ms`, `10s`, 10) in seconds; None where it is none.

    Args:
        value: Go's form, HAProxy's form, or a bare number.
        unit: the unit of a bare number (`ms` for HAProxy).
    """
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    text = str(value).strip()
    sign = -1.0 if text.startswith("-") else 1.0
    text = text.lstrip("+-")
    total, at = 0.0, 0
    while at < len(text):
        match = _DURATION.match(text, at)
        if match is None:
            return None
        total += float(match[1]) * _SECONDS[match[2] or unit]
        at = match.end()
    return sign * total if text else None


def percent_or_count(value: object, of: int, *, round_up: bool) -> int | None:
    """`25%` or a number, as the controllers resolve it against a number of pods; None where it is neither."""
    count = as_int(value)
    if count is not None:
        return count
    match = re.fullmatch(r"(\d{1,4})%", as_text(value))
    if match is None:
        return None
    exact = int(match[1]) * of
    return -(-exact // 100) if round_up else exact // 100


def human_bytes(number: Decimal | float) -> str:
    """`1.5 GiB`: a number of bytes as people read it."""
    size = float(number)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(size) < 1024 or unit == "GiB":  # noqa: PLR2004
            return f"{size:.4g} {unit}"
        size /= 1024
    return f"{size:.4g} GiB"


_DAY = 86_400


def human_seconds(seconds: float) -> str:
    """`90 s`, `15 min`, `2 h`, `90 d`: a duration as people read it."""
    if seconds >= 2 * _DAY:
        return f"{round(seconds / _DAY, 1):g} d"
    if seconds and seconds % 3600 == 0:
        return f"{seconds / 3600:g} h"
    if seconds >= 300 and seconds % 60 == 0:  # noqa: PLR2004
        return f"{seconds / 60:g} min"
    return f"{seconds:g} s"
