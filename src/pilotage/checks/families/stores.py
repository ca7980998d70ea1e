"""Stores with members: quorums that a drain may break, names and volumes that go."""
# ruff: noqa: D205, D212, D416 - the docstring of a check is its page, in fixed sections

from __future__ import annotations

import re

from pilotage.checks import components
from pilotage.checks.absence import surely_absent
from pilotage.checks.index import selects
from pilotage.checks.model import (
    DOCUMENTATION_ONLY,
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
from pilotage.checks.objects import KubeObject
from pilotage.checks.placeholders import unrendered
from pilotage.checks.scene import Scene
from pilotage.checks.values import as_list, as_map, as_text, dig, percent_or_count
from pilotage.checks.workloads import Workload

WIKIMEDIA = "wikimedia-2017-08-31-zookeeper-quorum-lost-firewall-rule"
ELASTIC = "elastic-2019-02-04-zookeeper-patching-quorum-loss"
MONZO = "monzo-2017-10-27-partial-outage-linkerd-empty-endpoints"
TOOLFORGE = "wikimedia-2019-09-10-toolforge-api-server-etcd-ca-mismatch"

_LEAST_QUORUM = 3


def _members(scene: Scene) -> list[tuple[Workload, int]]:
    """StatefulSets of etcd, ZooKeeper or Consul servers with their number of members."""
    found = []
    for workload in scene.workloads:
        replicas = workload.replicas
        if workload.kind != "StatefulSet" or replicas is None:
            continue
        if _is_quorum(workload):
            found.append((workload, replicas))
    return found


def _is_quorum(workload: Workload) -> bool:
    return any("quorum-store" in components.container_roles(one) for one in workload.containers)


@check(
    "quorum-members-even",
    title="A quorum has an even number of members, so one of them protects nothing",
    severity=Severity.MEDIUM,
    incidents=(TOOLFORGE,),
    alike=(WIKIMEDIA,),
    about=("StatefulSet",),
)
def quorum_members_even(scene: Scene) -> Answers:
    """
    What it does
    Looks for StatefulSets of etcd, ZooKeeper or Consul servers (by image) with two, four or another even
    number of replicas.

    Why it matters
    Two members need both for a majority: either of them gone is an outage, and there are twice as many to
    go. Four stand the loss of one, as three do, with more that can fail.

    Incidents
    At Toolforge an etcd that was grown from one member to two, the second with a mistake, lost its majority
    and had to be recovered from a backup. A ZooKeeper of three at Wikimedia lost its own at the second; with
    two members the first would have been enough.

    Fix
    Run three or five members.

    References
    - https://etcd.io/docs/v3.5/faq/
    - https://zookeeper.apache.org/doc/current/zookeeperAdmin.html
    """
    for workload, replicas in _members(scene):
        if replicas % 2 or replicas == 0:
            yield Pass(workload.object)
            continue
        yield Gap(
            workload.object,
            f"{replicas} members stand the loss of {replicas // 2 - 1 or 'none'}, as {replicas - 1} would",
            ("spec", "replicas"),
            evidence=(f"spec.replicas: {replicas}", f"majority: {replicas // 2 + 1}"),
            patch=(Operation("replace", ("spec", "replicas"), replicas + 1),),
            severity=Severity.HIGH if replicas < _LEAST_QUORUM else None,
        )


@check(
    "quorum-disruption",
    title="A drain may take the majority of a quorum away",
    severity=Severity.HIGH,
    incidents=(),
    alike=(ELASTIC, WIKIMEDIA),
    about=("StatefulSet",),
    needs=("PodDisruptionBudget",),
    chart_severity=Severity.MEDIUM,
)
def quorum_disruption(scene: Scene) -> Answers:
    """
    What it does
    Looks for StatefulSets of etcd, ZooKeeper or Consul servers (by image) with three or more replicas whose
    PodDisruptionBudgets allow so many evictions at once that no majority is left, or that no budget covers
    (medium severity).

    Why it matters
    Node upgrades evict pods as fast as budgets let them. When a second member of three goes before the first
    has caught up, nothing can be read or written, and whoever keeps its routes or locks there stops.

    Incidents
    At Elastic Cloud the hosts of ZooKeeper were replaced one by one without sight of its health; the quorum
    was lost and proxies had no routes for hours. At Wikimedia the second restart of a rolling restart did it.

    Fix
    Set a PodDisruptionBudget with `maxUnavailable: 1`, and a readiness probe that fails until the member has
    joined.

    References
    - https://kubernetes.io/docs/tutorials/stateful-application/zookeeper/
    - https://kubernetes.io/docs/tasks/run-application/configure-pdb/
    """
    for workload, replicas in _members(scene):
        budgets = scene.budgets_of(workload)
        if replicas < _LEAST_QUORUM:
            yield NotApplicable(workload.object, "it has no majority to lose")
            continue
        spare = (replicas - 1) // 2
        allowed = [(budget, _allowed(budget, replicas)) for budget in budgets]
        if not budgets:
            yield Gap(
                workload.object,
                f"No PodDisruptionBudget keeps {replicas - spare} of its {replicas} members",
                ("spec",),
                evidence=(f"spec.replicas: {replicas}", "PodDisruptionBudget: none"),
                severity=Severity.MEDIUM,
                confidence=Confidence.HIGH if scene.live else Confidence.MEDIUM,
            )
        elif any(number is None or number <= spare for _, number in allowed):
            yield Pass(workload.object)
        else:
            budget, number = allowed[0]
            yield Gap(
                budget,
                f"It lets {number} of {replicas} members go at once; {replicas - spare} are a majority",
                ("spec", "maxUnavailable" if "maxUnavailable" in budget.spec else "minAvailable"),
                evidence=(f"spec: {_bounds(budget)}", f"{workload.object.key}: {replicas} replicas"),
                related=(workload.object,),
            )


def _bounds(budget: KubeObject) -> str:
    return ", ".join(
        f"{key}: {budget.spec.get(key)}" for key in ("maxUnavailable", "minAvailable") if key in budget.spec
    )


def _allowed(budget: KubeObject, replicas: int) -> int | None:
    most = budget.spec.get("maxUnavailable")
    if most is not None:
        return percent_or_count(most, replicas, round_up=True)
    least = percent_or_count(budget.spec.get("minAvailable"), replicas, round_up=True)
    return None if least is None else max(0, replicas - least)


@check(
    "statefulset-service-missing",
    title="Members of a StatefulSet have no names of their own",
    severity=Severity.MEDIUM,
    breaks=True,
    incidents=(),
    alike=(MONZO,),
    about=("StatefulSet",),
    needs=("Service",),
    uses=("ConfigMap",),
)
def statefulset_service_missing(scene: Scene) -> Answers:
    """
    What it does
    Looks for StatefulSets of two or more replicas whose `serviceName` names a Service that is not there, is
    not headless, or does not select the pods. In files it says "not there" only when they hold other
    Services of that namespace. Where nothing near it has the name of a member, a Service that is absent or
    not headless is passed over.

    Why it matters
    `db-0.db` resolves only through a headless Service of that name. Without it the members cannot find each
    other after a restart; as long as none restarts, open connections hide it.

    Incidents
    At Monzo a proxy broke on a Service without endpoints when it was started again, after days in which
    nothing showed. There the pods had been scaled away.

    Fix
    Add a Service with `clusterIP: None`, that name and the pods' labels; `serviceName` cannot be changed
    later.

    References
    - https://kubernetes.io/docs/concepts/workloads/controllers/statefulset/#stable-network-id
    """
    for workload in scene.workloads:
        one, name = workload.object, as_text(workload.object.spec.get("serviceName"))
        if workload.kind != "StatefulSet" or one.controller() is not None:
            continue
        if (workload.replicas or 0) < 2 or not name or unrendered(name):  # noqa: PLR2004
            yield NotApplicable(one, "one member, or no Service is named")
        else:
            yield _named_members(scene, workload, name)


def _named_members(scene: Scene, workload: Workload, name: str) -> Answer:
    one, path = workload.object, ("spec", "serviceName")
    service = scene.find("Service", name, one)
    if service is None and not surely_absent(scene, "Service", name, one):
        return Unknown(f"Service `{name}` may be kept elsewhere", one, path)
    headless = service is not None and as_text(service.spec.get("clusterIP")) == "None"
    if not headless and not _asked_by_name(scene, workload, name):
        return NotApplicable(one, "nobody here asks for its members by name")
    unresolved = f"`{one.name}-0.{name}` does not resolve"
    if service is None:
        return Gap(
            one,
            f"There is no Service `{name}`: {unresolved}",
            path,
            evidence=(f"spec.serviceName: {name}",),
            confidence=Confidence.HIGH if scene.live else Confidence.MEDIUM,
        )
    if not headless:
        return Gap(
            one,
            f"Service `{name}` is not headless: {unresolved}",
            path,
            evidence=(f"{service.key}: clusterIP: {service.spec.get('clusterIP') or 'absent'}",),
            severity=Severity.LOW,
            related=(service,),
        )
    # Not by what is behind the Service: of variants in several folders it takes the nearest only.
    selector = as_map(service.spec.get("selector"))
    if selector and not selects({"matchLabels": selector}, workload.pod_labels):
        return Gap(
            one,
            f"Service `{name}` does not select its pods: {unresolved}",
            path,
            evidence=(f"{service.key}: selector: {service.spec.get('selector')}",),
            related=(service,),
        )
    return Pass(one)


def _asked_by_name(scene: Scene, workload: Workload, service: str) -> bool:
    """Whether a variable, an argument or a ConfigMap near it has, or puts together, the name of a member."""
    named = re.compile(
        rf"(?<![\w-]){re.escape(workload.object.name)}-[\d$({{]|[\w)}}]\.{re.escape(service)}(?![\w-])"
    )
    if workload.pod.get("subdomain") == service or (_is_quorum(workload) and not _finds_members(workload)):
        return True
    for container in (*workload.init_containers, *workload.containers):
        words = [*container.words, *(str(dig(item, "value")) for item in as_list(container.data.get("env")))]
        if any(named.search(word) for word in words):
            return True
    return any(
        named.search(as_text(value))
        for one in scene.beside(workload.object, "ConfigMap")
        for value in as_map(one.data.get("data")).values()
    )


def _finds_members(workload: Workload) -> bool:
    """Whether the members are told of each other by something else than their names, as Consul's can be."""
    return any(
        "retry-join" in word or "provider=k8s" in word for one in workload.containers for word in one.words
    )


@check(
    "scale-down-deletes-data",
    title="A smaller number of replicas deletes the volumes of the members that go",
    severity=Severity.MEDIUM,
    incidents=DOCUMENTATION_ONLY,
    about=("StatefulSet",),
    chart_severity=Severity.LOW,
)
def scale_down_deletes_data(scene: Scene) -> Answers:
    """
    What it does
    Looks for StatefulSets with volume claims and `persistentVolumeClaimRetentionPolicy.whenScaled: Delete`.
    With an autoscaler the severity is high, since no person decides then.

    Why it matters
    A mistaken number, an autoscaler or a manifest that was applied with an old value deletes the data of the
    members that are taken away, and raising the number again brings empty volumes.

    Incidents
    No public incident with this very cause is known to us; the behaviour is documented.

    Fix
    Use `whenScaled: Retain` and delete claims by hand or by a job that looks whether the data has moved.

    References
    -
      https://kubernetes.io/docs/concepts/workloads/controllers/statefulset/#persistentvolumeclaim-retention
    """
    for workload in scene.workloads:
        one = workload.object
        if workload.kind != "StatefulSet" or not one.spec.get("volumeClaimTemplates"):
            continue
        path = ("spec", "persistentVolumeClaimRetentionPolicy", "whenScaled")
        scalers = scene.autoscalers_of(workload)
        if one.get(*path) != "Delete":
            yield Pass(one)
            continue
        yield Gap(
            one,
            "Scaling down deletes the volumes of the members that go"
            + (f", and {scalers[0].key} scales it without anybody's doing" if scalers else ""),
            path,
            evidence=("persistentVolumeClaimRetentionPolicy.whenScaled: Delete",),
            patch=(Operation("replace", path, "Retain"),),
            severity=Severity.HIGH if scalers else None,
            related=tuple(scalers),
        )


CHECKS = (quorum_disruption, quorum_members_even, scale_down_deletes_data, statefulset_service_missing)
