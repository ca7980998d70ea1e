"""Readiness: pods that get requests before they can answer, or long after they could."""
# ruff: noqa: D205, D212, D416 - the docstring of a check is its page, in fixed sections

from __future__ import annotations

import re
from collections.abc import Iterator

from pilotage.checks import lone
from pilotage.checks.components import filled_in_by_mesh
from pilotage.checks.model import (
    Answers,
    Confidence,
    Gap,
    NotApplicable,
    Pass,
    Severity,
    check,
)
from pilotage.checks.objects import KubeObject
from pilotage.checks.placeholders import no_program, to_fill_in
from pilotage.checks.probing import looks_deep, other_host
from pilotage.checks.scene import Exposure, Scene
from pilotage.checks.serving import handler, patience, served, serving_container, timing, told
from pilotage.checks.values import as_list, as_map, as_text, dig
from pilotage.checks.workloads import SERVING, Container, Workload
from pilotage.core.regex import regex

POSTHOG = "posthog-2025-09-29-connection-timeout-cut-retry-amplification"
DFDS_AMI = "dfds-2022-10-31-bad-eks-ami-pleg"
FACEBOOK = "facebook-2021-10-04-backbone-withdrawal-dns"
DYNAMODB = "aws-2015-09-20-dynamodb-metadata-membership-storm"
BUILDKITE = "buildkite-2016-08-22-db-downgrade-health-check-death-spiral"
MONZO = "monzo-2017-10-27-partial-outage-linkerd-empty-endpoints"

_SLOW_SECONDS = 120
_FOR_MEMBERS = {"cluster", "gossip", "memberlist", "peer", "raft", "rpc"}
"""Names of ports at which members of a cluster speak to each other."""
_ONE_MEMBER = "statefulset.kubernetes.io/pod-name"
_PROBES = ("readiness", "liveness", "startup")


@check(
    "readiness-missing",
    title="Pods get traffic from outside before they can answer it",
    severity=Severity.MEDIUM,
    incidents=(),
    alike=(DFDS_AMI, POSTHOG),
    about=SERVING,
    needs=("Service",),
    chart_severity=Severity.LOW,
)
def readiness_missing(scene: Scene) -> Answers:
    """
    What it does
    Looks for workloads to which an Ingress, another route or a Service with a port outside of the cluster
    leads, and of whose containers none has a readiness probe, nor the serving one a startup probe.
    Readiness gates count as a probe; pods that stand alone are left out, since nothing replaces them. One
    pod that is gone before the next starts is of low severity, since nothing could answer in its place;
    so is a program that works as one instance only, one that speaks UDP only, for which there is no
    probe, and what no rollout replaces (a ReplicaSet by itself). Where pods find each other by the names of
    a StatefulSet or by the Service, the fix says what lets them meet before they are ready.

    Why it matters
    Without a probe a pod counts as ready when its process has begun. A rolling update then takes an old pod
    away for a new one that still loads its code; and a version that never answers replaces all that did.

    Incidents
    At DFDS some applications had no probes when nodes turned NotReady for short spells. At PostHog pods that
    could not serve stayed in service for up to 45 minutes, since the probes did not show it.

    Fix
    Add a readiness probe that asks what a request needs, and `minReadySeconds` where the program may die
    shortly after its start.

    References
    - https://kubernetes.io/docs/concepts/configuration/liveness-readiness-startup-probes/
    """
    for workload in scene.workloads:
        exposure = scene.exposed(workload, "edge") if workload.kind in SERVING else None
        if exposure is None or workload.kind == "Pod":
            continue
        container = serving_container(workload, exposure)
        probed = any(handler(one.probe("readiness")) is not None for one in workload.running)
        if container is None:
            continue
        if filled_in_by_mesh(container):
            yield NotApplicable(workload.object, "the mesh fills the container in, with its probe")
        elif no_program(container.image):
            yield NotApplicable(workload.object, "what it runs is still to be filled in, and what to ask")
        elif probed or workload.pod.get("readinessGates") or handler(container.probe("startup")) is not None:
            yield Pass(workload.object)
        elif workload.strategy in {"Recreate", "OnDelete"}:
            yield NotApplicable(workload.object, "see recreate-behind-traffic and update-waits-for-restart")
        else:
            yield Gap(
                workload.object,
                f"`{container.name}` gets traffic through {exposure.object.key} as soon as its "
                "process begins",
                container.path,
                evidence=("readinessProbe: absent", "startupProbe: absent"),
                severity=Severity.LOW if _matters_little(scene, workload, exposure, container) else None,
                fix=_UDP if _only_udp(container) else _among_members(scene, workload),
                related=(exposure.object,),
            )


_UDP = (
    "Kubernetes has no probe for UDP. Probe a TCP or HTTP port on which the program tells of its health, "
    "where it has one; else add an `exec` probe with a client that its image holds."
)


def _matters_little(scene: Scene, workload: Workload, exposure: Exposure, container: Container) -> bool:
    """Whether no other pod could answer meanwhile, or nobody but somebody who looks waits for it."""
    scale = scene.scale(workload)
    single = scale is not None and scale.most == 1
    return (
        workload.kind in lone.ROLL_NOTHING
        or lone.ends_first(scene, workload)
        or lone.is_console(workload)
        or _only_udp(container)
        or (single and bool(lone.why_alone(scene, workload, exposure)))
    )


def _only_udp(container: Container) -> bool:
    return bool(container.ports) and all(port.get("protocol") == "UDP" for port in container.ports)


def _among_members(scene: Scene, workload: Workload) -> str:
    """The fix where its pods wait for each other by names that only ready ones have; empty elsewhere."""
    if (way := next(_discovery(scene, workload), None)) is not None:
        return _BY_DISCOVERY.format(variable=way[0], service=way[1].key)
    if workload.kind != "StatefulSet":
        return ""
    told = "\n".join(_told(workload))
    found = next((one for one in scene.services_of(workload) if _asks_members(one, workload, told)), None)
    if found is None:
        return ""
    wanted = []
    if found.spec.get("publishNotReadyAddresses") is not True:
        wanted.append(
            f"set `publishNotReadyAddresses: true` on {found.key}, by whose names its pods find each other,"
        )
    if workload.object.spec.get("podManagementPolicy") != "Parallel":
        wanted.append(
            "set `podManagementPolicy: Parallel` (which needs the StatefulSet made anew: delete it with "
            "`--cascade=orphan`, then apply)"
        )
    if not wanted:
        return ""
    return (
        f"First {' and '.join(wanted)}: else, once there is a probe, each pod waits for others that get no "
        "name, or are not started, before they are ready. Then add a readiness probe that asks the member "
        "itself (its port, where it has no path for that), not the others."
    )


_DISCOVERS = regex(r"DISCOVER|PEER|JOIN|SEED|MEMBER|UNICAST|CLUSTER_(?:HOST|SERVICE|NODES)")
"""Names of variables by which a program is told where the others of its kind are."""
_BY_DISCOVERY = (
    "First give its pods a headless Service of their own with `publishNotReadyAddresses: true`, and name "
    "that in `{variable}`: by {service}, which stands there, pods that are not ready would not find each "
    "other. Then add a readiness probe that asks what a request needs."
)


def _discovery(scene: Scene, workload: Workload) -> Iterator[tuple[str, KubeObject]]:
    """By which Services its pods find each other, as variables say, if those hide what is not ready."""
    told = {
        as_text(dig(item, "value")): as_text(dig(item, "name"))
        for container in workload.running
        for item in as_list(container.data.get("env"))
        if _DISCOVERS.search(as_text(dig(item, "name")))
    }
    for one in scene.services_of(workload):
        if one.name in told and one.spec.get("publishNotReadyAddresses") is not True:
            yield told[one.name], one


def _told(workload: Workload) -> Iterator[str]:
    for container in workload.running:
        yield from container.words
        yield from (as_text(dig(item, "value")) for item in as_list(container.data.get("env")))


def _asks_members(service: KubeObject, workload: Workload, told: str) -> bool:
    """Whether a headless Service gives its pods their names, and what they are told has such a name."""
    if service.spec.get("clusterIP") != "None" or service.name != workload.object.spec.get("serviceName"):
        return False
    name = re.escape(service.name)
    member = rf"(?:{re.escape(workload.object.name)}-\S*|[)}}])\.{name}(?![\w-])"
    return re.search(rf"{member}|(?<![\w.-]){name}\.[\w$(){{}}.-]*svc\b", told) is not None


@check(
    "readiness-leaves-late",
    title="A pod that does not answer gets traffic for minutes",
    severity=Severity.MEDIUM,
    incidents=(),
    alike=(POSTHOG,),
    about=SERVING,
    needs=("Service",),
)
def readiness_leaves_late(scene: Scene) -> Answers:
    """
    What it does
    Works out how long a pod behind traffic from outside may fail its readiness probe before it leaves
    (`failureThreshold`, `periodSeconds` and `timeoutSeconds`) and speaks up at two minutes or more, unless
    there is one pod only, so that none could take over.

    Why it matters
    All that time the balancer sends it its share of the requests, and each one fails or hangs. With three
    replicas it is a third of the traffic.

    Incidents
    At PostHog pods that could not serve went on getting requests for up to 45 minutes, because the probes
    did not take them out.

    Fix
    Ask every few seconds and leave after two or three failures; a readiness probe kills nothing, so it may
    be quick.

    References
    - https://kubernetes.io/docs/tasks/configure-pod-container/configure-liveness-readiness-startup-probes/
    """
    for workload in scene.workloads:
        exposure = scene.exposed(workload, "edge") if workload.kind in SERVING else None
        if exposure is None:
            continue
        container = serving_container(workload, exposure)
        probe = container.probe("readiness") if container is not None else {}
        if container is None or handler(probe) is None:
            continue
        if patience(probe) < _SLOW_SECONDS:
            yield Pass(workload.object)
            continue
        scale = scene.scale(workload)
        if scale is not None and scale.most == 1:
            yield NotApplicable(workload.object, "it has one pod, so that no other could take over")
            continue
        keys = ("failureThreshold", "periodSeconds", "timeoutSeconds")
        yield Gap(
            workload.object,
            f"`{container.name}` may fail for {patience(probe)} s before it gets no more traffic",
            (*container.path, "readinessProbe"),
            evidence=tuple(f"{key}: {timing(probe, key)}" for key in keys),
            related=(exposure.object,),
        )


@check(
    "probe-port-undeclared",
    title="A probe asks a port by a name that the container does not have",
    severity=Severity.HIGH,
    breaks=True,
    incidents=(),
    alike=(MONZO,),
    about=SERVING,
)
def probe_port_undeclared(scene: Scene) -> Answers:
    """
    What it does
    Looks for liveness, readiness and startup probes whose port is a name that no port of that container
    bears.

    Why it matters
    The kubelet cannot resolve the name, so the probe fails each time. With a readiness probe no pod of the
    new version ever gets a request and the rollout hangs; with a liveness or startup probe it is killed
    without end.

    Incidents
    No public incident with this very line is known to us. At Monzo a Service whose endpoints were none broke
    the proxy that read it; an unready pod leaves a Service empty, too.

    Fix
    Name the container's port, or give the probe the number.

    References
    -
      https://kubernetes.io/docs/tasks/configure-pod-container/configure-liveness-readiness-startup-probes/#define-a-tcp-liveness-probe
    """
    for workload in scene.workloads:
        if workload.kind not in SERVING:
            continue
        named = list(_named_ports(workload))
        wrong = [
            (container, which, kind, name)
            for container, which, kind, name in named
            if name not in {as_text(port.get("name")) for port in container.ports}
        ]
        if wrong:
            container, which, kind, name = wrong[0]
            yield Gap(
                workload.object,
                f"The {which} probe of `{container.name}` asks port `{name}`, which the container does not "
                "declare: it always fails",
                (*container.path, f"{which}Probe", kind, "port"),
                evidence=(
                    f"{which}Probe.{kind}.port: {name}",
                    f"ports: {[port.get('name') or port.get('containerPort') for port in container.ports]}",
                ),
            )
        elif named:
            yield Pass(workload.object)


def _named_ports(workload: Workload) -> Iterator[tuple[Container, str, str, str]]:
    for container in workload.running:
        for which in _PROBES:
            for kind in ("httpGet", "tcpSocket"):
                name = dig(container.probe(which), kind, "port")
                if isinstance(name, str) and name and not name.isdigit() and not to_fill_in(name):
                    yield container, which, kind, name


@check(
    "readiness-on-dependency",
    title="Pods leave traffic all at once when something that they share does not answer",
    severity=Severity.MEDIUM,
    incidents=(),
    alike=(FACEBOOK, DYNAMODB, BUILDKITE),
    about=SERVING,
    needs=("Service",),
    chart_severity=Severity.LOW,
)
def readiness_on_dependency(scene: Scene) -> Answers:
    """
    What it does
    Looks for readiness probes of pods behind traffic from outside that speak to another host than the pod
    itself (`httpGet.host`, `tcpSocket.host`, commands with `-h HOST`, a URL or `nc HOST PORT`), or that ask a
    path which says that it looks deeper: `/health/db`, `/deep-health`, Spring's `/actuator/health`. Names
    that the container is given by a variable are not judged.

    Why it matters
    All pods share the dependency, so all of them fail the probe in the same seconds, the healthy ones too.
    The Service is left without a backend: clients get 503 even for what needs no dependency, no pod can show
    a friendly error, and when the dependency returns all of them meet it at once.

    Incidents
    At Facebook every DNS server withdrew its routes because it did not reach the data centres, and nothing
    resolved. At AWS storage servers whose membership was confirmed too late took themselves out of service
    though they held their data. At Buildkite health checks that queried one database removed all servers.

    Fix
    Let the readiness probe ask whether this process can take a request, answer with an error or with less
    where the dependency is needed, and watch the dependency with a metric and an alert. For Spring that is
    `/actuator/health/readiness`, which asks no dependency unless it is told to.

    References
    - https://kubernetes.io/docs/concepts/configuration/liveness-readiness-startup-probes/
    -
      https://docs.spring.io/spring-boot/reference/actuator/endpoints.html#actuator.endpoints.kubernetes-probes
    """
    for workload, exposure in served(scene, "edge"):
        probed = [one for one in workload.running if handler(one.probe("readiness")) is not None]
        asked = next(((one, what) for one in probed if (what := _asks_beyond(one, workload))), None)
        if asked is None:
            if probed:
                yield Pass(workload.object)
            continue
        container, what = asked
        yield Gap(
            workload.object,
            f"The readiness probe of `{container.name}` asks {what} is away, no pod gets requests",
            (*container.path, "readinessProbe"),
            evidence=(f"readinessProbe: {told(container.probe('readiness'))}",),
            confidence=Confidence.MEDIUM,
            related=(exposure.object,),
        )


def _asks_beyond(container: Container, workload: Workload) -> str:
    """What a readiness probe asks beside the process itself; empty where it asks nothing else."""
    probe = container.probe("readiness")
    host = other_host(probe, workload)
    path = as_text(dig(probe, "httpGet", "path"))
    if host:
        return f"`{host}`: when that"
    return f"`{path}`, which looks at dependencies: when one" if looks_deep(path) else ""


@check(
    "unready-behind-edge",
    title="A Service sends traffic from outside to pods that are not ready",
    severity=Severity.HIGH,
    incidents=(),
    alike=(POSTHOG,),
    about=("Service",),
)
def unready_behind_edge(scene: Scene) -> Answers:
    """
    What it does
    Looks for Services with `publishNotReadyAddresses: true` (or the old annotation
    `service.alpha.kubernetes.io/tolerate-unready-endpoints`) to which an Ingress or another route leads, or
    that have a port outside of the cluster. One that picks one member of a StatefulSet is left out, and one
    by whose ports (`rpc`, `gossip`, `raft`) members find each other. One pod behind it is of low severity, as
    no other could answer, and pods that are not among the files are of medium.

    Why it matters
    The setting lets members of a store find each other while they start. On a Service for requests it
    switches readiness off: pods that start, that fail and that are about to end all get their share.

    Incidents
    At PostHog pods in a crash loop stayed in service for up to 45 minutes, and most evaluations of a region
    failed.

    Fix
    Keep the setting for a headless Service of its own; route traffic through one without it.

    References
    - https://kubernetes.io/docs/concepts/services-networking/service/#headless-services
    """
    for service in scene.of("Service"):
        old = service.annotations.get("service.alpha.kubernetes.io/tolerate-unready-endpoints")
        stated = service.spec.get("publishNotReadyAddresses") is True
        if not stated and str(old).lower() != "true":
            yield Pass(service)
            continue
        leading = scene.edge_of(service)
        if leading is None:
            yield NotApplicable(service, "no traffic from outside goes through it")
            continue
        if _ONE_MEMBER in as_map(service.spec.get("selector")):
            yield NotApplicable(service, "it leads to one pod, in whose place no other could answer")
            continue
        names = {as_text(dig(port, "name")) for port in as_list(service.spec.get("ports"))}
        if names <= _FOR_MEMBERS:
            yield NotApplicable(service, "its members find each other by it before they are ready")
            continue
        path = ("spec", "publishNotReadyAddresses") if stated else ("metadata", "annotations")
        yield Gap(
            service,
            f"{leading.key} sends traffic through it to pods that are not ready",
            path,
            evidence=(
                "spec.publishNotReadyAddresses: true" if stated else "tolerate-unready-endpoints: true",
            ),
            severity=_of_unready(scene, service),
            confidence=Confidence.HIGH,
            related=(leading,),
        )


def _of_unready(scene: Scene, service: KubeObject) -> Severity | None:
    """Low where one pod is all there is, medium where nobody knows how many, since an operator makes them."""
    scales = [scene.scale(one) for one in scene.workloads_of(service)]
    if not scales:
        return Severity.MEDIUM
    return Severity.LOW if len(scales) == 1 and scales[0] is not None and scales[0].most == 1 else None


CHECKS = (
    probe_port_undeclared,
    readiness_leaves_late,
    readiness_missing,
    readiness_on_dependency,
    unready_behind_edge,
)
