"""What a namespace allows, what its pods ask for, and which nodes take them."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from pilotage.checks.allowances import (
    container_amount,
    limit_default,
    pod_amount,
    quotas_over,
    surge_and_unavailable,
)
from pilotage.checks.nodes import Room, may_take, minor_version, tolerates
from pilotage.checks.objects import Document, KubeObject, SourceFile
from pilotage.checks.scene import Scene
from pilotage.checks.workloads import Workload


def made(kind: str, spec: dict[str, Any], name: str = "x", **metadata: Any) -> KubeObject:
    versions = {"Deployment": "apps/v1", "StatefulSet": "apps/v1"}
    metadata = {"name": name, "namespace": "shop", **metadata}
    return KubeObject(
        {"apiVersion": versions.get(kind, "v1"), "kind": kind, "metadata": metadata, "spec": spec}
    )


def deployment(*containers: dict[str, Any], pod: dict[str, Any] | None = None, **spec: Any) -> KubeObject:
    template = {"spec": {**(pod or {}), "containers": [{"name": "c", "image": "i", **c} for c in containers]}}
    return made("Deployment", {**spec, "template": template})


def only(*objects: KubeObject) -> tuple[Scene, Workload]:
    scene = Scene(objects)
    return scene, scene.workloads[0]


def asking(**requests: str) -> dict[str, Any]:
    return {"resources": {"requests": requests}}


def ranges(**item: Any) -> KubeObject:
    return made("LimitRange", {"limits": [{"type": "Pod"}, {"type": "Container", **item}]})


def test_a_request_is_stated_or_the_limit_or_the_default() -> None:
    scene, stated = only(deployment(asking(cpu="100m")), ranges(defaultRequest={"cpu": "1"}))
    assert container_amount(scene, stated.containers[0], "requests", "cpu") == Decimal("0.1")
    scene, limited = only(deployment({"resources": {"limits": {"cpu": "2"}}}))
    assert container_amount(scene, limited.containers[0], "requests", "cpu") == 2
    scene, bare = only(deployment({}), ranges(default={"cpu": "3"}))
    assert container_amount(scene, bare.containers[0], "requests", "cpu") == 3
    assert container_amount(scene, bare.containers[0], "limits", "cpu") == 3
    assert container_amount(scene, bare.containers[0], "requests", "memory") is None


def test_a_limit_range_of_another_namespace_says_nothing() -> None:
    elsewhere = made(
        "LimitRange", {"limits": [{"type": "Container", "default": {"cpu": "1"}}]}, namespace="lab"
    )
    scene, bare = only(deployment({}), elsewhere)
    assert limit_default(scene, bare.object, "limits", "cpu") is None


def test_without_a_namespace_the_folder_counts() -> None:
    def placed(kind: str, file: str, spec: dict[str, Any]) -> KubeObject:
        document = Document(SourceFile(file, ""), 0, 0, 1)
        return KubeObject(
            {"apiVersion": "v1", "kind": kind, "metadata": {"name": "x"}, "spec": spec}, document
        )

    quota = placed("ResourceQuota", "a/quota.yaml", {"hard": {"pods": "1"}})
    pod = {"containers": [{"name": "c", "image": "i"}]}
    near, far = placed("Pod", "a/pod.yaml", pod), placed("Pod", "b/pod.yaml", pod)
    scene = Scene([quota, near, far])
    assert [len(list(quotas_over(scene, one))) for one in scene.workloads] == [1, 0]
    assert [one.object for one in scene.workloads_beside(quota)] == [near]


def test_a_pod_asks_for_the_sum_or_nothing_is_known() -> None:
    scene, two = only(deployment(asking(memory="1Gi"), asking(memory="512Mi")))
    assert pod_amount(scene, two, "requests", "memory") == Decimal(1536 * 2**20)
    scene, half = only(deployment(asking(memory="1Gi"), {}))
    assert pod_amount(scene, half, "requests", "memory") is None


def test_quotas_of_a_scope_and_odd_keys_are_left_out() -> None:
    hard = {"pods": "10", "services": "2", "limits.cpu": "many"}
    scoped = made("ResourceQuota", {"hard": {"pods": "1"}, "scopes": ["Terminating"]}, "scoped")
    scene, web = only(deployment({}), made("ResourceQuota", {"hard": hard}), scoped)
    found = list(quotas_over(scene, web))
    assert [(one.key, one.hard, one.per_pod(scene, web)) for one in found] == [("pods", 10, 1)]


@pytest.mark.parametrize(
    ("rolling", "replicas", "moves"),
    [
        ({}, 1, (1, 0)),
        ({}, 4, (1, 1)),
        ({"maxSurge": 0, "maxUnavailable": 0}, 4, (0, 1)),
        ({"maxSurge": "50%", "maxUnavailable": "50%"}, 3, (2, 1)),
        ({"maxSurge": "some"}, 3, None),
    ],
)
def test_a_rolling_update_moves_as_the_controller_does(
    rolling: dict[str, Any], replicas: int, moves: tuple[int, int] | None
) -> None:
    _, web = only(deployment({}, strategy={"rollingUpdate": rolling}))
    assert surge_and_unavailable(web, replicas) == moves


def test_a_recreated_workload_does_not_roll() -> None:
    _, web = only(deployment({}, strategy={"type": "Recreate"}))
    assert surge_and_unavailable(web, 3) is None


def node(name: str, *, labels: dict[str, str] | None = None, **spec: Any) -> KubeObject:
    return KubeObject(
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels or {}}, "spec": spec}
    )


GPU = {"key": "gpu", "value": "yes", "effect": "NoSchedule"}


def test_which_nodes_take_a_pod() -> None:
    _, web = only(deployment({}))
    assert may_take(node("a"), web)
    assert not may_take(node("a", unschedulable=True), web)
    assert not may_take(node("a", taints=[GPU]), web)
    assert may_take(node("a", taints=[{**GPU, "effect": "PreferNoSchedule"}]), web)
    _, picky = only(deployment({}, pod={"nodeSelector": {"pool": "web"}}))
    assert not may_take(node("a"), picky)
    assert may_take(node("a", labels={"pool": "web"}), picky)


@pytest.mark.parametrize(
    ("toleration", "tolerated"),
    [
        ({"operator": "Exists"}, True),
        ({"key": "gpu", "operator": "Exists"}, True),
        ({"key": "gpu", "value": "yes"}, True),
        ({"key": "gpu", "value": "no"}, False),
        ({"key": "gpu", "operator": "Exists", "effect": "NoExecute"}, False),
        ({"key": "disk", "operator": "Exists"}, False),
    ],
)
def test_tolerations(toleration: dict[str, Any], tolerated: bool) -> None:
    _, web = only(deployment({}, pod={"tolerations": [toleration]}))
    assert tolerates(web, GPU) is tolerated


def test_room_counts_nodes_once_for_equal_wishes() -> None:
    scene, web = only(deployment({}), node("a"), node("b", unschedulable=True))
    assert Room(scene).number(web) == 1
    assert Room(Scene()).number(web) is None


@pytest.mark.parametrize(
    ("text", "version"),
    [("v1.36.1", (1, 36)), ("1.35", (1, 35)), ("v1.34.2-eks-1234", (1, 34)), ("latest", None), ("", None)],
)
def test_minor_versions(text: str, version: tuple[int, int] | None) -> None:
    assert minor_version(text) == version
