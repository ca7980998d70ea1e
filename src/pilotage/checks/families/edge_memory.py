"""What kills ingress controllers under load: unbounded memory, limits by chance, probes that wait."""
# ruff: noqa: D205, D212, D416 - the docstring of a check is its page, in fixed sections

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from decimal import Decimal

import msgspec

from pilotage.checks.controllers import Controller, controllers_of, read_flags
from pilotage.checks.model import Answer, Answers, Confidence, Gap, NotApplicable, Pass, Severity, check
from pilotage.checks.objects import KubeObject
from pilotage.checks.scene import Scene
from pilotage.checks.values import KeyPath, as_int, as_list, as_map, as_text, dig, human_bytes, quantity
from pilotage.checks.workloads import SERVING, Container
from pilotage.core.regex import regex

SKIPPER = "zalando-2019-skipper-ingress-oom-alb-502"
LIMIT_RANGE = "dfds-2022-06-02-alb-502-traefik-oom-limitrange"
COINBASE = "coinbase-2020-06-01-api-saturation-health-check-eviction"
ETCD = "nre-labs-2018-12-04-etcd-liveness-probe-restart-loop"


@check(
    "ing-fixed-memory",
    title="Requests that wait may fill a proxy up to its fixed memory limit",
    severity=Severity.MEDIUM,
    incidents=(SKIPPER,),
    about=SERVING,
    needs=("Middleware",),
    chart_severity=Severity.LOW,
)
def ing_fixed_memory(scene: Scene) -> Answers:
    """
    What it does
    Looks for a Skipper, Traefik or Contour's Envoy behind traffic from outside with a memory limit, no
    autoscaler, and nothing that bounds what waits in it as a whole: Skipper's `-enable-tcp-queue`, a Traefik
    Middleware with `inFlightReq`, `--overload-max-heap` or `--overload-downstream-max-conn` of `contour
    bootstrap`. Envoy by itself bounds each backend (1,024 requests), and so not what all of them take
    together. ingress-nginx and HAProxy are left out: their connections are bounded by configuration.

    Why it matters
    One backend that hangs makes requests wait in the proxy, each with its memory. The proxy reaches its limit
    and is killed; its share goes to the others, which follow. All applications behind it are gone for the
    slowness of one.

    Incidents
    At Zalando requests that waited for one slow backend ran every Skipper of the shared ingress into its
    500Mi, and the balancer answered 502 for every application.

    Fix
    Bound concurrent requests per backend (Skipper's scheduler, Traefik's `inFlightReq`, circuit breakers of
    Envoy) and size memory for the slowest backend at peak rate.

    References
    - https://opensource.zalando.com/skipper/operation/operation/#scheduler
    - https://doc.traefik.io/traefik/middlewares/http/inflightreq/
    - https://projectcontour.io/docs/main/config/overload-manager/
    """
    for one in controllers_of(scene, "skipper", "traefik", "contour"):
        limit = one.container.limit("memory")
        if not one.faces_outside:
            yield NotApplicable(one.object, "nothing leads to it from outside")
        elif limit is None:
            yield NotApplicable(one.object, "it has no memory limit")
        elif _capped(one) or scene.autoscalers_of(one.workload):
            yield Pass(one.object)
        else:
            yield Gap(
                one.object,
                f"{one.name} is killed at {human_bytes(limit)}, and {_bound(one)[0]}",
                (*one.container.path, "resources", "limits", "memory"),
                evidence=(
                    f"limits.memory: {human_bytes(limit)}",
                    f"bound of concurrency: {_bound(one)[1]}",
                    "autoscaler: none",
                ),
                confidence=Confidence.MEDIUM,
            )


def _bound(one: Controller) -> tuple[str, str]:
    """What bounds the requests that wait in it: as a sentence, and as evidence."""
    if one.product == "contour":
        return (
            "what waits in it is bounded for each backend only, by Envoy's 1,024 requests",
            "Envoy's default for each backend, none for all",
        )
    return "nothing in the files bounds what waits in it", "none"


def _capped(one: Controller) -> bool:
    if one.product == "skipper":
        return any(name in one.flags for name in ("enable-tcp-queue", "max-tcp-listener-concurrency"))
    if one.product == "traefik":
        return any(as_map(rule.spec.get("inFlightReq")) for rule in one.scene.of("Middleware"))
    return any(name.startswith("overload-") for name in _bootstrap(one))


def _bootstrap(one: Controller) -> dict[str, str]:
    """The flags of `contour bootstrap` in the pod of its Envoy."""
    found: dict[str, str] = {}
    for container in one.workload.init_containers:
        if "bootstrap" in container.words:
            found |= read_flags(container.words)
    return found


@check(
    "ing-default-limits",
    title="A LimitRange gives the ingress controller a memory limit that nobody chose for it",
    severity=Severity.MEDIUM,
    incidents=(LIMIT_RANGE,),
    about=("LimitRange",),
)
def ing_default_limits(scene: Scene) -> Answers:
    """
    What it does
    Looks for a LimitRange with a default memory limit for containers in the namespace of an ingress
    controller or gateway whose container states no limit of its own.

    Why it matters
    The default was chosen for applications. The proxy that carries all of them reaches it sooner or later and
    is killed, at random and far apart, with errors that only the balancer in front sees.

    Incidents
    At DFDS a script put default limits on every namespace, that of Traefik included. Its pods were killed for
    memory now and then for months; clients saw a few 502 that no log of Traefik explained.

    Fix
    State requests and limits of the controller itself, sized for its peak, or keep the LimitRange out of its
    namespace.

    References
    - https://kubernetes.io/docs/concepts/policy/limit-range/
    - https://kubernetes.io/docs/tasks/administer-cluster/manage-resources/memory-default-namespace/
    """
    apart: dict[str, list[Controller]] = defaultdict(list)
    for one in controllers_of(scene):
        apart[one.object.namespace].append(one)
    for limits in scene.of("LimitRange"):
        default, path = _default_memory(limits)
        for one in apart.get(limits.namespace, ()):
            own = one.container.limit("memory")
            if default is None or own is not None:
                yield Pass(limits)
                continue
            yield Gap(
                limits,
                f"{one.object.key} ({one.name}) states no memory limit and gets {human_bytes(default)}",
                path,
                evidence=(
                    f"default.memory: {human_bytes(default)}",
                    f"{one.object.key}: limits.memory absent",
                ),
                related=(one.object,),
            )


def _default_memory(limits: KubeObject) -> tuple[Decimal | None, KeyPath]:
    for position, item in enumerate(as_list(limits.spec.get("limits"))):
        found = quantity(dig(item, "default", "memory"))
        if as_text(dig(item, "type")) == "Container" and found is not None:
            return found, ("spec", "limits", position, "default", "memory")
    return None, ()


class _Ceiling(msgspec.Struct, frozen=True):
    """A bound that a proxy sets on its own memory."""

    what: str
    size: Decimal
    container: Container
    subject: KubeObject
    path: KeyPath


@check(
    "proxy-heap-over-limit",
    title="A proxy's own bound on memory is not below the limit at which it is killed",
    severity=Severity.HIGH,
    incidents=(),
    alike=(SKIPPER,),
    about=SERVING,
    needs=("ConfigMap",),
)
def proxy_heap_over_limit(scene: Scene) -> Answers:
    """
    What it does
    Compares the container's memory limit with the bound that the proxy sets itself: Envoy's
    `max_heap_size_bytes` in a mounted ConfigMap, `--overload-max-heap` of `contour bootstrap`, and
    `GOMEMLIMIT` of Traefik and Skipper.

    Why it matters
    The bound is there to shed load before memory ends: Envoy refuses requests at 95 to 98 % of it, Go
    collects garbage harder. At or above the limit it never comes to that. The kernel kills the proxy
    instead, with every connection, and the next one gets the load.

    Incidents
    At Zalando ingress proxies ran into their memory limit one after another until none was left; a bound
    below the limit would have refused some requests instead of all.

    Fix
    Set the bound to 80 to 90 % of the container's memory limit, and change both together.

    References
    - https://www.envoyproxy.io/docs/envoy/latest/configuration/operations/overload_manager/overload_manager
    - https://projectcontour.io/docs/main/config/overload-manager/
    - https://pkg.go.dev/runtime#hdr-Environment_Variables
    """
    for one in controllers_of(scene, "envoy", "contour", "traefik", "skipper"):
        limit = one.container.limit("memory")
        for bound in _ceilings(one):
            if limit is None:
                yield NotApplicable(one.object, "it has no memory limit")
            elif bound.size < limit:
                yield Pass(one.object)
            else:
                yield Gap(
                    bound.subject,
                    f"{bound.what} ({human_bytes(bound.size)}) is not below the container's memory limit "
                    f"({human_bytes(limit)}), at which it is killed",
                    bound.path,
                    evidence=(
                        f"{bound.what}: {human_bytes(bound.size)}",
                        f"limits.memory: {human_bytes(limit)}",
                    ),
                    related=() if bound.subject is one.object else (one.object,),
                )


_HEAP = regex(r"\bmax_heap_size_bytes[\"']?\s*:\s*(\d{1,18})\b")
_GO_MEMORY = regex(r"(\d{1,15})(B|KiB|MiB|GiB|TiB)?")
_GO_UNITS = {"": 1, "B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}


def _ceilings(one: Controller) -> Iterator[_Ceiling]:
    if one.product in {"envoy", "contour"}:
        heap = _bootstrap(one).get("overload-max-heap", "")
        if heap.isascii() and heap.isdigit():
            bound = Decimal(heap[:18])
            yield _Ceiling("--overload-max-heap", bound, one.container, one.object, one.workload.pod_path)
        yield from _in_config_maps(one)
        return
    match = _GO_MEMORY.fullmatch(one.container.env("GOMEMLIMIT") or "")
    if match:
        size = Decimal(int(match[1]) * _GO_UNITS[match[2] or ""])
        yield _Ceiling("GOMEMLIMIT", size, one.container, one.object, (*one.container.path, "env"))


def _in_config_maps(one: Controller) -> Iterator[_Ceiling]:
    for reference in one.scene.references(one.workload):
        if reference.kind != "ConfigMap" or not reference.name:
            continue
        found = one.scene.find("ConfigMap", reference.name, one.object)
        for key, text in as_map(found.data.get("data")).items() if found is not None else ():
            match = _HEAP.search(as_text(text))
            if match and found is not None:
                yield _Ceiling(
                    "max_heap_size_bytes", Decimal(match[1]), one.container, found, ("data", str(key))
                )


@check(
    "ing-liveness-overload",
    title="The kubelet restarts an ingress controller that is merely busy",
    severity=Severity.MEDIUM,
    incidents=(),
    alike=(COINBASE, ETCD),
    about=SERVING,
    needs=("Service",),
)
def ing_liveness_overload(scene: Scene) -> Answers:
    """
    What it does
    Looks for ingress controllers and gateways whose liveness probe asks the very port that carries traffic,
    with a timeout of 1 s (the default) or less.

    Why it matters
    Under load the probe waits in the same queue as everybody's requests. After a few seconds the kubelet
    kills the proxy, its connections come back to the others as a storm of new ones, and they are killed next.

    Incidents
    At Coinbase health checks waited behind requests, so servers that were merely busy were taken out, and the
    rest were overloaded. At NRE Labs a liveness probe killed a healthy etcd every two minutes.

    Fix
    Let the probe ask a port of its own (ingress-nginx 10254, Traefik's ping), with `timeoutSeconds: 5` and a
    `failureThreshold` that outlasts a spike. Leave it to readiness to take a busy proxy out.

    References
    - https://kubernetes.io/docs/concepts/configuration/liveness-readiness-startup-probes/
    - https://danielfm.me/posts/painless-nginx-ingress.html
    """
    for one in controllers_of(scene):
        probe = one.container.probe("liveness")
        if not probe:
            continue
        port = dig(probe, "httpGet", "port") or dig(probe, "tcpSocket", "port")
        timeout = as_int(probe.get("timeoutSeconds"))
        timeout = 1 if timeout is None else timeout
        carries = port is not None and _port_number(one, port) in _traffic_ports(one)
        yield _liveness(one, port, timeout) if carries and timeout <= 1 else Pass(one.object)


def _liveness(one: Controller, port: object, timeout: int) -> Answer:
    return Gap(
        one.object,
        f"The liveness probe asks port {port}, which carries the traffic, and waits {timeout} s",
        (*one.container.path, "livenessProbe"),
        evidence=(f"livenessProbe port: {port}", f"timeoutSeconds: {timeout}"),
        confidence=Confidence.MEDIUM,
    )


def _port_number(one: Controller, port: object) -> object:
    for declared in one.container.ports:
        if port is not None and declared.get("name") == port:
            return declared.get("containerPort")
    return port


def _traffic_ports(one: Controller) -> set[object]:
    """The container's ports to which a Service sends what comes to 80 or 443."""
    found: set[object] = set()
    for service in one.services:
        for item in as_list(service.spec.get("ports")):
            if as_int(dig(item, "port")) in {80, 443}:
                target = dig(item, "targetPort")
                number = _port_number(one, dig(item, "port") if target is None else target)
                if isinstance(number, str | int):
                    found.add(number)
    return found


CHECKS = (ing_default_limits, ing_fixed_memory, ing_liveness_overload, proxy_heap_over_limit)
