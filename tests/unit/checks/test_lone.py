"""What works as one instance only: the table, controllers by their rights, volumes of one node."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import pytest
import yaml

from pilotage.checks import lone
from pilotage.checks.objects import KubeObject
from pilotage.checks.scene import Scene

TABLE = yaml.safe_load(files("pilotage.checks").joinpath("data/one_instance.yaml").read_text("utf-8"))


def deployment(**pod: Any) -> KubeObject:
    """A Deployment of one pod in `shop`."""
    container = {"name": "app", "image": "registry.example/app:1", **pod.pop("container", {})}
    template = {"metadata": {"labels": {"app": "app"}}, "spec": {"containers": [container], **pod}}
    return KubeObject(
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "app", "namespace": "shop"},
            "spec": {"replicas": 1, "template": template},
        }
    )


def granted(kind: str, verbs: list[str], resources: list[str], namespace: str = "shop") -> list[KubeObject]:
    """A role with one rule and its binding to the account `app` of a namespace."""
    role = "ClusterRole" if kind == "ClusterRoleBinding" else "Role"
    group = "rbac.authorization.k8s.io"
    place = {} if kind == "ClusterRoleBinding" else {"namespace": namespace}
    rules = [{"apiGroups": ["apps"], "verbs": verbs, "resources": resources}]
    subjects = [{"kind": "ServiceAccount", "name": "app", "namespace": namespace}]
    head = {"apiVersion": f"{group}/v1", "metadata": {"name": "app", **place}}
    reference = {"apiGroup": group, "kind": role, "name": "app"}
    return [
        KubeObject({**head, "kind": role, "rules": rules}),
        KubeObject({**head, "kind": kind, "roleRef": reference, "subjects": subjects}),
    ]


def test_each_program_has_a_reason_and_a_source() -> None:
    assert TABLE["programs"]
    for row in TABLE["programs"]:
        assert row["images"]
        assert row["why"]
        assert row["source"].startswith("https://")


@pytest.mark.parametrize(
    ("kind", "verbs", "resources", "namespace", "expected"),
    [
        ("ClusterRoleBinding", ["create"], ["deployments"], "shop", True),
        ("RoleBinding", ["*"], ["pods"], "shop", True),
        ("ClusterRoleBinding", ["get", "list", "update"], ["deployments"], "shop", False),
        ("ClusterRoleBinding", ["create"], ["events", "pods/exec"], "shop", False),
        ("ClusterRoleBinding", ["create"], ["deployments"], "elsewhere", False),
    ],
)
def test_what_may_make_workloads_is_a_controller(
    kind: str, verbs: list[str], resources: list[str], namespace: str, *, expected: bool
) -> None:
    scene = Scene([deployment(serviceAccountName="app"), *granted(kind, verbs, resources, namespace)])
    assert lone.is_controller(scene, scene.workloads[0]) is expected


@pytest.mark.parametrize(
    ("word", "expected"),
    [("--leader-elect", True), ("--enable-leader-election=true", True), ("--leader-elect=false", False)],
)
def test_what_elects_a_leader_is_a_controller(word: str, *, expected: bool) -> None:
    scene = Scene([deployment(container={"args": [word]})])
    assert lone.is_controller(scene, scene.workloads[0]) is expected


def test_a_proxy_that_may_make_workloads_is_none() -> None:
    proxy = deployment(serviceAccountName="app", container={"image": "traefik:3.1"})
    scene = Scene([proxy, *granted("ClusterRoleBinding", ["create"], ["deployments"])])
    assert not lone.is_controller(scene, scene.workloads[0])


@pytest.mark.parametrize(
    ("modes", "expected"),
    [(None, True), (["ReadWriteOnce"], True), (["ReadWriteOnce", "ReadWriteMany"], False)],
)
def test_a_claim_holds_a_pod_to_one_node(modes: list[str] | None, *, expected: bool) -> None:
    volume = {"name": "data", "persistentVolumeClaim": {"claimName": "data"}}
    objects = [deployment(volumes=[volume])]
    if modes is not None:
        head = {"apiVersion": "v1", "kind": "PersistentVolumeClaim"}
        named = {"name": "data", "namespace": "shop"}
        objects.append(KubeObject({**head, "metadata": named, "spec": {"accessModes": modes}}))
    scene = Scene(objects)
    assert bool(lone.volume_of_one_node(scene, scene.workloads[0])) is expected


@pytest.mark.parametrize(
    ("args", "why"),
    [(["server", "/data"], "a MinIO of one drive"), (["server", "http://store-{0...3}.store/data"], "")],
)
def test_a_store_of_one_drive_is_stopped_first_and_a_member_of_a_cluster_is_not(
    args: list[str], why: str
) -> None:
    one = deployment(container={"image": "minio/minio:1", "args": args, "ports": [{"containerPort": 9000}]})
    service = KubeObject(
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": "app", "namespace": "shop"},
            "spec": {"type": "LoadBalancer", "selector": {"app": "app"}, "ports": [{"port": 9000}]},
        }
    )
    scene = Scene([one, service])
    (workload,) = scene.workloads
    exposure = scene.exposed(workload)
    assert exposure is not None
    assert lone.why_stopped_first(scene, workload, exposure, "the claim `data`").startswith(why)
    assert bool(lone.why_stopped_first(scene, workload, exposure, "the claim `data`")) is bool(why)
