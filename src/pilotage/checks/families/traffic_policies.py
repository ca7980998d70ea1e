"""Policies of routes and meshes: retries, time limits, ejection of servers, subsets."""
# ruff: noqa: D205, D212, D416 - the docstring of a check is its page, in fixed sections

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import msgspec

from pilotage.checks.absence import hold
from pilotage.checks.model import (
    DOCUMENTATION_ONLY,
    Answer,
    Answers,
    Confidence,
    Gap,
    NotApplicable,
    Pass,
    Severity,
    Unknown,
    check,
)
from pilotage.checks.objects import KubeObject
from pilotage.checks.routes import backends, cluster_name
from pilotage.checks.scene import Scene
from pilotage.checks.values import KeyPath, as_int, as_list, as_map, as_text, dig, duration
from pilotage.core.counting import counted

MAILGUN = "mailgun-2018-07-13-central-auth-retry-overload"
TWILIO = "twilio-2021-02-26-feature-enablement-service-overload"
POSTHOG = "posthog-2025-09-29-connection-timeout-cut-retry-amplification"
COINBASE = "coinbase-2020-06-01-api-saturation-health-check-eviction"
STACK_EXCHANGE = "stack-exchange-2016-07-20-regex-home-page-health-check"
WIKIMEDIA = "wikimedia-2018-06-26-deploy-tool-depooled-most-servers"
SKIPPER = "zalando-2019-skipper-ingress-oom-alb-502"
CONGESTION = "aws-2021-12-07-us-east-1-internal-network-congestion"
EBS = "aws-2011-04-21-us-east-ebs-re-mirroring-storm"

_MANY_RETRIES = 5
_ALL = 100
_FEW_SERVERS = 50


@check(
    "outlier-ejects-all",
    title="Outlier detection may take every server out of service",
    severity=Severity.MEDIUM,
    incidents=(),
    alike=(COINBASE, STACK_EXCHANGE, WIKIMEDIA),
    about=("DestinationRule",),
)
def outlier_ejects_all(scene: Scene) -> Answers:
    """
    What it does
    Looks for DestinationRules, their subsets and port settings whose `outlierDetection.maxEjectionPercent`
    is above 50, with no `minHealthPercent` that would end ejection while many are out. 100 is of medium
    severity, less of low.

    Why it matters
    Ejection looks for the one bad server among good ones. When a dependency slows, or load is too high, all
    of them answer with errors; each ejection then gives the rest more load, until nobody is left. The
    default, 10 %, keeps most of them in.

    Incidents
    At Coinbase busy servers failed their health checks and were taken out, which overloaded the rest. At
    Stack Exchange one slow page failed the check on every server, and none was left for the other pages. At
    Wikimedia a threshold that should have kept servers in the pool did not hold, and nearly all were out.

    Fix
    Leave `maxEjectionPercent` at 10 to 50, and set `minHealthPercent: 50`, so that ejection stops when half
    of the servers look bad: then it is not the servers.

    References
    - https://istio.io/latest/docs/reference/config/networking/destination-rule/#OutlierDetection
    - https://www.envoyproxy.io/docs/envoy/latest/intro/arch_overview/upstream/outlier
    """
    for rule in scene.of("DestinationRule"):
        for path in _policies(rule):
            found = as_map(rule.get(*path, "outlierDetection"))
            if found:
                yield _ejection(rule, path, found)


def _policies(rule: KubeObject) -> Iterator[KeyPath]:
    yield from _with_ports(rule, ("spec", "trafficPolicy"))
    for position, _ in enumerate(as_list(rule.spec.get("subsets"))):
        yield from _with_ports(rule, ("spec", "subsets", position, "trafficPolicy"))


def _with_ports(rule: KubeObject, path: KeyPath) -> Iterator[KeyPath]:
    yield path
    for position, _ in enumerate(as_list(rule.get(*path, "portLevelSettings"))):
        yield (*path, "portLevelSettings", position)


def _ejection(rule: KubeObject, path: KeyPath, found: object) -> Answer:
    most = as_int(dig(found, "maxEjectionPercent"))
    healthy = as_int(dig(found, "minHealthPercent")) or 0
    if most is None or most <= _FEW_SERVERS or healthy > 0:
        return Pass(rule)
    return Gap(
        rule,
        f"{most} % of the servers of `{as_text(rule.spec.get('host'))}` may be ejected at once",
        (*path, "outlierDetection", "maxEjectionPercent"),
        evidence=(f"maxEjectionPercent: {most}", "minHealthPercent: 0 (the default)"),
        severity=Severity.MEDIUM if most >= _ALL else Severity.LOW,
    )


class _Retry(msgspec.Struct, frozen=True):
    """How often a route repeats a request.

    Attributes:
        route: the object.
        path: where it says so.
        attempts: how often.
        on: for what.
        waits: whether the time for all of them together is bounded or they back off.
    """

    route: KubeObject
    path: KeyPath
    attempts: int
    on: str
    waits: bool = False


@check(
    "route-retries-amplify",
    title="A route repeats failed requests so often that a slow backend is buried",
    severity=Severity.MEDIUM,
    incidents=(),
    alike=(MAILGUN, TWILIO, POSTHOG, CONGESTION),
    about=("VirtualService", "HTTPRoute", "HTTPProxy", "Middleware", "Ingress"),
    needs=("DestinationRule",),
)
def route_retries_amplify(scene: Scene) -> Answers:
    """
    What it does
    Reads retries of VirtualServices (`attempts`), HTTPRoutes (`retry.attempts`), HTTPProxies
    (`retryPolicy.count`), Traefik's Retry middleware and ingress-nginx's `proxy-next-upstream-tries` (0 means
    no limit). Five or more tries on top of the first are a finding. A DestinationRule that bounds
    `connectionPool.http.maxRetries` for the host makes it pass.

    Why it matters
    When a backend is slow, each request becomes up to six. The backend gets a multiple of its usual load at
    the very time when it can bear least, and stays down after the cause is gone. Retries of several layers
    multiply.

    Incidents
    At Mailgun, Twilio and PostHog a service that had slowed down was kept down by the retries of its callers;
    rolling back the cause did not end it. At AWS retries of clients that did not back off kept a network full
    for hours.

    Fix
    Retry once or twice, only on `connect-failure` and `refused-stream` (a request that was never started),
    and bound how many retries run at once: `DestinationRule.connectionPool.http.maxRetries`, for others a
    retry budget.

    References
    - https://istio.io/latest/docs/reference/config/networking/virtual-service/#HTTPRetry
    - https://projectcontour.io/docs/main/config/request-routing/#response-timeouts
    - https://doc.traefik.io/traefik/middlewares/http/retry/
    - https://kubernetes.github.io/ingress-nginx/user-guide/nginx-configuration/annotations/#custom-timeouts
    """
    bounded = _bounded_hosts(scene)
    for retry in _retries(scene):
        often = f"up to {counted(retry.attempts, 'time')}" if retry.attempts else "without limit"
        if 0 < retry.attempts < _MANY_RETRIES or _bounded(bounded, retry):
            yield Pass(retry.route)
        else:
            yield Gap(
                retry.route,
                f"A failed request is repeated {often}{f' on {retry.on}' if retry.on else ''}",
                retry.path,
                evidence=(f"{retry.path[-1]}: {retry.attempts}", *([f"on: {retry.on}"] if retry.on else [])),
                confidence=Confidence.MEDIUM,
            )


def _retries(scene: Scene) -> Iterator[_Retry]:
    yield from _listed(scene, "VirtualService", ("spec", "http"), ("retries", "attempts"), "retryOn")
    yield from _listed(scene, "HTTPRoute", ("spec", "rules"), ("retry", "attempts"), "codes")
    yield from _listed(scene, "HTTPProxy", ("spec", "routes"), ("retryPolicy", "count"), "retryOn")
    for one in scene.of("Middleware"):
        attempts = as_int(one.get("spec", "retry", "attempts"))
        if attempts:
            yield _Retry(one, ("spec", "retry", "attempts"), attempts, "")
    key = "nginx.ingress.kubernetes.io/proxy-next-upstream-tries"
    for one in scene.of("Ingress"):
        value = as_text(one.annotations.get(key))
        if value.isascii() and value.isdigit() and _retries_at_all(one):
            # nginx counts the first try, too.
            tries = int(value[:6])
            count = 0 if tries == 0 else max(tries - 1, 1)
            yield _Retry(one, ("metadata", "annotations", key), count, _next_upstream(one))


def _next_upstream(ingress: KubeObject) -> str:
    return as_text(ingress.annotations.get("nginx.ingress.kubernetes.io/proxy-next-upstream"))


def _retries_at_all(ingress: KubeObject) -> bool:
    timeout = as_text(ingress.annotations.get("nginx.ingress.kubernetes.io/proxy-next-upstream-timeout"))
    return _next_upstream(ingress) != "off" and timeout in {"", "0"}


def _listed(
    scene: Scene, kind: str, rules: tuple[str, ...], where: tuple[str, str], on: str
) -> Iterator[_Retry]:
    for one in scene.of(kind):
        for position, rule in enumerate(as_list(one.get(*rules))):
            attempts = as_int(dig(rule, *where))
            if attempts is not None and attempts > 0:
                said = dig(rule, where[0], on)
                text = ", ".join(str(item) for item in said) if isinstance(said, list) else as_text(said)
                yield _Retry(one, (*rules, position, *where), attempts, text)


def _bounded_hosts(scene: Scene) -> dict[str, set[str]]:
    """Services for which a DestinationRule bounds how many retries run at once -> their namespaces."""
    found: dict[str, set[str]] = defaultdict(set)
    for rule in scene.of("DestinationRule"):
        if as_int(rule.get("spec", "trafficPolicy", "connectionPool", "http", "maxRetries")):
            name, space = cluster_name(as_text(rule.spec.get("host")))
            found[name].add(space or rule.namespace)
    return found


def _bounded(known: dict[str, set[str]], retry: _Retry) -> bool:
    """Whether the retries of every host of a route are bounded."""
    if retry.route.kind != "VirtualService":
        return False
    items = as_list(retry.route.get(*retry.path[:3], "route"))
    hosts = {as_text(dig(item, "destination", "host")) for item in items}
    return bool(hosts) and all(_has_rule(known, retry.route, host) for host in hosts)


def _has_rule(known: dict[str, set[str]], route: KubeObject, host: str) -> bool:
    name, space = cluster_name(host)
    wanted = space or route.namespace
    found = known.get(name, set())
    return bool(found) and (not wanted or bool(found & {"", wanted}))


@check(
    "route-timeout-off",
    title="A route waits for its backend without any limit",
    severity=Severity.LOW,
    incidents=(),
    alike=(SKIPPER, EBS),
    about=("HTTPRoute", "HTTPProxy", "Ingress"),
)
def route_timeout_off(scene: Scene) -> Answers:
    """
    What it does
    Looks for time limits that somebody has switched off: `timeouts.request: 0s` of an HTTPRoute,
    `timeoutPolicy.response: infinity` of an HTTPProxy, and an hour or more as `proxy-read-timeout` of an
    Ingress of ingress-nginx. Routes that carry websockets or gRPC, as far as they say so, are left out.

    Why it matters
    Each request that waits holds a connection and memory in the proxy that everybody shares. One backend
    that hangs then fills the proxy, and its neighbours fail with it.

    Incidents
    At Zalando requests that waited for one slow backend filled the memory of all ingress proxies, and every
    application of the cluster answered 502. At AWS calls that waited long for one sick zone held the threads
    that all zones shared.

    Fix
    Set the longest time that a good answer takes, some seconds for most paths. Give the few long ones a
    route of their own.

    References
    - https://gateway-api.sigs.k8s.io/guides/http-timeouts/
    - https://projectcontour.io/docs/main/config/request-routing/#response-timeouts
    - https://kubernetes.github.io/ingress-nginx/user-guide/nginx-configuration/annotations/#custom-timeouts
    """
    yield from _switched_off(scene, "HTTPRoute", ("spec", "rules"), ("timeouts", "request"))
    yield from _switched_off(scene, "HTTPProxy", ("spec", "routes"), ("timeoutPolicy", "response"))
    key = "nginx.ingress.kubernetes.io/proxy-read-timeout"
    for one in scene.of("Ingress"):
        seconds = duration(one.annotations.get(key))
        if seconds is None:
            continue
        long_lived = "GRPC" in as_text(one.annotations.get("nginx.ingress.kubernetes.io/backend-protocol"))
        if long_lived or _says_websocket(one):
            yield NotApplicable(one, "its connections are meant to stay open")
        elif seconds < _HOUR:
            yield Pass(one)
        else:
            yield _no_limit(one, ("metadata", "annotations", key), f"{seconds:g} s")


_HOUR = 3600


def _says_websocket(one: KubeObject) -> bool:
    words = " ".join([one.name, *(backend.service for backend in backends(one))]).lower()
    return any(word in words for word in ("websocket", "ws-", "-ws", "socket", "stream", "grpc"))


def _switched_off(
    scene: Scene, kind: str, rules: tuple[str, ...], where: tuple[str, str]
) -> Iterator[Answer]:
    for one in scene.of(kind):
        for position, rule in enumerate(as_list(one.get(*rules))):
            value = as_text(dig(rule, *where))
            if not value:
                continue
            path: KeyPath = (*rules, position, *where)
            if dig(rule, "enableWebsockets") is True or _says_websocket(one):
                yield NotApplicable(one, "its connections are meant to stay open")
            elif value in {"infinity", "infinite"} or duration(value) == 0:
                yield _no_limit(one, path, value)
            else:
                yield Pass(one)


def _no_limit(one: KubeObject, path: KeyPath, value: str) -> Gap:
    return Gap(
        one,
        f"A request may wait {'an hour or more' if value.endswith(' s') else 'for ever'} for its backend",
        path,
        evidence=(f"{path[-1]}: {value}",),
        confidence=Confidence.MEDIUM,
    )


@check(
    "mesh-subset-missing",
    title="A route sends requests to a subset that no DestinationRule defines",
    severity=Severity.HIGH,
    breaks=True,
    incidents=DOCUMENTATION_ONLY,
    about=("VirtualService",),
    needs=("DestinationRule",),
)
def mesh_subset_missing(scene: Scene) -> Answers:
    """
    What it does
    Compares each `destination.subset` of a VirtualService with the subsets that DestinationRules define for
    that host. Where the files hold no DestinationRule of that namespace or folder, the answer is unknown.

    Why it matters
    Envoy has no cluster for a subset that is not defined, and answers 503 to every request that the route
    sends there. The same happens when the VirtualService arrives before the DestinationRule.

    Incidents
    No public incident with this very cause is in the library; Istio's documentation names it as the usual
    reason for 503 after a change of rules.

    Fix
    Define the subset in the DestinationRule first, wait until it has spread, and only then send requests to
    it; when removing it, the other way round.

    References
    - https://istio.io/latest/docs/ops/common-problems/network-issues/#503-errors-after-setting-destination-rule
    - https://istio.io/latest/docs/ops/best-practices/traffic-management/#avoid-503-errors-while-reconfiguring-service-routes
    """
    defined: dict[tuple[str, str], set[str]] = {}
    for rule in scene.of("DestinationRule"):
        name, space = cluster_name(as_text(rule.spec.get("host")))
        names = {as_text(dig(item, "name")) for item in as_list(rule.spec.get("subsets"))}
        defined.setdefault((name, space or rule.namespace), set()).update(names)
    for route in scene.of("VirtualService"):
        for backend in backends(route):
            subset = as_text(route.get(*backend.path, "subset"))
            if subset:
                found = defined.get((backend.service, backend.namespace or route.namespace))
                yield _subset(scene, route, (backend.path, subset, backend.service), found)


def _subset(
    scene: Scene, route: KubeObject, wanted: tuple[KeyPath, str, str], defined: set[str] | None
) -> Answer:
    path, subset, service = wanted
    if defined is not None and subset in defined:
        return Pass(route)
    if defined is None and not hold(scene, "DestinationRule", route):
        return Unknown(f"no DestinationRule for `{service}` is among the files", route, path)
    known = f"subsets of `{service}`: {', '.join(sorted(defined)) or 'none'}" if defined else "no rule for it"
    return Gap(
        route,
        f"Subset `{subset}` of `{service}` is not defined, so requests to it get 503",
        (*path, "subset"),
        evidence=(f"subset: {subset}", known),
        confidence=Confidence.HIGH if scene.live or defined is not None else Confidence.MEDIUM,
    )


CHECKS = (mesh_subset_missing, outlier_ejects_all, route_retries_amplify, route_timeout_off)
