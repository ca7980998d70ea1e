from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pilotage.core.text import did_you_mean, kebab, kind_of, nearest, normalise, printable, shorten


def test_decomposed_hangul_equals_composed() -> None:
    assert normalise(unicodedata.normalize("NFD", "인그레스")) == "인그레스"


def test_no_escape_sequence_or_direction_override_reaches_a_terminal() -> None:
    assert printable("a\x1b[31mred\x07 \u202eevil\u202c\tok\n") == "a[31mred evil\tok\n"


def test_shorten_cuts_at_a_word_and_says_so() -> None:
    assert shorten("one two three four", 12) == "one two…"
    assert shorten("short", 12) == "short"


@given(st.text(), st.integers(2, 50))
def test_shorten_never_exceeds_the_limit(text: str, limit: int) -> None:
    assert len(shorten(text, limit)) <= limit


def test_kebab_of_organisation_names() -> None:
    assert kebab("Parse.ly") == "parse-ly"
    assert kebab("Ericsson / O2") == "ericsson-o2"
    assert kebab("  엘라스틱 ") == "엘라스틱"


def test_nearest_forgives_typing_errors() -> None:
    assert nearest("ingres", ["ingress", "egress", "dns"])[0] == "ingress"
    assert nearest("kuberentes", ["kubernetes", "database"]) == ["kubernetes"]


def test_nearest_finds_what_holds_the_word_or_all_of_its_parts() -> None:
    assert nearest("oom", ["oom-killed", "dns"]) == ["oom-killed"]
    assert nearest("dns-failure", ["dns-resolution-failure", "dns-slow"]) == ["dns-resolution-failure"]


def test_nearest_says_nothing_when_nothing_is_near() -> None:
    assert nearest("zzzzzz", ["ingress", "dns"]) == []


def test_did_you_mean_lists_all_of_few() -> None:
    assert did_you_mean("qqq", ["text", "json"]) == "Known are: json, text."


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("a", "a text"),
        (True, "true or false"),
        (1, "a number"),
        (1.5, "a number"),
        ([], "a list"),
        ({}, "an object"),
    ],
)
def test_a_value_is_called_as_its_author_would(value: object, said: str) -> None:
    assert kind_of(value) == said


def test_null_is_called_null() -> None:
    assert kind_of(None) == "null"
