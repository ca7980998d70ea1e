"""PodDisruptionBudgets: how many pods a drain may take at once, and budgets that let none go."""
# ruff: noqa: D205, D212, D416 - the docstring of a check is its page, in fixed sections

from __future__ import annotations

from pilotage.checks import components
from pilotage.checks.model import (
    DOCUMENTATION_ONLY,
    Answers,
    Confidence,
    Gap,
    NotApplicable,
    Pass,
    Severity,
    check,
)
from pilotage.checks.objects import KubeObject
from pilotage.checks.scene import Scene
from pilotage.checks.serving import way_in
from pilotage.checks.values import as_map, percent_or_count
from pilotage.checks.workloads import Workload
from pilotage.core.counting import counted

DESCHEDULER = "uk-ministry-of-justice-2025-03-18-descheduler-evicted-pods-of-cordoned-nodes"
LOVEHOLIDAYS = "loveholidays-2019-gke-upgrade-stuck-nodes-hpa"
S3 = "aws-2017-02-28-us-east-1-s3-capacity-removal"
DESCHEDULED = "google-cloud-2019-06-02-network-control-plane-descheduled"


@check(
    "pdb-missing",
    title="Nothing keeps a drain from taking all pods behind traffic at once",
    severity=Severity.LOW,
    incidents=(),
    alike=(DESCHEDULER, S3, DESCHEDULED),
    about=("Deployment", "StatefulSet", "Rollout"),
    needs=("Service", "PodDisruptionBudget"),
)
def pdb_missing(scene: Scene) -> Answers:
    """
    What it does
    Looks for workloads of at least two replicas to which an Ingress, another route, a webhook or a Service
    with a port outside of the cluster leads, and that no PodDisruptionBudget covers.

    Why it matters
    Node upgrades, autoscalers and deschedulers evict pods as fast as they may. Only a budget tells them how
    many must stay; without one they may take every replica in the same minute.

    Incidents
    At the UK Ministry of Justice a descheduler evicted the pods of all cordoned nodes at the same time, and
    services went down. Which of them had budgets is not stated. Outside of Kubernetes: at AWS a tool that
    took servers away knew no least number, and at Google maintenance stopped all places of a control plane.

    Fix
    Add a PodDisruptionBudget that selects the workload's pods, with `maxUnavailable: 1`.

    References
    - https://kubernetes.io/docs/tasks/run-application/configure-pdb/
    """
    for workload in scene.workloads:
        if workload.kind not in {"Deployment", "StatefulSet", "Rollout"}:
            continue
        exposure = scene.exposed(workload, "edge", "webhook", "api")
        scale = scene.scale(workload)
        if exposure is None or scale is None or scale.least < 2:  # noqa: PLR2004
            yield NotApplicable(workload.object, "one replica, or no traffic from outside")
        elif scene.budgets_of(workload):
            yield Pass(workload.object)
        else:
            yield Gap(
                workload.object,
                f"{scale.least} replicas get {way_in(exposure)}, and no PodDisruptionBudget covers them",
                ("spec",),
                evidence=(f"replicas: {scale.least}", f"labels of its pods: {dict(workload.pod_labels)}"),
                confidence=Confidence.HIGH if scene.live else Confidence.MEDIUM,
                related=(exposure.object,),
            )


@check(
    "pdb-blocks-drain",
    title="A PodDisruptionBudget never allows an eviction",
    severity=Severity.MEDIUM,
    incidents=(),
    alike=(LOVEHOLIDAYS,),
    about=("PodDisruptionBudget",),
    needs=("Deployment", "StatefulSet"),
    chart_severity=Severity.LOW,
)
def pdb_blocks_drain(scene: Scene) -> Answers:
    """
    What it does
    Works out how many of the pods that a PodDisruptionBudget covers may be evicted when all of them are
    healthy (percentages rounded up, as the controller does, against the least number of replicas) and
    speaks up when it is none.

    Why it matters
    Draining a node then waits for ever. Upgrades of nodes stand still half-way, or the one who carries them
    out deletes the pods by force, which is what the budget was to prevent.

    Incidents
    At loveholidays an upgrade of 20 nodes stalled on slow drains: one node got through. Long grace periods
    and local volumes were the reasons stated; the mechanism, drains that do not end, is the same.

    Fix
    Set `maxUnavailable: 1`, or `minAvailable` below the number of replicas. With one replica that lets a
    drain go on at the price of a short gap; run as many replicas as the budget needs to let one of them go.

    References
    - https://kubernetes.io/docs/tasks/run-application/configure-pdb/
    - https://kubernetes.io/docs/concepts/workloads/pods/disruptions/
    """
    for budget in scene.of("PodDisruptionBudget"):
        selector = as_map(budget.spec.get("selector"))
        workloads = scene.selected_by(budget, selector) if selector else []
        scales = [scale for workload in workloads if (scale := scene.scale(workload)) is not None]
        total = sum(scale.least for scale in scales)
        if not scales or len(scales) < len(workloads) or total == 0:
            yield NotApplicable(budget, "the number of pods that it covers is not known")
            continue
        allowed = _allowed(budget, total)
        if allowed is None or allowed > 0:
            yield Pass(budget)
            continue
        key = "maxUnavailable" if budget.spec.get("maxUnavailable") is not None else "minAvailable"
        yield Gap(
            budget,
            f"`{key}: {budget.spec.get(key)}` with {counted(total, 'pod')} allows no eviction",
            ("spec", key),
            evidence=(
                f"spec.{key}: {budget.spec.get(key)}",
                *(f"{workload.object.key}: {workload.replicas} replicas" for workload in workloads[:3]),
            ),
            fix=_room(budget, total, members=any(_of_a_quorum(workload) for workload in workloads)),
            confidence=Confidence.MEDIUM if any(scale.autoscaler for scale in scales) else Confidence.HIGH,
            related=tuple(workload.object for workload in workloads[:3]),
        )


def _of_a_quorum(workload: Workload) -> bool:
    return any("quorum-store" in components.container_roles(one) for one in workload.running)


def _room(budget: KubeObject, total: int, *, members: bool) -> str:
    """What lets one pod go: another bound, or as many pods as this one needs."""
    listed = " (each of them named in the list of members)" if members else ""
    enough = next((number for number in range(total + 1, total + 10) if _allowed(budget, number)), None)
    place = " in place of `minAvailable`" if budget.spec.get("minAvailable") is not None else ""
    if total > 1:
        more = f", or run {enough} pods at the least{listed}" if enough is not None else ""
        return f"Set `maxUnavailable: 1`{place}, or `minAvailable` below {total}{more}."
    gone = f"; for no gap at all, run {enough}{listed}, of which the budget lets one go"
    more = gone if enough is not None else ""
    return (
        f"Set `maxUnavailable: 1`{place}, so that a drain goes on and the pod starts on another node{more}."
    )


def _allowed(budget: KubeObject, total: int) -> int | None:
    most = budget.spec.get("maxUnavailable")
    if most is not None:
        return percent_or_count(most, total, round_up=True)
    least = percent_or_count(budget.spec.get("minAvailable"), total, round_up=True)
    return None if least is None else max(0, total - least)


@check(
    "pdb-overlap",
    title="Two PodDisruptionBudgets cover the same pods, so none can be evicted",
    severity=Severity.MEDIUM,
    incidents=DOCUMENTATION_ONLY,
    about=("Deployment", "StatefulSet", "Rollout", "DaemonSet"),
    needs=("PodDisruptionBudget",),
)
def pdb_overlap(scene: Scene) -> Answers:
    """
    What it does
    Looks for workloads whose pods are covered by more than one PodDisruptionBudget.

    Why it matters
    The eviction API answers with an error for a pod that more than one budget covers, whatever the budgets
    say. A drain of its node never ends.

    Incidents
    No public incident is known to us; the behaviour is documented.

    Fix
    Keep one budget for each set of pods; make the selectors disjoint.

    References
    - https://kubernetes.io/docs/tasks/run-application/configure-pdb/#arbitrary-controllers-and-selectors
    """
    for workload in scene.workloads:
        budgets = scene.budgets_of(workload)
        if len(budgets) < 2 or len({(one.namespace, one.name) for one in budgets}) < 2:  # noqa: PLR2004
            if budgets:
                yield Pass(workload.object)
            continue
        names = " and ".join(f"`{one.name}`" for one in budgets)
        yield Gap(
            workload.object,
            f"{names} cover the same pods: the eviction API refuses them all",
            (*workload.template, "metadata", "labels"),
            evidence=tuple(f"{one.key}: {one.spec.get('selector')}" for one in budgets),
            related=tuple(budgets),
        )


CHECKS = (pdb_blocks_drain, pdb_missing, pdb_overlap)
