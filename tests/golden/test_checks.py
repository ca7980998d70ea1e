"""Every check on its fixtures: `bad-*` as expected, `ok-*` passes, `near-*` says nothing.

A folder of `checks/` is named by the id of a check. `ok-*` must give a `Pass`, so that a fixture at which the
check never looked does not count. `GOLDEN_UPDATE=1` writes `expected.json` again; read the difference.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from pilotage.checks.model import Answer, Check, Gap, Pass
from pilotage.checks.readers.assemble import assemble
from pilotage.checks.readers.files import read_paths
from pilotage.checks.registry import all_checks
from pilotage.checks.report import Report
from pilotage.checks.runner import RunSettings, run

FOLDER = Path(__file__).parent / "checks"
CASES = sorted(path for path in FOLDER.glob("*/*") if path.name.startswith(("ok-", "bad-", "near-")))
UPDATE = bool(os.environ.get("GOLDEN_UPDATE"))


def looked(case: Path) -> tuple[Report, list[Answer]]:
    answers: list[Answer] = []

    def hear(_: Check, answer: Answer) -> None:
        answers.append(answer)

    reading = read_paths([os.path.relpath(case)])
    assert not [one for one in reading.problems if one.grave], reading.problems
    scene = assemble(reading)
    assert not [one for one in reading.problems if one.grave], reading.problems
    report = run(all_checks(), scene, RunSettings(select=(case.parent.name,)), reading=reading, listener=hear)
    return report, answers


def as_expected(report: Report) -> list[dict[str, Any]]:
    return [
        {
            "severity": str(one.severity),
            "confidence": str(one.confidence),
            "object": one.subject,
            "path": one.place.path,
            "line": one.place.line,
            "message": one.message,
        }
        for one in report.findings
    ]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.parent.name}/{case.stem}")
def test_fixture(case: Path) -> None:
    report, answers = looked(case)
    found = as_expected(report)
    if not case.name.startswith("bad-"):
        assert not found
        assert not any(isinstance(answer, Gap) for answer in answers)
        if case.name.startswith("ok-"):
            assert any(isinstance(answer, Pass) for answer in answers), "the check did not look at it"
        return
    assert found
    expected = case.parent / "expected.json"
    known = json.loads(expected.read_text("utf-8")) if expected.exists() else {}
    if UPDATE:
        names = {path.name for path in case.parent.glob("bad-*")}
        known = {name: value for name, value in known.items() if name in names} | {case.name: found}
        text = json.dumps(known, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
        expected.write_text(text, encoding="utf-8")
    assert found == known.get(case.name)
