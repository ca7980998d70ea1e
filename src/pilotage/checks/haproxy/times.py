"""Times and sizes as HAProxy writes them."""

from __future__ import annotations

from pilotage.core.regex import regex

_TIME = regex(r"(\d{1,12})(us|ms|s|m|h|d)?")
_MILLISECONDS = {"us": 0.001, "ms": 1.0, "s": 1000.0, "m": 60_000.0, "h": 3_600_000.0, "d": 86_400_000.0}


def milliseconds(text: str, unit: str = "ms") -> float | None:
    """A time (`5s`, `1500`) in milliseconds; None where it is none, or holds a variable.

    Args:
        text: the time.
        unit: the unit of a bare number.
    """
    found = _TIME.fullmatch(text)
    return None if found is None else int(found[1]) * _MILLISECONDS[found[2] or unit]


def spoken(time: float) -> str:
    """`90 s`, `2 h`, `300 ms`: a time in milliseconds as people read it."""
    for unit, size in (("d", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", 1000)):
        if time >= size * (5 if unit == "min" else 1) and time % size == 0:
            return f"{time / size:g} {unit}"
    return f"{time / 1000:g} s" if time >= 1000 else f"{time:g} ms"  # noqa: PLR2004
