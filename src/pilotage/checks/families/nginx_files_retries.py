"""nginx configuration: what it does when a server fails, to the request, to the server, to the cache."""
# ruff: noqa: D205, D212, D416 - the docstring of a check is its page, in fixed sections

from __future__ import annotations

from pilotage.checks.model import Answers, Confidence, Gap, NotApplicable, Pass, Severity, Unknown, check
from pilotage.checks.nginx.model import Directive, NginxConfig
from pilotage.checks.nginx.targets import parameter, servers, upstream_of
from pilotage.checks.scene import Scene

MAILGUN = "mailgun-2018-07-13-central-auth-retry-overload"
POSTHOG = "posthog-2025-09-29-connection-timeout-cut-retry-amplification"
COINBASE = "coinbase-2020-06-01-api-saturation-health-check-eviction"
BUILDKITE = "buildkite-2016-08-22-db-downgrade-health-check-death-spiral"
SLACK = "slack-2022-02-22-consul-rollout-cache-metastable"
HONEYCOMB = "honeycomb-2023-07-25-schema-cache-db-deadlock"

_OVERLOAD = ("http_500", "http_502", "http_503", "http_504", "http_429")
_MANY_SERVERS = 3
_KINDS = ("proxy_next_upstream", "grpc_next_upstream", "fastcgi_next_upstream", "uwsgi_next_upstream")


def _retries(one: Directive) -> Directive | None:
    """The directive that says when a request goes to the next server, for a `proxy_pass` or a relative."""
    return one.setting(one.name.replace("_pass", "_next_upstream"))


def _bounded(one: Directive) -> bool:
    """Whether tries or time are bounded for a `proxy_pass` or a relative."""
    kind = one.name.replace("_pass", "_next_upstream")
    stated = (one.setting(f"{kind}_tries"), one.setting(f"{kind}_timeout"))
    return any(found is not None and found.arg not in {"0", "0s"} for found in stated)


@check(
    "ngx-retry-non-idempotent",
    title="nginx repeats a POST on another server when the first one may have carried it out",
    severity=Severity.MEDIUM,
    incidents=(),
    alike=(MAILGUN, POSTHOG),
    about=("NginxConfig",),
)
def ngx_retry_non_idempotent(scene: Scene) -> Answers:
    """
    What it does
    Looks for `non_idempotent` in `proxy_next_upstream` and its relatives.

    Why it matters
    By default nginx does not repeat a POST, LOCK or PATCH that was already sent. With `non_idempotent` it
    does: an order, a payment or a message that only timed out is carried out twice. Under overload, when
    answers come late, each such request also becomes several.

    Incidents
    At Mailgun and at PostHog requests that were repeated turned a slow service into one that was down. With
    this option writes are repeated as well.

    Fix
    Take `non_idempotent` out. Where single requests may safely be repeated, set it in their `location` only
    and bound it with `proxy_next_upstream_tries 2`.

    References
    - https://nginx.org/en/docs/http/ngx_http_proxy_module.html#proxy_next_upstream
    """
    for config in scene.configs(NginxConfig):
        for one in config.of(*_KINDS):
            block = one.parent or config.root
            if "non_idempotent" not in one.args:
                yield Pass(block)
                continue
            yield Gap(
                block,
                "A POST that was sent to one server is sent to the next too, when the answer is late or bad",
                (one.name,),
                evidence=(f"{one.name} {' '.join(one.args)}",),
            )


@check(
    "ngx-retry-unbounded",
    title="One request that fails is tried on every server, without a bound",
    severity=Severity.MEDIUM,
    incidents=(),
    alike=(MAILGUN, POSTHOG),
    about=("NginxConfig",),
)
def ngx_retry_unbounded(scene: Scene) -> Answers:
    """
    What it does
    Looks for locations that hand requests to an `upstream` of three or more servers, where
    `proxy_next_upstream` was widened to answers such as 500, 503 or 429, and neither
    `proxy_next_upstream_tries` nor `proxy_next_upstream_timeout` bounds it.

    Why it matters
    A server that is overloaded answers 503 to be left alone. nginx takes the same request to the next
    server, and to the one after it, until all have failed. At the moment in which all are near their limit,
    the load is multiplied by the number of servers, and a single request that crashes a server gets to
    crash all of them.

    Incidents
    At Mailgun repeated requests kept a slowed authentication service down after its cause was gone. At
    PostHog retries without a bound overwhelmed a database that had merely been busy.

    Fix
    Set `proxy_next_upstream_tries 2;` and a `proxy_next_upstream_timeout` below the client's patience, or
    leave the answers of an overloaded server (`http_503`, `http_429`) out of `proxy_next_upstream`.

    References
    - https://nginx.org/en/docs/http/ngx_http_proxy_module.html#proxy_next_upstream_tries
    """
    for config in scene.configs(NginxConfig):
        told: set[int] = set()
        for one in config.passes:
            upstream, rule = upstream_of(config, one), _retries(one)
            if upstream is None or rule is None or id(rule) in told:
                continue
            wide = [arg for arg in rule.args if arg in _OVERLOAD]
            block = rule.parent or config.root
            if not wide or len(servers(upstream)) < _MANY_SERVERS or _bounded(one):
                yield Pass(block)
            else:
                told.add(id(rule))
                yield Gap(
                    block,
                    f"A request that ends in {wide[0].removeprefix('http_')} is tried on all "
                    f"{len(servers(upstream))} servers of `{upstream.arg}`, one after the other",
                    (rule.name,),
                    evidence=(f"{rule.name} {' '.join(rule.args)}", f"{rule.name}_tries: absent"),
                    confidence=Confidence.HIGH if one.closed else Confidence.MEDIUM,
                    related=(upstream,),
                )


def _touchy(upstream: Directive) -> list[Directive]:
    """Servers that a single failure takes out."""
    return [one for one in servers(upstream) if parameter(one, "max_fails") in {None, "1"}]


@check(
    "ngx-evicts-busy",
    title="A server that answers 503 once is taken out, and its load moves to the others",
    severity=Severity.MEDIUM,
    incidents=(),
    alike=(COINBASE, BUILDKITE),
    about=("NginxConfig",),
)
def ngx_evicts_busy(scene: Scene) -> Answers:
    """
    What it does
    Looks for an `upstream` with several servers whose `max_fails` is 1, the default, to which requests go
    with answers such as 500, 503 or 429 in `proxy_next_upstream`.

    Why it matters
    An answer that is named there counts as a failure of the server. With `max_fails=1` a single one takes
    the server out for `fail_timeout`, ten seconds. Under overload each server gives such an answer now and
    then; each one that leaves hands its load to those that remain, until nginx says "no live upstreams" and
    everybody gets 502, although all servers run.

    Incidents
    At Coinbase servers that were merely busy were taken out of the balancer, and the rest failed under
    their load. At Buildkite health checks that failed for a shared cause took servers out until none was
    left.

    Fix
    Set `max_fails` to what a busy minute can bring (10 or more), or take the answers of a busy server
    (`http_500`, `http_503`, `http_429`) out of `proxy_next_upstream`.

    References
    - https://nginx.org/en/docs/http/ngx_http_upstream_module.html#max_fails
    - https://nginx.org/en/docs/http/ngx_http_proxy_module.html#proxy_next_upstream
    """
    for config in scene.configs(NginxConfig):
        for upstream in config.upstreams.values():
            rules = [
                rule
                for one in config.passes
                if upstream_of(config, one) is upstream and (rule := _retries(one)) is not None
            ]
            wide = sorted({arg for rule in rules for arg in rule.args if arg in _OVERLOAD})
            touchy = _touchy(upstream)
            if len(servers(upstream)) < 2 or not rules:  # noqa: PLR2004 - the last server is never taken out
                yield NotApplicable(upstream, "one server, or only failed connections count")
            elif not wide or not touchy:
                yield Pass(upstream)
            else:
                yield Gap(
                    upstream,
                    f"One answer of {wide[0].removeprefix('http_')} takes a server of `{upstream.arg}` out "
                    "for 10 s, and the others get its load",
                    ("server",),
                    evidence=(f"{rules[0].name} {' '.join(rules[0].args)}", "max_fails: 1 (the default)"),
                    confidence=Confidence.MEDIUM,
                    related=(rules[0].parent or config.root,),
                )


@check(
    "ngx-cache-no-stale",
    title="Cached answers end when the server behind the cache fails",
    severity=Severity.LOW,
    incidents=(),
    alike=(SLACK, HONEYCOMB),
    about=("NginxConfig",),
)
def ngx_cache_no_stale(scene: Scene) -> Answers:
    """
    What it does
    Looks for `proxy_cache` without `proxy_cache_use_stale` where it holds.

    Why it matters
    nginx has the answer on its disk, but once it has expired and the server behind is down, users get 502.
    The cache then also multiplies trouble: when many entries expire together, all their requests go to a
    server that is starting up.

    Incidents
    At Slack an emptied cache left a database with more load than it could bear, and the load kept the cache
    from filling again. At Honeycomb a cache cooled, its misses met a database that could not bear them, and
    nothing served what was merely old.

    Fix
    Set `proxy_cache_use_stale error timeout updating http_500 http_502 http_503 http_504;` and
    `proxy_cache_lock on;` beside `proxy_cache`.

    References
    - https://nginx.org/en/docs/http/ngx_http_proxy_module.html#proxy_cache_use_stale
    - https://nginx.org/en/docs/http/ngx_http_proxy_module.html#proxy_cache_lock
    """
    for config in scene.configs(NginxConfig):
        for one in config.of("proxy_cache", "fastcgi_cache", "uwsgi_cache"):
            if one.arg == "off":
                continue
            block = one.parent or config.root
            stale = block.setting(f"{one.name}_use_stale") or next(
                (each for each in block.walk() if each.name == f"{one.name}_use_stale"), None
            )
            if stale is not None and stale.arg != "off":
                yield Pass(block)
            elif not one.closed:
                yield Unknown("it may be set in a part that is not here", block, (one.name,))
            else:
                lock = block.setting(f"{one.name}_lock")
                yield Gap(
                    block,
                    f"Answers in the cache `{one.arg}` are not used when the server behind it fails",
                    (one.name,),
                    evidence=(
                        f"{one.name}_use_stale: {'off' if stale is not None else 'absent'}",
                        f"{one.name}_lock: {lock.arg if lock is not None else 'absent'}",
                    ),
                )


CHECKS = (ngx_retry_non_idempotent, ngx_retry_unbounded, ngx_evicts_busy, ngx_cache_no_stale)
