"""The tools of checks: what they find, how they keep within a budget, what they refuse."""

from __future__ import annotations

import json
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from mcp.server.mcpserver import MCPServer

from pilotage.checks.registry import all_checks
from pilotage.core.settings import Settings, WebSettings
from pilotage.library.catalogue import Catalogue
from pilotage.web import checking
from pilotage.web.mcp.server import make_server
from rig.mcp_library import HIDDEN, answer_of, ask, text_of

CRON = """\
apiVersion: batch/v1
kind: CronJob
metadata: {name: report-%d, namespace: shop}
spec:
  schedule: "*/15 * * * *"
  jobTemplate:
    spec:
      concurrencyPolicy: Forbid
      template: {spec: {restartPolicy: Never, containers: [{name: report, image: "registry.example.com/r:1"}]}}
"""
MISPLACED = "cron-policy-misplaced"


def crons(number: int) -> str:
    return "---\n".join(CRON % n for n in range(number))


def test_the_list_goes_through_all_checks(server: MCPServer) -> None:
    found: list[dict[str, Any]] = []
    cursor = None
    while True:
        part = answer_of(ask(server, "list_checks", limit=50, cursor=cursor))
        found += part["checks"]
        assert ("families" in part) is (cursor is None)
        cursor = part.get("next")
        if cursor is None:
            break
    assert {one["id"] for one in found} == set(all_checks())
    assert found[0]["severity"] == "critical"


def test_the_list_is_narrowed(server: MCPServer) -> None:
    found = answer_of(ask(server, "list_checks", q="webhook", severity="critical"))
    assert [one["id"] for one in found["checks"]] == ["webhook-backend-gone", "webhook-fail-catch-all"]
    none = answer_of(ask(server, "list_checks", q="tomato soup"))
    assert none["total"] == 0
    assert "answer" in none["note"]
    assert "webhooks" in text_of(ask(server, "list_checks", family=["webhoks"]))


def test_a_check_is_explained(server: MCPServer) -> None:
    found = answer_of(ask(server, "explain_check", id=MISPLACED))
    assert list(found["page"]) == ["What it does", "Why it matters", "Incidents", "Fix", "References"]
    assert found["incidents"][0]["id"]
    small = answer_of(ask(server, "explain_check", id="webhook-fail-catch-all", max_tokens=1000))
    assert "left_out" not in small or set(small["left_out"]).isdisjoint(small["page"])
    assert MISPLACED in text_of(ask(server, "explain_check", id="cron-policy-misplacd"))


def test_a_text_is_checked(server: MCPServer) -> None:
    found = answer_of(ask(server, "check_manifests", text=crons(1), name="cron.yaml", select=[MISPLACED]))
    (one,) = found["findings"]
    assert one["check"] == MISPLACED
    assert one["place"].startswith("cron.yaml:8:")
    assert one["fix"]
    assert one["incidents"][0]["exact"] in {True, False}
    assert found["objects"] == 1
    assert found["total"] == 1
    assert "evidence" not in one


def test_findings_come_in_whole_parts(server: MCPServer) -> None:
    text = crons(30)
    seen: list[str] = []
    cursor = None
    while True:
        answered = ask(
            server, "check_manifests", text=text, select=[MISPLACED], max_tokens=1000, limit=50, cursor=cursor
        )
        part = answer_of(answered)
        assert len(text_of(answered)) < 3000
        seen += [one["object"] for one in part["findings"]]
        cursor = part.get("next")
        if cursor is None:
            break
        assert part["has_more"]
    assert sorted(seen) == sorted(f"CronJob shop/report-{n}" for n in range(30))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"text": " "}, "nothing to check"),
        ({"text": "a: b\n", "select": ["nonsense"]}, "names no check"),
        ({"text": "a: b\n", "kubernetes": "new"}, "1.34"),
        ({"text": "---\na: b\n" * 600}, "500 documents"),
        ({"text": "x" * 1_100_000}, "1048576 bytes"),
        ({"text": "a: b\n", "path": "/etc/passwd"}, "no argument 'path'"),
    ],
)
def test_what_cannot_be_checked_is_said(server: MCPServer, arguments: dict[str, Any], words: str) -> None:
    answered = ask(server, "check_manifests", **arguments)
    assert answered.is_error
    assert words in text_of(answered)


def test_what_was_not_read_is_no_pass(server: MCPServer) -> None:
    found = answer_of(ask(server, "check_manifests", text="kind: Pod\napiVersion: v1\n\tmetadata: x\n"))
    assert found["problems"]
    assert found["total"] == 0
    assert "problems" in found["note"]


def test_no_file_of_the_server_is_read(server: MCPServer, tmp_path: Path) -> None:
    secret = tmp_path / "secret.yaml"
    secret.write_text(CRON % 7, encoding="utf-8")
    for text, name in (
        (f"http {{ include {secret}; }}\n", "nginx.conf"),
        (f".:53 {{\n import {secret}\n}}\n", "Corefile"),
        (f"resources: [{secret}]\nkind: Kustomization\n", "kustomization.yaml"),
        ("a: b\n", str(secret)),
    ):
        told = text_of(ask(server, "check_manifests", text=text, name=name))
        assert "report-7" not in told


def test_words_of_a_text_hide_nothing(server: MCPServer) -> None:
    text = (CRON % 0).replace("report-0", f'"rep{HIDDEN}ort"')
    told = text_of(ask(server, "check_manifests", text=text, response_format="detailed"))
    assert not set(HIDDEN) & set(told)


def test_a_cluster_that_cannot_be_read_is_told(
    catalogue: Catalogue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "here",
        "contexts": [{"name": "here", "context": {"cluster": "here", "user": "me"}}],
        "clusters": [{"name": "here", "cluster": {"server": "http://127.0.0.1:1"}}],
        "users": [{"name": "me", "user": {"token": "secret-token"}}],
    }
    path = tmp_path / "config"
    path.write_text(json.dumps(config), encoding="utf-8")
    monkeypatch.setenv("KUBECONFIG", str(path))
    server = make_server(Settings(web=WebSettings(allow_cluster=True)), catalogue)
    answered = ask(server, "check_cluster")
    assert answered.is_error
    assert "127.0.0.1:1" in text_of(answered)
    assert "secret-token" not in text_of(answered)
    assert "staging" in text_of(ask(server, "check_cluster", context="staging"))


def test_clusters_and_texts_share_the_few_places(
    catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checking, "_PATIENCE_SECONDS", 0.0)
    server = make_server(Settings(web=WebSettings(allow_cluster=True)), catalogue)
    with ExitStack() as places:
        for _ in range(checking._AT_ONCE):
            places.enter_context(checking.room())
        for tool, arguments in (("check_cluster", {}), ("check_manifests", {"text": CRON % 0})):
            answered = ask(server, tool, **arguments)
            assert answered.is_error
            assert "(busy)" in text_of(answered)
    assert not ask(server, "check_manifests", text=CRON % 0).is_error
