"""nginx configuration: whether it learns of new addresses behind the names that it is given."""
# ruff: noqa: D205, D212, D416 - the docstring of a check is its page, in fixed sections

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

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
from pilotage.checks.nginx.model import Directive, NginxConfig
from pilotage.checks.nginx.targets import Target, host_of, is_address, parameter, seconds, target_of, targets
from pilotage.checks.objects import KubeObject
from pilotage.checks.scene import Scene
from pilotage.checks.values import as_text, human_seconds
from pilotage.core.regex import regex

TURNITIN = "turnitin-2018-07-25-kubelet-elb-ip-change-notready"

_MOVING = regex(
    r"\.(?:elb|elasticbeanstalk|execute-api|rds|cache)\.[a-z0-9.-]*amazonaws\.com$|\.elb\.amazonaws\.com$"
    r"|\.(?:cloudfront\.net|azurewebsites\.net|azureedge\.net|trafficmanager\.net|cloudapp\.azure\.com"
    r"|herokuapp\.com|herokudns\.com|onrender\.com|run\.app|vercel\.app|netlify\.app|fly\.dev|ngrok\.io)$"
)
"""Names whose addresses their owner changes at any time."""
_CLUSTER = regex(r"^([a-z0-9-]+)(?:\.([a-z0-9-]+)(?:\.svc(?:\.[a-z0-9.-]+)?)?)?$")
_PORT = regex(r":\d+")
_LONG_VALID_SECONDS = 300


def _once(config: NginxConfig) -> Iterator[Target]:
    """Targets whose names are looked up only when the configuration is read."""
    yield from (one for one in targets(config) if not one.at_run_time)
    for upstream in config.upstreams.values():
        for server in upstream.all("server"):
            if "resolve" not in server.args:
                yield target_of(server)


def _service(scene: Scene, config: NginxConfig, host: str) -> KubeObject | None:
    match = _CLUSTER.match(host)
    if match is None or not isinstance(config.holder, KubeObject):
        return None
    return scene.find("Service", match[1], config.holder, match[2] or "")


def _inside(config: NginxConfig, host: str) -> bool:
    """Whether a name is most likely that of a Service, whose own address does not change."""
    return ".svc" in host or (isinstance(config.holder, KubeObject) and host.count(".") <= 1)


def _moves(scene: Scene, config: NginxConfig, host: str) -> tuple[Severity, str] | None:
    """How bad it is to look a name up once, and why; None where its address stays."""
    service = _service(scene, config, host)
    if service is not None:
        return _moving_service(service)
    if _inside(config, host) or (config.holder is None and _stays(scene, host)):
        return None
    if _MOVING.search(host):
        return Severity.HIGH, "its owner changes the addresses behind this name at any time"
    if "." not in host:
        return Severity.LOW, "a container that is created again may get another address"
    return Severity.MEDIUM, "the name may get another address"


def _stays(scene: Scene, host: str) -> bool:
    """Whether a name without a domain is, in an image's configuration, that of Services with an address."""
    found = scene.index.named("Service", host)
    return bool(found) and all(_moving_service(one) is None for one in found)


def _moving_service(service: KubeObject) -> tuple[Severity, str] | None:
    if service.spec.get("clusterIP") == "None":
        return Severity.HIGH, f"{service.key} is headless: the name stands for pods, whose addresses change"
    if as_text(service.spec.get("type")) == "ExternalName":
        return Severity.MEDIUM, f"{service.key} is an ExternalName: the name stands for a host elsewhere"
    return None


@check(
    "ngx-static-dns",
    title="nginx looks an upstream's name up once, at start, and keeps the addresses",
    severity=Severity.MEDIUM,
    incidents=(),
    alike=(TURNITIN,),
    about=("NginxConfig",),
)
def ngx_static_dns(scene: Scene) -> Answers:
    """
    What it does
    Looks for `proxy_pass` and its relatives, and for `server` lines of an `upstream`, that name a host
    instead of an address, without `resolve` and without a variable. Names of Kubernetes Services are left
    out, since their address stays; headless Services are not. So are the names that Docker and Podman write
    into a container's hosts file.

    Why it matters
    nginx resolves such a name when it reads its configuration and never again. When the addresses behind
    the name change, it goes on sending requests to the old ones until somebody reloads it: 502 and 504, or
    answers from whoever has the address now. When the name does not resolve at a restart, nginx does not
    start at all.

    Incidents
    At Turnitin half the nodes were lost when the addresses behind a load balancer's name changed and the
    clients stayed with the old ones. nginx with a literal host name does the same.

    Fix
    Set `resolver` and put the name into a variable (`set $upstream api.example.org; proxy_pass
    http://$upstream;`), or write `server api.example.org resolve;` with a `zone` in the `upstream` (nginx
    1.27.3 and later).

    References
    - https://nginx.org/en/docs/http/ngx_http_proxy_module.html#proxy_pass
    - https://nginx.org/en/docs/http/ngx_http_upstream_module.html#resolve
    """
    named = {name for config in scene.configs(NginxConfig) for name in config.upstreams}
    for config in scene.configs(NginxConfig):
        together: dict[object, list[Target]] = defaultdict(list)
        for target in _once(config):
            settled = target.host in _IN_HOSTS_FILE or _elsewhere(target, config, named)
            if target.is_name and not settled:
                # The servers of one upstream are one cure.
                together[id(target.by.parent) if target.by.name == "server" else target.host].append(target)
        if not together:
            yield _nothing_named(config)
        for found in together.values():
            host = found[0].host
            moves = _worst(_moves(scene, config, one.host) for one in found)
            if moves is None:
                yield NotApplicable(
                    found[0].by.parent or config, f"`{host}` is a Service, whose address stays"
                )
                continue
            severity, why = moves
            first = found[0].by
            yield Gap(
                _block(first, config),
                f"`{host}` is looked up once, when nginx reads its configuration: {why}",
                _path(first),
                evidence=tuple(f"{one.by.name} {one.by.arg}" for one in found[:5]),
                severity=severity,
                confidence=Confidence.MEDIUM if severity is Severity.LOW else Confidence.HIGH,
            )


_IN_HOSTS_FILE = {"host.docker.internal", "gateway.docker.internal", "host.containers.internal"}
"""Names that a program which runs containers writes into their hosts file; no `resolver` knows them."""


def _elsewhere(target: Target, config: NginxConfig, named: set[str]) -> bool:
    """Whether a name is, or may well be, that of an `upstream` in another part of the configuration."""
    if target.by.name == "server" or "." in target.host:
        return False
    return target.host in named or (
        not config.complete and not _PORT.search(target.by.arg.partition("//")[2])
    )


def _worst(found: Iterable[tuple[Severity, str] | None]) -> tuple[Severity, str] | None:
    told = [one for one in found if one is not None]
    return max(told, key=lambda one: one[0].rank) if told else None


def _nothing_named(config: NginxConfig) -> Pass | NotApplicable:
    if config.passes:
        return Pass(config)
    return NotApplicable(config, "it hands no request to anybody")


def _block(one: Directive, config: NginxConfig) -> Directive:
    return one.parent if one.parent is not None else config.root


def _path(one: Directive) -> tuple[str | int, ...]:
    """The way to a directive from its block."""
    beside = one.parent.all(one.name) if one.parent is not None else [one]
    number = next((place for place, other in enumerate(beside) if other is one), 0)
    return (one.name, number) if number else (one.name,)


def _values_of(variables: tuple[str, ...], one: Directive, config: NginxConfig) -> list[str] | None:
    """The hosts that a variable can stand for here; None where requests or code decide."""
    if len(variables) != 1:
        return None
    variable = variables[0]
    found: list[str] = []
    for block in one.ancestors:
        found += [
            each.args[1]
            for each in block.all("set")
            if each.args[:1] == (f"${variable}",) and len(each.args) > 1
        ]
    for table in config.of("map", "split_clients", "geo"):
        if table.items is not None and table.args[-1:] == (f"${variable}",):
            found += [
                line.arg for line in table.children if line.args and line.name not in {"include", "hostnames"}
            ]
    if not found or any("$" in value for value in found):
        return None
    return [host_of(value) for value in found]


@check(
    "ngx-resolver-missing",
    title="A host name comes from a variable, and no resolver is there to look it up",
    severity=Severity.HIGH,
    breaks=True,
    incidents=DOCUMENTATION_ONLY,
    about=("NginxConfig",),
)
def ngx_resolver_missing(scene: Scene) -> Answers:
    """
    What it does
    Looks for `proxy_pass` with a variable, in its host or behind it, that leads to a name which is no
    `upstream` of this configuration, where no `resolver` holds.

    Why it matters
    nginx accepts such a configuration and starts. Then each request to that location is answered with 502
    and "no resolver defined to resolve", since with any variable the name is looked up at run time. Nothing
    but a real request shows it.

    Incidents
    None is known to the library; the behaviour is documented.

    Fix
    Set `resolver` in the `http` or `server` block, with the address of the DNS server that the host uses,
    and `valid=` with a short time.

    References
    - https://nginx.org/en/docs/http/ngx_http_core_module.html#resolver
    - https://nginx.org/en/docs/http/ngx_http_proxy_module.html#proxy_pass
    """
    for config in scene.configs(NginxConfig):
        for one in config.passes:
            target = target_of(one)
            if not target.at_run_time:
                continue
            block = _block(one, config)
            if one.setting("resolver") is not None:
                yield Pass(block)
                continue
            hosts = [target.host] if target.host else _values_of(target.variables, one, config)
            if hosts is None:
                yield NotApplicable(block, "what the variable stands for is decided by requests or code")
                continue
            names = [host for host in hosts if not is_address(host) and host not in config.upstreams]
            if not names:
                yield Pass(block)
            elif not one.closed:
                yield Unknown("a resolver may be set in a part that is not here", block, _path(one))
            else:
                yield Gap(
                    block,
                    f"`{names[0]}` is looked up for each request, since the address has a variable, and no "
                    "`resolver` holds here: each is answered with 502",
                    _path(one),
                    evidence=(f"{one.name} {one.arg}", "resolver: absent"),
                )


@check(
    "ngx-resolver-valid-long",
    title="nginx keeps looked-up addresses longer than their DNS records allow",
    severity=Severity.MEDIUM,
    incidents=(),
    alike=(TURNITIN,),
    about=("NginxConfig",),
)
def ngx_resolver_valid_long(scene: Scene) -> Answers:
    """
    What it does
    Looks for `resolver` with `valid=` of five minutes or more.

    Why it matters
    `valid=` overrides the lifetime that the DNS record itself has. A failover by DNS, with a lifetime of a
    minute or less, then reaches everybody but nginx, which sends requests to the failed address until its
    own time is over.

    Incidents
    At Turnitin clients stayed with the old addresses of a load balancer for 15 minutes after they had
    changed, and half the nodes were lost meanwhile.

    Fix
    Leave `valid=` out, so that the record's own lifetime counts, or set it to 30 seconds or less.

    References
    - https://nginx.org/en/docs/http/ngx_http_core_module.html#resolver
    """
    for config in scene.configs(NginxConfig):
        for one in config.of("resolver"):
            stated = parameter(one, "valid")
            kept = seconds(stated) if stated is not None else None
            block = _block(one, config)
            if kept is None or kept < _LONG_VALID_SECONDS:
                yield Pass(block)
                continue
            yield Gap(
                block,
                f"Addresses are kept for {human_seconds(kept)}, whatever lifetime their records have",
                _path(one),
                evidence=(f"resolver {' '.join(one.args)}",),
            )


CHECKS = (ngx_static_dns, ngx_resolver_missing, ngx_resolver_valid_long)
