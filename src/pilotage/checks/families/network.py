"""Networks of pods: policies that cut names or routes off, agents that change at once, addresses."""
# ruff: noqa: D205, D212, D416 - the docstring of a check is its page, in fixed sections

from __future__ import annotations

import ipaddress
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from pilotage.checks import components
from pilotage.checks.model import Answers, Confidence, Gap, NotApplicable, Pass, Severity, Unknown, check
from pilotage.checks.objects import KubeObject
from pilotage.checks.scene import Exposure, Scene
from pilotage.checks.schema.survey import as_applied
from pilotage.checks.values import as_int, as_list, as_map, as_text, dig, percent_or_count
from pilotage.checks.workloads import SERVING, Workload
from pilotage.core.counting import counted
from pilotage.core.regex import regex

LETS_ENCRYPT = "lets-encrypt-2016-03-28-firewall-cut-dns-of-validation-hosts"
ZALANDO_DNS = "zalando-2019-01-07-coredns-oom-total-dns-outage"
WIKIMEDIA_ZK = "wikimedia-2017-08-31-zookeeper-quorum-lost-firewall-rule"
OPENAI = "openai-2024-12-11-telemetry-agent-overloaded-control-planes"
DATADOG = "datadog-2023-03-08-systemd-update-removed-cilium-routes"
DFDS_SUBNET = "dfds-2019-11-30-eks-subnet-ip-starvation"

_DNS_PORT = 53
_OTHER_POLICIES = (
    "CiliumNetworkPolicy",
    "CiliumClusterwideNetworkPolicy",
    "GlobalNetworkPolicy",
    "AdminNetworkPolicy",
)
_HALF = 50
_ALL = 100
_FEW_BLOCKS = 16


def _types(policy: KubeObject) -> set[str]:
    """`Ingress`, `Egress`: what a policy is about, with the API server's default."""
    stated = {as_text(one) for one in as_list(policy.spec.get("policyTypes"))}
    return stated or ({"Ingress", "Egress"} if policy.spec.get("egress") else {"Ingress"})


def _isolating(scene: Scene, direction: str) -> list[tuple[Workload, list[KubeObject]]]:
    """Workloads that policies cut off in a direction, with those policies."""
    found: dict[int, list[KubeObject]] = defaultdict(list)
    workloads: dict[int, Workload] = {}
    for policy in scene.of("NetworkPolicy"):
        if direction not in _types(policy):
            continue
        for workload in scene.selected_by(policy, as_map(policy.spec.get("podSelector"))):
            if workload.pod.get("hostNetwork") is not True:
                found[id(workload)].append(policy)
                workloads[id(workload)] = workload
    return [(workloads[key], policies) for key, policies in found.items()]


def _covers(rule: Any, port: int | None, *names: str) -> bool:
    """Whether the ports of a rule take in a port, by number or by one of its names."""
    ports = as_list(dig(rule, "ports"))
    if not ports:
        return True
    for item in ports:
        stated = dig(item, "port")
        number, end = as_int(stated), as_int(dig(item, "endPort"))
        if stated is None or stated in names or (port is not None and number == port):
            return True
        if port is not None and number is not None and end is not None and number <= port <= end:
            return True
    return False


def _others_speak(scene: Scene, others: set[str], workload: Workload) -> bool:
    """Whether policies of another kind may hold for a workload; in a cluster each keeps to its namespace."""
    return bool(others) and (not scene.live or not others.isdisjoint({"", workload.object.namespace}))


@check(
    "netpol-cuts-dns",
    title="A network policy cuts pods off from DNS",
    severity=Severity.HIGH,
    breaks=True,
    incidents=(),
    alike=(LETS_ENCRYPT, ZALANDO_DNS),
    about=("NetworkPolicy",),
    needs=("Deployment", "StatefulSet", "DaemonSet", *_OTHER_POLICIES),
)
def netpol_cuts_dns(scene: Scene) -> Answers:
    """
    What it does
    For each workload whose egress NetworkPolicies isolate, looks whether any rule of all those policies
    allows port 53 to somewhere outside of its own labels: a rule without ports, with port 53 or with a port
    named like DNS. One finding for each policy that isolates, however many workloads it hits. Where policies
    of other kinds (Cilium, Calico, AdminNetworkPolicy) are in the scene, it answers that it cannot know. A
    workload that may reach nothing at all is of medium severity unless traffic leads to it. It is left alone
    where a policy for some pods says `egress: []`, or closes both ways without a rule. What only collects
    metrics, logs or traces is of low severity.

    Why it matters
    Policies add up, and one that isolates allows nothing by itself. Without port 53 no name resolves: calls
    to databases, to other services and to the API server fail with errors that speak of time-outs, not of
    policies. Pods that run keep open connections, so it shows at the next rollout.

    Incidents
    Let's Encrypt tightened its firewall and cut the hosts that validate off from DNS; nothing was issued
    until users told. At Zalando all applications failed when names no longer resolved; there DNS itself was
    down.

    Fix
    Add an egress rule for port 53, UDP and TCP, to the pods of DNS in `kube-system` (and to node-local DNS
    where it is used).

    References
    - https://kubernetes.io/docs/concepts/services-networking/network-policies/
    """
    cut: dict[tuple[int, bool], tuple[KubeObject, list[Workload]]] = {}
    elsewhere = {one.namespace for one in scene.of(*_OTHER_POLICIES)}
    for workload, policies in _isolating(scene, "Egress"):
        rules = [rule for policy in policies for rule in as_list(policy.spec.get("egress"))]
        if workload.pod.get("dnsPolicy") == "None" or workload.kind == "Job":
            yield NotApplicable(workload.object, "it brings its own DNS, or ends soon")
        elif any(_allows_dns(rule) for rule in rules):
            yield Pass(workload.object)
        elif _others_speak(scene, elsewhere, workload):
            yield Unknown("policies of another kind may allow DNS", workload.object)
        elif any(_allows_nothing_on_purpose(policy) for policy in policies):
            yield NotApplicable(workload.object, "a policy of its own says that it is to reach nothing")
        else:
            first = min(policies, key=lambda one: one.key)
            cut.setdefault((id(first), not rules), (first, []))[1].append(workload)
    closed = _closed_to_callers(scene) if cut else set()
    for (_, wholly), (policy, hit) in cut.items():
        hit.sort(key=lambda one: one.object.key)
        yield _cut_gap(scene, policy, hit, wholly=wholly, closed=id(hit[0].object) in closed)


def _allows_nothing_on_purpose(policy: KubeObject) -> bool:
    """Whether a policy for some pods, not for all, closes both ways or has an empty list for egress."""
    written = as_applied(policy)
    # A server keeps no empty list: where nobody knows what was written, there may have been one.
    listed = written is None or as_map(written.get("spec")).get("egress") == []
    ruled = as_list(policy.spec.get("egress"))
    closed = not as_list(policy.spec.get("ingress")) and _types(policy) == {"Ingress", "Egress"}
    return bool(as_map(policy.spec.get("podSelector"))) and not ruled and (closed or listed)


def _closed_to_callers(scene: Scene) -> set[int]:
    """The objects of the workloads that nobody may call either."""
    return {
        id(workload.object)
        for workload, policies in _isolating(scene, "Ingress")
        if not any(as_list(policy.spec.get("ingress")) for policy in policies)
    }


def _cut_gap(scene: Scene, policy: KubeObject, hit: list[Workload], *, wholly: bool, closed: bool) -> Gap:
    first = hit[0].object
    callers = ", and with ingress rules for those who call it" if closed else ""
    others = f" and {counted(len(hit) - 1, 'other workload')}" if len(hit) > 1 else ""
    evidence = f"policyTypes: {', '.join(sorted(_types(policy)))}"
    applied = policy.document.file.application if policy.document is not None else ""
    if wholly:
        message = f"{first.key}{others} may reach nothing at all: no name resolves, no call gets through"
        told = "no policy that selects them has an egress rule"
        fix = (
            f"Give {first.name} a policy with egress rules for what it calls, and for port 53 (UDP and TCP)"
            f"{callers}. "
            "Where it is to call nothing, say so by `egress: []` in a policy that selects it alone."
        )
    else:
        message = f"{first.key}{others} may not reach port 53: no name resolves there"
        told, fix = "no egress rule allows port 53", ""
    return Gap(
        policy,
        message,
        ("spec", "egress") if "egress" in policy.spec else ("spec", "policyTypes"),
        evidence=(evidence, told, *((f"{applied} puts them together",) if applied else ())),
        fix=fix,
        severity=max((_loss(scene, one, wholly=wholly) for one in hit), key=lambda one: one.rank),
        confidence=Confidence.HIGH if scene.live else Confidence.MEDIUM,
        related=tuple(one.object for one in hit[:5]),
    )


def _loss(scene: Scene, workload: Workload, *, wholly: bool) -> Severity:
    """How bad it is: rules tell that it calls something; without any, traffic that leads there does."""
    if any(_WATCHES.search(one.image) for one in workload.running):
        return Severity.LOW
    return Severity.HIGH if not wholly or scene.exposed(workload, "edge") is not None else Severity.MEDIUM


_WATCHES = regex(
    r"(?:^|[/-])(?:opentelemetry|otel|jaeger|zipkin|tempo|loki|promtail|fluent|fluentd|telegraf|statsd|"
    r"prometheus|grafana)(?:[-:@]|$)"
)
"""Images of programs that collect what others tell of themselves."""


def _allows_dns(rule: Any) -> bool:
    if not isinstance(rule, dict) or not _covers(rule, _DNS_PORT, "dns", "dns-tcp", "dns-udp", "domain"):
        return False
    peers = as_list(rule.get("to"))
    if not peers:
        return True
    return any(
        dig(peer, "ipBlock") is not None
        or dig(peer, "namespaceSelector") is not None
        or as_list(rule.get("ports"))
        for peer in peers
    )


@check(
    "netpol-blocks-route",
    title="A network policy keeps the ingress controller from pods that a route leads to",
    severity=Severity.HIGH,
    breaks=True,
    incidents=(),
    alike=(WIKIMEDIA_ZK,),
    about=("NetworkPolicy",),
    needs=("Service", "Ingress", "Deployment", *_OTHER_POLICIES),
)
def netpol_blocks_route(scene: Scene) -> Answers:
    """
    What it does
    For each workload to which an Ingress or another route leads and whose ingress NetworkPolicies isolate,
    looks whether any rule lets something from outside of its namespace in (no `from`, a `namespaceSelector`,
    an `ipBlock`) at the port of the Service, or pods of an ingress controller in the same namespace. Where
    policies of other kinds are in the scene, it answers that it cannot know.

    Why it matters
    The controller sends straight to the pods. When the policy drops its packets, each request waits for the
    time-out and ends in 504, while probes (which the node sends) go on to say that all is well.

    Incidents
    At Wikimedia a tightened firewall forgot the members of a ZooKeeper ensemble themselves; open connections
    hid it until members were restarted, and the quorum was lost.

    Fix
    Allow the controller's namespace to the port: `from: [{namespaceSelector: {matchLabels:
    {kubernetes.io/metadata.name: ingress-nginx}}}]`.

    References
    - https://kubernetes.io/docs/concepts/services-networking/network-policies/
    """
    elsewhere = {one.namespace for one in scene.of(*_OTHER_POLICIES)}
    for workload, policies in _isolating(scene, "Ingress"):
        exposure = scene.exposed(workload, "edge")
        if workload.kind not in SERVING or exposure is None or exposure.object is exposure.service:
            continue
        rules = [rule for policy in policies for rule in as_list(policy.spec.get("ingress"))]
        if any(_lets_edge_in(scene, workload, exposure, rule) for rule in rules):
            yield Pass(workload.object)
        elif _others_speak(scene, elsewhere, workload):
            yield Unknown("policies of another kind may let the controller in", workload.object)
        else:
            first = min(policies, key=lambda one: one.key)
            yield Gap(
                workload.object,
                f"{exposure.object.key} leads to it, and no NetworkPolicy lets anything from another "
                "namespace in",
                (*workload.template, "metadata", "labels"),
                evidence=tuple(f"{one.key}: isolates its pods" for one in policies),
                confidence=Confidence.HIGH if scene.live else Confidence.MEDIUM,
                related=(first, exposure.object),
            )


def _lets_edge_in(scene: Scene, workload: Workload, exposure: Exposure, rule: Any) -> bool:
    if not isinstance(rule, dict):
        return False
    targets = [as_map(item) for item in as_list(exposure.service.spec.get("ports"))]
    ports = [item.get("targetPort", item.get("port")) for item in targets]
    reached = [
        (_number(workload, port), (as_text(port),) if as_text(port) else _names(workload, port))
        for port in ports
    ]
    if not any(_covers(rule, number, *names) for number, names in reached):
        return False
    peers = as_list(rule.get("from"))
    if not peers:
        return True
    for peer in peers:
        if dig(peer, "ipBlock") is not None or dig(peer, "namespaceSelector") is not None:
            return True
        selector = as_map(dig(peer, "podSelector"))
        inside = scene.selected_by(workload.object, selector)
        # An empty selector lets the whole namespace in; a controller there is let in, too.
        if any("ingress-controller" in components.roles(one) for one in inside):
            return True
    return False


def _number(workload: Workload, port: object) -> int | None:
    """The number of a port; of a named one that of the container that has it."""
    if not as_text(port):
        return as_int(port)
    known = (item for container in workload.running for item in container.ports)
    return next((as_int(item.get("containerPort")) for item in known if item.get("name") == port), None)


def _names(workload: Workload, port: object) -> tuple[str, ...]:
    return tuple(
        as_text(item.get("name"))
        for container in workload.running
        for item in container.ports
        if item.get("containerPort") == port and as_text(item.get("name"))
    )


@check(
    "agent-replaced-at-once",
    title="An update replaces an agent on half of all nodes or more at once",
    severity=Severity.HIGH,
    incidents=(),
    alike=(OPENAI, DATADOG),
    about=("DaemonSet",),
)
def agent_replaced_at_once(scene: Scene) -> Answers:
    """
    What it does
    Looks for DaemonSets whose rolling update may make half of the pods unavailable at once, or more
    (`maxUnavailable` of 50 % and above). For agents that carry the network, the names or the credentials of
    a node it is of high severity, for the rest of low. Those with traffic from outside are told by
    `rollout-all-unavailable` when all may go. Programs whose makers want the old ones gone
    before new ones start (Longhorn's manager) are left out.

    Why it matters
    A version that does not work, or that asks the API server for everything when it starts, then hits half
    of the cluster before anybody has seen the first node.

    Incidents
    At OpenAI an agent for telemetry reached the whole fleet before its effect on the API servers could be
    seen. At Datadog an update on all nodes within an hour took the pod network away.

    Fix
    Leave `maxUnavailable` at 1, or raise it to some percent only; use `maxSurge` where two agents may stand
    on one node.

    References
    - https://kubernetes.io/docs/tasks/manage-daemon/update-daemon-set/
    """
    for workload in scene.workloads:
        if workload.kind != "DaemonSet" or workload.strategy != "RollingUpdate":
            continue
        path = ("spec", "updateStrategy", "rollingUpdate", "maxUnavailable")
        stated = workload.object.get(*path)
        share = percent_or_count(stated, 100, round_up=True) if isinstance(stated, str) else None
        if share is None or share < _HALF:
            yield Pass(workload.object)
        elif share >= _ALL and scene.exposed(workload, "edge", "webhook") is not None:
            yield NotApplicable(workload.object, "see rollout-all-unavailable")
        elif all(components.idle(one) for one in workload.running):
            yield NotApplicable(workload.object, "its pods only wait, so that nobody misses them")
        elif "replaced-together" in components.roles(workload):
            yield NotApplicable(workload.object, "its makers want the old ones gone before new ones start")
        else:
            agent = components.is_agent(workload)
            yield Gap(
                workload.object,
                f"`maxUnavailable: {stated}` takes it off {'all' if share >= _ALL else f'{share} % of all'} "
                "nodes at a time",
                path,
                evidence=(f"updateStrategy.rollingUpdate.maxUnavailable: {stated}",),
                severity=None if agent else Severity.LOW,
            )


@check(
    "ippool-thin",
    title="The network's addresses run out before the nodes do",
    severity=Severity.MEDIUM,
    incidents=(),
    alike=(DFDS_SUBNET,),
    about=("DaemonSet", "IPPool", "Node"),
)
def ippool_thin(scene: Scene) -> Answers:
    """
    What it does
    Looks at the VPC network plugin of AWS (by its image) for settings that bound how many addresses a node
    keeps in reserve (`WARM_IP_TARGET`, `MINIMUM_IP_TARGET`, `ENABLE_PREFIX_DELEGATION`), low severity where
    none is set; and at Calico's IPPools that have fewer blocks than the scene has Nodes, or fewer than 16
    where it has none.

    Why it matters
    By default each node of AWS keeps a whole spare network interface of addresses; some dozens of nodes empty
    a subnet with hardly a pod on them. A Calico node takes a block of its own; one that comes when all are
    taken has to borrow, or cannot start a pod.

    Incidents
    At DFDS nodes and pods used up the addresses of small subnets. Load balancers could not grow, and the
    change that was to help was blocked by the same shortage.

    Fix
    Set `WARM_IP_TARGET` and `MINIMUM_IP_TARGET`, or prefix delegation; give pods subnets of their own. Make
    the pool larger, or its `blockSize` smaller (a larger number), before it is in use.

    References
    - https://docs.aws.amazon.com/eks/latest/best-practices/vpc-cni.html
    - https://docs.tigera.io/calico/latest/reference/resources/ippool
    """
    for workload in scene.workloads:
        container = next(
            (one for one in workload.containers if one.image.partition(":")[0].endswith("amazon-k8s-cni")),
            None,
        )
        if workload.kind != "DaemonSet" or container is None:
            continue
        keys = ("WARM_IP_TARGET", "MINIMUM_IP_TARGET", "WARM_PREFIX_TARGET")
        bounded = any(container.env(key) for key in keys)
        if bounded or (container.env("ENABLE_PREFIX_DELEGATION") or "").lower() == "true":
            yield Pass(workload.object)
        else:
            yield Gap(
                workload.object,
                "Each node keeps a spare network interface full of addresses",
                (*container.path, "env"),
                evidence=(f"WARM_ENI_TARGET: {container.env('WARM_ENI_TARGET') or '1 (the default)'}",),
                severity=Severity.LOW,
            )
    for pool in scene.of("IPPool"):
        yield from _pool_answer(scene, pool)


def _pool_answer(scene: Scene, pool: KubeObject) -> Iterator[Gap | Pass | NotApplicable]:
    blocks = _blocks(pool.spec)
    nodes = sum(1 for _ in scene.of("Node"))
    if blocks is None or "projectcalico" not in pool.api_version or pool.spec.get("disabled") is True:
        yield NotApplicable(pool, "it is not in use, or its range cannot be read")
    elif pool.spec.get("nodeSelector") not in (None, "", "all()"):
        yield NotApplicable(pool, "it is meant for some nodes only")
    elif blocks >= max(nodes, 0 if nodes else _FEW_BLOCKS):
        yield Pass(pool)
    else:
        known = counted(nodes, "node") if nodes else f"more than {counted(blocks, 'node')}"
        yield Gap(
            pool,
            f"`{pool.spec.get('cidr')}` makes {counted(blocks, 'block')}, too few for {known}",
            ("spec", "cidr"),
            evidence=(
                f"cidr: {pool.spec.get('cidr')}",
                f"blockSize: {pool.spec.get('blockSize') or '26 (the default)'}",
            ),
            confidence=Confidence.HIGH if nodes else Confidence.MEDIUM,
        )


def _blocks(spec: Mapping[str, Any]) -> int | None:
    try:
        network = ipaddress.ip_network(as_text(spec.get("cidr")), strict=False)
    except ValueError:
        return None
    size = as_int(spec.get("blockSize")) or (26 if network.version == 4 else 122)  # noqa: PLR2004
    return 1 << (size - network.prefixlen) if network.prefixlen <= size <= network.max_prefixlen else None


CHECKS = (agent_replaced_at_once, ippool_thin, netpol_blocks_route, netpol_cuts_dns)
