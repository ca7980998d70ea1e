"""Expressions: read with their places, refused with a reason, and meaning what Kubernetes means."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from pilotage.checks.own.evaluation import Asked, Evaluator, NoAnswer, Question
from pilotage.checks.own.lowering import functions_of, lowered, substituted, unfolded
from pilotage.checks.own.parser import DEEPEST, HIGHEST, LONGEST, parse
from pilotage.checks.own.tree import ExpressionFault, free_names, text_of
from pilotage.checks.own.vocabulary import hold, needed_version

TRUE = yaml.safe_load((Path(__file__).parents[3] / "golden" / "own" / "true.yaml").read_text("utf-8"))
OBJECT = TRUE["object"]


@pytest.fixture(scope="module")
def evaluator() -> Iterator[Evaluator]:
    with Evaluator() as running:
        yield running


def question(text: str) -> Question:
    node = parse(text)
    hold(node, ["object"])
    return Question("", ((lowered(node), ""),), tuple(sorted(functions_of(node))))


def value(evaluator: Evaluator, text: str) -> Any:
    result = evaluator.ask(question(text), [Asked({"object": OBJECT})])[0]["held"][0][0]
    return result.get("value", result)


@pytest.mark.parametrize("text", TRUE["expressions"])
def test_expression_is_true(evaluator: Evaluator, text: str) -> None:
    assert value(evaluator, text) is True
    again = text_of(parse(text))
    assert text_of(parse(again)) == again
    assert value(evaluator, again) is True


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("object.spec.absent == 1", "no such key: absent"),
        ("object.spec.containers[9].name == 'x'", "index out of bounds: 9"),
        ("1 / 0 == 1", "division by zero"),
        ("quantity('x') == quantity('1')", "'x' is no quantity"),
        ("quantity(object.spec.memory).isLessThan('2Gi')", "write quantity(…) around it"),
        ("object.spec.replicas", "it gives a number"),
        ("object.spec.containers.map(c, c.name)", "it gives a list"),
        ("'a'.matches('(')", "not a valid regex"),
        ("'abc'.charAt(9) == ''", "9 is not within a text of 3 characters"),
    ],
)
def test_fault_of_an_expression_is_told(evaluator: Evaluator, text: str, reason: str) -> None:
    assert reason in value(evaluator, text)["fault"]


@pytest.mark.parametrize(
    ("text", "offset", "reason"),
    [
        ("", 0, "ends too early"),
        ("object.kind ==", 14, "ends too early"),
        ("object.kind = 'a'", 12, "write '=='"),
        ("object.kind == 'a", 15, "not closed"),
        ("object.kind 'a'", 12, "not expected here"),
        ("object.`kind`", 7, "backquotes"),
        ("object.in == 1", 7, "write ['in']"),
        ("'\\d'", 1, "begins with r"),
        ("namespace == 'a'", 0, "object.metadata.namespace"),
        ("objct.kind == 'a'", 0, "Did you mean 'object'?"),
        ("object.spec.foo()", 12, "there is no function 'foo'"),
        ("object.kind.contain('a')", 12, "Did you mean 'contains'"),
        ("contains(object.kind, 'a')", 0, "called as x.contains()"),
        ("object.kind.contains()", 12, "takes 1 arguments"),
        ("has(object)", 0, "has() asks for a field"),
        ("has(object['kind'])", 0, "has() asks for a field"),
        ("[1].all(object, true)", 8, "is a variable already"),
        ("[1].all(i, x, true)", 4, "two variables"),
        ("[1].all(1, true)", 4, "must be a new name"),
        ("request.operation == 'CREATE'", 0, "no request here"),
        ("authorizer.group('')", 0, "not known here"),
        ("'%s'.format([1])", 5, "not provided"),
        ("object.?f(1)", 8, "before a field"),
        ("Pod{kind: 'a'}", 3, "messages are not known"),
        ("[?object.a]", 1, "optional items"),
        ("'a'.matches('(?=a)')", 12, "cannot look around"),
        ("(" * 60 + "1" + ")" * 60, DEEPEST, "levels deep"),
        ("+".join("1" * 200), 97, f"more than {HIGHEST}"),
        ("1" * (LONGEST + 1), 0, "at most 8,000 characters"),
    ],
)
def test_refused_before_it_runs(text: str, offset: int, reason: str) -> None:
    with pytest.raises(ExpressionFault) as told:
        hold(parse(text), ["object"])
    assert reason in told.value.message
    assert told.value.offset == offset or reason.startswith("more than")


def test_variables_are_put_in() -> None:
    first = parse("object.a + 1")
    whole = unfolded(parse("variables.x * variables.x"), {"x": first})
    assert text_of(whole) == "(object.a + 1) * (object.a + 1)"
    assert {name.name for name in free_names(whole)} == {"object"}
    with pytest.raises(ExpressionFault, match="no variable 'y' above; known are: x"):
        unfolded(parse("variables.y"), {"x": first})
    with pytest.raises(ExpressionFault, match="followed by a name"):
        unfolded(parse("variables == 1"), {"x": first})


def test_variables_that_double_each_other_are_refused() -> None:
    node = parse("object.a")
    twice = parse("variables.x + variables.x")
    for _ in range(8):
        node = unfolded(twice, {"x": node})
    with pytest.raises(ExpressionFault, match="parts"):
        unfolded(parse("variables.x + variables.x + variables.x + variables.x"), {"x": node})


def test_a_name_is_not_caught_by_a_macro() -> None:
    with pytest.raises(ExpressionFault, match="is a variable already"):
        substituted(parse("[1].all(c, c == x)"), {"x": parse("c + 1")})


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("object.a == 1", (1, 25)),
        ("object.?a.orValue(1) == 1", (1, 28)),
        ("isIP('a')", (1, 30)),
        ("isSemver('a')", (1, 33)),
        ("[1].sort() == [1]", (1, 34)),
    ],
)
def test_version_that_knows_it(text: str, version: tuple[int, int]) -> None:
    assert needed_version(parse(text)) == version


def test_what_the_library_cannot_read_is_told(evaluator: Evaluator) -> None:
    with pytest.raises(NoAnswer):
        evaluator.prove(Question("", (("object.?a", ""),)))
