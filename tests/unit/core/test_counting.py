"""Numbers with their words: one way for all messages, and no message of a check that goes its own."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pilotage.core.counting import counted, times

CHECKS = Path(__file__).parents[3] / "src" / "pilotage" / "checks"


@pytest.mark.parametrize(
    ("number", "what", "told"),
    [
        (0, "pod", "0 pods"),
        (1, "retry", "1 retry"),
        (2, "retry", "2 retries"),
        (2, "gateway", "2 gateways"),
        (3, "other workload", "3 other workloads"),
    ],
)
def test_a_word_follows_its_number(number: int, what: str, told: str) -> None:
    assert counted(number, what) == told


def test_times() -> None:
    assert [times(one) for one in (1, 2, 3)] == ["once", "twice", "3 times"]


def test_no_check_makes_its_plurals_by_itself() -> None:
    own = re.compile(r"""\{(['"])s\1 if """)
    assert not [str(path) for path in CHECKS.rglob("*.py") if own.search(path.read_text("utf-8"))]
