"""Every sentence about what was not looked at has its Korean, in every form that people or their tools show."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from pilotage.checks import registry
from pilotage.checks.objects import Place
from pilotage.checks.readers.cluster import NOT_KEPT
from pilotage.checks.readers.reading import Problem, Trouble
from pilotage.checks.report import NotLooked, Report
from pilotage.checks.reports import as_github, as_html, as_junit, as_markdown, as_sarif, as_text
from pilotage.checks.reports.korean import NAMES, SENTENCES, korean
from rig.reports import full_report, incidents

SOURCE = Path(registry.__file__).parent
HANGUL = re.compile("[가-힣]")
FIRST = {"Unknown", "Unreadable", "Unseen", "NoAnswer", "BadLine", "DialectError", "NotLooked"}
"""What is made with a sentence as its first argument."""


def _text(node: ast.expr, known: dict[str, str]) -> str | None:
    """A sentence as the source has it, with a letter where a value comes; None where it is made elsewhere."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(str(one.value) if isinstance(one, ast.Constant) else "X" for one in node.values)
    return known.get(node.id) if isinstance(node, ast.Name) else None


def _sentences() -> Iterator[str]:
    for file in sorted(SOURCE.rglob("*.py")):
        tree = ast.parse(file.read_text("utf-8"))
        known = {
            ast.unparse(one.targets[0]): one.value.value
            for one in tree.body
            if isinstance(one, ast.Assign)
            and isinstance(one.value, ast.Constant)
            and isinstance(one.value.value, str)
        }
        for node in ast.walk(tree):
            text = _text(said, known) if (said := _said(node)) is not None else None
            if text is not None and re.search("[a-z]", text):
                yield text


def _said(node: ast.AST) -> ast.expr | None:
    """The part of the source that is a sentence, or the reason for which something was passed over."""
    if isinstance(node, ast.Subscript):
        return node.slice if ast.unparse(node.value).endswith(".skipped") else None
    if not isinstance(node, ast.Call):
        return None
    name = ast.unparse(node.func)
    place = 0 if name in FIRST else 1 if name == "Problem" else len(node.args)
    return node.args[place] if len(node.args) > place else None


def test_every_sentence_of_the_source_has_its_korean() -> None:
    found = sorted(set(_sentences()))
    assert len(found) > 70
    assert [one for one in found if not HANGUL.search(korean(one))] == []


def test_a_pattern_has_as_many_places_as_its_korean() -> None:
    both = SENTENCES | NAMES
    assert [text for text in both if text.count("{}") != both[text].count("{}")] == []


def test_names_stay_and_parts_are_told_in_korean() -> None:
    told = korean("admit.shop.example: the workload behind Service shop/hook is not among the files")
    assert told == "admit.shop.example: Service shop/hook 뒤의 워크로드: 파일 중에 없음"
    told = korean(
        "nothing in it could be checked: 2 files, none with a Kubernetes object, "
        "1 place that looks like unrendered templates"
    )
    assert told == (
        "점검할 수 있는 것이 없음: 파일 2개, 쿠버네티스 객체 없음, 렌더링하지 않은 템플릿으로 보이는 곳 1곳"
    )
    told = korean(
        "no definition of Thing a.example/v1, of which there is one: "
        "name its CustomResourceDefinition with --crds"
    )
    assert told == "Thing a.example/v1의 정의가 없음 (1개): --crds로 CustomResourceDefinition 지정"
    assert korean("NetworkPolicy: not permitted") == "NetworkPolicy: 권한 없음"
    assert korean("something that nobody says") == "something that nobody says"


@pytest.fixture(scope="module")
def report() -> Report:
    """Notes of every kind, and no finding: what a finding says is English in every report."""
    full = full_report()
    (check,) = list(full.checks)[:1]
    problems = [
        Problem(Place("a.yaml", 3), "not UTF-8", Trouble.BROKEN),
        Problem(Place("b.yaml"), "cannot be read: Permission denied", Trouble.UNREADABLE),
        Problem(Place("c.yaml"), "looks like an unrendered template: its name is a placeholder", Trouble.TEMPLATE, False),
    ]  # fmt: skip
    unknown = [
        NotLooked(check, "Secret `tls` is not among the files"),
        NotLooked(check, "Node: not permitted"),
    ]
    made = msgspec.structs.replace(full, findings=[], ignored=[], problems=problems, unknown=unknown)
    made.skipped.update(["not Kubernetes", "other files", NOT_KEPT])
    return made


FORMS = {
    "text": as_text, "markdown": as_markdown, "html": as_html,
    "junit": as_junit, "sarif": as_sarif, "github": as_github,
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_every_form_tells_its_notes_in_korean(form: str, report: Report) -> None:
    text = FORMS[form].render(report, incidents(report, "ko"), lang="ko")
    if form == "sarif":
        text = json.dumps(json.loads(text)["runs"][0]["invocations"], ensure_ascii=False)
    for english in ("not UTF-8", "Permission denied", "placeholder", "among the files", "other files"):
        assert english not in text
    assert "UTF-8이 아님" in text
    assert "권한 없음" in text


def test_lines_of_the_text_are_korean(report: Report) -> None:
    text = as_text.render(report, incidents(report, "ko"), lang="ko")
    assert [one for one in text.splitlines() if one.strip() and not HANGUL.search(one)] == []
