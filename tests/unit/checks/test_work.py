"""What a run of a Job does: next to nothing, or work on much data."""

from __future__ import annotations

from typing import Any

import pytest

from pilotage.checks.objects import KubeObject
from pilotage.checks.work import does_little, on_much_data
from pilotage.checks.workloads import Container, workload_of


def run_of(name: str = "tidy", image: str = "registry.example/tidy:1", **container: Any) -> Container:
    """The container of a Job."""
    pod = {"containers": [{"name": name, "image": image, **container}]}
    job = workload_of(
        KubeObject(
            {
                "kind": "Job",
                "apiVersion": "batch/v1",
                "metadata": {"name": name},
                "spec": {"template": {"spec": pod}},
            }
        )
    )
    assert job is not None
    return job.containers[0]


@pytest.mark.parametrize(
    "container",
    [
        {"command": ["sleep", "20"]},
        {"command": ["/bin/sh", "-c", "date; echo Hello from the cluster"]},
        {"command": ["sh", "-c", "for i in 1 2 3; do echo $i; sleep 1; done"]},
        {"command": ["bash", "-c", 'NAME="a b"; echo "$NAME" && sleep 5']},
        {"command": ["sh", "-c"], "args": ["kubectl get pods | grep web"]},
        {"command": ["sh", "-c", "until nslookup db; do sleep 2; done"]},
        {"command": ["perl", "-Mbignum=bpi", "-wle", "print bpi(2000)"]},
        {"command": ["python", "-c", "print('hello')"]},
        {"command": ["curl", "-s", "http://web/tidy"]},
        {"args": ["rails", "db:migrate"]},
        {"name": "shop-migrations"},
        {"image": "hello-world"},
        {"image": "registry.redhat.io/openshift4/ose-cli:v4.15", "command": ["sh", "-c", "/tmp/patch.sh"]},
        {"image": "aquasec/kube-bench:v0.8.0", "command": ["kube-bench", "node"]},
    ],
)
def test_runs_that_take_no_memory(container: dict[str, Any]) -> None:
    run = run_of(**container)
    assert does_little(run.workload, run)


@pytest.mark.parametrize(
    "container",
    [
        {},
        {"args": ["--all"]},
        {"command": ["sh", "-c", "echo begin; /srv/run --all"]},
        {"command": ["sh", "/scripts/run.sh"]},
        {"command": ["sh"]},
        {"command": ["java", "-jar", "tidy.jar"]},
        {"name": "emigrated", "args": ["--all"]},
        {"image": "registry.example/hello-world-2"},
        {"name": "backup", "image": "amazon/aws-cli:2.15", "command": ["/srv/run"]},
    ],
)
def test_runs_of_which_nothing_is_known(container: dict[str, Any]) -> None:
    run = run_of(**container)
    assert not does_little(run.workload, run)


@pytest.mark.parametrize(
    ("container", "much"),
    [
        ({"name": "reindex"}, True),
        ({"name": "nightly-backup"}, True),
        ({"args": ["export", "--all"]}, True),
        ({"command": ["java", "-Xmx2g", "-jar", "tidy.jar"]}, True),
        ({"resources": {"requests": {"memory": "1Gi"}}}, True),
        ({"resources": {"requests": {"memory": "64Mi"}}}, False),
        ({"name": "workload"}, False),
        ({}, False),
    ],
)
def test_work_on_much_data(container: dict[str, Any], much: bool) -> None:
    run = run_of(**container)
    assert on_much_data(run.workload, run) is much
