"""Admission webhooks: what they can stop when they do not answer."""
# ruff: noqa: D205, D212, D416 - the docstring of a check is its page, in fixed sections

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pilotage.checks.index import selects
from pilotage.checks.model import (
    Answer,
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
from pilotage.checks.scene import Scene
from pilotage.checks.values import KeyPath, as_list, as_map, as_text, dig
from pilotage.checks.webhooks import KINDS, NAMESPACE_NAME, Webhook, opts_in

JETSTACK = "jetstack-2019-09-05-opa-webhook-gke-master-upgrade"
KYVERNO = "dfds-2022-08-03-kyverno-webhook-fail-closed"
ALCIDE = "dfds-2020-11-04-alcide-admission-webhook-timeouts"

SYSTEM = "kube-system"
_VITAL = (
    ("", "pods"),
    ("", "nodes"),
    ("", "endpoints"),
    ("discovery.k8s.io", "endpointslices"),
)
"""What a cluster cannot live without for an hour."""
_HOT = (
    *_VITAL,
    ("coordination.k8s.io", "leases"),
    ("", "events"),
    ("", "configmaps"),
    ("apps", "replicasets"),
    ("apps", "deployments"),
    ("batch", "jobs"),
)
"""What is created or changed all the time."""
_LONGEST_SECONDS = 10


_QUICKER = "Set `timeoutSeconds` to 5 or less."
_PASSED_BY = "It fails open: whatever it does not answer in that time goes on without what it adds."


def _adds(hook: Webhook) -> bool:
    """Whether it brings something into the objects about which it is asked."""
    return hook.object.kind == "MutatingWebhookConfiguration"


def _rule(hook: Webhook, resources: tuple[tuple[str, str], ...]) -> tuple[KeyPath, str] | None:
    """The first rule that covers one of the resources, and which."""
    for group, resource in resources:
        path = hook.rule_for(group, resource)
        if path is not None:
            return path, resource
    return None


def _wildcard(hook: Webhook, path: KeyPath) -> bool:
    rule = as_map(hook.object.get(*path))
    everything = {"*", "*/*"} & {as_text(one) for one in as_list(rule.get("resources"))}
    return bool(everything) and bool({"*", ""} & {as_text(one) for one in as_list(rule.get("apiGroups"))})


def _covers_namespace(scene: Scene, hook: Webhook, namespace: str) -> Confidence | None:
    """Whether it is asked about a namespace, and how surely; None where it is not.

    The labels of a namespace that is not in the scene are not known, but for its name.
    """
    known = scene.namespace_labels(namespace)
    labels: Mapping[str, Any] = known if known is not None else {NAMESPACE_NAME: namespace}
    if not selects(hook.namespace_selector, labels):
        return None
    others = {as_text(dig(item, "key")) for item in as_list(hook.namespace_selector.get("matchExpressions"))}
    return Confidence.MEDIUM if known is None and others - {NAMESPACE_NAME, ""} else Confidence.HIGH


def _evidence(hook: Webhook, path: KeyPath) -> tuple[str, ...]:
    rule = as_map(hook.object.get(*path))
    groups = ", ".join(repr(one) for one in as_list(rule.get("apiGroups")))
    resources = ", ".join(str(one) for one in as_list(rule.get("resources")))
    stated = "" if "failurePolicy" in hook.data else " (the default)"
    return (
        f"failurePolicy: {'Fail' if hook.fails_closed else 'Ignore'}{stated}",
        f"rules: apiGroups [{groups}], resources [{resources}]",
        f"namespaceSelector: {hook.data.get('namespaceSelector') or 'absent'}",
    )


@check(
    "webhook-fail-catch-all",
    title="A webhook that fails closed covers what the cluster itself needs",
    severity=Severity.CRITICAL,
    incidents=(JETSTACK,),
    alike=(KYVERNO,),
    about=KINDS,
)
def webhook_fail_catch_all(scene: Scene) -> Answers:
    """
    What it does
    Looks for webhooks with `failurePolicy: Fail` (the default in `v1`) whose rules cover pods, nodes,
    leases or endpoints, by name or by a wildcard, and whose `namespaceSelector` leaves `kube-system` in.
    Rules by wildcard are critical, named resources are high. A webhook that takes only objects with a label
    of its own is left alone.

    Why it matters
    When its backend does not answer, nothing that it covers can be created or changed. In `kube-system`
    that means DNS, the network plug-in and the control plane's own writes. The backend's pods may be among
    what cannot start.

    Incidents
    At Jetstack a catch-all webhook without an answer kept the control plane from writing a ConfigMap of
    kube-system. An upgrade hung, the API came and went, and GKE recreated the nodes in a loop.

    Fix
    Leave `kube-system` (and the webhook's own namespace) out with a `namespaceSelector` on
    `kubernetes.io/metadata.name`, name only the resources that it must see, and use `failurePolicy: Ignore`
    where a missed check can be made up for.

    References
    - https://kubernetes.io/docs/concepts/cluster-administration/admission-webhooks-good-practice/
    - https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#failure-policy
    """
    for hook in scene.webhooks:
        yield _catch_all(scene, hook)


def _catch_all(scene: Scene, hook: Webhook) -> Answer:
    one = hook.object
    rule = _rule(hook, _VITAL)
    if not hook.fails_closed or rule is None:
        return Pass(one)
    if opts_in(hook.object_selector):
        return NotApplicable(one, f"{hook.name} takes only objects that bear a label")
    sure = _covers_namespace(scene, hook, SYSTEM)
    if sure is None:
        return Pass(one)
    if hook.data.get("matchConditions"):
        return Unknown(
            f"{hook.name}: its matchConditions are not evaluated", one, (*hook.path, "matchConditions")
        )
    path, resource = rule
    wide = _wildcard(hook, path)
    what = "everything" if wide else resource
    if hook.object_selector:
        sure = Confidence.MEDIUM
    return Gap(
        one,
        f"`{hook.name}` fails closed and covers {what} in every namespace that its selector leaves in, "
        f"`{SYSTEM}` among them",
        path,
        evidence=_evidence(hook, path),
        fix=f"Exempt `{SYSTEM}` by a `namespaceSelector` (`{NAMESPACE_NAME}` `NotIn` [{SYSTEM}, …]), narrow "
        "the rules, or fail open.",
        patch=() if hook.namespace_selector else (_exempt(hook),),
        severity=Severity.CRITICAL if wide else Severity.HIGH,
        confidence=sure,
    )


def _exempt(hook: Webhook) -> Operation:
    own = hook.service[0] if hook.service is not None else ""
    values = [SYSTEM, *([own] if own and own != SYSTEM else [])]
    expression = {"key": NAMESPACE_NAME, "operator": "NotIn", "values": values}
    return Operation("add", (*hook.path, "namespaceSelector"), {"matchExpressions": [expression]})


@check(
    "webhook-self-deadlock",
    title="A webhook that fails closed covers the pods of its own backend",
    severity=Severity.HIGH,
    incidents=(),
    alike=(JETSTACK, KYVERNO),
    about=KINDS,
)
def webhook_self_deadlock(scene: Scene) -> Answers:
    """
    What it does
    Looks for webhooks with `failurePolicy: Fail` that are asked about pods in the namespace of their own
    Service. The labels of the namespace and of the backend's pods are taken from the scene where it holds
    them.

    Why it matters
    When all its pods are gone, no new one can be created, because creating it asks the webhook. Nothing but
    deleting the configuration by hand ends this.

    Incidents
    Both incidents show a webhook whose backend did not answer and that refused all it covered: deleting the
    configuration ended one, repairing the crash-looping backend the other.

    Fix
    Leave the backend's own namespace out with a `namespaceSelector` on `kubernetes.io/metadata.name`, or
    its pods with an `objectSelector`.

    References
    -
      https://kubernetes.io/docs/concepts/cluster-administration/admission-webhooks-good-practice/#self-dependencies
    """
    for hook in scene.webhooks:
        yield _deadlock(scene, hook)


def _deadlock(scene: Scene, hook: Webhook) -> Answer:
    one = hook.object
    path = hook.rule_for("", "pods")
    if not hook.fails_closed or path is None:
        return Pass(one)
    if hook.service is None:
        return NotApplicable(one, f"{hook.name} answers at an address outside of the cluster")
    namespace = hook.service[0]
    if not namespace:
        return Unknown(f"{hook.name}: the namespace of its Service is not stated", one, hook.path)
    sure = _covers_namespace(scene, hook, namespace)
    if sure is None or not _covers_backend(scene, hook):
        return Pass(one)
    if hook.data.get("matchConditions"):
        return Unknown(
            f"{hook.name}: its matchConditions are not evaluated", one, (*hook.path, "matchConditions")
        )
    return Gap(
        one,
        f"`{hook.name}` fails closed on pods in `{namespace}`, where its own backend runs: once that is "
        "down, it keeps itself from starting",
        path,
        evidence=(*_evidence(hook, path), f"clientConfig.service: {namespace}/{hook.service[1]}"),
        fix=f"Exempt `{namespace}` by a `namespaceSelector` (`{NAMESPACE_NAME}` `NotIn` [{namespace}]).",
        patch=() if hook.namespace_selector else (_exempt(hook),),
        confidence=sure,
    )


def _covers_backend(scene: Scene, hook: Webhook) -> bool:
    if not hook.object_selector:
        return True
    service = scene.webhook_service(hook)
    workloads = scene.workloads_of(service) if service is not None else []
    if not workloads:
        return not opts_in(hook.object_selector)
    return any(selects(hook.object_selector, workload.pod_labels) for workload in workloads)


@check(
    "webhook-timeout",
    title="A webhook may hold up frequent requests for a long time",
    severity=Severity.MEDIUM,
    incidents=(ALCIDE,),
    alike=(JETSTACK,),
    about=KINDS,
)
def webhook_timeout(scene: Scene) -> Answers:
    """
    What it does
    Looks for webhooks that are asked about frequent objects (pods, nodes, leases, endpoints, events,
    ConfigMaps, Deployments, ReplicaSets, Jobs) and may take more than 10 seconds (`timeoutSeconds`; in
    `v1beta1` the default is 30).

    Why it matters
    While a backend hangs, each such request waits that long, also where the webhook fails open. Requests
    pile up in the API server, clients give up first and try again, and leases are not renewed in time.

    Incidents
    At DFDS an admission controller that covered most workload objects made deployments run into timeouts
    for two and a half hours; that it answered too slowly is the team's suspicion. At Jetstack the control
    plane's own write ran into the timeout and the upgrade hung.

    Fix
    Set `timeoutSeconds` to a few seconds, more than the webhook needs at its slowest.

    References
    - https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#timeouts
    -
      https://kubernetes.io/docs/concepts/cluster-administration/admission-webhooks-good-practice/#small-timeout
    """
    for hook in scene.webhooks:
        rule = _rule(hook, _HOT)
        if rule is None:
            yield NotApplicable(hook.object, f"{hook.name} is not asked about frequent objects")
        elif hook.timeout_seconds <= _LONGEST_SECONDS:
            yield Pass(hook.object)
        else:
            stated = "timeoutSeconds" in hook.data
            yield Gap(
                hook.object,
                f"`{hook.name}` is asked about {rule[1]} and may take {hook.timeout_seconds} s for each",
                (*hook.path, "timeoutSeconds") if stated else hook.path,
                evidence=(
                    f"timeoutSeconds: {hook.timeout_seconds}{'' if stated else ' (the default of v1beta1)'}",
                    *_evidence(hook, rule[0])[1:2],
                ),
                fix=_QUICKER if hook.fails_closed or not _adds(hook) else f"{_QUICKER} {_PASSED_BY}",
                patch=(Operation("replace" if stated else "add", (*hook.path, "timeoutSeconds"), 5),),
            )


@check(
    "webhook-on-leases",
    title="A webhook is asked about leases, so leader election waits for it",
    severity=Severity.HIGH,
    incidents=(),
    alike=(JETSTACK,),
    about=KINDS,
)
def webhook_on_leases(scene: Scene) -> Answers:
    """
    What it does
    Looks for webhooks that are asked about leases in `kube-system`, whatever their `failurePolicy`. One
    that fails closed is of high severity, one that fails open of medium. A catch-all that fails closed is
    told by `webhook-fail-catch-all` instead.

    Why it matters
    Controller manager, scheduler and most operators renew a lease every few seconds and stop when they
    cannot within some ten seconds. Each renewal waits for the webhook, so a backend that hangs stops them
    all. Node heartbeats are leases, too.

    Incidents
    At Jetstack a webhook over everything stood between the control plane and its own writes: health checks
    failed and the master crash-looped.

    Fix
    Name the resources that the webhook must see; leave `coordination.k8s.io` out, or `kube-system` and
    `kube-node-lease`.

    References
    - https://kubernetes.io/docs/concepts/architecture/leases/
    - https://kubernetes.io/docs/concepts/cluster-administration/admission-webhooks-good-practice/
    """
    for hook in scene.webhooks:
        yield _on_leases(scene, hook)


def _on_leases(scene: Scene, hook: Webhook) -> Answer:
    path = hook.rule_for("coordination.k8s.io", "leases")
    if path is None:
        return Pass(hook.object)
    sure = _covers_namespace(scene, hook, SYSTEM)
    if sure is None or opts_in(hook.object_selector) or hook.data.get("matchConditions"):
        return NotApplicable(hook.object, f"{hook.name} is narrowed by a selector or a condition")
    told = _catch_all(scene, hook)
    if isinstance(told, Gap) and told.path == path:
        return NotApplicable(hook.object, "see webhook-fail-catch-all")
    return Gap(
        hook.object,
        f"`{hook.name}` is asked about leases in `{SYSTEM}`: leader election waits up to "
        f"{hook.timeout_seconds} s for it",
        path,
        evidence=(*_evidence(hook, path), f"timeoutSeconds: {hook.timeout_seconds}"),
        severity=None if hook.fails_closed else Severity.MEDIUM,
        confidence=sure,
    )


CHECKS = (
    webhook_fail_catch_all,
    webhook_on_leases,
    webhook_self_deadlock,
    webhook_timeout,
)
