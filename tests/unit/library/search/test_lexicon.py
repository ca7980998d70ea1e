from __future__ import annotations

import pytest

from pilotage.library.analysis import words
from pilotage.library.search.lexicon import Lexicon, load_lexicon
from pilotage.library.terms import Term, Vocabulary

LEXICON = Lexicon(
    Vocabulary(
        {
            "components": {
                term.slug: term
                for term in (
                    Term(
                        "components",
                        "load-balancer",
                        {"en": "Load balancer", "ko": "로드 밸런서"},
                        synonyms={"en": ("lb",)},
                    ),
                    Term(
                        "components",
                        "load-balancer-health-check",
                        {"en": "Load balancer health check", "ko": "상태 검사"},
                    ),
                    Term(
                        "components",
                        "zookeeper",
                        {"en": "ZooKeeper", "ko": "주키퍼"},
                        synonyms={"en": ("zk",)},
                    ),
                    Term("components", "old-zk", {"en": "Old name"}, replaced_by="zookeeper"),
                )
            },
            "symptoms": {"lb-symptom": Term("symptoms", "lb-symptom", {"en": "LB"})},
            "organisations": {"heroku": Term("organisations", "heroku", {"en": "Heroku", "ko": "헤로쿠"})},
        },
        {},
    )
)


def found(text: str) -> list[tuple[str, int, int]]:
    return [(m.term.slug, m.first, m.last) for m in LEXICON.mentions(words(text))]


@pytest.mark.parametrize(
    "text",
    [
        "load balancer",
        "Load-Balancers",
        "load_balancer",
        "로드 밸런서",
        "로드밸런서",
        "로드밸런서에서",
        "로드 밸런서가",
    ],
)
def test_a_name_is_found_in_any_spelling(text: str) -> None:
    assert [slug for slug, _, _ in found(text)] == ["load-balancer"]


def test_places_are_those_of_the_words() -> None:
    assert found("the zk behind a load balancer") == [("zookeeper", 1, 1), ("load-balancer", 4, 5)]


def test_the_longest_name_wins() -> None:
    assert [slug for slug, _, _ in found("load balancer health checks")] == ["load-balancer-health-check"]


def test_one_name_may_mean_several_terms() -> None:
    assert {slug for slug, _, _ in found("lb")} == {"load-balancer", "lb-symptom"}


@pytest.mark.parametrize("text", ["", "loaded", "old name", "밸런서", "balancer load"])
def test_what_is_no_name(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    ("word", "slug"),
    [
        ("zookeper", "zookeeper"),
        ("zookeeepr", "zookeeper"),
        ("heruko", "heroku"),
        ("herokku", "heroku"),
        ("주키파", "zookeeper"),
        ("주키파에서", "zookeeper"),
        ("로드밸렌서", "load-balancer"),
        ("zk2", None),
        ("hero", None),
        ("xerokuu", None),
        ("파키퍼", None),
        ("kubernetes", None),
        ("주", None),
    ],
)
def test_the_nearest_name(word: str, slug: str | None) -> None:
    meant = LEXICON.correction(word)
    assert [term.slug for term in LEXICON.terms_named(meant or "")] == ([slug] if slug else [])
    assert (meant is None) == (slug is None)


def test_a_whole_name_means_its_terms() -> None:
    assert [term.slug for term in LEXICON.terms_named("Load balancer")] == ["load-balancer"]
    assert LEXICON.terms_named("balancer") == []
    assert LEXICON.terms_named("") == []


def test_the_nearest_terms_come_best_first() -> None:
    near = LEXICON.nearest_terms(["zookeepr", "herok", "x"])
    assert {term.slug for term in near} == {"zookeeper", "heroku"}
    assert LEXICON.nearest_terms(["zookeepr", "herok"], limit=1) == near[:1]
    assert LEXICON.nearest_terms(["qqqqq"]) == []


def test_the_shipped_lexicon_is_made_once() -> None:
    assert load_lexicon() is load_lexicon()
