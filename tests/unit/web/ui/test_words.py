"""The words of the pages: complete in both languages, none missing, none left over."""

from __future__ import annotations

import re
import string
from importlib import resources

import pytest

from pilotage.library.insight.statistics import COVERED
from pilotage.library.terms import FACETS, KINDS
from pilotage.web.ui.words import WORDS, Words

FOLDER = resources.files("pilotage.web.ui")
SOURCES = {
    item.name: item.read_text("utf-8")
    for folder in (FOLDER, FOLDER / "templates")
    for item in folder.iterdir()
    if item.name.endswith((".html", ".py")) and item.name not in {"words.py", "check_words.py"}
}
USED = re.compile(r"\bt\(\s*['\"]([a-z_0-9]+)['\"]\s*[,)]")


def places(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


@pytest.mark.parametrize("key", WORDS)
def test_every_word_has_both_languages_and_the_same_places(key: str) -> None:
    english, korean = WORDS[key]
    assert english.strip()
    assert korean.strip()
    assert places(english) == places(korean) or key.endswith("_one")
    assert not re.search(r"습니다|하세요|해요", korean), "plain declarative"


def test_templates_use_words_that_exist() -> None:
    missing = [
        (name, key) for name, text in SOURCES.items() for key in USED.findall(text) if key not in WORDS
    ]
    assert not missing


def test_no_word_is_left_over() -> None:
    text = "\n".join(SOURCES.values())
    made = re.findall(r"['\"]([a-z_]+_)['\"] ~|f?['\"]([a-z_]+_)\{", text)
    starts = tuple(start for pair in made for start in pair if start)
    unused = [
        key
        for key in WORDS
        if f'"{key}"' not in text
        and f"'{key}'" not in text
        and not key.startswith(starts)
        and not key.endswith("_one")
    ]
    assert not unused


def test_every_facet_kind_and_field_has_a_name() -> None:
    assert {f"facet_{facet}" for facet in FACETS} <= WORDS.keys()
    assert {f"kind_of_{kind}" for kind in KINDS} <= WORDS.keys()
    assert {f"about_{kind}" for kind in KINDS} <= WORDS.keys()
    assert {f"field_{field}" for field in COVERED} <= WORDS.keys()


def test_one_is_told_apart_from_many() -> None:
    assert Words("en")("n_incidents", n=1) == "1 incident"
    assert Words("en")("n_incidents", n=1200) == "1,200 incidents"
    assert Words("ko")("n_incidents", n=2) == "사례 2건"
