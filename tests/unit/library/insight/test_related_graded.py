"""The related lists of the bundled records against pairs that people judged from the mechanisms.

`tests/graded/related.jsonl` holds for each record the others by grade (3: the same mechanism, 2: the decisive
part of it, 1: worth reading) and some that must not come up. Records without a line were added after the
judging and do not count.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from pilotage.library.bundled import bundled_candidates
from pilotage.library.evaluation import ndcg
from pilotage.library.insight.related import THRESHOLD, RelatedHit, Sides, related
from pilotage.library.stores.opening import open_store
from unit.library.small_library import VOCABULARY, put

GRADED = Path(__file__).parents[3] / "graded" / "related.jsonl"
DEPTH = 5
LEAST_NDCG = 0.77
LEAST_NDCG_WITHOUT_LINKS = 0.61


@dataclass(frozen=True)
class Judged:
    """The judgement about one record and what `related` answers for it."""

    grades: dict[str, float]
    unrelated: frozenset[str]
    hits: tuple[RelatedHit, ...]

    def ndcg(self, names: list[str], judged: set[str]) -> float:
        return ndcg(self.grades, [name for name in names if name in judged], DEPTH)


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    lines = [json.loads(line) for line in GRADED.read_text().splitlines()]
    store = open_store(str(tmp_path_factory.mktemp("related") / "library.db"), create=True)
    try:
        put(store, [candidate.document for candidate in bundled_candidates()])
        sides = Sides(store, VOCABULARY)
        yield {line["id"]: _judged(sides, line) for line in lines}
    finally:
        store.close()


def _judged(sides, line):
    answer = related(sides, line["id"], audience="public", lang="en", limit=100)
    return Judged(line["related"], frozenset(line.get("unrelated", ())), answer.hits)


def mean(values):
    found = list(values)
    return sum(found) / len(found)


def without_links(hits):
    """The order that shared terms, mechanism and wording alone would give."""
    scores = {hit.id: sum(reason.weight for reason in hit.reasons if not reason.hand_made) for hit in hits}
    return sorted(
        (id_ for id_, score in scores.items() if score >= THRESHOLD), key=lambda id_: (-scores[id_], id_)
    )


def test_enough_is_judged():
    lines = [json.loads(line) for line in GRADED.read_text().splitlines()]
    pairs = {
        frozenset((line["id"], other)): grade for line in lines for other, grade in line["related"].items()
    }
    unrelated = {frozenset((line["id"], other)) for line in lines for other in line.get("unrelated", ())}
    assert len([line for line in lines if line["related"]]) >= 40
    assert sum(grade >= 2 for grade in pairs.values()) >= 30
    assert len(unrelated) >= 20
    assert not pairs.keys() & unrelated


def test_what_people_judged_related_comes_first(answers):
    judged = set(answers)
    reached = mean(one.ndcg([hit.id for hit in one.hits], judged) for one in answers.values())
    assert reached >= LEAST_NDCG


def test_the_order_holds_without_links_made_by_hand(answers):
    judged = set(answers)
    reached = mean(one.ndcg(without_links(one.hits), judged) for one in answers.values())
    assert reached >= LEAST_NDCG_WITHOUT_LINKS


def test_nothing_judged_unrelated_is_among_the_first_three(answers):
    wrong = {
        id_: found
        for id_, one in answers.items()
        if (found := one.unrelated & {hit.id for hit in one.hits[:3]})
    }
    assert not wrong
