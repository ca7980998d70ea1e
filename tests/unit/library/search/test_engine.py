from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from pilotage.core.errors import InvalidInput, UnknownTerm
from pilotage.library.importers.model import Candidate
from pilotage.library.ingest import Ingest
from pilotage.library.search import engine
from pilotage.library.search.answer import Answer
from pilotage.library.search.engine import Request, Searcher
from pilotage.library.search.semantic import SemanticSearch
from pilotage.library.stores.protocol import Filters, Store
from rig.embedder import HashedWords
from unit.library.small_library import VOCABULARY, library, put, record

DOCUMENTS = [
    record(
        "elastic-2019",
        org="Elastic",
        org_slug="elastic",
        date="2019-01-18",
        title={
            "en": "Proxies ran out of memory after a ZooKeeper disconnect",
            "ko": "주키퍼 연결 끊김 뒤 프록시 메모리 부족",
        },
        summary={
            "en": "Every proxy rebuilt its cache at once.",
            "ko": "모든 프록시가 동시에 캐시를 다시 만들었다.",
        },
        components=["zookeeper", "haproxy"],
        symptoms=["oom-killed"],
    ),
    record(
        "sky-2019",
        org="Skyscanner",
        org_slug="skyscanner",
        date="2019-04-23",
        title={"en": "A few pods got most of the traffic", "ko": "몇몇 파드에 트래픽이 몰렸다"},
        summary={
            "en": "The ingress controller reloaded HAProxy and lost its counters.",
            "ko": "인그레스 컨트롤러 재적재",
        },
        components=["ingress", "haproxy"],
        symptoms=["uneven-load"],
        phrases={"en": ["some pods are hot, the others idle"], "ko": ["특정 파드만 요청이 몰려요"]},
    ),
    record(
        "cert-2020",
        org="Acme",
        org_slug="acme",
        date="2020-02-03",
        title={"en": "An expired certificate cut the mesh", "ko": "인증서 만료로 메시가 끊겼다"},
        components=["service-mesh"],
        status="draft",
    ),
    record(
        "gone",
        title={"en": "An expired certificate that never was", "ko": "없던 인증서 만료"},
        status="withdrawn",
        withdrawn_reason={"en": "Made up.", "ko": "지어냄"},
    ),
    record(
        "secret", title={"en": "Our own expired certificate", "ko": "우리 인증서 만료"}, visibility="private"
    ),
]


@pytest.fixture
def store() -> Iterator[Store]:
    with library(*DOCUMENTS) as opened:
        yield opened


def ids(answer: Answer) -> list[str]:
    return [hit.record.id for hit in answer.hits]


def ask(store: Store, text: str, **options: Any) -> Answer:
    return Searcher(store).search(Request(text, **options))


def test_a_hit_says_why(store: Store) -> None:
    (hit,) = ask(store, "zookeeper proxies out of memory january 2019").hits
    assert hit.record.id == "elastic-2019"
    assert "zookeeper" in {term.slug for term in hit.why.terms}
    assert hit.why.dates == ("2019-01",)
    assert hit.why.semantic == 0
    title = hit.why.snippets[0]
    assert title.field == "title"
    assert "[memory]" in title.marked("[", "]")
    assert "2019-01" in hit.why.line("en")


def test_words_that_are_no_terms_are_named(store: Store) -> None:
    (hit,) = ask(store, "reloaded counters").hits
    assert hit.why.words == ("reloaded", "counters")
    assert "'reloaded', 'counters' in summary" in hit.why.line("en")
    assert "요약" in hit.why.line("ko")


def test_a_korean_query_finds_an_english_term_and_back(store: Store) -> None:
    label = VOCABULARY.of("symptoms")["uneven-load"].label["ko"]
    assert label not in str(DOCUMENTS)
    assert ids(ask(store, label, lang="ko")) == ["sky-2019"]
    assert ids(ask(store, "oom zookeeper"))[:1] == ["elastic-2019"]


def test_what_is_not_there_is_no_match_with_near_terms(store: Store) -> None:
    answer = ask(store, "zookeper haprxy egg boiling bread")
    assert answer.corrections
    answer = ask(store, "kafka rebalance lag on ingres")
    assert answer.no_good_match
    assert (answer.total, answer.hits, answer.facets) == (0, (), {})
    assert "ingress" in {term.slug for term in answer.suggestions}
    borne = store.facets(Filters(), "public")
    assert {term.slug for term in answer.suggestions} <= {
        slug for values in borne.values() for slug in values
    }


def test_a_typing_error_is_corrected_and_said(store: Store) -> None:
    answer = ask(store, "zookeper")
    assert answer.corrections == (("zookeper", "zookeeper"),)
    assert ids(answer) == ["elastic-2019"]


def test_filters_alone_browse_newest_first(store: Store) -> None:
    answer = ask(store, "component:haproxy", facets=True)
    assert ids(answer) == ["sky-2019", "elastic-2019"]
    assert (answer.total, answer.no_good_match, answer.confidence) == (2, False, 1.0)
    assert answer.facets["year"] == {"2019": 2}
    outside = ask(store, "", filters=Filters(all_of=(("component", "haproxy"),)))
    assert ids(outside) == ids(answer)
    first = ask(store, "component:haproxy", limit=1)
    last = ask(store, "component:haproxy", limit=1, cursor=first.onward.next)
    assert ids(last) == ["elastic-2019"]
    assert last.onward.next is None


def test_nothing_asked_browses_everything_and_stop_words_ask_for_nothing(store: Store) -> None:
    assert ask(store, "").total == 3
    assert ask(store, "the of and").no_good_match


def test_an_exclusion_counts_while_browsing(store: Store) -> None:
    answer = ask(store, "component:haproxy -zookeeper", facets=True)
    assert ids(answer) == ["sky-2019"]
    assert answer.total == 1
    assert answer.facets["component"] == {"haproxy": 1, "ingress": 1}
    assert "zookeeper" not in answer.facets["component"]
    without = ask(store, "-haproxy")
    assert ids(without) == ["cert-2020"]
    first = ask(store, '-"expired certificate"', limit=1)
    assert ids(first) == ["sky-2019"]
    assert ids(ask(store, '-"expired certificate"', limit=1, cursor=first.onward.next)) == ["elastic-2019"]


def test_an_exclusion_of_everything_is_no_match(store: Store) -> None:
    answer = ask(store, "component:haproxy -haproxy", facets=True)
    assert (answer.no_good_match, answer.total, answer.hits, answer.facets) == (True, 0, (), {})


def test_a_word_of_the_title_alone_is_a_query(store: Store) -> None:
    (hit,) = ask(store, "title:expired").hits
    assert hit.record.id == "cert-2020"
    assert hit.why.words == ("expired",)
    assert hit.why.snippets[0].field == "title"
    assert ids(ask(store, "title:counters")) == []
    assert ids(ask(store, "제목:몰렸다")) == ["sky-2019"]
    assert ids(ask(store, 'title:"expired certificate" component:haproxy')) == []


def test_a_quoted_phrase_of_stop_words_is_a_query(store: Store) -> None:
    assert ids(ask(store, '"most of the"')) == ["sky-2019"]
    assert ids(ask(store, '"the most of"')) == []


def test_a_quoted_phrase_must_be_there(store: Store) -> None:
    assert ids(ask(store, '"expired certificate"')) == ["cert-2020"]
    assert ids(ask(store, '"certificate expired"')) == []


def test_a_quoted_name_that_no_record_holds_is_words_beside_other_words(store: Store) -> None:
    searcher = Searcher(store)
    query = searcher.understand('expired certificate "shop-frontend-7"', "public")
    assert query.require == ()
    assert query.corrections == (('"shop frontend 7"', "shop frontend 7"),)
    ranking = searcher.rank(query, searcher.plan(query), query.filters, "public")
    assert ranking.ranked[0].id == "cert-2020"
    # The name says nothing of what happened: the answer is that of the other words.
    assert ids(ask(store, 'expired certificate "shop-frontend-7"')) == ids(ask(store, "expired certificate"))
    assert {clue.text for clue in searcher.plan(query).clues} == {"expired certificate"}
    # A quoted plain word may be what the query is about.
    plain = searcher.plan(searcher.understand('expired certificate "salesforce"', "public"))
    assert "salesforce" in {clue.text for clue in plain.clues}
    # What a record holds is still asked for, and a phrase by itself is all that was asked.
    assert ids(ask(store, 'haproxy "expired certificate"')) == ["cert-2020"]
    assert ids(ask(store, '"shop-frontend-7"')) == []


def test_the_title_alone_cannot_exclude(store: Store) -> None:
    with pytest.raises(InvalidInput, match="excluded from the title alone") as caught:
        ask(store, "certificate -title:expired")
    assert "-expired" in caught.value.hint


def test_withdrawn_records_are_hidden_unless_asked_for(store: Store) -> None:
    assert ids(ask(store, "expired certificate")) == ["cert-2020"]
    assert set(ids(ask(store, "expired certificate", filters=Filters(withdrawn=True)))) == {
        "cert-2020",
        "gone",
    }
    assert ids(ask(store, "expired certificate status:withdrawn")) == ["gone"]
    assert ids(ask(store, "status:withdrawn")) == ["gone"]


def test_private_records_are_seen_by_all_and_marked(store: Store) -> None:
    answer = ask(store, "our own expired certificate", audience="all")
    assert (answer.hits[0].record.id, answer.hits[0].private) == ("secret", True)
    assert "secret" not in ids(ask(store, "our own expired certificate"))


def test_an_unknown_value_names_the_nearest(store: Store) -> None:
    with pytest.raises(UnknownTerm) as caught:
        ask(store, "org:elastik")
    assert "'elastic'" in caught.value.hint


@pytest.mark.parametrize("count", [0, 1, 2, 5, 20, 60])
def test_a_record_is_found_by_its_words_in_a_library_of_any_size(count: int) -> None:
    others = [record(f"other-{number}", title=f"Something else {number}") for number in range(count)]
    with library(DOCUMENTS[1], *others) as store:
        assert ids(ask(store, "some pods are hot, the others idle"))[:1] == ["sky-2019"]
        assert ids(ask(store, "특정 파드만 요청이 몰려요", lang="ko"))[:1] == ["sky-2019"]
        assert ids(ask(store, "reloaded haproxy and lost its counters"))[:1] == ["sky-2019"]
        assert ask(store, "how long to boil an egg").no_good_match


def test_parts_of_an_answer_put_together_are_the_whole(store: Store) -> None:
    query = "haproxy certificate zookeeper memory"
    whole = ask(store, query, limit=50)
    parts = [ask(store, query, limit=1)]
    while parts[-1].onward.next:
        parts.append(ask(store, query, limit=1, cursor=parts[-1].onward.next))
    assert [hit.to_json("en") for part in parts for hit in part.hits] == [
        hit.to_json("en") for hit in whole.hits
    ]
    assert {part.total for part in parts} == {whole.total}


# --- meaning ---------------------------------------------------------------------------------------------


@pytest.fixture
def semantic() -> Iterator[Searcher]:
    with library(*DOCUMENTS) as store:
        embedder = HashedWords()
        Ingest(store, VOCABULARY, embedder).run([])
        yield Searcher(store, SemanticSearch(store, embedder))


def test_likeness_of_meaning_is_a_share_and_names_its_part(semantic: Searcher) -> None:
    answer = semantic.search(Request("some pods are hot, the others idle"))
    assert ids(answer)[:1] == ["sky-2019"]
    why = answer.hits[0].why
    assert answer.semantic == "hashed-words"
    assert 0 < why.semantic <= 1
    assert why.nearest == "phrase"
    assert f"{round(why.semantic * 100)} %" in why.line("en")
    assert why.to_json("en")["nearest_part"] == "phrase"


def test_every_share_lies_between_nothing_and_all(semantic: Searcher) -> None:
    for query in ("haproxy", "expired certificate", "cache of every proxy at once", "몇몇 파드에 트래픽"):
        for hit in semantic.search(Request(query)).hits:
            assert 0 <= hit.why.semantic <= 1


def test_meaning_keeps_to_filters_and_demands(semantic: Searcher) -> None:
    text = "some pods are hot, the others idle"
    for query in (f"{text} component:zookeeper", f'{text} "expired certificate"', f"{text} -haproxy"):
        assert "sky-2019" not in ids(semantic.search(Request(query))), query


def test_meaning_hides_what_words_hide(semantic: Searcher) -> None:
    found = ids(semantic.search(Request("an expired certificate that never was, our own")))
    assert not {"gone", "secret"} & set(found)
    both = Request("our own expired certificate", audience="all", filters=Filters(withdrawn=True))
    assert {"gone", "secret"} <= set(ids(semantic.search(both)))


# --- a store that changes --------------------------------------------------------------------------------


def test_what_was_counted_is_forgotten_when_the_store_changes(store: Store) -> None:
    searcher = Searcher(store)
    assert ids(searcher.search(Request("flux capacitor"))) == []
    put(store, [record("flux", title="The flux capacitor broke")])
    assert ids(searcher.search(Request("flux capacitor"))) == ["flux"]
    assert searcher._frequencies(["flux"]).records == store.frequencies([]).records


def test_what_was_counted_is_kept_while_the_store_stays(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    searcher = Searcher(store)
    searcher.search(Request("expired certificate"))
    asked: list[object] = []
    counted = store.frequencies
    monkeypatch.setattr(store, "frequencies", lambda wanted: asked.append(wanted) or counted(wanted))
    searcher.search(Request("expired certificate"))
    assert asked == []


def test_the_kept_counts_are_bounded_and_stay_right(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "_MOST_COUNTED", 2)
    searcher = Searcher(store)
    fresh = Searcher(store)
    for text in ("expired certificate mesh", "haproxy reloaded counters", "expired certificate haproxy"):
        wanted = text.split()
        assert searcher._frequencies(wanted).of == fresh.store.frequencies(wanted).of
    assert len(searcher._counted[2]) <= 6


def test_many_threads_share_a_searcher_while_an_import_commits() -> None:
    queries = [
        "haproxy",
        "expired certificate",
        "cache of every proxy",
        "주키퍼 연결 끊김",
        "component:haproxy",
    ]
    with library(*DOCUMENTS) as store:
        embedder = HashedWords()
        Ingest(store, VOCABULARY, embedder).run([])
        searcher = Searcher(store, SemanticSearch(store, embedder))
        errors: list[BaseException] = []
        done = threading.Event()

        def read() -> None:
            try:
                while not done.is_set():
                    for query in queries:
                        answer = searcher.search(Request(query, facets=True))
                        assert answer.hits, query
                        assert {"gone", "secret"}.isdisjoint(ids(answer))
                        assert sum(answer.facets["status"].values()) == answer.total
            except BaseException as error:  # noqa: BLE001 - handed to the test
                errors.append(error)

        threads = [threading.Thread(target=read) for _ in range(8)]
        for thread in threads:
            thread.start()
        try:
            for start in range(0, 60, 10):
                fresh = [
                    Candidate(record(f"n{number}", title="HAProxy lost its cache"), "test", "incident-json")
                    for number in range(start, start + 10)
                ]
                Ingest(store, VOCABULARY, embedder).run(fresh)
        finally:
            done.set()
            for thread in threads:
                thread.join()
        assert errors == []
        assert searcher.search(Request("component:haproxy")).total == 2
        assert searcher.search(Request("haproxy lost its cache", limit=100)).total >= 60
