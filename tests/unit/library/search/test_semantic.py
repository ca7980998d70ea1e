from __future__ import annotations

from collections.abc import Iterator

import pytest

from pilotage.library.ingest import Ingest
from pilotage.library.search import semantic
from pilotage.library.search.semantic import SemanticSearch, VectorIndex
from pilotage.library.stores.protocol import Store
from rig.embedder import HashedWords
from unit.library.small_library import VOCABULARY, library, put, record

DOCUMENTS = [
    record("a", title="proxy memory", summary={"en": "retry storm of proxies\n\nquorum lost"}),
    record("b", title="expired certificate", phrases={"en": ["the handshake fails"]}),
    record("p", title="expired certificate of ours", visibility="private"),
]


@pytest.fixture
def store() -> Iterator[Store]:
    with library(*DOCUMENTS) as opened:
        Ingest(opened, VOCABULARY, HashedWords()).run([])
        yield opened


def test_the_nearest_passage_speaks_for_its_record(store: Store) -> None:
    found = SemanticSearch(store, HashedWords()).nearest("quorum lost", "public", limit=10)
    assert list(found) == ["a", "b"]
    assert found["a"].score == pytest.approx(1, abs=0.01)
    assert (found["a"].part, found["a"].lang) == ("summary", "en")
    assert found["a"].breadth < found["a"].score


def test_no_more_than_asked_for(store: Store) -> None:
    assert list(SemanticSearch(store, HashedWords()).nearest("the handshake fails", "public", limit=1)) == [
        "b"
    ]


def test_private_records_are_near_for_all_only(store: Store) -> None:
    search = SemanticSearch(store, HashedWords())
    assert "p" in search.nearest("expired certificate of ours", "all", limit=10)
    assert "p" not in search.nearest("expired certificate of ours", "public", limit=10)


def test_the_index_is_kept_until_the_store_changes(store: Store) -> None:
    search = SemanticSearch(store, HashedWords())
    first = search.index("public")
    assert search.index("public") is first
    put(store, [record("q", title="hidden", visibility="private")])
    assert search.index("public") is first
    put(store, [record("c", title="new")])
    assert search.index("public") is not first


def test_vectors_of_another_model_are_not_compared(store: Store) -> None:
    search = SemanticSearch(store, HashedWords("another"))
    assert search.nearest("expired certificate", "public", limit=10) == {}


def test_an_empty_store_has_nothing_near() -> None:
    with library() as store:
        assert SemanticSearch(store, HashedWords()).nearest("anything", "all", limit=5) == {}
        assert VectorIndex(store, "hashed-words", "all").nearest(None, limit=5) == {}


def test_blocks_of_any_size_give_the_same(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = SemanticSearch(store, HashedWords()).nearest("quorum lost", "all", limit=10)
    monkeypatch.setattr(semantic, "_ROWS_AT_ONCE", 2)
    parts = SemanticSearch(store, HashedWords()).nearest("quorum lost", "all", limit=10)
    assert list(parts) == list(whole)
    assert [near.score for near in parts.values()] == pytest.approx(
        [near.score for near in whole.values()], abs=1e-3
    )


def test_a_record_of_one_passage_is_as_broad_as_near() -> None:
    with library({"id": "one", "title": {"en": "expired certificate"}}) as store:
        Ingest(store, VOCABULARY, HashedWords()).run([])
        (near,) = SemanticSearch(store, HashedWords()).nearest("certificate", "public", limit=5).values()
    assert near.breadth == near.score
