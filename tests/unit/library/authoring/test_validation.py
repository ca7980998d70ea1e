from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from pilotage.core.errors import InvalidInput, NotFound
from pilotage.library.authoring.validation import validate_file, validate_paths
from pilotage.library.decoding import json_places

KNOWN = {
    "symptoms": ["high-latency", "oom-killed"],
    "root_cause": ["software-bug", "config-error"],
    "severity": ["unknown", "minor"],
    "sources.kind": ["blog", "official-status"],
    "remediation.kind": ["rollback"],
    "contributing": ["retry-storm"],
}
YAML = """\
id: example-2019-a
statis: draft
status: reviewd
org: 5
date: 2019-02-30
title:
  en: Only English
summary:
  en: |
    One.

    Two.
  ko: 하나.
symptoms: [high-latency, oom-kiled]
root_cause: config-error
root_causes:
- kind: config-error
severity: huge
timeline:
  detected_after: soon
  resolved_after: -5m
events:
- at: 2019-02-30T10:00
  text: {en: a, ko: b}
mechanism:
- id: a
  kind: trigger
  label: {en: LONG, ko: 짧다}
  text: {en: a, ko: b}
remediation:
- text: {en: a, ko: b}
  kind: rolback
sources:
- url: ftp://example.org/x
  kind: blog
related: [other]
related_reasons:
  another: {en: a, ko: b}
provenance:
  sumary: {state: stated}
  title: {state: stated, source: 2}
  impact.foo: {state: stated}
"""


def problems(tmp_path, text: str, name: str = "r.yaml", **options):
    path = tmp_path / name
    path.write_text(text)
    return [(p.line, p.column, p.key, p.message, p.instead) for p in validate_file(path, KNOWN, **options)]


def test_every_problem_of_a_yaml_record_is_named_with_its_line(tmp_path):
    found = problems(tmp_path, YAML.replace("LONG", "x" * 61))
    by_key = {key: (line, message, instead) for line, _, key, message, instead in found}
    assert by_key["statis"] == (2, "unknown key", "write `status`")
    assert by_key["status"][0] == 3
    assert "draft, reviewed, withdrawn" in by_key["status"][2]
    assert by_key["org"] == (4, "must be a text, found the number 5", 'put it in quotes: "5"')
    assert by_key["date"][:2] == (5, "2019-02-30 is not a day of the calendar")
    assert by_key["title"][:2] == (6, "`ko` is missing beside the other language")
    assert by_key["summary"][:2] == (8, "2 paragraphs in en, 1 in ko")
    assert by_key["symptoms.1"] == (14, "unknown slug 'oom-kiled'", "write oom-killed")
    assert by_key["severity"][:2] == (18, "unknown slug 'huge'")
    assert by_key["timeline.detected_after"][0] == 20
    assert by_key["timeline.resolved_after"][:2] == (21, "interval '-5m' is negative")
    assert by_key["events.0.at"][0] == 23
    assert by_key["mechanism.0.label.en"][:2] == (28, "a label of 61 characters, more than 60")
    assert by_key["remediation.0.kind"] == (32, "unknown slug 'rolback'", "write rollback")
    assert by_key["sources.0.url"][:2] == (34, "'ftp://example.org/x' is no web address")
    assert by_key["related_reasons.another"][0] == 38
    assert by_key["provenance.sumary"] == (40, "names no field of the record", "write summary")
    assert by_key["provenance.title.source"][0] == 41
    assert by_key["provenance.impact.foo"][0] == 42
    assert len(found) == 18
    assert all(instead for *_, instead in found)


def test_lines_of_json_are_right_too(tmp_path):
    record = {"id": "a", "org": 5, "their_key": 1, "symptoms": ["x"], "title": {"en": "a", "ko": None}}
    found = problems(tmp_path, json.dumps([{"id": "b"}, record], indent=1), "r.json")
    assert [(line, key) for line, _, key, _, _ in found] == [(7, "org"), (10, "symptoms.0"), (12, "title")]
    found = problems(tmp_path, json.dumps({"id": "b"}) + "\n\n" + json.dumps(record) + "\n", "r.jsonl")
    assert [(line, key) for line, _, key, _, _ in found] == [(3, "org"), (3, "symptoms.0"), (3, "title")]
    found = problems(tmp_path, json.dumps(record, indent=1), "r.json")
    assert [(line, key) for line, _, key, _, _ in found] == [(3, "org"), (6, "symptoms.0"), (8, "title")]


def test_records_of_a_list_on_one_line_have_their_columns(tmp_path: Path) -> None:
    path = tmp_path / "records.json"
    path.write_text('[{"id": "a", "status": "odd"}, {"id": "b",\n "status": "odd"}, 5]')
    found = [(p.line, p.column) for p in validate_file(path, KNOWN) if p.key == "status" or not p.key]
    assert found == [(1, 14), (2, 2), (2, 20)]


@pytest.mark.parametrize("name", ["records.json", "records.jsonl"])
def test_each_place_is_looked_up_a_fixed_number_of_times(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    looked: list[int] = []
    real = json_places._key
    monkeypatch.setattr(json_places, "_key", lambda *given: (looked.append(1), real(*given))[1])

    def looked_up(count: int) -> int:
        looked.clear()
        lines = [json.dumps({"id": f"example-{n}", "status": "odd"}) for n in range(count)]
        text = "\n".join(lines) if name.endswith("l") else f"[{','.join(lines)}]"
        (tmp_path / name).write_text(text)
        assert sum(p.key == "status" for p in validate_file(tmp_path / name, KNOWN)) == count
        return len(looked)

    assert looked_up(40) == 4 * looked_up(10)


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("r.yaml", "id: a\norg: b: c\n", (2, 7)),
        ("r.yaml", "id: a\nid: b\norg: x\norg: y\n", (2, 1)),
        ("r.json", '{"id": "a",\n "id": "b"}', (2, 2)),
        ("r.json", '{"id": "a",\n "org": }', (2, 9)),
        ("r.jsonl", '{"id": "a"}\n{"id": \n{"id": "b", "org": 1}\n', (2, 8)),
        ("r.json", "[1]", (1, 2)),
        ("r.yaml", "- a\n", (1, 1)),
        ("r.yaml", "", (1, 1)),
        ("r.yaml", "# nothing\n", (1, 1)),
        ("r.yaml", "org: x\n", (1, 1)),
    ],
)
def test_mistakes_of_the_text_have_their_place(tmp_path, name, text, expected):
    found = problems(tmp_path, text, name)
    assert (found[0][0], found[0][1]) == expected
    assert found[0][4]


def test_all_duplicate_keys_and_all_broken_lines_are_named(tmp_path):
    assert len(problems(tmp_path, "id: a\nid: b\norg: x\norg: y\n")) == 2
    assert len(problems(tmp_path, '{"id": 1\n{"id": \n{"id": "b"}\n', "r.jsonl")) == 2


def test_wrong_bytes_are_a_problem_not_a_crash(tmp_path):
    path = tmp_path / "r.yaml"
    path.write_bytes(b"id: a\norg: \xff\n")
    (found,) = validate_file(path, {})
    assert (found.line, found.column) == (2, 6)
    assert str(found).startswith(f"{path}:2:6: byte 12 is not UTF-8")


def test_ids_aliases_and_links_are_compared_across_files(tmp_path):
    (tmp_path / "a.yaml").write_text("id: one\naliases: [two, old]\nrelated: [two, thre]\n")
    (tmp_path / "b.yaml").write_text("id: two\naliases: [old]\n---\nid: one\nrecurrence_of: old\n")
    (tmp_path / "c.txt").write_text("not looked at")
    found = [(Path(p.file).name, p.line, p.key) for p in validate_paths([tmp_path], {}, check_links=True)]
    assert found == [
        ("a.yaml", 2, "aliases.0"),
        ("a.yaml", 3, "related.1"),
        ("b.yaml", 2, "aliases.0"),
        ("b.yaml", 4, "id"),
    ]
    assert len(validate_paths([tmp_path], {})) == 3
    assert len(validate_paths([tmp_path, tmp_path / "a.yaml"], {})) == 3


def test_a_reviewed_record_needs_its_main_fields(tmp_path):
    found = problems(tmp_path, "id: a\nstatus: reviewed\n")
    assert {key for _, _, key, _, _ in found} == {"title", "summary", "org", "org_slug", "date", "sources"}


def test_paths_that_are_not_there(tmp_path):
    with pytest.raises(NotFound):
        validate_file(tmp_path / "x.yaml", {})
    with pytest.raises(InvalidInput, match="no YAML or JSON file"):
        validate_paths([tmp_path], {})


def test_a_zip_is_called_a_zip(tmp_path: Path) -> None:
    path = tmp_path / "records.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.json", "{}")
    [found] = validate_file(path, KNOWN)
    assert found.message == "this is a zip"
    assert "unpack it" in found.instead
