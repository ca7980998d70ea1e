"""Which tool reports which planted trap: ours and four others on the same files, in the same run.

    python benchmarks/bench_traps.py [--peer NAME=PATH]… [--schemas FOLDER] [--markdown]

Each file of `benchmarks/traps` is read in two versions, with the trap and mended. A tool has found a trap when one of its
rules speaks up more often on the first than on the second, whatever the rule is called. Peers are `checkov`, `trivy`,
`kube-score` and `kubeconform`, each with all its rules on; `--schemas` is a folder of JSON schemas for kubeconform
(`v1.37.0-local-strict` of the package kubernetes-validate), since it would download them.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from peers import PEERS, find_peers, version_of
from pilotage.checks.readers.assemble import assemble
from pilotage.checks.readers.files import read_paths
from pilotage.checks.registry import all_checks
from pilotage.checks.runner import run

TRAPS = Path(__file__).parent / "traps"
_MADE = re.compile(r"^.* #-$\n?", re.MULTILINE)
_MENDED = re.compile(r"^(\s*)#([+=])(.*\n)", re.MULTILINE)
_HEAD = re.compile(r"^# (pilotage|incident): (\S+)$", re.MULTILINE)

Told = dict[str, Counter[str]]
"""Trap -> rule -> how often."""


@dataclass(frozen=True)
class Trap:
    """A planted trap."""

    id: str
    check: str
    incident: str
    ending: str
    bad: str
    good: str


def traps() -> list[Trap]:
    """All traps, by name."""
    found = []
    for path in sorted(TRAPS.iterdir()):
        if path.suffix == ".md":
            continue
        text = path.read_text()
        head = dict(_HEAD.findall(text))
        bad = _MENDED.sub("", text).replace(" #-\n", "\n")
        good = _MENDED.sub(lambda m: m[1] + ("  " if m[2] == "+" else "") + m[3], _MADE.sub("", text))
        found.append(Trap(path.stem, head["pilotage"], head["incident"], path.suffix, bad, good))
    return found


def ours(folder: Path) -> Told:
    """What Pilotage tells."""
    told: Told = {}
    for one in sorted(folder.iterdir()):
        reading = read_paths([str(one)])
        report = run(all_checks(), assemble(reading), reading=reading)
        told[one.name] = Counter(finding.check for finding in report.findings)
        told[one.name].update("unreadable" for _ in reading.problems)
    return told


def _output(command: list[str]) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def checkov(path: str, folder: Path) -> Told:
    """What Checkov tells; its results name the file."""
    command = [path, "-d", str(folder), "--framework", "kubernetes", "-o", "json", "--compact", "--quiet"]
    found = json.loads(_output([*command, "--skip-download"]))
    told: Told = {}
    for one in found["results"]["failed_checks"]:
        told.setdefault(one["file_path"].strip("/").split("/")[0], Counter())[one["check_id"]] += 1
    return told


def trivy(path: str, folder: Path) -> Told:
    """What Trivy tells."""
    command = [path, "config", str(folder), "--skip-check-update", "--skip-version-check", "--quiet"]
    told: Told = {}
    for one in json.loads(_output([*command, "--format", "json"])).get("Results") or []:
        counter = told.setdefault(one["Target"].split("/")[0], Counter())
        counter.update(rule["ID"] for rule in one.get("Misconfigurations") or [])
    return told


_OPTIONAL = (
    "container-resource-requests-equal-limits",
    "container-cpu-requests-equal-limits",
    "container-memory-requests-equal-limits",
    "container-ephemeral-storage-request-equals-limit",
    "container-ports-check",
    "container-seccomp-profile",
)


def kube_score(path: str, folder: Path) -> Told:
    """What kube-score tells, one trap at a time, since it takes all files as one system."""
    told: Told = {}
    more = [word for name in _OPTIONAL for word in ("--enable-optional-test", name)]
    for one in sorted(folder.iterdir()):
        files = [str(file) for file in one.glob("*.yaml")]
        written = _output([path, "score", "-o", "json", *more, *files]) if files else ""
        told[one.name] = Counter(
            check["check"]["id"]
            for scored in json.loads(written or "[]") or []
            for check in scored.get("checks") or []
            if not check.get("skipped") and check["grade"] < 10
        )
    return told


def kubeconform(path: str, folder: Path, schemas: str) -> Told:
    """What kubeconform tells about fields."""
    where = f"{schemas}/{{{{.ResourceKind}}}}{{{{.KindSuffix}}}}.json"
    command = [path, "-strict", "-output", "json", "-schema-location", where]
    told: Told = {}
    for one in json.loads(_output([*command, str(folder)])).get("resources") or []:
        if one["status"] in {"statusInvalid", "statusError"}:
            name = Path(one["filename"]).relative_to(folder).parts[0]
            told.setdefault(name, Counter())["schema"] += 1
    return told


def new_rules(bad: Told, good: Told, trap: str) -> list[str]:
    """The rules that speak up more often on the trap than on the mended version."""
    return sorted((bad.get(trap, Counter()) - good.get(trap, Counter())).keys())


def tools(paths: dict[str, str], schemas: str | None) -> dict[str, Callable[[Path], Told]]:
    """Every tool that can run here."""
    found: dict[str, Callable[[Path], Told]] = {"pilotage": ours}
    for name, call in (("checkov", checkov), ("trivy", trivy), ("kube-score", kube_score)):
        if name in paths:
            found[name] = lambda folder, call=call, path=paths[name]: call(path, folder)
    if "kubeconform" in paths and schemas:
        found["kubeconform"] = lambda folder: kubeconform(paths["kubeconform"], folder, schemas)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=PATH", help=", ".join(PEERS))
    parser.add_argument("--schemas", help="folder of JSON schemas for kubeconform")
    asked = parser.parse_args()
    paths = find_peers(asked.peer)
    planted = traps()
    rows: dict[str, dict[str, list[str]]] = {one.id: {} for one in planted}
    with tempfile.TemporaryDirectory() as folder:
        for one in planted:
            for kind, text in (("bad", one.bad), ("good", one.good)):
                file = Path(folder) / kind / one.id / f"trap{one.ending}"
                file.parent.mkdir(parents=True)
                file.write_text(text)
        running = tools(paths, asked.schemas)
        for name, call in running.items():
            bad, good = call(Path(folder) / "bad"), call(Path(folder) / "good")
            for one in planted:
                rows[one.id][name] = new_rules(bad, good, one.id)
    print(", ".join(f"{name} {version_of(name, paths.get(name))}" for name in running))
    print()
    print(f"| trap | incident | {' | '.join(running)} |")
    print("|---|---|" + "---|" * len(running))
    for one in planted:
        cells = [", ".join(rows[one.id][name]) or "–" for name in running]
        print(f"| {one.id} | {one.incident} | {' | '.join(cells)} |")
    print()
    for name in running:
        print(f"{name}: {sum(bool(rows[one.id][name]) for one in planted)} of {len(planted)}")
    missed = [one.id for one in planted if one.check not in rows[one.id]["pilotage"]]
    if missed:
        print("ours does not tell what is written in the head of: " + ", ".join(missed))


if __name__ == "__main__":
    main()
