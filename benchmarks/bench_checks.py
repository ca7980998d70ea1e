"""Time and memory of a check of a folder: ours and four other tools, same files, in turns, in one run.

    python benchmarks/bench_checks.py [FOLDER] [--peer NAME=PATH]… [--schemas FOLDER] [--rounds 3]
    python benchmarks/bench_checks.py FOLDER --grow 1 10 100 [--release shop]

`FOLDER` holds rendered manifests (`render_charts.py` makes them of public charts); without it our own fixtures are read.
Every tool writes JSON with all that it finds. CPU seconds are those of the process and all its children, memory is the
highest sum over all of them (sampled; a page that several of them share counts once). `--grow` copies the folder so many
times, with the name of the release changed in each copy, and runs ours alone on one folder after the other.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from peers import PEERS, find_peers, version_of

ROOT = Path(__file__).parents[1]
OURS = Path(sys.executable).parent / "pilotage"


@dataclass(frozen=True)
class Spent:
    """What one run took."""

    cpu: float
    wall: float
    memory_mb: float
    written: int


def commands(folder: Path, paths: dict[str, str], schemas: str | None) -> dict[str, list[str]]:
    """How each tool is asked for everything that it finds, as JSON."""
    ours = [str(OURS), "check", "files", str(folder), "--rendered", "--chart-defaults", "--no-config"]
    found = {"pilotage": [*ours, "--output", "json", "--fail-on", "never"]}
    if path := paths.get("checkov"):
        found["checkov"] = [
            path,
            "-d",
            str(folder),
            "--framework",
            "kubernetes",
            "-o",
            "json",
            "--skip-download",
        ]
    if path := paths.get("trivy"):
        quiet = ["--skip-check-update", "--skip-version-check", "--quiet", "--format", "json"]
        found["trivy"] = [path, "config", str(folder), *quiet]
    if path := paths.get("kube-score"):
        files = sorted(str(file) for file in folder.rglob("*.yaml"))
        found["kube-score"] = [path, "score", "-o", "json", *files]
    if (path := paths.get("kubeconform")) and schemas:
        where = f"{schemas}/{{{{.ResourceKind}}}}{{{{.KindSuffix}}}}.json"
        more = ["-ignore-missing-schemas", "-output", "json", "-schema-location", where]
        found["kubeconform"] = [path, "-strict", *more, str(folder)]
    return found


def _resident(group: int) -> float:
    total = 0.0
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                stat = Path(entry.path, "stat").read_text().rpartition(")")[2].split()
                if int(stat[2]) == group:
                    total += _share(Path(entry.path, "smaps_rollup").read_text())
            except OSError:
                continue
    return total


def _share(smaps: str) -> float:
    """The proportional memory of a process in MB: a page that several share counts for each by its part."""
    return next((int(line.split()[1]) / 1000 for line in smaps.splitlines() if line.startswith("Pss:")), 0.0)


def measured(command: list[str]) -> Spent:
    """Runs a command once."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    with tempfile.TemporaryFile() as out:
        begin = time.monotonic()
        process = subprocess.Popen(
            command, stdout=out, stderr=subprocess.DEVNULL, env=environment, start_new_session=True
        )
        peak = 0.0
        while True:
            peak = max(peak, _resident(process.pid))
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                break
            time.sleep(0.02)
        wall = time.monotonic() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        written = out.tell() or os.fstat(out.fileno()).st_size
    if process.returncode not in {0, 1}:
        print(f"{command[0]} ended with {process.returncode}", file=sys.stderr)
    return Spent(usage.ru_utime + usage.ru_stime, wall, max(peak, usage.ru_maxrss / 1000), written)


def compare(folder: Path, paths: dict[str, str], schemas: str | None, rounds: int) -> None:
    """All tools in turns: the medians of the rounds, and of what each took for one of ours."""
    running = commands(folder, paths, schemas)
    spent: dict[str, list[Spent]] = {name: [] for name in running}
    # Files come into the cache of the machine, and byte code is written, as an installation does it for others.
    measured(running["pilotage"])
    for name in running:
        print(f"{name} {version_of(name, paths.get(name))}", end="; ", flush=True)
    print(f"{rounds} rounds in turns, load {os.getloadavg()[0]:.1f}\n", flush=True)
    for _ in range(rounds):
        for name, command in running.items():
            spent[name].append(measured(command))
            print(f"{name}: {spent[name][-1]}", file=sys.stderr, flush=True)
    print(
        "| tool | CPU s | wall s | peak MB | JSON MB | CPU of ours | wall of ours | memory of ours | less CPU: ours |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    ours = spent["pilotage"]
    for name, runs in spent.items():
        told = (
            f"{_median(runs, 'cpu'):.2f}",
            f"{_median(runs, 'wall'):.2f}",
            f"{_median(runs, 'memory_mb'):.0f}",
        )
        ratios = (f"{_times(runs, ours, part):.2f}×" for part in ("cpu", "wall", "memory_mb"))
        less = sum(one.cpu < other.cpu for one, other in zip(ours, runs, strict=True))
        won = f"{less} of {rounds}" if runs is not ours else ""
        print("| " + " | ".join((name, *told, f"{runs[0].written / 1e6:.1f}", *ratios, won)) + " |")


def _times(runs: list[Spent], ours: list[Spent], part: str) -> float:
    """How many times as much as ours, round by round, since the speed of a machine drifts; the median."""
    pairs = zip(runs, ours, strict=True)
    return statistics.median(getattr(one, part) / getattr(other, part) for one, other in pairs)


def _median(runs: list[Spent], part: str) -> float:
    return statistics.median(getattr(one, part) for one in runs)


def grow(folder: Path, copies: list[int], release: str) -> None:
    """Ours on ever more files: what a document costs should stay the same."""
    texts = {path.name: path.read_text() for path in sorted(folder.rglob("*.yaml"))}
    each = sum(text.count("\nkind:") for text in texts.values())
    print("| documents | CPU s | wall s | peak MB | CPU per 1,000 documents |")
    print("|---|---|---|---|---|")
    for number in copies:
        with tempfile.TemporaryDirectory() as target:
            for copy in range(number):
                (Path(target) / str(copy)).mkdir()
                for name, text in texts.items():
                    file = Path(target) / str(copy) / name
                    file.write_text(text.replace(release, f"{release}{copy}"))
            one = measured(commands(Path(target), {}, None)["pilotage"])
        count = each * number
        row = f"| {count:,} | {one.cpu:.1f} | {one.wall:.1f} | {one.memory_mb:.0f}"
        print(f"{row} | {one.cpu / count * 1000:.2f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "tests" / "golden" / "checks")
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=PATH", help=", ".join(PEERS))
    parser.add_argument("--schemas", help="folder of JSON schemas for kubeconform")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--grow", nargs="+", type=int, metavar="COPIES")
    parser.add_argument("--release", default="shop", help="word that tells the copies apart")
    asked = parser.parse_args()
    if asked.grow:
        grow(asked.folder, asked.grow, asked.release)
    else:
        compare(asked.folder, find_peers(asked.peer), asked.schemas, asked.rounds)


if __name__ == "__main__":
    main()
