"""How candidates are ordered, and when the best of them is not good enough. Pure.

The constants are fitted by `benchmarks/calibrate.py` on one half of the queries in `tests/graded` and checked
on the other, which no constant was fitted on; see `docs/explanation/search.md`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import astuple, dataclass

from pilotage.library.analysis import is_hangul, tag_token
from pilotage.library.search.plan import Clue, Plan
from pilotage.library.search.query import Query
from pilotage.library.search.semantic import Likeness
from pilotage.library.stores.protocol import Tag
from pilotage.library.terms import FACET_OF

_KEYWORDS = 2
"""A query of so few words is a look-up by keyword: not refused when one record knows of all of them."""
_FITTED_ON = 100
"""Number of records from which a BM25 score counts as it is."""
_HALF = 0.5


@dataclass(frozen=True)
class Weights:
    """What a candidate's place is made of.

    Attributes:
        lexical: of its BM25 score relative to the best candidate's.
        semantic: of the cosine of its nearest passage.
        breadth: of the mean cosine of the next passages.
        coverage: of the share of the query that it knows of.
        named: of being by an organisation, and again of a date, that the query names.
    """

    lexical: float
    semantic: float
    breadth: float
    coverage: float
    named: float


@dataclass(frozen=True)
class Signals:
    """What tells whether the best candidate is what was asked for; the last three speak against it.

    Attributes:
        coverage: share of the query, by how much each part says, that it knows of.
        lexical: ln(1 + BM25 score), the score of a small library scaled up.
        known: share of the query that any record knows of.
        cosine: of its nearest passage.
        breadth: mean cosine of the next passages.
        named: 1 when the query names its organisation and its date.
        titled: share of the query of which its title, organisation or ids hold a token.
        agreeing: ln(1 + the number of parts of the query that it knows of): many say more than a rare one.
        adjacent: ln(1 + the number of neighbouring words of the query that stand side by side in it too).
        missed: 1 when a typed query names an organisation, and the candidate is not by it nor speaks of it.
        elsewhere: share of the query that names what the library's field rarely speaks of, nor this title.
        unheard: share of the plain words of the query, by their number, that no record holds.
    """

    coverage: float
    lexical: float
    known: float
    cosine: float
    breadth: float
    named: float
    titled: float
    agreeing: float
    adjacent: float
    missed: float
    elsewhere: float
    unheard: float


@dataclass(frozen=True)
class Regression:
    """A logistic regression that turns signals into a confidence.

    Attributes:
        refuse_below: confidence below which the answer is "no good match".
        intercept: the log-odds without any signal.
        slopes: what each signal adds to them.
    """

    refuse_below: float
    intercept: float
    slopes: Signals


@dataclass(frozen=True)
class Tuning:
    """The fitted constants of one way of answering.

    Attributes:
        weights: of the order.
        typed: how sure a typed query's answer is.
        pasted: how sure a paste's is; all logs share words, so the same coverage means less.
        tail: share of the best score below which a candidate is not among the good ones.
    """

    weights: Weights
    typed: Regression
    pasted: Regression
    tail: float


WORDS_ALONE = Tuning(
    weights=Weights(lexical=0.45, semantic=0.0, breadth=0.0, coverage=0.15, named=0.05),
    typed=Regression(
        0.4, -8.87, Signals(4.58, 0.13, 2.50, 0.0, 0.0, 2.23, 6.33, 3.32, 0.0, -1.17, -14.28, 0.0)
    ),
    pasted=Regression(
        0.35, -9.33, Signals(1.7, 1.41, 0.0, 0.0, 0.0, 1.85, 4.71, 2.31, 5.44, -3.76, -15.27, -5.02)
    ),
    tail=0.2,
)
WORDS_AND_MEANING = Tuning(
    weights=Weights(lexical=0.45, semantic=0.5, breadth=0.6, coverage=0.3, named=0.05),
    typed=Regression(
        0.35, -14.66, Signals(4.62, 0.88, 1.04, 7.25, 12.13, 4.35, 6.32, 1.66, 0.0, -2.87, -12.11, 0.0)
    ),
    pasted=Regression(
        0.25, -16.29, Signals(2.27, 1.14, 0.0, 9.84, 11.8, 6.45, 3.6, 1.9, 3.84, -3.23, -12.61, -5.88)
    ),
    tail=0.4,
)


@dataclass(frozen=True)
class Evidence:
    """What speaks for one candidate.

    Attributes:
        id: of the record.
        lexical: its BM25 score.
        likeness: how near it is in meaning, if it is near.
        held: which of `told_tokens` it holds; empty for candidates too far down to be read closely.
        tags: its tags, likewise.
        titled: which of `told_tokens` its title, organisation or id holds, likewise.
    """

    id: str
    lexical: float
    likeness: Likeness | None
    held: AbstractSet[str] = frozenset()
    tags: AbstractSet[Tag] = frozenset()
    titled: AbstractSet[str] = frozenset()


@dataclass(frozen=True)
class Ranked:
    """A candidate with its place.

    Attributes:
        id: of the record.
        score: what it is ordered by; comparable within one answer only.
        semantic_share: share of the score that comes from likeness of meaning.
        nearest: the part that is nearest in meaning.
        matched: the clues of the query that it knows of.
        tags: its tags; empty for candidates too far down to be read closely.
    """

    id: str
    score: float
    semantic_share: float
    nearest: str
    matched: tuple[Clue, ...]
    tags: AbstractSet[Tag]


@dataclass(frozen=True)
class Ranking:
    """All candidates in order, and how sure it is that the first is what was asked for.

    Attributes:
        ranked: best first; ties by id.
        confidence: 0 to 1; 0 without candidates.
        signals: what the confidence rests on; None without candidates.
        good: the candidates to show; empty when the confidence is too low.
    """

    ranked: tuple[Ranked, ...]
    confidence: float
    signals: Signals | None
    good: tuple[Ranked, ...]


def rank(query: Query, plan: Plan, evidence: Sequence[Evidence], tuning: Tuning) -> Ranking:
    """The candidates of a query in order.

    Args:
        query: as understood.
        plan: its clues.
        evidence: the candidates.
        tuning: the constants; `WORDS_AND_MEANING` where likeness was asked for, else `WORDS_ALONE`.
    """
    if not evidence:
        return Ranking((), 0.0, None, ())
    top = max(item.lexical for item in evidence) or 1.0
    weighed = [(_weigh(query, plan, item, top, tuning.weights), item) for item in evidence]
    weighed.sort(key=lambda pair: (-pair[0].score, pair[0].id))
    ranked = tuple(place for place, _ in weighed)
    signals = _signals(query, plan, *weighed[0])
    judge = tuning.pasted if query.pasted else tuning.typed
    confidence = confidence_of(signals, judge)
    if query.require or query.title:
        # Quoted phrases and titles are demands of the query itself; what meets them is not guessed at.
        return Ranking(ranked, 1.0, signals, ranked)
    if _is_look_up(query, plan, *weighed[0]):
        confidence = max(confidence, judge.refuse_below)
    if confidence < judge.refuse_below:
        return Ranking(ranked, confidence, signals, ())
    floor = tuning.tail * ranked[0].score
    return Ranking(ranked, confidence, signals, tuple(item for item in ranked if item.score >= floor))


def _is_look_up(query: Query, plan: Plan, best: Ranked, item: Evidence) -> bool:
    """`etcd`, `expired certificate`, `january 2019`: few words or a date, and one record holds all."""
    if query.pasted:
        return False
    if query.dates and not plan.clues:
        return _dated(query, item) == 1.0
    return 0 < len(plan.clues) <= _KEYWORDS and len(best.matched) == len(plan.clues)


def told_tokens(query: Query, plan: Plan) -> frozenset[str]:
    """The tokens, and pairs of neighbours, by which a candidate can show that it knows of the query."""
    months = {tag_token("month", f"{year}-{month:02}") for year, month in query.dates if month is not None}
    return frozenset(token for clue in plan.clues for token in clue.tokens) | months | frozenset(plan.pairs)


def confidence_of(signals: Signals, regression: Regression) -> float:
    """The probability that the best candidate is relevant."""
    logit = regression.intercept + sum(
        a * b for a, b in zip(astuple(signals), astuple(regression.slopes), strict=True)
    )
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, logit))))


def _weigh(query: Query, plan: Plan, item: Evidence, top: float, weights: Weights) -> Ranked:
    matched = tuple(clue for clue in plan.clues if knows(item, clue))
    near = item.likeness
    meaning = (
        weights.semantic * max(0.0, near.score) + weights.breadth * max(0.0, near.breadth) if near else 0.0
    )
    score = (
        weights.lexical * item.lexical / top
        + meaning
        + weights.coverage * _covered(plan, item)
        + weights.named * (_dated(query, item) + _named(plan, item))
    )
    share = meaning / score if score > 0 else 0.0
    return Ranked(item.id, score, share, near.part if near else "", matched, item.tags)


def _signals(query: Query, plan: Plan, best: Ranked, item: Evidence) -> Signals:
    near = item.likeness
    asked = sum(clue.weight for clue in plan.clues)
    known = sum(clue.weight * (1.0 if clue in best.matched else clue.known) for clue in plan.clues)
    dated, named = _dated(query, item), _named(plan, item)
    only_dates = bool(query.dates) and not plan.clues
    return Signals(
        coverage=dated if only_dates else _covered(plan, item),
        lexical=math.log1p(item.lexical * _scale(plan.records)),
        known=known / asked if asked else dated,
        cosine=near.score if near else 0.0,
        breadth=near.breadth if near else 0.0,
        named=dated * named,
        titled=_titled(plan, item) / asked if asked else 0.0,
        agreeing=math.log1p(len(best.matched)),
        adjacent=math.log1p(sum(pair in item.held for pair in plan.pairs)),
        missed=float(not query.pasted and not named and _silent_on_organisation(plan, best)),
        elsewhere=_elsewhere(plan, item) / asked if asked else 0.0,
        unheard=plan.unheard * min(1.0, plan.records / _FITTED_ON),
    )


def _scale(records: int) -> float:
    """What a BM25 score of a small library is worth in one of the size that the constants were fitted on.

    In a library of three records even the rarest word has a low inverse document frequency (FTS5's, never
    below 1e-6), and nothing would ever be good enough.
    """
    if records >= _FITTED_ON:
        return 1.0
    rarest = math.log((max(records, 1) - 0.5) / 1.5)
    return math.log((_FITTED_ON - 0.5) / 1.5) / max(rarest, 1e-6)


def _covered(plan: Plan, item: Evidence) -> float:
    asked = sum(clue.weight for clue in plan.clues)
    return sum(clue.weight * _share(item, clue) for clue in plan.clues) / asked if asked else 0.0


def _titled(plan: Plan, item: Evidence) -> float:
    return sum((clue.weight for clue in plan.clues if not item.titled.isdisjoint(clue.tokens)), 0.0)


def _elsewhere(plan: Plan, item: Evidence) -> float:
    foreign = [clue for clue in plan.clues if clue.elsewhere]
    return sum((clue.weight for clue in foreign if not set(clue.tokens) <= item.titled), 0.0)


def knows(item: Evidence, clue: Clue) -> bool:
    """Whether a candidate shows that it knows of a clue: by a tag, or by its words."""
    return _share(item, clue) > _HALF


def _share(item: Evidence, clue: Clue) -> float:
    """How much of a clue a candidate knows of: all by a tag, of a Korean word the pairs that it holds."""
    if any((FACET_OF[term.kind], term.slug) in item.tags for term in clue.concepts if term.kind in FACET_OF):
        return 1.0
    if not clue.tokens:
        return 0.0
    held = sum(token in item.held for token in clue.tokens)
    return held / len(clue.tokens) if is_hangul(clue.text) else float(held == len(clue.tokens))


def _organisations(plan: Plan) -> set[str]:
    return {term.slug for clue in plan.clues for term in clue.concepts if term.kind == "organisations"}


def _silent_on_organisation(plan: Plan, best: Ranked) -> bool:
    # "aws credentials", "kubernetes.io/…": an organisation may be named for what it makes.
    naming = [clue for clue in plan.clues if any(term.kind == "organisations" for term in clue.concepts)]
    return bool(naming) and not any(clue in best.matched for clue in naming)


def _named(plan: Plan, item: Evidence) -> float:
    return float(any(("organisation", slug) in item.tags for slug in _organisations(plan)))


def _dated(query: Query, item: Evidence) -> float:
    best = 0.0
    for year, month in query.dates:
        if ("year", year) not in item.tags:
            continue
        if month is not None and tag_token("month", f"{year}-{month:02}") in item.held:
            return 1.0
        best = max(best, 1.0 if month is None else 0.4)
    return best
