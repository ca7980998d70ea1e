"""YAML as kubectl reads it: what kubectl 1.32 made of the same text, and where values stand."""

from __future__ import annotations

from typing import Any

import pytest

from pilotage.checks.dialect import DialectError, compose, load, position_of

REFUSED = object()
"""Stands for an error of kubectl."""

HEAD = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n"

# Recorded: kubectl label --local --dry-run=client -f - a=b -o json, the text indented below `data`.
RECORDED: list[tuple[str, Any]] = [
    # These rows: kubectl 1.36 create --dry-run=server, a kind that takes any value.
    ("c: {a: 2, <<: {a: 1}}", {"c": {"a": 1}}),
    ("c: {<<: {a: 1}, a: 2}", {"c": {"a": 2}}),
    ("c: {!!merge <<: {a: 1}}", {"c": {"a": 1}}),
    ("a: 0x10000000000000000", {"a": "0x10000000000000000"}),
    ("a: !local 12", {"a": "12"}),
    ("a: !local yes", {"a": "yes"}),
    ("a: ! 12", {"a": "12"}),
    ("a: [! yes, yes]", {"a": ["yes", True]}),
    ("1e30: a", {"1e+30": "a"}),
    ("1e3: a", {"1000": "a"}),
    (".5: a", {"0.5": "a"}),
    ("18446744073709551615: a", REFUSED),
    ("a: .inf", REFUSED),
    ("a: -.Inf", REFUSED),
    ("a: .NaN", REFUSED),
    ("a: +.nan", {"a": "+.nan"}),
    ("a: !!binary '***'", REFUSED),
    ('a: "x" \t# c', {"a": "x"}),
    ("-\ta", REFUSED),
    ("a: [1,\n\t2]", {"a": [1, 2]}),
    ("a:\n\t b: c", REFUSED),
    ("a: |\n\tx", REFUSED),
    ('{"a":\t1,\n\t"b": 2}', {"a": 1, "b": 2}),
    ("a: {b: c", REFUSED),
    ("a: @x", REFUSED),
    ("a: `x`", REFUSED),
    ("a: 'x'y", REFUSED),
    ("a: b: c", REFUSED),
    ("a: !foo x", {"a": "x"}),
    ("x: 0xZZ", {"x": "0xZZ"}),
    ("a: -0777", {"a": -511}),
    ("a: 0_7", {"a": 7}),
    ("a: _1", {"a": "_1"}),
    ("a: 1_", {"a": 1}),
    ("a: .5", {"a": 0.5}),
    ("a: 5.e3", {"a": 5000}),
    ("a: 1:2", {"a": "1:2"}),
    ("a: 2020-01-01T00:00:00Z", {"a": "2020-01-01T00:00:00Z"}),
    ("? a\n: b", {"a": "b"}),
    ("a: !!binary aGk=", {"a": "hi"}),
    ('a: !!int "5"', {"a": 5}),
    ("a: !!float 5", {"a": 5}),
    ("*x : a", REFUSED),
    ("a: &x {b: 1}\nc: {<<: *x, b: 2}", {"a": {"b": 1}, "c": {"b": 2}}),
    ("c: {<<: [{a: 1},{a: 2}]}", {"c": {"a": 1}}),
    ("null: x", REFUSED),
    ("1.0: y", {"1": True}),
    ("a: TRUE", {"a": True}),
    ("a: tRue", {"a": "tRue"}),
    ("a: ON", {"a": True}),
    ("a: N", {"a": False}),
    ("a: ~", {"a": None}),
    ("a: NULL", {"a": None}),
    ("a: 0o8", {"a": "0o8"}),
    ("a: 09", {"a": 9}),
    ("a: 1.0", {"a": 1}),
    ("a: +.5", {"a": 0.5}),
    ("a: 0B1", {"a": 1}),
    ("a: 0O17", {"a": 15}),
    ("a: -0x1F", {"a": -31}),
    ("a: 1_0.5", {"a": 10.5}),
    ("a: ._5", {"a": "._5"}),
    ("a: 1e3", {"a": 1000}),
    ("a: 1e-3", {"a": 0.001}),
    ("a: 0.1e+2", {"a": 10}),
    ("a: 00", {"a": 0}),
    ("a: -0", {"a": 0}),
    ("a: +0", {"a": 0}),
    ("a: 0_", {"a": 0}),
    ("a: 0x_1", {"a": 1}),
    ("a: -", REFUSED),
    ("a: +", {"a": "+"}),
    ("a: .", {"a": "."}),
    ("a: 1.2.3", {"a": "1.2.3"}),
    ('a: "\\x41"', {"a": "A"}),
    ("a: 'it''s'", {"a": "it's"}),
    ("a: >-\n  x\n  y", {"a": "x y"}),
    ("a: |+\n  x\n\n", {"a": "x\n\n\n"}),
    ("y: 1", {"true": 1}),
    ("on: 1", {"true": 1}),
    ("0777: 1", {"511": 1}),
    ("0.5: 1", {"0.5": 1}),
    ("a: !!str on", {"a": "on"}),
    ("a: !!bool yes", {"a": True}),
    ("a: !!timestamp 2020-01-01", {"a": "2020-01-01"}),
    ("a: &a\n  b: *a", REFUSED),
    ("a: - b", REFUSED),
    ("a:\n- b\n- c", {"a": ["b", "c"]}),
    ("a:\n  - b\n - c", REFUSED),
    ("a: b\na: c", {"a": "c"}),
    ("a: é中", {"a": "é中"}),
    ('a: "\\ud83d\\ude00"', REFUSED),
    ("a: b #c", {"a": "b"}),
    ("a: b#c", {"a": "b#c"}),
    ("a: %x", REFUSED),
    ("a: ?x", {"a": "?x"}),
    ("a: :x", {"a": ":x"}),
    ("a: [a, b, ]", {"a": ["a", "b"]}),
    ("a: {b, c}", {"a": {"b": None, "c": None}}),
    ("a: {b: , c: }", {"a": {"b": None, "c": None}}),
    ("a: !!set {b}", {"a": {"b": None}}),
    ("a: <<", {"a": "<<"}),
    ("<<: {a: b}", {"a": "b"}),
    ("<<: 5", REFUSED),
    ("a: =", {"a": "="}),
    ("a: 1__0", {"a": 10}),
    ("a: 1e_3", {"a": 1000}),
    ("a: 0b2", {"a": "0b2"}),
    ("a: 0o", {"a": "0o"}),
    ("a: 0x", {"a": "0x"}),
    ("a: 1E5", {"a": 100000}),
    ("a: 1.e", {"a": "1.e"}),
    ("a: 123456789012345678901234567890", {"a": 1.2345678901234568e29}),
    ('"<<": {q: 1}', {"<<": {"q": 1}}),
    ("a: ! x", {"a": "x"}),
    ("[a]: b", REFUSED),
    ("{a: b}: c", REFUSED),
    ("a: 12e03", {"a": 12000}),
    ("a: 1e400", {"a": "1e400"}),
    ("a: \x01", REFUSED),
    ("a: Null", {"a": None}),
    ("a: nULL", {"a": "nULL"}),
    ("a: -.5", {"a": -0.5}),
    ("a: !!map {b: c}", {"a": {"b": "c"}}),
    ("a: !!seq [b]", {"a": ["b"]}),
    ("a: !!merge x", {"a": "x"}),
    ("a: 0777_", {"a": 511}),
    ("? ", REFUSED),
    ("a: |\n  x\n  ---y", {"a": "x\n---y\n"}),
    ("a: &x [1, *x]", REFUSED),
    ("a: &x one\nb: &x two\nc: *x", {"a": "one", "b": "two", "c": "two"}),
    ('a: "\\t"', {"a": "\t"}),
    ("a: !!float '1'", {"a": 1}),
    ("a: 0xFF", {"a": 255}),
    ("a: 1_000", {"a": 1000}),
    ("a: off", {"a": False}),
    ("off: 1", {"false": 1}),
    ("a: 007", {"a": 7}),
    ("a: 0o17", {"a": 15}),
    ("a: 12:30:45", {"a": "12:30:45"}),
    ("a: 2001-12-14 21:59:43.10 -5", {"a": "2001-12-14 21:59:43.10 -5"}),
]


@pytest.mark.parametrize(("text", "expected"), RECORDED, ids=[repr(text) for text, _ in RECORDED])
def test_as_kubectl_reads_it(text: str, expected: Any) -> None:
    whole = HEAD + "\n".join(f"  {line}" for line in text.split("\n")) + "\n"
    if expected is REFUSED:
        with pytest.raises(DialectError):
            load(whole)
        return
    found = load(whole)["data"]
    assert found == expected
    assert types(found) == types(expected)


def types(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: types(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [types(inner) for inner in value]
    return "number" if isinstance(value, int | float) and not isinstance(value, bool) else type(value)


def test_an_alias_bomb_is_refused() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    with pytest.raises(DialectError, match="aliasing"):
        load("\n".join(lines))


def test_aliases_that_are_merely_many_are_read() -> None:
    text = "base: &b {x: 1, z: 2}\nlist:\n" + "- *b\n" * 5000
    assert load(text)["list"][4999] == {"x": 1, "z": 2}


@pytest.mark.parametrize("text", ["[" * 100_000, "- " * 100_000, "{a: " * 50_000, "? " * 100_000])
def test_absurd_nesting_is_refused(text: str) -> None:
    with pytest.raises(DialectError):
        load(text)


def test_a_configmap_full_of_brackets_is_read() -> None:
    assert load("a: |\n" + "  [{ - [{ - \n" * 500)["a"].startswith("[{")


@pytest.mark.parametrize(
    ("path", "line", "column"),
    [
        ((), 1, 1),
        (("kind",), 2, 1),
        (("spec", "list", 1, "name"), 7, 7),
        (("spec", "list", 1), 7, 7),
        (("spec", "list", 7), 4, 3),
        (("spec", "absent", "deeper"), 3, 1),
        (("spec", "8080"), 8, 3),
        (("spec", "merged", "x"), 10, 16),
    ],
)
def test_places(path: tuple[Any, ...], line: int, column: int) -> None:
    text = (
        "apiVersion: v1\nkind: X\nspec:\n  list:\n    - name: a\n      b: c\n    - name: b\n"
        "  8080: y\n  merged:\n    <<: &base {x: 1}\n"
    )
    assert position_of(compose(text), path) == (line, column)


def test_an_error_names_its_line() -> None:
    with pytest.raises(DialectError) as caught:
        load("a: b\nc: {d: e\nf: g\n")
    assert caught.value.line in {2, 3, 4}
    assert "flow mapping" in caught.value.message
