"""A search as a library call against the same question to Datasette's own in-process client, in turns.

    python benchmarks/bench_datasette.py [records, default 10000]

Datasette serves the SQLite file that `pilotage library export --format sqlite` writes. Its client runs the request
through the whole of Datasette without a socket, and gives ten rows by full-text rank; ours gives ten hits with
reasons and snippets. No query is asked twice in a row.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import time
import warnings
from pathlib import Path

from bench_web import build, many_queries, quoted
from pilotage.library.catalogue import Catalogue
from pilotage.library.search.engine import Request
from pilotage.library.stores.opening import open_store

QUERIES = 200


async def measure(path: Path, exported: Path) -> tuple[list[float], list[float]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from datasette.app import Datasette  # noqa: PLC0415 - it warns while it is imported

        served = Datasette([str(exported)], settings={"num_sql_threads": 1})
        await served.invoke_startup()
    ours: list[float] = []
    theirs: list[float] = []
    with open_store(str(path)) as store:
        catalogue = Catalogue(store)
        for query in many_queries()[:QUERIES]:
            started = time.perf_counter()
            catalogue.search(Request(query)).to_json("en", catalogue.vocabulary)
            ours.append(time.perf_counter() - started)
            words = quoted(" OR ".join(query.split()))
            started = time.perf_counter()
            answer = await served.client.get(
                f"/incidents/incidents.json?_shape=objects&_size=10&_search={words}&_searchmode=raw"
            )
            theirs.append(time.perf_counter() - started)
            if answer.status_code != 200:
                raise SystemExit(f"Datasette answered {answer.status_code}: {answer.text[:200]}")
    return ours, theirs


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("records", type=int, nargs="?", default=10_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        path, exported, _ = build(Path(name), options.records)
        ours, theirs = asyncio.run(measure(path, exported))
    print(f"{options.records} records, {QUERIES} queries, in turns, one thread")
    print(f"{'':<22}{'requests/s':>11}{'p50 ms':>9}{'p95 ms':>9}")
    for label, times in (("pilotage, library call", ours), ("Datasette, its client", theirs)):
        high = statistics.quantiles(times, n=20)[-1]
        print(
            f"{label:<22}{len(times) / sum(times):>11.0f}{statistics.median(times) * 1000:>9.1f}{high * 1000:>9.1f}"
        )
    print(f"ratio of requests/s: {sum(theirs) / sum(ours):.1f}")


if __name__ == "__main__":
    main()
