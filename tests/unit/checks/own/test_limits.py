"""What an expression cannot do: take for ever, take all memory, bring the run down."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from pilotage.checks.own import evaluation
from pilotage.checks.own.evaluation import (
    Asked,
    Evaluator,
    Limits,
    NoAnswer,
    Question,
    deeper_than,
    need_library,
)
from pilotage.core.errors import MissingExtra, OutsideError

NUMBERS = {"items": list(range(300)), "kind": "Pod"}
FINE = Question("", (("object.kind == 'Pod'", ""),))
RIGHT = {"when": {"value": True}, "held": [[{"value": True}]]}
_LOOPS = "object.items.all({}, "
LONG = Question(
    "object.items.size() > 0",
    (("".join(_LOOPS.format(name) for name in "abcd") + "a + b + c + d >= 0))))", ""),),
)
GREEDY = Question("", ((f"({' + '.join(['object.text'] * 60)}) == ''", ""),))


def ask(evaluator: Evaluator, question: Question, *objects: Any) -> list[Any]:
    answers = evaluator.ask(question, [Asked({"object": one}) for one in objects])
    return [str(one) if isinstance(one, NoAnswer) else one for one in answers]


@pytest.mark.slow
def test_an_expression_that_takes_for_ever_is_ended_and_the_others_are_answered() -> None:
    none = {"items": [], "kind": "Pod"}
    skipped = {"when": {"value": False}, "held": []}
    with Evaluator(Limits(seconds=2)) as evaluator:
        late = "the expression took more than 2 s"
        assert ask(evaluator, LONG, none, NUMBERS, none) == [skipped, late, skipped]
        assert ask(evaluator, FINE, NUMBERS) == [RIGHT]
        assert ask(evaluator, LONG, NUMBERS, none) == [late, "not asked any more: it failed 2 times before"]
        assert ask(evaluator, FINE, NUMBERS) == [RIGHT]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="the system cannot bound the memory of a process")
def test_an_expression_that_takes_all_memory_dies_alone() -> None:
    with Evaluator(Limits(seconds=60, memory_bytes=400 << 20)) as evaluator:
        (answer,) = ask(evaluator, GREEDY, {"text": "x" * 8_000_000})
        assert "brought its process down" in answer
        assert ask(evaluator, FINE, NUMBERS) == [RIGHT]


def test_an_object_nested_too_deep_is_not_sent() -> None:
    deep: Any = 1
    for _ in range(5_000):
        deep = {"a": deep}
    with Evaluator() as evaluator:
        assert ask(evaluator, FINE, deep) == ["the object is nested more than 400 levels deep"]
        assert evaluator._process is None
        first, second, third = ask(evaluator, FINE, NUMBERS, deep, NUMBERS)
        assert (first, third) == (RIGHT, RIGHT)
        assert "levels deep" in second
    assert deeper_than([[]], 1)
    assert not deeper_than([1], 1)


def test_values_that_the_library_cannot_take_are_told() -> None:
    with Evaluator() as evaluator:
        strange, large = ask(evaluator, FINE, {"kind": "\ud800"}, {"kind": "Pod", "number": 10**30})
        assert "Failed to convert" in strange["when"]["fault"]
        assert large == RIGHT


def test_what_an_expression_prints_does_not_reach_the_answers() -> None:
    with Evaluator() as evaluator:
        question = Question("", (("quantity('x') == quantity('x')", ""),), ("quantity",))
        assert ask(evaluator, question, {})[0]["held"] == [[{"fault": "'x' is no quantity"}]]


def test_the_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluation, "_LIBRARY", "no_such_library_of_ours")
    with pytest.raises(MissingExtra) as told:
        need_library()
    assert "pilotage[cel]" in told.value.hint


def test_a_process_that_does_not_start_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluation, "WORKER", "no.such.module")
    with Evaluator() as evaluator, pytest.raises(OutsideError, match="does not start"):
        evaluator.prove(FINE)
