"""Wrong use, wrong input, wrong store: one clear error, the right exit code, nothing on standard output."""

from __future__ import annotations

import json
import os
import sqlite3
from pathlib import Path

import pytest

from pilotage.cli.main import EXIT_OUTSIDE, EXIT_SAFETY, EXIT_USAGE, exit_code
from pilotage.core.errors import DrillError, NotFound, Refused, SafetyStop, StoreBusy, Unreachable

from .conftest import DNS, Cli, call

WRONG: dict[str, tuple[list[str], str]] = {
    "command": (["serch", "x"], "'search'"),
    "option": (["search", "x", "--limt", "3"], "'--limit'"),
    "limit": (["search", "x", "--limit", "0"], "--limit"),
    "output": (["search", "x", "--output", "xml"], "json"),
    "language": (["search", "x", "--lang", "fr"], "takes en, ko"),
    "facet": (["list", "componnent=coredns"], "'component'"),
    "slug": (["list", "component=cordns"], "coredns"),
    "no facet": (["list", "coredns"], "facet=value"),
    "search facet": (["search", "x", "-f", "sympton=oom-killed"], "'symptom'"),
    "topic of nothing": (["topic"], "at least one term"),
    "list facet option": (["list", "-f", "componnent=coredns"], "'component'"),
    "topic slug": (["topic", "component=cordns"], "coredns"),
    "stats facet": (["stats", "--by", "root_cause", "compnent"], "component"),
    "vocabulary kind": (["vocab", "componets"], "components"),
    "vocabulary term": (["vocab", "components", "cordns"], "coredns"),
    "id": (["show", "acme-2021-03-01-coredns-ooom"], DNS["id"]),
    "related id": (["related", "nothing-like-it"], "no record"),
    "history id": (["history", "nothing-like-it"], "no record"),
    "export id": (["export", DNS["id"], "nothing-like-it"], "no record"),
    "export format": (["export", "--format", "jsnl"], "jsonl"),
    "export ids and facet": (["export", DNS["id"], "-f", "year=2021"], "not both"),
    "import format": (["import", "x.json", "--format", "statuspge"], "statuspage"),
    "import nothing": (["import"], "--bundled"),
    "import both": (["import", "x.json", "--bundled"], "one of the two"),
    "redact without private": (["import", "x.json", "--redact", "Falcon"], "--private"),
    "import missing": (["import", "nowhere.json"], "nowhere.json"),
    "validate nothing": (["validate"], "--bundled"),
    "validate missing": (["validate", "nowhere.yaml"], "nowhere.yaml"),
    "new id": (["new", "no good id"], "no-good-id"),
    "new folder": (["new", "acme-1-a", "--to", "nowhere/a.yaml"], "cannot write"),
    "cursor": (["list", "--cursor", "page2"], "no cursor"),
    "evaluate missing": (["evaluate", "nowhere.jsonl"], "nowhere.jsonl"),
}


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize("name", WRONG)
def test_wrong_use_is_one_clear_error(cli: Cli, name: str) -> None:
    arguments, said = WRONG[name]
    done = cli(*arguments)
    assert done.code == EXIT_USAGE, done.err
    assert done.raw == b""
    assert done.err.startswith("pilotage: ")
    assert said in done.err
    assert "Traceback" not in done.err


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize("name", WRONG)
def test_wrong_use_in_json(cli: Cli, name: str) -> None:
    if name == "output":
        return
    done = cli(*WRONG[name][0], "-o", "json")
    assert done.code == EXIT_USAGE
    assert done.raw == b""
    error = done.error()
    assert error.keys() == {"code", "message", "hint"}
    assert len(done.err.splitlines()) == 1


@pytest.mark.parametrize("form", [["--output=json"], ["--output", "json"], ["-o", "json"], ["-ojson"]])
def test_every_form_of_the_option_makes_errors_json(cli: Cli, form: list[str]) -> None:
    assert cli("show", "x", *form).error()["code"] == "not-found"


READERS = [
    ["search", "x"], ["show", "x"], ["list"], ["related", "x"], ["topic", "year=2020"], ["stats"], ["export"],
    ["verify"], ["history", "x"], ["vocab", "components"], ["evaluate", "q.jsonl"],
]  # fmt: skip


@pytest.mark.parametrize("arguments", READERS, ids=lambda value: value[0])
def test_a_missing_store_is_told_and_not_made(cli: Cli, tmp_path: Path, arguments: list[str]) -> None:
    (tmp_path / "q.jsonl").write_text('{"query": "x", "lang": "en", "relevant": {}}\n', encoding="utf-8")
    done = cli(*arguments, "--store", "nowhere.db")
    assert done.code == EXIT_USAGE
    assert "there is no store" in done.err
    assert "library import" in done.err
    assert not (tmp_path / "nowhere.db").exists()


def test_a_file_that_is_no_store(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "text.db").write_text("no store at all " * 100, encoding="utf-8")
    done = cli("list", "--store", "text.db", "-o", "json")
    assert done.code == EXIT_OUTSIDE
    assert done.error()["code"] == "store-corrupt"


def test_a_store_of_a_newer_version(cli: Cli, store: str) -> None:
    db = sqlite3.connect(store)
    with db:
        assert db.execute("UPDATE meta SET value = '999' WHERE key = 'schema_version'").rowcount == 1
    db.close()
    done = cli("list", "-o", "json")
    assert (done.code, done.error()["code"]) == (EXIT_OUTSIDE, "store-too-new")


def test_verify_finds_what_is_wrong(cli: Cli, store: str) -> None:
    db = sqlite3.connect(store)
    with db:
        assert db.execute("DELETE FROM tag").rowcount > 0
    db.close()
    done = cli("verify", "-o", "json")
    assert done.code == 1
    assert done.json()["problems"]
    assert "problem" in cli("verify").out


def test_addresses_of_stores(cli: Cli) -> None:
    unknown = cli("list", "--store", "mysql://localhost/x", "-o", "json")
    assert (unknown.code, unknown.error()["code"]) == (EXIT_USAGE, "config-error")
    away = cli("list", "--store", "postgresql://nobody@127.0.0.1:1/none?connect_timeout=2", "-o", "json")
    assert away.code == EXIT_OUTSIDE
    assert away.error()["code"] == "unreachable"


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("cut.json", b'[{"id": "a-1"}, {"id": '),
        ("twice.json", b'[{"id": "a-1"}, {"id": "a-1", "org": "B"}]'),
        ("key.json", b'{"id": "a-1", "id": "a-2"}'),
        ("utf8.json", b'{"id": "a-1", "org": "\xff"}'),
        ("tab.yaml", b"id: a-1\n\torg: x\n"),
        ("type.json", b'{"id": 7}'),
        ("date.json", b'{"id": "a-1", "date": "2024-02-30"}'),
        ("zip.zip", b"PK\x03\x04 cut"),
        ("empty.json", b""),
        ("what.bin", b"\x00\x01\x02"),
    ],
)
def test_bad_files_change_nothing(cli: Cli, tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    before = cli("list", "-o", "json").json()
    done = cli("import", name, "-o", "json")
    assert done.code == EXIT_USAGE
    assert done.error()["code"] == "invalid-input"
    assert name in done.error()["message"]
    assert cli("list", "-o", "json").json() == before


@pytest.mark.parametrize("options", [[], ["--private"], ["--dry-run"]], ids=["plain", "private", "dry"])
@pytest.mark.parametrize(
    "content",
    [
        '{"id": ',
        '{"id": "a-1", "title": "x"}',
        '[{"id": "a-1"}, {"id": "a-2", "date": "2024-02-30"}]',
        '[{"id": "a-1"}, {"id": "a-2", "aliases": ["a-1"]}]',
    ],
    ids=["broken", "first wrong", "later wrong", "later clash"],
)
def test_a_failed_import_leaves_neither_store_nor_folder(
    cli: Cli, tmp_path: Path, content: str, options: list[str]
) -> None:
    (tmp_path / "bad.json").write_text(content, encoding="utf-8")
    assert cli("import", "bad.json", "--store", "new/new.db", *options).code == EXIT_USAGE
    assert [path.name for path in tmp_path.iterdir()] == ["bad.json"]


def test_help_and_no_arguments() -> None:
    assert call("--help").code == 0
    assert call("library", "search", "-h").out.startswith("Usage: pilotage library search")
    bare = call()
    assert bare.code == EXIT_USAGE
    assert bare.raw == b""
    assert "Usage: pilotage" in bare.err
    assert call("--version").out.startswith("pilotage ")


def test_unknown_variables_and_keys_are_refused(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PILOTAGE_STROE__URL", "x.db")
    done = cli("list", "-o", "json")
    assert (done.code, done.error()["code"]) == (EXIT_USAGE, "config-error")
    assert "STORE" in done.error()["hint"]
    monkeypatch.delenv("PILOTAGE_STROE__URL")
    (tmp_path / "pilotage.toml").write_text("[store]\nulr = 'x.db'\n", encoding="utf-8")
    done = cli("list", "-o", "json")
    assert done.error()["code"] == "config-error"
    assert "'url'" in done.error()["hint"]
    (tmp_path / "pilotage.toml").write_text("[store\n", encoding="utf-8")
    assert cli("list", "-o", "json").error()["code"] == "config-error"


def test_settings_in_their_order(
    cli: Cli, store: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "pilotage.toml").write_text("lang = 'ko'\n", encoding="utf-8")
    assert "3건" in cli("list", "--store", store).out
    monkeypatch.setenv("PILOTAGE_LANG", "en")
    assert "3 of 3" in cli("list", "--store", store).out
    assert "3건" in cli("list", "--store", store, "--lang", "ko").out
    monkeypatch.setenv("PILOTAGE_STORE__URL", "nowhere.db")
    assert cli("list", "--store", store).code == 0


def test_the_mapping_of_errors_to_exit_codes() -> None:
    assert exit_code(NotFound("x")) == exit_code(DrillError("x")) == EXIT_USAGE
    assert exit_code(Unreachable("x")) == exit_code(Refused("x")) == exit_code(StoreBusy("x")) == EXIT_OUTSIDE
    assert exit_code(SafetyStop("x")) == EXIT_SAFETY


def test_a_busy_store_says_so(cli: Cli, store: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PILOTAGE_STORE__BUSY_SECONDS", "0.2")
    (tmp_path / "one.json").write_text('{"id": "one-1"}', encoding="utf-8")
    holder = sqlite3.connect(store, isolation_level=None)
    try:
        holder.execute("BEGIN IMMEDIATE")
        done = cli("import", "one.json", "-o", "json")
    finally:
        holder.close()
    assert done.code == EXIT_OUTSIDE
    assert done.error()["code"] == "store-busy"


def test_a_fault_of_ours_ends_in_one_message(cli: Cli, store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError("made for this test")

    monkeypatch.setattr("pilotage.cli.library.records.read_record", fail)
    done = cli("list", "--store", store)
    assert done.code == EXIT_OUTSIDE
    assert done.raw == b""
    assert "please report it" in done.err


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_current_folder_that_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    (tmp_path / "here").rmdir()
    done = call("check", "list")
    assert done.code == EXIT_OUTSIDE
    assert done.err.startswith("pilotage: the folder in which this runs is no longer there [outside-error]")


def test_a_folder_without_permission(cli: Cli, tmp_path: Path) -> None:
    locked = tmp_path / "locked"
    locked.mkdir(mode=0)
    try:
        assert cli("import", "locked").code == EXIT_USAGE
        assert cli("validate", "locked").code == EXIT_USAGE
    finally:
        locked.chmod(0o700)


def test_unknown_slugs_are_told_and_kept(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "one.json").write_text(
        json.dumps({"id": "one-1", "components": ["cordns"]}), encoding="utf-8"
    )
    told = cli("import", "one.json").out
    assert (
        "unknown slug components: cordns; kept, but no term of the vocabulary (nearest known: coredns)"
        in told
    )
    again = cli("import", "one.json", "--dry-run", "-o", "json").json()
    assert again["unknown_slugs"] == [
        {"slug": "components: cordns", "times": 1, "why": "nearest known: coredns"}
    ]
    assert cli("show", "one-1", "-o", "json").json()["components"] == ["cordns"]


@pytest.mark.parametrize("options", [[], ["--dry-run"]], ids=["real", "dry"])
def test_unknown_slugs_are_refused_when_asked(cli: Cli, tmp_path: Path, options: list[str]) -> None:
    records = [
        {"id": "one-1", "components": ["coredns"]},
        {"id": "one-2", "components": ["coredns", "cordns"]},
    ]
    (tmp_path / "two.json").write_text(json.dumps(records), encoding="utf-8")
    done = cli("import", "two.json", "--strict", "--store", "new.db", "-o", "json", *options)
    assert (done.code, done.error()["code"]) == (EXIT_USAGE, "unknown-term")
    assert "components.1: unknown slug 'cordns' (nearest known: coredns)" in done.error()["message"]
    assert not (tmp_path / "new.db").exists()


def test_a_term_of_another_kind_is_found_there(cli: Cli) -> None:
    done = cli("vocab", "components", "k8s")
    assert done.code == EXIT_USAGE
    assert "It is a term of domains: `pilotage library vocab domains k8s`." in done.err
    several = cli("vocab", "components", "Configuration change")
    assert "`pilotage library vocab root-causes 'configuration change'`" in several.err
