"""How the cost of search and import grows with the number of records: a table, and the chart of the docs.

    python benchmarks/bench_growth.py [--sizes 1000 10000 100000] [--svg docs/explanation/growth.svg] [--keep FILE]

The peer of the search is the bare FTS5 query of `bench_search.py`, asked in turns with ours in the same run. Import is
told per record: a flat line means that a record costs the same in a library of any size.
"""

from __future__ import annotations

import argparse
import math
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench_search import FILTERS, timed
from generate import QUERIES, records
from pilotage.library.analysis import tokens
from pilotage.library.importers.model import Candidate
from pilotage.library.ingest import Ingest
from pilotage.library.search.engine import Request, Searcher
from pilotage.library.stores.opening import open_store
from pilotage.library.terms import load_vocabulary

ROUNDS = 3
SERIES = ("bare FTS5, p50", "search, p50", "search with filter and facets, p50", "import of one record")
COLOURS = ("#8a8f98", "#005f9e", "#00827f", "#b5338a")
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640, 400, 64, 24, 64, 48


@dataclass(frozen=True)
class Point:
    """Milliseconds of each series at one number of records."""

    records: int
    spent: tuple[float, ...]


def filled(path: Path, count: int) -> float:
    """Seconds that the import took, the making of the records left out."""
    outside = 0.0

    def candidates() -> Iterator[Candidate]:
        nonlocal outside
        found = records(count)
        for number in range(count):
            started = time.perf_counter()
            document = next(found)
            outside += time.perf_counter() - started
            yield Candidate(document, f"record {number}", "generated")

    with open_store(str(path), create=True) as store:
        return timed(lambda: Ingest(store, load_vocabulary()).run(candidates())) - outside


def measure(count: int, keep: Path | None = None) -> Point:
    with tempfile.TemporaryDirectory() as folder:
        path = keep or Path(folder) / "library.db"
        made = filled(path, count)
        with open_store(str(path)) as store, sqlite3.connect(path) as bare:
            searcher = Searcher(store)
            ask = (
                lambda q: bare.execute(
                    "SELECT rowid FROM public_index WHERE public_index MATCH ? ORDER BY rank LIMIT 10",
                    (" OR ".join(f'"{token}"' for token in dict.fromkeys(tokens(q))),),
                ).fetchall(),
                lambda q: searcher.search(Request(q)),
                lambda q: searcher.search(Request(q, filters=FILTERS, facets=True)),
            )
            times: list[list[float]] = [[] for _ in ask]
            for turn in range(ROUNDS + 1):
                for query in QUERIES:
                    for place, work in enumerate(ask):
                        spent = timed(lambda work=work, query=query: work(query))
                        if turn:
                            times[place].append(spent)
    return Point(count, (*(statistics.median(found) * 1000 for found in times), made / count * 1000))


def chart(points: list[Point]) -> str:
    """Both axes logarithmic: a line of slope 1 is a cost that grows as the library does."""
    values = [value for point in points for value in point.spent]
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    first, last = math.log10(points[0].records), math.log10(points[-1].records)

    def x(count: float) -> float:
        return LEFT + (math.log10(count) - first) / (last - first) * (WIDTH - LEFT - RIGHT)

    def y(value: float) -> float:
        return HEIGHT - BOTTOM - (math.log10(value) - low) / (high - low) * (HEIGHT - TOP - BOTTOM)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">',
        "<style>text { font: 12px system-ui, sans-serif }</style>",
        "<title>Milliseconds by number of records, both axes logarithmic</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
    ]
    for power in range(low, high + 1):
        at = y(10.0**power)
        label = f"{10.0**power:g} ms"
        parts.append(f'<path d="M{LEFT} {at:.1f}H{WIDTH - RIGHT}" stroke="#d8dce2"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{at + 4:.1f}" text-anchor="end" fill="#444">{label}</text>')
    for point in points:
        label = f"{point.records:,} records"
        anchor = {points[0]: "start", points[-1]: "end"}.get(point, "middle")
        parts.append(
            f'<text x="{x(point.records):.1f}" y="{HEIGHT - 20}" text-anchor="{anchor}" fill="#444">{label}</text>'
        )
    for place, (name, colour) in enumerate(zip(SERIES, COLOURS, strict=True)):
        line = " ".join(f"{x(point.records):.1f},{y(point.spent[place]):.1f}" for point in points)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [
            f'<circle cx="{x(point.records):.1f}" cy="{y(point.spent[place]):.1f}" r="3.5" fill="{colour}"/>'
            for point in points
        ]
        column, row = place % 2, place // 2
        left, top = LEFT + column * 260, 20 + row * 20
        parts.append(
            f'<path d="M{left} {top - 4}h20" stroke="{colour}" stroke-width="3"/>'
            f'<text x="{left + 28}" y="{top}" fill="#222">{name}</text>'
        )
    return "\n".join([*parts, "</svg>", ""])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--svg", type=Path, help="write the chart to this file")
    parser.add_argument(
        "--keep", type=Path, help="keep the largest store in this file, for the other scripts"
    )
    options = parser.parse_args()
    print(f"{'records':>8}  " + "  ".join(f"{name} ms" for name in SERIES))
    points = []
    for size in options.sizes:
        point = measure(size, options.keep if size == max(options.sizes) else None)
        points.append(point)
        cells = "  ".join(
            f"{value:>{len(name) + 3}.2f}" for name, value in zip(SERIES, point.spent, strict=True)
        )
        print(f"{size:>8}  {cells}", flush=True)
    if options.svg:
        options.svg.write_text(chart(points), encoding="utf-8")


if __name__ == "__main__":
    main()
