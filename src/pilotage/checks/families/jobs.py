"""Jobs that never end, are never cleared away, or all begin in the same minute."""
# ruff: noqa: D205, D212, D416 - the docstring of a check is its page, in fixed sections

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from pilotage.checks import components
from pilotage.checks.model import (
    DOCUMENTATION_ONLY,
    Answers,
    Confidence,
    Gap,
    NotApplicable,
    Operation,
    Pass,
    Severity,
    check,
)
from pilotage.checks.objects import KubeObject
from pilotage.checks.scene import Scene
from pilotage.checks.schedule import Schedule, read_schedule
from pilotage.checks.values import as_int, as_map, as_text, human_seconds
from pilotage.checks.workloads import Container, Workload

ZALANDO = "zalando-2018-09-07-iam-404-cronjob-api-server-oom"
EXPONEA = "exponea-2019-10-29-istio-rollout-abandoned"

_OFTEN_MINUTES = 15
_DAY_MINUTES = 24 * 60
_HOUR_MINUTES = 60
_HERD = 10
_FINISHED = 100


def _jobs(scene: Scene, *kinds: str) -> Iterator[Workload]:
    for workload in scene.workloads:
        if workload.kind in kinds:
            yield workload


def _ended(workload: Workload) -> bool:
    """Whether something ends a run that does not end by itself."""
    return any(
        as_int(value) is not None
        for value in (workload.job.get("activeDeadlineSeconds"), workload.pod.get("activeDeadlineSeconds"))
    )


def _hooked(one: KubeObject) -> bool:
    return any(key.startswith(("helm.sh/hook", "argocd.argoproj.io/hook")) for key in one.annotations)


def _schedule(workload: Workload) -> Schedule | None:
    return read_schedule(as_text(workload.object.spec.get("schedule")))


@check(
    "cron-onfailure-no-deadline",
    title="Runs that are retried in place have no end and may pile up",
    severity=Severity.MEDIUM,
    incidents=(),
    alike=(ZALANDO,),
    about=("CronJob",),
)
def cron_onfailure_no_deadline(scene: Scene) -> Answers:
    """
    What it does
    Looks for CronJobs with `restartPolicy: OnFailure`, no `activeDeadlineSeconds`, runs that may stand
    beside each other, and an interval of more than 15 minutes (up to 15 minutes:
    `cron-overlap-unbounded`) and less than a day. Once an hour or more often is of medium severity, the
    rest of low.

    Why it matters
    With `OnFailure` the kubelet restarts the container inside of the same pod. The pod stays, and only
    restarts count against `backoffLimit`: one that waits for an image, a volume or a Secret is never
    counted. Each interval adds another such pod.

    Incidents
    At Axis one CronJob of that kind had 7,500 pods in a crash loop, and the Job controller took minutes for
    any Job; the report is among the references, not in the library. At Zalando the pods of a CronJob grew
    in number until the API server was killed for lack of memory.

    Fix
    Set `activeDeadlineSeconds` in `spec.jobTemplate.spec` below the interval, and `concurrencyPolicy:
    Forbid`; or `restartPolicy: Never`, so that each failure counts.

    References
    - https://engineeringat.axis.com/kubernetes-job-controller/
    - https://kubernetes.io/docs/concepts/workloads/controllers/job/#pod-backoff-failure-policy
    """
    for workload in _jobs(scene, "CronJob"):
        one, schedule = workload.object, _schedule(workload)
        if workload.restart_policy != "OnFailure" or _ended(workload):
            yield Pass(one)
        elif (
            as_text(one.spec.get("concurrencyPolicy")) in {"Forbid", "Replace"}
            or one.spec.get("suspend") is True
        ):
            yield NotApplicable(one, "no run stands beside another: see cron-no-deadline")
        elif schedule is None or not _OFTEN_MINUTES < schedule.interval_minutes < _DAY_MINUTES:
            yield NotApplicable(one, "at most one run a day, or see cron-overlap-unbounded")
        else:
            every = human_seconds(schedule.interval_minutes * 60)
            yield Gap(
                one,
                "A pod that cannot start is never counted as failed and never ended, and another comes "
                f"every {every}",
                (*workload.pod_path, "restartPolicy"),
                evidence=(
                    "restartPolicy: OnFailure",
                    "activeDeadlineSeconds: absent",
                    f"concurrencyPolicy: {one.spec.get('concurrencyPolicy', 'absent, which means Allow')}",
                    f"schedule: {one.spec.get('schedule')}",
                ),
                severity=None if schedule.interval_minutes <= _HOUR_MINUTES else Severity.LOW,
            )


@check(
    "cron-herd",
    title="Many CronJobs begin in the same minute",
    severity=Severity.MEDIUM,
    incidents=(),
    alike=(ZALANDO,),
    about=("CronJob",),
)
def cron_herd(scene: Scene) -> Answers:
    """
    What it does
    Counts how many CronJobs begin in each minute of the day, and speaks up once, on the worst minute, when
    ten or more do. Those that are suspended do not count, nor those that run at every minute anyway, and in
    files only those of one namespace or folder do.

    Why it matters
    The controller makes all their Jobs and pods in one go; the scheduler, the registry and whatever the
    jobs call get the whole load in one moment and nothing in between. Where the nodes are full, an
    autoscaler buys machines for two minutes an hour.

    Incidents
    Zalando moved its CronJob from the full quarter hours to minute 7 after the API server had been killed
    for memory. How many others shared the minute is not stated.

    Fix
    Give each CronJob a minute of its own, for example one that is worked out from its name; leave `0 * * *
    *` and `0 0 * * *` free.

    References
    - https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/
    """
    for group in _herds(scene):
        slots: dict[int, list[KubeObject]] = defaultdict(list)
        for workload, schedule in group:
            for hour in schedule.hours:
                for minute in schedule.minutes:
                    slots[hour * 60 + minute].append(workload.object)
        worst = max(slots, key=lambda slot: (len(slots[slot]), -slot), default=0)
        together = sorted(slots.get(worst, []), key=lambda one: one.key)
        if len(together) < _HERD:
            yield from (Pass(workload.object) for workload, _ in group)
            continue
        yield Gap(
            together[0],
            f"{len(together)} CronJobs begin at {worst // 60:02d}:{worst % 60:02d}",
            ("spec", "schedule"),
            evidence=tuple(f"{one.key}: {one.spec.get('schedule')}" for one in together[:_HERD]),
            related=tuple(together[1:_HERD]),
        )


def _herds(scene: Scene) -> Iterator[list[tuple[Workload, Schedule]]]:
    """CronJobs that certainly run in one cluster, with their schedules."""
    groups: dict[str, list[tuple[Workload, Schedule]]] = defaultdict(list)
    for workload in _jobs(scene, "CronJob"):
        one, schedule = workload.object, _schedule(workload)
        if schedule is None or one.spec.get("suspend") is True or len(schedule.minutes) == _HOUR_MINUTES:
            continue
        place = one.file.rpartition("/")[0]
        groups["" if scene.live else one.namespace or f"in {place}"].append((workload, schedule))
    yield from groups.values()


@check(
    "job-no-ttl",
    title="Finished Jobs are kept for ever",
    severity=Severity.MEDIUM,
    incidents=(),
    alike=(ZALANDO,),
    about=("Job",),
)
def job_no_ttl(scene: Scene) -> Answers:
    """
    What it does
    Looks for Jobs without `ttlSecondsAfterFinished` that are made again and again: those with
    `metadata.generateName`, of low severity, since nobody sees how often, and in a cluster a namespace
    with 100 or more that nothing owns. Jobs of CronJobs (cleared by the history limits) and hooks of Helm
    and Argo CD are left alone.

    Why it matters
    A finished Job and its pods stay in etcd until somebody deletes them. Each list of pods, each restart of
    a component that watches pods and each recovery of the API server costs more by all of them.

    Incidents
    At Zalando the API server was killed for memory while pods of a CronJob grew in number, and no quota set
    an upper bound.

    Fix
    Set `ttlSecondsAfterFinished`, for example 3600, in the Job's `spec`.

    References
    - https://kubernetes.io/docs/concepts/workloads/controllers/ttlafterfinished/
    """
    kept: dict[str, list[KubeObject]] = defaultdict(list)
    for workload in _jobs(scene, "Job"):
        one = workload.object
        if as_int(one.spec.get("ttlSecondsAfterFinished")) is not None:
            yield Pass(one)
        elif one.controller() is not None or _hooked(one):
            yield NotApplicable(one, "its owner or its tool clears it away")
        elif scene.live:
            kept[one.namespace].append(one)
        elif "generateName" not in one.metadata or "name" in one.metadata:
            yield NotApplicable(one, "its name is fixed: there is one of it")
        else:
            yield Gap(
                one,
                "Each run of it makes another Job, and none is ever cleared away",
                ("spec",),
                evidence=(
                    f"metadata.generateName: {one.metadata.get('generateName')}",
                    "spec.ttlSecondsAfterFinished: absent",
                ),
                patch=(Operation("add", ("spec", "ttlSecondsAfterFinished"), 3600),),
                severity=Severity.LOW,
            )
    for namespace, jobs in kept.items():
        if len(jobs) < _FINISHED:
            yield from (NotApplicable(one, "there are few of them") for one in jobs)
            continue
        jobs.sort(key=lambda one: one.name)
        yield Gap(
            jobs[0],
            f"{len(jobs)} Jobs in namespace {namespace} have no `ttlSecondsAfterFinished` and no owner",
            ("spec",),
            evidence=tuple(one.key for one in jobs[:3]),
        )


@check(
    "job-sidecar-never-ends",
    title="A Job never completes, since a container beside it keeps running",
    severity=Severity.MEDIUM,
    breaks=True,
    incidents=(EXPONEA,),
    about=("Job", "CronJob"),
)
def job_sidecar_never_ends(scene: Scene) -> Answers:
    """
    What it does
    Looks for Jobs, also those of CronJobs, that run a proxy or a log shipper (by its image) as an ordinary
    container beside the work, and for those that ask for a mesh's proxy by annotation or label, without
    `activeDeadlineSeconds`. Of native sidecars (`initContainers` with `restartPolicy: Always`, Kubernetes
    1.29 and later) it knows that they end with the work. A command that names an `exit`, `quit` or
    `pkill` is taken to end them, too.

    Why it matters
    A Job is complete when all its containers have ended. The proxy does not know that the work is done:
    the pod stays, a CronJob with `Forbid` never runs again, one with `Allow` adds pod after pod.

    Incidents
    At Exponea sidecars of Istio kept Jobs unfinished in development, and injection was switched off for
    them before the rollout was given up.

    Fix
    Move the helper to `initContainers` with `restartPolicy: Always`, or let the work tell it to end; for
    injected proxies use native sidecars or switch injection off for the Job. Set `activeDeadlineSeconds`.

    References
    - https://kubernetes.io/docs/concepts/workloads/pods/sidecar-containers/#jobs-with-sidecar-containers
    """
    for workload in _jobs(scene, "Job", "CronJob"):
        one = workload.object
        helpers = [
            item for item in workload.containers if "endless-sidecar" in components.container_roles(item)
        ]
        asked = _injected(workload)
        if (not helpers or len(helpers) == len(workload.containers)) and not asked:
            yield Pass(one)
        elif _ended(workload):
            yield NotApplicable(one, "its deadline ends it")
        elif any(_ends_helper(item) for item in workload.containers):
            yield Pass(one)
        elif helpers and len(helpers) < len(workload.containers):
            yield Gap(
                one,
                f"Container `{helpers[0].name}` goes on running when the work is done: the Job never "
                "completes",
                helpers[0].path,
                evidence=(f"image: {helpers[0].image}", "activeDeadlineSeconds: absent"),
            )
        else:
            yield Gap(
                one,
                "A mesh's proxy is injected, which goes on running when the work is done",
                (*workload.template, "metadata"),
                evidence=(asked, "activeDeadlineSeconds: absent"),
                confidence=Confidence.LOW,
                severity=Severity.LOW,
            )


def _injected(workload: Workload) -> str:
    """What asks for a proxy to be injected; empty where nothing does."""
    wanted = {"sidecar.istio.io/inject": "true", "linkerd.io/inject": "enabled"}
    for values in (workload.pod_labels, workload.pod_annotations):
        for key, value in wanted.items():
            if str(values.get(key)).lower() == value:
                return f"{key}: {values.get(key)}"
    return ""


def _ends_helper(container: Container) -> bool:
    words = " ".join(container.words)
    return any(
        word in words for word in ("quitquitquit", "/shutdown", "pkill", "kill ", "--exit", "linkerd-await")
    )


@check(
    "job-parallel-without-end",
    title="A Job may start pods without a bound that anybody wrote down",
    severity=Severity.MEDIUM,
    incidents=DOCUMENTATION_ONLY,
    about=("Job", "CronJob"),
)
def job_parallel_without_end(scene: Scene) -> Answers:
    """
    What it does
    Looks for Jobs, also those of CronJobs, whose `backoffLimit` is above 50 without `activeDeadlineSeconds`
    and without a `podFailurePolicy`: many retries and no time limit.

    Why it matters
    With `restartPolicy: Never` each retry is a new pod, and the failed ones stay as objects until the Job is
    deleted. A fault that no retry cures (a wrong password, a missing table) makes as many pods as the limit
    says, each with its log and its place in etcd.

    Incidents
    No public incident with this very cause is known to us; the behaviour is documented.

    Fix
    Lower `backoffLimit`, set `activeDeadlineSeconds`, and let a `podFailurePolicy` end the Job at once for
    exit codes that no retry cures.

    References
    - https://kubernetes.io/docs/concepts/workloads/controllers/job/#pod-failure-policy
    """
    for workload in _jobs(scene, "Job", "CronJob"):
        one, limit = workload.object, as_int(workload.job.get("backoffLimit"))
        if limit is None or limit <= _MANY_RETRIES or _ended(workload):
            yield Pass(one)
        elif as_map(workload.job.get("podFailurePolicy")):
            yield NotApplicable(one, "a podFailurePolicy ends it")
        else:
            yield Gap(
                one,
                f"`backoffLimit: {limit}` allows as many failed runs, and no deadline ends them",
                (*workload.job_path, "backoffLimit"),
                evidence=(f"backoffLimit: {limit}", "activeDeadlineSeconds: absent"),
                severity=None if workload.restart_policy == "Never" else Severity.LOW,
            )


_MANY_RETRIES = 50

CHECKS = (
    cron_herd,
    cron_onfailure_no_deadline,
    job_no_ttl,
    job_parallel_without_end,
    job_sidecar_never_ends,
)
