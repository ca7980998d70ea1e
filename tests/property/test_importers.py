"""Whatever comes in, nothing but our own errors comes out."""

from __future__ import annotations

import io
import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from pilotage.core.errors import PilotageError
from pilotage.library.authoring.validation import validate_file
from pilotage.library.decoding.strict_json import loads, read_items
from pilotage.library.decoding.strict_yaml import load_all
from pilotage.library.importers.detect import IMPORTERS, open_candidates
from pilotage.library.importers.files import open_stream
from pilotage.library.record import read_record

FUZZ = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])

NAMES = (
    "id org title date summary incidents page name url incident_updates body status impact components begin "
    "end updates text when external_desc affected_products status_impact service_key uri arn event_log "
    "message timestamp region_name started_at resolved_at created_at timeline events sources en ko"
)
keys = st.sampled_from(NAMES.split()) | st.text(max_size=5)
scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20)
    | st.sampled_from(
        ["2024-01-01T00:00:00Z", "2024-01-01", "major", "https://a.example", "장애", "-5m", "0001-01-01"]
    )
)
json_values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=6),
    max_leaves=15,
)
PIECES = (
    "# T\n@## Impact\n@## 타임라인\n@- 10:00 x\n@| a | b |\n@|---|---|\n@---\n@uuid: 1\n@id: a\n@company: z\n"
    '@**Date**: 2020-01-01\n@```\n@x\n===\n@\n@- [x] y\n@\t@"@{@[@&a *a\n@? '
)
texts = st.lists(st.sampled_from(PIECES.split("@")) | st.text(max_size=10)).map("".join)
anything = (
    st.binary(max_size=200)
    | texts.map(lambda t: t.encode("utf-8", "surrogatepass"))
    | json_values.map(lambda value: json.dumps(value).encode())
)


def drain(source) -> None:
    try:
        for candidate in source:
            assert isinstance(candidate.document["id"], str)
    except PilotageError as error:
        assert error.hint


@FUZZ
@given(anything)
def test_detection_takes_any_bytes(data):
    drain(open_candidates(["-"], stdin=io.BytesIO(data)))


@pytest.mark.parametrize("importer", IMPORTERS, ids=lambda importer: importer.name)
@FUZZ
@given(data=anything, name=st.text(max_size=10))
def test_each_importer_takes_any_bytes(importer, data, name):
    importer.detects(name, data)
    drain(importer.read(open_stream(name, io.BytesIO(data))))


@FUZZ
@given(data=anything)
def test_strict_readers_take_any_bytes(data):
    for read in (loads, lambda d, n: list(load_all(d, n)), lambda d, n: list(read_items(io.BytesIO(d), n))):
        try:
            read(data, "f")
        except PilotageError as error:
            assert error.hint


@FUZZ
@given(data=anything, suffix=st.sampled_from(["yaml", "json", "jsonl"]))
@example(data=b"[]", suffix="json")
def test_validation_takes_any_bytes(data, suffix):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"r.{suffix}"
        path.write_bytes(data)
        for problem in validate_file(path, {"symptoms": ["a"]}, check_links=True):
            assert problem.line >= 1
            assert problem.column >= 1


@FUZZ
@given(
    st.lists(st.dictionaries(keys, json_values, max_size=6), max_size=4),
    st.sampled_from(["list", "lines", "pretty"]),
)
def test_incident_json_is_handed_on_exactly_as_read(documents, form):
    documents = [document | {"id": f"a-{n}"} for n, document in enumerate(documents)]
    if form == "lines":
        text = "\n".join(json.dumps(document, ensure_ascii=False) for document in documents)
    else:
        text = json.dumps(documents, indent=2 if form == "pretty" else None)
    try:
        data = text.encode()
        expected = json.loads(data) if form != "lines" else documents
        found = [c.document for c in open_candidates(["-"], "incident-json", stdin=io.BytesIO(data))]
    except (UnicodeEncodeError, PilotageError):
        # Texts with NUL or half characters are refused, which other tests show.
        assert "\\u0000" in text or "\\ud" in text or not documents
        return
    assert found == expected
    assert json.dumps(found) == json.dumps(expected)


feeds = {
    "google-cloud": lambda d: [d | {"id": "x1"}],
    "statuspage": lambda d: {"page": d, "incidents": [d | {"id": "x1"}]},
    "aws-events": lambda d: [d | {"arn": "arn:aws:health::event/X/Y"}],
}


@pytest.mark.parametrize("name", feeds)
@FUZZ
@given(document=st.dictionaries(keys, json_values, max_size=12))
def test_what_a_feed_gives_is_a_record_whose_every_field_is_accounted_for(name, document):
    data = json.dumps(feeds[name](document)).encode()
    try:
        found = list(open_candidates(["-"], name, stdin=io.BytesIO(data)))
    except PilotageError:
        assert b"\\u0000" in data or b"\\ud" in data
        return
    (candidate,) = found
    record = read_record(candidate.document)
    assert record.status == "draft"
    assert set(document) <= {note.source for note in candidate.notes}


@FUZZ
@given(texts)
def test_a_markdown_draft_is_a_record(text):
    data = text.encode("utf-8", "surrogatepass")
    try:
        found = list(open_candidates(["-"], "markdown", stdin=io.BytesIO(data)))
    except PilotageError:
        return
    record = read_record(found[0].document)
    assert record.status == "draft"
