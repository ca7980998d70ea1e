"""Balancers of clouds: how they let pods go, which nodes serve, what they make public."""
# ruff: noqa: D205, D212, D416 - the docstring of a check is its page, in fixed sections

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pilotage.checks import components
from pilotage.checks.balancers import open_to_everybody
from pilotage.checks.classes import class_of
from pilotage.checks.components import bare_image
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
from pilotage.checks.values import KeyPath, as_int, as_list, as_map, as_text, dig
from pilotage.checks.workloads import Workload
from pilotage.core.regex import regex

RAVELIN = "ravelin-2019-sigterm-endpoint-race-502"
DETACHED = "dfds-2021-06-22-vpc-cni-replacement-detached-target-groups"
CORDONED = "mybinder-2019-04-03-ingress-nodes-cordoned"
CRYPTOMINER = "jw-player-2019-03-19-cryptominer-public-weave-scope-lb"
DETACHED_AGAIN = "dfds-2021-06-30-alb-targets-detached-again-on-upgrade"

_ALB = "alb.ingress.kubernetes.io/"
_AWS = "service.beta.kubernetes.io/aws-load-balancer-"
_GATE_LABEL = "elbv2.k8s.aws/pod-readiness-gate-inject"
_LEAST_DRAIN_SECONDS = 10


def _ip_targets(scene: Scene) -> Iterator[tuple[KubeObject, KubeObject, Workload]]:
    """What makes an AWS balancer send to pods by their addresses, its Service and the workload behind."""
    for backend in scene.backends:
        route = backend.route
        if route.kind != "Ingress" or class_of(route) != "alb":
            continue
        service = scene.service_of(backend)
        if service is not None and _by_ip(route, service):
            for workload in scene.workloads_of(service):
                yield route, service, workload
    for service in scene.of("Service"):
        if service.annotations.get(_AWS + "nlb-target-type") == "ip":
            for workload in scene.workloads_of(service):
                yield service, service, workload


def _by_ip(route: KubeObject, service: KubeObject) -> bool:
    key = _ALB + "target-type"
    return (service.annotations.get(key) or route.annotations.get(key)) == "ip"


@check(
    "alb-no-readiness-gate",
    title="A rollout goes on before the AWS balancer sends to the new pods",
    severity=Severity.MEDIUM,
    incidents=(),
    alike=(RAVELIN,),
    about=("Ingress", "Service"),
    needs=("Namespace",),
)
def alb_no_readiness_gate(scene: Scene) -> Answers:
    """
    What it does
    Finds workloads to which an AWS balancer sends by pod address (`target-type: ip`), and looks for the label
    `elbv2.k8s.aws/pod-readiness-gate-inject: enabled` on their namespace, or a gate of the balancer in the
    pod template. Where the Namespace is not among the files, the answer is unknown.

    Why it matters
    Kubernetes takes a new pod for ready when its own probe passes. The balancer needs some ten seconds more
    to register and check it. A rollout meanwhile removes the old pods, and the balancer has targets that are
    draining and targets that are not yet in use: 502 and 503.

    Incidents
    Ravelin's 502 came from the same gap between what Kubernetes knows of a pod and what the balancer knows.

    Fix
    Label the namespace with `elbv2.k8s.aws/pod-readiness-gate-inject: enabled`; pods get the gate when they
    are made anew.

    References
    - https://kubernetes-sigs.github.io/aws-load-balancer-controller/latest/deploy/pod_readiness_gate/
    - https://github.com/kubernetes-sigs/aws-load-balancer-controller/issues/1124
    """
    seen: set[int] = set()
    for front, _, workload in _ip_targets(scene):
        if id(workload.object) in seen or workload.kind not in {"Deployment", "StatefulSet", "Rollout"}:
            continue
        seen.add(id(workload.object))
        labels = scene.namespace_labels(workload.object.namespace)
        gates = [as_text(dig(gate, "conditionType")) for gate in as_list(workload.pod.get("readinessGates"))]
        if any(gate.startswith(("target-health.", "target-health")) for gate in gates):
            yield Pass(workload.object)
        elif labels is None:
            yield Unknown("its Namespace is not among the files", workload.object)
        elif labels.get(_GATE_LABEL) == "enabled":
            yield Pass(workload.object)
        elif scene.index.is_variant(front):
            yield Unknown(f"several files hold {front.key}, of which one is applied", workload.object)
        else:
            yield Gap(
                workload.object,
                f"{front.key} sends to its pods by address, and a rollout does not wait for the balancer",
                workload.pod_path,
                evidence=(
                    f"namespace {workload.object.namespace}: {_GATE_LABEL} absent",
                    f"{front.key}: target-type ip",
                ),
                related=(front,),
            )


_DELAY = regex(r"deregistration_delay\.timeout_seconds\s*=\s*(\d{1,6})")


@check(
    "alb-drain-short",
    title="An AWS balancer cuts off requests that are in hand when a target goes",
    severity=Severity.MEDIUM,
    incidents=(DETACHED, DETACHED_AGAIN),
    about=("Ingress", "Service"),
)
def alb_drain_short(scene: Scene) -> Answers:
    """
    What it does
    Reads `deregistration_delay.timeout_seconds` from `target-group-attributes` of Ingresses of class `alb`
    and of Services (300 where nothing is written), and looks for less than 10 s.

    Why it matters
    When a target is taken out, the balancer lets its requests end for that time and then closes them. With a
    few seconds every rollout, and every detachment by mistake, is an outage at once instead of one that
    somebody can still undo.

    Incidents
    At DFDS the delay had been lowered for good so that node roll-overs went faster. When a change detached
    the target groups, nothing drained, and all services answered 503; going back to 300 s was the first
    follow-up. It was not yet in the release that detached them again eight days later.

    Fix
    Set the delay to the longest request, 30 s or more for most, and `terminationGracePeriodSeconds` of the
    pods to more than that.

    References
    - https://kubernetes-sigs.github.io/aws-load-balancer-controller/latest/guide/ingress/annotations/#target-group-attributes
    - https://docs.aws.amazon.com/elasticloadbalancing/latest/application/edit-target-group-attributes.html#deregistration-delay
    """
    for one in scene.of("Ingress", "Service"):
        for key in (_ALB + "target-group-attributes", _AWS + "target-group-attributes"):
            text = as_text(one.annotations.get(key))
            match = _DELAY.search(text)
            if match is None:
                if text:
                    yield Pass(one)
                continue
            delay = int(match[1])
            if delay >= _LEAST_DRAIN_SECONDS:
                yield Pass(one)
                continue
            yield Gap(
                one,
                f"Requests of a target that is taken out are cut off after {delay} s",
                ("metadata", "annotations", key),
                evidence=(f"deregistration_delay.timeout_seconds: {delay}", "default: 300"),
            )


_SLEEP = regex(r"^(?:\S*/)?(?:sh|bash)?(?:\s+-\w*c)?\s*(?:\S*/)?sleep\s+(\d{1,5})s?\s*$")


@check(
    "alb-prestop-short",
    title="A pod behind an AWS balancer waits too briefly before it stops",
    severity=Severity.MEDIUM,
    incidents=(),
    alike=(RAVELIN,),
    about=("Ingress", "Service"),
)
def alb_prestop_short(scene: Scene) -> Answers:
    """
    What it does
    Finds workloads to which an AWS balancer sends by pod address (`target-type: ip`) and whose preStop hook
    only sleeps, for less than 15 s. A pod with no hook at all is told by `prestop-missing`.

    Why it matters
    The controller has to notice the change, call the AWS API, and the balancer has to spread it. People who
    measured it needed 20 to 70 s before no request was lost; five, which is enough inside a cluster, is not
    enough here.

    Incidents
    At Ravelin clients got 502 because pods stopped listening before the balancer stopped sending. The rule
    there was to measure the lag of the slowest balancer and to wait longer than that.

    Fix
    Sleep 30 s or more in the preStop hook, and raise `terminationGracePeriodSeconds` by as much. Measure:
    remove a pod under load and note when its last request arrives.

    References
    - https://github.com/kubernetes-sigs/aws-load-balancer-controller/issues/1719
    - https://github.com/kubernetes-sigs/aws-load-balancer-controller/issues/2106
    """
    seen: set[int] = set()
    for front, _, workload in _ip_targets(scene):
        if id(workload.object) in seen:
            continue
        seen.add(id(workload.object))
        for container in workload.running:
            waits = _waits(container.pre_stop)
            if waits is None:
                continue
            if waits >= _LEAST_WAIT_SECONDS:
                yield Pass(workload.object)
                continue
            yield Gap(
                workload.object,
                f"Container `{container.name}` waits {waits} s, and {front.key} may send to it for longer",
                (*container.path, "lifecycle", "preStop"),
                evidence=(f"preStop sleeps: {waits} s", f"{front.key}: target-type ip"),
                confidence=Confidence.MEDIUM,
                related=(front,),
            )


_LEAST_WAIT_SECONDS = 15


def _waits(hook: Any) -> int | None:
    """How long a hook sleeps that does nothing else; None for any other."""
    seconds = as_int(dig(hook, "sleep", "seconds"))
    if seconds is not None:
        return seconds
    words = " ".join(str(word) for word in as_list(dig(hook, "exec", "command")))
    match = _SLEEP.match(words) if len(words) < _LONGEST_COMMAND else None
    return int(match[1]) if match else None


_LONGEST_COMMAND = 200


@check(
    "etp-local-drain",
    title="Only nodes that hold a pod serve, and all pods may be on one node",
    severity=Severity.MEDIUM,
    incidents=(),
    alike=(CORDONED,),
    about=("Service",),
    chart_severity=Severity.LOW,
)
def etp_local_drain(scene: Scene) -> Answers:
    """
    What it does
    Looks for Services of type LoadBalancer with `externalTrafficPolicy: Local` whose pods are those of a
    Deployment or StatefulSet with two replicas or more and nothing that spreads them over nodes: no
    anti-affinity, no topology spread constraints. A DaemonSet is on every node.

    Why it matters
    With `Local` the balancer sends only to nodes that hold a ready pod. When all pods share one node, its
    drain, or its loss, is an outage until the balancer has found the next one, and load is by node, not by
    pod.

    Incidents
    At mybinder.org all pods of the ingress controller were on nodes that an upgrade cordoned. Everything
    behind it was unreachable, though it ran.

    Fix
    Add a topology spread constraint over `kubernetes.io/hostname` and a PodDisruptionBudget, or run the
    controller as a DaemonSet.

    References
    - https://kubernetes.io/docs/reference/networking/virtual-ips/#external-traffic-policy
    - https://kubernetes.io/docs/concepts/scheduling-eviction/topology-spread-constraints/
    """
    for service in scene.of("Service"):
        local = as_text(service.spec.get("externalTrafficPolicy")) == "Local"
        if not local or as_text(service.spec.get("type")) != "LoadBalancer":
            continue
        for workload in scene.workloads_of(service):
            yield _spread(scene, service, workload)


def _spread(scene: Scene, service: KubeObject, workload: Workload) -> Answer:
    scale = scene.scale(workload)
    if scale is None:
        return Pass(workload.object)
    if scale.least < 2:  # noqa: PLR2004
        return NotApplicable(workload.object, "see single-replica-edge")
    affinity = as_map(dig(workload.pod, "affinity", "podAntiAffinity"))
    if affinity or as_list(workload.pod.get("topologySpreadConstraints")):
        return Pass(workload.object)
    path: KeyPath = workload.pod_path
    return Gap(
        workload.object,
        f"{service.key} sends only to nodes that hold one of its pods, and nothing spreads them",
        path,
        evidence=(
            "externalTrafficPolicy: Local",
            f"replicas: {scale.least}",
            "podAntiAffinity, topologySpreadConstraints: absent",
        ),
        confidence=Confidence.MEDIUM,
        related=(service,),
    )


_ADMIN = regex(
    r"(?:^|/)(?:weaveworks/scope|kubernetesui/dashboard|kubernetes-dashboard[\w-]*|kubeshark/hub"
    r"|portainer/portainer(?:-ce|-ee)?|headlamp-k8s/headlamp|kiali/kiali|octant|kubeview|cloudcmd"
    r"|codercom/code-server|prom/prometheus|prometheus/prometheus|prometheus/alertmanager|prom/alertmanager"
    r"|rook/ceph|adminer|dpage/pgadmin4|phpmyadmin(?:/phpmyadmin)?|rediscommander/redis-commander"
    r"|provectuslabs/kafka-ui|mongo-express)$"
)


@check(
    "public-admin-balancer",
    title="A dashboard for operators is open to the internet",
    severity=Severity.HIGH,
    incidents=(CRYPTOMINER,),
    about=("Service",),
)
def public_admin_balancer(scene: Scene) -> Answers:
    """
    What it does
    Looks for Services of type LoadBalancer that lead to well-known tools for operators (Portainer, Kiali,
    database consoles and others, by image) and neither are marked as internal (an annotation of the cloud, a
    private address, a class for a private network) nor name `loadBalancerSourceRanges`. Tools without any
    sign-in are told by `open-dashboard-public`.

    Why it matters
    The cloud gives such a Service an address on the internet, open to everybody. Crawlers find it within
    hours. Several of these tools open shells in containers or show secrets, and some ask for no sign-in. A
    firewall rule that is closed by hand comes back, since the controller owns it.

    Incidents
    At JW Player a Service without the annotation for an internal balancer put Weave Scope on the internet. A
    crawler got a shell through it, and a miner ran on all nodes for three days.

    Fix
    Make the Service `ClusterIP` and reach it by `kubectl port-forward` or a proxy with sign-in; else mark the
    balancer as internal and name `loadBalancerSourceRanges`.

    References
    - https://kubernetes.io/docs/concepts/services-networking/service/#internal-load-balancer
    - https://medium.com/jw-player-engineering/how-a-cryptocurrency-miner-made-its-way-onto-our-internal-kubernetes-clusters-9b09c4704205
    """
    for service in scene.of("Service"):
        if as_text(service.spec.get("type")) != "LoadBalancer":
            continue
        behind = scene.workloads_of(service)
        tools = [
            (workload, container)
            for workload in behind
            for container in workload.containers
            if _ADMIN.search(bare_image(container.image))
        ]
        if not tools:
            continue
        if not open_to_everybody(service):
            yield Pass(service)
            continue
        if any("open-dashboard" in components.roles(one) for one in behind):
            yield NotApplicable(service, "see open-dashboard-public")
            continue
        workload, container = tools[0]
        yield Gap(
            service,
            f"It gives `{container.image}` an address on the internet",
            ("spec", "type"),
            evidence=("type: LoadBalancer", "loadBalancerSourceRanges: absent", f"image: {container.image}"),
            related=(workload.object,),
        )


CHECKS = (
    alb_drain_short,
    alb_no_readiness_gate,
    alb_prestop_short,
    etp_local_drain,
    public_admin_balancer,
)
