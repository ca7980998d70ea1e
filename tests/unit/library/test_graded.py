"""Floors under the quality of search.

They are a little below what is reached today: a change that makes search worse fails here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from pilotage.library.bundled import bundled_candidates
from pilotage.library.embedding import Embedder, installed, load_embedder
from pilotage.library.evaluation import Evaluation, evaluate, read_graded
from pilotage.library.ingest import Ingest
from pilotage.library.search.engine import Request, Searcher
from pilotage.library.search.semantic import SemanticSearch
from pilotage.library.stores.opening import open_store
from pilotage.library.stores.protocol import Store
from pilotage.library.terms import load_vocabulary

GRADED = Path(__file__).parents[2] / "graded"
HELD_OUT = GRADED / "held-out.jsonl"
LINES = GRADED / "wide-lines.jsonl"

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    path = tmp_path_factory.mktemp("graded") / "library.db"
    with open_store(str(path), create=True) as opened:
        Ingest(opened, load_vocabulary()).run(bundled_candidates())
        yield opened


def scored(store: Store, embedder: Embedder | None = None) -> Evaluation:
    semantic = SemanticSearch(store, embedder) if embedder else None
    return evaluate(Searcher(store, semantic), read_graded(HELD_OUT))


def failures(found: Evaluation) -> str:
    worst = [f"{score.ndcg:.2f} {score.graded.query[:80]}" for score in found.worst(20)]
    return "\n".join(["the worst queries:", *worst])


def test_words_alone(store: Store) -> None:
    found = scored(store)
    assert found.by_lang["en"].ndcg >= 0.86, failures(found)
    assert found.by_lang["ko"].ndcg >= 0.83, failures(found)
    assert found.overall.wrong_refusals <= 0.05, failures(found)
    assert found.overall.correct_refusals >= 0.88, failures(found)


def test_a_single_line_of_a_log_finds_its_case(store: Store) -> None:
    searcher = Searcher(store)
    lines = [graded for graded in read_graded(LINES) if graded.relevant]
    others = [graded for graded in read_graded(LINES) if not graded.relevant]
    first, shown = 0, 0
    for graded in lines:
        query = searcher.understand(graded.query, "public")
        assert query.pasted, graded.query
        noise = [word.text for word in query.words if re.fullmatch(r"\d+|0x\w+|[0-9a-f]{8,}", word.text)]
        assert [word for word in noise if not 400 <= int(word) < 600] == [], graded.query
        ranking = searcher.rank(query, searcher.plan(query), query.filters, "public")
        first += ranking.ranked[0].id in graded.relevant
        shown += bool({item.id for item in ranking.good[:3]} & set(graded.relevant))
    assert first >= 0.8 * len(lines)
    assert shown >= 0.8 * len(lines)
    refused = [searcher.search(Request(graded.query, limit=1)).no_good_match for graded in others]
    assert sum(refused) >= 0.8 * len(others)


@pytest.mark.skipif(not installed(), reason="the extra [semantic] is not installed")
def test_words_and_meaning(store: Store) -> None:
    embedder = load_embedder()
    Ingest(store, load_vocabulary(), embedder).run([])
    found = scored(store, embedder)
    assert found.by_lang["en"].ndcg >= 0.88, failures(found)
    assert found.by_lang["ko"].ndcg >= 0.84, failures(found)
    assert found.overall.wrong_refusals <= 0.05, failures(found)
    assert found.overall.correct_refusals >= 0.88, failures(found)
