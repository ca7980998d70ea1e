"""Values as people write and read them."""

from __future__ import annotations

import pytest

from pilotage.checks.values import duration, human_bytes, human_seconds


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0, "0 s"),
        (1.5, "1.5 s"),
        (90, "90 s"),
        (299, "299 s"),
        (900, "15 min"),
        (7200, "2 h"),
        (86_400, "24 h"),
        (2 * 86_400, "2 d"),
        (315_360, "3.6 d"),
        (90 * 86_400, "90 d"),
    ],
)
def test_seconds_are_said_in_the_unit_that_people_use(seconds: float, said: str) -> None:
    assert human_seconds(seconds) == said


@pytest.mark.parametrize(
    ("text", "unit", "seconds"),
    [
        ("1h30m", "s", 5400),
        ("500ms", "s", 0.5),
        ("30", "s", 30),
        ("30", "ms", 0.03),
        (10, "s", 10),
        ("48h0m0s", "s", 172_800),
        ("-5s", "s", -5),
        ("soon", "s", None),
        ("", "s", None),
        (True, "s", None),
        (None, "s", None),
    ],
)
def test_durations_of_go_and_haproxy(text: object, unit: str, seconds: float | None) -> None:
    assert duration(text, unit=unit) == seconds


def test_bytes_are_said_in_powers_of_two() -> None:
    assert [human_bytes(size) for size in (512 * 2**20, 2 * 2**30)] == ["512 MiB", "2 GiB"]
