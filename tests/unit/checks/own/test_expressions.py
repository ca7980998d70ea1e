"""Expressions: read with their places, refused with a reason, and meaning what Kubernetes means."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from pilotage.checks.own.evaluation import Evaluator, NoAnswer, Question
from pilotage.checks.own.lowering import functions_of, lowered, substituted, unfolded
from pilotage.checks.own.parser import DEEPEST, HIGHEST, LONGEST, parse
from pilotage.checks.own.tree import ExpressionFault, free_names, text_of
from pilotage.checks.own.vocabulary import hold, needed_version

OBJECT = {
    "kind": "Deployment",
    "metadata": {"name": "web", "labels": {"app": "web"}},
    "spec": {
        "replicas": 3,
        "title": "한글",
        "memory": "1536Mi",
        "empty": [],
        "containers": [{"name": "a", "port": 80}, {"name": "b"}],
    },
}


@pytest.fixture(scope="module")
def evaluator() -> Iterator[Evaluator]:
    with Evaluator() as running:
        yield running


def question(text: str) -> Question:
    node = parse(text)
    hold(node, ["object"])
    return Question("", ((lowered(node), ""),), tuple(sorted(functions_of(node))))


def value(evaluator: Evaluator, text: str) -> Any:
    result = evaluator.ask(question(text), {"object": OBJECT})["held"][0]
    return result.get("value", result)


@pytest.mark.parametrize(
    "text",
    [
        "object.spec.replicas == 3",
        "object.spec.?replicas.orValue(1) == 3",
        "object.spec.?absent.orValue(1) == 1",
        "object.?spec.?absent.deeper.orValue('x') == 'x'",
        "object.spec[?'absent'].hasValue() == false",
        "object.spec.containers[?7].name.orValue('none') == 'none'",
        "object.spec.?replicas.optMap(n, n + 1).orValue(0) == 4",
        "!object.spec.?absent.optMap(n, n + 1).hasValue()",
        "object.spec.?replicas.optFlatMap(n, optional.of(n * 2)).value() == 6",
        "has(object.?spec.replicas) && !has(object.?spec.absent)",
        "!has(object.spec.absent)",
        "object.spec.title.size() == 2 && size(object.spec.title) == 2",
        "object.spec.containers.size() == 2 && object.metadata.labels.size() == 1",
        "object.spec.containers.existsOne(c, c.?port.orValue(0) == 80)",
        "object.spec.containers.map(c, c.name) == ['a', 'b']",
        "object.spec.containers.filter(c, has(c.port)).all(c, c.port > 79.5)",
        "quantity(object.spec.memory).isGreaterThan(quantity('1Gi'))",
        "quantity('1024Mi') == quantity('1Gi') && quantity('0.5').compareTo(quantity('500m')) == 0",
        "quantity('50k').add(20).sub(quantity('100k')).sub(-50000) == quantity('20')",
        "!isQuantity('1,3G') && !isQuantity('200K') && isQuantity('10000k')",
        "quantity('2').isInteger() && !quantity('1.5').isInteger() && quantity('2').asInteger() == 2",
        "semver('v1.2', true).isLessThan(semver('1.10.0')) && semver('1.0.0-rc.1').isLessThan(semver('1.0.0'))",
        "!isSemver('v1.0') && isSemver('v1.0', true) && semver('1.2.3').minor() == 2",
        "ip('127.0.0.1').isLoopback() && ip('::1').family() == 6 && !isIP('127.0.0.256')",
        "ip.isCanonical('2001:db8::abcd') && !ip.isCanonical('2001:DB8::ABCD') && !isIP('::ffff:1.2.3.4')",
        "cidr('10.0.0.0/8').containsIP('10.1.2.3') && !cidr('10.0.0.0/8').containsCIDR('10.0.0.0/7')",
        "cidr('192.168.1.5/24').masked() == cidr('192.168.1.0/24') && cidr('192.168.0.0/16').prefixLength() == 16",
        "url('https://example.com:80/a b?k=1&k=2').getEscapedPath() == '/a%20b'",
        "url('https://[::1]:80/').getHostname() == '::1' && !isURL('../relative') && isURL('/absolute')",
        "url('https://a.example/?k=1&k=2').getQuery() == {'k': ['1', '2']}",
        "'a-b-c'.split('-', 2) == ['a', 'b-c'] && ['a', 'b'].join('-') == 'a-b'",
        "'AbC'.lowerAscii() == 'abc' && 'hello'.substring(1, 3) == 'el' && ' x '.trim() == 'x'",
        "'hello'.indexOf('l') == 2 && 'hello'.lastIndexOf('l') == 3 && [1, 2].indexOf(2) == 1",
        "'abc 123'.find('[0-9]+') == '123' && 'a1b2'.findAll('[0-9]') == ['1', '2']",
        "'web-1'.matches(r'^web-\\d$')",
        "[1, 3].sum() == 4 && [2, 1].min() == 1 && [1, 2].isSorted() && ![2, 1].isSorted()",
        "[1, 1, 2].distinct() == [1, 2] && [[1], [2]].flatten() == [1, 2] && [3, 1].sort() == [1, 3]",
        "sets.contains([1, 2], [2]) && sets.equivalent([1, 2], [2, 1, 1]) && sets.intersects([1], [1, 2])",
        "type(object.spec.replicas) == int && type(object.spec.title) == string",
        "string(true) == 'true' && bool('true') && string(3) == '3'",
        "duration('90m') > duration('1h')",
        "false && 1 / 0 == 1 ? false : true",
        "1 + 2 * 3 - (4 - 5) == 8 && -(-1) == 1 && !(true && false)",
    ],
)
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
