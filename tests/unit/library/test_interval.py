from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pilotage.library.interval import format_interval, parse_interval


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("9m", 540),
        ("3h 54m", 14_040),
        ("73h", 262_800),
        ("2d", 172_800),
        ("1.5h", 5_400),
        ("3 hours 5 minutes", 11_100),
    ],
)
def test_intervals_as_reports_state_them(text: str, seconds: float) -> None:
    assert parse_interval(text) == seconds


@pytest.mark.parametrize("text", ["", "soon", "h", "3 h later", "12:30"])
def test_what_is_no_interval_says_what_to_write(text: str) -> None:
    with pytest.raises(ValueError, match="write for example"):
        parse_interval(text)


def test_a_negative_interval_is_refused() -> None:
    with pytest.raises(ValueError, match="negative"):
        parse_interval("-5m")


@given(st.integers(1, 86_400 * 30))
def test_formatting_keeps_all_but_the_smallest_parts(seconds: int) -> None:
    shown = parse_interval(format_interval(seconds))
    assert 0 <= seconds - shown < max(60, seconds * 0.05)
