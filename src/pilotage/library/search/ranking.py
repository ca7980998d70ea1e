"""How candidates are ordered, and when the best of them is not good enough. Pure.

The constants of this module are fitted on the graded queries in `tests/graded` by `benchmarks/calibrate.py`;
`docs/explanation/search.md` tells what each means and what it was worth.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from pilotage.library.analysis import is_hangul, tag_token
from pilotage.library.search.plan import Clue, Plan
from pilotage.library.search.query import Query
from pilotage.library.search.semantic import Likeness
from pilotage.library.stores.protocol import Tag
from pilotage.library.terms import FACETS

_FACET_OF = {kind: facet for facet, kind in FACETS.items() if kind}


@dataclass(frozen=True)
class Tuning:
    """The fitted constants, one set for answers from words alone and one for words and meaning.

    Attributes:
        lexical: weight of the BM25 score, taken relative to the best candidate's.
        semantic: weight of the cosine.
        coverage: weight of the share of the query that a record knows of.
        named: what a record gains when the query names its organisation, and again its date.
        intercept, by_coverage, by_semantic, by_lexical: of the logistic regression that gives the confidence.
        refuse_below: confidence of the best candidate below which the answer is "no good match".
        tail: share of the best score below which a candidate is not among the good ones.
    """

    lexical: float
    semantic: float
    coverage: float
    named: float
    intercept: float
    by_coverage: float
    by_semantic: float
    by_lexical: float
    refuse_below: float
    tail: float


WORDS_ALONE = Tuning(
    lexical=0.6, semantic=0.0, coverage=0.4, named=0.5,
    intercept=-4.0, by_coverage=8.0, by_semantic=0.0, by_lexical=0.1, refuse_below=0.5, tail=0.35,
)  # fmt: skip
WORDS_AND_MEANING = Tuning(
    lexical=0.45, semantic=0.6, coverage=0.3, named=0.5,
    intercept=-6.0, by_coverage=6.0, by_semantic=6.0, by_lexical=0.1, refuse_below=0.5, tail=0.35,
)  # fmt: skip


@dataclass(frozen=True)
class Evidence:
    """What speaks for one candidate.

    Attributes:
        id: of the record.
        lexical: its BM25 score.
        likeness: how near it is in meaning, if it is near.
        held: its tokens; empty for candidates too far down to be read closely.
        tags: its tags, likewise.
    """

    id: str
    lexical: float
    likeness: Likeness | None
    held: AbstractSet[str] = frozenset()
    tags: AbstractSet[Tag] = frozenset()


@dataclass(frozen=True)
class Ranked:
    """A candidate with its place.

    Attributes:
        id: of the record.
        score: what it is ordered by; comparable within one answer only.
        confidence: that it is what was asked for, 0 to 1.
        good: whether it is shown.
        semantic_share: share of the score that comes from likeness of meaning.
        nearest: the part that is nearest in meaning.
        matched: the clues of the query that it knows of.
        tags: its tags; empty for candidates too far down to be read closely.
    """

    id: str
    score: float
    confidence: float
    good: bool
    semantic_share: float
    nearest: str
    matched: tuple[Clue, ...]
    tags: AbstractSet[Tag]


def rank(query: Query, plan: Plan, evidence: Sequence[Evidence], *, semantic: bool) -> list[Ranked]:
    """All candidates, best first; ties by id.

    Args:
        query: as understood.
        plan: its clues.
        evidence: the candidates.
        semantic: whether likeness of meaning was asked for.
    """
    tuning = WORDS_AND_MEANING if semantic else WORDS_ALONE
    top = max((item.lexical for item in evidence), default=0.0) or 1.0
    ranked = [_weigh(query, plan, item, top, tuning) for item in evidence]
    ranked.sort(key=lambda item: (-item.score, item.id))
    if not ranked:
        return []
    best = ranked[0].score
    sure = _demanded(query) or max(item.confidence for item in ranked[:3]) >= tuning.refuse_below
    return [
        Ranked(
            id=item.id, score=item.score, confidence=item.confidence,
            good=sure and (item.score >= tuning.tail * best or _demanded(query)),
            semantic_share=item.semantic_share, nearest=item.nearest, matched=item.matched, tags=item.tags,
        )
        for item in ranked
    ]  # fmt: skip


def _demanded(query: Query) -> bool:
    """Whether the query itself says what a record must have: quoted phrases and titles are not guessed at."""
    return bool(query.require or query.title)


def _weigh(query: Query, plan: Plan, item: Evidence, top: float, tuning: Tuning) -> Ranked:
    matched = tuple(clue for clue in plan.clues if _knows(item, clue))
    asked = sum(clue.weight for clue in plan.clues)
    covered = sum(clue.weight for clue in matched) / asked if asked else 0.0
    dated = _dated(query, item)
    named = _named(plan, item)
    cosine = max(0.0, item.likeness.score) if item.likeness else 0.0
    by_meaning = tuning.semantic * cosine
    score = tuning.lexical * item.lexical / top + by_meaning + tuning.coverage * covered + tuning.named * (dated + named)
    if query.dates and not plan.clues:
        covered = dated
    logit = (
        tuning.intercept
        + tuning.by_coverage * covered
        + tuning.by_semantic * cosine
        + tuning.by_lexical * min(item.lexical, 40.0)
        + 2.0 * min(1.0, dated * named)
    )
    return Ranked(
        id=item.id, score=score, confidence=1 / (1 + math.exp(-max(-30.0, min(30.0, logit)))), good=False,
        semantic_share=by_meaning / score if score > 0 else 0.0,
        nearest=item.likeness.part if item.likeness else "", matched=matched, tags=item.tags,
    )  # fmt: skip


def _knows(item: Evidence, clue: Clue) -> bool:
    if any((_FACET_OF[term.kind], term.slug) in item.tags for term in clue.concepts if term.kind in _FACET_OF):
        return True
    if not item.held or not clue.tokens:
        return False
    held = [token for token in clue.tokens if token in item.held]
    if is_hangul(clue.text):
        return 2 * len(held) > len(clue.tokens)
    return len(held) == len(clue.tokens)


def _named(plan: Plan, item: Evidence) -> float:
    organisations = {
        term.slug for clue in plan.clues for term in clue.concepts if term.kind == "organisations"
    }
    return 1.0 if any(("organisation", slug) in item.tags for slug in organisations) else 0.0


def _dated(query: Query, item: Evidence) -> float:
    best = 0.0
    for year, month in query.dates:
        if ("year", year) not in item.tags:
            continue
        if month is not None and tag_token("month", f"{year}-{month:02}") in item.held:
            return 1.0
        best = max(best, 1.0 if month is None else 0.4)
    return best
