"""What serves until it is killed: the table, shells as first process, and what ends that."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import pytest
import yaml

from pilotage.checks import stopping
from pilotage.checks.objects import KubeObject
from pilotage.checks.scene import Scene

TABLE = yaml.safe_load(files("pilotage.checks").joinpath("data/serves_on.yaml").read_text("utf-8"))
SERVING = "tensorflow/serving:2.19.0"


def told(image: str, pod: dict[str, Any] | None = None, **container: Any) -> str:
    """Why a container of an image serves on."""
    spec = {"containers": [{"name": "app", "image": image, **container}], **(pod or {})}
    data = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "app"}, "spec": spec}
    (workload,) = Scene([KubeObject(data)]).workloads
    return stopping.why_it_serves_on(workload.containers[0])


def test_each_program_has_a_reason_and_a_source() -> None:
    assert TABLE["programs"]
    for row in TABLE["programs"]:
        assert row["images"]
        assert row["why"]
        assert row["source"].startswith("https://")


@pytest.mark.parametrize(
    "image", [SERVING, "docker.io/bitnami/tensorflow-serving@sha256:1", "x/mlflow/mlflow:v3.9.0"]
)
def test_a_program_of_the_table_serves_on(image: str) -> None:
    assert told(image).endswith(": it serves until it is killed")


@pytest.mark.parametrize(
    "image",
    ["serving:2.19.0", "mlflow/mlflow:v3.10.0", "mlflow/mlflow:latest", "mlflow/mlflow:3", "mlflow/mlflow"],
)
def test_another_program_or_a_version_that_may_be_newer_does_not(image: str) -> None:
    assert told(image) == ""


@pytest.mark.parametrize(
    "command", [["tini", "--", "tensorflow_model_server"], ["/usr/bin/dumb-init", "serve"]]
)
def test_a_first_process_that_hands_signals_on_ends_it(command: list[str]) -> None:
    assert told(SERVING, command=["tensorflow_model_server"])
    assert told(SERVING, command=command) == ""


def test_the_start_of_an_image_counts_while_nothing_replaces_it() -> None:
    assert told("meteorhacks/meteord:base", args=["--verbose"])
    assert told("meteorhacks/meteord:base", command=["node", "main.js"]) == ""


@pytest.mark.parametrize("shared", [{"shareProcessNamespace": True}, {"hostPID": True}])
def test_it_is_no_first_process_where_processes_are_shared(shared: dict[str, Any]) -> None:
    script: dict[str, Any] = {"command": ["sh", "-c", "prepare; serve"]}
    assert told("registry.example/app:1", **script)
    assert told("registry.example/app:1", shared, **script) == ""
    assert told(SERVING, shared) == ""
