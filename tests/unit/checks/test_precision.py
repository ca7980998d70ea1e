"""The judged samples of findings: complete, of checks that exist, and the shares that the docs tell."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

from pilotage.checks.registry import all_checks

ROOT = Path(__file__).parents[3]
ROWS = [json.loads(line) for line in (ROOT / "tests" / "graded" / "precision.jsonl").read_text().splitlines()]
KEYS = {"sample", "check", "corpus", "file", "line", "object", "severity", "verdict", "reason"}


def test_every_finding_is_judged_with_a_reason() -> None:
    assert len(ROWS) >= 150
    for one in ROWS:
        assert set(one) == KEYS
        assert one["verdict"] in {"right", "debatable", "wrong"}
        assert one["reason"]


def test_the_checks_exist_and_no_finding_is_judged_twice() -> None:
    assert {one["check"] for one in ROWS} <= set(all_checks())
    told = Counter(
        (one["sample"], one["check"], one["corpus"], one["file"], one["line"], one["object"]) for one in ROWS
    )
    assert max(told.values()) == 1


def test_the_docs_tell_the_counts_of_each_sample() -> None:
    text = (ROOT / "docs" / "explanation" / "checks-measured.md").read_text()
    told = {
        name: (int(total), int(right), int(debatable), int(wrong))
        for name, total, right, debatable, wrong in re.findall(
            r"^\| ([a-z]+th|first|second|third) \|[^|]*\| (\d+) \| (\d+) \| (\d+) \| (\d+) \|",
            text,
            re.MULTILINE,
        )
    }
    counted = {}
    for name in {one["sample"] for one in ROWS}:
        verdicts = Counter(one["verdict"] for one in ROWS if one["sample"] == name)
        counted[name] = (
            verdicts.total(),
            verdicts["right"],
            verdicts["debatable"],
            verdicts["wrong"],
        )
    assert told == counted
