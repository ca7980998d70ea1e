"""Probes that kill what works: too strict, about something else, or before the program has started."""
# ruff: noqa: D205, D212, D416 - the docstring of a check is its page, in fixed sections

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pilotage.checks import components
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
from pilotage.checks.probing import answered_by_nginx, asks_nothing, looks_deep, other_host
from pilotage.checks.scene import Scene
from pilotage.checks.serving import handler, patience, served, timing, told
from pilotage.checks.values import as_list, as_text, dig, human_seconds
from pilotage.checks.workloads import SERVING, Container, Workload
from pilotage.core.regex import regex

NRE_LABS = "nre-labs-2018-12-04-etcd-liveness-probe-restart-loop"
COINBASE = "coinbase-2020-06-01-api-saturation-health-check-eviction"
BUILDKITE = "buildkite-2016-08-22-db-downgrade-health-check-death-spiral"
OMIO = "omio-2020-02-17-cpu-limit-throttling"

_TIGHT_SECONDS = 10
_LONG_TIMEOUT_SECONDS = 5
_READY_PATH = regex(r"(?:^|[/_.-])(?:ready|readyz|readiness|isready)(?:$|[/_.?-])", re.IGNORECASE)
_ALIVE = regex(r"(?:^|[/_.-])(?:ping|livez?|alive|heartbeat|version)(?:$|[/_.?-])", re.IGNORECASE)
"""Paths that ask whether the process answers, and nothing else."""
_LATER = (
    "Raise `failureThreshold` of the liveness probe, so that a pod is out of traffic for some time before it "
    "is killed."
)
_UNKNOWN = "If more than the process itself answers `{path}`, ask another path. "
_LIVE_PATH = regex(
    r"(?:live|healthz|healthy/?$|ping|metrics|well-known|alive|health[-_]?(?:checks?)?(?:/[\w-]+)?/?$|status|version|"
    r"heartbeat)",
    re.IGNORECASE,
)


@check(
    "liveness-tight",
    title="A pod behind traffic is killed when it is slow for a few seconds",
    severity=Severity.MEDIUM,
    incidents=(),
    alike=(COINBASE, OMIO),
    about=SERVING,
    needs=("Service",),
    chart_severity=Severity.LOW,
)
def liveness_tight(scene: Scene) -> Answers:
    """
    What it does
    Works out how long a container behind traffic from outside may fail to answer before its liveness probe
    has it killed (`failureThreshold`, `periodSeconds` and `timeoutSeconds`, defaults included) and speaks up
    when that is 10 seconds or less, or when one single failure is enough and its timeout is below five.

    Why it matters
    Under load, while its memory is cleared up or its CPU is throttled, a healthy program answers late.
    It is killed then, its requests with it, and its load falls on the others, which become slow in turn.

    Incidents
    At Coinbase health checks waited in the same queue as requests; servers that were merely busy were taken
    out, and their load went to the rest. At Omio throttled containers missed their probes.

    Fix
    Let the liveness probe wait at least half a minute in all, with a timeout of some seconds, and leave the
    quick reaction to the readiness probe.

    References
    - https://kubernetes.io/docs/concepts/configuration/liveness-readiness-startup-probes/
    - https://danielfm.me/post/painless-nginx-ingress/
    """
    for workload, exposure in served(scene, "edge", "api", "webhook"):
        probed = [one for one in workload.running if handler(one.probe("liveness")) is not None]
        tight = [one for one in probed if _is_tight(one.probe("liveness"))]
        if not tight:
            if probed:
                yield Pass(workload.object)
            continue
        probe = tight[0].probe("liveness")
        once = timing(probe, "failureThreshold") <= 1
        yield Gap(
            workload.object,
            f"Container `{tight[0].name}` is killed "
            f"{'after one missed answer' if once else f'when it does not answer for {patience(probe)} s'}",
            (*tight[0].path, "livenessProbe"),
            evidence=tuple(
                f"{key}: {timing(probe, key)}{'' if key in probe else ' (the default)'}"
                for key in ("failureThreshold", "periodSeconds", "timeoutSeconds")
            ),
            related=(exposure.object,),
        )


def _is_tight(probe: Mapping[str, Any]) -> bool:
    once = timing(probe, "failureThreshold") <= 1 and timing(probe, "timeoutSeconds") < _LONG_TIMEOUT_SECONDS
    return once or patience(probe) <= _TIGHT_SECONDS


@check(
    "liveness-asks-readiness",
    title="A pod that is not ready to serve is killed instead of left alone",
    severity=Severity.MEDIUM,
    incidents=(),
    alike=(BUILDKITE, COINBASE),
    about=SERVING,
    needs=("Service",),
    uses=("ConfigMap",),
    chart_severity=Severity.LOW,
)
def liveness_asks_readiness(scene: Scene) -> Answers:
    """
    What it does
    Looks for containers behind a Service whose liveness probe asks for readiness: an HTTP path such as
    `/ready`, `/readyz` or `/health/readiness`, or the very path of the readiness probe where its name says
    that it looks deeper (`/health/database`). One path for both whose name says nothing (`/checkout`) or
    speaks of life (`/healthz`, `/health-check`) is of low severity, and only told where the liveness probe
    gives up no later, the latter where traffic comes from outside; not of ingress controllers, whose path
    looks at the proxy itself. A path that asks nothing (`/ping`, a file, a greeting, a page to sign in, the
    echo of a test server, a fixed answer in an nginx configuration that the pod mounts) is left out.

    Why it matters
    A program says that it is not ready when something that it needs is away: a database, a cache, a peer.
    To restart it cures nothing. All pods share the dependency, so all are killed at the same time, lose
    their connections and caches, and meet the dependency again with a herd of cold starts when it is back.

    Incidents
    At Buildkite health checks asked the database. When it was exhausted, all servers were taken away and
    their replacements could not boot. At Coinbase busy servers were evicted by their health checks.

    Fix
    Let the liveness probe ask a path that answers whenever the process itself works; leave the liveness probe
    out where there is no such path.

    References
    - https://kubernetes.io/docs/concepts/configuration/liveness-readiness-startup-probes/
    - https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#container-probes
    """
    for workload, exposure in served(scene):
        asked = False
        for container in workload.running:
            path = dig(container.probe("liveness"), "httpGet", "path")
            if not isinstance(path, str):
                continue
            asked = True
            gap = _same_question(scene, workload, container, path, exposure.object)
            if gap is not None:
                yield gap
                break
        else:
            if asked:
                yield Pass(workload.object)


def _same_question(
    scene: Scene, workload: Workload, container: Container, path: str, caller: KubeObject
) -> Gap | None:
    live, readiness = container.probe("liveness"), container.probe("readiness")
    ready = dig(readiness, "httpGet", "path")
    same = dig(readiness, "httpGet") == dig(live, "httpGet")
    no_later = same and patience(live) <= patience(readiness)
    unknown = no_later and len(path) > 1 and not _LIVE_PATH.search(path)
    asks = _READY_PATH.search(path) or (same and looks_deep(path))
    edge = scene.exposed(workload, "edge")
    at_once = no_later and (unknown or edge) and not _ALIVE.search(path)
    if not asks and (not at_once or "ingress-controller" in components.container_roles(container)):
        return None
    if asks_nothing(path, container) and not _READY_PATH.search(path):
        return None
    if answered_by_nginx(scene, path, workload):
        return None
    message = f"The liveness probe of `{container.name}` asks `{path}`"
    message += ", as the readiness probe does" if ready == path else ""
    if not asks:
        message += ", and gives up no later: it is killed in the moment in which it would be left alone"
    return Gap(
        workload.object,
        message,
        (*container.path, "livenessProbe", "httpGet", "path"),
        evidence=(
            f"livenessProbe.httpGet.path: {path}",
            f"readinessProbe.httpGet.path: {ready if ready is not None else 'absent'}",
            *(
                f"{name} acts after: {human_seconds(patience(probe))}"
                for name, probe in (("livenessProbe", live), ("readinessProbe", readiness))
                if not asks
            ),
        ),
        fix="" if asks else (_UNKNOWN.format(path=path) if unknown else "") + _LATER,
        severity=None if asks and edge else Severity.LOW,
        confidence=Confidence.MEDIUM,
        related=(caller,),
    )


@check(
    "liveness-on-dependency",
    title="A pod is killed when something else does not answer",
    severity=Severity.HIGH,
    incidents=(),
    alike=(BUILDKITE,),
    about=SERVING,
    chart_severity=Severity.MEDIUM,
)
def liveness_on_dependency(scene: Scene) -> Answers:
    """
    What it does
    Looks for liveness probes that speak to another host than the pod itself: `httpGet.host` or
    `tcpSocket.host` with a name or an outside address, and commands with `-h HOST`, a URL or `nc HOST PORT`.
    Names that the container is given by a variable are not judged. Where nobody calls it, or where it is one
    pod, the severity is medium.

    Why it matters
    When that other thing is away, every pod that asks it is killed, again and again. A short fault of a
    database becomes a crash loop of all its clients, which then wait out their back-off when it is long
    over.

    Incidents
    At Buildkite the health check of a web server asked the database; when the database was exhausted, the
    balancer took away all servers, and new ones could not start.

    Fix
    Ask only the process itself, and watch the dependency with a metric and an alert.

    References
    - https://kubernetes.io/docs/concepts/configuration/liveness-readiness-startup-probes/
    """
    for workload in scene.workloads:
        if workload.kind not in SERVING:
            continue
        probed = [one for one in workload.running if handler(one.probe("liveness")) is not None]
        asked = next(
            ((one, host) for one in probed if (host := other_host(one.probe("liveness"), workload))), None
        )
        if asked is None:
            if probed:
                yield Pass(workload.object)
            continue
        container, host = asked
        scale = scene.scale(workload)
        single = scale is not None and scale.most == 1
        yield Gap(
            workload.object,
            f"The liveness probe of `{container.name}` asks `{host}`: when that is away, "
            f"{'it is' if single else 'all pods are'} killed",
            (*container.path, "livenessProbe"),
            evidence=(f"livenessProbe: {told(container.probe('liveness'))}",),
            severity=None if scene.exposed(workload) and not single else Severity.MEDIUM,
        )


@check(
    "liveness-before-start",
    title="The liveness probe kills a pod before it has had time to start",
    severity=Severity.MEDIUM,
    breaks=True,
    incidents=(),
    alike=(NRE_LABS,),
    about=SERVING,
)
def liveness_before_start(scene: Scene) -> Answers:
    """
    What it does
    Looks for containers without a startup probe whose liveness probe would have killed them (initial delay
    and patience together) by the time at which the readiness probe first asks: the readiness probe's
    initial delay says how long the author expects the start to take.

    Why it matters
    Such a pod starts on a quiet day and not on a busy one. When the image is pulled by all nodes at once or
    the CPU is short, it is killed in the middle of its start, and begins anew, for ever.

    Incidents
    No public incident with this very line is known to us. At NRE Labs a liveness probe killed a working etcd
    every two minutes, and rebuilding brought the same probe back.

    Fix
    Add a startup probe with the liveness probe's handler and a `failureThreshold` that allows for the
    slowest start; then drop the initial delays.

    References
    -
      https://kubernetes.io/docs/tasks/configure-pod-container/configure-liveness-readiness-startup-probes/#define-startup-probes
    """
    for workload in scene.workloads:
        if workload.kind not in SERVING:
            continue
        looked = False
        for container in workload.running:
            live, ready = container.probe("liveness"), container.probe("readiness")
            if handler(live) is None or handler(ready) is None:
                continue
            looked = True
            killed = timing(live, "initialDelaySeconds") + patience(live)
            expected = timing(ready, "initialDelaySeconds")
            if handler(container.probe("startup")) is not None or killed >= expected:
                continue
            yield Gap(
                workload.object,
                f"`{container.name}` is killed {human_seconds(killed)} after its start when it does not "
                f"answer, and is first asked whether it is ready after {human_seconds(expected)}",
                (*container.path, "livenessProbe"),
                evidence=(
                    f"livenessProbe.initialDelaySeconds: {timing(live, 'initialDelaySeconds')}",
                    f"livenessProbe acts after: {patience(live)} s",
                    f"readinessProbe.initialDelaySeconds: {expected}",
                    "startupProbe: absent",
                ),
            )
            break
        else:
            if looked:
                yield Pass(workload.object)


@check(
    "quorum-liveness",
    title="A member of a quorum is killed when the others do not answer",
    severity=Severity.HIGH,
    incidents=(NRE_LABS,),
    about=SERVING,
)
def quorum_liveness(scene: Scene) -> Answers:
    """
    What it does
    Looks for etcd, ZooKeeper and Consul (by image) whose liveness probe asks a question that only a quorum
    can answer: `etcdctl … get` or `endpoint health`, `/health` of etcd without `serializable=true`, a
    command of `zkCli`, `zkServer.sh status`, `consul operator raft`.

    Why it matters
    When the quorum is lost, or slow, every member fails the probe and is killed. Restarted members have to
    rejoin, which needs the quorum that the kills prevent. The probe takes away the members that were well.

    Incidents
    At NRE Labs the probe of etcd read a key, as kubeadm had generated it. It failed though etcd served, and
    every two minutes the kubelet killed etcd and with it the API server; rebuilding brought it back.

    Fix
    Ask the member about itself: `/livez` of etcd 3.5.11 or later (or `/health?serializable=true`), `ruok`
    of ZooKeeper, a TCP port of Consul. Leave the question about the quorum to readiness and to an alert.

    References
    - https://etcd.io/docs/v3.5/op-guide/monitoring/
    - https://github.com/kubernetes/enhancements/issues/4331
    """
    for workload in scene.workloads:
        for container in workload.containers:
            probe = container.probe("liveness")
            if "quorum-store" not in components.container_roles(container):
                continue
            if handler(probe) is None:
                yield NotApplicable(workload.object, "it has no liveness probe")
            elif _asks_quorum(container.image, probe):
                yield Gap(
                    workload.object,
                    f"The liveness probe of `{container.name}` asks what only a quorum can answer",
                    (*container.path, "livenessProbe"),
                    evidence=(f"image: {container.image}", f"livenessProbe: {told(probe)}"),
                )
            else:
                yield Pass(workload.object)


def _asks_quorum(image: str, probe: Mapping[str, Any]) -> bool:
    path = as_text(dig(probe, "httpGet", "path"))
    if path and "etcd" in image:
        return path.partition("?")[0] == "/health" and "serializable=true" not in path
    words = " ".join(str(word) for word in as_list(dig(probe, "exec", "command")))
    reads = re.search(r"\betcdctl\b.*\b(?:get|put|endpoint\s+health|cluster-health|member\s+list)\b", words)
    if reads and "--consistency=s" not in words:
        return True
    return bool(re.search(r"zk(?:Cli|Server)(?:\.sh)?\b|\bconsul\s+(?:operator\s+raft|kv)\b", words))


CHECKS = (
    liveness_asks_readiness,
    liveness_before_start,
    liveness_on_dependency,
    liveness_tight,
    quorum_liveness,
)
