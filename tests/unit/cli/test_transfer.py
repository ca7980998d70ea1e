"""Import and export, as scripts use them."""

from __future__ import annotations

import errno
import json
import os
import sqlite3
import zipfile
from collections.abc import Iterable
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

import pytest

from pilotage.cli.main import EXIT_USAGE
from pilotage.library.exporters.incident_json import IncidentJson
from pilotage.library.stores.protocol import Stored

from .conftest import DNS, PUBLIC, UNEVEN, Cli


@pytest.fixture(autouse=True)
def files(tmp_path: Path) -> None:
    (tmp_path / "public.json").write_text(json.dumps(PUBLIC), encoding="utf-8")


def test_a_dry_run_makes_no_store(cli: Cli, tmp_path: Path) -> None:
    before = sorted(tmp_path.iterdir())
    answer = cli("import", "public.json", "--dry-run", "-o", "json").json()
    assert answer["dry_run"]
    assert answer["new"] == len(PUBLIC)
    assert [item["outcome"] for item in answer["items"]] == ["new"] * len(PUBLIC)
    assert sorted(tmp_path.iterdir()) == before
    assert "nothing was changed" in cli("import", "public.json", "--dry-run").out
    assert sorted(tmp_path.iterdir()) == before


def test_files_without_a_record_make_no_store(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "none.json").write_text("[]", encoding="utf-8")
    before = sorted(tmp_path.iterdir())
    answer = cli("import", "none.json", "-o", "json").json()
    assert (answer["total"], answer["dry_run"]) == (0, False)
    assert sorted(tmp_path.iterdir()) == before


def test_a_dry_run_changes_no_store(cli: Cli, store: str, tmp_path: Path) -> None:
    changed = [DNS | {"severity": "critical"}, {"id": "one-1"}]
    (tmp_path / "more.json").write_text(json.dumps(changed), encoding="utf-8")
    before = cli("export").raw
    answer = cli("import", "more.json", "--dry-run", "-o", "json", "--store", store).json()
    assert (answer["new"], answer["changed"]) == (1, 1)
    assert cli("export").raw == before


def test_a_dry_run_of_what_is_not_there_says_so(cli: Cli, store: str) -> None:
    done = cli("import", "nowhere.json", "--dry-run", "-o", "json", "--store", store)
    assert (done.code, done.error()["code"]) == (EXIT_USAGE, "not-found")
    assert "nowhere.json" in done.error()["message"]


def test_a_record_without_words_in_its_title_is_shown_by_its_id(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "bare.json").write_text('{"id": "bare-1", "title": {"en": null}}', encoding="utf-8")
    cli("import", "bare.json")
    assert cli("show", "bare-1").out.splitlines()[0] == "bare-1"
    assert "bare-1" in cli("search", "").out.splitlines()[0]


def test_importing_again_changes_nothing(cli: Cli) -> None:
    assert cli("import", "public.json").out.startswith("imported 4: 4 new")
    again = cli("import", "public.json", "-o", "json").json()
    assert (again["new"], again["changed"], again["unchanged"]) == (0, 0, 4)
    assert len(cli("history", DNS["id"], "-o", "json").json()["revisions"]) == 1


def test_alike_records_are_reported_and_kept(cli: Cli, store: str, tmp_path: Path) -> None:
    twin = DNS | {"id": "acme-2021-03-01-twin", "aliases": [], "related": [], "related_reasons": {}}
    (tmp_path / "twin.json").write_text(json.dumps(twin), encoding="utf-8")
    answer = cli("import", "twin.json", "-o", "json", "--store", store).json()
    assert {"id": twin["id"], "other": DNS["id"], "why": "same source"} in answer["alike"]
    assert cli("show", twin["id"], "-o", "json").json() == twin


def test_an_alias_in_use_is_a_conflict(cli: Cli, store: str, tmp_path: Path) -> None:
    (tmp_path / "other.json").write_text('{"id": "old-coredns"}', encoding="utf-8")
    done = cli("import", "other.json", "-o", "json", "--store", store)
    assert (done.code, done.error()["code"]) == (2, "conflict")


def test_private_import_redacts_and_previews(cli: Cli, tmp_path: Path) -> None:
    document = {"id": "ours-1", "summary": {"en": "Falcon mailed jo@example.com from 10.1.2.3."}}
    (tmp_path / "ours.json").write_text(json.dumps(document), encoding="utf-8")
    options = ["import", "ours.json", "--private", "--redact", "Falcon"]
    preview = cli(*options, "--dry-run", "-o", "json").json()
    assert preview["redacted"] == 3
    assert len(preview["items"][0]["redactions"]) == 3
    assert cli(*options).out.startswith("imported 1: 1 new")
    assert cli("show", "ours-1").code == 2
    shown = cli("show", "ours-1", "--include-private", "-o", "json").out
    assert not [word for word in ("Falcon", "jo@example.com", "10.1.2.3") if word in shown]


@pytest.mark.usefixtures("store")
def test_export_names_records_and_facets(cli: Cli) -> None:
    assert [one["id"] for one in cli("export", "old-coredns", UNEVEN["id"]).json()] == [
        DNS["id"],
        UNEVEN["id"],
    ]
    assert [one["id"] for one in cli("export", "-f", "component=coredns").json()] == [DNS["id"]]
    lines = cli("export", "--format", "jsonl").out.splitlines()
    assert sorted(json.loads(line)["id"] for line in lines) == sorted(one["id"] for one in PUBLIC)


@pytest.mark.usefixtures("store")
def test_every_format_is_what_it_says(cli: Cli, tmp_path: Path) -> None:
    assert cli("export", "--format", "csv").out.lstrip("\ufeff").startswith("id,")
    with zipfile.ZipFile(BytesIO(cli("export", "--format", "zip").raw)) as archive:
        assert f"records/{DNS['id']}.json" in archive.namelist()
    done = cli("export", "--format", "sqlite", "--to", "out.db", "-o", "json")
    assert done.json() == {"format": "sqlite", "file": "out.db", "records": 4}
    with sqlite3.connect(tmp_path / "out.db") as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    db.close()


@pytest.mark.usefixtures("store")
def test_a_failed_export_keeps_the_older_file(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "out.json"
    target.write_text("older", encoding="utf-8")

    def full(_self: IncidentJson, _records: Iterable[Stored], out: BinaryIO) -> int:
        out.write(b"[half")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(IncidentJson, "write", full)
    done = cli("export", "--to", "out.json", "-o", "json")
    assert done.code == 3
    assert done.error()["code"] == "store-full"
    assert target.read_text("utf-8") == "older"
    assert not list(tmp_path.glob(".out.json*"))


def test_a_skeleton_that_finds_no_room_leaves_no_file(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Path.open

    def full(path: Path, mode: str = "r", **options: Any) -> Any:
        file = real(path, mode, **options)
        if path.name == "acme.yaml":
            file.close()
            file = os.fdopen(os.open("/dev/full", os.O_WRONLY), "w", encoding="utf-8")
        return file

    monkeypatch.setattr(Path, "open", full)
    done = cli("new", "acme", "-o", "json")
    assert done.code == 2
    assert "No space left" in done.error()["message"]
    assert "Make room" in done.error()["hint"]
    assert not (tmp_path / "acme.yaml").exists()


@pytest.mark.usefixtures("store")
def test_export_to_a_folder_that_is_not_there(cli: Cli, tmp_path: Path) -> None:
    done = cli("export", "--to", "nowhere/out.json")
    assert done.code == 2
    assert "cannot write" in done.err
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.usefixtures("store")
@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_export_to_a_folder_without_permission(cli: Cli, tmp_path: Path) -> None:
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o500)
    done = cli("export", "--to", "locked/out.json")
    assert done.code == 2
    assert "cannot write" in done.err


@pytest.mark.usefixtures("store")
@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs a folder in which nobody may write")
def test_export_to_a_folder_in_which_nobody_may_write(cli: Cli) -> None:
    done = cli("export", "--to", "/proc/out.json", "-o", "json")
    assert (done.code, done.error()["code"]) == (2, "user-error")
    assert "cannot write" in done.error()["message"]


@pytest.mark.usefixtures("store")
def test_a_wrong_id_leaves_no_half_export(cli: Cli, tmp_path: Path) -> None:
    assert cli("export", DNS["id"], "nothing", "--to", "out.json").code == 2
    assert not (tmp_path / "out.json").exists()
    assert cli("export", DNS["id"], "nothing").raw == b""


def test_bundled_records_come_in(cli: Cli) -> None:
    answer = cli("import", "--bundled", "--dry-run", "-o", "json").json()
    assert answer["total"] >= 15
    assert answer["unknown_slugs"] == []


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize("unpacked", [False, True])
def test_our_own_zip_comes_back_the_same_and_nothing_else_is_said(
    cli: Cli, tmp_path: Path, *, unpacked: bool
) -> None:
    cli("export", "--format", "zip", "--to", "all.zip")
    place = "all.zip"
    if unpacked:
        place = "all"
        with zipfile.ZipFile(tmp_path / "all.zip") as archive:
            archive.extractall(tmp_path / place)
    before = cli("export").json()
    said = cli("import", place, "--store", "again.db").out.splitlines()
    assert said[0] == "imported 4: 4 new, 0 changed, 0 unchanged"
    assert not [line for line in said if "skipped" in line or "maybe the same" in line]
    assert cli("export", "--store", "again.db").json() == before


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize("name", ["incident-json", "jsonl", "zip"])
def test_what_export_calls_a_format_import_calls_so_too(cli: Cli, name: str) -> None:
    cli("export", "--format", name, "--to", "all")
    answer = cli("import", "all", "--format", name, "--store", "again.db", "-o", "json").json()
    assert answer["new"] == len(PUBLIC)


@pytest.mark.usefixtures("store")
def test_a_dash_is_standard_output(cli: Cli, tmp_path: Path) -> None:
    assert cli("export", "--to", "-").raw == cli("export").raw
    assert not (tmp_path / "-").exists()


def test_companions_belong_to_our_own_zip_alone(cli: Cli, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
        archive.writestr("one.json", '{"id": "one-1", "org": "One"}')
        archive.writestr("schema.json", "{}")
    answer = cli("import", "other.zip", "--dry-run", "-o", "json").json()
    assert [one["file"] for one in answer["skipped_files"]] == ["other.zip!schema.json"]
