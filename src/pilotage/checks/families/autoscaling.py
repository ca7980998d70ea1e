"""Autoscalers: targets that are not there, metrics that cannot be read, numbers that something else sets."""
# ruff: noqa: D205, D212, D416 - the docstring of a check is its page, in fixed sections

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator

from pilotage.checks.absence import surely_absent
from pilotage.checks.allowances import container_amount
from pilotage.checks.autoscalers import AUTOSCALERS, shares_measured
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
from pilotage.checks.values import as_int, as_list, as_map, as_text, dig
from pilotage.checks.workloads import APPLIED_REPLICAS, SCALED, Container, Workload
from pilotage.core.counting import counted

LOVEHOLIDAYS = "loveholidays-2019-gke-upgrade-stuck-nodes-hpa"
ROLLOVER = "dfds-2023-02-14-node-rollover-left-zero-nodes"
COINBASE = "coinbase-2021-05-19-nginx-connection-ceiling-and-slow-autoscaling"

_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


def _target(scene: Scene, scaler: KubeObject) -> tuple[str, str, KubeObject | None]:
    """Kind and name of what an autoscaler scales, and the object where the scene has it."""
    target = as_map(scaler.spec.get("scaleTargetRef"))
    kind = as_text(target.get("kind")) or "Deployment"
    name = as_text(target.get("name"))
    return kind, name, scene.find(kind, name, scaler) if name and kind in SCALED else None


def _scaled(scene: Scene) -> Iterator[tuple[KubeObject, Workload]]:
    for scaler in scene.of(*AUTOSCALERS):
        _, _, found = _target(scene, scaler)
        workload = scene.workload(found) if found is not None else None
        if workload is not None:
            yield scaler, workload


@check(
    "hpa-vs-replicas",
    title="Each apply of the manifest resets what the autoscaler has set",
    severity=Severity.MEDIUM,
    incidents=(),
    alike=(ROLLOVER,),
    about=AUTOSCALERS,
    needs=("Deployment", "StatefulSet"),
    chart_severity=Severity.LOW,
)
def hpa_vs_replicas(scene: Scene) -> Answers:
    """
    What it does
    Looks for workloads with an autoscaler whose manifest states `spec.replicas`. In a cluster the field is
    always there; the annotation of the last `kubectl apply` is read instead, where there is one. Where an
    Application of Argo CD in the files leaves the number alone (`ignoreDifferences` and
    `RespectIgnoreDifferences`), nothing is said.

    Why it matters
    Each apply sets the number back, in the middle of the highest load too: pods are removed at once and the
    autoscaler needs minutes to bring them back. The lower the number, the deeper the hole.

    Incidents
    At DFDS Terraform found a group's size out of line with its code and set it back in the middle of a
    roll-over, which ended the healthy nodes. There it was nodes; the mechanism, code that states a number
    which something else governs, is the same.

    Fix
    Leave `spec.replicas` out of the manifest of what an autoscaler governs. With client-side apply remove it
    first from the last-applied annotation (`kubectl apply edit-last-applied`), or the number falls to one.

    References
    -
      https://kubernetes.io/docs/tasks/run-application/horizontal-pod-autoscale/#migrating-deployments-and-statefulsets-to-horizontal-autoscaling
    - https://github.com/kubernetes/kubernetes/issues/25238
    """
    told: set[int] = set()
    for scaler, workload in _scaled(scene):
        one = workload.object
        if id(workload) in told:
            continue
        told.add(id(workload))
        stated, known = _applied_replicas(one) if scene.live else (workload.stated_replicas, True)
        least = as_int(scaler.spec.get("minReplicaCount" if scaler.kind == "ScaledObject" else "minReplicas"))
        left_alone = _left_alone(scene, one) if stated is not None else None
        if left_alone:
            yield NotApplicable(one, "Argo CD leaves the number alone")
            continue
        if stated is None:
            why = "a cluster does not tell whether a manifest states the number"
            yield Pass(one) if known else NotApplicable(one, why)
            continue
        yield Gap(
            one,
            f"Each apply sets {counted(stated, 'replica')}, whatever {scaler.key} has decided by then",
            ("spec", "replicas"),
            evidence=(f"spec.replicas: {stated}", f"{scaler.key}: least {least if least is not None else 1}"),
            patch=() if scene.live else (Operation("remove", ("spec", "replicas")),),
            fix=_RESPECT if left_alone is False else "",
            severity=None if scene.exposed(workload) and left_alone is None else Severity.LOW,
            related=(scaler,),
        )


_RESPECT = (
    "Argo CD is told not to compare the number, but still writes it with each sync of another change: add "
    "`RespectIgnoreDifferences=true` to its `syncOptions`, or leave `spec.replicas` out."
)


def _left_alone(scene: Scene, one: KubeObject) -> bool | None:
    """Whether an Application of Argo CD leaves the number alone for good; None where none is told to."""
    found = [
        "RespectIgnoreDifferences=true" in as_list(dig(spec, "syncPolicy", "syncOptions"))
        for application in scene.of("Application", "ApplicationSet")
        if application.group == "argoproj.io"
        for spec in (as_map(dig(application.spec, "template", "spec")) or application.spec,)
        if as_text(dig(spec, "destination", "namespace")) in {"", one.namespace}
        if any(_ignores_number(item, one) for item in as_list(spec.get("ignoreDifferences")))
    ]
    return all(found) if found else None


def _ignores_number(item: object, one: KubeObject) -> bool:
    named = as_text(dig(item, "kind")) in {"*", one.kind} and as_text(dig(item, "name")) in {"", one.name}
    paths = (*as_list(dig(item, "jsonPointers")), *as_list(dig(item, "jqPathExpressions")))
    return named and any(path in {"/spec/replicas", ".spec.replicas"} for path in paths)


def _applied_replicas(one: KubeObject) -> tuple[int | None, bool]:
    """The number that the last apply stated, and whether what it stated is known."""
    kept = as_text(one.annotations.get(APPLIED_REPLICAS))
    if kept:
        return (int(kept) if kept.isdecimal() else None), True
    text = as_text(one.annotations.get(_LAST_APPLIED))
    try:
        return (as_int(dig(json.loads(text), "spec", "replicas")), True) if text else (None, False)
    except (ValueError, RecursionError):
        return None, False


@check(
    "hpa-target-missing",
    title="An autoscaler scales something that does not exist",
    severity=Severity.HIGH,
    breaks=True,
    incidents=(),
    alike=(COINBASE,),
    about=AUTOSCALERS,
    needs=("Deployment", "StatefulSet", "ReplicaSet"),
)
def hpa_target_missing(scene: Scene) -> Answers:
    """
    What it does
    Looks for autoscalers whose `scaleTargetRef` names a workload that is not there, also by a `kind` that is
    not its own. In files it speaks up only when they hold other objects of that kind in that namespace, or,
    where none is stated, in that file (or one with nearly that name in that folder).

    Why it matters
    The autoscaler reports an error in its conditions and does nothing else. The workload keeps the number
    that it has, and somebody counts on its growing.

    Incidents
    No public incident is known that began with such a name. At Coinbase a service failed under a rush of
    users because its autoscaling came too late; here it never comes.

    Fix
    Name kind, apiVersion and name as they are written in the workload.

    References
    - https://kubernetes.io/docs/tasks/run-application/horizontal-pod-autoscale/
    """
    for scaler in scene.of(*AUTOSCALERS):
        kind, name, found = _target(scene, scaler)
        path = ("spec", "scaleTargetRef", "name")
        if found is not None:
            yield Pass(scaler)
        elif kind not in SCALED or not name or unrendered(name):
            yield NotApplicable(scaler, f"its target is of kind {kind or 'nothing'}")
        elif not surely_absent(scene, kind, name, scaler):
            yield Unknown(f"{kind} `{name}` may be kept elsewhere", scaler, path)
        else:
            other = next((one for one in scene.of(*SCALED) if one.name == name and one.kind != kind), None)
            yield Gap(
                scaler,
                f"No {kind} is named `{name}`" + (f"; there is {other.key}" if other is not None else ""),
                path,
                evidence=(f"scaleTargetRef: {kind} {name}",),
                confidence=Confidence.HIGH if scene.live else Confidence.MEDIUM,
            )


@check(
    "hpa-no-requests",
    title="An autoscaler cannot work out the use of pods that request nothing",
    severity=Severity.HIGH,
    incidents=(),
    alike=(LOVEHOLIDAYS, COINBASE),
    about=("HorizontalPodAutoscaler",),
    needs=("Deployment", "StatefulSet", "LimitRange"),
    chart_severity=Severity.LOW,
)
def hpa_no_requests(scene: Scene) -> Answers:
    """
    What it does
    Looks for HorizontalPodAutoscalers that aim at a utilisation (a percentage) of CPU or memory, and a
    workload of which a container has no request of it, neither of its own, nor through a limit, nor from a
    LimitRange. Every container of the pod counts, sidecars too, except for a metric of one named container.

    Why it matters
    A percentage is one of the request. With one container without a request the whole metric is missing, the
    autoscaler does not move, and the number of pods stays what it was under any load.

    Incidents
    At loveholidays the autoscaler lost sight of CPU use in an upgrade and ran 100 pods where 10 were usual.
    At Coinbase a service failed because its autoscaling came too late.

    Fix
    Give every container of the pod a request, or use a metric of type `ContainerResource` for the one that
    matters.

    References
    -
      https://kubernetes.io/docs/tasks/run-application/horizontal-pod-autoscale/#how-does-a-horizontalpodautoscaler-work
    """
    for scaler, workload in _scaled(scene):
        if scaler.kind != "HorizontalPodAutoscaler":
            continue
        wanted = list(shares_measured(scaler))
        blind = [
            (resource, container)
            for resource, name in wanted
            for container in _measured(workload, name)
            if container_amount(scene, container, "requests", resource) is None
        ]
        if not wanted:
            yield NotApplicable(scaler, "it aims at no percentage of a request")
        elif not blind:
            yield Pass(scaler)
        else:
            resource, container = blind[0]
            yield Gap(
                scaler,
                f"It aims at a share of the {resource} request of {workload.object.key}, and "
                f"`{container.name}` has none: it cannot scale",
                ("spec",),
                evidence=tuple(f"{one.name}: resources.requests.{what}: absent" for what, one in blind),
                confidence=Confidence.HIGH if scene.live or scene.has("LimitRange") else Confidence.MEDIUM,
                related=(workload.object,),
            )


def _measured(workload: Workload, name: str) -> list[Container]:
    return [one for one in workload.running if not name or one.name == name]


@check(
    "hpa-external-zero",
    title="Without its outside metric an autoscaler leaves no pod, or one",
    severity=Severity.MEDIUM,
    incidents=(),
    alike=(LOVEHOLIDAYS,),
    about=AUTOSCALERS,
    needs=("Deployment", "Service"),
)
def hpa_external_zero(scene: Scene) -> Answers:
    """
    What it does
    Looks for workloads behind a Service whose autoscaler goes by metrics from outside of the cluster's own
    (type `External` or `Object`, KEDA's triggers other than `cpu`, `memory` and `cron`) only, keeps one pod
    at the least or none, and, for KEDA, has no `fallback`.

    Why it matters
    The metric comes from a system that has outages of its own. While it is silent the number stays where it
    is, and where it reads as zero the pods are taken away: requests then meet one pod, or none.

    Incidents
    At loveholidays metrics were gone during an upgrade and the autoscaler chose a wrong number. There it was
    too many.

    Fix
    Keep at least two pods, add a CPU metric beside the outside one, and set `fallback` on a ScaledObject.

    References
    - https://keda.sh/docs/latest/reference/scaledobject-spec/#fallback
    - https://kubernetes.io/docs/tasks/run-application/horizontal-pod-autoscale/
    """
    for scaler, workload in _scaled(scene):
        scale = scene.scale(workload)
        exposure = scene.exposed(workload)
        if exposure is None or scale is None:
            yield NotApplicable(scaler, "no Service leads to what it scales")
        elif scale.least > 1 or not _outside_only(scaler) or scaler.spec.get("fallback"):
            yield Pass(scaler)
        else:
            keda = scaler.kind == "ScaledObject"
            yield Gap(
                scaler,
                f"It goes by metrics from outside only and keeps {scale.least} pod"
                f"{'' if scale.least == 1 else 's'}, and {workload.object.key} gets requests through "
                f"{exposure.object.key}",
                ("spec", "minReplicaCount" if keda else "minReplicas"),
                evidence=(f"least replicas: {scale.least}", *(("fallback: absent",) if keda else ())),
                severity=None if exposure.by != "service" else Severity.LOW,
                related=(workload.object,),
            )


def _outside_only(scaler: KubeObject) -> bool:
    if scaler.kind == "ScaledObject":
        types = {as_text(dig(item, "type")) for item in as_list(scaler.spec.get("triggers"))}
        return bool(types) and not types & {"cpu", "memory", "cron", ""}
    types = {as_text(dig(item, "type")) for item in as_list(scaler.spec.get("metrics"))}
    return bool(types) and types <= {"External", "Object"}


@check(
    "two-autoscalers",
    title="Two autoscalers pull at one workload",
    severity=Severity.HIGH,
    breaks=True,
    incidents=DOCUMENTATION_ONLY,
    about=AUTOSCALERS,
    needs=("Deployment", "StatefulSet"),
)
def two_autoscalers(scene: Scene) -> Answers:
    """
    What it does
    Looks for workloads that two HorizontalPodAutoscalers or ScaledObjects name. The autoscaler that KEDA
    itself makes for a ScaledObject does not count; of autoscalers that each have a file of their own, apart
    from the workload, files do not tell whether they are alternatives.

    Why it matters
    Each sets its own number, every fifteen seconds. The pods go up and down with whoever came last, or the
    autoscalers refuse to work (`AmbiguousSelector`), which leaves the number where it is.

    Incidents
    No public incident with this very cause is known to us; the behaviour is documented.

    Fix
    Keep one, with all metrics in it: it takes the highest of the numbers that they call for.

    References
    - https://kubernetes.io/docs/tasks/run-application/horizontal-pod-autoscale/
    """
    pulling: dict[int, list[KubeObject]] = defaultdict(list)
    workloads: dict[int, Workload] = {}
    for scaler, workload in _scaled(scene):
        if (scaler.controller() or ("", ""))[0] != "ScaledObject":
            pulling[id(workload)].append(scaler)
            workloads[id(workload)] = workload
    for key, scalers in pulling.items():
        distinct = {(one.kind, one.namespace, one.name): one for one in scalers}
        one = workloads[key].object
        if len(distinct) < 2:  # noqa: PLR2004
            yield Pass(one)
            continue
        if not scene.live and len({one.file, *(item.file for item in scalers)}) > len(scalers):
            yield Unknown("its autoscalers, each in a file of its own, may be alternatives", one)
            continue
        yield Gap(
            one,
            f"{' and '.join(sorted(item.key for item in distinct.values()))} set its number of pods",
            ("spec",),
            evidence=tuple(sorted(item.key for item in distinct.values())),
            # Several files of one folder may be alternatives.
            confidence=Confidence.MEDIUM if len({item.file for item in scalers}) > 1 else Confidence.HIGH,
            related=tuple(distinct.values()),
        )


CHECKS = (hpa_external_zero, hpa_no_requests, hpa_target_missing, hpa_vs_replicas, two_autoscalers)
