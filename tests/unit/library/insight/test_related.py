from __future__ import annotations

import dataclasses

import pytest

from pilotage.core.errors import InvalidInput, NotFound
from pilotage.library.analysis import tag_token
from pilotage.library.canonical import digest
from pilotage.library.entry import index_entry
from pilotage.library.insight.rarity import LEAST, Rarity
from pilotage.library.insight.related import THRESHOLD, Sides, related
from pilotage.library.record import read_record
from pilotage.library.stores.protocol import New
from unit.library.small_library import VOCABULARY, fillers, library, put, record, step

TAGS = {
    "root_cause": "software-bug",
    "components": ["ingress", "haproxy"],
    "symptoms": ["oom-killed"],
    "contributing": ["retry-storm"],
}


def ask(store, id_, **options):
    sides = Sides(store, VOCABULARY)
    return related(sides, id_, **{"audience": "public", "lang": "en", "limit": 10, **options})


def test_shared_terms_are_reasons_in_both_languages():
    with library(record("a", **TAGS), record("b", org_slug="other", **TAGS), *fillers(20)) as store:
        (hit,) = ask(store, "a").hits
    assert hit.id == "b"
    texts = {reason.text("en") for reason in hit.reasons}
    assert {"same root cause: Software defect", "shared Ingress controller"} <= texts
    korean = {reason.text("ko") for reason in hit.reasons}
    assert {"같은 근본 원인: 소프트웨어 결함", "공통 구성 요소: 인그레스 컨트롤러"} <= korean
    assert "shared Ingress controller" in hit.why("en")
    assert " · " in hit.why("ko")
    assert hit.score == pytest.approx(sum(reason.weight for reason in hit.reasons))
    assert not hit.hand_made


def test_the_json_has_the_documented_shape():
    with library(record("a", **TAGS), record("b", **TAGS), *fillers(20)) as store:
        answer = ask(store, "a").to_json()
    assert list(answer) == ["id", "lang", "total", "next", "threshold", "hits"]
    assert list(answer["hits"][0]["reasons"][0]) == ["kind", "weight", "hand_made", "text", "evidence"]
    assert answer["hits"][0]["why"]["ko"]


def test_rarer_shared_terms_weigh_more():
    common = fillers(20, components=["haproxy"])
    with library(record("a", **TAGS), record("b", **TAGS), *common) as store:
        (hit,) = [hit for hit in ask(store, "a").hits if hit.id == "b"]
        rarity = Rarity(store)
    weights = {
        reason.evidence.slug: reason.weight for reason in hit.reasons if reason.kind == "shared-component"
    }
    assert weights["ingress"] > 10 * weights["haproxy"]
    assert rarity.of_tag(("component", "haproxy")) == LEAST


def test_the_same_organisation_alone_is_no_reason():
    with library(record("a"), record("b"), *fillers(5)) as store:
        assert ask(store, "a").hits == ()


def test_hand_made_links_come_first_and_say_why():
    reasons = {"c": {"en": "the same template bug", "ko": "같은 템플릿 버그"}}
    documents = [
        record("a", related=["c"], related_reasons=reasons, recurrence_of="d", **TAGS),
        record("b", **TAGS),
        record("c", org_slug="other"),
        record("d", org_slug="third", aliases=["old-d"]),
        *fillers(20),
    ]
    with library(*documents) as store:
        hits = ask(store, "a").hits
        back = ask(store, "c").hits
    assert [hit.id for hit in hits] == ["d", "c", "b"]
    assert [hit.hand_made for hit in hits] == [True, True, False]
    assert hits[1].reasons[0].text("en") == "linked by hand: the same template bug"
    assert hits[1].reasons[0].text("ko") == "직접 연결됨: 같은 템플릿 버그"
    assert hits[0].why("en").startswith("cited recurrence")
    assert back == () or back[0].id == "a"


def test_a_link_to_an_alias_and_a_link_from_afar_count():
    with library(record("d", aliases=["old-d"]), *fillers(5)) as store:
        document = record("far", org_slug="other", title="Nothing alike", recurrence_of="old-d")
        read = read_record(document)
        entry = index_entry(read, VOCABULARY)
        columns = entry.columns | {"tags": entry.columns["tags"] + " " + tag_token("link", "old-d")}
        linked = dataclasses.replace(entry, columns=columns)
        with store.transaction() as writer:
            writer.put(New("far", (), document, digest(document), private=False, entry=linked, origin="test"))
        (hit,) = ask(store, "d").hits
        (back,) = ask(store, "far").hits
    assert (hit.id, hit.reasons[0].kind) == ("far", "recurrence")
    assert (back.id, back.reasons[0].kind) == ("d", "recurrence")
    assert back.reasons[0].evidence.to_json() == {"source": "far", "target": "d", "note": {}}


def test_alike_mechanisms_show_the_steps_that_match():
    first = [
        step("reload", "Each reload resets the round robin rotation to the lowest address"),
        step("x", "Engineers slept"),
    ]
    second = [
        step("burn", "Datacentre burnt"),
        step("reset", "The round robin rotation resets to the lowest address"),
    ]
    documents = [
        record("a", mechanism=first),
        record("b", org_slug="other", mechanism=second),
        *fillers(20, mechanism=[step("q", "A quota of disks was reached")]),
    ]
    with library(*documents) as store:
        (hit,) = ask(store, "a").hits
    assert hit.reasons[0].kind == "same-mechanism"
    (pair,) = hit.reasons[0].evidence.pairs
    assert (pair.own, pair.other) == ("reload", "reset")
    assert "rotation" in pair.words
    assert hit.reasons[0].text("en").startswith("similar mechanism: “Each reload")


def test_meaning_counts_where_vectors_are_given():
    documents = [
        record("a", mechanism=[step("s", "Proxies restart and memory grows")]),
        record(
            "b", org_slug="other", mechanism=[step("s", "Proxies restart while everything else idles calmly")]
        ),
        *fillers(20),
    ]
    with library(*documents) as store:
        near = ask(store, "a", vectors=lambda _, others: dict.fromkeys(others, 0.95)).hits
        far = ask(store, "a", vectors=lambda _, others: dict.fromkeys(others, 0.1)).hits
    weight = {reason.kind: reason.weight for hit in near for reason in hit.reasons}["same-mechanism"]
    assert weight == 3.6
    assert weight > max(
        (r.weight for hit in far for r in hit.reasons if r.kind == "same-mechanism"), default=0
    )


def test_korean_records_are_compared_in_korean():
    summary = {
        "ko": "설정 템플릿이 맵을 정렬된 순서로 돌아 프록시가 리로드될 때마다 같은 서버로 요청이 쏠렸다"
    }
    documents = [
        record("a", title={"ko": "첫째"}, summary=summary),
        record("b", title={"ko": "둘째"}, org_slug="other", summary=summary),
        *fillers(20),
    ]
    with library(*documents) as store:
        (hit,) = ask(store, "a", lang="ko").hits
    assert hit.title == "둘째"
    assert hit.reasons[0].kind == "text-likeness"
    assert hit.reasons[0].evidence.words
    assert all(word in summary["ko"] for word in hit.reasons[0].evidence.words)
    assert hit.why("ko") == "비슷한 표현"


def test_withdrawn_records_and_private_ones_stay_out():
    documents = [
        record("a", related=["secret"], **TAGS),
        record("gone", **TAGS) | {"status": "withdrawn", "withdrawn_reason": {"en": "A hoax."}},
        record("secret", visibility="private", **TAGS),
        *fillers(20),
    ]
    with library(*documents) as store:
        assert ask(store, "a").hits == ()
        (hit,) = ask(store, "a", audience="all").hits
        with pytest.raises(NotFound) as caught:
            ask(store, "secret")
    assert hit.id == "secret"
    assert hit.hand_made
    assert "secret" not in caught.value.hint


def test_pages_and_aliases():
    documents = [record(f"r{number}", aliases=[f"old-{number}"], **TAGS) for number in range(5)]
    with library(*documents, *fillers(30)) as store:
        first = ask(store, "old-0", limit=2)
        second = ask(store, "r0", limit=2, cursor=first.onward.next)
    assert first.id == "r0"
    assert (first.total, second.total, second.onward.next) == (4, 4, None)
    assert [hit.id for hit in (*first.hits, *second.hits)] == ["r1", "r2", "r3", "r4"]
    assert all(hit.score >= THRESHOLD for hit in first.hits)


def test_wrong_questions():
    with library(record("alpha")) as store:
        with pytest.raises(NotFound, match="alpah") as caught:
            ask(store, "alpah")
        with pytest.raises(InvalidInput):
            ask(store, "alpha", limit=0)
    assert "alpha" in caught.value.hint


def test_a_change_of_the_public_records_is_seen_by_the_next_question():
    with library(record("a", **TAGS), record("b", **TAGS), *fillers(20)) as store:
        sides = Sides(store, VOCABULARY)
        options = {"audience": "public", "lang": "en", "limit": 10}
        assert [hit.id for hit in related(sides, "a", **options).hits] == ["b"]
        put(store, [record("c", **TAGS)])
        assert {hit.id for hit in related(sides, "a", **options).hits} == {"b", "c"}
