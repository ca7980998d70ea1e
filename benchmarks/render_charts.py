"""Renders a folder of Helm charts with their own values, without a network: the material of the measurements.

    python benchmarks/render_charts.py CHARTS OUT

`CHARTS` is a folder that holds charts (`bitnami/` of github.com/bitnami/charts). A dependency is taken from the
folder beside the chart, whatever version the chart asks for, since a registry of charts is not needed for that.
A chart that then does not render is counted and left out. helm is the one on the PATH, else the one of the tests.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from rig.helm import folders  # noqa: E402 - the path is set just above


def dependencies(chart: Path) -> list[dict[str, Any]]:
    """What a chart depends on."""
    return list(yaml.safe_load((chart / "Chart.yaml").read_text()).get("dependencies") or [])


def assemble(charts: Path, name: str, into: Path) -> None:
    """Copies a chart and, below it, those that it depends on."""
    shutil.copytree(charts / name, into)
    shutil.rmtree(into / "charts", ignore_errors=True)
    (into / "Chart.lock").unlink(missing_ok=True)
    listed = dependencies(into)
    for one in listed:
        if (charts / one["name"] / "Chart.yaml").exists() and not (into / "charts" / one["name"]).exists():
            assemble(charts, one["name"], into / "charts" / one["name"])
            version = yaml.safe_load((charts / one["name"] / "Chart.yaml").read_text())["version"]
            one["version"] = version
    if listed:
        written = yaml.safe_load((into / "Chart.yaml").read_text())
        written["dependencies"] = [
            {**one, "version": next(d["version"] for d in listed if d["name"] == one["name"])}
            for one in listed
        ]
        (into / "Chart.yaml").write_text(yaml.safe_dump(written))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("charts", type=Path)
    parser.add_argument("out", type=Path)
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    helm = str(folders()["helm"] / "helm")
    done = refused = 0
    for chart in sorted(path.parent for path in asked.charts.glob("*/Chart.yaml")):
        with tempfile.TemporaryDirectory() as folder:
            assemble(asked.charts, chart.name, Path(folder) / chart.name)
            command = [helm, "template", "shop", str(Path(folder) / chart.name), "--namespace", chart.name]
            result = subprocess.run(command, capture_output=True, text=True, check=False)
        if result.returncode or not result.stdout.strip():
            refused += 1
            print(f"{chart.name}: {result.stderr.strip().splitlines()[-1:] or 'empty'}", file=sys.stderr)
            continue
        (asked.out / f"{chart.name}.yaml").write_text(result.stdout)
        done += 1
    print(f"{done} charts rendered, {refused} not")


if __name__ == "__main__":
    main()
