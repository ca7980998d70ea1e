"""A private record leaves no trace in any answer unless it is asked for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .conftest import DNS, PRIVATE_ID, SECRET, UNEVEN, Cli, Result

WALK: list[list[str]] = [
    ["search", ""],
    ["search", "coredns oom", "--extra", "facets"],
    ["search", SECRET],
    ["search", "org:zanzibar"],
    ["search", "the zone emptied because of a push"],
    ["search", "2023"],
    ["show", PRIVATE_ID],
    ["list"],
    ["list", "component=coredns"],
    ["list", "org=zanzibar"],
    ["list", "year=2023"],
    ["related", DNS["id"], "--reasons"],
    ["related", UNEVEN["id"], "--reasons"],
    ["related", PRIVATE_ID],
    ["topic", "component=coredns"],
    ["topic", "symptom=oom-killed"],
    ["topic", "org=zanzibar"],
    ["vocab"],
    ["vocab", "components"],
    ["vocab", "organisations"],
    ["stats"],
    ["stats", "year=2023"],
    ["stats", "--by", "component", "symptom"],
    ["stats", "--by", "organisation", "year"],
    ["history", PRIVATE_ID],
    ["export"],
    ["export", PRIVATE_ID],
    ["export", "--format", "jsonl"],
    ["export", "--format", "csv"],
    ["export", "--format", "zip"],
    ["verify"],
    ["evaluate", "queries.jsonl"],
    ["import", "twin.json", "--dry-run"],
    ["validate", "twin.json"],
]


@pytest.fixture(autouse=True)
def files(tmp_path: Path) -> None:
    graded = {"query": f"coredns {SECRET}", "lang": "en", "relevant": {PRIVATE_ID: 3, DNS["id"]: 1}}
    (tmp_path / "queries.jsonl").write_text(json.dumps(graded) + "\n", encoding="utf-8")
    source = {"url": f"https://example.com/{PRIVATE_ID}", "kind": "blog"}
    twin = {"id": "twin-1", "sources": [source], "title": {"en": "Twin", "ko": "쌍둥이"}}
    (tmp_path / "twin.json").write_text(json.dumps(twin), encoding="utf-8")


def said(done: Result, store: str) -> tuple[int, bytes, str]:
    return done.code, done.raw, done.err.replace(store, "STORE")


@pytest.mark.parametrize("output", ["text", "json"])
@pytest.mark.parametrize("arguments", WALK, ids=" ".join)
def test_no_answer_shows_a_trace(cli: Cli, store: str, both: str, arguments: list[str], output: str) -> None:
    options = [*arguments, "--output", output, "--store"]
    without = said(cli(*options, store), store)
    beside = said(cli(*options, both), both)
    assert beside == without


def test_the_walk_covers_every_command_that_reads(cli: Cli) -> None:
    listed = cli("--help").out.partition("Commands:")[2].split("\n")
    names = {line.split()[0] for line in listed if line.startswith("  ") and line.split()}
    assert names - {arguments[0] for arguments in WALK} == {"new"}


def test_an_export_file_shows_no_trace(cli: Cli, both: str, tmp_path: Path) -> None:
    for name in ("out.db", "out.zip", "out.csv", "out.json"):
        format_ = {"db": "sqlite", "json": "incident-json"}.get(
            name.partition(".")[2], name.partition(".")[2]
        )
        assert cli("export", "--format", format_, "--to", name, "--store", both).code == 0
        assert SECRET.encode() not in (tmp_path / name).read_bytes().lower()


def test_it_is_all_there_when_asked_for(cli: Cli, both: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = ["--include-private", "--store", both]
    assert cli("show", PRIVATE_ID, "-o", "json", *asked).json()["visibility"] == "private"
    assert "[private]" in cli("list", *asked).out
    assert PRIVATE_ID in cli("search", "zone emptied because of a push coredns", *asked).out
    assert PRIVATE_ID in cli("search", SECRET, *asked).out
    assert cli("related", PRIVATE_ID, *asked).code == 0
    assert cli("stats", "-o", "json", *asked).json()["records"] == 4
    assert PRIVATE_ID in cli("export", *asked).out
    assert cli("verify", "-o", "json", *asked).json()["records"] == 5
    twin = cli("import", "twin.json", "--dry-run", "-o", "json", *asked).json()
    assert twin["alike"][0]["other"] == PRIVATE_ID
    monkeypatch.setenv("PILOTAGE_LIBRARY__INCLUDE_PRIVATE", "true")
    assert cli("list", "-o", "json", "--store", both).json()["total"] == 4
