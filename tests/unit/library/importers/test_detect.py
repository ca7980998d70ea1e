from __future__ import annotations

import io
import json
import os
import zipfile
from pathlib import Path

import pytest

from pilotage.core.errors import InvalidInput, NotFound, StoreFull, UnknownTerm
from pilotage.library.importers.detect import IMPORTERS, importer_named, open_candidates

RECORD = {"id": "IL-0001", "org": "Example", "title": {"en": "x", "ko": "엑스"}}


def read(*paths, **options):
    return list(open_candidates(paths, **options))


def zipped(path, files: dict[str, bytes]):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path


def test_names_are_distinct_and_titled():
    assert len({importer.name for importer in IMPORTERS}) == len(IMPORTERS)
    assert all(importer.title for importer in IMPORTERS)


def test_an_unknown_format_names_the_nearest():
    with pytest.raises(UnknownTerm) as caught:
        read("-", format="statuspge")
    assert "statuspage" in caught.value.hint
    assert importer_named("markdown").name == "markdown"


def test_standard_input_is_read_and_reported():
    seen = []
    data = json.dumps([RECORD]).encode()
    (found,) = read("-", stdin=io.BytesIO(data), progress=seen.append)
    assert found.document == RECORD
    assert found.format == "incident-json"
    assert sum(seen) == len(data)


def test_content_decides_before_the_name(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text(json.dumps(RECORD))
    assert read(path)[0].format == "incident-json"
    path.write_text("id: a\norg: Example\n")
    assert read(path)[0].format == "pilotage-yaml"


def test_a_broken_file_gets_the_error_of_its_format(tmp_path):
    path = tmp_path / "r.yaml"
    path.write_text("title: x\n")
    with pytest.raises(InvalidInput, match="the record has no id"):
        read(path)
    path = tmp_path / "r.json"
    path.write_text("[1]")
    with pytest.raises(InvalidInput, match="must be an object, found a number"):
        read(path)
    path.write_text('{"id": 5}')
    with pytest.raises(InvalidInput, match="has no id"):
        read(path)


def test_a_folder_is_read_file_by_file_and_the_rest_is_reported(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "b.json").write_text(json.dumps(RECORD))
    (tmp_path / "a.yaml").write_text("id: a\norg: Example\n")
    (tmp_path / "README.md").write_text("# A project\n\nIt is good.\n")
    (tmp_path / "empty.json").touch()
    (tmp_path / ".hidden.json").write_text(json.dumps(RECORD))
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "up").symlink_to(tmp_path.parent)
    (tmp_path / "outside").symlink_to("/etc/hostname")
    skipped = {}
    found = read(tmp_path, on_skip=lambda place, why: skipped.setdefault(Path(place).name, why))
    assert [c.document["id"] for c in found] == ["a", "IL-0001"]
    assert set(skipped) == {"README.md", "empty.json", "pipe", "loop", "up", "outside"}


def test_a_mounted_config_map_is_read_through_its_links(tmp_path):
    real = tmp_path / "..2026"
    real.mkdir()
    (real / "a.json").write_text(json.dumps(RECORD))
    (tmp_path / "a.json").symlink_to(real / "a.json")
    assert len(read(tmp_path)) == 1


def test_a_folder_without_anything_to_read_is_an_error(tmp_path):
    (tmp_path / "a.txt").write_text("hello")
    with pytest.raises(InvalidInput, match="no incident in it could be read"):
        read(tmp_path)


def test_paths_disappoint_with_one_clear_error_each(tmp_path):
    with pytest.raises(NotFound, match="no such file"):
        read(tmp_path / "missing.json")
    (tmp_path / "dangling").symlink_to(tmp_path / "gone")
    with pytest.raises(NotFound, match="leads nowhere"):
        read(tmp_path / "dangling")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(InvalidInput, match="leads back to itself"):
        read(tmp_path / "loop")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InvalidInput, match="a pipe, socket or device"):
        read(tmp_path / "pipe")
    with pytest.raises(InvalidInput, match="a pipe, socket or device"):
        read("/dev/null")
    with pytest.raises(NotFound):
        read("a\0b")
    with pytest.raises(NotFound):
        read("x" * 5000)
    for nothing in (b"", b" \n", b"\xef\xbb\xbf\r\n"):
        (tmp_path / "empty.json").write_bytes(nothing)
        with pytest.raises(InvalidInput, match="is empty"):
            read(tmp_path / "empty.json")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_permissions_are_named(tmp_path):
    locked = tmp_path / "locked"
    locked.mkdir()
    (tmp_path / "file.json").touch(mode=0)
    locked.chmod(0)
    try:
        with pytest.raises(InvalidInput, match="you may not read it"):
            read(locked)
        with pytest.raises(InvalidInput, match="you may not read it"):
            read(tmp_path / "file.json")
    finally:
        locked.chmod(0o700)


def test_the_systems_errors_become_ours(tmp_path):
    from pilotage.library.importers.files import path_error

    for number, word in (
        (13, "you may not read it"),
        (5, "cannot be read"),
        (40, "back to itself"),
        (36, "no such"),
    ):
        assert word in path_error(tmp_path, OSError(number, os.strerror(number))).message


def test_a_zip_is_read_file_by_file_with_its_schema_left_out(tmp_path):
    path = zipped(
        tmp_path / "x.zip",
        {
            "incidents.jsonl": json.dumps(RECORD).encode(),
            "schema.json": b'{"$id": "x", "title": "Incident", "type": "object"}',
            "vocabulary/domains.yaml": b"- slug: dns\n  en: DNS\n",
            "inner.zip": b"PK\x03\x04xxxx",
            "__MACOSX/._a.json": b"x",
        },
    )
    skipped = []
    (found,) = read(path, on_skip=lambda place, why: skipped.append((place.split("!")[1], why)))
    assert found.document == RECORD
    assert [name for name, _ in skipped] == ["schema.json", "vocabulary/domains.yaml", "inner.zip"]
    with path.open("rb") as file:
        assert len(read("-", stdin=file)) == 1


def test_no_room_for_a_copy_of_a_zip_is_one_error(tmp_path, monkeypatch):
    path = zipped(tmp_path / "x.zip", {"good.json": json.dumps(RECORD).encode()})
    monkeypatch.setattr("pilotage.library.importers.archive._SPOOL_IN_MEMORY", 1)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "gone"))
    with pytest.raises(StoreFull, match="x.zip: no temporary copy") as caught:
        read(path)
    assert "TMPDIR" in caught.value.hint


@pytest.mark.parametrize("name", ["../a.json", "/a.json", "a/../../b.json", "C:\\a.json", "..\\a.json"])
def test_names_that_lead_out_of_a_zip_are_refused(tmp_path, name):
    path = zipped(tmp_path / "x.zip", {"good.json": json.dumps(RECORD).encode(), name: b"{}"})
    with pytest.raises(InvalidInput, match="leads out of the archive"):
        read(path)


def test_links_in_a_zip_are_refused(tmp_path):
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w") as archive:
        info = zipfile.ZipInfo("a.json")
        info.external_attr = 0o120777 << 16
        archive.writestr(info, "/etc/passwd")
    with pytest.raises(InvalidInput, match="a link"):
        read(path)


def test_zip_bombs_are_refused_before_they_unpack(tmp_path, monkeypatch):
    path = zipped(tmp_path / "x.zip", {"a.json": b" " * 50_000_000})
    with pytest.raises(InvalidInput, match="zip bomb"):
        read(path)
    path = zipped(tmp_path / "y.zip", {"a.json": json.dumps(RECORD).encode()})
    monkeypatch.setattr("pilotage.library.importers.archive.MAX_TOTAL_BYTES", 10)
    with pytest.raises(InvalidInput, match="unpacks to"):
        read(path)
    monkeypatch.setattr("pilotage.library.importers.archive.MAX_MEMBERS", 0)
    with pytest.raises(InvalidInput, match="1 files, more than"):
        read(path)


def test_a_zip_that_lies_about_its_size_is_refused(tmp_path):
    data = json.dumps([RECORD]).encode() + b" " * 5000
    path = zipped(tmp_path / "x.zip", {"a.json": data})
    raw = path.read_bytes()
    path.write_bytes(raw.replace(len(data).to_bytes(4, "little"), (100).to_bytes(4, "little")))
    with pytest.raises(InvalidInput, match=r"cannot be read to its end|not a whole zip"):
        read(path)


def test_cut_and_encrypted_zips_are_refused(tmp_path):
    path = zipped(tmp_path / "x.zip", {"a.json": json.dumps(RECORD).encode() * 50})
    raw = path.read_bytes()
    for length in (4, 20, len(raw) // 2, len(raw) - 1):
        path.write_bytes(raw[:length])
        with pytest.raises(InvalidInput, match="not a whole zip"):
            read(path)
    damaged = bytearray(raw)
    damaged[60:80] = b"\xff" * 20
    path.write_bytes(bytes(damaged))
    with pytest.raises(InvalidInput):
        read(path)
    encrypted = bytearray(raw)
    encrypted[6] |= 1
    encrypted[raw.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(bytes(encrypted))
    with pytest.raises(InvalidInput, match="encrypted"):
        read(path)


def test_a_format_limits_what_is_read_in_a_folder(tmp_path):
    (tmp_path / "a.yaml").write_text("id: a\norg: Example\n")
    (tmp_path / "b.json").write_text(json.dumps(RECORD))
    assert [c.format for c in read(tmp_path, format="incident-json")] == ["incident-json"]
    assert len(read(tmp_path, format="archive")) == 2


def test_unknown_slugs_are_noted_with_the_nearest(tmp_path):
    path = tmp_path / "a.json"
    path.write_text(json.dumps(RECORD | {"symptoms": ["high-latency", "oom-kiled"], "root_cause": "zzz"}))
    known = {"symptoms": ["high-latency", "oom-killed"], "root_cause": ["software-bug"]}
    (found,) = read(path, known=known)
    assert [(n.kind, n.source, n.target, n.why) for n in found.notes] == [
        ("unknown-slug", "zzz", "root_cause", "no known term is near"),
        ("unknown-slug", "oom-kiled", "symptoms.1", "nearest known: oom-killed"),
    ]


def test_an_unknown_slug_that_is_near_to_one_of_another_field_is_told_so(tmp_path):
    path = tmp_path / "a.json"
    path.write_text(json.dumps(RECORD | {"root_cause": "missing-safegard"}))
    known = {"contributing": ["missing-safeguard"], "root_cause": ["software-bug"]}
    (found,) = read(path, known=known)
    assert [note.why for note in found.notes] == ["nearest known: missing-safeguard in contributing"]


def test_a_large_list_is_handed_on_item_by_item(tmp_path):
    path = tmp_path / "a.json"
    path.write_text("[" + ",".join(json.dumps(RECORD | {"id": f"a-{n}"}) for n in range(20_000)) + ",{]")
    candidates = open_candidates([path])
    assert next(candidates).document["id"] == "a-0"
    with pytest.raises(InvalidInput):
        list(candidates)


@pytest.mark.parametrize(
    ("name", "title", "day", "told"),
    [
        ("a.md", "결제 API 장애 (2024-03-02)", "2024-03-02", "the title"),
        ("a.md", "Checkout down on March 3, 2021", "2021-03-03", "the title"),
        ("2020-05-12-checkout.md", "Checkout down", "2020-05-12", "the name of the file"),
        ("a.md", "Checkout down", None, None),
    ],
)
def test_a_day_in_the_title_or_name_is_the_date_when_no_label_states_one(tmp_path, name, title, day, told):
    path = tmp_path / name
    path.write_text(f"# {title}\n\n## Summary\nIt broke.\n\n## Impact\nMuch.\n", encoding="utf-8")
    (found,) = read(path)
    assert (found.document["date"], found.document["date_kind"]) == (day, None)
    assert [note.source for note in found.notes if note.target == "date"] == ([told] if told else [])
    assert ("date" in found.document["provenance"]) == (day is None)
