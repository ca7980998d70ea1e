"""Users' files and expressions: whatever stands in them is read or refused; what is rewritten means the same."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import cel
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pilotage.checks.objects import KubeObject
from pilotage.checks.own.checks import check_of
from pilotage.checks.own.evaluation import Evaluator
from pilotage.checks.own.functions import provided
from pilotage.checks.own.lowering import lowered, substituted
from pilotage.checks.own.parser import parse
from pilotage.checks.own.reading import read_path, read_text
from pilotage.checks.own.tree import ExpressionFault, free_names, text_of
from pilotage.checks.own.vocabulary import hold
from pilotage.checks.runner import run
from pilotage.checks.scene import Scene
from pilotage.checks.values import dotted

NUMBERS = st.integers(0, 9).map(str)
TRUTHS = st.sampled_from(["true", "false", "object.yes", "object.no"])


def _of_numbers(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.tuples(inner, st.sampled_from("+-*"), inner).map(" ".join),
        inner.map("({})".format),
        inner.map("-({})".format),
        st.tuples(TRUTHS, inner, inner).map(lambda parts: "({} ? {} : {})".format(*parts)),
    )


SUMS = st.recursive(NUMBERS | st.just("object.number"), _of_numbers, max_leaves=12)
COMPARED = st.tuples(SUMS, st.sampled_from(["<", "<=", "==", "!=", ">", ">="]), SUMS).map(" ".join)


def _of_truths(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.tuples(inner, st.sampled_from(["&&", "||"]), inner).map(" ".join),
        inner.map("({})".format),
        inner.map("!({})".format),
        inner.map("[1, 2].all(i, i > 0 || ({}))".format),
        inner.map("[object.number].exists(n, n > 5 && ({}))".format),
    )


TESTS = st.recursive(TRUTHS | COMPARED, _of_truths, max_leaves=10)
OBJECT = {"yes": True, "no": False, "number": 7}
ANY: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.floats(allow_nan=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@pytest.fixture(scope="module")
def evaluator() -> Iterator[Evaluator]:
    with Evaluator() as running:
        yield running


def outcome(text: str) -> Any:
    context = cel.Context(variables={"object": OBJECT}, functions=provided(cel.OptionalValue))
    try:
        return cel.compile(text).execute(context)
    except (ArithmeticError, RuntimeError, TypeError, ValueError) as error:
        return type(error)


@given(TESTS)
@settings(max_examples=300, deadline=None)
def test_what_is_rewritten_means_the_same(text: str) -> None:
    try:
        node = parse(text)
    except ExpressionFault:
        return
    assert outcome(lowered(node)) == outcome(text)
    assert parse(text_of(node)) is not None
    assert text_of(parse(text_of(node))) == text_of(node)


@given(TESTS, SUMS)
@settings(max_examples=100, deadline=None)
def test_what_is_put_in_is_all_that_was_there(text: str, value: str) -> None:
    with contextlib.suppress(ExpressionFault):
        whole = substituted(parse(text), {"object": parse(value)})
        assert ("object" in value and "object" in text) == any(
            name.name == "object" for name in free_names(whole)
        )


@given(st.text(alphabet=st.sampled_from("ab.?:,()[]{}&|!=<>+-*/%'\"rbx01 \n\\/in"), max_size=60))
@settings(max_examples=500, deadline=None)
def test_any_text_is_an_expression_or_refused_with_its_place(text: str) -> None:
    try:
        node = parse(text)
        hold(node, ["a", "b"])
    except ExpressionFault as fault:
        assert fault.message
        assert 0 <= fault.offset <= len(text)
        return
    assert text_of(parse(text_of(node))) == text_of(node)


def _changed(value: Any, junk: Any, path: list[Any]) -> Any:
    if not path:
        return junk
    head, *rest = path
    if isinstance(value, dict):
        return {**value, head: _changed(value.get(head), junk, rest)}
    if isinstance(value, list) and isinstance(head, int) and head < len(value):
        return [_changed(one, junk, rest) if number == head else one for number, one in enumerate(value)]
    return junk


FILE = {
    "checks": [
        {
            "id": "shop-one",
            "title": "Something",
            "severity": "low",
            "kinds": ["Deployment", {"kind": "Thing", "group": "a.b", "resource": "things"}],
            "when": "object.kind != 'x'",
            "each": "spec.items",
            "variables": [{"name": "a", "expression": "1 + 1"}],
            "validations": [{"expression": "item.x > variables.a", "message": "m", "path": "x"}],
            "fix": "Do it.",
            "incidents": ["a-2020"],
            "tests": [{"name": "t", "manifest": "a", "expect": "gap", "messages": ["m"]}],
        }
    ]
}
PLACES = [
    ["checks"],
    *(["checks", 0, key] for key in FILE["checks"][0]),
    ["checks", 0, "kinds", 1, "group"],
    ["checks", 0, "validations", 0, "expression"],
    ["checks", 0, "validations", 0, "path"],
    ["checks", 0, "tests", 0, "messages"],
    ["checks", 0, "new"],
]


@given(st.sampled_from(PLACES), ANY)
@settings(max_examples=300, deadline=None)
def test_any_value_in_a_file_of_checks_is_read_or_refused_with_its_place(place: list[Any], junk: Any) -> None:
    text = yaml.safe_dump(_changed(FILE, junk, place), allow_unicode=False)
    rules, faults = read_text(text, "own.yaml")
    assert bool(rules) != bool(faults)
    lines = text.split("\n")
    for fault in faults:
        line = int(fault.removeprefix("own.yaml:").split(":")[0])
        assert 1 <= line <= len(lines)


@given(st.lists(st.text(alphabet="abc./'\" -é", min_size=1, max_size=6) | st.integers(0, 99), max_size=4))
def test_a_path_that_is_written_is_read_again(parts: list[Any]) -> None:
    if all('"' not in part for part in parts if isinstance(part, str)):
        assert read_path(dotted(tuple(parts))) == tuple(parts)


@given(ANY, ANY)
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_own_checks_survive_any_value(evaluator: Evaluator, spec: Any, item: Any) -> None:
    rules, _ = read_text(yaml.safe_dump(FILE), "own.yaml")
    check = check_of(rules[0], evaluator)
    objects = [
        {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a"}, "spec": spec},
        {
            "apiVersion": "a.b/v1",
            "kind": "Thing",
            "metadata": {"name": "b"},
            "spec": {"items": [item, {"x": item}]},
        },
    ]
    report = run({check.id: check}, Scene([KubeObject(one) for one in objects]))
    tally = report.tallies[check.id]
    assert tally.findings + tally.passed + tally.not_applicable + tally.unknown >= 1
