"""Shutdown: whether a pod that is told to stop goes on serving until the last balancer knows."""
# ruff: noqa: D205, D212, D416 - the docstring of a check is its page, in fixed sections

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from pilotage.checks import lone, stopping
from pilotage.checks.components import filled_in_by_mesh
from pilotage.checks.controllers import recognised
from pilotage.checks.model import (
    Answers,
    Confidence,
    Gap,
    NotApplicable,
    Operation,
    Pass,
    Severity,
    check,
)
from pilotage.checks.placeholders import no_program
from pilotage.checks.scene import Exposure, Scene
from pilotage.checks.serving import served, serving_container
from pilotage.checks.values import KeyPath, as_int, as_list, as_map, human_seconds
from pilotage.checks.workloads import SERVING, Container, Workload
from pilotage.core.regex import regex

RAVELIN = "ravelin-2019-sigterm-endpoint-race-502"
LOVEHOLIDAYS = "loveholidays-2019-gke-upgrade-stuck-nodes-hpa"

_SLEEP = regex(r"\bsleep[\s\"',]+(\d+(?:\.\d+)?)([smh]?)")
_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600}
_LEAST_GRACE_SECONDS = 5
_LONG_GRACE_SECONDS = 600


class _Hook(msgspec.Struct, frozen=True):
    """A preStop hook that waits for a time that is written down."""

    container: Container
    seconds: float
    path: KeyPath


def _hooks(workload: Workload) -> Iterator[_Hook]:
    for container in workload.running:
        path = (*container.path, "lifecycle", "preStop")
        seconds = as_int(as_map(container.pre_stop.get("sleep")).get("seconds"))
        if seconds is not None:
            yield _Hook(container, seconds, (*path, "sleep"))
            continue
        words = " ".join(str(word) for word in as_list(as_map(container.pre_stop.get("exec")).get("command")))
        found = [float(number) * _UNITS[unit] for number, unit in _SLEEP.findall(words)]
        # A loop that sleeps is bounded by its own condition, which we do not read.
        if found and not re.search(r"\b(?:while|until|for)\b", words):
            yield _Hook(container, sum(found), (*path, "exec"))


_OWN_CHECK = {
    "traefik": "traefik-accept-grace",
    "contour": "contour-no-shutdown-manager",
    "istio-gateway": "istio-drain-short",
}


def _told_elsewhere(scene: Scene, workload: Workload) -> str:
    """The check that tells of this workload's shutdown better; empty where there is none."""
    if workload.strategy == "Recreate":
        return "recreate-behind-traffic"
    controller = recognised(scene, workload)
    return _OWN_CHECK.get(controller.product, "") if controller is not None else ""


def _no_use(scene: Scene, workload: Workload, exposure: Exposure, container: Container) -> str:
    """Why a hook would not help; empty where it does."""
    if filled_in_by_mesh(container):
        return "the mesh fills the container in"
    if no_program(container.image):
        return "which program it runs is still to be filled in, and with it how that stops"
    if serves_on := stopping.why_it_serves_on(container):
        return serves_on
    scale = scene.scale(workload)
    return _gone_anyway(scene, workload, exposure) if scale is not None and scale.most == 1 else ""


def _gone_anyway(scene: Scene, workload: Workload, exposure: Exposure) -> str:
    """Why one pod's way out matters little beside the gap that its end is; empty where it may matter."""
    if lone.ends_first(scene, workload):
        return "its one pod ends before the next one starts, whatever it does on its way"
    program = lone.program_of(scene, workload, exposure)
    if program is not None and program.hookless:
        return f"{program.why}; see single-replica-edge"
    return lone.why_alone(scene, workload, exposure)


def _mild(scene: Scene, workload: Workload, exposure: Exposure) -> bool:
    """Whether few requests are at stake: people look at it, nothing rolls it, or it is one of one anyway."""
    scale = scene.scale(workload)
    one = scale is not None and scale.most == 1
    alone = one and lone.program_of(scene, workload, exposure) is not None
    return alone or lone.is_console(workload) or workload.kind in lone.ROLL_NOTHING


@check(
    "prestop-missing",
    title="A pod behind traffic stops at once when it is told to, before the balancer knows",
    severity=Severity.MEDIUM,
    incidents=(RAVELIN,),
    about=SERVING,
    needs=("Service",),
    uses=lone.USES,
    chart_severity=Severity.LOW,
)
def prestop_missing(scene: Scene) -> Answers:
    """
    What it does
    Looks for pods to which an Ingress, another route or a Service with a port outside of the cluster
    leads, and whose serving container has no preStop hook. Whether the program itself goes on serving
    after SIGTERM cannot be seen from outside, so the confidence is medium; for consoles, at which people
    look, for what no rollout replaces (a ReplicaSet by itself), and for one pod of a program that works
    alone unless it is set up for more (a table), the severity is low. Left out is one pod that is gone
    before the next starts (one member of a StatefulSet, the pod of a ReplicationController of one, one
    that a rollout takes away first, a program that works as one instance only): a hook only makes that
    gap longer. So are controllers that look after other workloads, a container whose image the reader is
    to fill in, and what serves until its grace period is over, since SIGTERM does not reach it or means
    nothing to it: a program that `sh -c` starts without `exec` (as first process the shell ignores the
    signal), and programs of a table, such as TensorFlow Serving.

    Why it matters
    When a pod is removed, SIGTERM and the removal of its endpoint happen at the same time. A balancer or a
    proxy learns of the removal seconds later and still sends requests. A program that closes its listener
    on SIGTERM refuses them: each rollout and each drain costs some users an error.

    Incidents
    At Ravelin clients got 502 whenever pods were replaced, because pods stopped listening before Google's
    load balancer stopped sending. A preStop hook that sleeps, or a program that goes on serving after
    SIGTERM, is the answer.

    Fix
    Add a preStop hook that waits longer than the slowest balancer needs (`sleep: {seconds: 15}` from
    Kubernetes 1.30 on), and raise `terminationGracePeriodSeconds` by as much; or let the program serve on
    after SIGTERM.

    References
    - https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#pod-termination
    - https://philpearl.github.io/post/k8s_ingress/
    """
    for workload, exposure in served(scene, "edge"):
        container = serving_container(workload, exposure)
        if container is None or workload.kind == "Pod":
            # Nothing replaces a pod that stands alone, so there is no rollout that could cost a request.
            continue
        if container.pre_stop:
            yield Pass(workload.object)
            continue
        other = _told_elsewhere(scene, workload)
        why = f"see {other}" if other else _no_use(scene, workload, exposure, container)
        if why:
            yield NotApplicable(workload.object, why)
            continue
        yield Gap(
            workload.object,
            f"Container `{container.name}` gets traffic through {exposure.object.key} and has no preStop "
            "hook: on SIGTERM it may stop listening before the balancer stops sending",
            container.path,
            evidence=(
                "lifecycle.preStop: absent",
                f"terminationGracePeriodSeconds: {workload.grace_seconds}",
            ),
            severity=Severity.LOW if _mild(scene, workload, exposure) else None,
            confidence=Confidence.MEDIUM,
            related=(exposure.object,),
        )


@check(
    "grace-under-prestop",
    title="The grace period ends before or with the preStop hook",
    severity=Severity.HIGH,
    incidents=(),
    alike=(RAVELIN,),
    about=SERVING,
)
def grace_under_prestop(scene: Scene) -> Answers:
    """
    What it does
    Reads how long preStop hooks sleep (`sleep.seconds`, or `sleep N` in a command) and compares with
    `terminationGracePeriodSeconds` (30 by default), which runs from the start of the hook.

    Why it matters
    When the grace period is over, the container is killed, two seconds after at most. A program whose hook
    has used the time up never gets SIGTERM in time to finish: requests in hand are cut, files stay
    unwritten.

    Incidents
    Ravelin's account of pods that end while the balancer still sends gives the rule: the grace period must
    be longer than the wait for the balancer plus the work in hand.

    Fix
    Set `terminationGracePeriodSeconds` to the hook's time plus the longest request, and some seconds.

    References
    - https://kubernetes.io/docs/concepts/containers/container-lifecycle-hooks/#hook-handler-execution
    """
    for workload in scene.workloads:
        hooks = list(_hooks(workload)) if workload.kind in SERVING else []
        if not hooks:
            continue
        longest = max(hooks, key=lambda hook: hook.seconds)
        grace = workload.grace_seconds
        if longest.seconds < grace:
            yield Pass(workload.object)
            continue
        stated = "terminationGracePeriodSeconds" in workload.pod
        needed = int(longest.seconds) + 30
        yield Gap(
            workload.object,
            f"The preStop hook of `{longest.container.name}` takes {human_seconds(longest.seconds)}, the "
            f"grace period ends after {human_seconds(grace)}: the container is killed without time to finish",
            longest.path,
            evidence=(
                f"preStop sleeps: {longest.seconds:g} s",
                f"terminationGracePeriodSeconds: {grace}{'' if stated else ' (the default)'}",
            ),
            fix=f"Set `terminationGracePeriodSeconds` to {needed} or more: the hook's time plus the longest "
            "request.",
            patch=(
                Operation(
                    "replace" if stated else "add",
                    (*workload.pod_path, "terminationGracePeriodSeconds"),
                    needed,
                ),
            ),
        )


@check(
    "grace-too-short",
    title="A pod behind traffic has next to no time to finish its requests",
    severity=Severity.HIGH,
    incidents=(),
    alike=(RAVELIN,),
    about=SERVING,
    needs=("Service",),
)
def grace_too_short(scene: Scene) -> Answers:
    """
    What it does
    Looks for pods to which traffic from outside leads and whose `terminationGracePeriodSeconds` is below 5.
    Zero is of high severity, more is of medium.

    Why it matters
    With zero the pod is removed by force: no SIGTERM, no preStop hook, no wait for the balancer. With one
    to four seconds the balancer still sends when the process is killed.

    Incidents
    At Ravelin clients got 502 because pods ended before the balancer stopped sending; the report asks for a
    grace period that is longer than the balancer's update.

    Fix
    Set `terminationGracePeriodSeconds` to the time that the balancer needs plus the longest request; 30 is
    the default.

    References
    - https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#pod-termination-forced
    """
    for workload, exposure in served(scene, "edge"):
        grace = workload.grace_seconds
        if grace >= _LEAST_GRACE_SECONDS:
            yield Pass(workload.object)
            continue
        yield Gap(
            workload.object,
            f"It gets traffic through {exposure.object.key} and has {grace} s to finish",
            (*workload.pod_path, "terminationGracePeriodSeconds"),
            evidence=(f"terminationGracePeriodSeconds: {grace}",),
            severity=Severity.HIGH if grace <= 0 else Severity.MEDIUM,
            related=(exposure.object,),
        )


@check(
    "grace-stalls-drain",
    title="A grace period of ten minutes or more stalls drains",
    severity=Severity.LOW,
    incidents=(LOVEHOLIDAYS,),
    about=SERVING,
)
def grace_stalls_drain(scene: Scene) -> Answers:
    """
    What it does
    Looks for Deployments, DaemonSets and the like whose `terminationGracePeriodSeconds` is 600 or more.
    StatefulSets are left out, since a database may need that long, and so are controllers that elect a
    leader, by their arguments, or are operators, by the variable that names the namespaces to watch: they end
    with the work in hand.

    Why it matters
    A program that does not end by itself uses its whole grace period, on every node that is drained.
    Upgrades of a pool take hours, run out of their window, and leave the cluster in two versions.

    Incidents
    At loveholidays grace periods of up to 600 seconds made each drain of an upgrade slow; of 20 nodes one
    got through, and the half-done upgrade blinded the autoscaler.

    Fix
    Let the program end when its work is done, and set the grace period to the longest work in hand.

    References
    - https://kubernetes.io/docs/tasks/administer-cluster/safely-drain-node/
    """
    for workload in scene.workloads:
        if workload.kind not in SERVING:
            continue
        grace = workload.grace_seconds
        if workload.kind == "StatefulSet":
            yield NotApplicable(workload.object, "a StatefulSet may need long to end")
        elif lone.elects_a_leader(workload) or _is_operator(workload):
            yield NotApplicable(workload.object, "a controller ends when the work in hand is done")
        elif grace < _LONG_GRACE_SECONDS:
            yield Pass(workload.object)
        else:
            yield Gap(
                workload.object,
                f"A drain may wait {human_seconds(grace)} for each of its pods",
                (*workload.pod_path, "terminationGracePeriodSeconds"),
                evidence=(f"terminationGracePeriodSeconds: {grace}",),
                confidence=Confidence.MEDIUM,
            )


_WATCHED = frozenset({"WATCH_NAMESPACE", "WATCH_NAMESPACES"})
"""Variables by which an operator is told what to watch; its library ends it at the latest after 30 s."""


def _is_operator(workload: Workload) -> bool:
    return any(
        as_map(item).get("name") in _WATCHED
        for container in workload.running
        for item in as_list(container.data.get("env"))
    )


CHECKS = (grace_stalls_drain, grace_too_short, grace_under_prestop, prestop_missing)
