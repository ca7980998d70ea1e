"""Checks that say something else of a cluster than of files."""

from __future__ import annotations

import json
from typing import Any

from pilotage.checks.model import Answer, Gap, NotApplicable, Pass, Unknown
from pilotage.checks.objects import KubeObject
from pilotage.checks.registry import all_checks
from pilotage.checks.scene import Scene


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
    assert [type(one) for one in answers("hpa-vs-replicas", *scaled({"spec": {}}))] == [NotApplicable]


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
