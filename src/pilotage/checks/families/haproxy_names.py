"""Servers that HAProxy knows by name: when the name is resolved, and what a failure of DNS does."""
# ruff: noqa: D205, D212, D416 - the docstring of a check is its page, in fixed sections

from __future__ import annotations

import ipaddress
from collections.abc import Iterator

from pilotage.checks.haproxy.addresses import Kind
from pilotage.checks.haproxy.config import HaproxyConfig, Proxy
from pilotage.checks.haproxy.groups import by_base, names_of
from pilotage.checks.haproxy.parts import Section
from pilotage.checks.haproxy.servers import Server
from pilotage.checks.haproxy.times import milliseconds, spoken
from pilotage.checks.model import (
    DOCUMENTATION_ONLY,
    Answers,
    Confidence,
    Gap,
    Pass,
    Severity,
    check,
)
from pilotage.checks.objects import KubeObject
from pilotage.checks.scene import Scene

ABOUT = ("HaproxyConfig",)
TURNITIN = "turnitin-2018-07-25-kubelet-elb-ip-change-notready"
OPENAI = "openai-2024-12-11-telemetry-agent-overloaded-control-planes"
ZALANDO_DNS = "zalando-2019-01-07-coredns-oom-total-dns-outage"
DFDS_COREDNS = "dfds-2020-02-03-coredns-upgrade-crash-loop"
DFDS_TRAEFIK = "dfds-2021-09-06-traefik-v2-malformed-ingressroute-404"
SPOTIFY = "spotify-2022-03-08-traffic-director-xds-grpc-bug"
ROBLOX = "roblox-2021-10-28-consul-streaming-boltdb"

_OUTAGE = ("timeout", "refused", "other")
_DEFAULT_HOLD = 30_000.0
_ENOUGH = 60_000.0
_SMALL_PAYLOAD = 1232
_MOST_ADDRESSES = 25
_MOST_SERVICES = 8


def _named(proxy: Proxy) -> list[Server]:
    """The servers of a proxy that have a name to resolve."""
    return [one for one in proxy.servers if one.address.kind is Kind.NAME and one.address.host != "localhost"]


def _upstream(scene: Scene) -> Iterator[Proxy]:
    for config in scene.configs(HaproxyConfig):
        yield from config.upstream


@check(
    "hp-static-name",
    title="A server's name is resolved once, at start",
    severity=Severity.MEDIUM,
    incidents=(),
    alike=(TURNITIN,),
    about=ABOUT,
)
def hp_static_name(scene: Scene) -> Answers:
    """
    What it does
    Looks in backends with traffic for servers that are given by name, without `resolvers`. Names without a
    dot (of a compose file, of `/etc/hosts`) are of low severity. In a ConfigMap, names of Kubernetes Services
    are left out, since their address stays; headless Services are not.

    Why it matters
    HAProxy asks for the address when it starts or reloads, and never again. When the name moves to another
    address, as those of cloud balancers do without notice, it goes on connecting to the old one. Health
    checks then fail for a server that is well, or pass at a machine that now belongs to somebody else.

    Incidents
    At Turnitin the balancer of the API server changed its addresses. Kubelets held on to the old ones, half
    of the nodes turned NotReady, and their pods were moved.

    Fix
    Add a `resolvers` section with the name servers (or `parse-resolv-conf`), and
    `default-server resolvers <name> init-addr last,libc,none`.

    References
    - https://docs.haproxy.org/2.8/configuration.html#5.3
    - https://docs.haproxy.org/2.8/configuration.html#5.2-resolvers
    """
    lacking: list[Proxy] = []
    for proxy in _upstream(scene):
        if _static(scene, proxy):
            lacking.append(proxy)
        elif _named(proxy):
            yield Pass(proxy)
    for group in by_base(lacking):
        static = [one for proxy in group.proxies for one in _static(scene, proxy)]
        dotted = [one for one in static if "." in one.address.host.rstrip(".")]
        first = (dotted or static)[0]
        count = len({one.address.host for one in static})
        yield Gap(
            group.subject,
            f"{group.names}: {'the names' if count > 1 else 'the name'} `{first.address.host}`"
            f"{f' and {count - 1} more are' if count > 1 else ' is'} resolved at start only; "
            "HAProxy keeps the address for ever",
            first.path if group.subject is group.proxies[0] else ("default-server",),
            evidence=(str(first.statement)[:120], "no resolvers"),
            severity=None if dotted else Severity.LOW,
            confidence=Confidence.HIGH if dotted else Confidence.MEDIUM,
        )


def _static(scene: Scene, proxy: Proxy) -> list[Server]:
    return [
        one
        for one in _named(proxy)
        if not one.is_on("resolvers") and not _stays(scene, proxy, one.address.host)
    ]


def _stays(scene: Scene, proxy: Proxy, host: str) -> bool:
    """Whether a name is that of a Service, whose own address does not change."""
    holder = proxy.block.head.text.holder
    if holder is None or (host.count(".") > 1 and ".svc" not in host):
        return False
    service = _service(scene, proxy, host)
    return service is None or _has_own_address(service)


def _service(scene: Scene, proxy: Proxy, host: str) -> KubeObject | None:
    """The Service that a name in a ConfigMap means; None where the scene has none."""
    holder = proxy.block.head.text.holder
    if holder is None:
        return None
    name, _, rest = host.partition(".")
    return scene.find("Service", name, holder, rest.partition(".")[0])


def _has_own_address(service: KubeObject) -> bool:
    return service.spec.get("clusterIP") != "None" and service.spec.get("type") != "ExternalName"


@check(
    "hp-init-addr",
    title="One name that does not resolve keeps HAProxy from starting",
    severity=Severity.MEDIUM,
    incidents=(),
    alike=(DFDS_TRAEFIK, DFDS_COREDNS),
    about=ABOUT,
)
def hp_init_addr(scene: Scene) -> Answers:
    """
    What it does
    Looks for servers given by name whose `init-addr` ends neither in `none` nor in an address. The default,
    `last,libc`, does not; `resolvers` do not change that. Backends that requests cannot reach count as well;
    names of Services beside a ConfigMap do not, since such a name is there as long as the Service is.

    Why it matters
    HAProxy resolves the names of all servers when it starts. One that fails is fatal for the whole process:
    after a reboot during trouble with DNS, or after somebody deleted one record, nothing is served at all,
    although every other backend would work. A reload fails too, so that no change can be made.

    Incidents
    At DFDS one malformed route kept every restarted Traefik pod from serving, days after it had been applied.
    When their CoreDNS was down, pods that needed a name to start crashed in a loop.

    Fix
    Write `default-server init-addr last,libc,none` (with `resolvers`, so that the address is found later).

    References
    - https://docs.haproxy.org/2.8/configuration.html#5.2-init-addr
    """
    fatal: list[Proxy] = []
    for config in scene.configs(HaproxyConfig):
        for proxy in config.proxies:
            named = _named(proxy) if proxy.has_servers and not proxy.disabled else []
            if not named:
                continue
            if any(not _starts_without(one) and not _held(scene, proxy, one) for one in named):
                fatal.append(proxy)
            else:
                yield Pass(proxy)
    for group in by_base(fatal):
        first = next(
            one
            for one in _named(group.proxies[0])
            if not _starts_without(one) and not _held(scene, group.proxies[0], one)
        )
        hosts = {one.address.host for proxy in group.proxies for one in _named(proxy)}
        count = len({one for one in hosts if one})
        yield Gap(
            group.subject,
            f"{names_of(group.proxies)}: HAProxy does not start while `{first.address.host}`"
            f"{f', or another of {count} names,' if count > 1 else ''} cannot be resolved",
            first.path if group.subject is group.proxies[0] else ("default-server",),
            evidence=(
                str(first.statement)[:120],
                f"init-addr {first.value('init-addr') or 'last,libc (default)'}",
            ),
            severity=None if any("." in one for one in hosts) else Severity.LOW,
        )


def _held(scene: Scene, proxy: Proxy, server: Server) -> bool:
    """Whether its name is that of a Service beside it, which resolves from the moment it is created."""
    service = _service(scene, proxy, server.address.host)
    return service is not None and _has_own_address(service)


def _starts_without(server: Server) -> bool:
    ways = server.value("init-addr").split(",")
    return "none" in ways or any(_is_address(way) for way in ways)


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text.strip("[]"))
    except ValueError:
        return False
    return True


@check(
    "hp-resolver-hold",
    title="A short outage of DNS takes every server out",
    severity=Severity.MEDIUM,
    incidents=(),
    alike=(OPENAI, ZALANDO_DNS, SPOTIFY, ROBLOX),
    about=ABOUT,
)
def hp_resolver_hold(scene: Scene) -> Answers:
    """
    What it does
    Looks at `resolvers` that servers use: how long HAProxy keeps a server whose name it cannot resolve any
    more (`hold timeout`, `hold refused`, `hold other`, by default 30 s). Speaks up below 60 s; below 10 s
    it is of high severity.

    Why it matters
    When name servers do not answer for that long, HAProxy puts the server into maintenance, although the
    server itself is well and its address has not changed. All servers by name go at the same time: an
    outage of DNS of half a minute becomes an outage of everything.

    Incidents
    At OpenAI services went on with cached records while the control plane was down, and lost each other as
    these expired. At Zalando the whole cluster lost DNS, and with it every call between services. At Spotify
    and Roblox the discovery of services failed, and those who looked there did not go on with what they knew.

    Fix
    Keep addresses through an outage: `hold timeout 1h`, `hold refused 1h`, `hold other 1h` (and `hold nx
    5m`).

    References
    - https://docs.haproxy.org/2.8/configuration.html#5.3.2-hold
    """
    for config in scene.configs(HaproxyConfig):
        for section in config.of("resolvers"):
            users = [
                proxy
                for proxy in config.upstream
                if any(one.value("resolvers") == section.name for one in _named(proxy))
            ]
            if not users:
                continue
            held = {status: _hold(section, status) for status in _OUTAGE}
            known = [time for time in held.values() if time is not None]
            if not known or min(known) >= _ENOUGH:
                yield Pass(section)
                continue
            shortest = min(known)
            word = next(status for status, time in held.items() if time == shortest)
            stated = [str(line) for line in section.all("hold")]
            yield Gap(
                section,
                f"when DNS fails for {spoken(shortest)}, HAProxy takes the servers of {names_of(users)} out, "
                "although they are well",
                ("hold", word),
                evidence=(
                    *stated,
                    *(f"hold {one} 30s (default)" for one in _OUTAGE if not _stated(section, one)),
                ),
                severity=Severity.HIGH if shortest < _DEFAULT_HOLD / 3 else None,
            )


def _stated(section: Section, status: str) -> bool:
    return any(line.word(1) == status for line in section.all("hold"))


def _hold(section: Section, status: str) -> float | None:
    lines = [line for line in section.all("hold") if line.word(1) == status]
    return milliseconds(lines[-1].word(2)) if lines else _DEFAULT_HOLD


@check(
    "hp-resolver-payload",
    title="With one server more the answer of DNS no longer fits",
    severity=Severity.HIGH,
    incidents=DOCUMENTATION_ONLY,
    about=ABOUT,
)
def hp_resolver_payload(scene: Scene) -> Answers:
    """
    What it does
    Looks at `server-template` lines with so many slots that the answer may not fit into what their
    `resolvers` accept (`accepted_payload_size`, by default 512 bytes: some 25 addresses, or 8 SRV records).
    SRV records are of medium severity. Name servers over TCP are passed over.

    Why it matters
    HAProxy does not ask again over TCP. An answer with addresses that was cut off it refuses as a whole, and
    after `hold other` all servers of the name are taken out: the service disappears because it grew. Of SRV
    records it uses the part that came, so that servers come and go while all of them are well.

    Incidents
    No public incident is known to us that names this setting; it rests on the documentation.

    Fix
    Add `accepted_payload_size 8192` to the `resolvers` section, or use `nameserver … tcp@…`.

    References
    - https://docs.haproxy.org/2.8/configuration.html#5.3.2-accepted_payload_size
    """
    for proxy in _upstream(scene):
        for server in proxy.servers:
            section = proxy.config.named("resolvers", server.value("resolvers"))
            if not server.is_template or section is None:
                continue
            size = _payload(section)
            most = _MOST_SERVICES if server.address.host.startswith("_") else _MOST_ADDRESSES
            if size >= _SMALL_PAYLOAD or server.slots <= most or _over_tcp(section):
                yield Pass(proxy)
                continue
            records = server.address.host.startswith("_")
            yield Gap(
                section,
                f"an answer of {size} bytes holds some {most} records, `{proxy.title}` has room for "
                f"{server.slots} of `{server.address.host}`: beyond that HAProxy "
                + ("loses some of them" if records else "refuses the answer and loses all of them"),
                ("accepted_payload_size",),
                evidence=(f"accepted_payload_size {size}", str(server.statement)[:120]),
                severity=Severity.MEDIUM if records else None,
                confidence=Confidence.MEDIUM,
                related=(proxy,),
            )


def _payload(section: Section) -> int:
    line = section.last("accepted_payload_size")
    size = line.word(1) if line is not None else "512"
    return int(size) if size.isdecimal() and len(size) < 8 else 512  # noqa: PLR2004


def _over_tcp(section: Section) -> bool:
    servers = list(section.all("nameserver"))
    return bool(servers) and all(line.word(2).startswith(("tcp@", "tcp4@", "tcp6@")) for line in servers)


CHECKS = (hp_init_addr, hp_resolver_hold, hp_resolver_payload, hp_static_name)
