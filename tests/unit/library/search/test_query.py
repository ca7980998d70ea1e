from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pilotage.core.errors import InvalidInput, PilotageError, UnknownTerm
from pilotage.library.search.lexicon import load_lexicon
from pilotage.library.search.query import Query, own_names, parse_query, refuse_unreadable
from pilotage.library.terms import load_vocabulary


def parse(text: str) -> Query:
    return parse_query(
        text, load_vocabulary(), load_lexicon(), {"status": {"draft", "reviewed", "withdrawn"}}
    )


def terms(query: Query) -> set[str]:
    return {mention.term.slug for mention in query.mentions}


def test_operators_are_taken_out_of_the_text() -> None:
    query = parse('component:ingress -haproxy "round robin" title:stale pods')
    assert query.filters.all_of == (("component", "ingress"),)
    assert query.exclude == (("haproxi",),)
    assert query.require == (("round", "robin"),)
    assert query.title == (("stale",),)
    assert [word.text for word in query.words] == ["round", "robin", "pods"]


def test_a_facet_can_be_excluded() -> None:
    assert parse("dns -org:cloudflare").filters.none_of == (("organisation", "cloudflare"),)


@pytest.mark.parametrize(
    ("text", "tag"),
    [
        ("symptom:oom", ("symptom", "oom-killed")),
        ("component:인그레스", ("component", "ingress")),
        ("구성요소:인그레스", ("component", "ingress")),
        ('org:"Google Cloud"', ("organisation", "google-cloud")),
        ("cause:software-bug", ("root_cause", "software-bug")),
        ("year:2019", ("year", "2019")),
        ("status:draft", ("status", "draft")),
    ],
)
def test_a_facet_takes_slugs_labels_and_synonyms(text: str, tag: tuple[str, str]) -> None:
    assert parse(text).filters.all_of == (tag,)


def test_an_unknown_value_names_the_nearest() -> None:
    with pytest.raises(UnknownTerm) as caught:
        parse("component:ingres")
    assert "'ingress'" in caught.value.hint


def test_a_mistyped_field_names_the_nearest() -> None:
    with pytest.raises(UnknownTerm, match="'componnt' is no facet"):
        parse("componnt:ingress")


@pytest.mark.parametrize(
    "text", ["error: timeout", "http://10.0.0.1:443/x", "dial tcp: lookup db", "std::bad_alloc", "a:b"]
)
def test_a_colon_in_text_is_no_operator(text: str) -> None:
    assert parse(text).filters.all_of == ()


@pytest.mark.parametrize(
    ("text", "dates"),
    [
        ("cloudflare november 2025", (("2025", 11),)),
        ("Nov 18, 2025 outage", (("2025", 11),)),
        ("2019년 1월 엘라스틱", (("2019", 1),)),
        ("2019년 엘라스틱", (("2019", None),)),
        ("2025-11-18 cloudflare", (("2025", 11),)),
        ("facebook 2021", (("2021", None),)),
        ("port 8080 and 1500 pods", ()),
        ("2048 threads", ()),
        ("2019.", (("2019", None),)),
        ("2019-01-18", (("2019", 1),)),
        ("2019/01/18", (("2019", 1),)),
        ("2019.01.18", (("2019", 1),)),
        ("2019. 1. 18.", (("2019", 1),)),
        ("2025.11 cloudflare", (("2025", 11),)),
        ("cloudflare 11/2025", (("2025", 11),)),
        ("1/18/2019", (("2019", 1),)),
        ("18/1/2019", (("2019", 1),)),
        ("18.01.2019", (("2019", 1),)),
        ("18 Jan 2019", (("2019", 1),)),
        ("18th of January 2019", (("2019", 1),)),
        ("January 18th, 2019", (("2019", 1),)),
        ("elastic in january of 2019", (("2019", 1),)),
        ("2019 january 18", (("2019", 1),)),
        ("2019-13-45", (("2019", None),)),
        ("19년 1월 18일에", (("2019", 1),)),
        ("2019년1월", (("2019", 1),)),
        ("2019년도 엘라스틱", (("2019", None),)),
        ("2019 1월 엘라스틱", (("2019", 1),)),
        ("2019년 13월", (("2019", None),)),
        ("10년 전", ()),
        ("20년간 무중단", ()),
        ("99년", ()),
        ("jan 2019 or 2020년 2월", (("2019", 1), ("2020", 2))),
    ],
)
def test_dates_are_understood(text: str, dates: tuple[tuple[str, int | None], ...]) -> None:
    assert parse(text).dates == dates


@pytest.mark.parametrize(
    "text",
    ["18 Jan 2019", "2019. 1. 18.", "1/18/2019", "2019년 1월 18일에", "at 10:30 2019-01-18", "18.1.2019"],
)
def test_of_a_date_no_number_is_left(text: str) -> None:
    assert parse(text).words == ()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('"quorum lost', ["quorum", "lost"]),
        ('zookeeper "quorum lost', ["zookeeper", "quorum", "lost"]),
        ('say"quorum lost"', ["quorum", "lost"]),
        ("zoo\u200bkeeper", ["zookeeper"]),
        ("zoo\u00adkeeper", ["zookeeper"]),
        ("don't restart", ["restart"]),
        ("Pod들이 NotReady", ["Pod", "NotReady"]),
        ("etcd가 에서는", ["etcd"]),
        ("ＤＮＳ 장애", ["DNS", "장애"]),
        ("🔥인그레스🔥", ["인그레스"]),
        ("10:30 quorum", ["quorum"]),
    ],
)
def test_no_word_is_lost_and_none_invented(text: str, words: list[str]) -> None:
    assert [word.text for word in parse(text).words] == words


@pytest.mark.parametrize(
    "text",
    ["조직:클라우드플레어", "organisation：cloudflare", unicodedata.normalize("NFD", "조직:클라우드플레어")],
)
def test_operators_are_read_in_any_form_of_the_letters(text: str) -> None:
    assert parse(text).filters.all_of == (("organisation", "cloudflare"),)


def test_a_name_of_ones_own_is_quoted_in_one_piece_with_a_sign_or_a_digit() -> None:
    query = parse('"policy-a" failed on “web1”, not "checkout", not "two words-1" nor 5" nor -"not-this"')
    assert own_names(query) == {("polici", "a"), ("web1",)}


def test_typographic_quotes_quote() -> None:
    assert parse("“quorum lost”").require == (("quorum", "lost"),)


@pytest.mark.parametrize(
    ("text", "slug"),
    [
        ("로드 밸런서 뒤에서", "load-balancer"),
        ("로드밸런서가 죽음", "load-balancer"),
        ("주키퍼에서 쿼럼", "zookeeper"),
        ("the k8s api server", "kube-apiserver"),
        ("elastic cloud", "elastic"),
        ("엘라스틱", "elastic"),
    ],
)
def test_terms_are_recognised_in_both_languages(text: str, slug: str) -> None:
    assert slug in terms(parse(text))


@pytest.mark.parametrize(
    ("text", "slugs"),
    [
        ("targets of the target group are gone", set()),
        ("parse error in line 14", set()),
        ("로드밸런서 타깃이 비었다", set()),
        ("target january 2019", {"target"}),
        ("2019년 타깃 장애", {"target"}),
        ("cloudflare edge", {"cloudflare"}),
    ],
)
def test_an_everyday_word_names_an_organisation_where_a_date_stands(text: str, slugs: set[str]) -> None:
    found = {m.term.slug for m in parse(text).mentions if m.term.kind == "organisations"}
    assert found == slugs


def test_unknown_is_no_term_of_a_report() -> None:
    assert "not-stated" not in {m.term.slug for m in parse("unknown directive, reason unknown").mentions}


def test_a_log_line_is_a_paste_without_its_noise() -> None:
    query = parse(
        "2026-01-19T09:12:44.120Z E0119 reflector.go:125] 10.32.0.7:8443 trace=4bf92f3577b34da6a3ce929d0e0e4736 "
        "pod web-7d4b9c6f5-x2x9z failed: dial tcp 10.0.0.1:443: connect: connection refused 503"
    )
    found = {word.text for word in query.words}
    assert query.pasted
    assert {"dial", "tcp", "refused", "503"} <= found
    assert not any(character.isdigit() for word in found - {"503"} for character in word)
    assert "connection-refused" in terms(query)


def test_operators_in_a_paste_are_text() -> None:
    query = parse('level=error msg="component:nothing -x"\nsecond line')
    assert query.pasted
    assert query.filters.all_of == ()
    assert query.exclude == ()


def test_more_than_is_read_is_cut_and_said() -> None:
    query = parse("connection refused " * 3000)
    assert query.clipped


@pytest.mark.parametrize("text", ["", "   ", "the of and", "??? !!!", "-", '"', "''", "::", "-:-"])
def test_a_query_of_nothing_is_empty(text: str) -> None:
    assert parse(text).empty or text == "-"


def test_broken_text_is_refused() -> None:
    with pytest.raises(InvalidInput, match="not valid text"):
        refuse_unreadable("a\udc80b")


@given(st.text(max_size=300))
def test_no_text_breaks_the_parser(text: str) -> None:
    try:
        parse(text)
    except PilotageError as error:
        assert error.hint or error.message
