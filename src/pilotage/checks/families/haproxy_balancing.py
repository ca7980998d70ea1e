"""Which backend and which server get a request: empty backends, maps, hashes, the order of servers."""
# ruff: noqa: D205, D212, D416 - the docstring of a check is its page, in fixed sections

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from pilotage.checks.haproxy.addresses import Kind
from pilotage.checks.haproxy.config import HaproxyConfig, Lead, Proxy
from pilotage.checks.haproxy.groups import by_line
from pilotage.checks.haproxy.servers import Server
from pilotage.checks.haproxy.statements import Statement
from pilotage.checks.haproxy.template import HaproxyTemplate
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
from pilotage.core.regex import regex

ABOUT = ("HaproxyConfig",)
MONZO = "monzo-2017-10-27-partial-outage-linkerd-empty-endpoints"
SKYSCANNER = "skyscanner-2019-04-23-haproxy-ingress-hot-podding"
SKYSCANNER_ARGO = "skyscanner-2021-08-25-argocd-template-deleted-all-namespaces"
SLACK = "slack-2022-02-22-consul-rollout-cache-metastable"

_ANSWERS = frozenset(
    "redirect errorfile errorfiles errorloc errorloc302 errorloc303 dispatch use-fcgi-app monitor-uri "
    "use-server".split()
)
_ANSWERING = frozenset(
    "return deny redirect use-service reject tarpit silent-drop set-dst auth lua wait-for-body".split()
)
_BY_ITSELF = ("stats", "filter", "option transparent", "option http_proxy")
_MEANT_EMPTY = regex(
    r"den(?:y|ied)|drop|block|reject|black[-_]?hole|sink|null|none|nowhere|maint|empty|no[-_]?(?:match|backend|route)"
    r"|not[-_]?found|40[0-9]|503|disabled|dummy|noop|nomatch",
    re.IGNORECASE,
)
_FEW = 4
_MANY = 2
_CACHES = frozenset({"uri", "url_param", "hash"})


@check(
    "hp-empty-backend",
    title="Requests are led to a backend without servers",
    severity=Severity.HIGH,
    breaks=True,
    incidents=(),
    alike=(MONZO,),
    about=ABOUT,
)
def hp_empty_backend(scene: Scene) -> Answers:
    """
    What it does
    Follows `use_backend` and `default_backend` (by name, and through maps that are at hand) to backends
    that have no server and do not answer by themselves (`http-request return`, `redirect`, `errorfile`, a
    service). `haproxy -c` accepts them. Where no backend at all has a server and a `stats socket` is open,
    something adds them at run time, and nothing is said.

    Why it matters
    Every request that gets there is answered with 503. It is what remains when a template finds nothing to
    write, or when the last server was deleted and the rule was not. Where servers are added at run time, each
    restart brings the empty backend back.

    Incidents
    At Monzo a Service that had been left without endpoints kept the router from starting again: nobody had
    thought of an empty list as something that occurs.

    Fix
    Add servers, or take the rule out that leads there, or say what is to be answered:
    `http-request return status 404`.

    References
    - https://docs.haproxy.org/2.8/configuration.html#4-use_backend
    """
    for config in scene.configs(HaproxyConfig):
        leads = _leads_by_name(config)
        for proxy in config.proxies:
            if proxy.kind != "backend" or proxy.disabled or proxy.name not in leads:
                continue
            if any(proxy.all("server")) or any(proxy.all("server-template")):
                yield Pass(proxy)
            elif _answers(proxy) or _MEANT_EMPTY.search(proxy.name):
                yield NotApplicable(proxy, "it is meant to have no server")
            elif _filled_at_run_time(config):
                yield NotApplicable(proxy, "no backend here has a server: something adds them at run time")
            else:
                lead = leads[proxy.name]
                yield Gap(
                    proxy,
                    f"`{lead.proxy.title}` leads requests to `{proxy.title}`, which has no server: "
                    "they get 503",
                    ("server",),
                    evidence=(str(lead.statement)[:120], "no server, server-template or answer of its own"),
                    confidence=Confidence.MEDIUM if proxy.conditional else Confidence.HIGH,
                    related=(lead.proxy,),
                )


def _filled_at_run_time(config: HaproxyConfig) -> bool:
    """Whether servers seem to come through a socket: none is written anywhere, and one is open."""
    return not any(other.servers for other in config.proxies) and any(
        any(section.all("stats socket")) for section in config.of("global")
    )


def _leads_by_name(config: HaproxyConfig) -> dict[str, Lead]:
    known = {one.name for one in config.proxies if one.has_servers}
    found: dict[str, Lead] = {}
    for lead in config.leads:
        if not lead.anywhere:
            for name in lead.names(known):
                found.setdefault(name, lead)
    return found


def _answers(proxy: Proxy) -> bool:
    """Whether it says something to its requests without a server."""
    for line in proxy.statements:
        if line.keyword in {"http-request", "tcp-request", "http-response"}:
            if _ANSWERING & {word.split("(")[0].split(".")[0] for word in line.words[1:4]}:
                return True
        elif line.keyword in _ANSWERS or any(line.begins(phrase) for phrase in _BY_ITSELF):
            return True
    return False


@check(
    "hp-map-backend-missing",
    title="A map leads requests to a backend that does not exist",
    severity=Severity.HIGH,
    breaks=True,
    incidents=DOCUMENTATION_ONLY,
    about=ABOUT,
)
def hp_map_backend_missing(scene: Scene) -> Answers:
    """
    What it does
    Reads the maps that `use_backend %[…map(file,default)]` uses, where they lie beside the configuration, and
    looks for values (and defaults) that no section of the configuration bears. Where the expression adds
    something to the value, nothing is said.

    Why it matters
    `haproxy -c` checks names of backends that are written down, not those that a map gives at run time. Such
    requests go to the default backend, most often a page of errors, or get 503.

    Incidents
    No public incident is known to us that names it; it rests on the documentation.

    Fix
    Correct the map, or add the backend; check both together before they are rolled out.

    References
    - https://docs.haproxy.org/2.8/configuration.html#4-use_backend
    - https://docs.haproxy.org/2.8/configuration.html#7.3.1-map
    """
    for config in scene.configs(HaproxyConfig):
        known = {one.name for one in config.proxies if one.has_servers}
        for lead in config.leads:
            if not lead.calls:
                continue
            if lead.maps is None:
                missing = [call.path for call in lead.calls if config.map_at(call.path) is None]
                if missing:
                    yield Unknown(f"the map {missing[0]} is not beside the configuration", lead.proxy)
                continue
            lost = sorted(_lost(lead, known))
            if not lost:
                yield Pass(lead.proxy)
            elif config.partial:
                yield Unknown(f"backend {lost[0][0]} may stand in another file", lead.proxy)
            else:
                yield _map_gap(lead, lost)


def _lost(lead: Lead, known: set[str]) -> Iterator[tuple[str, str]]:
    """Names of backends that are not there, each with where it is named."""
    for one in lead.maps or ():
        for line, key, value in one.entries:
            if value and value not in known:
                yield value, f"{posixpath.basename(one.path)}:{line}: {key} {value}"
    for call in lead.calls:
        if call.default and call.default not in known:
            yield call.default, f"default of map({posixpath.basename(call.path)})"


def _map_gap(lead: Lead, lost: list[tuple[str, str]]) -> Gap:
    names = sorted({name for name, _ in lost})
    shown = ", ".join(f"`{name}`" for name in names[:4])
    more = f" and {len(names) - 4} more" if len(names) > 4 else ""  # noqa: PLR2004
    default = lead.proxy.setting("default_backend")
    return Gap(
        lead.proxy,
        f"`{lead.proxy.title}` leads requests by a map to {shown}{more}, which no section defines: they "
        + ("go to the default backend" if default is not None else "get 503"),
        ("use_backend", str(lead.statement.words[1])),
        evidence=(str(lead.statement)[:160], *(where for _, where in lost[:4])),
    )


@check(
    "hp-rr-sorted",
    title="Every reload starts round robin at the same server",
    severity=Severity.LOW,
    incidents=(SKYSCANNER,),
    about=ABOUT,
)
def hp_rr_sorted(scene: Scene) -> Answers:
    """
    What it does
    Looks for backends that balance by round robin (the default) over at least four servers of equal weight in
    the order of their addresses, in configurations that something generates: a comment says so, or they stand
    in a ConfigMap. A list that somebody keeps by hand is passed over.

    Why it matters
    A process begins with the first server. Whatever generates the list gives each proxy the same order, and
    each change reloads all proxies together. With many proxies and few requests between two reloads the first
    servers of the list get most of them.

    Incidents
    At Skyscanner some 80 proxies wrote the same sorted list. After each reload the first pods were overloaded
    and turned unready; taking them out was a change that reloaded all proxies, and the next pods were hit.

    Fix
    Use `balance random` (2.0 and later) or `leastconn`, or let each proxy shuffle its list.

    References
    - https://docs.haproxy.org/2.8/configuration.html#4-balance
    """
    for config in scene.configs(HaproxyConfig):
        for proxy in config.upstream:
            servers = [one for one in proxy.servers if not one.backup]
            line = proxy.setting("balance")
            if len(servers) < _FEW or (line is not None and line.word(1) not in {"roundrobin", "static-rr"}):
                continue
            if not config.generated:
                yield NotApplicable(proxy, "nothing says that its servers are generated")
            elif _sorted(servers):
                yield Gap(
                    proxy,
                    f"`{proxy.title}`: {len(servers)} servers in the order of their addresses, by round "
                    f"robin: after a reload every proxy starts at `{servers[0].name}`",
                    ("balance",) if line is not None else servers[0].path,
                    evidence=(
                        str(line) if line is not None else "balance roundrobin (default)",
                        f"{servers[0].address.host} … {servers[-1].address.host}",
                    ),
                    confidence=Confidence.MEDIUM,
                )
            else:
                yield Pass(proxy)


def _sorted(servers: list[Server]) -> bool:
    if any(one.address.kind is not Kind.IP or one.is_on("weight") for one in servers):
        return False
    keys = [
        ([int(part) if part.isdecimal() else 0 for part in one.address.host.split(".")], one.address.port)
        for one in servers
    ]
    texts = [(one.address.host, one.address.port) for one in servers]
    return len(set(texts)) == len(texts) and (keys == sorted(keys) or texts == sorted(texts))


@check(
    "hp-hash-unstable",
    title="One server more or less moves almost every key",
    severity=Severity.MEDIUM,
    incidents=(),
    alike=(SLACK,),
    about=ABOUT,
)
def hp_hash_unstable(scene: Scene) -> Answers:
    """
    What it does
    Looks for backends that choose the server by a hash (`balance uri`, `url_param`, `hdr`, `hash`, `source`)
    over at least three servers that may come and go (checks, or `server-template`) without
    `hash-type consistent`. By source address, and where `map-based` is written down, it is of low severity.

    Why it matters
    The default maps a key to the position in the list. When one of ten servers goes, nine of ten keys move to
    another server: caches are cold everywhere at once, sessions are lost, and what stands behind the caches
    gets the load of all of them.

    Incidents
    At Slack restarts of agents replaced full caches by empty ones, step by step. The hit rate fell, and the
    database behind them could not carry the misses nor the retries.

    Fix
    Add `hash-type consistent`, with which only the keys of the server that went are moved.

    References
    - https://docs.haproxy.org/2.8/configuration.html#4-hash-type
    """
    hits: list[tuple[Proxy, Statement]] = []
    for config in scene.configs(HaproxyConfig):
        for proxy in config.upstream:
            line = proxy.setting("balance")
            if line is None or not _by_hash(line):
                continue
            servers = [one for one in proxy.servers if not one.backup]
            moving = any(one.checked or one.is_template for one in servers)
            if sum(one.slots for one in servers) <= _MANY or not moving:
                yield NotApplicable(proxy, "its list of servers hardly changes")
                continue
            kind = proxy.setting("hash-type")
            if kind is not None and kind.word(1) == "consistent":
                yield Pass(proxy)
            else:
                hits.append((proxy, line))
    for group in by_line(hits):
        line = group.statement
        if line is None:
            continue
        stated = group.proxies[0].setting("hash-type")
        low = stated is not None or line.word(1).split("(")[0] not in _CACHES | {"hdr"}
        yield Gap(
            group.subject,
            f"{group.names}: by `{line}` and a map-based hash, one server less moves almost every key",
            ("balance",),
            evidence=(str(line), str(stated) if stated is not None else "hash-type map-based (default)"),
            severity=Severity.LOW if low else None,
        )


def _by_hash(line: Statement) -> bool:
    return line.word(1).split("(")[0] in _CACHES | {"hdr", "source", "rdp-cookie"}


@check(
    "hp-no-slowstart",
    title="A server that has just come up gets the most requests",
    severity=Severity.LOW,
    incidents=DOCUMENTATION_ONLY,
    about=ABOUT,
)
def hp_no_slowstart(scene: Scene) -> Answers:
    """
    What it does
    Looks for backends in `mode http` with `balance leastconn` over at least three checked servers, none of
    which has `slowstart`.

    Why it matters
    A server that comes back has no connections, so `leastconn` sends it every new request until it has as
    many as the others. It is the one whose caches are cold, whose pools are empty and whose code is not
    compiled yet: it slows down, fails its checks, goes and comes back.

    Incidents
    No public incident is known to us that names this setting; it rests on the documentation.

    Fix
    Add `default-server slowstart 30s`.

    References
    - https://docs.haproxy.org/2.8/configuration.html#5.2-slowstart
    """
    for config in scene.configs(HaproxyConfig):
        for proxy in config.upstream:
            line = proxy.setting("balance")
            asked = [one for one in proxy.servers if one.checked and not one.backup]
            if proxy.mode != "http" or line is None or line.word(1) != "leastconn":
                continue
            if sum(one.slots for one in asked) <= _MANY:
                continue
            if any(one.is_on("slowstart") for one in asked):
                yield Pass(proxy)
            else:
                yield Gap(
                    proxy,
                    f"`{proxy.title}`: `leastconn` without `slowstart`: of {sum(one.slots for one in asked)} "
                    "servers the one that has just come up gets every new request",
                    asked[0].path,
                    evidence=(str(line), str(asked[0].statement)[:120]),
                )


@check(
    "hp-template-logic",
    title="A template writes servers, and no result of it is checked",
    severity=Severity.MEDIUM,
    incidents=(SKYSCANNER,),
    alike=(SKYSCANNER_ARGO,),
    about=("HaproxyTemplate",),
)
def hp_template_logic(scene: Scene) -> Answers:
    """
    What it does
    Looks for templates of an HAProxy configuration (Go, Jinja, Consul Template, ERB) in which a loop writes
    the servers of a backend, and for a rendered result in the same folder or below it among what is
    checked.

    Why it matters
    `haproxy -c` cannot read a template, and neither can any other check. What order a loop has, what
    happens to an empty list, and what a missing value leaves behind is seen for the first time in
    production, by all proxies together.

    Incidents
    At Skyscanner the template language sorted what the program had shuffled: all proxies wrote the same
    order, and one pod after another was overloaded. Two years later a template lost its delimiters, and
    every namespace was deleted.

    Fix
    Keep rendered results of typical and of odd input (no servers, one server) beside the template, and check
    them in CI: `haproxy -c -f` and `pilotage check`.

    References
    - https://pkg.go.dev/text/template#hdr-Actions
    - https://docs.haproxy.org/2.8/management.html#3
    """
    rendered = {
        posixpath.dirname(text.name)
        for config in scene.configs(HaproxyConfig)
        for text in config.texts
        if text.source is not None
    }
    for template in scene.configs(HaproxyTemplate):
        loops = [one for one in template.loops() if one.writes_servers]
        if not loops:
            yield NotApplicable(template, "no loop in it writes servers")
            continue
        folder = posixpath.dirname(template.text.name)
        if any(one == folder or one.startswith(f"{folder}/") for one in rendered):
            yield Pass(template)
            continue
        yield Gap(
            template,
            f"a loop over `{loops[0].over}` writes servers"
            + (f", and {len(loops) - 1} more loops do" if len(loops) > 1 else "")
            + "; no rendered result is checked",
            ("loop", loops[0].line),
            evidence=(
                f"line {loops[0].line}: loop over {loops[0].over}",
                f"no result in or below {folder or '.'}",
            ),
            confidence=Confidence.MEDIUM,
        )


CHECKS = (
    hp_empty_backend,
    hp_hash_unstable,
    hp_map_backend_missing,
    hp_no_slowstart,
    hp_rr_sorted,
    hp_template_logic,
)
