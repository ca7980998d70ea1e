from __future__ import annotations

from pilotage.library.record import read_record
from pilotage.library.search.snippets import pieces_of, snippets

PIECES = pieces_of(
    read_record(
        {
            "id": "a",
            "title": {"en": "Retries flooded the database", "ko": "재시도가 데이터베이스를 넘치게 했다"},
            "summary": {
                "en": "Filler words here. " * 20 + "Then a retry storm hit the primary.",
                "ko": "재시도 폭주가 있었다",
            },
        }
    )
)


def test_the_words_of_the_query_are_marked() -> None:
    best = snippets(PIECES, {"retri": 1.0, "databas": 2.0}, "en")[0]
    assert best.field == "title"
    assert best.marked("[", "]") == "[Retries] flooded the [database]"


def test_a_long_text_is_cut_round_the_match() -> None:
    found = {snippet.field: snippet for snippet in snippets(PIECES, {"storm": 1.0}, "en")}
    summary = found["summary"]
    assert summary.text.startswith("… ")
    assert len(summary.text) < 200
    start, end = summary.marks[0]
    assert summary.text[start:end] == "storm"


def test_korean_words_are_marked_by_their_bigrams() -> None:
    best = snippets(PIECES, {"폭주": 1.0, "재시": 1.0, "시도": 1.0}, "ko")[0]
    assert "[재시도]" in best.marked("[", "]") or "[재시도가]" in best.marked("[", "]")


def test_the_other_language_is_shown_where_only_it_matches() -> None:
    assert snippets(PIECES, {"데이": 1.0, "이터": 1.0, "터베": 1.0}, "en")[0].lang == "ko"


def test_a_field_is_shown_in_the_language_asked_for_if_that_matched_at_all() -> None:
    weights = {"storm": 1.0, "폭주": 5.0, "재시": 5.0, "시도": 5.0}
    assert {one.field: one.lang for one in snippets(PIECES, weights, "en")} == {
        "title": "ko",
        "summary": "en",
    }


def test_nothing_matched_gives_nothing() -> None:
    assert snippets(PIECES, {"zzz": 1.0}, "en") == []
