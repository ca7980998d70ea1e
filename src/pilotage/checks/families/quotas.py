"""Quotas: namespaces without a bound on pods, and bounds that refuse the pods that are needed."""
# ruff: noqa: D205, D212, D416 - the docstring of a check is its page, in fixed sections

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from pilotage.checks.allowances import (
    Quota,
    bounds_of,
    container_amount,
    quotas_over,
    surely_applied,
    surge_and_unavailable,
)
from pilotage.checks.autoscalers import AUTOSCALERS
from pilotage.checks.index import nearest
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
from pilotage.checks.scene import Scene
from pilotage.checks.schedule import read_schedule
from pilotage.checks.values import as_int, as_map, as_text, human_bytes
from pilotage.checks.workloads import SCALED, Workload
from pilotage.core.counting import counted

ZALANDO = "zalando-2018-09-07-iam-404-cronjob-api-server-oom"
USER_ID = "google-2020-12-14-user-id-service-quota-zero"
MYBINDER = "mybinder-2022-06-02-wrong-count-in-pod-quota"

_HOUR_MINUTES = 60
_BOUNDS_PODS = {"pods", "count/pods", "count/jobs.batch", "requests.cpu", "requests.memory", "cpu", "memory"}
_BOUNDS_PODS |= {"limits.cpu", "limits.memory"}
_ASKED = {
    "requests.cpu": ("requests", "cpu"),
    "cpu": ("requests", "cpu"),
    "requests.memory": ("requests", "memory"),
    "memory": ("requests", "memory"),
    "limits.cpu": ("limits", "cpu"),
    "limits.memory": ("limits", "memory"),
}


def _amount(value: Decimal, key: str) -> str:
    return human_bytes(value) if key.endswith("memory") else f"{value.normalize():f}"


@check(
    "ns-no-pod-quota",
    title="Nothing bounds the pods of a namespace whose CronJobs may pile up",
    severity=Severity.LOW,
    incidents=(ZALANDO,),
    about=("Namespace",),
    needs=("ResourceQuota", "CronJob"),
)
def ns_no_pod_quota(scene: Scene) -> Answers:
    """
    What it does
    Looks for namespaces of which the scene holds the Namespace, with a CronJob that runs once an hour or
    more often and allows runs beside each other without a deadline, and without a ResourceQuota that would
    bound pods, Jobs, CPU or memory. One finding for each namespace; where several files hold the same
    Namespace, which are variants, each CronJob counts for the nearest one.

    Why it matters
    Workloads that multiply (a CronJob whose runs hang, a controller in a loop) meet no wall in their own
    namespace; the next one is the memory of the API server, and that is everybody's.

    Incidents
    At Zalando no quota set an upper bound while a CronJob's pods grew in number and the API server was
    killed for memory. A quota of 1,500 pods is among the lessons of the talk.

    Fix
    Add a ResourceQuota with `pods` (or `count/jobs.batch`) well above the normal number.

    References
    - https://kubernetes.io/docs/concepts/policy/resource-quotas/
    """
    risky = _may_pile_up(scene)
    bounded = {
        one.namespace for one in scene.of("ResourceQuota") if _BOUNDS_PODS & set(as_map(one.spec.get("hard")))
    }
    for namespace in scene.of("Namespace"):
        bound = namespace.name in bounded
        jobs = [one for one in risky.get(namespace.name, []) if _home(scene, one) is namespace]
        if bound or not jobs:
            yield Pass(namespace) if bound else NotApplicable(namespace, "none of its CronJobs may pile up")
            continue
        yield Gap(
            namespace,
            f"{jobs[0].key} may add pods at every run, and no ResourceQuota of the namespace bounds them",
            (),
            evidence=tuple(f"{one.key}: {one.spec.get('schedule')}" for one in jobs[:5]),
            confidence=Confidence.HIGH if scene.live else Confidence.MEDIUM,
            related=tuple(jobs[:5]),
        )


def _home(scene: Scene, one: KubeObject) -> KubeObject | None:
    """The Namespace of an object: of variants the nearest, none where two are as near."""
    homes = nearest(one, scene.index.named("Namespace", one.namespace))
    return homes[0] if len(homes) == 1 else None


def _may_pile_up(scene: Scene) -> dict[str, list[KubeObject]]:
    found: dict[str, list[KubeObject]] = {}
    for workload in scene.workloads:
        one = workload.object
        if workload.kind != "CronJob" or as_text(one.spec.get("concurrencyPolicy")) in {"Forbid", "Replace"}:
            continue
        schedule = read_schedule(as_text(one.spec.get("schedule")))
        deadlines = (workload.job.get("activeDeadlineSeconds"), workload.pod.get("activeDeadlineSeconds"))
        ended = any(as_int(value) is not None for value in deadlines)
        often = schedule is not None and schedule.interval_minutes <= _HOUR_MINUTES
        if often and not ended and one.namespace and one.spec.get("suspend") is not True:
            found.setdefault(one.namespace, []).append(one)
    return found


@check(
    "quota-below-autoscaler",
    title="An autoscaler may want more pods than the namespace's quota allows",
    severity=Severity.MEDIUM,
    incidents=(),
    alike=(MYBINDER,),
    about=AUTOSCALERS,
    needs=("ResourceQuota", "Deployment"),
)
def quota_below_autoscaler(scene: Scene) -> Answers:
    """
    What it does
    Multiplies the highest number of replicas of an autoscaler with what one pod asks for (defaults of a
    LimitRange included), and compares with each ResourceQuota of the namespace. Where the workload alone
    exceeds it, the severity is high; where it does together with the least replicas of all others there, it
    is medium.

    Why it matters
    The autoscaler raises the number, the pods are refused, and the load stays on those that are there. This
    happens at the highest load only, so nobody has seen it before.

    Incidents
    At mybinder.org a quota's count was wrong, the API server refused every new pod, and no session started
    for hours until somebody looked. There the number in the quota was at fault; the refusal is the same.

    Fix
    Raise the quota above `maxReplicas` times the request plus a rolling update's surge, or lower
    `maxReplicas` to what is really there.

    References
    - https://kubernetes.io/docs/concepts/policy/resource-quotas/
    - https://kubernetes.io/docs/tasks/run-application/horizontal-pod-autoscale/
    """
    namespaces = _Namespaces(scene)
    for workload in scene.workloads:
        scale = scene.scale(workload)
        if scale is None or scale.autoscaler is None or scale.most is None:
            continue
        quotas = list(quotas_over(scene, workload))
        if not quotas:
            yield NotApplicable(scale.autoscaler, "no quota bounds its namespace")
            continue
        gaps = [gap for quota in quotas if (gap := _over(scene, namespaces, workload, quota)) is not None]
        worst = min(gaps, key=lambda gap: gap.severity is None, default=None)
        yield worst if worst is not None else Pass(scale.autoscaler)


def _over(scene: Scene, namespaces: _Namespaces, workload: Workload, quota: Quota) -> Gap | None:
    scale = scene.scale(workload)
    if scale is None or scale.autoscaler is None or scale.most is None:
        return None
    most, scaler = scale.most, scale.autoscaler
    each = quota.per_pod(scene, workload)
    if each is None or each <= 0:
        return None
    alone = each * most
    others = namespaces.others(workload, quota)
    if alone <= quota.hard and alone + others <= quota.hard:
        return None
    fits = max(0, int((quota.hard - (others if alone <= quota.hard else 0)) / each))
    rest = f" beside {_amount(others, quota.key)} for the rest" if alone <= quota.hard else ""
    key = "maxReplicaCount" if scaler.kind == "ScaledObject" else "maxReplicas"
    return Gap(
        scaler,
        f"`{key}: {most}` needs {_amount(alone, quota.key)} of `{quota.key}`{rest}, the quota gives "
        f"{_amount(quota.hard, quota.key)}: {'no pod fits' if fits == 0 else f'no more than {fits} fit'}",
        ("spec", key),
        evidence=(
            f"{quota.object.key}: {quota.key}: {_amount(quota.hard, quota.key)}",
            f"one pod of {workload.object.key}: {_amount(each, quota.key)}",
        ),
        severity=Severity.HIGH if alone > quota.hard else None,
        related=(quota.object, workload.object),
    )


def _lie_together(one: KubeObject, other: KubeObject) -> bool:
    """Whether two objects of one namespace are certainly there at the same time.

    Demonstrations that lie beside each other often share a namespace and are tried one by one.
    """
    if one.live or one.application or other.application:
        return True
    first, second = (each.file.rpartition("/")[0].split("/") for each in (one, other))
    shorter = min(len(first), len(second))
    return first[:shorter] == second[:shorter] or first == [""] or second == [""]


class _Namespaces:
    """What the workloads of namespaces use up at their least, worked out once for each bound."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._totals: dict[tuple[int, str], Decimal] = {}

    def others(self, workload: Workload, quota: Quota) -> Decimal:
        """What all workloads beside this one use up."""
        return max(Decimal(0), self.total(quota) - self._least(workload, quota))

    def total(self, quota: Quota) -> Decimal:
        """What all workloads use up."""
        place = (id(quota.object), quota.key)
        if place not in self._totals:
            # Of workloads of one name, such as the overlays for several clusters, one is there at a time.
            each: dict[tuple[str, str], Decimal] = {}
            for one in self._scene.workloads_beside(quota.object):
                if not _lie_together(quota.object, one.object):
                    continue
                name, least = (one.kind, one.object.name), self._least(one, quota)
                each[name] = min(least, each.get(name, least))
            self._totals[place] = sum(each.values(), start=Decimal(0))
        return self._totals[place]

    def _least(self, workload: Workload, quota: Quota) -> Decimal:
        scale = self._scene.scale(workload) if workload.kind in SCALED else None
        each = quota.per_pod(self._scene, workload)
        return Decimal(0) if scale is None or each is None else each * scale.least


@check(
    "quota-below-use",
    title="The quota of a namespace is less than its workloads need",
    severity=Severity.HIGH,
    incidents=(),
    alike=(USER_ID, MYBINDER),
    about=("ResourceQuota",),
    needs=("Deployment", "StatefulSet", "LimitRange"),
)
def quota_below_use(scene: Scene) -> Answers:
    """
    What it does
    Adds up what the workloads of a namespace ask for with their least numbers of replicas (defaults of a
    LimitRange included) and compares with each bound of its ResourceQuotas. Agents and Jobs are not counted,
    and quotas with a scope are left out.

    Why it matters
    A quota stops nothing that runs. The pods that are too many stay until they are replaced, by a rollout, a
    drain or a crash, and then cannot come back: the service shrinks pod by pod, long after the change.

    Incidents
    At Google automation lowered the quota of a service that had been reported to use nothing; it could not
    write any more, and sign-in failed everywhere. The change was weeks old when it took effect. At
    mybinder.org a wrong count had every new pod refused.

    Fix
    Raise the bound above what the workloads need, with room for one more pod of the biggest, or run fewer.

    References
    - https://kubernetes.io/docs/concepts/policy/resource-quotas/
    """
    namespaces = _Namespaces(scene)
    for one in scene.of("ResourceQuota"):
        bounds = list(bounds_of(one)) if surely_applied(scene, one) else []
        low = next((each for each in bounds if namespaces.total(each) > each.hard), None)
        if not bounds:
            yield NotApplicable(one, "it bounds nothing that is added up here")
        elif low is None:
            yield Pass(one)
        else:
            needed = _amount(namespaces.total(low), low.key)
            yield Gap(
                one,
                f"The workloads of the namespace need {needed} of `{low.key}`, and there is "
                f"{_amount(low.hard, low.key)}",
                ("spec", "hard", low.key),
                evidence=(f"{low.key}: {_amount(low.hard, low.key)}", f"needed at the least: {needed}"),
                confidence=Confidence.HIGH if scene.live else Confidence.MEDIUM,
            )


@check(
    "quota-blocks-rollout",
    title="A rolling update needs one pod more than the quota allows, and never begins",
    severity=Severity.MEDIUM,
    breaks=True,
    incidents=(),
    alike=(MYBINDER,),
    about=("Deployment",),
    needs=("ResourceQuota",),
)
def quota_blocks_rollout(scene: Scene) -> Answers:
    """
    What it does
    For Deployments whose rolling update may take no pod away (`maxUnavailable` comes out as zero, as the
    default 25% does for up to three replicas), adds one pod to what the whole namespace uses at its least
    and compares with each ResourceQuota.

    Why it matters
    Such an update begins with a new pod. When the quota refuses it, nothing happens at all: the old version
    runs on, the rollout waits until `progressDeadlineSeconds`, and a fix that is urgent does not get out.

    Incidents
    At mybinder.org a quota refused every new pod for hours. There its count was wrong; the refusal is the
    same.

    Fix
    Leave room in the quota for at least one pod of the biggest workload, or allow `maxUnavailable: 1`.

    References
    - https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#max-surge
    - https://kubernetes.io/docs/concepts/policy/resource-quotas/
    """
    namespaces = _Namespaces(scene)
    for workload in scene.workloads:
        if workload.kind != "Deployment":
            continue
        quotas = list(quotas_over(scene, workload))
        scale = scene.scale(workload)
        moves = surge_and_unavailable(workload, scale.least) if scale is not None else None
        if not quotas or scale is None or moves is None or scale.least == 0:
            continue
        if moves[1] > 0:
            yield Pass(workload.object)
            continue
        tight = next(_tight(scene, namespaces, workload, quotas), None)
        yield tight if tight is not None else Pass(workload.object)


def _tight(scene: Scene, namespaces: _Namespaces, workload: Workload, quotas: list[Quota]) -> Iterator[Gap]:
    scale = scene.scale(workload)
    replicas = scale.least if scale is not None else 0
    for quota in quotas:
        each = quota.per_pod(scene, workload)
        if each is None or each <= 0:
            continue
        used = namespaces.others(workload, quota) + each * replicas
        hard = _amount(quota.hard, quota.key)
        if used <= quota.hard < used + each:
            yield Gap(
                workload.object,
                f"The namespace uses {_amount(used, quota.key)} of {hard} `{quota.key}`; the new pod of a "
                f"rollout needs {_amount(each, quota.key)} more, and none of the old may go before",
                ("spec", "strategy"),
                evidence=(
                    f"{quota.object.key}: {quota.key}: {hard}",
                    f"maxUnavailable comes out as 0 for {counted(replicas, 'replica')}",
                ),
                confidence=Confidence.HIGH if scene.live else Confidence.MEDIUM,
                related=(quota.object,),
            )


@check(
    "quota-refuses-pods",
    title="The quota refuses all pods of a workload, since they do not say what they need",
    severity=Severity.HIGH,
    breaks=True,
    incidents=(),
    alike=(MYBINDER,),
    about=("Deployment", "StatefulSet", "DaemonSet", "Job", "CronJob", "Rollout"),
    needs=("ResourceQuota", "LimitRange"),
)
def quota_refuses_pods(scene: Scene) -> Answers:
    """
    What it does
    Looks for workloads in a namespace whose ResourceQuota bounds CPU or memory (requests or limits) with a
    container that has no such value, neither of its own nor from a LimitRange.

    Why it matters
    The API server refuses each such pod. Running pods stay, so nothing shows until the first of them is
    replaced, by a rollout, a drain or a crash; then it is gone, and the reason stands in an event of the
    ReplicaSet only.

    Incidents
    At mybinder.org a quota refused every new pod for hours, and nothing told the team. There the count was
    wrong; the refusal is the same.

    Fix
    Write the value into each container, or add a LimitRange with defaults to the namespace.

    References
    - https://kubernetes.io/docs/concepts/policy/resource-quotas/#compute-resource-quota
    """
    for workload in scene.workloads:
        if workload.kind not in {*SCALED, "DaemonSet", "Job", "CronJob"}:
            continue
        quotas = [quota for quota in quotas_over(scene, workload) if quota.key in _ASKED]
        if not quotas:
            continue
        missing = next(_missing(scene, workload, quotas), None)
        yield missing if missing is not None else Pass(workload.object)


def _missing(scene: Scene, workload: Workload, quotas: list[Quota]) -> Iterator[Gap]:
    for quota in quotas:
        side, resource = _ASKED[quota.key]
        for container in (*workload.containers, *workload.init_containers):
            if container_amount(scene, container, side, resource) is not None:
                continue
            yield Gap(
                workload.object,
                f"`{container.name}` has no `resources.{side}.{resource}`, which the quota demands of every "
                "container: its pods are refused",
                (*container.path, "resources"),
                evidence=(
                    f"{quota.object.key}: {quota.key}: {_amount(quota.hard, quota.key)}",
                    "no LimitRange of the namespace gives a default",
                ),
                confidence=Confidence.HIGH if scene.live or scene.has("LimitRange") else Confidence.MEDIUM,
                related=(quota.object,),
            )


CHECKS = (
    ns_no_pod_quota,
    quota_below_autoscaler,
    quota_below_use,
    quota_blocks_rollout,
    quota_refuses_pods,
)
