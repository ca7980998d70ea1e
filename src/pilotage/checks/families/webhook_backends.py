"""Who answers for admission webhooks: the Service and the pods behind them."""
# ruff: noqa: D205, D212, D416 - the docstring of a check is its page, in fixed sections

from __future__ import annotations

from pilotage.checks import lone
from pilotage.checks.absence import surely_absent
from pilotage.checks.model import (
    Answer,
    Answers,
    Confidence,
    Gap,
    NotApplicable,
    Pass,
    Severity,
    Unknown,
    check,
)
from pilotage.checks.objects import KubeObject
from pilotage.checks.scene import Scene
from pilotage.checks.values import as_map
from pilotage.checks.webhooks import KINDS, Webhook
from pilotage.checks.workloads import Workload

JETSTACK = "jetstack-2019-09-05-opa-webhook-gke-master-upgrade"
KYVERNO = "dfds-2022-08-03-kyverno-webhook-fail-closed"


@check(
    "webhook-single",
    title="A webhook that fails closed is answered by a single pod",
    severity=Severity.HIGH,
    incidents=(),
    alike=(KYVERNO, JETSTACK),
    about=KINDS,
    needs=("Service", "Deployment"),
    chart_severity=Severity.LOW,
    uses=lone.USES,
)
def webhook_single(scene: Scene) -> Answers:
    """
    What it does
    Follows each webhook with `failurePolicy: Fail` to its Service and on to the workload, and looks for
    fewer than two replicas. Where the webhook covers pods that nobody chose, it is of high severity, else of
    medium; where it is only asked about kinds that are not Kubernetes' own, such as those of its operator, of
    low. A controller that elects no leader (by what its account may write, by its arguments, or since it is
    replaced with `Recreate`) is meant to run once, which is one step less.

    Why it matters
    Every restart, every eviction and every lost node is a time in which the objects that it covers cannot
    be created or changed. Where these include pods, the one that is missing may be held up by its own
    absence.

    Incidents
    At DFDS the one policy engine behind a fail-closed webhook crash-looped, and no Service could be created
    or changed for two hours. At Jetstack nobody answered for the webhook, and the control plane stopped.

    Fix
    Run at least two replicas on different nodes, with a PodDisruptionBudget. Two of a controller that elects
    no leader would compete: there narrow the rules, let the webhook fail open where it may, and keep the way
    back short.

    References
    -
      https://kubernetes.io/docs/concepts/cluster-administration/admission-webhooks-good-practice/#ha-deployment
    """
    alone: dict[int, tuple[Workload, int, list[Webhook]]] = {}
    for hook in scene.webhooks:
        if not hook.fails_closed:
            yield Pass(hook.object)
            continue
        service = scene.webhook_service(hook)
        workloads = scene.workloads_of(service) if service is not None else []
        scales = [(workload, scale) for workload in workloads if (scale := scene.scale(workload)) is not None]
        if not workloads:
            yield NotApplicable(hook.object, f"{hook.name}: its backend is not in the scene")
        elif len(workloads) > len(scales) or sum(scale.least for _, scale in scales) > 1:
            yield Pass(hook.object)
        else:
            workload = scales[0][0]
            alone.setdefault(id(workload), (workload, scales[0][1].least, []))[2].append(hook)
    for workload, least, hooks in alone.values():
        # Those that cover pods are told first: their absence is the worst.
        yield _single_gap(scene, sorted(hooks, key=lambda one: not _stops_pods(one)), workload, least)


def _stops_pods(hook: Webhook) -> bool:
    return hook.rule_for("", "pods") is not None and not hook.opts_in


def _single_gap(scene: Scene, hooks: list[Webhook], workload: Workload, least: int) -> Gap:
    pods = _stops_pods(hooks[0])
    more = f" and {len(hooks) - 1} more, which fail closed" if len(hooks) > 1 else ", which fails closed"
    alone = lone.only_one_works(scene, workload)
    own = all(hook.about_own_kinds for hook in hooks)
    return Gap(
        workload.object,
        f"{'No pod answers' if least == 0 else 'One pod answers'} for `{hooks[0].name}`{more}: "
        f"without it {'no pod' if pods else 'nothing that it covers'} can be created or changed",
        ("spec", "replicas"),
        evidence=(
            f"spec.replicas: {workload.object.spec.get('replicas', 'absent, which means 1')}",
            *((alone,) if alone else ()),
            *(f"{hook.object.key}: {hook.name} has failurePolicy Fail" for hook in hooks),
        ),
        fix=lone.fix_of_one(scene, workload, _OPEN_OWN if own else _OPEN),
        severity=Severity.LOW if own else _severity(pods=pods, alone=bool(alone)),
        related=tuple({id(hook.object): hook.object for hook in hooks}.values()),
    )


def _severity(*, pods: bool, alone: bool) -> Severity:
    if pods:
        return Severity.MEDIUM if alone else Severity.HIGH
    return Severity.LOW if alone else Severity.MEDIUM


_OPEN = (
    "Narrow the rules to what has to be asked, and set `failurePolicy: Ignore` where a wrong object does "
    "less harm than none."
)
_OPEN_OWN = (
    "Set `failurePolicy: Ignore` where a wrong object does less harm than none, or have a second Deployment "
    "answer the webhook alone, where the program can do that."
)
"""Where it is asked about kinds of its own, there is nothing to narrow."""


@check(
    "webhook-backend-gone",
    title="A webhook has no backend to answer it",
    severity=Severity.CRITICAL,
    breaks=True,
    incidents=(),
    alike=(KYVERNO, JETSTACK),
    about=KINDS,
    needs=("Service",),
)
def webhook_backend_gone(scene: Scene) -> Answers:
    """
    What it does
    Looks for webhooks whose Service does not exist or selects no workload. In files it speaks up only when
    they hold other Services, and pods, of that namespace: the Service may simply be kept elsewhere. One that
    fails open is of low severity.

    Why it matters
    Every call fails. With `failurePolicy: Fail` nothing that the webhook covers can be created or changed
    until somebody deletes the configuration; typically it is what a removed operator has left behind.

    Incidents
    Both incidents show what it is like when nobody answers for a webhook that fails closed.

    Fix
    Delete the webhook configuration, or bring its Service back; let the tool that installs the backend own
    both.

    References
    -
      https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#service-reference
    """
    for hook in scene.webhooks:
        yield _backend(scene, hook)


def _backend(scene: Scene, hook: Webhook) -> Answer:
    one, path = hook.object, (*hook.path, "clientConfig", "service")
    if hook.service is None:
        return NotApplicable(one, f"{hook.name} answers at an address outside of the cluster")
    namespace, name = hook.service
    where = f"`{namespace}/{name}`" if namespace else f"`{name}`"
    service = scene.webhook_service(hook)
    severity = Severity.CRITICAL if hook.fails_closed else Severity.LOW
    evidence = (
        f"clientConfig.service: {where.strip('`')}",
        f"failurePolicy: {'Fail' if hook.fails_closed else 'Ignore'}",
    )
    if service is None:
        if not surely_absent(scene, "Service", name, one, namespace):
            return Unknown(f"{hook.name}: Service {where} is not among the files", one, path)
        message = f"`{hook.name}` calls Service {where}, which does not exist"
        return Gap(
            one,
            message,
            path,
            evidence=evidence,
            severity=severity,
            confidence=Confidence.HIGH if scene.live else Confidence.MEDIUM,
        )
    if not service.spec.get("selector") or scene.workloads_of(service):
        return Pass(one)
    pods_here = any(other.object.namespace == service.namespace for other in scene.workloads)
    if not scene.live and (not pods_here or _completed_later(scene, service)):
        return Unknown(f"{hook.name}: the workload behind {where} is not whole among the files", one, path)
    return Gap(
        one,
        f"`{hook.name}` calls Service {where}, which selects no pod",
        path,
        evidence=(*evidence, f"{service.key}: selector {dict(as_map(service.spec.get('selector')))}"),
        severity=severity,
        confidence=Confidence.HIGH if scene.live else Confidence.MEDIUM,
        related=(service,),
    )


def _completed_later(scene: Scene, service: KubeObject) -> bool:
    """Whether a workload that names no image yet bears the labels: a program or a patch completes it."""
    selector = as_map(service.spec.get("selector"))
    return any(
        one.namespace == service.namespace
        and selector.items() <= as_map(one.get("spec", "template", "metadata", "labels")).items()
        for one in scene.of("Deployment", "StatefulSet", "DaemonSet")
    )


CHECKS = (webhook_backend_gone, webhook_single)
