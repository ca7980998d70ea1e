"""Placement: pods that meet on one node, and rules of placement that leave no node for the next pod."""
# ruff: noqa: D205, D212, D416 - the docstring of a check is its page, in fixed sections

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pilotage.checks import lone
from pilotage.checks.allowances import surge_and_unavailable
from pilotage.checks.index import selects
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
from pilotage.checks.nodes import Room
from pilotage.checks.placeholders import no_program, unrendered
from pilotage.checks.scene import Scene
from pilotage.checks.values import KeyPath, as_int, as_list, as_map, as_text, dig
from pilotage.checks.workloads import SCALED, Workload
from pilotage.core.counting import counted

MOONLIGHT = "moonlight-2019-01-22-all-pods-on-one-failing-node"
MYBINDER = "mybinder-2019-04-03-ingress-nodes-cordoned"
CLOUDFLARE = "cloudflare-2023-11-02-control-plane-datacenter-power"

_HOST = "kubernetes.io/hostname"
_ZONES = ("topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone")
_USUAL_ZONES = 3


def _own_terms(workload: Workload, strength: str) -> Iterator[tuple[KeyPath, Any]]:
    """Anti-affinity terms against the workload's own pods, with the way to each."""
    key = f"{strength}DuringSchedulingIgnoredDuringExecution"
    path = (*workload.pod_path, "affinity", "podAntiAffinity", key)
    for position, item in enumerate(as_list(workload.object.get(*path))):
        term = dig(item, "podAffinityTerm") if strength == "preferred" else item
        if selects(as_map(dig(term, "labelSelector")), workload.pod_labels):
            yield (*path, position), term


def _spread(workload: Workload) -> bool:
    """Whether anything keeps its pods apart."""
    terms = [*_own_terms(workload, "required"), *_own_terms(workload, "preferred")]
    return bool(terms) or bool(as_list(workload.pod.get("topologySpreadConstraints")))


@check(
    "one-node-pileup",
    title="All pods behind traffic may stand on one node",
    severity=Severity.MEDIUM,
    incidents=(MOONLIGHT,),
    about=SCALED,
    needs=("Service",),
    chart_severity=Severity.LOW,
)
def one_node_pileup(scene: Scene) -> Answers:
    """
    What it does
    Looks for workloads of two or more replicas behind traffic from outside whose pods no rule keeps apart
    (no anti-affinity against themselves, no topology spread, no port of the node, which two of them cannot
    share) and of whose containers none requests CPU. For consoles, at which people look, the severity is low.

    Why it matters
    The scheduler prefers to spread the pods of a Service a little, and weighs it against other wishes. A pod
    that asks for no CPU costs a node nothing in its eyes, so several heavy ones may land on one node; and
    after a drain that node has them all.

    Incidents
    At Moonlight several pods that used much CPU met on one node, the node's kernel went down with them, and
    the scheduler put them together again on the next.

    Fix
    Request the CPU that the pods use, and add a `topologySpreadConstraints` on `kubernetes.io/hostname`
    with `whenUnsatisfiable: ScheduleAnyway`.

    References
    - https://kubernetes.io/docs/concepts/scheduling-eviction/topology-spread-constraints/
    """
    for workload in scene.workloads:
        scale = scene.scale(workload)
        exposure = scene.exposed(workload, "edge")
        if workload.kind not in SCALED or scale is None or exposure is None:
            continue
        if scale.least < 2:  # noqa: PLR2004
            yield NotApplicable(workload.object, "it has one pod: see single-replica-edge")
        elif any(no_program(one.image) for one in workload.containers):
            yield NotApplicable(workload.object, "what it runs is still to be filled in, and what that needs")
        elif (
            _spread(workload)
            or any(one.request("cpu") is not None for one in workload.containers)
            or next(_host_ports(workload), None) is not None
        ):
            yield Pass(workload.object)
        else:
            yield Gap(
                workload.object,
                f"Its {scale.least} pods ask for no CPU, so that a node never looks full, and only the "
                "scheduler's soft wish to spread them keeps them apart",
                workload.pod_path,
                evidence=(
                    "podAntiAffinity, topologySpreadConstraints: absent",
                    "resources.requests.cpu: absent",
                    f"replicas: {scale.least}",
                ),
                severity=Severity.LOW if lone.is_console(workload) else None,
                related=(exposure.object,),
            )


@check(
    "anti-affinity-no-room",
    title="Pods that must be apart outnumber the places for them",
    severity=Severity.MEDIUM,
    breaks=True,
    incidents=(),
    alike=(MYBINDER,),
    about=("Deployment", "StatefulSet", "Rollout"),
    needs=("Node",),
)
def anti_affinity_no_room(scene: Scene) -> Answers:
    """
    What it does
    Takes required anti-affinity of pods against themselves. By node: where the scene holds its Nodes,
    compares the replicas (and the one more that a rolling update needs when none may go) with the nodes that
    take the pods. By zone: speaks up for more than three replicas, as most regions offer three zones.

    Why it matters
    The pod that finds no place stays pending. A rolling update that may take no pod away stops there; an
    autoscaler asks for pods in vain; after a cordon there is none to go to.

    Incidents
    At mybinder.org every node with an ingress controller was cordoned, and no request got through. There a
    procedure was at fault; pods that have nowhere to go are the same.

    Fix
    Use preferred anti-affinity, or a topology spread with `ScheduleAnyway`; or allow `maxUnavailable: 1` and
    keep more nodes than replicas.

    References
    -
      https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/#inter-pod-affinity-and-anti-affinity
    """
    room = Room(scene)
    for workload in scene.workloads:
        scale = scene.scale(workload)
        terms = list(_own_terms(workload, "required")) if scale is not None else []
        if scale is None or not terms or scale.least == 0:
            continue
        most = scale.most or scale.least
        gap = next((gap for path, term in terms if (gap := _crowded(room, workload, most, path, term))), None)
        yield gap if gap is not None else Pass(workload.object)


def _crowded(places: Room, workload: Workload, most: int, path: KeyPath, term: Any) -> Gap | None:
    key = as_text(dig(term, "topologyKey"))
    if key in _ZONES and most > _USUAL_ZONES:
        return Gap(
            workload.object,
            f"{most} replicas must each be in a zone of their own",
            (*path, "topologyKey"),
            evidence=(f"topologyKey: {key}", f"replicas: up to {most}"),
            confidence=Confidence.MEDIUM,
        )
    room = places.number(workload) if key == _HOST else None
    if room is None:
        return None
    moves = surge_and_unavailable(workload, most)
    extra = 1 if moves is not None and moves[1] == 0 else 0
    if most + extra <= room:
        return None
    surge = " and a rolling update needs one more" if extra and most <= room else ""
    return Gap(
        workload.object,
        f"{most} replicas must each be on a node of their own{surge}; {counted(room, 'node')} take them",
        (*path, "topologyKey"),
        evidence=(f"topologyKey: {key}", f"nodes that take the pods: {room}"),
        severity=Severity.HIGH if most > room else None,
    )


@check(
    "host-port-no-room",
    title="A rollout has no node for its new pod, since the port is taken on each",
    severity=Severity.MEDIUM,
    incidents=DOCUMENTATION_ONLY,
    about=("Deployment",),
    needs=("Node",),
)
def host_port_no_room(scene: Scene) -> Answers:
    """
    What it does
    Looks for Deployments that take a port of their node (`hostPort`, or declared ports with `hostNetwork`),
    and whose rolling update begins with a new pod (`maxUnavailable` comes out as zero, as the default 25%
    does for up to three replicas). Where the scene holds Nodes it counts those that take the pods; else the
    confidence is medium, and one pod is of low severity or left out where it has no traffic, since a second
    node is nearly always there.

    Why it matters
    Two pods with one port cannot share a node. With as many replicas as nodes, the new pod stays pending and
    no old one goes: neither the new version nor the fix for the old gets out.

    Incidents
    No public incident with this very cause is known to us; the behaviour is documented.

    Fix
    Set `maxSurge: 0` and `maxUnavailable: 1`, use a DaemonSet, or leave the port of the node out where nobody
    asks for it there.

    References
    - https://kubernetes.io/docs/concepts/configuration/overview/#services
    - https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#max-surge
    """
    places = Room(scene)
    for workload in scene.workloads:
        if workload.kind != "Deployment":
            continue
        scale = scene.scale(workload)
        port = next(_host_ports(workload), None)
        moves = surge_and_unavailable(workload, scale.least) if scale is not None else None
        if port is None or scale is None or scale.least == 0:
            continue
        room = places.number(workload)
        if moves is None or moves[1] > 0 or (room is not None and room > scale.least):
            yield Pass(workload.object)
            continue
        if room is None and scale.least == 1 and not scene.exposed(workload):
            yield NotApplicable(workload.object, "two nodes are enough, and which there are is not known")
            continue
        path, number = port
        known = f"; {counted(room, 'node')} take its pods" if room is not None else ""
        yield Gap(
            workload.object,
            f"Each pod takes port {number} of its node, and a rollout needs {scale.least + 1} nodes at a "
            f"time for {counted(scale.least, 'replica')}{known}",
            path,
            evidence=(
                f"port of the node: {number}",
                f"maxUnavailable comes out as 0 for {counted(scale.least, 'replica')}",
            ),
            severity=None if scene.exposed(workload) and (scale.least > 1 or room) else Severity.LOW,
            confidence=Confidence.HIGH if room is not None else Confidence.MEDIUM,
        )


def _host_ports(workload: Workload) -> Iterator[tuple[KeyPath, int]]:
    shared = workload.pod.get("hostNetwork") is True
    for container in workload.running:
        for position, port in enumerate(as_list(container.data.get("ports"))):
            key = "containerPort" if shared else "hostPort"
            number = as_int(dig(port, "hostPort")) or (as_int(dig(port, key)) if shared else None)
            if number:
                stated = "hostPort" if dig(port, "hostPort") else key
                yield (*container.path, "ports", position, stated), number


@check(
    "one-zone-pinned",
    title="All pods behind traffic are tied to one zone",
    severity=Severity.MEDIUM,
    incidents=(),
    alike=(CLOUDFLARE,),
    about=SCALED,
    needs=("Service",),
    uses=("Node",),
)
def one_zone_pinned(scene: Scene) -> Answers:
    """
    What it does
    Looks for workloads of two or more replicas behind traffic from outside whose `nodeSelector` or required
    node affinity names one single zone, where no other workload behind the same Service may run elsewhere.
    Where the scene holds Nodes of one zone only there is no choice, and nothing is said.

    Why it matters
    Replicas are there so that one may be lost. When all of them must run in one zone, the loss of that zone's
    power, network or capacity takes all; the scheduler may not place them elsewhere, however much room there
    is, until somebody edits the manifest.

    Incidents
    At Cloudflare a control plane was to bear the loss of a site, but services that it needed ran in that site
    alone. It lost its power, and dashboard, APIs and analytics were away until they could be rebuilt.

    Fix
    Name several zones, or none and a `topologySpreadConstraints` on `topology.kubernetes.io/zone`. Where a
    volume ties the pods to its zone, run a workload in each zone behind the one Service.

    References
    - https://kubernetes.io/docs/setup/best-practices/multiple-zones/
    - https://kubernetes.io/docs/concepts/scheduling-eviction/topology-spread-constraints/
    """
    zones = {as_text(node.labels.get(key)) for node in scene.of("Node") for key in _ZONES} - {""}
    for workload in scene.workloads:
        scale = scene.scale(workload)
        exposure = scene.exposed(workload, "edge")
        if workload.kind not in SCALED or scale is None or exposure is None:
            continue
        pinned = _pinned(workload)
        if scale.least < 2 or len(zones) == 1:  # noqa: PLR2004
            yield NotApplicable(workload.object, "it has one pod, or there is one zone only")
        elif pinned is None or _elsewhere_too(scene, workload, pinned[1]):
            yield Pass(workload.object)
        else:
            path, zone = pinned
            yield Gap(
                workload.object,
                f"All of its {scale.least} pods must run in zone `{zone}`",
                path,
                evidence=(f"zone: {zone}", f"replicas: {scale.least}"),
                related=(exposure.object,),
            )


def _pinned(workload: Workload) -> tuple[KeyPath, str] | None:
    """The one zone in which the pods of a workload must run, and where that is written."""
    for key in _ZONES:
        zone = as_map(workload.pod.get("nodeSelector")).get(key)
        if isinstance(zone, str) and not unrendered(zone):
            return (*workload.pod_path, "nodeSelector", key), zone
    strength = "requiredDuringSchedulingIgnoredDuringExecution"
    path = (*workload.pod_path, "affinity", "nodeAffinity", strength, "nodeSelectorTerms")
    terms = as_list(workload.object.get(*path))
    named = [_zones_of(term) for term in terms]
    # Terms are alternatives: one that names no zone leaves all of them open.
    if not named or not all(named) or len(together := set().union(*named)) != 1:
        return None
    return (*path, 0), together.pop()


def _zones_of(term: Any) -> set[str]:
    return {
        str(value)
        for item in as_list(dig(term, "matchExpressions"))
        if dig(item, "key") in _ZONES and dig(item, "operator") == "In"
        for value in as_list(dig(item, "values"))
        if not unrendered(str(value))
    }


def _elsewhere_too(scene: Scene, workload: Workload, zone: str) -> bool:
    """Whether other pods behind a Service of this workload may run in another zone."""
    others = [one for service in scene.services_of(workload) for one in scene.workloads_of(service)]
    return any((found := _pinned(one)) is None or found[1] != zone for one in others if one is not workload)


@check(
    "spread-selects-nothing",
    title="A topology spread does not count the pods that it is to spread",
    severity=Severity.MEDIUM,
    breaks=True,
    incidents=(),
    alike=(MOONLIGHT,),
    about=SCALED,
)
def spread_selects_nothing(scene: Scene) -> Answers:
    """
    What it does
    Looks for `topologySpreadConstraints` whose `labelSelector` is absent or does not match the labels of the
    pod that bears them, and that name no `matchLabelKeys`.

    Why it matters
    The constraint counts the pods that its selector matches; a selector that is absent matches none. It then
    spreads nothing, and looks as if it did: all pods may stand on the node that fails.

    Incidents
    At Moonlight no rule kept heavy pods apart; they met on one node, took it down, and met again.

    Fix
    Give the constraint the labels of the pod template: `labelSelector: {matchLabels: {…}}`.

    References
    -
      https://kubernetes.io/docs/concepts/scheduling-eviction/topology-spread-constraints/#spread-constraint-definition
    """
    for workload in scene.workloads:
        if workload.kind not in SCALED:
            continue
        constraints = as_list(workload.pod.get("topologySpreadConstraints"))
        for position, item in enumerate(constraints):
            selector = dig(item, "labelSelector")
            counted = isinstance(selector, dict) and selects(selector, workload.pod_labels)
            if counted or not isinstance(item, dict) or dig(item, "matchLabelKeys"):
                continue
            path = (*workload.pod_path, "topologySpreadConstraints", position)
            yield Gap(
                workload.object,
                f"The spread over `{dig(item, 'topologyKey')}` counts "
                + ("no pods, since it has no selector" if selector is None else "other pods than these"),
                path if selector is None else (*path, "labelSelector"),
                evidence=(f"labelSelector: {selector}", f"labels of its pods: {dict(workload.pod_labels)}"),
            )
            break
        else:
            if constraints:
                yield Pass(workload.object)


CHECKS = (
    anti_affinity_no_room,
    host_port_no_room,
    one_node_pileup,
    one_zone_pinned,
    spread_selects_nothing,
)
