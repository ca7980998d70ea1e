"""Manifests against the published definitions: ours beside kubernetes-validate, same run, same values.

`bench_check_schema.py [FOLDER…]`; without folders our own fixtures are multiplied to 2,123 documents. The peer is
installed into an environment of its own in the user's cache folder. Parsing is left out for both: what is timed
is the comparison of values that are in memory already.
"""

from __future__ import annotations

import json
import platform
import resource
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

import platformdirs

from pilotage.checks.objects import KubeObject
from pilotage.checks.readers.files import read_paths
from pilotage.checks.registry import all_checks
from pilotage.checks.runner import run
from pilotage.checks.scene import Scene
from pilotage.checks.schema.published import definitions, served, table

TESTS = Path(__file__).parents[1] / "tests"
PEER = "kubernetes-validate==1.37.0"
MINOR = 36
DOCUMENTS = 2123
ROUNDS = 5

PEER_SCRIPT = """
import json, resource, sys, time
import kubernetes_validate
values = json.load(open(sys.argv[1]))
kubernetes_validate.validate(values[0], "1.36", strict=True)
start = time.perf_counter()
refused = 0
for value in values:
    try:
        kubernetes_validate.validate(value, "1.36", strict=True)
    except Exception:
        refused += 1
spent = time.perf_counter() - start
print(json.dumps([spent, refused, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]))
"""


def values(folders: list[str]) -> list[dict]:
    paths = folders or [str(TESTS / "golden" / "checks"), str(TESTS / "real" / "schema_objects.yaml")]
    found = [
        dict(one.data)
        for one in read_paths(paths).objects
        if (known := served(one.api_version, one.kind)) is not None and known.first <= MINOR <= known.last
    ]
    if folders:
        return found
    return [found[number % len(found)] for number in range(DOCUMENTS)]


def peer_python() -> Path:
    folder = Path(platformdirs.user_cache_dir("pilotage-bench")) / PEER
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", PEER], check=True)
    return python


def best(action) -> float:
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> None:
    folders = sys.argv[1:]
    start = time.perf_counter()
    table()
    loaded = time.perf_counter() - start
    documents = values(folders)
    print(f"Python {platform.python_version()}, {PEER}, {len(documents)} documents, target 1.{MINOR}")
    shapes = [definitions(MINOR).of(one["apiVersion"], one["kind"]) for one in documents]
    pairs = list(zip(documents, shapes, strict=True))
    refused = sum(not shape.fits(one) for one, shape in pairs)

    def walk() -> None:
        for one, shape in pairs:
            shape.fits(one)

    walked = best(walk)
    ours = {name: one for name, one in all_checks().items() if one.family in {"schema", "api_versions"}}

    def check() -> None:
        run(ours, Scene([KubeObject(one) for one in documents]))

    checked = best(check)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(documents, file)
        file.flush()
        done = subprocess.run(
            [peer_python(), "-c", PEER_SCRIPT, file.name], check=True, capture_output=True, text=True
        )
    spent, peer_refused, peer_peak = json.loads(done.stdout)
    print(f"{'':34}{'seconds':>9}{'per document':>14}{'not fitting':>13}{'peak MiB':>10}")
    rows = (
        ("pilotage, table read", loaded, None, None),
        ("pilotage, walk over values", walked, refused, None),
        (f"pilotage, {len(ours)} checks with findings", checked, None, peak),
        ("kubernetes-validate --strict", spent, peer_refused, peer_peak),
    )
    for name, seconds, wrong, memory in rows:
        each = f"{seconds / len(documents) * 1e6:.0f} µs" if "table" not in name else ""
        print(f"{name:34}{seconds:>9.3f}{each:>14}{wrong if wrong is not None else '':>13}", end="")
        print(f"{memory:>10.0f}" if memory else "")
    print(f"walk: {spent / walked:.0f} times as fast; checks with findings: {spent / checked:.0f} times")


if __name__ == "__main__":
    main()
