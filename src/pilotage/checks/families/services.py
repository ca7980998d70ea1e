"""Services: selectors that select nothing, or too much, and ports that nobody serves."""
# ruff: noqa: D205, D212, D416 - the docstring of a check is its page, in fixed sections

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping
from typing import Any

from pilotage.checks import components
from pilotage.checks.absence import to_be_completed
from pilotage.checks.balancers import open_to_everybody
from pilotage.checks.model import (
    DOCUMENTATION_ONLY,
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
from pilotage.checks.objects import KubeObject
from pilotage.checks.placeholders import unrendered
from pilotage.checks.scene import Scene
from pilotage.checks.values import KeyPath, as_int, as_list, as_map, as_text
from pilotage.checks.workloads import KINDS, SERVING, Workload
from pilotage.core.regex import regex

MONZO = "monzo-2017-10-27-partial-outage-linkerd-empty-endpoints"
JW_PLAYER = "jw-player-2019-03-19-cryptominer-public-weave-scope-lb"
SKYSCANNER = "skyscanner-2019-04-23-haproxy-ingress-hot-podding"

_AT_RUN_TIME = regex(
    r"^statefulset\.kubernetes\.io/pod-name$|pod-index$|^pod-template-hash$|role|leader|primary",
    re.IGNORECASE,
)
"""Labels that a controller gives to pods; the template does not have them."""
_ALIKE = 0.75
_LONG_AFFINITY_SECONDS = 3600
_DEFAULT_AFFINITY_SECONDS = 10800


def _selector(service: KubeObject) -> Mapping[str, Any]:
    return as_map(service.spec.get("selector"))


@check(
    "service-selects-nothing",
    title="A Service selects no pods",
    severity=Severity.HIGH,
    breaks=True,
    incidents=(),
    alike=(MONZO,),
    about=("Service",),
    needs=("Deployment", "StatefulSet", "DaemonSet", "Pod"),
)
def service_selects_nothing(scene: Scene) -> Answers:
    """
    What it does
    Looks for Services with a selector that no pod template of their namespace matches. In files it speaks up
    only when one matches nearly: it bears all of the selector's labels but one, which differs as a typing
    mistake does, or it has the Service's own name. Labels that controllers give to running pods (roles,
    leaders, names of members) are not judged. Without traffic from outside the severity is medium. Services
    of webhooks are told by `webhook-backend-gone`.

    Why it matters
    The Service exists, its name resolves, routes to it are accepted, and each request ends in 503 or a
    refused connection. A typing mistake in one label is enough, and nothing refuses it.

    Incidents
    At Monzo a Service whose pods had been scaled away kept its name and had no endpoints; when the proxy was
    restarted it broke on that, and no call between services went through.

    Fix
    Make `spec.selector` of the Service a part of the labels of the pod template.

    References
    - https://kubernetes.io/docs/concepts/services-networking/service/#defining-a-service
    """
    hooks = {id(service) for hook in scene.webhooks if (service := scene.webhook_service(hook)) is not None}
    for service in scene.of("Service"):
        selector = _selector(service)
        if not selector or service.spec.get("type") == "ExternalName":
            yield NotApplicable(service, "it has no selector")
        elif any(_AT_RUN_TIME.search(key) for key in selector):
            yield NotApplicable(service, "it selects by a label that pods get while they run")
        elif scene.workloads_of(service):
            yield Pass(service)
        elif id(service) in hooks:
            yield NotApplicable(service, "see webhook-backend-gone")
        else:
            near = _nearly(scene, service)
            if not scene.live and (near is None or _labelled_later(near, selector)):
                yield Unknown("its pods may be made by something that is not here", service)
            else:
                yield _nothing_gap(scene, service, near)


def _nothing_gap(scene: Scene, service: KubeObject, near: Workload | None) -> Gap:
    selector = _selector(service)
    leading = scene.edge_of(service)
    wrong = [key for key, value in selector.items() if near and str(near.pod_labels.get(key)) != str(value)]
    told = ""
    if near is not None and wrong:
        has = near.pod_labels.get(wrong[0])
        told = f"; {near.object.key} has {f'`{wrong[0]}: {has}`' if has is not None else f'no `{wrong[0]}`'}"
    return Gap(
        service,
        f"No pods match its selector `{_labels(selector)}`{told}",
        ("spec", "selector", *wrong[:1]),
        evidence=(
            f"spec.selector: {_labels(selector)}",
            *((f"{near.object.key}: {_labels(near.pod_labels)}",) if near is not None else ()),
        ),
        severity=None if leading is not None else Severity.MEDIUM,
        confidence=Confidence.HIGH if scene.live else Confidence.MEDIUM,
        related=tuple(one for one in (leading, near.object if near else None) if one and one is not service),
    )


def _mistyped(workload: Workload, key: str, value: object) -> bool:
    """Whether the label of a pod differs from the wanted one as a typing mistake does."""
    has = workload.pod_labels.get(key)
    if has is None:
        return difflib.get_close_matches(key, list(workload.pod_labels), 1, _ALIKE) != []
    return difflib.SequenceMatcher(None, str(has), str(value)).ratio() >= _ALIKE


def _headless(service: KubeObject) -> bool:
    return as_text(service.spec.get("clusterIP")) == "None"


def _labels(labels: Mapping[str, Any]) -> str:
    return ", ".join(f"{key}={value}" for key, value in labels.items())


def _nearly(scene: Scene, service: KubeObject) -> Workload | None:
    """The workload that the Service most likely means."""
    selector = _selector(service)
    best: tuple[int, Workload] | None = None
    for workload in scene.workloads_beside(service):
        if workload.kind not in SERVING:
            continue
        wrong = [key for key, value in selector.items() if str(workload.pod_labels.get(key)) != str(value)]
        shared = len(selector) - len(wrong)
        named = workload.object.name == service.name and len(wrong) < max(2, len(selector))
        mistyped = len(wrong) == 1 and shared > 0 and _mistyped(workload, wrong[0], selector[wrong[0]])
        if (mistyped or named) and (best is None or shared > best[0]):
            best = (shared, workload)
    return best[1] if best is not None else None


def _labelled_later(near: Workload, selector: Mapping[str, Any]) -> bool:
    """Whether other parts of the object bear the labels, as those of an experiment or a canary do."""
    written = {(key, str(value)) for labels in _all_labels(near.object.spec) for key, value in labels.items()}
    return all((key, str(value)) in written for key, value in selector.items())


def _all_labels(value: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(value, list):
        for item in value:
            yield from _all_labels(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            if key == "labels" and isinstance(item, dict):
                yield item
            else:
                yield from _all_labels(item)


@check(
    "service-port-undeclared",
    title="A Service sends requests to a port that its pods do not have",
    severity=Severity.HIGH,
    breaks=True,
    incidents=(),
    alike=(MONZO,),
    about=("Service",),
    needs=("Deployment", "StatefulSet", "DaemonSet"),
)
def service_port_undeclared(scene: Scene) -> Answers:
    """
    What it does
    Looks for a `targetPort` that is a name which no container behind the Service gives to a port of that
    protocol. Numbers are not judged: a container may listen on a port that it does not declare. Headless
    Services are left out; a port of metrics is of low severity.

    Why it matters
    The name resolves pod by pod. Where no container bears it, the Service has no endpoint for that port:
    requests fail while the pods are up and ready.

    Incidents
    At Monzo a Service without endpoints broke the proxy that read it. There no pods were left; here they are
    there and do not count.

    Fix
    Declare a port of that name in the container, or state the number.

    References
    - https://kubernetes.io/docs/concepts/services-networking/service/#field-spec-ports
    """
    for service in scene.of("Service"):
        behind = [one for one in scene.workloads_of(service) if one.kind in SERVING]
        if _headless(service):
            # Its names resolve to the pods whatever its ports are.
            continue
        named = [item for item in _ports(service) if _is_name(item[1])]
        if not behind or not named:
            continue
        lost = [item for item in named if not any(_declares(one, item[1], item[2]) for one in behind)]
        if not lost:
            yield Pass(service)
            continue
        if any(to_be_completed(scene, one.object) for one in behind):
            yield Unknown("its pods are completed by Kustomize, which did not run", service)
            continue
        path, name, protocol = lost[0]
        declared = sorted(
            {
                str(port.get("name") or port.get("containerPort"))
                for one in behind
                for c in one.running
                for port in c.ports
            }
        )
        yield Gap(
            service,
            f"No container of {behind[0].object.key} has a {protocol} port named `{name}`",
            (*path, "targetPort"),
            evidence=(f"targetPort: {name}", f"ports of the containers: {', '.join(declared) or 'none'}"),
            fix=_declare(name, behind),
            severity=_of_lost_port(scene, service, path),
            related=(behind[0].object,),
        )


_ABOUT_ITSELF = regex(r"metric|exporter|telemetry|prom|stats|monitor", re.IGNORECASE)


def _declare(name: object, behind: list[Workload]) -> str:
    """The fix: another name for a port that has one would take that away from whoever asks for it."""
    if any(not port.get("name") for one in behind for each in one.running for port in each.ports):
        return ""
    return (
        f"Declare one more port, named `{name}`, in the container that listens there, or state the number as "
        "`targetPort`. Where nothing listens there any more, take the port out of the Service."
    )


def _of_lost_port(scene: Scene, service: KubeObject, path: KeyPath) -> Severity | None:
    """Low for a port at which a program tells of itself, medium where no traffic from outside leads there."""
    port = as_map(service.get(*path))
    if any(_ABOUT_ITSELF.search(as_text(port.get(key))) for key in ("name", "targetPort")):
        return Severity.LOW
    return None if scene.edge_of(service) is not None else Severity.MEDIUM


def _ports(service: KubeObject) -> Iterator[tuple[KeyPath, Any, str]]:
    for position, item in enumerate(as_list(service.spec.get("ports"))):
        data = as_map(item)
        target = data.get("targetPort", data.get("port"))
        yield ("spec", "ports", position), target, as_text(data.get("protocol")) or "TCP"


def _reached(workload: Workload, ports: list[tuple[KeyPath, Any, str]]) -> bool:
    """Whether requests are sent to its pods: to a port that is a name only where they declare it."""
    return any(not _is_name(port) or _declares(workload, port, protocol) for _, port, protocol in ports)


def _is_name(port: object) -> bool:
    return isinstance(port, str) and not port.isdigit() and not unrendered(port)


def _declares(workload: Workload, name: object, protocol: str) -> bool:
    return any(
        port.get("name") == name and (as_text(port.get("protocol")) or "TCP") == protocol
        for container in workload.running
        for port in container.ports
    )


@check(
    "service-mixes-workloads",
    title="A Service sends a part of its requests to pods that do not serve them",
    severity=Severity.HIGH,
    breaks=True,
    incidents=DOCUMENTATION_ONLY,
    about=("Service",),
    needs=KINDS,
)
def service_mixes_workloads(scene: Scene) -> Answers:
    """
    What it does
    Looks for Services whose selector matches pods of several workloads of which one declares the target port
    (a number) and another declares other ports only, and for Services whose selector also matches the pods
    of a Job. Headless Services are left out.

    Why it matters
    A selector such as `app: shop` matches the web pods, and the worker and the migration Job that bear the
    same label. Their addresses become endpoints, and that share of the requests is refused, at random and
    more of it the more workers there are.

    Incidents
    No public incident with this very cause is known to us; the behaviour is documented.

    Fix
    Select by a label that only the serving pods bear, such as `app.kubernetes.io/component: web`.

    References
    - https://kubernetes.io/docs/concepts/services-networking/service/#defining-a-service
    """
    for service in scene.of("Service"):
        behind = [] if _headless(service) else scene.workloads_of(service)
        serving = [one for one in behind if one.kind != "Job"]
        ports = list(_ports(service))
        strangers = [one for one in behind if one.kind == "Job" and _reached(one, ports)] if serving else []
        for _, port, _ in ports:
            number = as_int(port)
            bearing = [
                one for one in serving if number is not None and one.container_port(number) is not None
            ]
            if bearing:
                strangers += [
                    one for one in serving if one not in bearing and any(c.ports for c in one.running)
                ]
        if len(behind) < 2:  # noqa: PLR2004
            continue
        if not strangers:
            yield Pass(service)
            continue
        stranger = strangers[0]
        yield Gap(
            service,
            f"Its selector also matches {stranger.object.key}, which does not serve the port",
            ("spec", "selector"),
            evidence=(
                f"spec.selector: {_labels(_selector(service))}",
                *(f"{one.object.key}: {_labels(one.pod_labels)}" for one in behind[:4]),
            ),
            severity=None if scene.edge_of(service) is not None else Severity.MEDIUM,
            confidence=Confidence.MEDIUM,
            related=tuple(one.object for one in behind[:4]),
        )


@check(
    "affinity-pins-clients",
    title="A Service keeps all clients of one address on one pod for hours",
    severity=Severity.LOW,
    incidents=(),
    alike=(SKYSCANNER,),
    about=("Service",),
    needs=("Deployment",),
)
def affinity_pins_clients(scene: Scene) -> Answers:
    """
    What it does
    Looks for Services with `sessionAffinity: ClientIP` and a timeout of an hour or more (three hours by
    default), with traffic from outside and two or more pods behind them.

    Why it matters
    Behind a balancer, a proxy or a company's gateway many users have one address, and all of them go to one
    pod. It is full while the others idle; more pods do not help, since known addresses stay where they are.

    Incidents
    At Skyscanner a few pods got far more than their share, were overloaded, and the load moved to the next.
    There the order in a proxy's list was the cause.

    Fix
    Keep the session in a cookie at the proxy, or in a shared store; else lower
    `sessionAffinityConfig.clientIP.timeoutSeconds` to the length of a session.

    References
    - https://kubernetes.io/docs/reference/networking/virtual-ips/#session-affinity
    """
    for service in scene.of("Service"):
        if service.spec.get("sessionAffinity") != "ClientIP":
            yield Pass(service)
            continue
        stated = as_int(service.get("spec", "sessionAffinityConfig", "clientIP", "timeoutSeconds"))
        seconds = _DEFAULT_AFFINITY_SECONDS if stated is None else stated
        leading = scene.edge_of(service)
        scales = [scale for one in scene.workloads_of(service) if (scale := scene.scale(one)) is not None]
        many = any((scale.most or 2) > 1 for scale in scales)
        if seconds < _LONG_AFFINITY_SECONDS:
            yield Pass(service)
        elif leading is None or not many:
            yield NotApplicable(service, "one pod, or no traffic from outside")
        else:
            yield Gap(
                service,
                f"All clients of one address stay on one pod for {seconds // 60} min",
                ("spec", "sessionAffinity"),
                evidence=(
                    "spec.sessionAffinity: ClientIP",
                    f"timeoutSeconds: {seconds}{'' if stated is not None else ' (the default)'}",
                ),
                confidence=Confidence.MEDIUM,
                related=(leading,),
            )


@check(
    "open-dashboard-public",
    title="A dashboard without sign-in gets a public balancer",
    severity=Severity.HIGH,
    incidents=(JW_PLAYER,),
    about=("Service",),
    needs=("Deployment", "StatefulSet", "DaemonSet"),
)
def open_dashboard_public(scene: Scene) -> Answers:
    """
    What it does
    Looks for Services of type LoadBalancer that nothing marks as internal (an annotation of the cloud, a
    private address, a class for a private network) and without `loadBalancerSourceRanges`, before a
    dashboard or an admin tool that has no sign-in of its own, or that is often left without (by its
    image: Weave Scope, Prometheus, Mongo Express, the Kubernetes dashboard and others).

    Why it matters
    The cloud opens such a balancer to every address. A firewall rule that somebody closes by hand belongs to
    Kubernetes and is opened again. Scanners find it within days.

    Incidents
    At JW Player Weave Scope, which can open a shell on any node, stood behind a public balancer whose rule
    had been closed by hand; Kubernetes opened it again, and a miner ran on every node.

    Fix
    Make the Service `ClusterIP` and reach it through a proxy with sign-in, or add the annotation for an
    internal balancer and `loadBalancerSourceRanges`.

    References
    - https://kubernetes.io/docs/concepts/services-networking/service/#internal-load-balancer
    - https://kubernetes.io/docs/tasks/access-application-cluster/configure-cloud-provider-firewall/
    """
    for service in scene.of("Service"):
        if service.spec.get("type") != "LoadBalancer":
            continue
        behind = [one for one in scene.workloads_of(service) if "open-dashboard" in components.roles(one)]
        if not behind or not open_to_everybody(service):
            yield Pass(service)
            continue
        yield Gap(
            service,
            f"It opens {behind[0].object.key} ({components.bare_image(behind[0].containers[0].image)}) "
            "to every address",
            ("spec", "type"),
            evidence=("spec.type: LoadBalancer", "no annotation for an internal balancer, no source ranges"),
            patch=(Operation("replace", ("spec", "type"), "ClusterIP"),),
            related=(behind[0].object,),
        )


CHECKS = (
    affinity_pins_clients,
    open_dashboard_public,
    service_mixes_workloads,
    service_port_undeclared,
    service_selects_nothing,
)
