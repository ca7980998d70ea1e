"""The relations between objects."""

from __future__ import annotations

from typing import Any

import pytest

from pilotage.checks.objects import Document, KubeObject, SourceFile
from pilotage.checks.readers.files import read_text
from pilotage.checks.routes import backends
from pilotage.checks.scene import Scene
from pilotage.checks.values import duration, percent_or_count, quantity
from pilotage.checks.workloads import workload_of


def made(kind: str, name: str, spec: dict[str, Any] | None = None, **more: Any) -> KubeObject:
    versions = {"Service": "v1", "Pod": "v1", "Ingress": "networking.k8s.io/v1", "Secret": "v1"}
    versions |= {"PodDisruptionBudget": "policy/v1", "HorizontalPodAutoscaler": "autoscaling/v2"}
    version = more.pop("version", versions.get(kind, "apps/v1"))
    metadata = {"name": name, "namespace": more.pop("namespace", "shop"), **more}
    return KubeObject({"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec or {}})


def deployment(name: str, **more: Any) -> KubeObject:
    app = more.pop("app", name)
    pod = {"containers": [{"name": name, "image": f"registry.example/{name}:1"}], **more.pop("pod", {})}
    return made("Deployment", name, {"template": {"metadata": {"labels": {"app": app}}, "spec": pod}}, **more)


def service(name: str, **more: Any) -> KubeObject:
    return made(
        "Service",
        name,
        {"selector": {"app": more.pop("app", name)}, "type": more.pop("type", "ClusterIP")},
        **more,
    )


def ingress(name: str, to: str, **more: Any) -> KubeObject:
    backend = {"service": {"name": to, "port": {"number": 80}}}
    return made("Ingress", name, {"rules": [{"http": {"paths": [{"backend": backend}]}}]}, **more)


def test_from_an_ingress_to_the_pods() -> None:
    scene = Scene([deployment("web"), service("web"), ingress("front", "web"), deployment("worker")])
    web, worker = scene.workloads
    exposure = scene.exposed(web)
    assert exposure is not None
    assert (exposure.by, exposure.object.key, exposure.service.key) == (
        "edge",
        "Ingress shop/front",
        "Service shop/web",
    )
    assert [one.by for one in scene.exposures(web)] == ["edge", "service"]
    assert scene.exposed(worker) is None


def test_of_the_ways_from_outside_the_one_in_its_own_file_comes_first() -> None:
    own, other = SourceFile("own.yaml", ""), SourceFile("optional.yaml", "")
    web, outside, route = deployment("web"), service("web", type="NodePort"), ingress("front", "web")
    scene = Scene(
        [
            KubeObject(one.data, Document(file, 0, 0, 1))
            for one, file in ((web, own), (outside, own), (route, other))
        ]
    )
    exposure = scene.exposed(scene.workloads[0], "edge")
    assert exposure is not None
    assert exposure.object.key == "Service shop/web"


@pytest.mark.parametrize(
    ("kind", "by"), [("LoadBalancer", "edge"), ("NodePort", "edge"), ("ClusterIP", "service")]
)
def test_types_of_services(kind: str, by: str) -> None:
    scene = Scene([deployment("web"), service("web", type=kind)])
    exposure = scene.exposed(scene.workloads[0])
    assert exposure is not None
    assert exposure.by == by


def test_namespaces_part_what_bears_one_name() -> None:
    scene = Scene(
        [deployment("web", namespace="a"), deployment("web", namespace="b"), service("web", namespace="b")]
    )
    assert [scene.exposed(one) is not None for one in scene.workloads] == [False, True]


def test_of_variants_in_a_stated_namespace_the_nearest_is_meant() -> None:
    text = """
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {selector: {app: web}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec: {template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: web:1}]}}}
"""
    other = text.replace("name: web, namespace", "name: web-canary, namespace")
    objects = [
        one
        for file, content in (("a/all.yaml", text), ("b/all.yaml", text), ("b/more.yaml", other))
        for one in read_text(content, file).objects
    ]
    scene = Scene(objects)
    first, second = (one for one in scene.of("Service") if one.name == "web")
    names = [(one.object.file, one.object.name) for one in scene.workloads_of(first)]
    assert names == [("a/all.yaml", "web"), ("b/more.yaml", "web-canary")]
    assert {one.object.file for one in scene.workloads_of(second)} == {"b/all.yaml", "b/more.yaml"}
    assert scene.find("Service", "web", second) is second


def test_in_folders_the_nearest_is_meant() -> None:
    pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: web, labels: {app: web}}\nspec: {containers: [{image: x}]}\n"
    front = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {selector: {app: web}}\n"
    objects = []
    for name, text in (
        ("a/one.yaml", pod),
        ("a/two.yaml", front),
        ("b/one.yaml", pod),
        ("c/deep/one.yaml", pod),
    ):
        objects += read_text(text, name).objects
    scene = Scene(objects)
    assert [one.object.file for one in scene.workloads_of(objects[1])] == ["a/one.yaml"]


def test_one_view_of_all_that_runs_pods() -> None:
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    for kind, spec, path in (
        ("CronJob", {"jobTemplate": {"spec": {"template": template}}}, "spec.jobTemplate.spec.template.spec"),
        ("DaemonSet", {"template": template}, "spec.template.spec"),
        ("Pod", template["spec"], "spec"),
    ):
        view = workload_of(made(kind, "x", spec))
        assert view is not None
        assert ".".join(map(str, view.pod_path)) == path
        assert view.containers[0].image == "i"
        assert not view.partial
    assert workload_of(service("x")) is None


def test_a_controlled_pod_is_its_controllers_workload() -> None:
    owner = [{"kind": "ReplicaSet", "name": "web-1", "controller": True}]
    above = [{"kind": "Deployment", "name": "web", "controller": True}]
    pod = made(
        "Pod", "web-1-x", {"containers": [{"image": "i"}]}, labels={"app": "web"}, ownerReferences=owner
    )
    replicas = made("ReplicaSet", "web-1", deployment("web").spec | {}, ownerReferences=above)
    scene = Scene([pod, replicas, deployment("web"), service("web")])
    assert [one.object.key for one in scene.workloads] == ["Deployment shop/web"]
    assert scene.workload(pod) is scene.workloads[0]
    assert scene.owner(pod).key == "Deployment shop/web"


def test_scale_and_budgets() -> None:
    scaler = made(
        "HorizontalPodAutoscaler",
        "web",
        {"minReplicas": 3, "maxReplicas": 9, "scaleTargetRef": {"kind": "Deployment", "name": "web"}},
    )
    budget = made(
        "PodDisruptionBudget",
        "web",
        {"selector": {"matchExpressions": [{"key": "app", "operator": "Exists"}]}},
    )
    scene = Scene([deployment("web"), scaler, budget])
    scale = scene.scale(scene.workloads[0])
    assert scale is not None
    assert (scale.least, scale.most) == (3, 9)
    assert scene.budgets_of(scene.workloads[0]) == [budget]


def test_an_empty_budget_selector_means_all_in_v1_and_none_in_v1beta1() -> None:
    for version, covered in (("policy/v1", 1), ("policy/v1beta1", 0)):
        budget = made("PodDisruptionBudget", "all", {"selector": {}}, version=version)
        scene = Scene([deployment("web"), budget])
        assert len(scene.budgets_of(scene.workloads[0])) == covered


def test_references() -> None:
    pod = {
        "serviceAccountName": "runner",
        "volumes": [
            {"name": "a", "secret": {"secretName": "tls"}},
            {"name": "b", "persistentVolumeClaim": {"claimName": "data"}},
            {"name": "c", "projected": {"sources": [{"configMap": {"name": "conf", "optional": True}}]}},
        ],
        "containers": [{"name": "x", "image": "i", "envFrom": [{"secretRef": {"name": "env"}}]}],
    }
    scene = Scene([deployment("web", pod=pod)])
    found = {(one.kind, one.name, one.optional) for one in scene.references(scene.workloads[0])}
    assert found == {
        ("Secret", "tls", False),
        ("PersistentVolumeClaim", "data", False),
        ("ConfigMap", "conf", True),
        ("Secret", "env", False),
        ("ServiceAccount", "runner", False),
    }


@pytest.mark.parametrize(
    ("kind", "spec", "service_name", "namespace"),
    [
        ("Ingress", {"backend": {"serviceName": "web", "servicePort": 80}}, "web", ""),
        ("HTTPRoute", {"rules": [{"backendRefs": [{"name": "web", "namespace": "b"}]}]}, "web", "b"),
        ("Route", {"to": {"kind": "Service", "name": "web"}}, "web", ""),
        (
            "VirtualService",
            {"http": [{"route": [{"destination": {"host": "web.b.svc.cluster.local"}}]}]},
            "web",
            "b",
        ),
        ("IngressRoute", {"routes": [{"services": [{"name": "web", "port": 80}]}]}, "web", ""),
        ("HTTPProxy", {"routes": [{"services": [{"name": "web", "port": 80}]}]}, "web", ""),
    ],
)
def test_routes(kind: str, spec: dict[str, Any], service_name: str, namespace: str) -> None:
    (backend,) = backends(made(kind, "x", spec))
    assert (backend.service, backend.namespace) == (service_name, namespace)


def test_a_service_of_knative_is_none_of_the_cores() -> None:
    scene = Scene([made("Service", "web", {}, version="serving.knative.dev/v1")])
    assert not list(scene.of("Service"))
    assert [one.name for one in scene.of("Service.serving.knative.dev")] == ["web"]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("100m", "0.1"),
        ("1.5Gi", str(3 * 2**29)),
        ("2e3", "2000"),
        (3, "3"),
        ("1E", str(10**18)),
        ("5k", "5000"),
    ],
)
def test_quantities(text: object, number: str) -> None:
    found = quantity(text)
    assert found is not None
    assert str(found.normalize()) == str(type(found)(number).normalize())


@pytest.mark.parametrize("text", ["", "abc", "1 Gi", "Gi", "1e9999999999", None, [], True, "0x10", "1Gi "])
def test_what_is_no_quantity(text: object) -> None:
    assert quantity(text) is None


def test_durations_and_shares() -> None:
    assert duration("1h30m") == 5400
    assert duration("500ms") == 0.5
    assert duration("5000", unit="ms") == 5
    assert duration("soon") is None
    assert percent_or_count("25%", 3, round_up=True) == 1
    assert percent_or_count("25%", 3, round_up=False) == 0
    assert percent_or_count(2, 3, round_up=False) == 2
    assert percent_or_count("2", 3, round_up=False) is None


def test_routes_between_services_are_not_from_outside() -> None:
    mesh = made("VirtualService", "web", {"http": [{"route": [{"destination": {"host": "web"}}]}]})
    scene = Scene([deployment("web"), service("web"), mesh])
    assert [one.by for one in scene.exposures(scene.workloads[0])] == ["service", "service"]
    assert scene.edge_of(next(scene.of("Service"))) is None
    edge = made("VirtualService", "web", {**mesh.spec, "gateways": ["mesh", "public"]})
    scene = Scene([deployment("web"), service("web"), edge])
    assert scene.edge_of(next(scene.of("Service"))) is edge


def test_a_route_that_hangs_on_a_service_is_not_from_outside() -> None:
    rules = [{"backendRefs": [{"name": "web"}]}]
    inner = made("HTTPRoute", "web", {"parentRefs": [{"kind": "Service", "name": "web"}], "rules": rules})
    outer = made("HTTPRoute", "web", {"parentRefs": [{"name": "public"}], "rules": rules})
    for route, found in ((inner, None), (outer, outer)):
        scene = Scene([deployment("web"), service("web"), route])
        assert scene.edge_of(next(scene.of("Service"))) is found


def test_what_stands_beside_an_object() -> None:
    other = deployment("api", namespace="lab")
    scene = Scene([deployment("web"), service("web"), other])
    assert [one.object.name for one in scene.workloads_beside(next(scene.of("Service")))] == ["web"]
    assert list(scene.beside(other, "Service")) == []
