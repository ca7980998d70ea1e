from __future__ import annotations

from typing import Any

import pytest

from pilotage.core.errors import InvalidInput
from pilotage.library.record import STANDARD_KEYS, Record, complete, read_record

STEP = {"id": "s", "kind": "trigger", "label": {"en": "x"}, "text": {"en": "y"}}


def read(**fields: Any) -> Record:
    return read_record({"id": "IL-0011"} | fields)


def test_an_id_is_enough() -> None:
    record = read()
    assert (record.status, record.visibility, record.schema_version) == ("draft", "public", 1)
    assert record.year is None
    assert record.causes == []
    assert record.texts() == []


def test_every_standard_key_may_be_null() -> None:
    record = read_record(dict.fromkeys(STANDARD_KEYS) | {"id": "a"})
    assert record.timeline is record.impact is record.sources is None


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"id": ""}, "id"),
        ({"id": "-a"}, "id"),
        ({"id": "a/b"}, "id"),
        ({"id": "a" * 121}, "id"),
        ({"id": 7}, "id"),
        ({"date": "2019-02-30"}, "not a day of the calendar"),
        ({"date": "2019-2-3"}, "YYYY-MM-DD"),
        ({"date": "20190203"}, "YYYY-MM-DD"),
        ({"date_kind": "maybe"}, "date_kind"),
        ({"timeline": {"resolved_after": "-9m"}}, "is negative"),
        ({"title": "text"}, "title"),
        ({"domain": "kubernetes"}, "domain"),
        ({"domain": [""]}, "domain.0"),
        ({"sources": [{"url": "no address", "kind": "blog"}]}, "sources.0.url"),
        ({"sources": [{"url": "https://example.org"}]}, "sources.0.kind: is missing"),
        ({"root_cause": "a", "root_causes": [{"kind": "b"}]}, "root_cause must equal"),
        ({"status": "withdrawn"}, "needs withdrawn_reason"),
        ({"aliases": ["IL-0011"]}, "own id"),
        ({"mechanism": [STEP, STEP]}, "the same id"),
        ({"mechanism": [STEP | {"leads_to": ["t"]}]}, "which is no step"),
        ({"updated_at": "yesterday"}, "not an ISO 8601 time"),
        ({"provenance": {"title": {"source": 0}}}, "provenance.title.source"),
        ({"visibility": "secret"}, "visibility"),
    ],
)
def test_what_cannot_be_is_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message) as caught:
        read(**fields)
    assert caught.value.message.startswith("record")
    assert caught.value.hint


@pytest.mark.parametrize("value", [None, [], "text", 3])
def test_an_incident_is_an_object(value: object) -> None:
    with pytest.raises(InvalidInput, match=r"x\.json, line 3: an incident must be an object"):
        read_record(value, where="x.json, line 3")


def test_the_message_counts_further_problems() -> None:
    with pytest.raises(InvalidInput, match=r"'IL-0011': date: .* \(and 1 more\)"):
        read(date="never", date_kind="never")


def test_a_document_is_not_changed_and_unknown_keys_are_kept() -> None:
    document = {"id": "a", "title": {"en": "x", "fr": "y"}, "later": {"a": 1}}
    record = read_record(document)
    assert document == {"id": "a", "title": {"en": "x", "fr": "y"}, "later": {"a": 1}}
    assert record.model_extra == {"later": {"a": 1}}


def test_a_loop_in_the_mechanism_is_allowed() -> None:
    steps = [STEP | {"leads_to": ["t"]}, STEP | {"id": "t", "leads_to": ["s"]}]
    assert [step.leads_to for step in read(mechanism=steps).mechanism] == [["t"], ["s"]]


def test_the_year_of_an_unknown_date_is_unknown() -> None:
    assert read(date="2019-01-01", date_precision="year").year == "2019"
    assert read(date="2019-01-01", date_precision="unknown").year is None


def test_root_causes_are_each_named_once() -> None:
    assert read(root_cause="a").causes == ["a"]
    listed = [{"kind": "a"}, {"kind": "b"}, {"kind": "a"}]
    assert read(root_cause="a", root_causes=listed).causes == ["a", "b"]


def test_a_text_falls_back_on_the_other_language() -> None:
    title = read(title={"en": "x", "ko": ""}).title
    assert title is not None
    assert (title.get("ko"), title.get("en")) == ("x", "x")


def test_a_completed_document_has_the_standard_keys_first() -> None:
    done = complete({"later": 1, "org": "Acme", "id": "a"})
    assert list(done) == [*STANDARD_KEYS, "later"]
    assert (done["org"], done["severity"], done["domain"]) == ("Acme", "unknown", [])


def test_completed_documents_share_nothing() -> None:
    complete({"id": "a"})["domain"].append("dns")
    complete({"id": "a"})["impact"]["scope"] = "all"
    assert complete({"id": "b"})["domain"] == []
    assert complete({"id": "b"})["impact"]["scope"] == "unknown"


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"title": "x"}, "title: must be an object, found a text"),
        ({"domain": "dns"}, "domain: must be a list, found a text"),
        ({"org": 7}, "org: must be a text, found a number"),
        ({"schema_version": "one"}, "schema_version: must be a whole number, found a text"),
        ({"schema_version": 1.5}, "schema_version: must be a whole number, found a number"),
        ({"schema_version": 0}, "schema_version: must be 1 or more"),
        ({"status": "finished"}, "status: must be one of 'draft', 'reviewed' or 'withdrawn'"),
        ({"aliases": ["a/b"]}, "aliases.0: 'a/b' has the wrong form"),
        ({"domain": [""]}, "domain.0: must not be empty"),
        ({"domain": ["x" * 81]}, "domain.0: must have at most 80 characters"),
        ({"sources": [{"url": "https://example.com"}]}, "sources.0.kind: is missing"),
        ({"related_reasons": []}, "related_reasons: must be an object, found a list"),
    ],
)
def test_a_wrong_field_is_told_in_words_of_an_author(fields: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        read_record({"id": "a", **fields})
    assert caught.value.message.endswith(said)
