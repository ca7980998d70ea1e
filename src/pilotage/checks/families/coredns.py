"""Cluster DNS: whether the pods that answer every name look-up bear a bad day."""
# ruff: noqa: D205, D212, D416 - the docstring of a check is its page, in fixed sections

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal

from pilotage.checks.coredns.pairs import Server, dns_servers, has_node_cache
from pilotage.checks.model import Answers, Confidence, Gap, NotApplicable, Pass, Severity, Unknown, check
from pilotage.checks.scene import Scene
from pilotage.checks.values import as_int, as_map, as_text, human_bytes
from pilotage.checks.workloads import SERVING, Workload

ZALANDO = "zalando-2019-01-07-coredns-oom-total-dns-outage"
PREPLY = "preply-2020-02-28-coredns-autoscaler-conntrack"
MINDTICKLE = "mindtickle-2019-08-05-dns-5s-delays-conntrack-race"
MOONLIGHT = "moonlight-2019-01-22-all-pods-on-one-failing-node"

_ZALANDO_LIMIT = Decimal(100 * 2**20)
_DEFAULT_LIMIT = Decimal(170 * 2**20)
_AUTOSCALER = "cluster-proportional-autoscaler"


def _cluster_dns(scene: Scene) -> Iterator[Server]:
    return (one for one in dns_servers(scene) if one.serves_cluster)


@check(
    "coredns-memory-tight",
    title="A spike of queries would have all pods of cluster DNS killed for memory at once",
    severity=Severity.HIGH,
    incidents=(ZALANDO,),
    about=SERVING,
    chart_severity=Severity.LOW,
    uses=("ConfigMap",),
)
def coredns_memory_tight(scene: Scene) -> Answers:
    """
    What it does
    Looks for pods of cluster DNS (CoreDNS with the `kubernetes` plugin) with a memory limit of 170Mi or
    less: high up to 100Mi, which is what Zalando had; medium up to 170Mi, which is what Kubernetes ships.

    Why it matters
    The memory of CoreDNS grows with the queries that it is working on. When a slow upstream or a burst of
    retries lets them pile up, all its pods reach the limit within seconds of each other, are killed, come
    back to the same load and are killed again. Nothing in the cluster finds anything then.

    Incidents
    At Zalando retries multiplied look-ups that nobody cached. CoreDNS pods with a limit of 100Mi were
    killed again and again, and the cluster was without DNS until the limit was raised to 2000Mi.

    Fix
    Raise the memory limit to at least 512Mi, more in large clusters, and give a request that is as high.

    References
    - https://github.com/coredns/deployment/blob/master/kubernetes/Scaling_CoreDNS.md
    """
    for one in _cluster_dns(scene):
        limit = one.container.limit("memory")
        if limit is None or limit > _DEFAULT_LIMIT:
            yield Pass(one.workload.object)
            continue
        usual = limit > _ZALANDO_LIMIT
        yield Gap(
            one.workload.object,
            f"CoreDNS may use {human_bytes(limit)}: a burst of queries kills all its pods at once",
            (*one.container.path, "resources", "limits", "memory"),
            evidence=(f"resources.limits.memory: {one.container.get('resources', 'limits', 'memory')}",),
            severity=Severity.MEDIUM if usual else None,
            confidence=Confidence.MEDIUM if usual else Confidence.HIGH,
        )


def _proportional_floor(scene: Scene, one: Workload) -> int | None:
    """The least number of pods that a cluster-proportional autoscaler keeps; None where none scales it."""
    for scaler in scene.workloads:
        for container in scaler.containers:
            words = " ".join(container.words)
            if _AUTOSCALER not in container.image or f"deployment/{one.object.name}" not in words.lower():
                continue
            name = next((w.partition("=")[2] for w in container.words if w.startswith("--configmap=")), "")
            held = scene.find("ConfigMap", name, scaler.object)
            return _floor_of(as_map(held.get("data")) if held is not None else {})
    return None


def _floor_of(data: object) -> int:
    """What its ConfigMap says; unsaid, the autoscaler keeps one pod."""
    try:
        linear = json.loads(as_text(as_map(data).get("linear")) or "{}")
    except (ValueError, RecursionError):
        return 1
    least = as_int(as_map(linear).get("min")) or 1
    return max(least, 2) if as_map(linear).get("preventSinglePointFailure") is True else least


@check(
    "coredns-thin",
    title="All name look-ups of the cluster hang on one pod",
    severity=Severity.HIGH,
    incidents=(),
    alike=(PREPLY, MOONLIGHT),
    about=("Deployment", "StatefulSet"),
    chart_severity=Severity.LOW,
    uses=("ConfigMap",),
)
def coredns_thin(scene: Scene) -> Answers:
    """
    What it does
    Looks for cluster DNS that may have a single pod: by `replicas`, by an autoscaler's minimum, or by a
    cluster-proportional autoscaler without `preventSinglePointFailure` and with `min` 1.

    Why it matters
    Each drain, each failing node and each restart of that pod stops name resolution for everybody. Clients
    that find no name fail at once, long before the pod is back.

    Incidents
    At Preply an autoscaler removed a CoreDNS pod, and services that kept asking it failed. At Moonlight all
    pods of a service were on the one node that failed.

    Fix
    Keep at least two pods, three in a cluster that matters, on different nodes; set `min` of the autoscaler
    to the same number.

    References
    - https://kubernetes.io/docs/tasks/administer-cluster/dns-horizontal-autoscaling/
    """
    for one in _cluster_dns(scene):
        workload = one.workload
        scale = scene.scale(workload)
        if scale is None:
            continue
        least, by = scale.least, "replicas"
        if scale.autoscaler is not None:
            by = f"minReplicas of {scale.autoscaler.key}"
        else:
            floor = _proportional_floor(scene, workload)
            if floor is not None:
                least, by = floor, "least pods of its cluster-proportional autoscaler"
        if least != 1:
            yield Pass(workload.object)
            continue
        stated = workload.stated_replicas
        yield Gap(
            workload.object,
            "Cluster DNS may be down to one pod: while it restarts, no name in the cluster resolves",
            ("spec", "replicas"),
            evidence=(f"{by}: {'absent (1)' if by == 'replicas' and stated is None else least}",),
            confidence=Confidence.MEDIUM if by == "replicas" and stated is None else Confidence.HIGH,
        )


@check(
    "coredns-no-nodelocal",
    title="Every look-up crosses the network to a few pods; no node has a DNS cache",
    severity=Severity.LOW,
    incidents=(),
    alike=(ZALANDO, PREPLY, MINDTICKLE),
    about=SERVING,
    needs=("DaemonSet",),
    uses=("ConfigMap",),
)
def coredns_no_nodelocal(scene: Scene) -> Answers:
    """
    What it does
    Looks for cluster DNS without a DNS cache on each node (NodeLocal DNSCache). In files it speaks only
    where DaemonSets of the same namespace are there too, since the cache may be kept elsewhere.

    Why it matters
    Without a cache on the node each query is a UDP packet through the node's connection table to one of a
    few pods. A flood from one program reaches DNS of all others; a race in that table loses packets, and
    clients wait 5 seconds for each; entries of a removed pod lead queries to nowhere. A cache on the node
    answers most queries and speaks TCP for the rest.

    Incidents
    Zalando's flood of look-ups took DNS from the whole cluster. At Preply queries went on to a pod that was
    gone. At MindTickle a race lost one of two parallel queries, and requests stalled in steps of 5 seconds.

    Fix
    Install NodeLocal DNSCache, or the equivalent of your network plugin or provider.

    References
    - https://kubernetes.io/docs/tasks/administer-cluster/nodelocaldns/
    """
    servers = list(_cluster_dns(scene))
    cached = bool(servers) and has_node_cache(scene)
    for one in servers:
        if cached:
            yield Pass(one.workload.object)
        elif scene.live or scene.has("DaemonSet", one.workload.object):
            yield Gap(
                one.workload.object,
                "No node has a DNS cache: each look-up of each pod goes to these pods",
                ("spec",),
                evidence=("no DaemonSet runs a node-local DNS cache",),
                confidence=Confidence.MEDIUM,
            )
        else:
            yield Unknown("a cache on each node may be kept elsewhere", one.workload.object)


@check(
    "coredns-not-ready",
    title="The readiness probe asks a plugin of CoreDNS that its Corefile does not load",
    severity=Severity.HIGH,
    breaks=True,
    incidents=(),
    alike=("dfds-2020-02-03-coredns-upgrade-crash-loop",),
    about=SERVING,
    needs=("ConfigMap",),
)
def coredns_not_ready(scene: Scene) -> Answers:
    """
    What it does
    Compares the probes of CoreDNS pods with their Corefile: `/ready` needs the plugin `ready`, `/health`
    the plugin `health`, each on the probe's port.

    Why it matters
    Without the plugin nobody listens there. A readiness probe then keeps every new pod out of the Service,
    a liveness probe kills it again and again. An upgrade that changes manifest or Corefile alone ends in
    this state, and cluster DNS goes with the old pods.

    Incidents
    At DFDS CoreDNS was upgraded without a change that had to go with it. Its pods crash-looped, and with
    them a large part of the cluster.

    Fix
    Add `ready` (port 8181) and `health` (port 8080) to the Corefile, or let the probes ask the ports that
    it names.

    References
    - https://coredns.io/plugins/ready/
    - https://coredns.io/plugins/health/
    """
    for one in dns_servers(scene):
        if one.corefile is None:
            continue
        asked = list(_asked(one))
        wrong = [each for each in asked if not _answers(one, *each[1:])]
        if not asked:
            yield NotApplicable(one.workload.object, "no probe asks CoreDNS over HTTP")
        elif not wrong:
            yield Pass(one.workload.object)
        elif one.corefile.unfinished:
            yield Unknown("the plugin may stand in an imported part", one.workload.object)
        else:
            probe, plugin, port = wrong[0]
            yield Gap(
                one.workload.object,
                f"The {probe} probe asks /{plugin} on port {port}, where the Corefile loads no `{plugin}`",
                (*one.container.path, f"{probe}Probe", "httpGet"),
                evidence=tuple(f"{p}Probe: /{name} on {number}" for p, name, number in wrong),
                related=(one.corefile,),
            )


_PORTS = {"ready": 8181, "health": 8080}


def _asked(one: Server) -> Iterator[tuple[str, str, int]]:
    """Probe, plugin and port for each probe that asks a plugin."""
    for probe in ("readiness", "liveness", "startup"):
        asked = as_map(one.container.probe(probe).get("httpGet"))
        plugin = as_text(asked.get("path")).strip("/")
        port = asked.get("port")
        if isinstance(port, str) and not port.isdigit():
            named = [
                as_int(each.get("containerPort")) for each in one.container.ports if each.get("name") == port
            ]
            port = named[0] if named else None
        number = int(port) if isinstance(port, str) and len(port) < 6 else as_int(port)  # noqa: PLR2004
        if plugin in _PORTS and number is not None:
            yield probe, plugin, number


def _answers(one: Server, plugin: str, port: int) -> bool:
    blocks = one.corefile.blocks if one.corefile is not None else []
    for block in blocks:
        for found in block.all(plugin):
            address = found.args[0].rpartition(":")[2] if found.args else str(_PORTS[plugin])
            if address == str(port) or "$" in address:
                return True
    return False


CHECKS = (coredns_memory_tight, coredns_thin, coredns_no_nodelocal, coredns_not_ready)
