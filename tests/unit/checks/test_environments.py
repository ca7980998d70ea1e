"""What nobody relies on, by names of files and folders."""

from __future__ import annotations

from pathlib import Path

import pytest

from pilotage.checks.environments import exercises, in_use, taught
from pilotage.checks.model import Severity
from pilotage.checks.readers.assemble import assemble
from pilotage.checks.readers.files import read_paths
from pilotage.checks.registry import all_checks
from pilotage.checks.runner import run


def asked(*names: str) -> frozenset[str]:
    return frozenset(str(Path.cwd() / name) for name in names)


HERE = asked("")


@pytest.mark.parametrize(
    "name",
    [
        "overlays/dev/web.yaml",
        "deploy/web-dev.yaml",
        "dev.yaml",
        "hack/kind/web.yaml",
        "Local/web.yml",
        "a\\dev\\b.yaml",
    ],
)
def test_for_development(name: str) -> None:
    assert not in_use(name)
    assert not in_use(name, HERE)


@pytest.mark.parametrize(
    "name",
    [
        "examples/web.yaml",
        "deploy/sample-apps/web.yaml",
        "k8s-demo/web.yaml",
        "deploy/web.example.yaml",
        "docs/cookbooks/web.yaml",
        "docs/web.yaml",
        "training/web.yaml",
        "_archived/web.yaml",
        "apps/legacy/web.yaml",
        "apps/web-disabled/web.yaml",
        "book/chapter-03/web.yaml",
        "video/experiments/web.yaml",
        "infra/k8s-dev/web.yaml",
        "cluster-test/web.yaml",
        "dev-cluster/web.yaml",
        "ingress/superseded--nginx/web.yaml",
        "tests/web.yaml",
    ],
)
def test_shown_or_taken_out(name: str) -> None:
    assert not in_use(name, HERE)
    # Whoever asks for the very file means it.
    assert in_use(name, asked(name))


def test_what_was_asked_for_counts_by_the_nearest() -> None:
    assert in_use("examples/shop/web.yaml", asked(".", "examples/shop"))
    assert not in_use("examples/shop/web.yaml", asked("example", "."))
    assert not in_use("/srv/work/examples/web.yaml", asked("/srv/work/"))
    assert in_use("/srv/examples/work/web.yaml", asked("/srv/examples/work"))
    assert not in_use("/srv/work/dev/web.yaml", asked("/srv/work"))


@pytest.mark.parametrize(
    "name",
    [
        "overlays/prod/web.yaml",
        "devices/web.yaml",
        "deploy/local-path.yaml",
        "kinds.yaml",
        "web.dev",
        "-",
        "",
        "apps/docs/web.yaml",
        "ml/training/job.yaml",
        "billing-legacy/web.yaml",
        "prometheus-disabled.yaml",
        "apps/dev-tools/web.yaml",
        "apps/test-runner/web.yaml",
        "apps/latest/web.yaml",
        "apps/archivebox/web.yaml",
        "clusters/chester/web.yaml",
    ],
)
def test_for_use(name: str) -> None:
    assert in_use(name)
    assert in_use(name, HERE)


@pytest.mark.parametrize("name", ["/srv/dev/shop/web.yaml", "C:/dev/web.yaml", "/srv/examples/web.yaml"])
def test_an_absolute_name_by_itself_tells_nothing(name: str) -> None:
    assert in_use(name)


def test_a_lesson_and_what_has_its_solution_beside() -> None:
    assert all(taught(f"{one}/web.yaml", HERE) for one in ("ch08/web", "lessons/one", "lab/solution"))
    assert not any(taught(f"{one}/web.yaml", HERE) for one in ("chart1", "lab", "examples", "resolutions"))
    assert not taught("ch08/web.yaml", asked("ch08"))
    assert exercises(["lab/job.yaml", "lab/solution/job.yaml", "solution.yaml"]) == {"lab/job.yaml"}


def test_what_a_lesson_shows_is_low_and_so_is_what_it_asks_to_be_mended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ch08/job.yaml", "lab/job.yaml", "lab/own.yaml", "lab/solution/job.yaml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"{CRON}---\n{JOB}")
    monkeypatch.chdir(tmp_path)
    checks = {one: all_checks()[one] for one in ("cron-policy-misplaced", "memory-volume-unbounded")}
    reading = read_paths(["."])
    found = run(checks, assemble(reading), reading=reading).findings
    told = {(one.place.file, one.check): str(one.severity) for one in found}
    assert told["ch08/job.yaml", "memory-volume-unbounded"] == "low"
    assert told["ch08/job.yaml", "cron-policy-misplaced"] == "critical"
    assert told["lab/job.yaml", "cron-policy-misplaced"] == "low"
    assert told["lab/own.yaml", "cron-policy-misplaced"] == "critical"


CRON = """\
apiVersion: batch/v1
kind: CronJob
metadata: {name: sync, namespace: shop}
spec:
  schedule: "* * * * *"
  jobTemplate:
    spec:
      concurrencyPolicy: Forbid
      template:
        spec:
          restartPolicy: Never
          containers: [{name: sync, image: "example.com/sync:1"}]
"""
JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {name: load, namespace: shop}
spec:
  template:
    spec:
      restartPolicy: Never
      volumes: [{name: data, emptyDir: {medium: Memory}}]
      containers: [{name: load, image: "example.com/load:1", volumeMounts: [{name: data, mountPath: /data}]}]
"""
EDGE = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      terminationGracePeriodSeconds: 1
      containers: [{name: web, image: "example.com/web:1", ports: [{containerPort: 80}]}]
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {type: NodePort, selector: {app: web}, ports: [{port: 80}]}
"""


def test_an_example_is_milder_and_what_the_api_ignores_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in ("deploy", "examples"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "all.yaml").write_text(f"{CRON}---\n{JOB}---\n{EDGE}")
    monkeypatch.chdir(tmp_path)
    checks = {
        one: all_checks()[one]
        for one in ("cron-policy-misplaced", "memory-volume-unbounded", "grace-too-short")
    }

    def told(*paths: str) -> dict[tuple[str, str], Severity]:
        reading = read_paths(paths)
        found = run(checks, assemble(reading), reading=reading).findings
        return {(one.check, one.place.file): one.severity for one in found}

    found = told(".")
    assert found["cron-policy-misplaced", "examples/all.yaml"] is Severity.CRITICAL
    assert found["cron-policy-misplaced", "deploy/all.yaml"] is Severity.CRITICAL
    assert found["memory-volume-unbounded", "deploy/all.yaml"] is Severity.MEDIUM
    assert found["memory-volume-unbounded", "examples/all.yaml"] is Severity.LOW
    # One step below what was found there, which may be less than the check's own.
    assert found["grace-too-short", "deploy/all.yaml"] is Severity.MEDIUM
    assert found["grace-too-short", "examples/all.yaml"] is Severity.LOW
    assert told("examples")["memory-volume-unbounded", "examples/all.yaml"] is Severity.MEDIUM
