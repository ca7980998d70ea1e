"""What an expression cannot do: take for ever, take all memory, bring the run down."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from pilotage.checks.own import evaluation
from pilotage.checks.own.evaluation import Evaluator, Limits, NoAnswer, Question, deeper_than, need_library
from pilotage.core.errors import MissingExtra, OutsideError

OBJECT = {"items": list(range(300)), "kind": "Pod", "text": "x" * 8_000_000}
FINE = Question("", (("object.kind == 'Pod'", ""),))
LONG = Question(
    "",
    (
        (
            "object.items.all(a, object.items.all(b, object.items.all(c, object.items.all(d, a + b + c + d >= 0))))",
            "",
        ),
    ),
)
GREEDY = Question("", ((f"({' + '.join(['object.text'] * 60)}) == ''", ""),))


def ask(evaluator: Evaluator, question: Question) -> dict[str, Any]:
    return evaluator.ask(question, {"object": OBJECT})


def test_an_expression_that_takes_for_ever_is_ended_and_the_next_answers() -> None:
    with Evaluator(Limits(seconds=0.5)) as evaluator:
        with pytest.raises(NoAnswer, match=r"more than 0.5 s"):
            ask(evaluator, LONG)
        assert ask(evaluator, FINE)["held"] == [{"value": True}]
        with pytest.raises(NoAnswer, match=r"more than 0.5 s"):
            ask(evaluator, LONG)
        with pytest.raises(NoAnswer, match="not asked any more: it failed 2 times"):
            ask(evaluator, LONG)


@pytest.mark.skipif(sys.platform == "win32", reason="the system cannot bound the memory of a process")
def test_an_expression_that_takes_all_memory_dies_alone() -> None:
    with Evaluator(Limits(seconds=60, memory_bytes=400 << 20)) as evaluator:
        with pytest.raises(NoAnswer, match="brought its process down"):
            ask(evaluator, GREEDY)
        assert ask(evaluator, FINE)["held"] == [{"value": True}]


def test_an_object_nested_too_deep_is_not_sent() -> None:
    deep: Any = 1
    for _ in range(5_000):
        deep = {"a": deep}
    with Evaluator() as evaluator:
        with pytest.raises(NoAnswer, match="nested more than 400 levels"):
            evaluator.ask(FINE, {"object": deep})
        assert evaluator._process is None
    assert deeper_than([[]], 1)
    assert not deeper_than([1], 1)


def test_values_that_the_library_cannot_take_are_told() -> None:
    with Evaluator() as evaluator:
        answer = evaluator.ask(FINE, {"object": {"kind": "\ud800"}})
        assert "Failed to convert" in answer["when"]["fault"]
        assert evaluator.ask(FINE, {"object": {"kind": "Pod", "number": 10**30}})["held"] == [{"value": True}]


def test_what_an_expression_prints_does_not_reach_the_answers() -> None:
    with Evaluator() as evaluator:
        question = Question("", (("quantity('x') == quantity('x')", ""),), ("quantity",))
        assert evaluator.ask(question, {"object": {}})["held"] == [{"fault": "'x' is no quantity"}]


def test_the_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluation, "_LIBRARY", "no_such_library_of_ours")
    with pytest.raises(MissingExtra) as told:
        need_library()
    assert "pilotage[cel]" in told.value.hint


def test_a_process_that_does_not_start_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluation, "WORKER", "no.such.module")
    with Evaluator() as evaluator, pytest.raises(OutsideError, match="does not start"):
        evaluator.prove(FINE)
