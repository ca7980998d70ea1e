"""How ingress controllers and gateways stop: whether the balancer knows, and whether they have time."""
# ruff: noqa: D205, D212, D416 - the docstring of a check is its page, in fixed sections

from __future__ import annotations

from pilotage.checks.controllers import Controller, controllers_of, proxy_config, seconds
from pilotage.checks.known_settings import default_seconds
from pilotage.checks.model import (
    Answers,
    Confidence,
    Gap,
    NotApplicable,
    Operation,
    Pass,
    Severity,
    Unknown,
    check,
)
from pilotage.checks.scene import Scene
from pilotage.checks.values import human_seconds
from pilotage.checks.workloads import SERVING

RAVELIN = "ravelin-2019-sigterm-endpoint-race-502"

_CURRENT_NGINX = (1, 0)
"""Taken for ingress-nginx where the image's tag names no version."""
_LEAST_GRACE_SECONDS = 5
_LEAST_ACCEPT_SECONDS = 5.0
_CONTOUR_GRACE_SECONDS = 60
_LEAST_EDGE_DRAIN_SECONDS = 10.0


@check(
    "ing-grace-short",
    title="An ingress controller is killed before its connections have ended",
    severity=Severity.MEDIUM,
    incidents=(),
    alike=(RAVELIN,),
    about=SERVING,
    needs=("ConfigMap",),
)
def ing_grace_short(scene: Scene) -> Answers:
    """
    What it does
    Adds up how long a controller needs to stop, and compares with `terminationGracePeriodSeconds`: for
    ingress-nginx `--shutdown-grace-period` and `worker-shutdown-timeout` (by default 240 s, before 0.26
    10 s), for Traefik `requestAcceptGraceTimeout` and `graceTimeOut` (10 s) of its entry points.

    Why it matters
    When the grace period ends, the kubelet kills the proxy with all that it still carries: downloads,
    websockets, requests in hand. The controller was told to wait for them, and is not given the time.

    Incidents
    Ravelin's account of pods that end while the balancer still sends gives the rule: the grace period must
    be longer than everything that is to happen in it.

    Fix
    Set `terminationGracePeriodSeconds` to the sum and some seconds (300 in ingress-nginx's own manifests), or
    lower the controller's own time.

    References
    - https://kubernetes.github.io/ingress-nginx/user-guide/nginx-configuration/configmap/#worker-shutdown-timeout
    - https://kubernetes.github.io/ingress-nginx/user-guide/cli-arguments/
    - https://doc.traefik.io/traefik/reference/install-configuration/entrypoints/
    """
    for one in controllers_of(scene, "ingress-nginx", "traefik"):
        if not one.faces_outside:
            yield NotApplicable(one.object, "nothing leads to it from outside")
            continue
        if one.workload.grace_seconds < _LEAST_GRACE_SECONDS:
            yield NotApplicable(one.object, "see grace-too-short")
            continue
        needed, evidence = _nginx_stop(one) if one.product == "ingress-nginx" else _traefik_stop(one)
        grace = one.workload.grace_seconds
        if needed < grace:
            yield Pass(one.object)
        else:
            yield _grace_gap(one, needed, evidence)


def _grace_gap(one: Controller, needed: float, evidence: tuple[str, ...]) -> Gap:
    stated = "terminationGracePeriodSeconds" in one.workload.pod
    grace = one.workload.grace_seconds
    path = (*one.workload.pod_path, "terminationGracePeriodSeconds")
    return Gap(
        one.object,
        f"{one.name} may take {human_seconds(needed)} to stop, and is killed after {human_seconds(grace)}",
        path,
        evidence=(*evidence, f"terminationGracePeriodSeconds: {grace}{'' if stated else ' (the default)'}"),
        patch=(Operation("replace" if stated else "add", path, int(needed) + 30),),
        confidence=Confidence.MEDIUM,
    )


def _nginx_stop(one: Controller) -> tuple[float, tuple[str, ...]]:
    stated = seconds(one.setting("worker-shutdown-timeout"))
    default = default_seconds("ingress-nginx", "worker-shutdown-timeout", one.version or _CURRENT_NGINX)
    workers = default if stated is None else stated
    before = seconds(one.flags.get("shutdown-grace-period")) or 0.0
    evidence = (
        f"worker-shutdown-timeout: {workers:g}s{' (the default)' if stated is None else ''}",
        f"--shutdown-grace-period: {before:g}",
    )
    return workers + before, evidence


def _lifecycle(one: Controller, key: str) -> float:
    """The longest of a time in all of Traefik's entry points."""
    static = one.static or {}
    found = [
        value
        for name, text in static.items()
        if name.startswith("entrypoints.")
        and name.endswith(f".lifecycle.{key.lower()}")
        and (value := seconds(text)) is not None
    ]
    return max(found, default=default_seconds("traefik", key))


def _traefik_stop(one: Controller) -> tuple[float, tuple[str, ...]]:
    accept = _lifecycle(one, "requestAcceptGraceTimeout")
    drain = _lifecycle(one, "graceTimeOut")
    return accept + drain, (f"requestAcceptGraceTimeout: {accept:g}s", f"graceTimeOut: {drain:g}s")


@check(
    "traefik-accept-grace",
    title="Traefik stops accepting at once when it is told to, before the balancer knows",
    severity=Severity.MEDIUM,
    incidents=(),
    alike=(RAVELIN,),
    about=SERVING,
    needs=("ConfigMap",),
    chart_severity=Severity.LOW,
)
def traefik_accept_grace(scene: Scene) -> Answers:
    """
    What it does
    Looks for a Traefik behind a balancer or node port whose entry points have no
    `transport.lifeCycle.requestAcceptGraceTimeout` (0 by default) of 5 s or more and whose container has no
    preStop hook.

    Why it matters
    On SIGTERM it closes its listeners at once. The cloud's balancer needs seconds to learn that, and until
    then sends requests that are refused: each rollout and each drain costs every application behind it some
    errors.

    Incidents
    At Ravelin clients got 502 whenever pods were replaced, because pods stopped listening before the load
    balancer stopped sending.

    Fix
    Set `--entrypoints.<name>.transport.lifecycle.requestacceptgracetimeout=15s` for each entry point that
    carries traffic, longer than the balancer's health checks need, and raise
    `terminationGracePeriodSeconds` by as much.

    References
    - https://doc.traefik.io/traefik/reference/install-configuration/entrypoints/
    - https://github.com/traefik/traefik/pull/1971
    """
    for one in controllers_of(scene, "traefik"):
        accept = _lifecycle(one, "requestAcceptGraceTimeout")
        if not one.faces_outside:
            yield NotApplicable(one.object, "nothing leads to it from outside")
        elif accept >= _LEAST_ACCEPT_SECONDS or one.container.pre_stop:
            yield Pass(one.object)
        elif one.static is None:
            yield Unknown("its static configuration is not among the files", one.object)
        else:
            yield Gap(
                one.object,
                "It stops accepting requests as soon as it is told to stop, before the balancer knows",
                one.container.path,
                evidence=(f"requestAcceptGraceTimeout: {accept:g}s", "lifecycle.preStop: absent"),
                confidence=Confidence.MEDIUM,
            )


@check(
    "contour-no-shutdown-manager",
    title="Contour's Envoy has nobody to drain it before it stops",
    severity=Severity.MEDIUM,
    incidents=(),
    alike=(RAVELIN,),
    about=SERVING,
)
def contour_no_shutdown_manager(scene: Scene) -> Answers:
    """
    What it does
    Looks for Envoy pods that `contour bootstrap` sets up and that lack the `shutdown-manager` container or
    Envoy's preStop hook that waits for it; and for a grace period below 60 s with both.

    Why it matters
    Envoy ends at once on SIGTERM. The shutdown manager fails its health check first, and waits until open
    connections have fallen; without it, or with a grace period that cuts it off, every rollout and drain
    breaks what is in flight.

    Incidents
    At Ravelin clients got 502 because pods ended before the load balancer stopped sending.

    Fix
    Add the `shutdown-manager` container and the hooks of Contour's example manifests, with
    `terminationGracePeriodSeconds: 300`.

    References
    - https://projectcontour.io/docs/main/redeploy-envoy/
    - https://github.com/projectcontour/contour/blob/main/examples/contour/03-envoy.yaml
    """
    for one in controllers_of(scene, "contour"):
        manager = any("shutdown-manager" in container.words for container in one.workload.running)
        grace = one.workload.grace_seconds
        if manager and one.container.pre_stop and grace >= _CONTOUR_GRACE_SECONDS:
            yield Pass(one.object)
            continue
        lacks = "a shutdown-manager" if not manager else "a preStop hook on Envoy that waits for it"
        if manager and one.container.pre_stop:
            message = f"Its shutdown manager is cut off after {grace} s"
        else:
            message = f"Envoy ends at once when it is told to: the pod has no {lacks.removeprefix('a ')}"
        yield Gap(
            one.object,
            message,
            one.container.path if not manager else one.workload.pod_path,
            evidence=(
                f"shutdown-manager: {'present' if manager else 'absent'}",
                f"preStop of {one.container.name}: {'present' if one.container.pre_stop else 'absent'}",
                f"terminationGracePeriodSeconds: {grace}",
            ),
        )


@check(
    "istio-drain-short",
    title="An Istio gateway drains for less time than the balancer in front needs",
    severity=Severity.MEDIUM,
    incidents=(),
    alike=(RAVELIN,),
    about=SERVING,
    chart_severity=Severity.LOW,
)
def istio_drain_short(scene: Scene) -> Answers:
    """
    What it does
    Reads `terminationDrainDuration` of a gateway behind a balancer (annotation `proxy.istio.io/config`,
    variable `TERMINATION_DRAIN_DURATION_SECONDS`; 5 s by default) and looks for less than 10 s, or for more
    than the grace period. `EXIT_ON_ZERO_ACTIVE_CONNECTIONS` makes it wait for connections instead.

    Why it matters
    When the time is over, Envoy ends whatever it carries. A balancer that checks health every 5 to 10 s still
    sends new connections by then. A time longer than the grace period is cut off by the kubelet.

    Incidents
    At Ravelin clients got 502 because pods ended before the load balancer stopped sending.

    Fix
    Annotate the gateway's pods with `proxy.istio.io/config: |` and `terminationDrainDuration: 30s`, and set
    `terminationGracePeriodSeconds` to more than that.

    References
    - https://istio.io/latest/docs/reference/config/istio.mesh.v1alpha1/#ProxyConfig
    - https://github.com/istio/istio/blob/master/pkg/config/mesh/mesh.go
    """
    for one in controllers_of(scene, "istio-gateway"):
        if not one.faces_outside:
            yield NotApplicable(one.object, "nothing leads to it from outside")
            continue
        stated = _istio_drain(one)
        drain = stated
        if drain is None:
            drain = default_seconds("istio-gateway", "terminationDrainDuration")
        waits = (one.container.env("EXIT_ON_ZERO_ACTIVE_CONNECTIONS") or "").lower() == "true"
        grace = one.workload.grace_seconds
        if (waits or drain >= _LEAST_EDGE_DRAIN_SECONDS or one.container.pre_stop) and (
            waits or drain < grace
        ):
            yield Pass(one.object)
            continue
        cut = drain >= grace
        yield Gap(
            one.object,
            f"It is to drain for {human_seconds(drain)} and is killed after {grace} s"
            if cut
            else f"It ends {human_seconds(drain)} after it is told to stop, with all that it carries",
            (*one.workload.template, "metadata", "annotations", "proxy.istio.io/config"),
            evidence=(
                f"terminationDrainDuration: {drain:g}s{' (the default)' if stated is None else ''}",
                f"terminationGracePeriodSeconds: {grace}",
            ),
            confidence=Confidence.HIGH if cut else Confidence.MEDIUM,
        )


def _istio_drain(one: Controller) -> float | None:
    stated = seconds(proxy_config(one).get("terminationDrainDuration"))
    return seconds(one.container.env("TERMINATION_DRAIN_DURATION_SECONDS")) if stated is None else stated


CHECKS = (contour_no_shutdown_manager, ing_grace_short, istio_drain_short, traefik_accept_grace)
