from __future__ import annotations

import sqlite3
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pilotage.library.analysis import (
    bigrams,
    is_stopword,
    spelled,
    stem,
    tag_token,
    tokens,
    without_particle,
    words,
)


def test_english_is_lower_cased_and_stemmed() -> None:
    assert tokens("Retries were RETRYING; a retry") == ["retri", "were", "retri", "a", "retri"]


def test_hangul_becomes_overlapping_bigrams() -> None:
    assert bigrams("인그레스") == ["인그", "그레", "레스"]
    assert tokens("락 경합") == ["락", "경합"]


def test_decomposed_hangul_and_full_width_letters_give_the_same_tokens() -> None:
    assert tokens(unicodedata.normalize("NFD", "인그레스")) == tokens("인그레스")
    assert tokens("ＯＯＭ") == tokens("OOM")


def test_camel_case_is_found_whole_and_in_parts() -> None:
    assert tokens("OOMKilled") == ["oomkil", "oom", "kill"]
    assert tokens("HAProxy") == ["haproxi"]
    assert "loop" in tokens("CrashLoopBackOff")


def test_status_codes_lose_their_plural() -> None:
    assert tokens("502s") == ["502"]


def test_scripts_are_split_where_they_meet() -> None:
    assert words("HAProxy가 503을") == ["HAProxy", "가", "503", "을"]


@pytest.mark.parametrize(
    ("word", "bare"),
    [
        ("인그레스가", "인그레스"),
        ("노드에서는", "노드"),
        ("장애", "장애"),
        ("나이", "나이"),
        ("파드로", "파드"),
    ],
)
def test_particles_go_and_two_syllables_stay(word: str, bare: str) -> None:
    assert without_particle(word) == bare


def test_words_without_meaning_are_known() -> None:
    assert is_stopword("The")
    assert is_stopword("때문에")
    assert not is_stopword("timeout")


@given(st.text())
def test_tokens_are_letters_and_digits_only(text: str) -> None:
    assert all(token.isalnum() for token in tokens(text))


@given(st.lists(st.text(alphabet="abcdef 가나다라0123-_.A", max_size=40), min_size=1, max_size=5))
def test_sqlite_takes_every_token_as_it_is(texts: list[str]) -> None:
    found = [token for text in texts for token in tokens(text)]
    with sqlite3.connect(":memory:") as db:
        db.execute("CREATE VIRTUAL TABLE t USING fts5(x, tokenize='unicode61 remove_diacritics 0')")
        db.execute("INSERT INTO t VALUES (?)", (" ".join(found),))
        for token in found:
            assert db.execute("SELECT count(*) FROM t WHERE t MATCH ?", (f'"{token}"',)).fetchone() == (1,)
    db.close()


def test_a_tag_is_one_token() -> None:
    assert tag_token("root_cause", "software-bug") == "zqrootcausesoftwarebug"
    assert tokens(tag_token("component", "kube-proxy")) != []


def test_stems_stay_what_the_index_was_made_with() -> None:
    # Another stemmer, or another version of it, must give these, or ANALYSIS_VERSION is raised.
    stems = {
        "restarting": "restart",
        "generously": "generous",
        "configurations": "configur",
        "exceeded": "exceed",
        "overload": "overload",
        "dying": "die",
        "skies": "sky",
        "biologist": "biolog",
        "communism": "communism",
        "evening": "evening",
        "retries": "retri",
        "proxies": "proxi",
    }
    assert {word: stem(word) for word in stems} == stems


@given(st.text())
def test_what_the_index_holds_is_the_tokens_with_spaces_between(text: str) -> None:
    assert spelled(text) == " ".join(tokens(text))
