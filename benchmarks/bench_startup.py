"""Start-up time of the command line against a bare `import click`, whole processes, in turns.

python benchmarks/bench_startup.py [rounds]
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CASES = {
    "import click (the peer)": ["-c", "import click"],
    "pilotage --help": ["-m", "pilotage.cli", "--help"],
    "pilotage library --help": ["-m", "pilotage.cli", "library", "--help"],
    "pilotage library vocab": ["-m", "pilotage.cli", "library", "vocab", "components"],
    "pilotage library search": ["-m", "pilotage.cli", "library", "search", "--no-semantic", "coredns oom"],
}


def seconds(arguments: list[str]) -> float:
    started = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
    return time.perf_counter() - started


def main(rounds: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = str(Path(folder) / "library.db")
        command = ["-m", "pilotage.cli", "library", "import", "--bundled", "--no-semantic", "--store", store]
        subprocess.run([sys.executable, *command], check=True, capture_output=True)
        times: dict[str, list[float]] = {name: [] for name in CASES}
        for _ in range(rounds):
            for name, arguments in CASES.items():
                own = (
                    [*arguments, "--store", store]
                    if "library" in arguments and "--help" not in arguments
                    else arguments
                )
                times[name].append(seconds(own))
    peer = statistics.median(times["import click (the peer)"])
    print(f"{'':<28}{'median ms':>10}{'ratio':>8}   ({rounds} rounds in turns)")
    for name, listed in times.items():
        middle = statistics.median(listed)
        print(f"{name:<28}{middle * 1000:>10.0f}{middle / peer:>8.1f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 9)
