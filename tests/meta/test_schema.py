"""A second validator agrees with the model."""

from __future__ import annotations

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from meta.tree import SOURCE
from pilotage.core.errors import InvalidInput
from pilotage.library.bundled import bundled_candidates
from pilotage.library.record import read_record
from pilotage.library.schema.generate import SCHEMA_FILE, record_schema

SCHEMA = record_schema()
VALIDATOR = Draft202012Validator(SCHEMA, format_checker=Draft202012Validator.FORMAT_CHECKER)
STEP = {"id": "a", "kind": "trigger", "label": {"en": "x"}, "text": {"en": "x"}}

SOUND: dict[str, dict[str, Any]] = {
    "only an id": {},
    "unknown keys": {"x_ours": {"deep": [1, None]}, "title": {"en": "a", "ko": None, "de": "b"}},
    "nulls": {"org": None, "date": None, "symptoms": None, "timeline": None, "sources": None},
    "withdrawn with reason": {"status": "withdrawn", "withdrawn_reason": {"en": "told twice"}},
    "interval in other words": {"timeline": {"resolved_after": "about an hour"}},
    "a loop": {"mechanism": [STEP | {"leads_to": ["a"]}]},
}
BROKEN: dict[str, dict[str, Any]] = {
    "id with a space": {"id": "a b"},
    "id too long": {"id": "a" * 121},
    "id is a number": {"id": 7},
    "alias with a slash": {"aliases": ["a/b"]},
    "aliases is text": {"aliases": "a"},
    "unknown status": {"status": "finished"},
    "unknown visibility": {"visibility": "secret"},
    "withdrawn without reason": {"status": "withdrawn"},
    "withdrawn with empty reason": {"status": "withdrawn", "withdrawn_reason": None},
    "schema version zero": {"schema_version": 0},
    "date in other order": {"date": "01-02-2024"},
    "date that is none": {"date": "2024-02-30"},
    "date with time": {"date": "2024-02-03T10:00:00Z"},
    "unknown date kind": {"date_kind": "guessed"},
    "title is text": {"title": "down"},
    "title in a list": {"title": {"en": ["down"]}},
    "slug is empty": {"components": [""]},
    "slugs are a map": {"components": {"coredns": True}},
    "negative interval": {"timeline": {"resolved_after": "-5m"}},
    "interval is a number": {"timeline": {"resolved_after": 5}},
    "step without text": {"mechanism": [{"id": "a", "kind": "trigger", "label": {"en": "x"}}]},
    "step of unknown kind": {"mechanism": [STEP | {"kind": "magic"}]},
    "step id with capitals": {"mechanism": [STEP | {"id": "A"}]},
    "source without scheme": {"sources": [{"url": "example.com/a", "kind": "blog"}]},
    "source without kind": {"sources": [{"url": "https://example.com/a"}]},
    "cause without kind": {"root_causes": [{"text": {"en": "x"}}]},
    "confidence in other words": {"provenance": {"default": {"confidence": "certain"}}},
    "source counted from zero": {"provenance": {"default": {"source": 0}}},
    "event without text": {"events": [{"at": "2024-01-01"}]},
    "related is no list": {"related": "other"},
}
ONLY_THE_MODEL: dict[str, dict[str, Any]] = {
    "root_cause differs": {"root_cause": "a", "root_causes": [{"kind": "b"}]},
    "own id as alias": {"aliases": ["acme-1"]},
    "two steps of one id": {"mechanism": [STEP, STEP]},
    "step leads nowhere": {"mechanism": [STEP | {"leads_to": ["b"]}]},
    "time that is none": {"updated_at": "yesterday"},
}


def model_accepts(document: dict[str, Any]) -> bool:
    try:
        read_record(document)
    except InvalidInput:
        return False
    return True


def document(fields: dict[str, Any]) -> dict[str, Any]:
    return {"id": "acme-1"} | fields


def test_schema_is_sound() -> None:
    Draft202012Validator.check_schema(SCHEMA)


def test_shipped_schema_is_the_generated_one() -> None:
    shipped = (SOURCE / "library" / "schema" / SCHEMA_FILE).read_text("utf-8")
    assert json.loads(shipped) == SCHEMA


def test_bundled_records_pass_both() -> None:
    candidates = list(bundled_candidates())
    assert len(candidates) >= 15
    for candidate in candidates:
        problems = [error.message for error in VALIDATOR.iter_errors(candidate.document)]
        assert not problems, (candidate.place, problems)
        assert model_accepts(candidate.document)


@pytest.mark.parametrize("name", SOUND)
def test_both_accept(name: str) -> None:
    assert model_accepts(document(SOUND[name]))
    assert VALIDATOR.is_valid(document(SOUND[name]))


@pytest.mark.parametrize("name", BROKEN)
def test_both_refuse(name: str) -> None:
    assert not model_accepts(document(BROKEN[name]))
    assert not VALIDATOR.is_valid(document(BROKEN[name]))


@pytest.mark.parametrize("name", ONLY_THE_MODEL)
def test_what_a_schema_cannot_say(name: str) -> None:
    assert not model_accepts(document(ONLY_THE_MODEL[name]))
    assert VALIDATOR.is_valid(document(ONLY_THE_MODEL[name]))


@pytest.mark.parametrize("value", [None, [], "id", 7])
def test_a_record_is_an_object(value: object) -> None:
    with pytest.raises(InvalidInput):
        read_record(value)
    assert not VALIDATOR.is_valid(value)


def test_every_key_has_a_meaning() -> None:
    parts = [SCHEMA, *SCHEMA["$defs"].values()]
    keys = [(key, value) for part in parts for key, value in part.get("properties", {}).items()]
    assert not [key for key, value in keys if not value.get("description")]
