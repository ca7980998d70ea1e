"""nginx configuration: ceilings, times and limits that hold until the day they are reached."""
# ruff: noqa: D205, D212, D416 - the docstring of a check is its page, in fixed sections

from __future__ import annotations

from collections.abc import Iterator

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
from pilotage.checks.nginx.model import PASSES, Directive, NginxConfig
from pilotage.checks.nginx.targets import seconds, upstream_of
from pilotage.checks.scene import Scene
from pilotage.checks.values import human_seconds
from pilotage.core.counting import counted

COINBASE_2020 = "coinbase-2020-06-01-api-saturation-health-check-eviction"
COINBASE_2021 = "coinbase-2021-05-19-nginx-connection-ceiling-and-slow-autoscaling"
KINESIS = "aws-2020-11-25-us-east-1-kinesis-thread-limit"
CRESTA = "cresta-ingress-nginx-issue-12797-2025-02-04-serial-reloads-block-endpoint-updates"
POSTHOG = "posthog-2025-10-24-rate-limiter-saw-only-the-load-balancer"

_DEFAULT_CONNECTIONS = 512
_LEAST_CONNECTIONS = 1024
_HOUR = 3600
_TIMEOUTS = tuple(
    f"{one.removesuffix('_pass')}_{what}_timeout" for one in PASSES for what in ("read", "send", "connect")
)


def _number(one: Directive | None) -> int | None:
    text = one.arg if one is not None else ""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None  # noqa: PLR2004


def _streams(block: Directive) -> bool:
    """Whether connections of a block are meant to stay open: WebSockets, events, gRPC streams."""
    for one in (block, *block.walk()):
        if one.name == "proxy_set_header" and one.arg.lower() == "upgrade":
            return True
        if one.name == "proxy_buffering" and one.arg == "off":
            return True
        if one.name == "grpc_pass":
            return True
    return False


@check(
    "ngx-timeout-hours",
    title="A server that hangs holds a connection of nginx for an hour or more",
    severity=Severity.MEDIUM,
    incidents=(),
    alike=(COINBASE_2020,),
    about=("NginxConfig",),
)
def ngx_timeout_hours(scene: Scene) -> Answers:
    """
    What it does
    Looks for `proxy_read_timeout`, `proxy_send_timeout`, `proxy_connect_timeout` and those of FastCGI,
    uWSGI and gRPC of an hour or more. Places that carry WebSockets, events or streams are left out.

    Why it matters
    The timeout is what frees a connection when the server behind hangs. With an hour, each request that
    reaches a hanging server keeps its client, its connection and its memory in nginx for that hour. One
    slow dependency then fills `worker_connections`, and nothing that nginx serves can be reached.

    Incidents
    At Coinbase slow internal calls held the processes of the API until none was left for new requests.

    Fix
    Set the timeout for normal requests to what a user waits for (60 seconds or less), and a long one only
    in the `location` of WebSockets or long polls.

    References
    - https://nginx.org/en/docs/http/ngx_http_proxy_module.html#proxy_read_timeout
    """
    for config in scene.configs(NginxConfig):
        for one in config.of(*_TIMEOUTS):
            block = one.parent or config.root
            time = seconds("".join(one.args))
            if one.block("stream") is not None or (_streams(block) and block.name != "http"):
                yield NotApplicable(block, "its connections are meant to stay open")
            elif time is None or time < _HOUR:
                yield Pass(block)
            else:
                yield Gap(
                    block,
                    f"A request to a server that hangs keeps its connection for {human_seconds(time)}",
                    (one.name,),
                    evidence=(f"{one.name} {' '.join(one.args)}",),
                    fix=_BY_PHP if one.name.startswith("fastcgi_") else "",
                )


_BY_PHP = (
    "Set the timeout to what a user waits for (60 seconds or less), and a longer one only in the `location` "
    "that needs it. Where the program bounds its time (`request_terminate_timeout` of PHP-FPM), a little "
    "more than that will do."
)


@check(
    "ngx-connection-ceiling",
    title="The fixed number of connections is too low for a proxy",
    severity=Severity.MEDIUM,
    incidents=(COINBASE_2021,),
    about=("NginxConfig",),
)
def ngx_connection_ceiling(scene: Scene) -> Answers:
    """
    What it does
    Looks at whole configurations that hand requests on, with `worker_connections` below 1024; absent, it is
    512.

    Why it matters
    The number bounds all connections of a worker, those to servers included: each request that is handed on
    takes two. At 512 a worker serves about 250 clients at once, keep-alive ones among them. At the ceiling
    nginx refuses new connections, its own health check too, while CPU and memory look idle. It does not
    grow with traffic, and tests seldom reach it.

    Incidents
    At Coinbase a sudden spike reached the connection limit of the NGINX routers; instances failed for over
    40 minutes, until the limit was raised by hand.

    Fix
    Set `worker_connections 4096;` or more in `events`, `worker_rlimit_nofile` at least twice as high, and
    an alert on connections in use.

    References
    - https://nginx.org/en/docs/ngx_core_module.html#worker_connections
    """
    for config in scene.configs(NginxConfig):
        if not config.complete or not config.passes:
            yield NotApplicable(config, "no whole configuration that hands requests on")
            continue
        if config.root.open:
            yield NotApplicable(config, "the number may be set in a part that is not here")
            continue
        events = config.root.first("events")
        stated = events.first("worker_connections") if events is not None else None
        number = _number(stated)
        if stated is not None and number is None:
            yield NotApplicable(config, "the number is no number")
        elif (number or _DEFAULT_CONNECTIONS) >= _LEAST_CONNECTIONS:
            yield Pass(config)
        else:
            yield Gap(
                events or config,
                f"A worker serves {counted(number or _DEFAULT_CONNECTIONS, 'connection')} at most, and a "
                "request that is handed on takes two",
                ("worker_connections",),
                evidence=(f"worker_connections: {number if number is not None else 'absent (512)'}",),
            )


@check(
    "ngx-nofile-under-connections",
    title="The system lets a worker open fewer files than it may have connections",
    severity=Severity.MEDIUM,
    incidents=(),
    alike=(KINESIS, COINBASE_2021),
    about=("NginxConfig",),
)
def ngx_nofile_under_connections(scene: Scene) -> Answers:
    """
    What it does
    Compares `worker_rlimit_nofile` with `worker_connections`, where both are written.

    Why it matters
    Each connection is an open file for the system. When its limit comes first, `accept` fails with "too
    many open files", at a load that the configuration seems to allow. Files that are served or cached count
    too.

    Incidents
    At AWS a fleet of Kinesis servers reached the number of threads that the system allows, which nobody had
    compared with what the fleet needs; all of them failed at once. At Coinbase it was the proxy's own
    ceiling.

    Fix
    Set `worker_rlimit_nofile` to at least twice `worker_connections`.

    References
    - https://nginx.org/en/docs/ngx_core_module.html#worker_rlimit_nofile
    """
    for config in scene.configs(NginxConfig):
        limit = config.root.first("worker_rlimit_nofile")
        events = config.root.first("events")
        stated = events.first("worker_connections") if events is not None else None
        files, connections = _number(limit), _number(stated)
        if files is None or connections is None:
            yield NotApplicable(config, "only one of both is written")
        elif files >= connections:
            yield Pass(config)
        else:
            yield Gap(
                config,
                f"A worker may open {counted(files, 'file')} and have {counted(connections, 'connection')}: "
                "files run out first",
                ("worker_rlimit_nofile",),
                evidence=(f"worker_rlimit_nofile {files}", f"worker_connections {connections}"),
            )


@check(
    "ngx-old-workers-stay",
    title="After each reload old workers stay as long as any client keeps its connection",
    severity=Severity.MEDIUM,
    incidents=(),
    alike=(CRESTA,),
    about=("NginxConfig",),
)
def ngx_old_workers_stay(scene: Scene) -> Answers:
    """
    What it does
    Looks at whole configurations that carry WebSockets or streams of TCP, without
    `worker_shutdown_timeout`. Those in ConfigMaps are left out: nginx in a pod is replaced, not reloaded.
    One that a Dockerfile beside it copies into an image is of low severity, since little reloads it there.

    Why it matters
    A reload starts new workers, and the old ones end when their last connection ends. A WebSocket can last
    for days. With each reload another generation stays, with its memory and its old list of servers, until
    the memory is used up: the more often the configuration changes, the sooner.

    Incidents
    At Cresta generations of workers piled up behind frequent reloads; the setting that was to prevent it
    held back updates of endpoints until the last old worker had ended.

    Fix
    Set `worker_shutdown_timeout 300s;` (or what a client can bear) at the outermost level.

    References
    - https://nginx.org/en/docs/ngx_core_module.html#worker_shutdown_timeout
    """
    for config in scene.configs(NginxConfig):
        if not config.complete:
            continue
        long_lived = _long_lived(config)
        if long_lived is None:
            yield NotApplicable(config, "its connections are short")
        elif config.root.first("worker_shutdown_timeout") is not None:
            yield Pass(config)
        elif config.root.open:
            yield NotApplicable(config, "it may be set in a part that is not here")
        elif config.holder is not None:
            yield NotApplicable(config, "nothing in it tells that a changed ConfigMap reloads nginx")
        else:
            yield Gap(
                config,
                f"Workers of before a reload stay until the last connection of `{long_lived.label}` ends",
                ("worker_shutdown_timeout",),
                evidence=("worker_shutdown_timeout: absent", f"{long_lived.label}: connections that last"),
                severity=Severity.LOW if config.in_image else None,
                related=(long_lived,),
            )


def _long_lived(config: NginxConfig) -> Directive | None:
    """A block whose connections last: one that passes `Upgrade` on, or a server of the `stream` module."""
    for one in config.of("proxy_set_header"):
        if one.arg.lower() == "upgrade" and one.parent is not None:
            return one.parent
    for one in config.of("proxy_pass"):
        listens = one.parent.all("listen") if one.parent is not None else []
        lasting = any("udp" not in each.args for each in listens)
        if one.block("stream") is not None and one.parent is not None and lasting:
            return one.parent
    return None


@check(
    "ngx-keepalive-idle",
    title="Connections to servers are to be kept, and a header or version closes each of them",
    severity=Severity.LOW,
    incidents=DOCUMENTATION_ONLY,
    about=("NginxConfig",),
)
def ngx_keepalive_idle(scene: Scene) -> Answers:
    """
    What it does
    Looks for an `upstream` with `keepalive` to which no `proxy_pass` leads with HTTP 1.1 and an emptied
    `Connection` header.

    Why it matters
    Until nginx 1.29.7 requests went out as HTTP 1.0 with `Connection: close`, so that `keepalive` does
    nothing unless both are set. Each request then opens a connection of its own: under load ports run out
    and TLS to the servers costs more than the answer. From 1.29.7 on the defaults are right.

    Incidents
    None is known to the library; the behaviour is documented.

    Fix
    Set `proxy_http_version 1.1;` and `proxy_set_header Connection "";` where the `upstream` is used.

    References
    - https://nginx.org/en/docs/http/ngx_http_upstream_module.html#keepalive
    """
    for config in scene.configs(NginxConfig):
        for upstream in config.upstreams.values():
            kept = upstream.first("keepalive")
            used = [
                one
                for one in config.passes
                if one.name == "proxy_pass" and upstream_of(config, one) is upstream
            ]
            if kept is None or kept.arg == "0" or not used:
                continue
            if any(_keeps(one) for one in used):
                yield Pass(upstream)
            elif not all(one.closed for one in used):
                yield NotApplicable(upstream, "both may be set in a part that is not here")
            else:
                yield Gap(
                    upstream,
                    f"`keepalive {kept.arg}` has no effect before nginx 1.29.7: requests go out as HTTP 1.0 "
                    "or with `Connection: close`",
                    ("keepalive",),
                    evidence=tuple(_lacking(used[0])),
                    confidence=Confidence.MEDIUM,
                    related=(used[0].parent or config.root,),
                )


def _keeps(one: Directive) -> bool:
    return not list(_lacking(one))


def _lacking(one: Directive) -> Iterator[str]:
    version = one.setting("proxy_http_version")
    if version is None or version.arg == "1.0":
        yield "proxy_http_version: absent (1.0 before nginx 1.29.7)"
    headers = {each.arg.lower(): each.args[1:] for each in one.values("proxy_set_header")}
    value = "".join(headers.get("connection", ("absent",)))
    # A variable is a map that tells WebSockets from the rest; what it gives is its own matter.
    if value and not value.startswith("$"):
        yield f"proxy_set_header Connection: {value}"


_ZONES = {"limit_req": "limit_req_zone", "limit_conn": "limit_conn_zone"}


@check(
    "ngx-limit-sees-balancer",
    title="A limit by client address counts the balancer in front as the only client",
    severity=Severity.HIGH,
    incidents=(),
    alike=(POSTHOG,),
    about=("NginxConfig",),
)
def ngx_limit_sees_balancer(scene: Scene) -> Answers:
    """
    What it does
    Looks for `limit_req` and `limit_conn` whose zone counts by `$remote_addr` or `$binary_remote_addr`, in
    a server that stands behind a balancer (it takes the PROXY protocol, or decides by `X-Forwarded-Proto`)
    and does not put the client's address in place (`set_real_ip_from`, `real_ip_header`).

    Why it matters
    Behind a balancer every connection comes from the balancer's address. The limit for one client is then
    the limit for all of them together: at normal traffic nearly everybody gets 503 or 429, and the limiter
    that was to protect the site takes it down.

    Incidents
    PostHog put a rate limit by connection address behind its load balancer, which was the only address that
    the limiter saw. Nearly all requests got 429.

    Fix
    Set `set_real_ip_from` to the balancer's networks and `real_ip_header proxy_protocol;` (or
    `X-Forwarded-For` with `real_ip_recursive on;`), then send requests from two clients and look at the
    addresses in the log.

    References
    - https://nginx.org/en/docs/http/ngx_http_realip_module.html
    - https://nginx.org/en/docs/http/ngx_http_limit_req_module.html
    """
    for config in scene.configs(NginxConfig):
        by_address = _zones_by_address(config)
        for one in config.of(*_ZONES):
            zone = one.arg if one.name == "limit_conn" else _zone_name(one)
            block = one.parent or config.root
            if zone not in by_address:
                yield NotApplicable(block, "it does not count by client address")
                continue
            servers_of_it = (
                [block]
                if block.name == "server"
                else [each for each in block.ancestors if each.name == "server"]
            )
            behind = _behind_balancer(servers_of_it or config.of("server"))
            if behind is None:
                yield NotApplicable(block, "nothing tells that a balancer stands in front")
            elif one.setting("set_real_ip_from") is not None or _mended(servers_of_it):
                yield Pass(block)
            elif not one.closed:
                yield NotApplicable(
                    block, "the client's address may be put in place in a part that is not here"
                )
            else:
                yield Gap(
                    block,
                    f"`{one.name}` counts by the address of the connection, that of the balancer: {behind}",
                    (one.name,),
                    evidence=(f"{one.name} {' '.join(one.args)}", behind, "set_real_ip_from: absent"),
                    confidence=Confidence.HIGH if "proxy_protocol" in behind else Confidence.MEDIUM,
                )


def _zone_name(one: Directive) -> str:
    return next((arg.partition("=")[2] for arg in one.args if arg.startswith("zone=")), "")


def _zones_by_address(config: NginxConfig) -> set[str]:
    found = set()
    for one in config.of(*_ZONES.values()):
        if one.arg in {"$binary_remote_addr", "$remote_addr"}:
            found.add(_zone_name(one).partition(":")[0])
    return found


def _mended(blocks: list[Directive]) -> bool:
    return any(block.setting("set_real_ip_from") is not None for block in blocks)


def _behind_balancer(blocks: list[Directive]) -> str | None:
    """What tells that a balancer stands in front of one of some servers; None where nothing does."""
    for block in blocks:
        for one in (block, *block.walk()) if block.items is not None else ():
            if one.name == "listen" and "proxy_protocol" in one.args:
                return f"listen {' '.join(one.args)}"
            if one.name in {"if", "set"} and any("$http_x_forwarded_proto" in arg for arg in one.args):
                return "it decides by `X-Forwarded-Proto`, which a balancer sets"
    return None


CHECKS = (
    ngx_timeout_hours,
    ngx_connection_ceiling,
    ngx_nofile_under_connections,
    ngx_old_workers_stay,
    ngx_keepalive_idle,
    ngx_limit_sees_balancer,
)
