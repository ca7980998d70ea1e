"""Intervals as reports state them: `9m`, `3h 54m`, `2d 4h`."""

from __future__ import annotations

import re

_UNIT_SECONDS = {"w": 604_800, "d": 86_400, "h": 3_600, "m": 60, "s": 1}
_PART = re.compile(r"(\d+(?:\.\d+)?)\s*(w|d|h|m|s)(?:[a-z]*)", re.IGNORECASE)
_WHOLE = re.compile(
    r"\s*(?:\d+(?:\.\d+)?\s*(?:weeks?|w|days?|d|hours?|hrs?|h|minutes?|mins?|m|seconds?|secs?|s)[\s,]*)+",
    re.IGNORECASE,
)


def parse_interval(text: str) -> float:
    """The interval in seconds.

    Args:
        text: whole or decimal numbers with a unit each: w, d, h, m, s, or the words.

    Raises:
        ValueError: it is negative or not an interval; the message says what to write.
    """
    if text.strip().startswith("-"):
        raise ValueError(f"interval '{text}' is negative")
    if not _WHOLE.fullmatch(text):
        raise ValueError(f"'{text}' is not an interval; write for example 45s, 9m, 3h 54m or 2d")
    return sum(float(number) * _UNIT_SECONDS[unit.lower()] for number, unit in _PART.findall(text))


def format_interval(seconds: float) -> str:
    """The shortest usual form of a number of seconds: 14040 becomes `3h 54m`."""
    rest = round(seconds)
    parts = []
    for unit, size in (("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1)):
        count, rest = divmod(rest, size)
        if count:
            parts.append(f"{count}{unit}")
    return " ".join(parts[:2]) or "0s"
