"""Priorities: who is pushed aside when nodes are full."""
# ruff: noqa: D205, D212, D416 - the docstring of a check is its page, in fixed sections

from __future__ import annotations

import json
from collections.abc import Iterator

from pilotage.checks import components
from pilotage.checks.absence import together
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
from pilotage.checks.objects import KubeObject
from pilotage.checks.placeholders import unrendered
from pilotage.checks.scene import Scene
from pilotage.checks.values import as_int, as_text
from pilotage.checks.workloads import KINDS, SERVING, Workload

GRAFANA = "grafana-labs-2019-07-19-pod-priority-preemption-cascade"
DFDS_NODES = "dfds-2019-12-04-all-nodes-deleted-by-command"
DFDS_SUBNET = "dfds-2019-11-30-eks-subnet-ip-starvation"
DFDS_PIPELINE = "dfds-2019-12-05-terraform-pipeline-reverted-network"
MYBINDER = "mybinder-2022-06-02-wrong-count-in-pod-quota"

_BUILT_IN = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}


_OF_THE_CLUSTER = (
    "No class of yours can rank above `{name}`, which is for what the cluster itself needs: give the work a "
    "class below that of what serves traffic, with `preemptionPolicy: Never`, or none."
)


_OF_AGENTS = (
    "`{name}` is there for agents on the nodes, which rank above traffic rightly: give the work a class of "
    "its own, below that of what serves traffic, with `preemptionPolicy: Never`."
)


def _value(scene: Scene, workload: Workload) -> int | None:
    """The priority that its pods get; None where its class is not in the scene."""
    name = as_text(workload.pod.get("priorityClassName"))
    if name in _BUILT_IN:
        return _BUILT_IN[name]
    if name:
        return next((as_int(one.get("value")) for one in scene.of("PriorityClass") if one.name == name), None)
    # Two defaults can be made at one time; the API server then takes the lowest.
    defaults = [one.get("value") for one in scene.of("PriorityClass") if one.get("globalDefault") is True]
    return min((value for one in defaults if (value := as_int(one)) is not None), default=0)


def _preempts(scene: Scene, workload: Workload) -> bool:
    """Whether its pods may push others aside."""
    name = as_text(workload.pod.get("priorityClassName"))
    policy = as_text(workload.pod.get("preemptionPolicy"))
    for one in scene.of("PriorityClass"):
        if one.name == name:
            policy = policy or as_text(one.get("preemptionPolicy"))
    return policy != "Never"


@check(
    "priority-preempts-traffic",
    title="A new default priority lets new pods push the running ones aside",
    severity=Severity.HIGH,
    incidents=(GRAFANA,),
    about=("PriorityClass",),
)
def priority_preempts_traffic(scene: Scene) -> Answers:
    """
    What it does
    Looks for PriorityClasses with `globalDefault: true`, a value above zero and preemption on
    (`preemptionPolicy` is not `Never`).

    Why it matters
    The default applies to pods that are created from now on; those that run keep priority 0. Any new pod of
    no importance now ranks above all of them: where nodes are full it pushes one aside, its replacement
    ranks high as well and pushes the next.

    Incidents
    At Grafana Labs a default class had been rolled out a day before. A new cluster's Ingesters got it, the
    production ones had none, and they were pushed aside one by one until all were gone.

    Fix
    Set `preemptionPolicy: Never` on the default class, or give it the value 0 and name classes explicitly.

    References
    - https://kubernetes.io/docs/concepts/scheduling-eviction/pod-priority-preemption/
    - https://grafana.com/blog/2019/07/24/how-a-production-outage-was-caused-using-kubernetes-pod-priorities/
    """
    for one in scene.of("PriorityClass"):
        value = as_int(one.get("value")) or 0
        if one.get("globalDefault") is not True or value <= 0 or one.get("preemptionPolicy") == "Never":
            yield Pass(one)
            continue
        yield Gap(
            one,
            f"New pods get priority {value} by default and may push aside the ones that run with 0",
            ("globalDefault",),
            evidence=(
                "globalDefault: true",
                f"value: {value}",
                f"preemptionPolicy: {one.get('preemptionPolicy') or 'absent: PreemptLowerPriority'}",
            ),
            patch=(
                Operation(
                    "replace" if one.get("preemptionPolicy") else "add", ("preemptionPolicy",), "Never"
                ),
            ),
        )


@check(
    "batch-over-traffic",
    title="Pods that serve nobody may push pods behind traffic aside",
    severity=Severity.MEDIUM,
    incidents=(),
    alike=(GRAFANA,),
    about=("Job", "CronJob", "Deployment"),
    needs=("PriorityClass", "Service", "Deployment"),
)
def batch_over_traffic(scene: Scene) -> Answers:
    """
    What it does
    Compares the priority of Jobs, CronJobs and Deployments without a Service that name a class with that
    of the workloads to which traffic from outside leads, and speaks up when one ranks higher and its
    class preempts; of low severity for a Deployment, which may work off what users wait for, and for a
    class of the cluster itself or of agents, which makers of such Jobs choose. Deployments that have an
    account of their own, such as operators, and classes that are not in the scene are not judged; in
    files the two must be of one folder, or each state its namespace.

    Why it matters
    When the nodes are full, the scheduler makes room for a nightly job by ending pods that serve users. How
    many of them depends on how many pods the job starts.

    Incidents
    At Grafana Labs pods of higher priority pushed production aside one by one. There it was a new cluster of
    the same service; the mechanism is the same.

    Fix
    Give what serves traffic the higher class, and batch work one with `preemptionPolicy: Never`.

    References
    -
      https://kubernetes.io/docs/concepts/scheduling-eviction/pod-priority-preemption/#non-preempting-priority-class
    """
    served = _served_ranks(scene)
    for workload in scene.workloads:
        if not _serves_nobody(scene, workload):
            continue
        name = as_text(workload.pod.get("priorityClassName"))
        value = _value(scene, workload) if name else None
        if not name or not served:
            yield NotApplicable(
                workload.object, "it names no class, or nothing here serves traffic from outside"
            )
        elif value is None:
            yield Unknown(f"the PriorityClass `{name}` is not in the scene", workload.object)
        elif not _preempts(scene, workload) or (lowest := _below(scene, workload, value, served)) is None:
            yield Pass(workload.object)
        else:
            yield Gap(
                workload.object,
                f"Its pods have priority {value}, those of {lowest[1].key} {lowest[0]}: where nodes are "
                "full, they take its place",
                (*workload.pod_path, "priorityClassName"),
                evidence=(f"priorityClassName: {name}", f"value: {value}"),
                fix=_fix(scene, name),
                related=(lowest[1],),
                severity=Severity.LOW if workload.kind == "Deployment" or _fix(scene, name) else None,
            )


def _fix(scene: Scene, name: str) -> str:
    """The fix where a class is not there for batch work; empty for one that may be."""
    if name in _BUILT_IN:
        return _OF_THE_CLUSTER.format(name=name)
    agents = any(
        one.kind == "DaemonSet" and as_text(one.pod.get("priorityClassName")) == name
        for one in scene.workloads
    )
    return _OF_AGENTS.format(name=name) if agents else ""


def _serves_nobody(scene: Scene, workload: Workload) -> bool:
    """Whether it works on its own: a Job, or a Deployment of an application that no Service selects."""
    if workload.kind in {"Job", "CronJob"}:
        return True
    name = as_text(workload.pod.get("priorityClassName"))
    return (
        workload.kind == "Deployment"
        and name not in _BUILT_IN
        and scene.has("Service", workload.object)
        and not scene.services_of(workload)
        and not components.roles(workload)
        and as_text(workload.pod.get("serviceAccountName")) in {"", "default"}
    )


def _below(
    scene: Scene, workload: Workload, value: int, served: list[tuple[int, KubeObject]]
) -> tuple[int, KubeObject] | None:
    """The lowest of those that rank below a workload and are surely in one cluster with it."""
    below = (one for one in served if one[0] < value)
    return next((one for one in below if together(scene, workload.object, one[1])), None)


def _served_ranks(scene: Scene) -> list[tuple[int, KubeObject]]:
    """The workloads to which traffic from outside leads, with their priority, the lowest first."""
    ranked = [
        (value, workload.object.key, workload.object)
        for workload in scene.workloads
        if workload.kind in SERVING
        and scene.exposed(workload, "edge") is not None
        and (value := _value(scene, workload)) is not None
    ]
    return [(value, one) for value, _, one in sorted(ranked, key=lambda item: item[:2])]


@check(
    "traffic-no-priority",
    title="What every node or every request needs ranks no higher than other pods",
    severity=Severity.MEDIUM,
    incidents=(DFDS_NODES, DFDS_PIPELINE),
    alike=(DFDS_SUBNET, GRAFANA),
    about=("DaemonSet", "Deployment"),
    needs=("PriorityClass",),
    chart_severity=Severity.LOW,
)
def traffic_no_priority(scene: Scene) -> Answers:
    """
    What it does
    Looks for network agents, node-local DNS, CoreDNS and credential agents (kiam, kube2iam and the like), and
    ingress controllers, recognised by their images, without `priorityClassName`. Ingress controllers are of
    low severity unless the scene holds a PriorityClass, so that others may rank above them.

    Why it matters
    On a node that is full, or in a cluster that starts anew, pods are placed in order of priority. An agent
    that comes last finds no room, and the pods that depend on it run without network, names or credentials.

    Incidents
    At DFDS all nodes were deleted and came back; ordinary pods took the last addresses, the agent for
    credentials found no place, and pods were up without them. A day later pods were moved together again, and
    agents without priority found their nodes full.

    Fix
    Set `priorityClassName: system-node-critical` on agents of every node, `system-cluster-critical` on DNS,
    and a class above that of applications on ingress controllers.

    References
    - https://kubernetes.io/docs/tasks/administer-cluster/guaranteed-scheduling-critical-addon-pods/
    """
    for workload in scene.workloads:
        roles = components.roles(workload) & {
            "network-agent", "node-dns", "cluster-dns", "credential-agent", "ingress-controller",
        }  # fmt: skip
        if workload.kind not in {"DaemonSet", "Deployment"} or not roles or _makes_gateways(workload):
            continue
        value = _value(scene, workload)
        if workload.pod.get("priorityClassName") or workload.pod.get("priority") or value:
            yield Pass(workload.object)
            continue
        edge = roles == {"ingress-controller"}
        critical = "system-node-critical" if workload.kind == "DaemonSet" else "system-cluster-critical"
        stated = workload.pod.get("priorityClassName")
        yield Gap(
            workload.object,
            f"Other pods need its own ({', '.join(sorted(roles))}), which have priority 0",
            workload.pod_path,
            evidence=(
                f"image: {workload.containers[0].image}",
                f"priorityClassName: {'absent' if stated is None else json.dumps(stated)}",
            ),
            patch=()
            if edge
            else (
                Operation(
                    "add" if stated is None else "replace",
                    (*workload.pod_path, "priorityClassName"),
                    critical,
                ),
            ),
            severity=Severity.LOW if edge and not scene.has("PriorityClass") else None,
        )


def _makes_gateways(workload: Workload) -> bool:
    """Whether it is the program that makes the proxies, through which no request goes."""
    return any("gateway-provisioner" in one.words for one in workload.running)


@check(
    "priority-class-absent",
    title="Pods are refused, since their priority class does not exist",
    severity=Severity.HIGH,
    breaks=True,
    incidents=(),
    alike=(MYBINDER,),
    about=KINDS,
    needs=("PriorityClass",),
)
def priority_class_absent(scene: Scene) -> Answers:
    """
    What it does
    Looks for a `priorityClassName` that no PriorityClass bears and that is none of the two built in
    (`system-cluster-critical`, `system-node-critical`). In files it speaks up only when they hold other
    PriorityClasses.

    Why it matters
    The API server refuses each such pod. The Deployment is accepted and its pods are not, so nothing fails
    when it is applied; running pods stay, and the first that is replaced does not come back.

    Incidents
    No public incident is known that began with a missing class. At mybinder.org the API server refused every
    new pod, too, over a quota, and nobody saw it for hours.

    Fix
    Apply the PriorityClass before what names it, or correct the name.

    References
    - https://kubernetes.io/docs/concepts/scheduling-eviction/pod-priority-preemption/#pod-priority
    """
    known = {one.name for one in scene.of("PriorityClass")} | set(_BUILT_IN)
    for workload in scene.workloads:
        name = as_text(workload.pod.get("priorityClassName"))
        if not name:
            continue
        path = (*workload.pod_path, "priorityClassName")
        if name in known:
            yield Pass(workload.object)
        elif unrendered(name) or (not scene.live and not scene.has("PriorityClass")):
            yield Unknown(f"the PriorityClass `{name}` may be kept elsewhere", workload.object, path)
        else:
            yield Gap(
                workload.object,
                f"No PriorityClass is named `{name}`: its pods are refused",
                path,
                evidence=tuple(_told(scene)),
                confidence=Confidence.HIGH if scene.live else Confidence.MEDIUM,
            )


def _told(scene: Scene) -> Iterator[str]:
    names = sorted(one.name for one in scene.of("PriorityClass"))
    yield f"PriorityClasses: {', '.join(names[:10]) or 'none'}"


CHECKS = (batch_over_traffic, priority_class_absent, priority_preempts_traffic, traffic_no_priority)
