"""Corefiles: what CoreDNS does when it stops, when its upstream fails, and when its version changes."""
# ruff: noqa: D205, D212, D416 - the docstring of a check is its page, in fixed sections

from __future__ import annotations

import functools
import ipaddress
from collections.abc import Iterator
from importlib.resources import files

import msgspec

from pilotage.checks.coredns.model import Corefile, Entry, ServerBlock
from pilotage.checks.coredns.pairs import Server, dns_servers
from pilotage.checks.dialect import load
from pilotage.checks.model import (
    DOCUMENTATION_ONLY,
    Answers,
    Confidence,
    Gap,
    NotApplicable,
    Pass,
    Severity,
    Unknown,
    check,
)
from pilotage.checks.scene import Scene
from pilotage.checks.values import KeyPath, as_list, as_map, as_text, dig, duration

PREPLY = "preply-2020-02-28-coredns-autoscaler-conntrack"
ZALANDO = "zalando-2019-01-07-coredns-oom-total-dns-outage"
DATADOG = "datadog-2020-09-24-service-discovery-nxdomain-herd"
OPENAI = "openai-2024-12-11-telemetry-agent-overloaded-control-planes"
SEOUL = "aws-2018-11-22-seoul-dns-resolver-minimum-hosts-removed"
DFDS = "dfds-2020-02-03-coredns-upgrade-crash-loop"
AUTHDNS = "wikimedia-2017-03-22-authdns-unchecked-automatic-restarts"


def _cluster_files(scene: Scene) -> Iterator[Corefile]:
    return (one for one in scene.configs(Corefile) if one.serves_cluster and not one.node_cache)


def _asked_by_pods(scene: Scene) -> Iterator[Corefile]:
    """All but those in a ConfigMap that are neither the cluster's nor a node's: servers of examples."""
    for one in scene.configs(Corefile):
        if one.holder is None or one.serves_cluster or one.node_cache:
            yield one


def _cluster_block(corefile: Corefile) -> ServerBlock:
    return next(block for block in corefile.blocks if block.serves_cluster)


@check(
    "coredns-no-lameduck",
    title="CoreDNS stops answering the moment it is told to, while queries still come",
    severity=Severity.MEDIUM,
    incidents=(),
    alike=(PREPLY,),
    about=("Corefile",),
    chart_severity=Severity.LOW,
)
def coredns_no_lameduck(scene: Scene) -> Answers:
    """
    What it does
    Looks for Corefiles of cluster DNS whose `health` plugin has no `lameduck` time, or that have no
    `health`.

    Why it matters
    When a DNS pod is removed, kube-proxy on each node learns of it a little later. Until then queries go to
    the pod, and a resolver waits 5 seconds for each lost one. With `lameduck` CoreDNS says that it is
    unhealthy and goes on answering for that time.

    Incidents
    At Preply services kept sending queries to a CoreDNS pod that an autoscaler had removed, and failed.

    Fix
    Write `health { lameduck 5s }`, each on its own line, and give the pod a grace period that is longer.

    References
    - https://coredns.io/plugins/health/
    """
    for corefile in _cluster_files(scene):
        block = _cluster_block(corefile)
        found = [health for each in corefile.blocks for health in each.all("health")]
        waits = [health for health in found if _lameduck(health)]
        if waits:
            yield Pass(block)
        elif corefile.unfinished and not found:
            yield Unknown("health may stand in an imported part", block)
        else:
            yield Gap(
                block,
                "CoreDNS does not go on answering while its removal spreads: those queries are lost",
                ("health", "lameduck"),
                evidence=("health: absent" if not found else "health.lameduck: absent",),
            )


def _lameduck(health: Entry) -> bool:
    stated = health.get("lameduck")
    time = duration(stated.args[0]) if stated is not None and stated.args else None
    return time is not None and time > 0


@check(
    "coredns-cache-thin",
    title="Cluster DNS forgets answers that it would need in trouble",
    severity=Severity.MEDIUM,
    incidents=(DATADOG,),
    alike=(ZALANDO, OPENAI),
    about=("Corefile",),
    chart_severity=Severity.LOW,
)
def coredns_cache_thin(scene: Scene) -> Answers:
    """
    What it does
    Looks at server blocks that answer for the cluster or hand queries on (in a ConfigMap only where it is
    the cluster's or a node's): no `cache` at all, a cache that keeps no negative answers
    (`disable denial`), or, as low, one that hands all names on and does not `serve_stale`.

    Why it matters
    Without a cache each query of each pod costs work and reaches the upstream, and a flood of one name
    becomes a flood for everybody. Without negative answers a name that is gone is asked for again and
    again. With `serve_stale` names that were known go on resolving while the upstream is away.

    Incidents
    At Datadog look-ups of one missing name, whose answers nobody cached, cost service discovery its quorum.
    At Zalando look-ups without a cache killed CoreDNS. At OpenAI services found each other as long as
    cached records lasted, and no longer.

    Fix
    Write `cache 30 { serve_stale 1h immediate }`, each on its own line, and leave `disable denial` out.

    References
    - https://coredns.io/plugins/cache/
    """
    for corefile in _asked_by_pods(scene):
        for block in corefile.blocks:
            handed = block.first("forward")
            if not block.serves_cluster and (handed is None or _of_one_pod(block)):
                continue
            cache = block.first("cache")
            if cache is None and block.open:
                yield Unknown("cache may stand in an imported part", block)
            elif (fault := _cache_fault(block, cache, corefile)) is None:
                yield Pass(block)
            else:
                yield fault


def _keeps_no_denial(disable: Entry) -> bool:
    return disable.args[:1] == ("denial",) and (len(disable.args) == 1 or "." in disable.args[1:])


def _of_one_pod(block: ServerBlock) -> bool:
    """Whether it listens on the loopback only, so that nobody asks it but the pod that it runs in."""
    at = [word for bind in block.all("bind") for word in bind.args]
    return bool(at) and all(word == "lo" or word.startswith("127.") or word == "::1" for word in at)


def _cache_fault(block: ServerBlock, cache: Entry | None, corefile: Corefile) -> Gap | None:
    if cache is None:
        message = "No answer is cached: each query of each pod is worked on again"
        return Gap(block, message, ("cache",), evidence=("cache: absent",))
    # Of the cluster's own zone the plugin that answers holds everything in memory, and no upstream is asked.
    if any(one.name == "disable" and _keeps_no_denial(one) for one in cache.items):
        message = "Answers that a name does not exist are not cached: a missing name is asked for each time"
        return Gap(block, message, ("cache", "disable"), evidence=("cache: disable denial",))
    everything = any(one.args[:1] == (".",) for one in block.all("forward"))
    if everything and cache.get("serve_stale") is None and not corefile.node_cache:
        return Gap(
            block,
            "When the upstream does not answer, names that were known a minute ago do not resolve either",
            ("cache",),
            evidence=("cache.serve_stale: absent",),
            severity=Severity.LOW,
            confidence=Confidence.MEDIUM,
        )
    return None


def _upstreams(forward: Entry) -> list[str]:
    return [to.partition("://")[2] or to for to in forward.args[1:]]


def _address(to: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    bare = to.partition("]")[0].lstrip("[") if to.startswith("[") else to
    if bare.count(":") == 1:
        bare = bare.partition(":")[0]
    try:
        return ipaddress.ip_address(bare.partition("%")[0])
    except ValueError:
        return None


@check(
    "coredns-single-upstream",
    title="All names outside of the cluster hang on one DNS server",
    severity=Severity.MEDIUM,
    incidents=(),
    alike=(SEOUL,),
    about=("Corefile",),
    chart_severity=Severity.LOW,
)
def coredns_single_upstream(scene: Scene) -> Answers:
    """
    What it does
    Looks for `forward .` with a single address. Link-local addresses and those that end in `.2`, which
    clouds use for a resolver of many hosts, or in `.0.10`, which is by custom the Service of cluster DNS, are
    left out. So are the cache on a node, whose upstream is cluster DNS, and a server for one pod. Where it
    is a zone of its own that is handed on (`example.org { forward . 10.0.0.10 }`), the severity is low.

    Why it matters
    When that server is away or slow, no name outside of the cluster resolves: no database, no queue, no API
    of a partner. CoreDNS asks the servers that it is given and no others.

    Incidents
    In AWS's Seoul region most hosts of the resolver fleet left service, and instances that had no other
    resolver could resolve nothing for over an hour.

    Fix
    Give two or more servers that do not fail together (`forward . 10.0.0.10 10.1.0.10`).

    References
    - https://coredns.io/plugins/forward/
    """
    for corefile in _asked_by_pods(scene):
        for block in corefile.blocks:
            for number, forward in enumerate(block.all("forward")):
                if forward.args[:1] != (".",):
                    continue
                to = _upstreams(forward)
                alone = _address(to[0]) if len(to) == 1 else None
                if alone is None:
                    yield Pass(block)
                elif (
                    corefile.node_cache
                    or alone.is_link_local
                    or alone.is_loopback
                    or _of_one_pod(block)
                    or str(alone).endswith((".2", ".0.10"))
                ):
                    yield NotApplicable(block, f"{to[0]} stands for many servers, or is this node")
                else:
                    yield Gap(
                        block,
                        f"Every name {_of_which(block)} is asked of {to[0]} alone",
                        ("forward", number),
                        evidence=(f"forward {' '.join(forward.args)}",),
                        severity=None if "." in block.zones else Severity.LOW,
                        confidence=Confidence.MEDIUM,
                    )


def _of_which(block: ServerBlock) -> str:
    """The names that a server block hands on, in words."""
    return "outside of the cluster" if "." in block.zones else f"of {', '.join(block.zones)}"


@check(
    "coredns-forward-unbounded",
    title="Queries that wait for a slow upstream pile up in the memory of CoreDNS",
    severity=Severity.LOW,
    incidents=(),
    alike=(ZALANDO,),
    about=("Corefile",),
)
def coredns_forward_unbounded(scene: Scene) -> Answers:
    """
    What it does
    Looks for `forward` without `max_concurrent` in Corefiles of cluster DNS.

    Why it matters
    Each query that waits for its upstream keeps a goroutine and its buffers, about 2 kB and more. When the
    upstream is slow and clients ask again, they pile up until the pod is killed for its memory. With a
    bound CoreDNS refuses what is too much, and goes on answering for the cluster's own names.

    Incidents
    At Zalando the memory of CoreDNS rose with the queries until all its pods were killed.

    Fix
    Write `forward . /etc/resolv.conf { max_concurrent 1000 }`, each on its own line, and size the number by
    the pod's memory.

    References
    - https://coredns.io/plugins/forward/
    """
    for corefile in _cluster_files(scene):
        for block in corefile.blocks:
            for number, forward in enumerate(block.all("forward")):
                if forward.get("max_concurrent") is not None:
                    yield Pass(block)
                else:
                    yield Gap(
                        block,
                        "Nothing bounds how many queries wait for the upstream at a time",
                        ("forward", number),
                        evidence=(f"forward {' '.join(forward.args)}", "max_concurrent: absent"),
                    )


@check(
    "coredns-no-loop",
    title="CoreDNS would not notice that its queries come back to itself",
    severity=Severity.LOW,
    incidents=DOCUMENTATION_ONLY,
    about=("Corefile",),
)
def coredns_no_loop(scene: Scene) -> Answers:
    """
    What it does
    Looks for server blocks that hand queries on to the servers of `/etc/resolv.conf` without the plugin
    `loop`.

    Why it matters
    On a node whose `resolv.conf` names a local resolver, which asks cluster DNS in turn, each query goes
    round for ever and multiplies. With `loop` CoreDNS notices at start and stops with a clear message;
    without it the pod uses up its memory and is killed, again and again.

    Incidents
    None is known to the library; the plugin's page describes the failure.

    Fix
    Add `loop` to the server block.

    References
    - https://coredns.io/plugins/loop/
    """
    for corefile in _cluster_files(scene):
        for block in corefile.blocks:
            local = [one for one in block.all("forward") if "/etc/resolv.conf" in one.args]
            if not local:
                continue
            if block.first("loop") is not None:
                yield Pass(block)
            elif block.open:
                yield Unknown("loop may stand in an imported part", block)
            else:
                yield Gap(
                    block,
                    "Queries go to what the node's resolv.conf names, and nothing notices when it is a loop",
                    ("loop",),
                    evidence=(f"forward {' '.join(local[0].args)}", "loop: absent"),
                )


class _Removal(msgspec.Struct, frozen=True):
    plugin: str
    option: str
    since: tuple[int, ...]
    instead: str


@functools.cache
def _removals() -> tuple[_Removal, ...]:
    text = files("pilotage.checks").joinpath("data/coredns_removed.yaml").read_text("utf-8")
    return tuple(
        _Removal(
            as_text(dig(row, "plugin")),
            as_text(dig(row, "option")),
            tuple(int(part) for part in as_text(dig(row, "since")).split(".")),
            as_text(dig(row, "instead")),
        )
        for row in as_list(as_map(load(text)).get("removed"))
    )


@check(
    "coredns-removed-plugin",
    title="The Corefile has a line with which this version of CoreDNS does not start",
    severity=Severity.CRITICAL,
    breaks=True,
    incidents=(),
    alike=(DFDS, AUTHDNS),
    about=("Corefile",),
    uses=("ConfigMap",),
)
def coredns_removed_plugin(scene: Scene) -> Answers:
    """
    What it does
    Compares the Corefile that CoreDNS pods mount with the version in their image's tag: plugins and options
    that were taken out of CoreDNS (`proxy`, `federation`, `resyncperiod`, `upstream`, `transfer`).

    Why it matters
    CoreDNS ends at once when it does not know a line. After an upgrade its new pods crash-loop; when the
    old ones are gone, no name in the cluster resolves, and everything that needs DNS at its start crashes
    with it.

    Incidents
    At DFDS CoreDNS was upgraded without the changes that had to go with it. The new pods crash-looped, and so
    did many pods that depend on DNS, critical ones included, until the upgrade was taken back. At Wikimedia
    all name servers were restarted on a file that nothing had checked, and none came up.

    Fix
    Take the line out, or put the replacement in, before the upgrade. The project's tool `corefile-tool
    migrate` does it.

    References
    - https://github.com/coredns/corefile-migration
    - https://coredns.io/manual/toc/
    """
    for one in dns_servers(scene):
        if one.corefile is None:
            continue
        version = one.version
        if version is None:
            yield Unknown("the image's tag tells no version", one.corefile)
            continue
        found = list(_removed(one, version))
        if not found:
            yield Pass(one.corefile)
        for block, path, removal in found:
            what = (
                f"`{removal.plugin}`" if not removal.option else f"`{removal.option}` of `{removal.plugin}`"
            )
            since = ".".join(map(str, removal.since))
            yield Gap(
                block,
                f"CoreDNS {'.'.join(map(str, version))} does not start: it lost {what} in {since}",
                path,
                evidence=(f"image: {one.container.image}", f"instead: {removal.instead}"),
                related=(one.workload.object,),
            )


def _removed(one: Server, version: tuple[int, ...]) -> Iterator[tuple[ServerBlock, KeyPath, _Removal]]:
    for block in one.corefile.blocks if one.corefile is not None else ():
        for removal in _removals():
            plugin = block.first(removal.plugin)
            if plugin is None or version < removal.since:
                continue
            if not removal.option:
                yield block, (removal.plugin,), removal
            elif plugin.get(removal.option) is not None:
                yield block, (removal.plugin, removal.option), removal


CHECKS = (
    coredns_no_lameduck,
    coredns_cache_thin,
    coredns_single_upstream,
    coredns_forward_unbounded,
    coredns_no_loop,
    coredns_removed_plugin,
)
