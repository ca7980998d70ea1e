"""`pilotage serve` against Datasette serving the exported SQLite file, on the same machine, in turns.

    python benchmarks/bench_web.py [--seconds 8] [--requests 20000] [--records N] [--keep FILE] [--workers 1]
    python benchmarks/bench_web.py --records N --routes [--keep FILE]

Both answer JSON: a full-text search of ten hits, and one record. `one` repeats a single address, as a page that is
looked at by many does; `many` walks over 2,000 different queries, so that no answer is asked for twice in a row of
2,000. Then the memory of our process before and after a number of requests. With `--records` generated records take
the place of the bundled ones, and p95 is printed by route; `--keep` takes them from a store that `bench_growth.py` kept,
`--routes` does nothing else.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from generate import QUERIES, records
from pilotage.library.bundled import bundled_candidates
from pilotage.library.exporters.table import exporter_named, write_file
from pilotage.library.importers.model import Candidate
from pilotage.library.ingest import Ingest
from pilotage.library.stores.opening import open_store
from pilotage.library.stores.protocol import Filters
from pilotage.library.terms import load_vocabulary

MANY = 2_000
CONNECTIONS = 16
ROUTES = (
    "/api/v1/incidents", "/api/v1/incidents?component=coredns&extra=facets", "/api/v1/incidents/{id}",
    "/api/v1/incidents/{id}/related", "/api/v1/incidents/{id}/history", "/api/v1/search?q={q}&extra=facets",
    "/api/v1/topics?component=coredns", "/api/v1/vocabulary/components", "/api/v1/organisations",
    "/api/v1/statistics", "/api/v1/statistics/matrix", "/api/v1/changes", "/api/v1/feed.atom", "/", "/search?q={q}",
    "/incidents/{id}", "/topics?facet=component:coredns", "/statistics",
)  # fmt: skip


def build(
    folder: Path, count: int, kept: Path | None = None, *, export: bool = True
) -> tuple[Path, Path, list[str]]:
    """The store, the exported file where it is wanted, ids."""
    path, exported = kept or folder / "library.db", folder / "incidents.db"
    there = path.exists()
    store = open_store(str(path), create=not there)
    if not there:
        candidates = (
            (Candidate(item, f"record {n}", "generated") for n, item in enumerate(records(count)))
            if count
            else bundled_candidates()
        )
        Ingest(store, load_vocabulary()).run(candidates)
    if export:
        write_file(exporter_named("sqlite"), store.iterate(Filters(withdrawn=True), "public"), exported)
    ids = store.ids("public")[:500]
    store.close()
    return path, exported, ids


@contextlib.contextmanager
def running(command: list[str], port: int, folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    with (folder / "server.log").open("wb") as log:
        process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log)
    try:
        deadline = time.monotonic() + 120
        while True:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=30).read()
                break
            except urllib.error.HTTPError:
                break
            except OSError:
                if time.monotonic() > deadline or process.poll() is not None:
                    raise
                time.sleep(0.1)
        yield process
    finally:
        process.terminate()
        process.wait(timeout=60)


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def wrk(folder: Path, port: int, paths: list[str], seconds: int) -> tuple[float, float, float]:
    """Requests per second, p50 and p99 in milliseconds."""
    script = folder / "paths.lua"
    listed = ",".join(json.dumps(path) for path in paths)
    script.write_text(
        f"local p={{{listed}}} local i=0\nrequest=function() i=i%#p+1 return wrk.format('GET',p[i]) end\n"
    )
    command = [
        "wrk",
        "-t1",
        f"-c{CONNECTIONS}",
        f"-d{seconds}s",
        "--latency",
        "-s",
        str(script),
        f"http://127.0.0.1:{port}",
    ]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    if "Non-2xx" in said:
        raise SystemExit(f"not every answer was 200:\n{said}")
    rate = float(re.search(r"Requests/sec:\s+([\d.]+)", said)[1])  # type: ignore[index]
    found = [re.search(rf"{share}%\s+([\d.]+)(us|ms|s)\b", said) for share in (50, 99)]
    unit = {"us": 0.001, "ms": 1.0, "s": 1000.0}
    p50, p99 = (float(match[1]) * unit[match[2]] for match in found if match)
    return rate, p50, p99


def many_queries() -> list[str]:
    words = sorted({word for query in QUERIES for word in query.split() if word.isascii()})
    return [f"{one} {other}" for one in words for other in words if one != other][:MANY]


def quoted(text: str) -> str:
    return urllib.parse.quote(text)


def cases(ids: list[str]) -> dict[str, tuple[list[str], list[str]]]:
    """Name -> addresses of ours, addresses of Datasette."""
    queries = many_queries()
    table = "/incidents/incidents.json?_shape=objects&_size=10&_search="

    def datasette(query: str) -> str:
        # Datasette joins words by AND; ours takes any of them.
        return table + quoted(" OR ".join(query.split())) + "&_searchmode=raw"

    record = "/incidents/incidents.json?_shape=objects&id__exact="
    return {
        "search, one": ([f"/api/v1/search?q={quoted(queries[0])}"], [datasette(queries[0])]),
        "search, many": (
            [f"/api/v1/search?q={quoted(query)}" for query in queries],
            [datasette(query) for query in queries],
        ),
        "record, one": ([f"/api/v1/incidents/{ids[0]}"], [record + ids[0]]),
        "record, many": ([f"/api/v1/incidents/{id_}" for id_ in ids], [record + id_ for id_ in ids]),
    }


def compare(folder: Path, ports: tuple[int, int], ids: list[str], seconds: int) -> None:
    print(
        f"{'':<14}{'ours/s':>9}{'p50 ms':>8}{'p99 ms':>8}{'Datasette/s':>13}{'p50 ms':>8}{'p99 ms':>8}{'ratio':>7}"
    )
    for name, (ours, theirs) in cases(ids).items():
        one = wrk(folder, ports[0], ours, seconds)
        other = wrk(folder, ports[1], theirs, seconds)
        numbers = (
            f"{one[0]:>9.0f}{one[1]:>8.1f}{one[2]:>8.1f}{other[0]:>13.0f}{other[1]:>8.1f}{other[2]:>8.1f}"
        )
        ratio = f"{one[0] / other[0]:.1f}" if other[0] else "none"
        print(f"{name:<14}{numbers}{ratio:>7}", flush=True)


def memory(process: subprocess.Popen[bytes]) -> float:
    """Resident memory in MB."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024  # type: ignore[index]


def grow(folder: Path, process: subprocess.Popen[bytes], port: int, ids: list[str], requests: int) -> None:
    paths = [f"/api/v1/incidents/{id_}" for id_ in ids]
    paths += [f"/api/v1/search?q={quoted(query)}" for query in many_queries()[: len(ids)]]
    wrk(folder, port, paths, 10)
    before, sent = memory(process), 0.0
    while sent < requests:
        sent += wrk(folder, port, paths, 10)[0] * 10
    print(f"memory: {before:.0f} MB, after {sent:.0f} more requests {memory(process):.0f} MB")


def by_route(port: int, ids: list[str]) -> None:
    """p95 of answers that were not kept, one request at a time."""
    print(f"{'route':<60}{'p95 ms':>9}{'max ms':>9}")
    for route in ROUTES:
        times = []
        for turn in range(20):
            path = route.format(id=ids[turn % len(ids)], q=quoted(QUERIES[turn % len(QUERIES)]))
            # Another host is another answer: nothing that was kept is given.
            asked = urllib.request.Request(
                f"http://127.0.0.1:{port}{path}", headers={"Host": f"127.0.0.1:{turn + 1}"}
            )
            started = time.perf_counter()
            urllib.request.urlopen(asked, timeout=300).read()
            times.append((time.perf_counter() - started) * 1000)
        print(f"{route:<60}{statistics.quantiles(times, n=20)[-1]:>9.1f}{max(times):>9.1f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=int, default=8)
    parser.add_argument("--requests", type=int, default=20_000)
    parser.add_argument("--records", type=int, default=0)
    parser.add_argument("--keep", type=Path, help="keep (and reuse) the store in this file")
    parser.add_argument("--routes", action="store_true", help="only p95 by route, without the peer")
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args()
    if shutil.which("wrk") is None:
        raise SystemExit("wrk is not on the PATH (Debian: apt install wrk)")
    binaries = Path(sys.executable).parent
    ours, theirs = free_port(), free_port()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path, exported, ids = build(folder, options.records, options.keep, export=not options.routes)
        print(
            f"{len(ids)} ids, {CONNECTIONS} connections, load average {os.getloadavg()[0]:.1f} at the start"
        )
        serve = [str(binaries / "pilotage"), "serve", "--no-semantic", "--store", str(path)]
        serve += ["--port", str(ours), "--workers", str(options.workers)]
        peer = [str(binaries / "datasette"), "serve", "-i", str(exported), "-p", str(theirs)]
        if options.routes:
            with running(serve, ours, folder):
                by_route(ours, ids)
            return
        with running(serve, ours, folder) as process, running(peer, theirs, folder):
            compare(folder, (ours, theirs), ids, options.seconds)
            if options.workers == 1:
                grow(folder, process, ours, ids, options.requests)
            if options.records:
                by_route(ours, ids)


if __name__ == "__main__":
    main()
