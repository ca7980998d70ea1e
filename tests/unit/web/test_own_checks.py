"""Own checks on the doors: those of whoever started the server, and those that a request brings along."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog
from fastapi.testclient import TestClient
from mcp.server.mcpserver import MCPServer

from pilotage.checks.own import evaluation
from pilotage.checks.registry import all_checks
from pilotage.core.errors import InvalidInput, MissingExtra, NotFound, TooLarge
from pilotage.core.settings import Settings, WebSettings
from pilotage.library.catalogue import Catalogue
from pilotage.library.stores.opening import open_store
from pilotage.web import checking
from pilotage.web.app import create_app
from pilotage.web.checking import Offer, Question
from pilotage.web.mcp.server import make_server
from rig.mcp_library import answer_of, ask, talk, text_of
from rig.rest import client_of, fill

RUN = "/api/v1/checks/run"
OWN = """\
checks:
  - id: shop-no-latest
    title: A container runs whatever is latest
    severity: high
    kinds: [Pod]
    each: spec.containers
    validations:
      - expression: '!item.image.endsWith(":latest")'
        path: image
    fix: Name a version.
"""
SENT = OWN.replace("shop-no-latest", "sent-no-latest")
POD = """\
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: shop}
spec: {containers: [{name: web, image: "shop:latest"}]}
"""


@pytest.fixture
def catalogue(tmp_path: Path) -> Iterator[Catalogue]:
    fill(str(tmp_path / "library.db"))
    store = open_store(str(tmp_path / "library.db"))
    yield Catalogue(store)
    store.close()


@pytest.fixture
def open_server(tmp_path: Path) -> Settings:
    """Started with a check of its own, and willing to take others."""
    (tmp_path / "own.yaml").write_text(OWN, "utf-8")
    return Settings(web=WebSettings(own_checks=(str(tmp_path / "own.yaml"),), accept_own_checks=True))


@pytest.fixture
def client(catalogue: Catalogue, open_server: Settings) -> Iterator[TestClient]:
    with structlog.testing.capture_logs(), client_of(create_app(open_server, catalogue)) as opened:
        yield opened


@pytest.fixture
def closed(catalogue: Catalogue) -> Iterator[TestClient]:
    with structlog.testing.capture_logs(), client_of(create_app(Settings(), catalogue)) as opened:
        yield opened


def found_in(answer: Any) -> set[str]:
    assert answer.status_code == 200, answer.text
    return {one["check"] for one in answer.json()["findings"] if one["check"].endswith("-no-latest")}


def test_checks_of_the_server_are_told_of_and_run(client: TestClient) -> None:
    listed = client.get("/api/v1/checks?family=own").json()
    assert [(one["id"], one["documentation_only"]) for one in listed["items"]] == [("shop-no-latest", False)]
    assert client.get("/api/v1/checks").json()["total"] == len(all_checks()) + 1
    assert "own.yaml" in client.get("/api/v1/checks/shop-no-latest").json()["page"]["References"]
    assert "own check" in client.get("/checks?family=own").text
    page = client.get("/checks/shop-no-latest").text
    assert "A check of whoever runs this server." in page
    assert "Rests on documentation" not in page
    assert found_in(client.post(RUN, content=POD)) == {"shop-no-latest"}
    tried = client.post("/checks/try", data={"text": POD}).text
    assert "/checks/shop-no-latest" in tried


def test_a_request_brings_checks_along(client: TestClient) -> None:
    both = {"shop-no-latest", "sent-no-latest"}
    parts = {"text": (None, POD), "own_checks": (None, SENT)}
    assert found_in(client.post(RUN, files=parts)) == both
    assert found_in(client.post(RUN, files={"text": ("a.yaml", POD), "own_checks": ("b.yaml", SENT)})) == both
    assert found_in(client.post(f"{RUN}?select=sent-*", files=parts)) == {"sent-no-latest"}
    assert found_in(client.post(RUN, files={"text": (None, POD)})) == {"shop-no-latest"}
    assert client.get("/api/v1/checks/sent-no-latest").status_code == 404


def test_a_server_takes_checks_only_when_it_was_started_so(closed: TestClient) -> None:
    answer = closed.post(RUN, files={"text": (None, POD), "own_checks": (None, SENT)})
    assert answer.status_code == 400
    assert "runs no checks that are sent" in answer.json()["detail"]
    assert "--accept-own-checks" in answer.json()["hint"]
    assert found_in(closed.post(RUN, files={"text": (None, POD)})) == set()


@pytest.mark.parametrize(
    ("own", "status", "words"),
    [
        (OWN.replace("shop-", "sent-").replace("endsWith", "endWith"), 400, "own_checks:8:34:"),
        (OWN.replace("item.image", "thing"), 400, "own_checks:8:23: there is no variable 'thing'"),
        ("checks: [{id: sent-a", 400, "own_checks:"),
        (OWN, 400, "the id 'shop-no-latest' is that of a check that is there already"),
        (SENT.replace("sent-no-latest", "webhook-timeout"), 400, "the id 'webhook-timeout' is that of"),
        ("# " + "x" * checking.MOST_OWN_BYTES, 413, "65536 bytes"),
        ("\udcff: a", 400, "own_checks"),
        (
            "checks:\n" + "".join(SENT.partition("\n")[2].replace("sent-", f"n{n}-") for n in range(51)),
            413,
            "more than 50 own checks",
        ),
    ],
    ids=["function", "variable", "yaml", "twice", "shipped", "long", "bytes", "many"],
)
def test_wrong_checks_are_told_with_their_place(
    client: TestClient, own: str, status: int, words: str
) -> None:
    parts = {"text": (None, POD), "own_checks": (None, own.encode("utf-8", "surrogateescape"))}
    answer = client.post(RUN, files=parts)
    assert answer.status_code == status
    assert words in answer.json()["detail"]


def test_wrong_forms_are_refused(client: TestClient) -> None:
    form = {"Content-Type": "multipart/form-data"}
    for headers, body, words in (
        (form, b"x", "not the form that its type names"),
        ({"Content-Type": "multipart/form-data; boundary=a"}, b"--a\r\n\r\nx\r\n--a--\r\n", "not the form"),
    ):
        answer = client.post(RUN, content=body, headers=headers)
        assert answer.status_code == 400
        assert words in answer.json()["detail"]
    for parts, words in (
        ([("txt", (None, POD))], "no part 'txt'"),
        ([("text", (None, POD)), ("text", (None, POD))], "'text' twice"),
        ([("own_checks", (None, SENT))], "nothing to check"),
    ):
        answer = client.post(RUN, files=parts)
        assert answer.status_code == 400
        assert words in answer.json()["detail"]
    assert client.post(RUN, files={"text": (None, "x" * 2_000_000)}).status_code == 413


def test_a_plain_text_of_another_media_type_is_no_form(client: TestClient) -> None:
    for kind in ("application/x-www-form-urlencoded", "application/json", ""):
        assert found_in(client.post(RUN, content=POD, headers={"Content-Type": kind})) == {"shop-no-latest"}


def test_agents_see_and_send_checks(catalogue: Catalogue, open_server: Settings) -> None:
    server = make_server(open_server, catalogue)
    listed = answer_of(ask(server, "list_checks", family=["own"]))
    assert [one["id"] for one in listed["checks"]] == ["shop-no-latest"]
    assert answer_of(ask(server, "explain_check", id="shop-no-latest"))["family"] == "own"
    found = answer_of(ask(server, "check_manifests", text=POD, own_checks=SENT, select=["own"]))
    assert {one["check"] for one in found["findings"]} == {"shop-no-latest", "sent-no-latest"}
    wrong = ask(server, "check_manifests", text=POD, own_checks=SENT.replace("endsWith", "endWith"))
    assert wrong.is_error
    assert "own_checks:8:34:" in text_of(wrong)


def test_a_wrapper_is_answered_with_what_to_send(
    client: TestClient, catalogue: Catalogue, open_server: Settings
) -> None:
    answer = client.post(RUN, json={"text": POD})
    assert answer.status_code == 400
    assert "what stands in its `text` is not read" in answer.json()["detail"]
    assert "--data-binary" in answer.json()["hint"]
    told = ask(make_server(open_server, catalogue), "check_manifests", text=json.dumps({"manifest": POD}))
    assert told.is_error
    assert "its `manifest` is not read" in text_of(told)


def arguments_of(server: MCPServer, tool: str) -> set[str]:
    async def listed(client: Any) -> Any:
        return await client.list_tools()

    (found,) = [one for one in talk(server, listed).tools if one.name == tool]
    return set(found.input_schema["properties"])


def test_the_argument_is_offered_only_where_it_is_taken(catalogue: Catalogue, open_server: Settings) -> None:
    assert "own_checks" in arguments_of(make_server(open_server, catalogue), "check_manifests")
    server = make_server(Settings(), catalogue)
    assert "own_checks" not in arguments_of(server, "check_manifests")
    assert "no argument 'own_checks'" in text_of(ask(server, "check_manifests", text=POD, own_checks=SENT))


def test_a_server_does_not_start_with_wrong_checks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "own.yaml"
    settings = WebSettings(own_checks=(str(path),))
    with pytest.raises(NotFound, match="does not exist"):
        Offer.of(settings)
    path.write_text(OWN.replace("fix:", "fixx:"), "utf-8")
    with pytest.raises(InvalidInput, match=r"own.yaml:10:5: there is no key 'fixx'"):
        Offer.of(settings)
    path.write_text(OWN, "utf-8")
    monkeypatch.setattr(evaluation.importlib.util, "find_spec", lambda _: None)
    with pytest.raises(MissingExtra):
        Offer.of(settings)


@pytest.mark.slow
def test_sent_checks_cannot_hold_the_server_up(monkeypatch: pytest.MonkeyPatch) -> None:
    loops = "".join(f"object.spec.containers.all({name}, " for name in "abcdef") + "true" + ")" * 6
    slow = SENT.replace('!item.image.endsWith(":latest")', loops).replace("    each: spec.containers\n", "")
    many = POD.replace("[{name: web", "[" + "{name: x, image: y}, " * 60 + "{name: web")
    limits = evaluation.Limits(seconds=2, deaths=1, all_seconds=1)
    monkeypatch.setattr(checking, "_OWN_LIMITS", limits)
    offer = Offer(accepts=True)
    text = "---\n".join([many, many.replace("name: web,", "name: two,")])
    report = offer.check_text(Question(text, select=("own",), own_checks=slow.replace("path: image", "")))
    why = [one.why for one in report.unknown]
    assert why == [
        "all expressions together took more than 1 s",
        "not asked any more: it failed once before",
    ]


@pytest.mark.parametrize("kind", ["laughs", "variables", "deep", "long"])
def test_bombs_in_sent_checks_are_refused_at_once(kind: str) -> None:
    laughs = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
        f"{chr(n + 1)}: &{chr(n + 1)} [{','.join(['*' + chr(n)] * 9)}]\n" for n in range(97, 112)
    )
    doubled = "".join(
        f"      - {{name: v{n}, expression: 'variables.v{n - 1} + variables.v{n - 1}'}}\n"
        for n in range(1, 60)
    )
    variables = f"    variables:\n      - {{name: v0, expression: '1 + 1'}}\n{doubled}    validations:\n"
    sent = {
        "laughs": laughs + SENT,
        "variables": SENT.replace("    validations:\n", variables).replace("item.image", "variables.v59"),
        "deep": SENT.replace('!item.image.endsWith(":latest")', "(" * 5000 + "true" + ")" * 5000),
        "long": SENT.replace('!item.image.endsWith(":latest")', " && ".join(["true"] * 5000)),
    }[kind]
    with pytest.raises(InvalidInput, match="own_checks:") as refused:
        Offer(accepts=True).check_text(Question(POD, own_checks=sent))
    assert not isinstance(refused.value, TooLarge)


def test_the_page_takes_checks_along_where_they_are_accepted(client: TestClient, closed: TestClient) -> None:
    assert 'name="own_checks"' in client.get("/checks/try").text
    assert 'name="own_checks"' not in closed.get("/checks/try").text
    found = client.post("/checks/try", data={"text": POD, "own_checks": SENT}).text
    assert "A container runs whatever is latest" in found
    assert "/checks/shop-no-latest" in found
    assert "/checks/sent-no-latest" not in found, "a check that came along has no page"
    assert "id: sent-no-latest" in found, "the box keeps what was typed"
    wrong = client.post("/checks/try", data={"text": POD, "own_checks": SENT.replace("endsWith", "endWith")})
    assert wrong.status_code == 400
    assert "own_checks:8:34:" in wrong.text
    assert "name: web, namespace: shop" in wrong.text
    refused = closed.post("/checks/try", data={"text": POD, "own_checks": SENT})
    assert refused.status_code == 400
    assert "runs no checks that are sent" in refused.text
    assert "name: web, namespace: shop" in refused.text


def test_a_server_that_offers_other_checks_gives_other_tags(
    catalogue: Catalogue, open_server: Settings, tmp_path: Path
) -> None:
    def tag(settings: Settings) -> str:
        with structlog.testing.capture_logs(), client_of(create_app(settings, catalogue)) as client:
            return client.get("/api/v1/checks").headers["etag"]

    before = tag(open_server)
    assert tag(open_server) == before
    (tmp_path / "own.yaml").write_text(OWN.replace("severity: high", "severity: low"), "utf-8")
    after = tag(open_server)
    assert len({before, after, tag(Settings())}) == 3
