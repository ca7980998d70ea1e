"""Import of generated records: records a second and peak memory, against `sqlite-utils insert` with FTS enabled.

    python benchmarks/bench_import.py [records, default 100000]

The peer loads the same JSON Lines into a table and enables FTS5 on title and summary; it makes no revisions, tags,
facet counts, Korean bigrams or digests.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).parent
PEER = """
import json, sys, sqlite_utils
db = sqlite_utils.Database(sys.argv[2])
def rows():
    for line in open(sys.argv[1], encoding="utf-8"):
        r = json.loads(line)
        yield {k: r[k] if not isinstance(r[k], dict) else " ".join(str(v) for v in r[k].values() if v) for k in r}
t = db["incidents"]
t.insert_all(rows(), pk="id", batch_size=500)
t.enable_fts(["title", "summary", "symptoms_text", "trigger", "detection", "lessons", "phrases"], create_triggers=True)
"""


def measured(arguments: list[str]) -> tuple[float, float, float]:
    """(seconds, seconds of processor time, peak MB) of a process; on a machine with other work only the second travels."""
    started = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"failed: {arguments}")
    return time.perf_counter() - started, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main(count: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder)
        sizes = sorted({max(1000, count // 10), count})
        print(
            f"{'records':>8} {'who':<14}{'seconds':>9}{'CPU s':>9}{'records/s':>11}{'peak MB':>9}{'file MB':>9}"
        )
        for size in sizes:
            data = base / f"{size}.jsonl"
            with data.open("w") as out:
                subprocess.run([sys.executable, str(HERE / "generate.py"), str(size)], check=True, stdout=out)
            ours, peer = base / f"ours-{size}.db", base / f"peer-{size}.db"
            command = [
                "-m",
                "pilotage.cli",
                "library",
                "import",
                "--no-semantic",
                "--store",
                str(ours),
                str(data),
            ]
            rows = {
                "sqlite-utils": (measured(["-c", PEER, str(data), str(peer)]), peer),
                "pilotage": (measured(command), ours),
            }
            for name, ((seconds, cpu, peak), path) in rows.items():
                rate, megabytes = size / seconds, path.stat().st_size / 1e6
                print(
                    f"{size:>8} {name:<14}{seconds:>9.1f}{cpu:>9.1f}{rate:>11.0f}{peak:>9.0f}{megabytes:>9.0f}"
                )
            wall, cpu = (rows["pilotage"][0][part] / rows["sqlite-utils"][0][part] for part in (0, 1))
            megabytes = data.stat().st_size / 1e6
            print(
                f"{size:>8} ratio of times {wall:.2f}, of processor times {cpu:.2f}, input {megabytes:.0f} MB"
            )


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
