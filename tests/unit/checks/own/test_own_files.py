"""Files of checks: everything wrong with one is told at once, at its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from pilotage.checks.own.reading import read_files, read_path, read_text
from pilotage.core.errors import InvalidInput, NotFound

GOOD = """\
checks:
  - id: shop-one
    title: Something
    severity: low
    kinds: [Deployment]
    validations:
      - expression: object.spec.replicas > 1
    fix: Do it.
"""


def faults(text: str) -> list[str]:
    rules, wrong = read_text(text, "a.yaml")
    assert not (rules and wrong)
    return wrong


def test_a_good_file() -> None:
    (rule,), wrong = read_text(GOOD, "a.yaml")
    assert not wrong
    assert rule.place.line == 2
    assert rule.uses == {"object"}
    assert rule.question.held == (("object.spec.replicas > 1", ""),)


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("shop-one", "Shop", "a.yaml:2:5: an id is words with hyphens"),
        ("severity: low", "severity: dire", "a.yaml:4:5: 'severity' is one of critical, high, medium, low"),
        ("kinds: [Deployment]", "kinds: []", "a.yaml:5:5: 'kinds' is empty"),
        ("    fix: Do it.\n", "", "a.yaml:2:5: 'fix' is missing"),
        ("fix: Do it.", "fix: yes", "a.yaml:8:5: 'fix' is a text, and what stands here is true"),
        ("fix: Do it.", "fix: [a]", "a.yaml:8:5: 'fix' is a text, and what stands here is a list"),
        (
            "fix: Do it.",
            "fix: Do it.\n    whn: x",
            "a.yaml:9:5: there is no key 'whn' here. Did you mean 'when'",
        ),
        (
            "expression: o",
            "expresion: o",
            "a.yaml:7:9: there is no key 'expresion' here. Did you mean 'expression'?",
        ),
        ("fix: Do it.", "fix: a\n    fix: b", "a.yaml:8:5: the key 'fix' stands here twice"),
        (
            "object.spec.replicas > 1",
            "object.spec.replicas >",
            "a.yaml:7:43: the expression ends too early (at 1:23",
        ),
        (
            "object.spec.replicas > 1",
            "'objct.a'",
            "a.yaml:7:22: there is no variable 'objct'. Did you mean 'object'?",
        ),
        (
            "object.spec.replicas > 1",
            "|\n          object.spec.a ==\n            b",
            "a.yaml:9:13: there is no variable 'b'",
        ),
        (
            "object.spec.replicas > 1",
            ">-\n          object.spec.a ==\n            b",
            "a.yaml:7:21: there is no variable 'b'",
        ),
        ("object.spec.replicas > 1", "item.a == 1", "there is no variable 'item'"),
        ("object.spec.replicas > 1", "variables.a == 1", "there is no variable 'a' above; known are: none"),
        ("object.spec.replicas > 1", "object.status.a == 1", "'object.status' is not there"),
        ("object.spec.replicas > 1", "object['status'].a == 1", "'object.status' is not there"),
        ("object.spec.replicas > 1", "'true'\n        path: a..b", "a.yaml:8:9: 'a..b' is no path"),
        (
            "object.spec.replicas > 1",
            "'true'\n        message: a\n        messageExpression: '\"a\"'",
            "either 'message' or 'messageExpression'",
        ),
        (
            "kinds: [Deployment]",
            "kinds: [Ingress]\n    when: services.size() > 0",
            "'services' is known for kinds that run pods",
        ),
        (
            "kinds: [Deployment]",
            "kinds: [Ingress]\n    when: routes.size() > 0",
            "'routes' is known for Services and kinds",
        ),
        ("kinds: [Deployment]", "kinds: [Secret]\n    when: object.data.a == ''", "of a Secret is not there"),
        ("fix: Do it.", "fix: a\n    tests: [{name: b, expect: gap}]", "either 'manifest' or 'files'"),
        (
            "fix: Do it.",
            "fix: a\n    tests: [{name: b, expect: fail, files: [c]}]",
            "'expect' is one of 'gap', 'pass'",
        ),
        (
            "fix: Do it.",
            "fix: a\n    tests: [{name: b, expect: pass, files: [c], messages: [d]}]",
            "belong to a test that expects a gap",
        ),
        (
            "fix: Do it.",
            "fix: a\n    variables: [{name: a, expression: '1'}, {name: a, expression: '2'}]",
            "there are two variables 'a'",
        ),
        ("checks:", "check:", "a.yaml:1:1: 'checks' is missing"),
        ("checks:", "checks: [", "a.yaml:"),
        (GOOD, "- a", "begins with 'checks:'"),
        (GOOD, "", "begins with 'checks:'"),
    ],
)
def test_fault_and_its_place(old: str, new: str, fault: str) -> None:
    assert old in GOOD
    told = faults(GOOD.replace(old, new))
    assert any(line.startswith("a.yaml:") and fault in line for line in told), told


def test_all_faults_are_told_at_once() -> None:
    text = GOOD.replace("replicas > 1", "replicas >").replace(
        "[Deployment]", "[Ingress]\n    when: services == []"
    )
    assert len(faults(text)) == 2


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("spec.template.spec", ("spec", "template", "spec")),
        ("a[0].b", ("a", 0, "b")),
        ("a['b.c/d'][\"e\"]", ("a", "b.c/d", "e")),
        ("", ()),
    ],
)
def test_path(text: str, parts: tuple[str | int, ...]) -> None:
    assert read_path(text) == parts


@pytest.mark.parametrize("text", [".a", "a b", "a[", "a[-1]", "a.[0]", "[x]"])
def test_no_path(text: str) -> None:
    with pytest.raises(ValueError, match="is no path"):
        read_path(text)


def test_ids_are_taken_once(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(GOOD)
    (tmp_path / "b.yml").write_text(GOOD)
    (tmp_path / "other.yaml").write_bytes(b"kind: Pod # \xff\n")
    with pytest.raises(
        InvalidInput, match=r"b.yml:2:5: the id 'shop-one' is that of the one at .*a.yaml:2:5"
    ):
        read_files([tmp_path])
    with pytest.raises(InvalidInput, match="that of a check that is there already"):
        read_files([tmp_path / "a.yaml"], {"shop-one"})
    assert len(read_files([tmp_path / "a.yaml", tmp_path / "a.yaml"])) == 1


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="does not exist"):
        read_files([tmp_path / "none.yaml"])
    with pytest.raises(NotFound, match="holds no file of checks"):
        read_files([tmp_path])
    (tmp_path / "bytes.yaml").write_bytes(b"checks: \xff")
    with pytest.raises(InvalidInput, match="not UTF-8"):
        read_files([tmp_path / "bytes.yaml"])
    (tmp_path / "large.yaml").write_bytes(b" " * 2_000_001)
    with pytest.raises(InvalidInput, match="more than 2,000,000 bytes"):
        read_files([tmp_path / "large.yaml"])
