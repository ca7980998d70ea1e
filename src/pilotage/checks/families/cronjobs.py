"""CronJobs and Jobs: runs that pile up, settings that take no effect, retries that take node after node."""
# ruff: noqa: D205, D212, D416 - the docstring of a check is its page, in fixed sections

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from pilotage.checks.index import may_share_namespace
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
from pilotage.checks.scene import Scene
from pilotage.checks.schedule import Schedule, read_schedule
from pilotage.checks.values import KeyPath, as_int, as_list, as_map, as_text, dig, dotted, human_seconds
from pilotage.checks.work import does_little, on_much_data
from pilotage.checks.workloads import Container, Workload, workload_of
from pilotage.core.counting import counted
from pilotage.core.regex import regex

ZALANDO = "zalando-2018-09-07-iam-404-cronjob-api-server-oom"
UNIVERSE = "universe-2017-07-21-greedy-kubernetes-job"

_CERTIFICATES = regex(r"webhook-certgen|\bcert-?gen(?:erator)?\b|\bgenerate-certs\b")

_SPEC: KeyPath = ("spec",)
_JOB: KeyPath = ("spec", "jobTemplate", "spec")
_LEVELS: tuple[KeyPath, ...] = (
    (),
    ("metadata",),
    ("spec", "jobTemplate"),
    ("spec", "jobTemplate", "metadata"),
    _JOB,
    (*_JOB, "template"),
    (*_JOB, "template", "metadata"),
    (*_JOB, "template", "spec"),
)
_OF_CRONJOB = (
    "concurrencyPolicy",
    "successfulJobsHistoryLimit",
    "failedJobsHistoryLimit",
    "startingDeadlineSeconds",
)
_OF_JOB = ("backoffLimit", "ttlSecondsAfterFinished", "completions", "parallelism")
_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_OFTEN_MINUTES = 15
_HOUR_MINUTES = 60
_LARGE_HISTORY = 20
_LOOK_SECONDS = 10
"""The CronJob controller looks as often as this."""


def _cronjobs(scene: Scene) -> Iterator[tuple[Workload, Schedule | None]]:
    for one in scene.of("CronJob"):
        view = workload_of(one)
        if view is not None and not view.partial:
            yield view, read_schedule(as_text(one.spec.get("schedule")))


def _suspended(view: Workload) -> bool:
    return view.object.spec.get("suspend") is True


def _misplaced(data: Mapping[str, Any]) -> Iterator[tuple[KeyPath, str, KeyPath]]:
    """Level, key and right level of every setting that stands where nobody reads it."""
    for level in (*_LEVELS, _SPEC):
        here = as_map(dig(data, *level))
        if level != _SPEC:
            yield from ((level, key, _SPEC) for key in _OF_CRONJOB if key in here)
        if level != _JOB:
            yield from ((level, key, _JOB) for key in _OF_JOB if key in here)


def _as_applied(one: KubeObject) -> Mapping[str, Any]:
    """The object as somebody wrote it; a cluster drops the fields that it does not know."""
    if not one.live:
        return one.data
    text = as_text(one.annotations.get(_LAST_APPLIED))
    try:
        return as_map(json.loads(text)) if text else one.data
    except ValueError:
        return one.data


def settings_out_of_place(one: KubeObject) -> Iterator[tuple[KeyPath, str, KeyPath]]:
    """Level, key and right level of the settings of a CronJob that `cron-policy-misplaced` tells of."""
    if one.kind == "CronJob":
        yield from _misplaced(_as_applied(one))


@check(
    "cron-policy-misplaced",
    title="CronJob settings stand at the wrong level and take no effect",
    severity=Severity.HIGH,
    breaks=True,
    incidents=(ZALANDO,),
    about=("CronJob",),
)
def cron_policy_misplaced(scene: Scene) -> Answers:
    """
    What it does
    Looks for settings of a CronJob (`concurrencyPolicy`, the two history limits, `startingDeadlineSeconds`)
    that stand in the job template or the pod template, and for settings of a Job (`backoffLimit`,
    `ttlSecondsAfterFinished`, `completions`, `parallelism`) in the pod template or in the CronJob's own
    spec. In a cluster such fields are already dropped; there it reads the annotation of the last `kubectl
    apply`.

    Why it matters
    The API server drops a field that it does not know at that level, unless it was asked to validate
    strictly. The manifest says `Forbid`, the cluster does `Allow`: slow runs are started beside each other
    until the API server has no memory left.

    Incidents
    In Zalando's CronJob, due every 15 minutes, `concurrencyPolicy: Forbid` and both history limits stood in
    the pod template. Pods grew in number, the API server was killed for memory, and ingress lost its
    routes.

    Fix
    Move the fields to the level that reads them: those of a CronJob to `spec`, those of a Job to
    `spec.jobTemplate.spec`.

    References
    - https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/cron-job-v1/
    - https://kubernetes.io/docs/reference/using-api/api-concepts/#field-validation
    """
    for one in scene.of("CronJob"):
        written = _as_applied(one)
        found = list(_misplaced(written))
        if not found:
            yield Pass(one)
        for level in dict.fromkeys(level for level, _, _ in found):
            yield _misplaced_gap(
                one, written, level, [(key, right) for at, key, right in found if at == level]
            )


def _misplaced_gap(
    one: KubeObject, written: Mapping[str, Any], level: KeyPath, found: list[tuple[str, KeyPath]]
) -> Gap:
    lost = [(key, right) for key, right in found if key not in as_map(dig(written, *right))]
    worst = Severity.LOW
    if lost:
        keys = {key for key, _ in lost}
        worst = Severity.HIGH if keys & set(_OF_CRONJOB) else Severity.MEDIUM
        worst = Severity.CRITICAL if "concurrencyPolicy" in keys else worst
    where = f"`{dotted(level)}`" if level else "the top level"
    names = ", ".join(f"`{key}`" for key, _ in found)
    rights = " and ".join(dict.fromkeys(f"`{dotted(right)}`" for _, right in found))
    verb = "stands" if len(found) == 1 else "stand"
    moves = tuple(
        Operation("move", (*right, key), source=(*level, key))
        for key, right in lost
        if isinstance(dig(written, *right), dict)
    )
    return Gap(
        one,
        f"{names} {verb} in {where}, where nothing reads {'it' if len(found) == 1 else 'them'}; "
        f"the place is {rights}",
        (*level, found[0][0]),
        evidence=tuple(f"{dotted((*level, key))}: {dig(written, *level, key)}" for key, _ in found),
        fix=f"Move {names} to {rights}.",
        patch=() if one.live else moves,
        severity=worst,
    )


@check(
    "cron-overlap-unbounded",
    title="Runs of a frequent CronJob may pile up without a bound",
    severity=Severity.HIGH,
    incidents=(ZALANDO,),
    about=("CronJob",),
)
def cron_overlap_unbounded(scene: Scene) -> Answers:
    """
    What it does
    Looks for CronJobs that run every 15 minutes or more often, allow runs beside each other
    (`concurrencyPolicy` is `Allow` or absent) and set no `activeDeadlineSeconds`. Where `Allow` is written
    down, somebody chose it: the finding is then of medium severity.

    Why it matters
    When one run takes longer than the interval, or hangs, the next is started beside it, and the next.
    Nothing ends them. Every pod costs memory in the API server, in etcd and in each component that watches
    pods.

    Incidents
    Zalando's CronJob ran every 15 minutes without a policy in force and without a deadline; its pods grew
    in number and the API server was killed for lack of memory.

    Fix
    Set `concurrencyPolicy: Forbid` (or `Replace`) in the CronJob's `spec`, and `activeDeadlineSeconds`
    below the interval in `spec.jobTemplate.spec`.

    References
    - https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/#concurrency-policy
    - https://kubernetes.io/docs/concepts/workloads/controllers/job/#job-termination-and-cleanup
    """
    for view, schedule in _cronjobs(scene):
        one = view.object
        policy = as_text(one.spec.get("concurrencyPolicy"))
        if policy in {"Forbid", "Replace"} or _deadline(view) is not None:
            yield Pass(one)
        elif _suspended(view):
            yield NotApplicable(one, "it is suspended")
        elif any(key == "concurrencyPolicy" for _, key, _ in _misplaced(_as_applied(one))):
            yield NotApplicable(one, "its policy is misplaced: see cron-policy-misplaced")
        elif schedule is None:
            yield Unknown(
                f"its schedule cannot be read: {one.spec.get('schedule')!r}", one, ("spec", "schedule")
            )
        elif schedule.interval_minutes > _OFTEN_MINUTES:
            yield Pass(one)
        else:
            # A cluster fills the default in; whether somebody chose it stands in what was applied.
            stated = dig(_as_applied(one), "spec", "concurrencyPolicy")
            yield _overlap_gap(one, schedule, chosen=stated == "Allow")


def _deadline(view: Workload) -> int | None:
    for value in (view.job.get("activeDeadlineSeconds"), view.pod.get("activeDeadlineSeconds")):
        if (seconds := as_int(value)) is not None:
            return seconds
    return None


def _overlap_gap(one: KubeObject, schedule: Schedule, *, chosen: bool) -> Gap:
    every = human_seconds(schedule.interval_minutes * 60)
    stated = "says `Allow`" if chosen else "is absent, which means `Allow`"
    return Gap(
        one,
        f"It runs every {every}, `concurrencyPolicy` {stated}, and no `activeDeadlineSeconds` ends a run "
        "that hangs",
        ("spec", "concurrencyPolicy") if chosen else ("spec", "schedule"),
        evidence=(
            f"spec.schedule: {one.spec.get('schedule')}",
            f"spec.concurrencyPolicy: {one.spec.get('concurrencyPolicy', 'absent')}",
            "spec.jobTemplate.spec.activeDeadlineSeconds: absent",
        ),
        fix="Set `spec.concurrencyPolicy: Forbid`, and `spec.jobTemplate.spec.activeDeadlineSeconds` below "
        f"{int(schedule.interval_minutes * 60)}.",
        patch=(Operation("replace" if chosen else "add", ("spec", "concurrencyPolicy"), "Forbid"),),
        severity=Severity.MEDIUM if chosen else None,
        confidence=Confidence.MEDIUM if chosen else Confidence.HIGH,
    )


@check(
    "cron-no-deadline",
    title="A CronJob run that hangs is never ended and blocks all later ones",
    severity=Severity.MEDIUM,
    incidents=DOCUMENTATION_ONLY,
    about=("CronJob",),
)
def cron_no_deadline(scene: Scene) -> Answers:
    """
    What it does
    Looks for CronJobs with `concurrencyPolicy: Forbid` and no `activeDeadlineSeconds`. Those that run once
    an hour or more often are of medium severity, the rest of low.

    Why it matters
    `Forbid` skips a run while the one before is not over. A run that hangs, or whose pod cannot start (an
    image that is gone, a full quota), is never over: `backoffLimit` counts failures only. The job then
    silently never runs again.

    Incidents
    No public incident with this very cause is in the library. Axis describes pods of Jobs that never failed
    and kept retrying by thousands; see the references.

    Fix
    Set `activeDeadlineSeconds` in `spec.jobTemplate.spec` to the longest time that a run may take, and
    alert when `status.lastSuccessfulTime` is too old.

    References
    - https://kubernetes.io/docs/concepts/workloads/controllers/job/#job-termination-and-cleanup
    - https://engineeringat.axis.com/kubernetes-job-controller
    """
    for view, schedule in _cronjobs(scene):
        one = view.object
        if _deadline(view) is not None:
            yield Pass(one)
        elif one.spec.get("concurrencyPolicy") != "Forbid" or _suspended(view):
            yield NotApplicable(one, "no run waits for the one before it")
        else:
            often = schedule is not None and schedule.interval_minutes <= _HOUR_MINUTES
            yield Gap(
                one,
                "`Forbid` waits for the run before, and no `activeDeadlineSeconds` ends one that hangs",
                _JOB,
                evidence=(
                    "spec.concurrencyPolicy: Forbid",
                    f"spec.schedule: {one.spec.get('schedule')}",
                    "spec.jobTemplate.spec.activeDeadlineSeconds: absent",
                ),
                severity=None if often else Severity.LOW,
            )


@check(
    "cron-history-large",
    title="Finished runs of a CronJob are kept by the dozen",
    severity=Severity.LOW,
    incidents=(),
    alike=(ZALANDO,),
    about=("CronJob",),
)
def cron_history_large(scene: Scene) -> Answers:
    """
    What it does
    Looks for `successfulJobsHistoryLimit` or `failedJobsHistoryLimit` above 20. The defaults are 3 and 1.

    Why it matters
    Each finished Job keeps its pods, and each of them is an object in etcd, in the cache of the API server
    and of every component that watches pods. A few such CronJobs fill a cluster that a quota does not
    bound.

    Incidents
    Zalando's API server was killed for memory while the pods of a CronJob grew in number; the corrected
    manifest keeps one successful and one failed Job.

    Fix
    Keep a handful; send logs and results to where they can be searched.

    References
    - https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/#jobs-history-limits
    """
    for view, _ in _cronjobs(scene):
        one = view.object
        limits = {
            key: number
            for key in ("successfulJobsHistoryLimit", "failedJobsHistoryLimit")
            if (number := as_int(one.spec.get(key))) is not None and number > _LARGE_HISTORY
        }
        if not limits:
            yield Pass(one)
            continue
        most = " and ".join(f"`{key}: {number}`" for key, number in limits.items())
        yield Gap(
            one,
            f"{most} keep up to {sum(limits.values())} finished Jobs with their pods",
            ("spec", next(iter(limits))),
            evidence=tuple(f"spec.{key}: {number}" for key, number in limits.items()),
            patch=tuple(Operation("replace", ("spec", key), 3) for key in limits),
        )


@check(
    "cron-starting-deadline-short",
    title="A CronJob may never be started, since its starting deadline is too short",
    severity=Severity.HIGH,
    breaks=True,
    incidents=DOCUMENTATION_ONLY,
    about=("CronJob",),
)
def cron_starting_deadline_short(scene: Scene) -> Answers:
    """
    What it does
    Looks for `startingDeadlineSeconds` below 10.

    Why it matters
    The controller looks every 10 seconds. A run that is due and found more than the deadline late is
    skipped, so with less than 10 seconds it depends on chance whether a run ever starts, and nothing fails.

    Incidents
    No public incident is known to us; the behaviour is documented.

    Fix
    Leave the field out, or set it to at least a minute; to a good part of the interval where a late run is
    better than none.

    References
    - https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/#starting-deadline
    """
    for view, _ in _cronjobs(scene):
        seconds = as_int(view.object.spec.get("startingDeadlineSeconds"))
        if seconds is None or seconds >= _LOOK_SECONDS:
            yield Pass(view.object)
            continue
        yield Gap(
            view.object,
            f"`startingDeadlineSeconds: {seconds}` is shorter than the {_LOOK_SECONDS} s after which the "
            "controller looks again: runs are skipped",
            ("spec", "startingDeadlineSeconds"),
            evidence=(f"spec.startingDeadlineSeconds: {seconds}",),
            patch=(Operation("remove", ("spec", "startingDeadlineSeconds")),),
        )


@check(
    "job-greedy-retry",
    title="A Job without a memory limit is started again on one node after the other",
    severity=Severity.MEDIUM,
    incidents=(UNIVERSE,),
    about=("Job", "CronJob"),
    needs=("LimitRange",),
    chart_severity=Severity.LOW,
)
def job_greedy_retry(scene: Scene) -> Answers:
    """
    What it does
    Looks for Jobs, also those of CronJobs, with `restartPolicy: Never` (each retry is a new pod, on any
    node), retries allowed (`backoffLimit` is 6 by default) and a container without a memory limit. A
    LimitRange of the namespace that sets a default is taken into account. Hooks of Helm and Argo CD are left
    alone, and what takes little memory by its command or name: helpers that make a certificate, tools that
    ask an API, runs that print, wait or ask something once, migrations of a database. The severity is medium
    where much data is read or made (a request of 512 MiB or more, names such as `export` or `reindex`), and
    else low.

    Why it matters
    A run that takes all the memory of its node makes the node unhealthy. The Job controller sees a failed
    pod and starts the next on another node, which goes the same way.

    Incidents
    At Universe a reindex Job used up its node, and Kubernetes started it on the next one until every node
    was in repair; search, reporting and the Kubernetes UI failed. Resource limits are not mentioned in the
    report.

    Fix
    Give each container a memory limit; set `backoffLimit: 0` where a second try would do the same as the
    first.

    References
    - https://kubernetes.io/docs/concepts/workloads/controllers/job/#pod-backoff-failure-policy
    - https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/
    """
    for workload in scene.workloads:
        if workload.kind not in {"Job", "CronJob"}:
            continue
        one = workload.object
        unbound = [container for container in workload.containers if container.limit("memory") is None]
        retries = as_int(workload.job.get("backoffLimit"))
        if not unbound or retries == 0:
            yield Pass(one)
        elif workload.restart_policy != "Never" or _hooked(one) or _suspended(workload):
            yield NotApplicable(one, "it is not retried on other nodes, a hook of a tool, or suspended")
        elif all(_makes_certificates(each) or does_little(workload, each) for each in unbound):
            yield NotApplicable(one, "it does little and ends")
        elif _default_limit(scene, one):
            yield NotApplicable(one, "a LimitRange sets a default limit")
        else:
            number = 6 if retries is None else retries
            yield Gap(
                one,
                f"Container `{unbound[0].name}` has no memory limit, and {counted(number, 'retry')} may "
                "each take another node",
                (*unbound[0].path, "resources"),
                evidence=(
                    "resources.limits.memory: absent",
                    f"backoffLimit: {number}{' (the default)' if retries is None else ''}",
                    "restartPolicy: Never",
                ),
                severity=None if any(on_much_data(workload, each) for each in unbound) else Severity.LOW,
                confidence=Confidence.HIGH if number > 1 else Confidence.MEDIUM,
            )


def _makes_certificates(container: Container) -> bool:
    """Whether it is one of the small helpers of webhooks and gateways, by its image or its arguments."""
    return _CERTIFICATES.search(" ".join((container.image, *container.words))) is not None


def _hooked(one: KubeObject) -> bool:
    return any(key.startswith(("helm.sh/hook", "argocd.argoproj.io/hook")) for key in one.annotations)


def _default_limit(scene: Scene, one: KubeObject) -> bool:
    return any(
        may_share_namespace(ranges, one) and dig(item, "default", "memory") is not None
        for ranges in scene.of("LimitRange")
        for item in as_list(ranges.spec.get("limits"))
    )


CHECKS = (
    cron_history_large,
    cron_no_deadline,
    cron_overlap_unbounded,
    cron_policy_misplaced,
    cron_starting_deadline_short,
    job_greedy_retry,
)
