"""Checks that say something else of a cluster than of files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pilotage.checks.model import Answer, Gap, NotApplicable, Pass, Severity, Unknown
from pilotage.checks.nodes import may_take
from pilotage.checks.objects import KubeObject
from pilotage.checks.readers.files import read_paths
from pilotage.checks.registry import all_checks
from pilotage.checks.scene import Scene
from pilotage.checks.workloads import workload_of

GOLDEN = Path(__file__).parents[2] / "golden" / "checks"


def answers(check: str, *objects: KubeObject, **scene: Any) -> list[Answer]:
    return list(all_checks()[check].look(Scene(objects, live=True, **scene)))


def job(name: str, **spec: Any) -> KubeObject:
    template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "a", "image": "a:1"}]}}
    return KubeObject(
        {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"name": name, "namespace": "shop"},
            "spec": {**spec, "template": template},
        }
    )


def test_many_jobs_without_an_end_are_one_finding() -> None:
    found = answers("job-no-ttl", *[job(f"load-{number}") for number in range(150)])
    gaps = [one for one in found if isinstance(one, Gap)]
    assert [gap.message for gap in gaps] == [
        "150 Jobs in namespace shop have no `ttlSecondsAfterFinished` and no owner"
    ]


def test_few_jobs_are_none_of_our_business() -> None:
    found = answers("job-no-ttl", job("load"), job("mail", ttlSecondsAfterFinished=60))
    assert sorted(type(one).__name__ for one in found) == ["NotApplicable", "Pass"]


def test_objects_are_counted_in_a_cluster_only() -> None:
    jobs = [job(f"load-{number}") for number in range(2001)]
    (gap,) = [one for one in answers("object-pileup", *jobs) if isinstance(one, Gap)]
    assert "2001 objects of kind Job" in gap.message
    assert "namespace shop" in gap.message
    assert not list(all_checks()["object-pileup"].look(Scene(jobs)))
    assert [type(one) for one in answers("object-pileup", job("load"))] == [Pass]


def scaled(applied: dict[str, Any] | None) -> list[KubeObject]:
    annotations = {}
    if applied is not None:
        annotations["kubectl.kubernetes.io/last-applied-configuration"] = json.dumps(applied)
    pod = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "a", "image": "a:1"}]}}
    web = KubeObject(
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "web", "namespace": "shop", "annotations": annotations},
            "spec": {"replicas": 7, "template": pod},
        }
    )
    scaler = KubeObject(
        {
            "apiVersion": "autoscaling/v2",
            "kind": "HorizontalPodAutoscaler",
            "metadata": {"name": "web", "namespace": "shop"},
            "spec": {"scaleTargetRef": {"kind": "Deployment", "name": "web"}, "maxReplicas": 10},
        }
    )
    return [web, scaler]


def test_a_cluster_tells_the_number_that_was_applied() -> None:
    (gap,) = answers("hpa-vs-replicas", *scaled({"spec": {"replicas": 2}}))
    assert isinstance(gap, Gap)
    assert "sets 2 replicas" in gap.message


def test_a_cluster_without_that_annotation_tells_nothing() -> None:
    assert [type(one) for one in answers("hpa-vs-replicas", *scaled(None))] == [NotApplicable]


def test_what_was_applied_without_a_number_is_fine() -> None:
    assert [type(one) for one in answers("hpa-vs-replicas", *scaled({"spec": {}}))] == [Pass]


def service(**spec: Any) -> KubeObject:
    return KubeObject(
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": "web", "namespace": "shop"},
            "spec": {"selector": {"app": "web"}, **spec},
        }
    )


def test_a_service_of_a_cluster_that_selects_nothing_is_one() -> None:
    (gap,) = answers("service-selects-nothing", service(type="LoadBalancer"))
    assert isinstance(gap, Gap)
    assert gap.severity is None
    (unknown,) = all_checks()["service-selects-nothing"].look(Scene([service()]))
    assert isinstance(unknown, Unknown)


def test_an_aggregated_api_of_a_cluster_without_backend_is_a_gap() -> None:
    api = KubeObject(
        {
            "apiVersion": "apiregistration.k8s.io/v1",
            "kind": "APIService",
            "metadata": {"name": "v1.gone.example"},
            "spec": {"service": {"name": "gone", "namespace": "shop"}},
        }
    )
    (gap,) = answers("apiservice-fragile", api)
    assert isinstance(gap, Gap)
    assert gap.message == "Service shop/gone with its pods does not exist"


def test_tracked_namespaces_are_found_by_the_marks_of_the_controller() -> None:
    application = KubeObject(
        {
            "apiVersion": "argoproj.io/v1alpha1",
            "kind": "Application",
            "metadata": {"name": "shop", "namespace": "argocd"},
            "spec": {"syncPolicy": {"automated": {"prune": True}}},
        }
    )
    mark = {"argocd.argoproj.io/tracking-id": "shop:/Namespace:shop/shop"}
    held = KubeObject(
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop", "annotations": mark}}
    )
    (gap,) = answers("prune-takes-namespaces", application, held)
    assert isinstance(gap, Gap)
    free = KubeObject({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "lab"}})
    assert [type(one) for one in answers("prune-takes-namespaces", application, free)] == [Pass]


def golden(name: str) -> list[KubeObject]:
    return [KubeObject(dict(one.data)) for one in read_paths([str(GOLDEN / name)]).objects]


def gaps(check: str, *objects: KubeObject) -> list[Gap]:
    return [one for one in answers(check, *objects) if isinstance(one, Gap)]


def test_a_policy_that_the_server_fills_in_is_nobodys_choice() -> None:
    def with_policy(image: str) -> list[KubeObject]:
        objects = golden("image-tag-moves/ok-digest.yaml")
        (web,) = [one for one in objects if one.kind == "Deployment"]
        container = web.spec["template"]["spec"]["containers"][0]
        container |= {"image": image, "imagePullPolicy": "Always"}
        return objects

    digest = f"sha256:{'0' * 64}"
    assert not gaps("pull-always-critical", *with_policy(f"a.example/web:latest@{digest}"))
    assert gaps("pull-always-critical", *with_policy(f"a.example/web:1.2@{digest}"))
    assert gaps("pull-always-critical", *with_policy(f"a.example/web@{digest}"))


def test_a_node_that_just_starts_is_a_node() -> None:
    web = workload_of(job("load"))
    assert web is not None
    for key, taken in (("node.kubernetes.io/not-ready", True), ("dedicated", False)):
        taints = [{"key": key, "effect": "NoSchedule"}]
        assert may_take(KubeObject({"kind": "Node", "spec": {"taints": taints}}), web) is taken


def test_a_flow_schema_fences_the_account_that_it_names_and_no_namesake() -> None:
    def schema(namespace: str) -> KubeObject:
        account = {"kind": "ServiceAccount", "serviceAccount": {"name": "agent", "namespace": namespace}}
        spec = {"rules": [{"subjects": [account]}]}
        return KubeObject({"kind": "FlowSchema", "metadata": {"name": "agents"}, "spec": spec})

    agent = golden("daemonset-lists-api/bad-pods.yaml")
    home = next(one.namespace for one in agent if one.kind == "DaemonSet")
    assert gaps("daemonset-lists-api", *agent, schema("other"))
    assert not gaps("daemonset-lists-api", *agent, schema(home))


def test_policies_of_another_kind_hold_in_their_own_namespace() -> None:
    def cilium(**metadata: str) -> KubeObject:
        return KubeObject(
            {
                "apiVersion": "cilium.io/v2",
                "kind": "CiliumNetworkPolicy",
                "metadata": {"name": "a", **metadata},
            }
        )

    objects = golden("netpol-cuts-dns/bad-default-deny.yaml")
    home = next(one.namespace for one in objects if one.kind == "NetworkPolicy")
    assert gaps("netpol-cuts-dns", *objects, cilium(namespace="other"))
    assert not gaps("netpol-cuts-dns", *objects, cilium(namespace=home))
    assert not gaps("netpol-cuts-dns", *objects, cilium())


def test_of_two_default_classes_the_lowest_counts() -> None:
    def default(name: str, value: int) -> KubeObject:
        return KubeObject(
            {
                "apiVersion": "scheduling.k8s.io/v1",
                "kind": "PriorityClass",
                "metadata": {"name": name},
                "value": value,
                "globalDefault": True,
            }
        )

    agents = golden("traffic-no-priority/bad-calico.yaml")
    for classes in ([default("a", 9), default("b", 0)], [default("b", 0), default("a", 9)]):
        assert gaps("traffic-no-priority", *agents, *classes)
    assert not gaps("traffic-no-priority", *agents, default("a", 9))


def test_a_secret_that_a_cluster_does_not_have_stops_the_pods_that_name_it() -> None:
    objects = golden("pod-config-missing/near-kept-elsewhere.yaml")
    (gap,) = gaps("pod-config-missing", *objects)
    assert "Secret `signing-keys` is not in namespace `jobs`" in gap.message
    assert gap.severity is None
    (unread,) = answers("pod-config-missing", *objects, blind={"Secret": "cannot list secrets"})
    assert isinstance(unread, Unknown)


def test_a_workload_without_pods_misses_nothing_today() -> None:
    objects = golden("pod-config-missing/near-kept-elsewhere.yaml")
    objects[0].spec["replicas"] = 0
    (gap,) = gaps("pod-config-missing", *objects)
    assert gap.severity is Severity.LOW


def test_what_a_kubelet_is_not_told_depends_on_the_version() -> None:
    objects = golden("kubelet-api-qps-low/ok-default.yaml")
    check = all_checks()["kubelet-api-qps-low"]
    (gap,) = list(check.look(Scene(objects, version=(1, 26))))
    assert isinstance(gap, Gap)
    assert "5 requests a second by default" in gap.message
    assert [type(one) for one in check.look(Scene(objects, version=(1, 27)))] == [Pass]
