"""When a CronJob runs: how many minutes lie between two runs, and at which minutes of the hour."""

from __future__ import annotations

import itertools
import re

import msgspec

_MACROS = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
_NAMES = {
    name: number
    for names, first in (
        ("jan feb mar apr may jun jul aug sep oct nov dec", 1),
        ("sun mon tue wed thu fri sat", 0),
    )
    for number, name in enumerate(names.split(), start=first)
}
_RANGES = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 7))
_DAY_MINUTES = 24 * 60


class Schedule(msgspec.Struct, frozen=True):
    """A schedule.

    Attributes:
        minutes: the minutes of the hour at which it runs.
        hours: the hours of the day in which it runs.
        every_day: whether no day is left out.
        interval_minutes: the least time between two runs.
    """

    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    every_day: bool
    interval_minutes: float


def read_schedule(text: str) -> Schedule | None:
    """A schedule in the form of a CronJob; None where it is none."""
    words = text.split()
    if words and words[0].startswith(("TZ=", "CRON_TZ=")):
        words = words[1:]
    if len(words) == 2 and words[0] == "@every":  # noqa: PLR2004
        return _every(words[1])
    if len(words) == 1:
        words = _MACROS.get(words[0], "").split()
    if len(words) != len(_RANGES):
        return None
    fields = [_field(word, *bounds) for word, bounds in zip(words, _RANGES, strict=True)]
    minutes, hours, days, months, weekdays = fields
    if not minutes or not hours or not days or not months or not weekdays:
        return None
    every_day = all(word in {"*", "?"} for word in words[2:])
    return Schedule(minutes, hours, every_day, _interval(minutes, hours, every_day=every_day))


def _every(word: str) -> Schedule | None:
    match = re.fullmatch(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?", word)
    if match is None or not any(match.groups()):
        return None
    hours, minutes, seconds = (int(part or 0) for part in match.groups())
    return Schedule((), (), every_day=True, interval_minutes=hours * 60 + minutes + seconds / 60)


def _interval(minutes: tuple[int, ...], hours: tuple[int, ...], *, every_day: bool) -> float:
    runs = [hour * 60 + minute for hour in hours for minute in minutes]
    gaps = [later - earlier for earlier, later in itertools.pairwise(runs)]
    over_night = runs[0] + _DAY_MINUTES - runs[-1]
    return min([*gaps, over_night if every_day or len(runs) > 1 else _DAY_MINUTES])


def _field(word: str, low: int, high: int) -> tuple[int, ...]:
    found: set[int] = set()
    for part in word.split(","):
        match = re.fullmatch(r"(\*|\?|\w+)(?:-(\w+))?(?:/(\d+))?", part)
        if match is None:
            return ()
        first, last, step = match.groups()
        if first in {"*", "?"}:
            start, end = low, high
        else:
            start = _number(first)
            end = _number(last) if last is not None else (high if step else start)
        if not low <= start <= end <= high or step == "0":
            return ()
        found.update(range(start, end + 1, int(step or 1)))
    return tuple(sorted(found))


def _number(word: str) -> int:
    return int(word) if word.isdigit() else _NAMES.get(word.lower()[:3], -1)
