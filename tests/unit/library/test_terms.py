from __future__ import annotations

from typing import Any

import pytest

from pilotage.core.errors import UnknownTerm
from pilotage.library.record import LANGS, read_record
from pilotage.library.terms import (
    FACET_LABELS,
    FACETS,
    KINDS,
    Term,
    Vocabulary,
    facet_name,
    load_vocabulary,
    tags_of,
)

SMALL = Vocabulary(
    {
        "components": {
            "proxy": Term("components", "proxy", {"en": "Proxy"}),
            "relay": Term("components", "relay", {"en": "Relay"}, replaced_by="proxy"),
        }
    },
    {"components": 3},
)


def tags(**fields: Any) -> list[tuple[str, str]]:
    return tags_of(read_record({"id": "a"} | fields), SMALL)


def test_a_deprecated_slug_resolves_to_its_successor_once() -> None:
    assert [slug for facet, slug in tags(components=["relay", "proxy"]) if facet == "component"] == ["proxy"]


def test_slugs_that_no_vocabulary_knows_are_kept() -> None:
    assert ("component", "home-made") in tags(components=["home-made"])


def test_what_is_not_said_has_a_tag_only_where_a_default_is_meant() -> None:
    assert tags() == [("severity", "unknown"), ("status", "draft")]


def test_all_root_causes_are_tags() -> None:
    found = tags(root_cause="a-bug", root_causes=[{"kind": "a-bug"}, {"kind": "bad-config"}])
    assert [slug for facet, slug in found if facet == "root_cause"] == ["a-bug", "bad-config"]


def test_labels_fall_back_on_english_and_on_the_slug() -> None:
    assert SMALL.facet_label("component", "proxy", "ko") == "Proxy"
    assert SMALL.facet_label("component", "nothing", "ko") == "nothing"
    assert SMALL.facet_label("status", "withdrawn", "ko") == "철회됨"
    assert SMALL.facet_label("year", "2019", "ko") == "2019"


def test_an_unknown_kind_names_the_nearest() -> None:
    with pytest.raises(UnknownTerm) as caught:
        load_vocabulary().of("componnts")
    assert "'components'" in caught.value.hint


@pytest.mark.parametrize(
    ("word", "facet"),
    [
        ("component", "component"),
        ("Components", "component"),
        ("root-cause", "root_cause"),
        ("cause", "root_cause"),
        ("causes", "root_cause"),
        ("org", "organisation"),
        ("organization", "organisation"),
        (" status ", "status"),
        ("source", "source_kind"),
    ],
)
def test_facets_have_other_names(word: str, facet: str) -> None:
    assert facet_name(word) == facet


@pytest.mark.parametrize("word", ["", "componnt", "zzz", "가나다"])
def test_an_unknown_facet_names_others(word: str) -> None:
    with pytest.raises(UnknownTerm) as caught:
        facet_name(word)
    assert caught.value.hint


def test_the_shipped_vocabulary_is_whole() -> None:
    vocabulary = load_vocabulary()
    assert set(vocabulary.terms) == set(vocabulary.versions) == set(KINDS)
    assert set(FACETS) == set(FACET_LABELS)
    for term in vocabulary:
        assert all(term.label.get(lang) for lang in LANGS), term.slug
        others = vocabulary.of(term.kind)
        assert term.parent is None or term.parent in others, term.slug
        assert term.replaced_by is None or not others[term.replaced_by].replaced_by, term.slug


def test_no_circle_of_parents() -> None:
    vocabulary = load_vocabulary()
    for term in vocabulary:
        seen, at = {term.slug}, term.parent
        while at is not None:
            assert at not in seen, term.slug
            seen.add(at)
            at = vocabulary.of(term.kind)[at].parent


def test_a_term_is_known_by_slug_labels_and_synonyms() -> None:
    names = set(load_vocabulary().of("components")["ingress"].names())
    assert {"ingress", "Ingress controller", "인그레스 컨트롤러"} <= names


@pytest.mark.parametrize(
    ("record", "filed"),
    [
        ({"org": "Acme Corp", "org_slug": "acme"}, ["acme"]),
        ({"org": "Google Cloud"}, ["google-cloud"]),
        ({"org": "카카오"}, ["카카오"]),
        ({"org": "…"}, []),
        ({}, []),
    ],
)
def test_an_organisation_without_a_slug_is_filed_under_its_name(
    record: dict[str, Any], filed: list[str]
) -> None:
    tags = tags_of(read_record({"id": "a", **record}), SMALL)
    assert [slug for facet, slug in tags if facet == "organisation"] == filed
