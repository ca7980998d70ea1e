"""Components are known by their images, probes and accounts by what is written in them."""

from __future__ import annotations

from typing import Any

import pytest

from pilotage.checks.accounts import ClusterGrants, account_of, readable
from pilotage.checks.components import bare_image, container_roles, image_tag, is_agent, roles
from pilotage.checks.objects import KubeObject
from pilotage.checks.scene import Scene
from pilotage.checks.serving import handler, patience, serving_container, told
from pilotage.checks.workloads import Workload, workload_of


def deployment(*containers: dict[str, Any], **pod: Any) -> Workload:
    view = workload_of(
        KubeObject(
            {
                "apiVersion": "apps/v1",
                "kind": "Deployment",
                "metadata": {"name": "web", "namespace": "shop"},
                "spec": {
                    "template": {
                        "metadata": {"labels": {"app": "web"}},
                        "spec": {**pod, "containers": list(containers)},
                    }
                },
            }
        )
    )
    assert view is not None
    return view


def running(image: str) -> Workload:
    return deployment({"name": "main", "image": image})


@pytest.mark.parametrize(
    ("image", "role"),
    [
        ("registry.k8s.io/kube-proxy:v1.36.1", "network-agent"),
        ("602401143452.dkr.ecr.eu-west-1.amazonaws.com/eks/kube-proxy:v1.36.1", "network-agent"),
        ("docker.io/calico/node@sha256:00", "network-agent"),
        ("localhost:5000/calico/node", "network-agent"),
        ("registry.k8s.io/dns/k8s-dns-node-cache:1.26.4", "node-dns"),
        ("traefik:v3.1", "ingress-controller"),
        ("registry.k8s.io/etcd:3.5.15-0", "quorum-store"),
    ],
)
def test_a_component_is_known_by_its_image(image: str, role: str) -> None:
    assert roles(running(image)) == {role}


@pytest.mark.parametrize(
    ("account", "found"), [("coredns", {"cluster-dns"}), ("", set()), ("default", set())]
)
def test_the_dns_of_a_cluster_has_an_account_of_its_own(account: str, found: set[str]) -> None:
    container = {"name": "coredns", "image": "registry.k8s.io/coredns/coredns:v1.11.1"}
    assert roles(deployment(container, serviceAccountName=account)) == found


def test_dns_beside_another_program_is_that_program_s() -> None:
    tunnel = {"name": "tunnel", "image": "registry.example/tunnel:1"}
    dns = {"name": "dns", "image": "coredns/coredns:1.11.1"}
    assert not roles(deployment(tunnel, dns, serviceAccountName="vpn"))


@pytest.mark.parametrize(
    "image", ["registry.example/calico-node:1", "node:20", "calico/kube-controllers:v3", "", "etcd-backup"]
)
def test_a_like_name_is_none(image: str) -> None:
    assert not container_roles(running(image).containers[0])
    assert not is_agent(running(image))


def test_names_and_tags_of_images() -> None:
    assert bare_image("localhost:5000/shop/web:1.2@sha256:00") == "localhost:5000/shop/web"
    assert image_tag("localhost:5000/shop/web") == ""
    assert image_tag("localhost:5000/shop/web:1.2@sha256:00") == "1.2"


def test_patience_is_the_time_until_the_probe_acts() -> None:
    assert patience({}) == 21
    assert patience({"failureThreshold": 1, "timeoutSeconds": 5}) == 5
    assert patience({"failureThreshold": "many", "periodSeconds": 0}) == 3


def test_what_a_probe_does() -> None:
    assert handler({"periodSeconds": 5}) is None
    assert told({"exec": {"command": ["sh", "-c", "true"]}}) == "exec: sh -c true"
    assert told({"httpGet": {"path": "/x", "port": 80}}) == "httpGet: path: /x, port: 80"


def test_the_serving_container_is_that_of_the_port() -> None:
    web = deployment(
        {"name": "proxy", "image": "a", "ports": [{"containerPort": 9000}]},
        {"name": "web", "image": "b", "ports": [{"containerPort": 8080}]},
    )
    service = KubeObject(
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": "web", "namespace": "shop"},
            "spec": {"selector": {"app": "web"}, "ports": [{"port": 80, "targetPort": 8080}]},
        }
    )
    scene = Scene([web.object, service])
    exposure = scene.exposed(scene.workloads[0])
    assert exposure is not None
    found = serving_container(scene.workloads[0], exposure)
    assert found is not None
    assert found.name == "web"


def binding(account: str, namespace: str, role: str) -> KubeObject:
    return KubeObject(
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": f"{account}-{role}"},
            "roleRef": {"kind": "ClusterRole", "name": role},
            "subjects": [{"kind": "ServiceAccount", "name": account, "namespace": namespace}],
        }
    )


def role(name: str, **rule: Any) -> KubeObject:
    return KubeObject(
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRole",
            "metadata": {"name": name},
            "rules": [rule],
        }
    )


def test_an_account_may_what_its_cluster_roles_allow() -> None:
    agent = deployment({"name": "a", "image": "a"}, serviceAccountName="agent")
    readers = role("readers", verbs=["list"], resources=["pods"])
    scene = Scene(
        [agent.object, readers, binding("agent", "shop", "readers"), binding("agent", "shop", "gone")]
    )
    granted = list(ClusterGrants(scene).rules_of(scene.workloads[0]))
    assert [found.name for found, _ in granted] == ["readers"]
    assert readable(granted[0][1], frozenset({"pods", "secrets"})) == ["pods"]


def test_an_account_of_another_namespace_is_another() -> None:
    agent = deployment({"name": "a", "image": "a"}, serviceAccount="agent")
    assert account_of(agent) == "agent"
    readers = role("readers", verbs=["*"], resources=["*"])
    scene = Scene([agent.object, readers, binding("agent", "lab", "readers")])
    assert not list(ClusterGrants(scene).rules_of(scene.workloads[0]))


@pytest.mark.parametrize(
    ("rule", "found"),
    [
        ({"verbs": ["get"], "resources": ["pods"]}, []),
        ({"verbs": ["watch"], "resources": ["*"]}, ["pods"]),
        ({"verbs": ["list"], "resources": ["pods"], "resourceNames": ["one"]}, []),
        ({"verbs": "list", "resources": None}, []),
    ],
)
def test_what_a_rule_lets_read(rule: dict[str, Any], found: list[str]) -> None:
    assert readable(rule, frozenset({"pods"})) == found
