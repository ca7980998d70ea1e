"""Checks over REST: the list, one check, a run over a text, and what each refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner
from fastapi.testclient import TestClient

from pilotage.checks.registry import all_checks
from pilotage.checks.reports.schema import report_schema
from pilotage.cli.main import pilotage
from pilotage.core.errors import Busy, InvalidInput
from pilotage.web import checking
from rig.rest import DNS

API = "/api/v1/checks"
RUN = f"{API}/run"
CRON = """\
apiVersion: batch/v1
kind: CronJob
metadata: {name: report, namespace: shop}
spec:
  schedule: "*/15 * * * *"
  jobTemplate:
    spec:
      concurrencyPolicy: Forbid
      template: {spec: {restartPolicy: Never, containers: [{name: report, image: "registry.example.com/r:1"}]}}
"""


def test_the_list_in_parts(reader: TestClient) -> None:
    seen: list[str] = []
    address = f"{API}?limit=100"
    while address:
        found = reader.get(address)
        assert found.status_code == 200
        assert found.json()["total"] == len(all_checks())
        seen += [one["id"] for one in found.json()["items"]]
        link = found.headers.get("link", "")
        address = link[1 : link.index(">")] if link else ""
    assert sorted(seen) == sorted(all_checks())
    assert reader.get(API, headers={"If-None-Match": reader.get(API).headers["etag"]}).status_code == 304


def test_the_list_is_narrowed(reader: TestClient) -> None:
    worst = reader.get(f"{API}?severity=critical&severity=high&family=webhooks").json()["items"]
    assert worst
    assert {one["family"] for one in worst} == {"webhooks"}
    assert {one["severity"] for one in worst} <= {"critical", "high"}
    cited = all_checks()["webhook-fail-catch-all"].cited[0].id
    found = reader.get(f"{API}?incident={cited}&limit=200").json()["items"]
    assert "webhook-fail-catch-all" in {one["id"] for one in found}
    assert all(cited in {incident["id"] for incident in one["incidents"]} for one in found)


def test_one_check(reader: TestClient) -> None:
    found = reader.get(f"{API}/webhook-fail-catch-all").json()
    assert list(found["page"]) == ["What it does", "Why it matters", "Incidents", "Fix", "References"]
    assert reader.get("/checks/webhook-fail-catch-all.json").json() == found
    missing = reader.get(f"{API}/webhook-fail-catch-al")
    assert missing.status_code == 404
    assert "webhook-fail-catch-all" in missing.json()["hint"]


def test_an_incident_tells_its_checks(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    address = f"/api/v1/incidents/{DNS['id']}"
    assert "checks" not in client.get(address).json()
    assert client.get(f"{address}?extra=checks").json()["checks"] == []
    one = all_checks()["webhook-fail-catch-all"]
    offer: checking.Offer = client.app.state.doors.offer  # type: ignore[attr-defined]
    monkeypatch.setitem(offer.__dict__, "_by_incident", {DNS["id"]: [(one, True)]})
    (found,) = client.get(f"{address}?extra=checks,terms").json()["checks"]
    assert found["id"] == "webhook-fail-catch-all"
    assert found["exact"] is True


def test_a_run_is_what_the_command_line_says(client: TestClient, tmp_path: Path) -> None:
    found = client.post(RUN, params={"name": "cron.yaml"}, content=CRON)
    assert found.status_code == 200
    assert found.headers["cache-control"] == "no-store"
    jsonschema.validate(found.json(), report_schema())
    assert "cron-policy-misplaced" in {one["check"] for one in found.json()["findings"]}
    (tmp_path / "cron.yaml").write_text(CRON, encoding="utf-8")
    done = CliRunner().invoke(
        pilotage,
        ["check", str(tmp_path / "cron.yaml"), "--output", "json", "--no-config"],
    )
    told = json.loads(done.stdout.replace(str(tmp_path / "cron.yaml"), "cron.yaml"))
    here = found.json()
    for one in (*told["findings"], *here["findings"]):
        # What is told of an incident depends on the library, which is a small one here.
        one["incidents"] = [incident["id"] for incident in one["incidents"]]
    assert here == told


@pytest.mark.parametrize(
    ("query", "body", "status", "words"),
    [
        ("", b"", 400, "nothing to check"),
        ("?select=nonsense", b"a: b", 400, "names no check"),
        ("?nme=x", b"a: b", 400, "no parameter"),
        ("?kubernetes=new", b"a: b", 400, "no version"),
        ("", b"---\na: b\n" * 600, 413, "500 documents"),
        ("", b"x" * (checking.MOST_BYTES + 1), 413, "bytes"),
    ],
)
def test_what_is_refused(reader: TestClient, query: str, body: bytes, status: int, words: str) -> None:
    found = reader.post(RUN + query, content=body)
    assert found.status_code == status
    assert found.headers["content-type"] == "application/problem+json"
    assert words in found.json()["detail"]


@pytest.mark.parametrize(
    "body",
    [
        b"\xff\xfe\x00\xd8",
        b"kind: Pod\napiVersion: v1\nmetadata: {name: \xff\xfe}\n",
        b"kind: Pod\napiVersion: v1\n\tmetadata: x\n",
        b"{{ if .Values.x }}\nkind: Pod\n{{ end }}\n",
        b"kind: Pod\na: &a [x,x,x,x,x,x,x,x,x]\n"
        + b"".join(
            b"%c: &%c [*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c]\n" % (n + 1, n + 1, *[n] * 8) for n in range(97, 112)
        ),
        b"[" * 50_000,
    ],
    ids=["bytes", "name", "tab", "template", "laughs", "deep"],
)
def test_bad_text_is_a_problem_of_the_report(reader: TestClient, body: bytes) -> None:
    found = reader.post(RUN, content=body)
    assert found.status_code == 200
    told: dict[str, Any] = found.json()
    assert told["problems"]
    assert not told["findings"]


def test_a_text_that_takes_too_long_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    moments = iter(range(0, 10_000, 7))
    monkeypatch.setattr(checking.time, "monotonic", lambda: float(next(moments)))
    with pytest.raises(InvalidInput, match="longer than 5 seconds"):
        checking.shipped().check_text(checking.Question(CRON), seconds=5)


def test_too_many_at_once_are_told_to_come_back(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checking, "_PATIENCE_SECONDS", 0.0)
    held = [checking._ROOM.acquire(blocking=False) for _ in range(checking._AT_ONCE)]
    try:
        with pytest.raises(Busy):
            checking.shipped().check_text(checking.Question(CRON))
        found = client.post(RUN, content=CRON)
        assert found.status_code == 503
        assert found.headers["retry-after"]
    finally:
        for _ in held:
            checking._ROOM.release()
    assert client.post(RUN, content=CRON).status_code == 200
