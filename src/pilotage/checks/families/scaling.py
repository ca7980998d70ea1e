"""Scaling: ceilings, brakes and cliffs that are written into an autoscaler."""
# ruff: noqa: D205, D212, D416 - the docstring of a check is its page, in fixed sections

from __future__ import annotations

from typing import Any

from pilotage.checks.autoscalers import AUTOSCALERS, shares_measured
from pilotage.checks.model import Answers, Confidence, Gap, NotApplicable, Operation, Pass, Severity, check
from pilotage.checks.objects import KubeObject
from pilotage.checks.scene import Scale, Scene
from pilotage.checks.values import as_int, as_list, as_map, as_text, dig
from pilotage.checks.workloads import Workload

COINBASE_2021 = "coinbase-2021-05-19-nginx-connection-ceiling-and-slow-autoscaling"
COINBASE_2020 = "coinbase-2020-06-01-api-saturation-health-check-eviction"
SLACK = "slack-2021-01-04-transit-gateway-saturation"

_SLOW_WINDOW_SECONDS = 300
_SHORT_WINDOW_SECONDS = 60
_SLOW_MINUTES = 15
_MINUTE_SECONDS = 60


def _behavior(scaler: KubeObject, direction: str) -> tuple[tuple[str, ...], Any]:
    """The way to the behaviour of a direction, and what stands there."""
    path: tuple[str, ...] = ("spec", "behavior", direction)
    if scaler.kind == "ScaledObject":
        path = ("spec", "advanced", "horizontalPodAutoscalerConfig", "behavior", direction)
    return path, as_map(scaler.get(*path))


def _served(scene: Scene) -> list[tuple[Workload, Scale, KubeObject]]:
    """Workloads with an autoscaler to which traffic from outside leads."""
    found = []
    for workload in scene.workloads:
        scale = scene.scale(workload)
        if scale is not None and scale.autoscaler is not None and scene.exposed(workload, "edge") is not None:
            found.append((workload, scale, scale.autoscaler))
    return found


@check(
    "hpa-cannot-scale",
    title="An autoscaler before traffic has no room to scale",
    severity=Severity.MEDIUM,
    incidents=(),
    alike=(COINBASE_2021, COINBASE_2020),
    about=AUTOSCALERS,
    needs=("Deployment", "Service"),
    chart_severity=Severity.LOW,
)
def hpa_cannot_scale(scene: Scene) -> Answers:
    """
    What it does
    Looks for autoscalers of workloads behind traffic from outside whose highest number of replicas is the
    lowest, or below it.

    Why it matters
    It looks as if the service grew with its load, and it does not: the first rush meets a fixed number of
    pods. Often an overlay raised the minimum and forgot the maximum.

    Incidents
    At Coinbase services failed because autoscaling could not keep up with a rush of users, in 2020 and in
    2021. There it was too slow; here it does not take place.

    Fix
    Set `maxReplicas` to what the load test needs and the nodes can hold, or remove the autoscaler and state
    the number.

    References
    - https://kubernetes.io/docs/tasks/run-application/horizontal-pod-autoscale/
    """
    for workload, scale, scaler in _served(scene):
        if scale.most is None or scale.most > scale.least:
            yield Pass(scaler)
            continue
        key = "maxReplicaCount" if scaler.kind == "ScaledObject" else "maxReplicas"
        yield Gap(
            scaler,
            f"`{key}: {scale.most}` is {'below' if scale.most < scale.least else 'also'} its least number, "
            f"{scale.least}: {workload.object.key} cannot grow",
            ("spec", key),
            evidence=(f"least replicas: {scale.least}", f"spec.{key}: {scale.most}"),
            related=(workload.object,),
        )


@check(
    "hpa-scale-up-held",
    title="An autoscaler before traffic is held back while the load rises",
    severity=Severity.MEDIUM,
    incidents=(COINBASE_2021,),
    alike=(COINBASE_2020,),
    about=AUTOSCALERS,
    needs=("Deployment", "Service"),
)
def hpa_scale_up_held(scene: Scene) -> Answers:
    """
    What it does
    Reads `behavior.scaleUp` of autoscalers of workloads behind traffic from outside, and speaks up for
    `selectPolicy: Disabled`, for a `stabilizationWindowSeconds` of 300 or more, and for policies by which
    the way from the least to the highest number takes more than 15 minutes.

    Why it matters
    A rush comes within minutes. What a brake against flapping saves on a quiet day is missing then, and the
    pods that are there fail under the load before others come.

    Incidents
    At Coinbase GraphQL timed out in a rush since its autoscaling was too slow, and the app showed errors
    until it had caught up. A year before, traffic grew fivefold within four minutes.

    Fix
    Leave `scaleUp` at its default (double, or four pods, every 15 seconds, no window) and brake `scaleDown`
    instead.

    References
    - https://kubernetes.io/docs/tasks/run-application/horizontal-pod-autoscale/#configurable-scaling-behavior
    """
    for workload, scale, scaler in _served(scene):
        path, behavior = _behavior(scaler, "scaleUp")
        if not behavior:
            yield Pass(scaler)
            continue
        window = as_int(behavior.get("stabilizationWindowSeconds")) or 0
        minutes = _climb_minutes(behavior, scale)
        if as_text(behavior.get("selectPolicy")) == "Disabled":
            told, key = "`selectPolicy: Disabled` forbids any growth", "selectPolicy"
        elif window >= _SLOW_WINDOW_SECONDS:
            told, key = f"it grows only {window} s after the load has come", "stabilizationWindowSeconds"
        elif minutes is not None and minutes > _SLOW_MINUTES:
            told, key = f"from {scale.least} to {scale.most} pods it takes {minutes:.0f} min", "policies"
        else:
            yield Pass(scaler)
            continue
        yield Gap(
            scaler,
            f"For {workload.object.key} {told}",
            (*path, key),
            evidence=(f"behavior.scaleUp: {dict(behavior)}",),
            severity=Severity.HIGH if key == "selectPolicy" else None,
            related=(workload.object,),
        )


def _climb_minutes(behavior: Any, scale: Scale) -> float | None:
    """How long the policies take from the least to the highest number; None where none bounds it."""
    policies = [item for item in as_list(behavior.get("policies")) if isinstance(item, dict)]
    if not policies or scale.most is None:
        return None
    smallest = as_text(behavior.get("selectPolicy")) == "Min"
    pods, seconds = max(1, scale.least), 0.0
    while pods < scale.most:
        steps = [step for item in policies if (step := _step(item, pods)) is not None]
        if not steps:
            return None
        gain, period = (min if smallest else max)(steps, key=lambda step: step[0] / step[1])
        if gain <= 0:
            return float("inf")
        pods += gain
        seconds += period
        if seconds > _MINUTE_SECONDS * _MINUTE_SECONDS * 24:
            break
    return seconds / _MINUTE_SECONDS


def _step(policy: Any, pods: int) -> tuple[int, int] | None:
    value, period = as_int(policy.get("value")), as_int(policy.get("periodSeconds"))
    if value is None or period is None or period <= 0 or value > 10**6:
        return None
    return (value if policy.get("type") == "Pods" else -(-pods * value // 100)), period


@check(
    "hpa-scale-down-cliff",
    title="An autoscaler may take nearly all pods before traffic away at once",
    severity=Severity.MEDIUM,
    incidents=(),
    alike=(SLACK,),
    about=AUTOSCALERS,
    needs=("Deployment", "Service"),
)
def hpa_scale_down_cliff(scene: Scene) -> Answers:
    """
    What it does
    Reads `behavior.scaleDown` of autoscalers of workloads behind traffic from outside, and speaks up when
    `stabilizationWindowSeconds` is below 60 and no policy bounds how many pods may go in a period, and the
    highest number is at least three times the lowest.

    Why it matters
    A fault before or behind the service (a network that loses packets, a database that hangs) makes its CPU
    use fall. Without a window the autoscaler believes it within seconds and removes the pods that will be
    needed when the fault is over.

    Incidents
    At Slack the web tier waited on a network that lost packets, its CPU use fell, and the autoscaler removed
    servers; then it turned round and asked for 1,200.

    Fix
    Leave the window at its default of 300 seconds or raise it, and bound the way down, for example to 10 %
    a minute.

    References
    - https://kubernetes.io/docs/tasks/run-application/horizontal-pod-autoscale/#stabilization-window
    """
    for workload, scale, scaler in _served(scene):
        path, behavior = _behavior(scaler, "scaleDown")
        window = as_int(behavior.get("stabilizationWindowSeconds"))
        if window is None or window >= _SHORT_WINDOW_SECONDS or _bounded(behavior):
            yield Pass(scaler)
        elif scale.most is None or scale.most < 3 * max(1, scale.least):
            yield NotApplicable(scaler, "there is little way down")
        else:
            yield Gap(
                scaler,
                f"{window} s after a dip {workload.object.key} may fall from {scale.most} pods to "
                f"{scale.least}",
                (*path, "stabilizationWindowSeconds"),
                evidence=(f"behavior.scaleDown: {dict(behavior)}",),
                patch=(Operation("replace", (*path, "stabilizationWindowSeconds"), 300),),
                confidence=Confidence.HIGH,
                related=(workload.object,),
            )


def _bounded(behavior: Any) -> bool:
    """Whether some policy lets less than all pods go in a period."""
    if as_text(behavior.get("selectPolicy")) == "Disabled":
        return True
    policies = [item for item in as_list(behavior.get("policies")) if isinstance(item, dict)]
    loose = [
        dig(item, "type") == "Percent" and (as_int(dig(item, "value")) or 0) >= 50  # noqa: PLR2004
        for item in policies
    ]
    if not policies:
        return False
    return not all(loose) if as_text(behavior.get("selectPolicy")) == "Min" else not any(loose)


@check(
    "vpa-against-hpa",
    title="One autoscaler changes the request that another one measures by",
    severity=Severity.MEDIUM,
    incidents=(),
    alike=(SLACK,),
    about=("VerticalPodAutoscaler",),
    needs=("HorizontalPodAutoscaler", "Deployment", "StatefulSet"),
)
def vpa_against_hpa(scene: Scene) -> Answers:
    """
    What it does
    Looks for VerticalPodAutoscalers that change running pods (`updateMode` other than `Off` and `Initial`)
    and govern CPU or memory of a workload of which a HorizontalPodAutoscaler or a ScaledObject measures the
    same resource as a share of its request. Resources and containers that the policy leaves out do not count.

    Why it matters
    When the load rises, the one autoscaler raises the request. The same use is then a smaller share of it, so
    the other one removes pods, and the rest carries more: both act on one number and each undoes the other.

    Incidents
    At Slack an autoscaler that went by CPU took a web tier that waited for one that was idle, and removed
    servers. There the network was the reason; a share of CPU that no longer tells the load is the same.

    Fix
    Let the vertical one recommend only (`updateMode: "Off"`), take the resource out of its
    `controlledResources`, or scale by a metric that is no share of the request.

    References
    - https://github.com/kubernetes/autoscaler/blob/master/vertical-pod-autoscaler/docs/known-limitations.md
    """
    for vertical in scene.of("VerticalPodAutoscaler"):
        target = as_map(vertical.spec.get("targetRef"))
        found = scene.find(as_text(target.get("kind")), as_text(target.get("name")), vertical)
        workload = scene.workload(found) if found is not None else None
        if workload is None or as_text(dig(vertical.spec, "updatePolicy", "updateMode")) in {
            "Off",
            "Initial",
        }:
            yield NotApplicable(vertical, "it changes no running pod that is known")
            continue
        clash = [
            (scaler, resource)
            for scaler in scene.autoscalers_of(workload)
            for resource, container in shares_measured(scaler)
            if any(_governs(vertical, name, resource) for name in _names(workload, container))
        ]
        if not clash:
            yield Pass(vertical)
            continue
        scaler, resource = clash[0]
        yield Gap(
            vertical,
            f"It changes the {resource} request of {workload.object.key}, and {scaler.key} measures by it",
            ("spec", "updatePolicy"),
            evidence=(
                f"updateMode: {dig(vertical.spec, 'updatePolicy', 'updateMode') or 'Auto (the default)'}",
                *(f"{one.key}: a share of the {what} request" for one, what in clash[:3]),
            ),
            related=(scaler, workload.object),
        )


def _names(workload: Workload, container: str) -> list[str]:
    return [container] if container else [one.name for one in workload.running]


def _governs(vertical: KubeObject, container: str, resource: str) -> bool:
    """Whether a vertical autoscaler sets a resource of a container; by default it sets both of all."""
    policies = as_list(dig(vertical.spec, "resourcePolicy", "containerPolicies"))
    named = {as_text(dig(one, "containerName")): one for one in policies}
    policy = as_map(named.get(container, named.get("*")))
    governed = as_list(policy.get("controlledResources")) or ["cpu", "memory"]
    return policy.get("mode") != "Off" and resource in governed


CHECKS = (hpa_cannot_scale, hpa_scale_down_cliff, hpa_scale_up_held, vpa_against_hpa)
