"""Every format, opened by a reader that we did not write."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import sqlite3
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from pilotage.core.errors import InvalidInput, UnknownTerm
from pilotage.library.analysis import tokens
from pilotage.library.exporters.flat import COLUMNS
from pilotage.library.exporters.table import EXPORTERS, exporter_named, write_file
from pilotage.library.stores.protocol import Stored

DOCUMENTS: list[dict[str, Any]] = [
    {
        "id": "a-1",
        "org": "Google Cloud",
        "org_slug": "google-cloud",
        "date": "2017-04-05",
        "date_kind": "incident",
        "title": {"en": 'Stale config, "quoted"\nand cut', "ko": "오래된 설정, 인그레스 컨트롤러"},
        "summary": {
            "en": "The ingress controller served stale routes.",
            "ko": "인그레스가 낡은 경로를 썼다.",
        },
        "components": ["ingress", "haproxy"],
        "symptoms": ["high-latency"],
        "root_cause": "software-bug",
        "severity": "unknown",
        "impact": {"scope": "unknown", "users": "all; of them", "region": "🌏"},
        "timeline": {"detected_after": "9m", "resolved_after": None},
        "sources": [
            {"url": "https://example.org/1", "kind": "blog", "title": "Post"},
            {
                "url": "https://example.org/2",
                "kind": "official-status",
                "archived": "https://archive.example/2",
            },
        ],
        "related": ["b-2"],
        "extra": {"big": 12345678901234567890123, "tiny": 5e-324, "list": [None, True, {"x": []}]},
    },
    {"id": "b-2", "title": {"en": "Expired certificate", "ko": None}},
    {"id": "c-3"},
]


def stored(document: dict[str, Any]) -> Stored:
    return Stored(document["id"], document, 1, "0" * 64, "2026-01-01T00:00:00+00:00", private=False)


def written(name: str, documents: list[dict[str, Any]] = DOCUMENTS) -> bytes:
    out = io.BytesIO()
    assert exporter_named(name).write(map(stored, documents), out) == len(documents)
    return out.getvalue()


def test_incident_json_is_one_list() -> None:
    assert json.loads(written("incident-json")) == DOCUMENTS
    assert json.loads(written("incident-json", [])) == []


def test_json_lines_are_one_object_a_line() -> None:
    lines = written("jsonl").decode().split("\n")
    assert [json.loads(line) for line in lines[:-1]] == DOCUMENTS
    assert lines[-1] == ""
    assert written("jsonl", []) == b""


def test_a_line_separator_within_a_text_does_not_divide_a_line() -> None:
    document = {"id": "a", "title": {"en": "one\u2028two\x85three\x0bfour\r\nfive"}}
    assert [json.loads(line) for line in written("jsonl", [document]).split(b"\n")[:-1]] == [document]


def rows(data: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline="")))


def test_csv_is_one_row_a_record() -> None:
    data = written("csv")
    assert data.startswith("\ufeff".encode())
    first, second, third = rows(data)
    assert tuple(first) == COLUMNS
    assert first["title_en"] == DOCUMENTS[0]["title"]["en"]
    assert first["title_ko"] == DOCUMENTS[0]["title"]["ko"]
    assert first["components"] == "ingress; haproxy"
    assert (first["source"], first["sources"]) == (
        "https://example.org/1",
        "https://example.org/1; https://example.org/2",
    )
    assert (first["detected_after"], first["resolved_after"], first["region"]) == ("9m", "", "🌏")
    assert (second["title_en"], second["title_ko"]) == ("Expired certificate", "")
    assert {key for key, value in third.items() if value} <= {"id", "status", "severity"}
    assert rows(written("csv", [])) == []


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠"])
def test_a_spreadsheet_runs_nothing(start: str) -> None:
    wicked = f'{start}HYPERLINK("https://evil.example","click")'
    document = {
        "id": "a",
        "org": wicked,
        "title": {"en": wicked, "ko": wicked},
        "impact": {"users": wicked},
        "components": [wicked],
        "related": ["b"],
    }
    (row,) = rows(written("csv", [document]))
    for column in ("organisation", "title_en", "title_ko", "users", "components"):
        assert row[column] == f"'{wicked}", column


def test_csv_leaves_the_stream_open_when_a_record_is_broken() -> None:
    out = io.BytesIO()
    with pytest.raises(InvalidInput):
        exporter_named("csv").write(map(stored, [{"id": "a", "title": 3}]), out)
    assert not out.closed


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "incidents.db"
    path.write_bytes(written("sqlite"))
    return path


def test_sqlite_opens_in_sqlite(database: Path) -> None:
    db = sqlite3.connect(database)
    try:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert db.execute("PRAGMA foreign_key_check").fetchall() == []
        documents = [json.loads(row[0]) for row in db.execute("SELECT document FROM incidents ORDER BY id")]
        assert documents == DOCUMENTS
        assert set(db.execute("SELECT facet, slug FROM incident_terms WHERE incident = 'a-1'")) >= {
            ("organisation", "google-cloud"),
            ("component", "haproxy"),
            ("year", "2017"),
        }
        assert db.execute("SELECT position, url, archived FROM sources ORDER BY 1").fetchall() == [
            (1, "https://example.org/1", None),
            (2, "https://example.org/2", "https://archive.example/2"),
        ]
        assert db.execute("SELECT label_ko FROM vocabulary WHERE slug = 'ingress'").fetchone() == (
            "인그레스 컨트롤러",
        )
    finally:
        db.close()


def search_in_datasette(path: Path, text: str) -> list[str]:
    datasette = pytest.importorskip("datasette.app")

    async def ask() -> list[str]:
        served = datasette.Datasette([str(path)], settings={"num_sql_threads": 1})
        try:
            answer = await served.client.get(
                "/incidents/incidents.json", params={"_search": text, "_shape": "array"}
            )
            assert answer.status_code == 200, answer.text
            return [row["id"] for row in answer.json()]
        finally:
            for database in served.databases.values():
                database.close()

    return asyncio.run(ask())


@pytest.mark.slow
@pytest.mark.filterwarnings("default::DeprecationWarning", "default::ResourceWarning")
def test_datasette_finds_words_and_korean(database: Path) -> None:
    assert search_in_datasette(database, "certificate") == ["b-2"]
    assert search_in_datasette(database, '"컨트롤러"') == ["a-1"]
    assert search_in_datasette(database, " ".join(tokens("인그레스"))) == ["a-1"]


def test_a_zip_opens_in_zipfile() -> None:
    with zipfile.ZipFile(io.BytesIO(written("zip"))) as archive:
        assert archive.testzip() is None
        names = archive.namelist()
        records = [name for name in names if name.startswith("records/")]
        assert [json.loads(archive.read(name)) for name in records] == DOCUMENTS
        schema = json.loads(archive.read("schema.json"))
        jsonschema.Draft202012Validator.check_schema(schema)
        for name in records:
            jsonschema.validate(json.loads(archive.read(name)), schema)
        assert json.loads(archive.read("about.json"))["records"] == 3
        terms = yaml.safe_load(archive.read("vocabulary/components.yaml"))["terms"]
        assert "ingress" in {term["slug"] for term in terms}
        assert b"Pilotage" in archive.read("README.txt")
        assert len(set(names)) == len(names)


@pytest.mark.parametrize("name", [exporter.name for exporter in EXPORTERS])
def test_the_same_records_give_the_same_bytes(name: str) -> None:
    assert written(name) == written(name)


@pytest.mark.parametrize("exporter", EXPORTERS, ids=lambda exporter: exporter.name)
def test_records_are_taken_one_at_a_time(exporter: Any) -> None:
    alive = 0
    most = 0

    class Counted(dict[str, Any]):
        def __del__(self) -> None:
            nonlocal alive
            alive -= 1

    def many() -> Iterator[Stored]:
        nonlocal alive, most
        for number in range(300):
            alive += 1
            most = max(most, alive)
            yield stored(Counted(id=f"r-{number}"))

    assert exporter.write(many(), io.BytesIO()) == 300
    assert most <= 3


def test_other_names_and_unknown_ones() -> None:
    assert exporter_named("json").name == "incident-json"
    assert exporter_named("ndjson").name == "jsonl"
    assert exporter_named("db").name == "sqlite"
    with pytest.raises(UnknownTerm) as caught:
        exporter_named("cvs")
    assert "'csv'" in caught.value.hint


def test_write_file_says_how_many(tmp_path: Path) -> None:
    assert write_file(exporter_named("jsonl"), map(stored, DOCUMENTS), tmp_path / "out.jsonl") == 3
    assert len((tmp_path / "out.jsonl").read_bytes().splitlines()) == 3
