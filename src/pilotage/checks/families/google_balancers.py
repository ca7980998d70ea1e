"""Google's balancer in front of a cluster: draining and health checks, which a BackendConfig sets."""
# ruff: noqa: D205, D212, D416 - the docstring of a check is its page, in fixed sections

from __future__ import annotations

from collections.abc import Iterator

from pilotage.checks.classes import class_of
from pilotage.checks.dialect import DialectError, load
from pilotage.checks.model import (
    Answer,
    Answers,
    Confidence,
    Gap,
    Pass,
    Severity,
    Unknown,
    check,
)
from pilotage.checks.objects import KubeObject
from pilotage.checks.scene import Scene
from pilotage.checks.values import as_int, as_list, as_map, as_text, dig
from pilotage.checks.workloads import Workload

RAVELIN = "ravelin-2019-sigterm-endpoint-race-502"
STACK_EXCHANGE = "stack-exchange-2016-07-20-regex-home-page-health-check"

_GCE = {"gce", "gce-internal"}


def _backend_configs(scene: Scene, service: KubeObject) -> tuple[bool, list[KubeObject]]:
    """Whether a Service names BackendConfigs, and those that the scene holds."""
    for key in ("cloud.google.com/backend-config", "beta.cloud.google.com/backend-config"):
        text = as_text(service.annotations.get(key))
        if not text:
            continue
        try:
            named = as_map(load(text))
        except DialectError:
            return True, []
        names = {as_text(named.get("default")), *map(as_text, as_map(named.get("ports")).values())} - {""}
        found = [scene.find("BackendConfig", name, service) for name in sorted(names)]
        return True, [one for one in found if one is not None]
    return False, []


def _gce_backends(scene: Scene) -> Iterator[tuple[KubeObject, KubeObject]]:
    """Ingresses that Google's controller answers, each with a Service of theirs."""
    seen: set[tuple[int, int]] = set()
    for backend in scene.backends:
        if backend.route.kind != "Ingress" or class_of(backend.route) not in _GCE:
            continue
        service = scene.service_of(backend)
        if service is not None and (id(backend.route), id(service)) not in seen:
            seen.add((id(backend.route), id(service)))
            yield backend.route, service


@check(
    "gke-no-draining",
    title="Google's balancer cuts off requests when a pod leaves",
    severity=Severity.LOW,
    incidents=(),
    alike=(RAVELIN,),
    about=("Ingress",),
    needs=("Service", "BackendConfig"),
)
def gke_no_draining(scene: Scene) -> Answers:
    """
    What it does
    Looks for Services behind an Ingress of class `gce` or `gce-internal` that name no BackendConfig with
    `connectionDraining.drainingTimeoutSec` above 0.

    Why it matters
    The controller sets draining on the balancer only where a BackendConfig says so. Without it the balancer
    closes what it has open to a pod as soon as the pod's endpoint leaves, in the middle of an answer.

    Incidents
    At Ravelin, on GKE, clients got 502 whenever pods were replaced, since the balancer and the pods went
    their own ways.

    Fix
    Give the Service the annotation `cloud.google.com/backend-config` with a BackendConfig whose
    `connectionDraining.drainingTimeoutSec` is the longest request, 30 to 60 for most.

    References
    - https://cloud.google.com/kubernetes-engine/docs/how-to/ingress-configuration#draining_timeout
    - https://github.com/kubernetes/ingress-gce/blob/master/pkg/backends/features/draining.go
    """
    for ingress, service in _gce_backends(scene):
        named, configs = _backend_configs(scene, service)
        drains = [as_int(one.get("spec", "connectionDraining", "drainingTimeoutSec")) for one in configs]
        if any(drain and drain > 0 for drain in drains):
            yield Pass(service)
        elif named and not configs:
            yield Unknown("the BackendConfig that it names is not among the files", service)
        else:
            yield Gap(
                configs[0] if configs else service,
                "The balancer closes open requests at once when a pod leaves",
                ("spec",) if configs else ("metadata", "annotations"),
                evidence=(
                    "connectionDraining.drainingTimeoutSec: " + ("0" if 0 in drains else "absent"),
                    f"served by {ingress.key}",
                ),
                related=(ingress,),
            )


@check(
    "gke-hc-root",
    title="Google's balancer checks the health of pods at `/`",
    severity=Severity.MEDIUM,
    incidents=(),
    alike=(STACK_EXCHANGE,),
    about=("Ingress",),
    needs=("Service", "BackendConfig"),
)
def gke_hc_root(scene: Scene) -> Answers:
    """
    What it does
    Looks for Services behind an Ingress of class `gce` or `gce-internal` without a BackendConfig that has a
    `healthCheck`, whose pods have no HTTP readiness probe on the serving port: the balancer then asks `/` and
    wants 200.

    Why it matters
    Many applications answer `/` with a redirect, 401 or 404. The balancer takes all their pods for dead and
    answers 502 for the whole host, while Kubernetes shows them ready. An answer of `/` that depends on a
    database takes every pod out together when the database is slow.

    Incidents
    At Stack Exchange a balancer, not Google's, asked for the home page. One post made that page slow, and all
    servers were taken out. Pods lost to a redirect or 404 at `/` are in no incident of the library; Google's
    documentation and the controller's FAQ name them first among the reasons for 502.

    Fix
    Give the container a readiness probe by HTTP on the serving port, or the Service a BackendConfig with
    `healthCheck.requestPath`. The probe is read only when the Ingress is made.

    References
    - https://cloud.google.com/kubernetes-engine/docs/concepts/ingress#health_checks
    - https://github.com/kubernetes/ingress-gce/blob/master/docs/faq/gce.md
    """
    for ingress, service in _gce_backends(scene):
        named, configs = _backend_configs(scene, service)
        workloads = scene.workloads_of(service)
        if any(as_map(one.spec.get("healthCheck")) for one in configs):
            yield Pass(service)
        elif named and not configs:
            yield Unknown("the BackendConfig that it names is not among the files", service)
        elif not workloads:
            yield Unknown("the workload behind it is not among the files", service)
        else:
            for workload in workloads:
                yield _health(ingress, service, workload)


def _health(ingress: KubeObject, service: KubeObject, workload: Workload) -> Answer:
    for port in as_list(service.spec.get("ports")):
        wanted = dig(port, "targetPort")
        target = workload.container_port(wanted if wanted is not None else dig(port, "port"))
        container = target or (workload.containers[0] if workload.containers else None)
        if container is not None and as_map(container.probe("readiness").get("httpGet")):
            return Pass(workload.object)
    return Gap(
        workload.object,
        f"It has no readiness probe by HTTP, so the balancer of {ingress.key} asks `/` and wants 200",
        workload.containers[0].path if workload.containers else (),
        evidence=("readinessProbe.httpGet: absent", f"{service.key}: no BackendConfig with healthCheck"),
        confidence=Confidence.MEDIUM,
        related=(ingress, service),
    )


CHECKS = (gke_hc_root, gke_no_draining)
