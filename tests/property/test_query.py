"""Whatever is asked, the answer is one, or an error of ours."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pilotage.core.errors import PilotageError
from pilotage.core.text import printable
from pilotage.library.analysis import words
from pilotage.library.importers.model import Candidate
from pilotage.library.ingest import Ingest
from pilotage.library.search.answer import Answer
from pilotage.library.search.engine import Request, Searcher
from pilotage.library.search.query import INVISIBLE, Query
from pilotage.library.search.semantic import SemanticSearch
from pilotage.library.stores.protocol import Filters
from rig import stores
from rig.embedder import HashedWords
from unit.library.small_library import VOCABULARY, library, record

MOST = 25_000
LINES = [
    "2026-01-19T09:12:44.120Z E0119 reflector.go:125] 10.32.0.7:8443 dial tcp: connection refused 503",
    'level=error msg="upstream timed out" component=ingress',
    "java.lang.OutOfMemoryError: Java heap space\n\tat com.example.Proxy.run(Proxy.java:12)",
    'kube_pod_status{namespace="x",pod=~"a.*"} > 1',
]
SIGNS = [*"\"'-:*()^{}[]~|&\\ \n\t\x00", "AND", "OR", "NOT", "NEAR(", "name:", "title:", "component:"]
OPERATORS = ["-title:x", "component:ingress", "status:draft", "org:org-1", '"retry storm"', "-proxy"]
TYPED = ["년", "2019년 13월", "인그레스가", "ingress", "retry storm", "the", "zookeper", "a1a1a1a1"]
ODD = ["ﬁ", "ＨＡ", "e\u0301", "\u1112\u1161\u11ab", "\U0001f300", "a\rb"]
PIECES = st.one_of(st.sampled_from([*SIGNS, *OPERATORS, *TYPED, *ODD, *LINES]), st.text(max_size=20))
SHORT = st.lists(PIECES, max_size=12).map(" ".join)
LONG = st.builds(
    lambda text, times: (text * times)[:MOST], st.one_of(SHORT, st.text(min_size=1)), st.integers(1, 4000)
)

fuzzed = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@pytest.fixture(scope="module")
def searchers() -> Iterator[list[Searcher]]:
    documents = [stores.document(number) for number in range(60)]
    documents += [
        record(
            "tiny",
            title="retry storm of the ingress",
            components=["ingress"],
            phrases={"ko": ["인그레스가 죽어요"]},
        )
    ]
    with library() as store:
        embedder = HashedWords()
        Ingest(store, VOCABULARY, embedder).run(Candidate(item, "test", "test") for item in documents)
        yield [Searcher(store), Searcher(store, SemanticSearch(store, embedder))]


def asked(searcher: Searcher, text: str, **options: Any) -> Answer | None:
    try:
        return searcher.search(Request(text, **options))
    except PilotageError as error:
        # Any of ours will do, as long as it says something.
        return None if error.message else pytest.fail("an error without words")


def check(searcher: Searcher, text: str) -> None:
    started = time.monotonic()
    answer = asked(searcher, text, facets=True, limit=20)
    assert time.monotonic() - started < 20
    if answer is None:
        return
    assert answer.no_good_match == (answer.total == 0)
    assert len(answer.hits) == min(20, answer.total)
    assert 0 <= answer.confidence <= 1
    scores = [hit.score for hit in answer.hits]
    assert scores == sorted(scores, reverse=True)
    check_facets(answer)
    check_words(answer, searcher.understand(text, "public"))
    for hit in answer.hits:
        assert 0 <= hit.why.semantic <= 1
        for snippet in hit.why.snippets:
            ends = [0, *(place for mark in snippet.marks for place in mark)]
            assert ends == sorted(ends), "marks in order, none within another"
            assert ends[-1] <= len(snippet.text)
            assert snippet.marked("", "") == snippet.text
    answer.to_json("ko", searcher.vocabulary)


def check_facets(answer: Answer) -> None:
    """Facets of which every record has exactly one value sum up to the total, others are no greater."""
    if answer.total == 0:
        assert answer.facets == {}
        return
    for facet in ("status", "severity", "organisation"):
        assert sum(answer.facets[facet].values()) == answer.total, facet
    for values in answer.facets.values():
        assert all(0 < count <= answer.total for count in values.values())


def check_words(answer: Answer, query: Query) -> None:
    named = {mention.term.slug for mention in query.mentions}
    # Blanks and breaks of any kind part words, what is not seen is as if it were not there.
    typed = {word for part in query.raw.split() for word in words(printable(INVISIBLE.sub("", part)))}
    for used in answer.used:
        known = used in named or set(words(used)) <= typed or bool(answer.corrections)
        # A Korean word is used without its particle.
        assert known or any(word.startswith(used) for word in typed), used
    for corrected, _ in answer.corrections:
        # A word, or a quoted phrase.
        for word in corrected.strip('"').split():
            assert word in query.raw or any(other.startswith(word) for other in typed), corrected


@pytest.mark.slow
@fuzzed
@given(st.one_of(SHORT, st.text(max_size=200)))
def test_any_typed_text_is_answered(searchers: list[Searcher], text: str) -> None:
    for searcher in searchers:
        check(searcher, text)


@pytest.mark.slow
@settings(fuzzed, max_examples=40)
@given(LONG)
def test_any_long_text_is_answered(searchers: list[Searcher], text: str) -> None:
    check(searchers[0], text)


@pytest.mark.parametrize(
    "piece",
    [
        "1",
        "a1",
        "1a",
        "a-",
        "A",
        "Aé",
        "f",
        "0x",
        ":",
        "::1",
        "1.",
        "1:",
        "-a",
        '"',
        "가",
        "가a",
        "a{",
        "at ",
        "\n",
        "é1",
        "년",
        '{"',
        "\u0301",
    ],
)
def test_a_text_of_one_piece_over_and_over_costs_little(searchers: list[Searcher], piece: str) -> None:
    for end in ("", "z", "_", "é", "\n"):
        text = (piece * MOST)[: MOST - 1] + end
        started = time.monotonic()
        asked(searchers[0], text)
        assert time.monotonic() - started < 5, (piece, end)


@pytest.mark.slow
@settings(fuzzed, max_examples=40)
@given(
    st.one_of(SHORT, st.sampled_from(["", "component:ingress", "-proxy", "retry storm", "인그레스가"])),
    st.integers(1, 7),
)
def test_parts_put_together_are_the_whole(searchers: list[Searcher], text: str, size: int) -> None:
    for searcher in searchers:
        whole = asked(searcher, text, limit=1000)
        if whole is None:
            continue
        part = searcher.search(Request(text, limit=size))
        found: list[Any] = list(part.hits)
        while part.onward.next:
            part = searcher.search(Request(text, limit=size, cursor=part.onward.next))
            assert part.total == whole.total
            found += part.hits
        assert [(hit.record.id, hit.score) for hit in found] == [
            (hit.record.id, hit.score) for hit in whole.hits
        ]
        assert len({hit.record.id for hit in found}) == whole.total


@pytest.mark.slow
@settings(fuzzed, max_examples=40)
@given(SHORT, st.sampled_from(["ingress", "haproxy", "service-discovery"]))
def test_a_filter_is_kept_to(searchers: list[Searcher], text: str, slug: str) -> None:
    for searcher in searchers:
        answer = asked(searcher, text, filters=Filters(all_of=(("component", slug),)), limit=100)
        for hit in answer.hits if answer else ():
            assert slug in (hit.record.components or [])
