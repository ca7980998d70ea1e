from __future__ import annotations

from typing import Any

from pilotage.library.analysis import tag_token
from pilotage.library.entry import COLUMNS, MOST_PASSAGES, index_entry, paragraphs, passages
from pilotage.library.record import read_record
from pilotage.library.terms import load_vocabulary


def entry(**fields: Any):
    return index_entry(read_record({"id": "il-7"} | fields), load_vocabulary())


def column(name: str, **fields: Any) -> list[str]:
    return entry(**fields).columns[name].split()


def test_every_column_is_there_even_when_nothing_is_known() -> None:
    found = entry()
    assert set(found.columns) == set(COLUMNS)
    assert found.columns["body"] == found.columns["said"] == ""
    assert (found.urls, found.passages) == ([], [])


def test_the_name_holds_title_ids_and_every_name_of_the_organisation() -> None:
    found = column(
        "name",
        aliases=["OLD-1"],
        org="Elastic",
        org_slug="elastic",
        title={"en": "Lost quorum", "ko": "쿼럼 상실"},
    )
    assert {"il", "7", "old", "1", "lost", "quorum", "쿼럼", "상실", "elast", "엘라", "라스"} <= set(found)


def test_a_term_is_found_by_its_labels_in_both_languages() -> None:
    found = column("tags", components=["ingress"])
    assert {tag_token("component", "ingress"), "ingress", "인그", "컨트"} <= set(found)


def test_a_status_or_year_is_a_tag_but_no_word() -> None:
    found = column("tags", date="2019-05-01", status="reviewed")
    assert tag_token("year", "2019") in found
    assert tag_token("month", "2019-05") in found
    assert "reviewed" not in found
    assert "2019" not in found


def test_an_imprecise_date_gives_no_month() -> None:
    assert tag_token("month", "2019-01") not in column("tags", date="2019-01-01", date_precision="year")
    unknown = column("tags", date="2019-01-01", date_precision="unknown")
    assert not {tag_token("month", "2019-01"), tag_token("year", "2019")} & set(unknown)


def test_links_are_found_from_their_other_end() -> None:
    found = column("tags", related=["b", "b"], recurrence_of="c")
    assert found.count(tag_token("link", "b")) == 1
    assert tag_token("link", "c") in found


def test_what_is_unknown_is_no_word() -> None:
    impact = {"scope": "unknown", "users": "everybody", "region": "unknown"}
    assert column("body", impact=impact) == ["everybodi"]


def test_phrases_are_said_and_facts_are_not_indexed() -> None:
    found = entry(phrases={"en": ["pods keep dying"], "ko": ["파드가 죽어요"]}, facts=["secretfact"])
    assert {"pod", "die", "파드"} & set(found.columns["said"].split())
    assert not any("secretfact" in text for text in found.columns.values())


def test_addresses_are_in_one_form_and_once() -> None:
    sources = [
        {"url": "http://www.example.org/a/?utm_source=x", "kind": "blog"},
        {"url": "https://example.org/a", "kind": "blog"},
        {"url": "https://example.org/b", "kind": "blog"},
    ]
    assert entry(sources=sources).urls == ["https://example.org/a", "https://example.org/b"]


def test_passages_by_paragraph_phrase_and_language() -> None:
    step = {"id": "s", "kind": "trigger", "label": {"en": "It began"}, "text": {"en": "x"}}
    found = passages(
        read_record(
            {
                "id": "a",
                "title": {"en": "Title", "ko": "제목"},
                "summary": {"en": "One.\n\n\n Two."},
                "lessons": {"en": "First.\n\nSecond."},
                "phrases": {"en": ["help"]},
                "mechanism": [step, step | {"id": "t", "label": {"en": "It went on"}}],
            }
        )
    )
    assert [(passage.part, passage.lang, passage.text) for passage in found] == [
        ("phrase", "en", "help"),
        ("title", "en", "Title"),
        ("summary", "en", "One."),
        ("summary", "en", "Two."),
        ("mechanism", "en", "It began It went on"),
        ("lessons", "en", "First. Second."),
        ("title", "ko", "제목"),
    ]


def test_passages_are_bounded() -> None:
    text = "\n\n".join(f"paragraph {number}" for number in range(500))
    assert len(entry(summary={"en": text, "ko": text}).passages) == MOST_PASSAGES


def test_paragraphs() -> None:
    assert paragraphs(None) == paragraphs("") == paragraphs(" \n\n ") == []
    assert paragraphs("a\nb\n\nc") == ["a\nb", "c"]
