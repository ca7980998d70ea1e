"""How HAProxy learns that a server is dead, and when it is wrong about it."""
# ruff: noqa: D205, D212, D416 - the docstring of a check is its page, in fixed sections

from __future__ import annotations

from collections.abc import Iterator

from pilotage.checks.haproxy.config import HaproxyConfig, Proxy
from pilotage.checks.haproxy.groups import Group, by_base, by_line
from pilotage.checks.haproxy.healthchecks import HealthCheck, asks_elsewhere, checked_servers, health_check
from pilotage.checks.haproxy.servers import Server
from pilotage.checks.haproxy.statements import Statement
from pilotage.checks.haproxy.times import milliseconds, spoken
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
from pilotage.checks.probing import looks_deep
from pilotage.checks.scene import Scene
from pilotage.core.counting import counted
from pilotage.core.regex import regex

ABOUT = ("HaproxyConfig",)
BUILDKITE = "buildkite-2016-08-22-db-downgrade-health-check-death-spiral"
COINBASE = "coinbase-2020-06-01-api-saturation-health-check-eviction"
POSTHOG = "posthog-2025-09-29-connection-timeout-cut-retry-amplification"
STACK_EXCHANGE = "stack-exchange-2016-07-20-regex-home-page-health-check"
STRIPE = "stripe-2019-07-10-database-election-and-config"
FACEBOOK = "facebook-2021-10-04-backbone-withdrawal-dns"

_FRONT_PAGE = regex(r"/(?:index\.\w+)?(?:[?#].*)?")
_CHEAP_ROOT = frozenset({"5984", "15984", "9200"})
"""Ports of CouchDB and Elasticsearch."""
_RENDERING = frozenset({"GET", "HEAD"})
_SLOW = 60_000.0
_MANY = 2


def _upstream(scene: Scene) -> Iterator[Proxy]:
    for config in scene.configs(HaproxyConfig):
        yield from config.upstream


@check(
    "hp-httpchk-root",
    title="The health check asks for the front page",
    severity=Severity.HIGH,
    incidents=(STACK_EXCHANGE,),
    alike=(BUILDKITE, COINBASE),
    about=ABOUT,
)
def hp_httpchk_root(scene: Scene) -> Answers:
    """
    What it does
    Looks for HTTP health checks of backends with traffic that ask for `/` or `/index.…` of the server itself.
    `GET` or `HEAD` of `/` is of high severity, another method or `/index.…` of medium, and a bare
    `option httpchk`, which asks `OPTIONS /`, of low. Checks of another port or address are passed over:
    something made for the purpose answers there.

    Why it matters
    The front page is made for people. It renders templates, reads databases and caches, and is slow just
    when the site is busy. A slow database or a fault on this one page then takes every server out of the
    backend at once, also for all requests that would have worked; no server is left, and HAProxy answers
    503.

    Incidents
    At Stack Exchange the check asked for the home page. One malformed post made a pattern on that page slow,
    the check failed on all servers, and the whole site was gone for 34 minutes, though the team believes that
    its other pages would have worked. At Buildkite the check of each web server queried the database. When
    that was out of CPU all servers were taken out, and the site was down for about six hours. At Coinbase
    checks waited behind requests: servers that were merely busy were evicted, and their load went to the
    rest.

    Fix
    Ask for a path made for the purpose, such as `option httpchk GET /healthz`, that tells whether this
    process can serve and touches nothing that all servers share.

    References
    - https://docs.haproxy.org/2.8/configuration.html#4-option%20httpchk
    - https://aws.amazon.com/builders-library/implementing-health-checks/
    """
    hits: list[tuple[Proxy, Statement]] = []
    for proxy in _upstream(scene):
        found = health_check(proxy)
        asked = [one for one in checked_servers(proxy) if not asks_elsewhere(one)]
        if found.kind != "httpchk":
            continue
        if not asked:
            yield NotApplicable(proxy, "its check asks no server, or another port than that of the requests")
            continue
        if all(one.address.port in _CHEAP_ROOT for one in asked):
            yield NotApplicable(proxy, "the root of such a database answers with its version only")
            continue
        fronts = [line for uri, line in found.uris if _FRONT_PAGE.fullmatch(uri)]
        if fronts and len(fronts) == len(found.uris):
            hits.append((proxy, fronts[0]))
        else:
            yield Pass(proxy)
    for group in by_line(hits):
        if group.statement is not None:
            yield _asks_front_page(group, group.statement)


def _asks_front_page(group: Group, line: Statement) -> Gap:
    found = health_check(group.proxies[0])
    servers = sum(len(checked_servers(one)) for one in group.proxies)
    return Gap(
        group.subject,
        f"{group.names}: the check asks {counted(servers, 'server')} for {found.method} "
        f"{found.uris[0][0]}, the front page: whatever breaks or slows that page takes "
        f"{'them all' if servers > 1 else 'it'} out",
        (" ".join(line.words[:2]),),
        evidence=(str(line),),
        severity=_how_bad(found),
        confidence=Confidence.HIGH if found.stated and not line.conditional else Confidence.MEDIUM,
    )


def _how_bad(found: HealthCheck) -> Severity | None:
    if not found.stated:
        return Severity.LOW
    # A file of that name is often served without the application, and so is the answer to OPTIONS.
    rendered = found.method in _RENDERING and all(uri.partition("?")[0] == "/" for uri, _ in found.uris)
    return None if rendered else Severity.MEDIUM


@check(
    "hp-httpchk-deep",
    title="The health check asks for shared dependencies",
    severity=Severity.MEDIUM,
    incidents=(),
    alike=(BUILDKITE, FACEBOOK),
    about=ABOUT,
)
def hp_httpchk_deep(scene: Scene) -> Answers:
    """
    What it does
    Looks for HTTP health checks whose path says that they look deeper than the server: `/health/db`,
    `/deep-health`, `/status/full`, and Spring's `/actuator/health`, which by default asks the database and
    other services. Only for backends of at least two servers.

    Why it matters
    Servers of a backend share their database. When it is slow, all of them look broken, HAProxy takes all
    out, and pages that need no database fail too. A balancer can only choose between servers; a check that
    fails everywhere at once gives it nothing to choose.

    Incidents
    At Buildkite every check queried the database that all web servers shared. The database ran out of CPU,
    the balancer removed every server, and their replacements failed the same check. At Facebook name servers
    judged themselves by whether they reached the data centres, and all of them withdrew at once.

    Fix
    Let the balancer ask a shallow path (`/healthz`, `/actuator/health/liveness`), and watch dependencies by
    monitoring.

    References
    - https://docs.spring.io/spring-boot/reference/actuator/endpoints.html#actuator.endpoints.health
    - https://docs.haproxy.org/2.8/configuration.html#4-option%20httpchk
    """
    hits: list[tuple[Proxy, Statement]] = []
    for proxy in _upstream(scene):
        found = health_check(proxy)
        if found.kind != "httpchk" or len(checked_servers(proxy)) < _MANY:
            continue
        deep = [line for uri, line in found.uris if looks_deep(uri)]
        if deep:
            hits.append((proxy, deep[0]))
        else:
            yield Pass(proxy)
    for group in by_line(hits):
        line = group.statement
        if line is None:
            continue
        uri = next(uri for uri, _ in health_check(group.proxies[0]).uris if looks_deep(uri))
        yield Gap(
            group.subject,
            f"{group.names}: the check asks for {uri}, which by its name looks at what all servers share",
            (" ".join(line.words[:2]),),
            evidence=(str(line),),
            confidence=Confidence.MEDIUM,
        )


@check(
    "hp-server-unchecked",
    title="Servers get requests and nobody asks whether they live",
    severity=Severity.MEDIUM,
    incidents=(),
    alike=(POSTHOG,),
    about=ABOUT,
)
def hp_server_unchecked(scene: Scene) -> Answers:
    """
    What it does
    Looks in backends with traffic and at least two servers for servers without `check`, `track` or
    `agent-check`, with all `default-server` lines applied. `haproxy -c` does not mention them.

    Why it matters
    HAProxy takes such a server for healthy for ever. When it dies it gets its share of requests as before,
    and each of them waits for the connect timeout or fails. Options like `httpchk`, `rise` and `fall` do
    nothing without `check`, though they look as if somebody had thought of it.

    Incidents
    PostHog's probes let traffic go to pods that crashed in a loop, for up to 45 minutes; most evaluations of
    the region ended in 504.

    Fix
    Add `check` to each server, or `default-server check` once, and `option httpchk` with a path made for it.

    References
    - https://docs.haproxy.org/2.8/configuration.html#5.2-check
    """
    for proxy in _upstream(scene):
        servers = [one for one in proxy.servers if not one.backup]
        slots = sum(one.slots for one in servers)
        if proxy.mode in {"log", "syslog"} or not servers:
            continue
        unchecked = [one for one in servers if not one.checked]
        if not unchecked:
            yield Pass(proxy)
        elif slots < _MANY:
            yield NotApplicable(proxy, "it has one server: there is no other to send requests to")
        else:
            yield _unchecked_gap(proxy, servers, unchecked)


def _unchecked_gap(proxy: Proxy, servers: list[Server], unchecked: list[Server]) -> Gap:
    named = ", ".join(f"`{one.name}`" for one in unchecked[:4])
    more = f" and {len(unchecked) - 4} more" if len(unchecked) > 4 else ""  # noqa: PLR2004
    idle = health_check(proxy).statement if health_check(proxy).kind else None
    evidence = [str(unchecked[0].statement)[:120]]
    if idle is not None:
        evidence.append(f"{idle}: it asks only servers with `check`")
    mixed = len(unchecked) < len(servers)
    return Gap(
        proxy,
        f"`{proxy.title}` sends requests to {named}{more} without ever asking whether "
        f"{'it lives' if len(unchecked) == 1 else 'they live'}"
        + (f" ({len(servers) - len(unchecked)} of {len(servers)} are checked)" if mixed else ""),
        unchecked[0].path,
        evidence=tuple(evidence),
        severity=Severity.HIGH if mixed or idle is not None else None,
        confidence=Confidence.MEDIUM if proxy.conditional else Confidence.HIGH,
    )


@check(
    "hp-check-connect-only",
    title="An HTTP server passes its check by accepting a connection",
    severity=Severity.LOW,
    incidents=(),
    alike=(STRIPE, POSTHOG),
    about=ABOUT,
)
def hp_check_connect_only(scene: Scene) -> Answers:
    """
    What it does
    Looks for backends in `mode http` with at least two servers that are checked, but with no `option httpchk`
    or other check of the protocol: the check is a mere TCP connection.

    Why it matters
    The kernel accepts connections for a process that hangs, is out of threads or answers 500 to everything.
    HAProxy keeps it in rotation, and with `leastconn` a server that fails fast even gets the most requests.

    Incidents
    At Stripe stalled database nodes went on to answer their health checks, and no election could succeed. At
    PostHog probes left pods in rotation that could not serve.

    Fix
    Add `option httpchk GET /healthz` (and `http-check expect status 200`) with a path that shows that the
    process itself can serve.

    References
    - https://docs.haproxy.org/2.8/configuration.html#4-option%20httpchk
    """
    lacking: list[Proxy] = []
    for proxy in _upstream(scene):
        asked = checked_servers(proxy)
        if proxy.mode != "http" or len(asked) < _MANY:
            continue
        if proxy.config.partial and not health_check(proxy).kind:
            continue
        if health_check(proxy).kind or all(one.is_on("agent-check") for one in asked):
            yield Pass(proxy)
        else:
            lacking.append(proxy)
    for group in by_base(lacking):
        yield Gap(
            group.subject,
            f"{group.names}: in `mode http`, servers are checked by a TCP connection only; one that hangs or "
            "answers 500 stays in rotation",
            ("option httpchk",),
            evidence=(str(checked_servers(group.proxies[0])[0].statement)[:120], _how(group.proxies[0])),
        )


def _how(proxy: Proxy) -> str:
    line = health_check(proxy).statement
    return f"{line}, without rules" if line is not None else "no option httpchk"


@check(
    "hp-check-hair-trigger",
    title="One failed health check takes a server out",
    severity=Severity.MEDIUM,
    incidents=(),
    alike=(COINBASE,),
    about=ABOUT,
)
def hp_check_hair_trigger(scene: Scene) -> Answers:
    """
    What it does
    Looks for checked servers with `fall 1` (the default is 3) in backends of at least two servers.

    Why it matters
    One lost packet or one pause of the process removes the server, and its share goes to the others.
    Under load checks fail everywhere, so servers are removed one after another while each could still serve.

    Incidents
    At Coinbase checks queued behind requests on busy servers. Each eviction put more load on those that were
    left, until they were evicted as well.

    Fix
    Leave `fall` at 3, and shorten `inter` and `timeout check` where detection must be quicker.

    References
    - https://docs.haproxy.org/2.8/configuration.html#5.2-fall
    """
    for proxy in _upstream(scene):
        asked = [one for one in proxy.servers if one.is_on("check")]
        if sum(one.slots for one in asked) < _MANY:
            continue
        hasty = [one for one in asked if one.number("fall") == 1]
        if not hasty:
            yield Pass(proxy)
            continue
        yield Gap(
            proxy,
            f"`{proxy.title}`: `fall 1` takes a server out at its first failed check ({len(hasty)} of "
            f"{len(asked)})",
            (*hasty[0].path, "fall"),
            evidence=(f"{hasty[0].statement.keyword} {hasty[0].name}: fall 1",),
            confidence=Confidence.MEDIUM if hasty[0].statement.conditional else Confidence.HIGH,
        )


@check(
    "hp-check-slow",
    title="A dead server keeps its requests for a minute or more",
    severity=Severity.MEDIUM,
    incidents=DOCUMENTATION_ONLY,
    about=ABOUT,
)
def hp_check_slow(scene: Scene) -> Answers:
    """
    What it does
    Computes how long a dead server stays in rotation: `fall` checks, one each `inter` (`fastinter` once a
    check has failed), and speaks up from 60 s on. `on-error` or `observe` are taken as a quicker way.

    Why it matters
    Until then every request that the balancer gives to it fails or waits for the connect timeout. Backends
    with few servers lose a large part of their requests for that whole time.

    Incidents
    No public incident is known to us that names these figures; it rests on the documentation.

    Fix
    Set `inter` to a few seconds, with `fastinter` for the time after a failure: `default-server check inter
    5s fastinter 1s fall 3`.

    References
    - https://docs.haproxy.org/2.8/configuration.html#5.2-inter
    """
    for proxy in _upstream(scene):
        asked = [one for one in proxy.servers if one.is_on("check")]
        if sum(one.slots for one in asked) < _MANY:
            continue
        slow = [(time, one) for one in asked if (time := _detection(one)) >= _SLOW]
        if not slow:
            yield Pass(proxy)
            continue
        time, worst = max(slow, key=lambda pair: pair[0])
        yield Gap(
            proxy,
            f"`{proxy.title}`: `{worst.name}` gets requests for up to {spoken(time)} after its death",
            (*worst.path, "inter"),
            evidence=(
                f"inter {worst.value('inter') or '2s (default)'}",
                f"fastinter {worst.value('fastinter') or 'as inter'}",
                f"fall {worst.value('fall') or '3 (default)'}",
            ),
            confidence=Confidence.MEDIUM if worst.statement.conditional else Confidence.HIGH,
        )


def _detection(server: Server) -> float:
    """Milliseconds from the death of a server to its removal; 0 where something else tells of it."""
    if server.value("observe") and server.value("on-error"):
        return 0.0
    inter = milliseconds(server.value("inter") or "2s")
    fall = server.number("fall") if server.value("fall") else 3
    if inter is None or fall is None:
        return 0.0
    fast = server.time("fastinter")
    return inter + max(0, fall - 1) * (inter if fast is None else fast)


CHECKS = (
    hp_check_connect_only,
    hp_check_hair_trigger,
    hp_check_slow,
    hp_httpchk_deep,
    hp_httpchk_root,
    hp_server_unchecked,
)
