"""Search over generated records against a bare query of the same engine over the same text, in turns.

    python benchmarks/bench_search.py [records, default 100000] [--semantic] [--store postgresql://…]

With `--store` the records lie in that database, which is filled first when it is empty; the peer is then
`SELECT num … WHERE words @@ 'a | b | …' ORDER BY ts_rank(…) DESC LIMIT 10`. Otherwise the peer is SQLite itself: `SELECT rowid … WHERE index MATCH 'a OR b …' ORDER BY rank LIMIT 10` on our own index
table, with the tokens of the query. Ours adds what a bare query lacks: vocabulary, dates, ranking by coverage, the
cut-off, the documents, snippets and reasons. With `--semantic` vectors are computed for the first 2,000 records
and repeated for the rest, so that their size is right without hours of encoding.
"""

from __future__ import annotations

import argparse
import importlib
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from generate import QUERIES, records
from pilotage.library.analysis import tokens
from pilotage.library.embedding import load_embedder, vectors_of
from pilotage.library.entry import index_entry
from pilotage.library.importers.model import Candidate
from pilotage.library.ingest import Ingest
from pilotage.library.record import read_record
from pilotage.library.search.engine import Request, Searcher
from pilotage.library.search.semantic import SemanticSearch
from pilotage.library.stores.opening import open_store
from pilotage.library.stores.protocol import Filters, Store
from pilotage.library.terms import load_vocabulary

ROUNDS = 5
FILTERS = Filters(all_of=(("component", "kube-apiserver"),))
VECTORS = 2000


def timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def quantiles(values: list[float]) -> tuple[float, float]:
    ordered = sorted(values)
    return statistics.median(ordered) * 1000, ordered[int(len(ordered) * 0.95)] * 1000


def build(place: str, count: int) -> Store:
    store = open_store(place, create=True)
    if store.count(Filters(), "public"):
        return store
    candidates = (
        Candidate(document, f"record {number}", "generated") for number, document in enumerate(records(count))
    )
    Ingest(store, load_vocabulary()).run(candidates)
    return store


def add_vectors(store: Store, count: int) -> None:
    embedder = load_embedder()
    made = [
        vectors_of(index_entry(read_record(item), load_vocabulary()), embedder)
        for item in records(min(count, VECTORS))
    ]
    for start in range(0, count, VECTORS):
        store.add_vectors(
            embedder.name,
            {
                f"GEN-{number:06}": made[number % len(made)]
                for number in range(start, min(start + VECTORS, count))
            },
        )


def bare_fts5(path: str) -> Callable[[str], object]:
    bare = sqlite3.connect(path)
    return lambda q: bare.execute(
        "SELECT rowid FROM public_index WHERE public_index MATCH ? ORDER BY rank LIMIT 10",
        (" OR ".join(f'"{token}"' for token in dict.fromkeys(tokens(q))),),
    ).fetchall()


def bare_tsquery(url: str) -> Callable[[str], object]:
    bare = importlib.import_module("psycopg").connect(url, autocommit=True)

    def ask(query: str) -> object:
        asked = " | ".join(f"'{token}'" for token in dict.fromkeys(tokens(query)))
        return bare.execute(
            "SELECT num FROM pilotage.public_index WHERE words @@ %(q)s::tsquery"
            " ORDER BY ts_rank(words, %(q)s::tsquery) DESC LIMIT 10",
            {"q": asked},
        ).fetchall()

    return ask


def measure(place: str, store: Store, *, semantic: bool, rounds: int) -> None:
    searcher = Searcher(store)
    meaning = Searcher(store, SemanticSearch(store, load_embedder())) if semantic else None
    peer_name, bare = (
        ("bare tsquery (the peer)", bare_tsquery(place))
        if place.startswith("postgresql:")
        else ("bare FTS5 (the peer)", bare_fts5(place))
    )
    cases: dict[str, Callable[[str], object]] = {
        peer_name: bare,
        "lexical search": lambda q: searcher.search(Request(q)),
        "with a filter and facets": lambda q: searcher.search(Request(q, filters=FILTERS, facets=True)),
    }
    if meaning is not None:
        cases["with vectors"] = lambda q: meaning.search(Request(q))
        print(
            f"first query with vectors (loads model and vectors): {timed(lambda: meaning.search(Request(QUERIES[0]))):.1f} s"
        )
    times: dict[str, list[float]] = {name: [] for name in cases}
    for turn in range(rounds + 1):
        for query in QUERIES:
            for name, work in cases.items():
                spent = timed(lambda work=work, query=query: work(query))
                if turn:  # the first turn warms caches of all sides
                    times[name].append(spent)
    peer = quantiles(times[peer_name])
    print(f"{'':<28}{'p50 ms':>9}{'p95 ms':>9}{'p50 ratio':>11}{'p95 ratio':>11}")
    for name, values in times.items():
        middle, high = quantiles(values)
        print(f"{name:<28}{middle:>9.1f}{high:>9.1f}{middle / peer[0]:>11.2f}{high / peer[1]:>11.2f}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("records", type=int, nargs="?", default=100_000)
    parser.add_argument("--semantic", action="store_true")
    parser.add_argument("--keep", type=Path, help="keep (and reuse) the store in this file")
    parser.add_argument("--store", default="", help="keep (and reuse) the store in this PostgreSQL database")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = options.store or str(options.keep or Path(folder) / "library.db")
        store = build(place, options.records)
        if options.semantic and store.without_vectors(load_embedder().name):
            add_vectors(store, options.records)
        print(
            f"{store.count(Filters(), 'public')} records, {len(QUERIES)} queries, {options.rounds} rounds in turns, {sys.version.split()[0]}, SQLite {sqlite3.sqlite_version}"
        )
        measure(place, store, semantic=options.semantic, rounds=options.rounds)
        store.close()


if __name__ == "__main__":
    main()
