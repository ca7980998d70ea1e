"""The same queries give the same ids and the same scores, whichever store holds the records."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pilotage.library.bundled import bundled_candidates
from pilotage.library.evaluation import read_graded
from pilotage.library.importers.model import Candidate
from pilotage.library.ingest import Ingest
from pilotage.library.search.engine import Request, Searcher
from pilotage.library.search.semantic import SemanticSearch
from pilotage.library.stores.opening import open_store
from pilotage.library.stores.protocol import Filters, Store
from pilotage.library.terms import load_vocabulary
from rig import postgres
from rig.embedder import HashedWords
from unit.library.small_library import record

pytestmark = [pytest.mark.real, pytest.mark.slow]

HELD_OUT = Path(__file__).parents[1] / "graded" / "held-out.jsonl"
MORE = [
    "component:ingress",
    "component:ingress -traefik",
    "-dns",
    "title:expired",
    '"stale config"',
    '"up to"',
    "status:draft",
    "dns 2019",
    "org:dfds traefik",
    "",
    "the of",
    "' OR 1=1 --; \x00 \\ % _ & | ! ( ) <-> :*",
    "component:coredns 메모리",
    "주키파 쿼럼",
]
FILTERS = [
    Filters(),
    Filters(withdrawn=True),
    Filters(all_of=(("domain", "kubernetes"),)),
    Filters(all_of=(("year", "2019"),), none_of=(("organisation", "dfds"),)),
]
PRIVATE = [
    record(
        f"own-{number}",
        title={"en": f"Our ingress dropped traffic {number}", "ko": "우리 인그레스 장애"},
        components=["ingress"],
        date=f"2024-0{number}-01",
    )
    for number in range(1, 6)
]


def filled(store: Store) -> None:
    vocabulary, embedder = load_vocabulary(), HashedWords()
    Ingest(store, vocabulary, embedder).run(bundled_candidates())
    own = [Candidate(document, "own", "incident-json") for document in PRIVATE]
    Ingest(store, vocabulary, embedder, private=True).run(own)
    gone = PRIVATE[0] | {"id": "gone", "status": "withdrawn", "withdrawn_reason": {"en": "x"}}
    Ingest(store, vocabulary, embedder).run([Candidate(gone, "gone", "incident-json")])


@pytest.fixture(scope="module")
def both(
    tmp_path_factory: pytest.TempPathFactory, postgres_server: postgres.Server
) -> Iterator[tuple[Store, Store]]:
    path = tmp_path_factory.mktemp("both") / "library.db"
    with (
        open_store(str(path), create=True) as one,
        open_store(postgres_server.database(), create=True) as other,
    ):
        filled(one)
        filled(other)
        yield one, other


@pytest.mark.parametrize("audience", ["public", "all"])
@pytest.mark.parametrize("semantic", [False, True], ids=["words", "meaning"])
def test_the_same_answers(both: tuple[Store, Store], audience, *, semantic: bool) -> None:
    one, other = (
        Searcher(store, SemanticSearch(store, HashedWords()) if semantic else None) for store in both
    )
    queries = [graded.query for graded in read_graded(HELD_OUT)][::6]
    asked = [(query, Filters(), "en") for query in queries]
    # Each with two of the filters, and all with all of them.
    turns = [(FILTERS[number % 4], FILTERS[(number + 2) % 4]) for number in range(len(MORE) + 3)]
    asked += [
        (query, filters, "ko")
        for query, turn in zip([*MORE, *queries[:3]], turns, strict=True)
        for filters in turn
    ]
    hits = 0
    for text, filters, lang in asked:
        request = Request(text, filters, audience, lang, limit=25, facets=True)
        first, second = one.search(request), other.search(request)
        assert [hit.record.id for hit in first.hits] == [hit.record.id for hit in second.hits], text
        assert [hit.score for hit in first.hits] == pytest.approx(
            [hit.score for hit in second.hits], rel=1e-9
        ), text
        shown = first.to_json(lang, one.vocabulary)
        assert shown == second.to_json(lang, other.vocabulary), text
        hits += len(first.hits)
    assert hits > 100


def test_private_records_are_seen_only_by_all(both: tuple[Store, Store]) -> None:
    for store in both:
        searcher = Searcher(store)
        for audience, seen in (("public", set()), ("all", {item["id"] for item in PRIVATE})):
            answer = searcher.search(Request("our ingress dropped traffic", audience=audience, limit=50))
            found = {hit.record.id for hit in answer.hits}
            assert found & {item["id"] for item in PRIVATE} == seen
            assert "gone" not in found
