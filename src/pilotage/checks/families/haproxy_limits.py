"""What bounds the work in HAProxy and behind it: connections, queues, timeouts."""
# ruff: noqa: D205, D212, D416 - the docstring of a check is its page, in fixed sections

from __future__ import annotations

from pilotage.checks.haproxy.addresses import address_of
from pilotage.checks.haproxy.config import HaproxyConfig, Proxy
from pilotage.checks.haproxy.groups import Group, by_base, by_line, with_servers
from pilotage.checks.haproxy.statements import Statement
from pilotage.checks.haproxy.times import milliseconds, spoken
from pilotage.checks.model import (
    Answers,
    Confidence,
    Gap,
    Pass,
    Severity,
    Unknown,
    check,
)
from pilotage.checks.scene import Scene
from pilotage.core.counting import counted

ABOUT = ("HaproxyConfig",)
CANVA = "canva-2024-11-12-api-gateway-overload-after-cdn-stall"
SKIPPER = "zalando-2019-skipper-ingress-oom-alb-502"
COINBASE = "coinbase-2021-05-19-nginx-connection-ceiling-and-slow-autoscaling"
DISCORD = "discord-2017-03-20-presence-split-brain-thundering-herd"
MAILGUN = "mailgun-2017-01-12-mongodb-connections-and-bad-rollback"

_HOUR = 3_600_000.0
_QUEUE_TOO_LONG = 60_000.0
_MANY = 2
_PARTIAL = "only a piece of a configuration: the settings may stand in another file"


@check(
    "hp-timeouts",
    title="A side of the connection has no timeout, or one of hours",
    severity=Severity.MEDIUM,
    incidents=(),
    alike=(SKIPPER, CANVA),
    about=ABOUT,
)
def hp_timeouts(scene: Scene) -> Answers:
    """
    What it does
    Looks at `timeout client` of what listens and at `timeout connect` and `timeout server` of what has
    servers, with `defaults` applied: absent or 0 (no limit), or, in `mode http`, an hour and more. Long
    timeouts in `mode tcp` are passed over, since databases and the like keep connections idle on purpose.

    Why it matters
    A peer that vanishes without a word keeps its connection, its buffers and a slot of `maxconn` for ever.
    With one slow server all slots fill up in the end, and HAProxy takes no more requests for any of them.

    Incidents
    At Zalando requests that waited for one slow application piled up in the shared proxies until these ran
    out of memory, and every application got 502. At Canva 270,000 requests waited on one file.

    Fix
    Set `timeout connect 5s`, `timeout client 30s` and `timeout server 30s` in `defaults`, and `timeout
    tunnel` for websockets instead of a long `timeout server`.

    References
    - https://docs.haproxy.org/2.8/configuration.html#4-timeout%20server
    - https://docs.haproxy.org/2.8/configuration.html#4-timeout%20client
    """
    lacking: dict[str, list[Proxy]] = {}
    lines: list[tuple[Proxy, Statement]] = []
    for config in scene.configs(HaproxyConfig):
        for proxy in (*config.serving, *(one for one in config.upstream if one.kind == "backend")):
            if proxy.mode not in {"http", "tcp"} or _answers_itself(proxy):
                continue
            if proxy.undecided:
                yield from _not_told(proxy)
                continue
            gone, long = _timeouts_of(proxy)
            if gone:
                lacking.setdefault(", ".join(gone), []).append(proxy)
            lines += [(proxy, line) for line in long]
            if not gone and not long:
                yield Pass(proxy)
    for phrases, proxies in lacking.items():
        for group in by_base(proxies):
            yield _no_timeout(group, phrases)
    for group in by_line(lines):
        yield _long_timeout(group)


def _answers_itself(proxy: Proxy) -> bool:
    """Whether it is a page of statistics or the like, and no server of it can hang."""
    return proxy.has_servers and not proxy.servers and not proxy.config.leads


def _not_told(proxy: Proxy) -> Answers:
    """Of a line that HAProxy refuses the reader tells, and then nothing of the file holds."""
    if not proxy.config.faults:
        yield Unknown(_PARTIAL, proxy)


def _timeouts_of(proxy: Proxy) -> tuple[list[str], list[Statement]]:
    wanted = ["timeout client"] if proxy.takes_requests else []
    if proxy.servers:
        wanted += ["timeout connect", "timeout server"]
    gone, long = [], []
    for phrase in wanted:
        line = proxy.setting(phrase)
        time = milliseconds(line.word(2)) if line is not None else 0.0
        if time == 0:
            gone.append(phrase)
        elif line is not None and time is not None and proxy.mode == "http" and time >= _HOUR:
            long.append(line)
    return gone, long


def _no_timeout(group: Group, phrases: str) -> Gap:
    first = phrases.split(", ", maxsplit=1)[0]
    stated = group.proxies[0].setting(first)
    return Gap(
        group.subject,
        f"{group.names}: no {_quoted(phrases)}: who hangs there keeps a connection for ever",
        (first,),
        evidence=(str(stated) if stated is not None else f"no {phrases}",),
        confidence=Confidence.MEDIUM if group.subject.conditional else Confidence.HIGH,
    )


def _quoted(phrases: str) -> str:
    return ", ".join(f"`{phrase}`" for phrase in phrases.split(", "))


def _long_timeout(group: Group) -> Gap:
    line = group.statement
    phrase = " ".join(line.words[:2]) if line is not None else ""
    time = milliseconds(line.word(2)) if line is not None else None
    return Gap(
        group.subject,
        f"{group.names}: `{phrase}` of {spoken(time or 0)} in `mode http`: one slow peer can fill every slot",
        (phrase,),
        evidence=(str(line),),
        fix=_IN_ITSELF.format(phrase=phrase, names=group.names) if _for_tcp(group) else "",
        severity=Severity.LOW,
    )


_IN_ITSELF = (
    "Set `{phrase} 30s` in {names} itself. In `defaults` it would cut the connections of those in `mode "
    "tcp`, which may idle for hours."
)


def _for_tcp(group: Group) -> bool:
    """Whether a line of `defaults` is meant for proxies in `mode tcp`, which are most of its own."""
    if not group.inherited:
        return False
    config = group.proxies[0].config
    others = {id(one): one for one in (*config.serving, *config.upstream) if one not in group.proxies}
    return bool(others) and all(one.mode == "tcp" for one in others.values())


@check(
    "hp-request-timeout",
    title="A client may take its time to send a request",
    severity=Severity.LOW,
    incidents=(),
    alike=(COINBASE,),
    about=ABOUT,
)
def hp_request_timeout(scene: Scene) -> Answers:
    """
    What it does
    Looks for frontends in `mode http` that others than this machine can reach, without `timeout
    http-request`.

    Why it matters
    `timeout client` starts anew with every byte. A client that sends a header line every few seconds holds
    its connection as long as it likes; some thousands of them, from one machine, use up `maxconn`.

    Incidents
    At Coinbase connections reached the limit of the routers in a rush of honest users, and pages failed; slow
    clients bring it about with far less.

    Fix
    Add `timeout http-request 10s` to `defaults`.

    References
    - https://docs.haproxy.org/2.8/configuration.html#4-timeout%20http-request
    """
    lacking: list[Proxy] = []
    for config in scene.configs(HaproxyConfig):
        for proxy in config.serving:
            outside = [one for one in proxy.binds if not address_of(one.words[1]).loopback]
            if proxy.mode != "http" or not outside or proxy.undecided or _only_statistics(proxy):
                continue
            line = proxy.setting("timeout http-request")
            if line is None or milliseconds(line.word(2)) == 0:
                lacking.append(proxy)
            else:
                yield Pass(proxy)
    for group in by_base(lacking):
        yield Gap(
            group.subject,
            f"{group.names}: no `timeout http-request`: a client that sends its header byte by byte holds a "
            "connection as long as it likes",
            ("timeout http-request",),
            evidence=("no timeout http-request",),
        )


def _only_statistics(proxy: Proxy) -> bool:
    """Whether it is a page for operators, that leads to no server."""
    leads = proxy.setting("default_backend") or proxy.last("use_backend")
    return leads is None and not proxy.servers and any(line.keyword == "stats" for line in proxy.statements)


@check(
    "hp-no-maxconn",
    title="Nothing bounds the requests that one server gets at a time",
    severity=Severity.LOW,
    incidents=(),
    alike=(CANVA, SKIPPER, DISCORD, MAILGUN),
    about=ABOUT,
)
def hp_no_maxconn(scene: Scene) -> Answers:
    """
    What it does
    Looks for backends in `mode http` with traffic whose servers have no `maxconn`. Backends with one finding
    in common (the same `defaults`) are told together.

    Why it matters
    HAProxy then hands every request on at once. A server that slows down gets more requests in flight the
    slower it is, runs out of threads or memory, and its load goes to the others. With `maxconn` the excess
    waits in HAProxy, where waiting is cheap, bounded by `timeout queue`.

    Incidents
    At Canva 1.5 million requests a second met gateway tasks that nothing shielded; they ran out of memory one
    after the other. At Zalando nothing bounded the requests in flight in the shared ingress. At Discord every
    client of a lost server turned to those that were left at once; at Mailgun no limit kept the connections
    of one service to its database in check.

    Fix
    Give servers a `maxconn` a little above what they do well in a load test (`default-server maxconn 200`),
    and set `timeout queue`.

    References
    - https://docs.haproxy.org/2.8/configuration.html#5.2-maxconn
    """
    lacking: list[Proxy] = []
    for proxy in with_servers(scene):
        if proxy.mode != "http":
            continue
        bare = [one for one in proxy.servers if not one.is_on("maxconn") or one.number("maxconn") == 0]
        if not bare:
            yield Pass(proxy)
        elif not proxy.undecided:
            lacking.append(proxy)
    for group in by_base(lacking):
        servers = sum(len(one.servers) for one in group.proxies)
        yield Gap(
            group.subject,
            f"{group.names}: {counted(servers, 'server')} without `maxconn`: a slow one gets "
            "ever more requests at a time",
            ("default-server",),
            evidence=(str(group.proxies[0].servers[0].statement)[:120],),
        )


@check(
    "hp-queue-unbounded",
    title="Requests may wait in the queue for minutes",
    severity=Severity.MEDIUM,
    incidents=(),
    alike=(CANVA, SKIPPER),
    about=ABOUT,
)
def hp_queue_unbounded(scene: Scene) -> Answers:
    """
    What it does
    Looks for backends whose servers have a `maxconn`, so that requests queue, and takes the time that they
    may wait: `timeout queue`, and without it `timeout connect`. Speaks up from 60 s on, and where there is
    neither.

    Why it matters
    Clients give up long before and try again. The queue then consists of requests that nobody waits for, each
    is still worked off, and fresh ones wait behind them: the overload outlasts its cause.

    Incidents
    At Canva 270,000 requests waited for one file and then hit the gateway together. At Zalando waiting
    requests filled the memory of the proxies.

    Fix
    Set `timeout queue` to what a client is ready to wait, such as `timeout queue 5s`.

    References
    - https://docs.haproxy.org/2.8/configuration.html#4-timeout%20queue
    """
    lines: list[tuple[Proxy, Statement]] = []
    for proxy in with_servers(scene):
        if not any(one.is_on("maxconn") and one.number("maxconn") != 0 for one in proxy.servers):
            continue
        line = proxy.setting("timeout queue") or proxy.setting("timeout connect")
        time = milliseconds(line.word(2)) if line is not None else 0.0
        if line is None and not proxy.undecided:
            yield Gap(
                proxy,
                f"`{proxy.title}` queues requests without any limit of time",
                ("timeout queue",),
                evidence=("no timeout queue", "no timeout connect"),
            )
        elif line is not None and time is not None and (time >= _QUEUE_TOO_LONG or time == 0):
            lines.append((proxy, line))
        elif line is not None:
            yield Pass(proxy)
    for group in by_line(lines):
        line = group.statement
        if line is not None:
            phrase = " ".join(line.words[:2])
            time = milliseconds(line.word(2)) or 0
            yield Gap(
                group.subject,
                f"{group.names}: a request may wait in the queue for {spoken(time) if time else 'ever'}; its "
                "client has long given up",
                (phrase,),
                evidence=(str(line),),
                severity=Severity.LOW if time == _QUEUE_TOO_LONG else None,
            )


@check(
    "hp-maxconn-unset",
    title="The process has no limit of connections of its own",
    severity=Severity.LOW,
    incidents=(),
    alike=(SKIPPER,),
    about=ABOUT,
)
def hp_maxconn_unset(scene: Scene) -> Answers:
    """
    What it does
    Looks for a `global` section without `maxconn`, `ulimit-n` or `fd-hard-limit`.

    Why it matters
    HAProxy derives the limit from the file descriptors that the system grants. In many containers this is a
    million or even a thousand million: HAProxy reserves memory for all of them at start, or takes connections
    until the memory limit of the container kills it, with every connection that it held.

    Incidents
    At Zalando requests in flight without a bound took the ingress proxies past their memory limit. All were
    OOM-killed, and every application of the cluster got 502.

    Fix
    Set `maxconn` in `global` to what the memory carries (two buffers of 16 kB a connection in `mode http`,
    more with TLS), or `fd-hard-limit`.

    References
    - https://docs.haproxy.org/2.8/configuration.html#3.2-maxconn
    - https://docs.haproxy.org/2.8/configuration.html#3.1-fd-hard-limit
    """
    for config in scene.configs(HaproxyConfig):
        for section in config.of("global"):
            if not config.serving:
                continue
            if any(config.global_setting(word) for word in ("maxconn", "ulimit-n", "fd-hard-limit")):
                yield Pass(section)
            else:
                yield Gap(
                    section,
                    "no `maxconn` in `global`: the limit comes from the file descriptors of the system, "
                    "not from the memory that there is",
                    ("maxconn",),
                    evidence=("no maxconn, no fd-hard-limit, no ulimit-n",),
                    confidence=Confidence.MEDIUM,
                )
            break


CHECKS = (
    hp_maxconn_unset,
    hp_no_maxconn,
    hp_queue_unbounded,
    hp_request_timeout,
    hp_timeouts,
)
