"""Selectors of workloads: whether they select the pods that the workload makes."""
# ruff: noqa: D205, D212, D416 - the docstring of a check is its page, in fixed sections

from __future__ import annotations

from pilotage.checks.index import selects
from pilotage.checks.model import DOCUMENTATION_ONLY, Answers, Gap, Pass, Severity, check
from pilotage.checks.scene import Scene
from pilotage.checks.values import as_map

ABOUT = ("DaemonSet", "Deployment", "ReplicaSet", "StatefulSet")


@check(
    "selector-mismatch",
    title="A workload does not select the pods of its own template",
    severity=Severity.HIGH,
    breaks=True,
    incidents=DOCUMENTATION_ONLY,
    about=ABOUT,
)
def selector_mismatch(scene: Scene) -> Answers:
    """
    What it does
    Compares `spec.selector` of Deployments, StatefulSets, DaemonSets and ReplicaSets with the labels of
    their pod template.

    Why it matters
    The API server refuses the object. A release stops half-way: what was applied before it is new, what comes
    after it is old, and the workload itself stays as it was.

    Incidents
    No public incident is known that began with this line.

    Fix
    Give the template the labels that the selector asks for. The selector of a workload that exists cannot be
    changed; the labels can.

    References
    - https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#selector
    """
    for workload in scene.workloads:
        selector = as_map(workload.object.spec.get("selector"))
        if workload.kind not in ABOUT or not selector or workload.object.api_version != "apps/v1":
            continue
        if selects(selector, workload.pod_labels):
            yield Pass(workload.object)
            continue
        wanted = as_map(selector.get("matchLabels"))
        wrong = [key for key, value in wanted.items() if str(workload.pod_labels.get(key)) != str(value)]
        told = ", ".join(f"{key}={wanted[key]}" for key in wrong) or "matchExpressions"
        yield Gap(
            workload.object,
            f"Its selector asks for {told}, which its pod template does not have: the API server refuses it",
            ("spec", "selector", "matchLabels", *wrong[:1]) if wrong else ("spec", "selector"),
            evidence=(f"selector: {told}", f"labels of the template: {dict(workload.pod_labels)}"),
        )


CHECKS = (selector_mismatch,)
