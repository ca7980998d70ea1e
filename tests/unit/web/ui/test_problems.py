"""Errors on pages: told in the reader's language, as a kind, with the way to what was meant."""

from __future__ import annotations

import ast
import inspect
import re
from types import ModuleType

import pytest
from starlette.testclient import TestClient

from pilotage.core import text
from pilotage.core.errors import all_errors
from pilotage.library import catalogue, terms
from pilotage.library.search import query
from pilotage.web import checking, errors, limits
from pilotage.web.errors import Problem, problem_of
from pilotage.web.ui import browsing, checks, problem_words, reading, searching, state
from pilotage.web.ui.problems import in_korean, meant, said

HTML = {"accept": "text/html"}
RAISING = (browsing, checks, reading, searching, state, checking, limits, catalogue, terms, query)
"""Modules whose errors a page can show."""
NOT_ON_PAGES = re.compile(r"is no version of Kubernetes|Write one such as")
"""Sentences on what the forms of the pages do not ask for."""
MADE_OF_WORDS = {"'{}' is no {}"}
"""Sentences whose places hold words of ours: each of them is in the catalogue whole."""
ENGLISH = re.compile(r"[A-Za-z]{2,} [A-Za-z]{2,} [A-Za-z]{2,}")


def sentences(module: ModuleType) -> set[str]:
    """What a module says in its errors, with `{}` for what is put in."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in KINDS:
            for part in [*node.args, *(word.value for word in node.keywords)]:
                found |= spoken(part)
    return {one for one in found if " " in one and not NOT_ON_PAGES.search(one)} - MADE_OF_WORDS


def spoken(node: ast.expr) -> set[str]:
    if isinstance(node, ast.BoolOp):
        return set().union(*map(spoken, node.values))
    if isinstance(node, ast.JoinedStr):
        return {"".join(str(one.value) if isinstance(one, ast.Constant) else "{}" for one in node.values)}
    return {node.value} if isinstance(node, ast.Constant) and isinstance(node.value, str) else set()


KINDS = {one.__name__ for one in all_errors()} | {"Problem"}


def test_every_code_has_a_korean_sentence() -> None:
    assert {one.code for one in all_errors()} | {"usage", "bug"} == problem_words.BY_CODE.keys()


@pytest.mark.parametrize("kind", all_errors(), ids=lambda kind: kind.__name__)
def test_every_class_of_error_can_be_told(kind: type) -> None:
    told = said(problem_of(kind("what nobody translated", hint="Nor this.")), "ko")
    assert re.search("[가-힣]", told.detail)
    assert not ENGLISH.search(told.hint)
    assert told.english in {"", "what nobody translated"}


@pytest.mark.parametrize("module", RAISING, ids=lambda module: module.__name__)
def test_what_pages_can_raise_is_in_the_catalogue(module: ModuleType) -> None:
    missing = [one for one in sentences(module) if in_korean(one.replace("{}", "x")) is None]
    assert not missing


def test_hints_that_are_made_of_names_are_in_the_catalogue() -> None:
    assert in_korean(text.did_you_mean("corends", ["coredns", "etcd"])) == "가까운 것: 'coredns'"
    assert in_korean(text.did_you_mean("x", ["aaa", "bbb"])) == "있는 것: aaa, bbb"
    assert in_korean("Did you mean 'a' or 'b'?") == "가까운 것: 'a', 'b'"
    assert in_korean(checking.too_long().message) == f"글이 {checking.MOST_BYTES} bytes보다 길다"
    assert in_korean(checking.too_long().hint)
    assert in_korean(errors.bug().hint)
    assert all(in_korean(told) for told in limits.NOT_TEXT.values())


def test_no_sentence_of_the_catalogue_swallows_another() -> None:
    for english, korean in problem_words.SENTENCES.items():
        assert english.count("{}") == korean.count("{}"), english
        assert in_korean(english.replace("{}", "x")) == korean.replace("{}", "x"), english


def test_what_was_typed_is_not_read_as_a_place() -> None:
    assert in_korean("no record '{0} {}'") == "‘{0} {}’ 사례가 없다"


def test_the_way_to_what_was_meant() -> None:
    problem = Problem(404, "not-found", "no record 'a'", "Did you mean 'a-b' or 'c/d'?")
    assert meant("/incidents/a", problem) == [("a-b", "/incidents/a-b"), ("c/d", "/incidents/c%2Fd")]
    assert meant("/search", problem) == []
    assert meant("/incidents/a", Problem(404, "not-found", "no record 'a'", "Search finds ids.")) == []


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/incidents/skyscanner-2019-04-23-haproxy-ingres", 404),
        ("/incidents/nothing-like-this-at-all-zzz", 404),
        ("/incidents/zalando-2019-skipper-ingress-oom-alb-502/history/99", 404),
        ("/incidents/zalando-2019-skipper-ingress-oom-alb-502/history/x", 400),
        ("/organisations/zalandoo", 404),
        ("/organisations/zalando?facet=component:corends", 400),
        ("/vocabulary/colours", 404),
        ("/vocabulary/components/corends", 404),
        ("/checks/webhook-fail-catch-al", 404),
        ("/checks?severity=worst", 400),
        ("/checks?family=webhoks", 400),
        ("/incidents?facet=component:corends", 400),
        ("/incidents?facet=colour:red", 400),
        ("/incidents?facet=red", 400),
        ("/incidents?cursor=x", 400),
        ("/topics?facet=component:corends", 400),
        ("/statistics?facet=component:corends", 400),
        ("/search?q=a&cursor=x", 400),
        ("/search?q=component:corends", 400),
        ("/search?q=-title:x", 400),
        ("/search?" + "&".join(["facet=component:ingress"] * 41), 400),
        ("/compare?id=a&id=b&id=c&id=d&id=e", 400),
        ("/compare?id=nothing", 404),
        ("/nowhere", 404),
        ("/search?q=a&facet=" + "x" * 2_000, 400),
        ("/search?q=%ff", 400),
    ],
)
def test_a_korean_page_tells_an_error_in_korean(client: TestClient, path: str, status: int) -> None:
    sign = "&" if "?" in path else "?"
    answer = client.get(f"{path}{sign}lang=ko", headers=HTML)
    assert answer.status_code == status
    shown = re.search(r'<div class="(?:prose|alert[^"]*)"[^>]*>(.*?)</div>', answer.text, re.DOTALL)
    if status != 200:
        assert shown
        told = re.sub(r"<li>.*?</li>|<code>.*?</code>|<[^>]+>", " ", shown[1])
        assert re.search("[가-힣]", told)
        assert not ENGLISH.search(told.replace("component, ", "")), told


def test_what_was_meant_is_a_link(client: TestClient) -> None:
    missing = client.get("/incidents/skyscanner-2019-04-23-haproxy-ingres", headers=HTML)
    assert 'href="/incidents/skyscanner-2019-04-23-haproxy-ingress-hot-podding"' in missing.text


def test_a_form_tells_an_error_in_korean(client: TestClient) -> None:
    empty = client.post("/checks/try?lang=ko", data={"text": " "}, headers=HTML)
    assert empty.status_code == 400
    assert "점검할 글이 없다" in empty.text
    long = client.post("/checks/try?lang=ko", data={"text": "x" * 1_100_000}, headers=HTML)
    assert long.status_code == 413
    assert f"글이 {checking.MOST_BYTES} bytes보다 길다" in long.text
    longer = client.post("/checks/try?lang=ko", data={"text": "x" * 3_200_000}, headers=HTML)
    assert longer.status_code == 413
    assert f"글이 {checking.MOST_BYTES} bytes보다 길다" in longer.text
