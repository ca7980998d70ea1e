"""Scores a search on graded queries.

A graded set is JSON Lines: `{"query", "lang", "relevant": {"<id, alias or source address>": grade}}` and,
where one likes, `"kind"`. An empty `relevant` means that the right answer is "no good match".

nDCG is that of Järvelin and Kekäläinen (ACM TOIS 20, 2002) with linear gains, as trec_eval computes it, cut
at ten; MRR is the mean reciprocal rank of the first relevant record; recall@10 the share of relevant records
among the first ten. A wrong refusal counts as 0 in all three.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pilotage.core.errors import InvalidInput, NotFound
from pilotage.core.text import did_you_mean
from pilotage.library.address import canonical_url
from pilotage.library.record import Lang, read_record
from pilotage.library.search.engine import Request, Searcher
from pilotage.library.stores.protocol import Audience, Filters, Store

DEPTH = 10
_MOST = 1000
"""The highest grade; real scales end at 3 or 10."""


@dataclass(frozen=True)
class Graded:
    """One query with what is relevant to it.

    Attributes:
        query: as a person would type it.
        lang: its language.
        kind: a word for the kind of query.
        relevant: id or address -> grade, 1 or more; empty when nothing is.
        place: file and line, for messages.
    """

    query: str
    lang: Lang
    kind: str
    relevant: dict[str, float]
    place: str


@dataclass(frozen=True)
class Score:
    """What one query scored.

    Attributes:
        graded: the query.
        ndcg, reciprocal_rank, recall: 0 to 1; 0 where nothing is relevant.
        refused: whether the answer was "no good match".
        found: ids of the first ten hits.
        missed: relevant ids that are not among them.
        confidence: of the answer.
    """

    graded: Graded
    ndcg: float
    reciprocal_rank: float
    recall: float
    refused: bool
    found: tuple[str, ...]
    missed: tuple[str, ...]
    confidence: float


@dataclass(frozen=True)
class Summary:
    """The mean scores of a group of queries.

    Attributes:
        answerable: number of queries with something relevant.
        unanswerable: number of queries without.
        ndcg, mrr, recall: means over the answerable ones; None when there is none.
        correct_refusals: share of the unanswerable ones that were refused; None when there is none.
        wrong_refusals: share of the answerable ones that were refused; None when there is none.
    """

    answerable: int
    unanswerable: int
    ndcg: float | None
    mrr: float | None
    recall: float | None
    correct_refusals: float | None
    wrong_refusals: float | None

    def to_json(self) -> dict[str, Any]:
        """The documented JSON shape."""
        return {
            "answerable": self.answerable,
            "unanswerable": self.unanswerable,
            "ndcg_at_10": self.ndcg,
            "mrr": self.mrr,
            "recall_at_10": self.recall,
            "correct_refusals": self.correct_refusals,
            "wrong_refusals": self.wrong_refusals,
        }


@dataclass(frozen=True)
class Evaluation:
    """All scores with their sums: over all, by language, by kind.

    Attributes:
        scores: of each query.
        overall, by_lang, by_kind: their sums.
        unknown: what queries name and the store does not hold, each with its place; it counts as missed.
    """

    scores: tuple[Score, ...]
    overall: Summary
    by_lang: dict[str, Summary] = field(default_factory=dict)
    by_kind: dict[str, Summary] = field(default_factory=dict)
    unknown: tuple[str, ...] = ()

    def worst(self, most: int) -> list[Score]:
        """The queries with the lowest scores, wrong refusals and missing refusals first."""
        failed = [s for s in self.scores if (s.ndcg < 1.0 if s.graded.relevant else not s.refused)]
        return sorted(failed, key=lambda s: (s.ndcg, s.graded.place))[:most]

    def to_json(self, most: int) -> dict[str, Any]:
        """The documented JSON shape."""
        return {
            "overall": self.overall.to_json(),
            "by_lang": {key: value.to_json() for key, value in self.by_lang.items()},
            "by_kind": {key: value.to_json() for key, value in self.by_kind.items()},
            "unknown": list(self.unknown),
            "worst": [
                {
                    "query": s.graded.query,
                    "lang": s.graded.lang,
                    "kind": s.graded.kind,
                    "ndcg_at_10": s.ndcg,
                    "refused": s.refused,
                    "found": list(s.found),
                    "missed": list(s.missed),
                    "confidence": s.confidence,
                }
                for s in self.worst(most)
            ],
        }


def read_graded(path: Path) -> list[Graded]:
    """The queries of a graded set.

    Raises:
        NotFound: no such file.
        InvalidInput: a line is not of the described form; the message names it.
    """
    try:
        # Not splitlines: a query may hold one of the line separators of Unicode.
        lines = path.read_text("utf-8-sig").split("\n")
    except OSError as error:
        raise NotFound(
            f"cannot read {path}: {error.strerror}", hint="Name a file of graded queries."
        ) from error
    except UnicodeDecodeError as error:
        raise InvalidInput(
            f"{path}: not UTF-8 at byte {error.start + 1}", hint="Save it as UTF-8."
        ) from error
    found = [_graded(line, f"{path}:{number}") for number, line in enumerate(lines, start=1) if line.strip()]
    if not found:
        raise InvalidInput(
            f"{path}: holds no query", hint='A line is {"query": …, "lang": "en", "relevant": {…}}.'
        )
    return found


def _graded(line: str, place: str) -> Graded:
    hint = 'A line is {"query": "…", "lang": "en" or "ko", "relevant": {"id or address": grade}}.'
    try:
        item = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{place}: {error}", hint=hint) from error
    if not isinstance(item, dict) or not isinstance(item.get("query"), str):
        raise InvalidInput(f"{place}: needs a text 'query'", hint=hint)
    relevant = item.get("relevant")
    if (
        not isinstance(relevant, dict)
        or not _are_grades(relevant.values())
        or item.get("lang") not in {"en", "ko"}
    ):
        raise InvalidInput(
            f"{place}: needs 'relevant' (id -> grade, 0 to {_MOST}) and 'lang' (en or ko)", hint=hint
        )
    kept = {key: float(grade) for key, grade in relevant.items() if grade > 0}
    return Graded(item["query"], item["lang"], str(item.get("kind", "")), kept, place)


def _are_grades(values: Iterable[object]) -> bool:
    return all(
        isinstance(grade, int | float) and not isinstance(grade, bool) and 0 <= grade <= _MOST
        for grade in values
    )


def evaluate(
    searcher: Searcher,
    queries: Sequence[Graded],
    *,
    audience: Audience = "public",
    progress: Callable[[], None] | None = None,
) -> Evaluation:
    """The scores of a search on graded queries.

    Raises:
        NotFound: the store holds none of the records that the queries name.
    """
    names = _names(searcher.store, audience)
    scores, unknown = [], _unknown(queries, names)
    for graded in queries:
        wanted: dict[str, float] = {}
        for name, grade in graded.relevant.items():
            id_ = _resolve(name, names) or name
            wanted[id_] = max(grade, wanted.get(id_, 0.0))
        answer = searcher.search(Request(text=graded.query, audience=audience, lang=graded.lang, limit=DEPTH))
        found = [hit.record.id for hit in answer.hits]
        scores.append(_score(graded, wanted, found, answer.confidence, refused=answer.no_good_match))
        if progress is not None:
            progress()
    return Evaluation(
        scores=tuple(scores),
        overall=_summary(scores),
        by_lang={
            lang: _summary(s for s in scores if s.graded.lang == lang) for lang in _distinct(scores, "lang")
        },
        by_kind={
            kind: _summary(s for s in scores if s.graded.kind == kind) for kind in _distinct(scores, "kind")
        },
        unknown=unknown,
    )


def ndcg(grades: dict[str, float], found: Sequence[str], depth: int = DEPTH) -> float:
    """Normalised discounted cumulative gain of a ranked list, 0 to 1."""
    gained = sum(
        grades.get(name, 0.0) / math.log2(place + 1) for place, name in enumerate(found[:depth], start=1)
    )
    ideal = sorted(grades.values(), reverse=True)[:depth]
    best = sum(grade / math.log2(place + 1) for place, grade in enumerate(ideal, start=1))
    return gained / best if best else 0.0


def _score(
    graded: Graded, wanted: dict[str, float], found: list[str], confidence: float, *, refused: bool
) -> Score:
    first = next((place for place, name in enumerate(found, start=1) if name in wanted), 0)
    missed = tuple(name for name in wanted if name not in found)
    return Score(
        graded=graded,
        ndcg=ndcg(wanted, found),
        reciprocal_rank=1 / first if first else 0.0,
        recall=(len(wanted) - len(missed)) / len(wanted) if wanted else 0.0,
        refused=refused,
        found=tuple(found),
        missed=missed,
        confidence=confidence,
    )


def _names(store: Store, audience: Audience) -> dict[str, str]:
    names: dict[str, str] = {}
    for stored in store.iterate(Filters(withdrawn=True), audience):
        record = read_record(stored.document, where=stored.id)
        for source in record.sources or []:
            names.setdefault(canonical_url(source.url), record.id)
        names |= dict.fromkeys([record.id, *record.aliases], record.id)
    return names


def _resolve(name: str, names: dict[str, str]) -> str | None:
    return names.get(name) or names.get(canonical_url(name))


def _unknown(queries: Sequence[Graded], names: dict[str, str]) -> tuple[str, ...]:
    """What is named and not held: a set of somebody else's may speak of more than this store has."""
    named = [(graded.place, name) for graded in queries for name in graded.relevant]
    lost = [(place, name) for place, name in named if _resolve(name, names) is None]
    known = [key for key in names if "/" not in key]
    hints = {name: "" if "/" in name else did_you_mean(name, known) for _, name in lost}
    if lost and len(lost) == len(named):
        place, name = lost[0]
        raise NotFound(f"{place}: no record '{name}'", hint=hints[name] or "Import the records first.")
    return tuple(
        f"{place}: no record '{name}', which counts as missed. {hints[name]}".rstrip() for place, name in lost
    )


def _distinct(scores: Iterable[Score], attribute: str) -> list[str]:
    return sorted(
        {str(getattr(score.graded, attribute)) for score in scores if getattr(score.graded, attribute)}
    )


def _summary(scores: Iterable[Score]) -> Summary:
    listed = list(scores)
    asked = [score for score in listed if score.graded.relevant]
    empty = [score for score in listed if not score.graded.relevant]

    def mean(values: Iterable[float]) -> float | None:
        numbers = list(values)
        return sum(numbers) / len(numbers) if numbers else None

    return Summary(
        answerable=len(asked),
        unanswerable=len(empty),
        ndcg=mean(score.ndcg for score in asked),
        mrr=mean(score.reciprocal_rank for score in asked),
        recall=mean(score.recall for score in asked),
        correct_refusals=mean(float(score.refused) for score in empty),
        wrong_refusals=mean(float(score.refused) for score in asked),
    )
