"""Where the data of a workload lies, by its claims and the volumes of the scene."""

from __future__ import annotations

from typing import Any

import pytest

from pilotage.checks import volumes
from pilotage.checks.objects import KubeObject
from pilotage.checks.scene import Exposure, Scene

HOST = {"hostPath": {"path": "/srv/data"}}


def made(kind: str, name: str, **spec: Any) -> KubeObject:
    """An object of the core."""
    return KubeObject({"apiVersion": "v1", "kind": kind, "metadata": {"name": name}, "spec": spec})


def pod(claim: str) -> KubeObject:
    """A pod that mounts a claim."""
    mounted = {"name": "data", "persistentVolumeClaim": {"claimName": claim}}
    return made("Pod", "app", containers=[{"name": "app", "image": "a:1"}], volumes=[mounted])


def folder(*objects: KubeObject) -> str:
    """The folder of one node that the pod of a scene mounts."""
    scene = Scene(objects)
    return volumes.folder_of_one_node(scene, scene.workloads[0])


@pytest.mark.parametrize(
    ("claim", "offered", "expected"),
    [
        ({"volumeName": "one"}, {"one": HOST}, "PersistentVolume one"),
        (
            {"volumeName": "one"},
            {"one": {"local": {"path": "/srv"}}, "two": {"nfs": {}}},
            "PersistentVolume one",
        ),
        (
            {"storageClassName": "manual"},
            {"one": {**HOST, "storageClassName": "manual"}},
            "PersistentVolume one",
        ),
        ({"volumeName": "one"}, {"one": {"nfs": {"server": "a.example", "path": "/"}}}, ""),
        ({"storageClassName": "fast"}, {"one": {**HOST, "storageClassName": "manual"}}, ""),
        ({}, {"one": HOST}, ""),
        (
            {"storageClassName": "manual"},
            {"one": {**HOST, "storageClassName": "manual"}, "two": {"nfs": {}, "storageClassName": "manual"}},
            "",
        ),
    ],
)
def test_a_claim_is_a_folder_where_nothing_else_is_offered(
    claim: dict[str, Any], offered: dict[str, dict[str, Any]], expected: str
) -> None:
    found = [made("PersistentVolume", name, **spec) for name, spec in offered.items()]
    assert folder(pod("data"), made("PersistentVolumeClaim", "data", **claim), *found) == expected


def test_a_claim_that_the_scene_lacks_tells_nothing() -> None:
    assert folder(pod("data"), made("PersistentVolume", "data", **HOST)) == ""


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--store=postgresql+psycopg2://db/a", "--files=s3://a"], "a database and an object store"),
        (["--store=postgresql://db/a"], ""),
        (["--files=gs://a"], ""),
    ],
)
def test_arguments_tell_where_the_data_lies(words: list[str], expected: str) -> None:
    one = made("Pod", "app", containers=[{"name": "app", "image": "a:1", "args": words}])
    service = made("Service", "app", selector={})
    (workload,) = Scene([one]).workloads
    found = volumes.kept_elsewhere(workload, Exposure("edge", service, service))
    assert (found.what if found is not None else "").startswith(expected)
    assert (found is not None) is bool(expected)
