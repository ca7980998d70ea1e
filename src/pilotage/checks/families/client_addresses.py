"""What an ingress controller knows of its clients: address and protocol, as the balancer in front tells."""
# ruff: noqa: D205, D212, D416 - the docstring of a check is its page, in fixed sections

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from pilotage.checks.classes import class_of
from pilotage.checks.controllers import Controller, answering, controllers_of
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
from pilotage.checks.scene import Scene
from pilotage.checks.values import KeyPath, as_map, as_text
from pilotage.checks.workloads import SERVING

FORWARDED = "dfds-2021-08-26-traefik-v2-forwarded-headers"
RATE_LIMIT = "posthog-2025-10-24-rate-limiter-saw-only-the-load-balancer"

_LIMITS = ("limit-rps", "limit-rpm", "limit-connections", "whitelist-source-range", "allowlist-source-range")
_AWS = "service.beta.kubernetes.io/aws-load-balancer-"
_HTTP_BALANCERS = {"alb", "gce", "gce-internal", "azure/application-gateway"}


class _Front(msgspec.Struct, frozen=True):
    """What stands before a controller and speaks HTTP itself."""

    object: KubeObject
    what: str


def _http_front(one: Controller) -> _Front | None:
    """A balancer that ends the client's connection before the controller; None where none is seen."""
    for service in one.services:
        protocol = as_text(service.annotations.get(_AWS + "backend-protocol"))
        if protocol in {"http", "https"} and as_text(service.spec.get("type")) == "LoadBalancer":
            return _Front(service, f"a balancer that speaks {protocol}")
        for backend in one.scene.routes_to(service):
            if backend.route.kind == "Ingress" and class_of(backend.route) in _HTTP_BALANCERS:
                return _Front(backend.route, f"the balancer of {backend.route.key}")
    return None


def _nginx_on(one: Controller, key: str) -> bool:
    return one.setting(key).lower() in {"true", "on", "yes", "1"}


def _traefik_trusts(one: Controller) -> bool:
    return any(
        name.startswith("entrypoints.")
        and (".forwardedheaders." in name or ".proxyprotocol." in name)
        and value not in {"", "false"}
        for name, value in (one.static or {}).items()
    )


@check(
    "ing-forwarded-headers",
    title="A proxy behind a balancer does not take the client's address and protocol from it",
    severity=Severity.HIGH,
    incidents=(FORWARDED,),
    alike=(RATE_LIMIT,),
    about=SERVING,
    needs=("Ingress", "Service", "ConfigMap"),
)
def ing_forwarded_headers(scene: Scene) -> Answers:
    """
    What it does
    Finds Traefik and ingress-nginx behind a balancer that speaks HTTP itself: an Ingress of class `alb` or
    `gce` that leads to them, or a Service whose AWS balancer speaks `http`. Then looks for
    `forwardedHeaders.trustedIPs` (or `insecure`) of an entry point, or `use-forwarded-headers` in the
    ConfigMap; the PROXY protocol will do as well.

    Why it matters
    Without it the proxy throws away `X-Forwarded-Proto` and `X-Forwarded-For` and writes its own: every
    client now has the balancer's address and speaks `http`. Sign-in redirects in circles, links lose their
    `https`, limits by address hit everybody.

    Incidents
    At DFDS a new Traefik behind AWS balancers did not trust these headers. `X-Forwarded-Proto` turned from
    `https` to `http`, sign-in broke and online booking stopped.

    Fix
    Traefik: `--entrypoints.<name>.forwardedheaders.trustedips=` with the balancer's networks. ingress-nginx:
    `use-forwarded-headers: "true"` and `proxy-real-ip-cidr` with these networks.

    References
    - https://doc.traefik.io/traefik/reference/install-configuration/entrypoints/
    - https://kubernetes.github.io/ingress-nginx/user-guide/nginx-configuration/configmap/#use-forwarded-headers
    """
    for one in controllers_of(scene, "traefik", "ingress-nginx"):
        front = _http_front(one)
        if front is None:
            yield NotApplicable(one.object, "no balancer that speaks HTTP is seen in front of it")
        elif one.product == "traefik":
            if one.static is None:
                yield Unknown("its static configuration is not among the files", one.object)
            else:
                yield _forwarded(one, front, trusts=_traefik_trusts(one))
        elif one.config_unread:
            yield Unknown(f"its ConfigMap {one.flags['configmap']} is not among the files", one.object)
        else:
            trusts = _nginx_on(one, "use-forwarded-headers") or _nginx_on(one, "use-proxy-protocol")
            yield _forwarded(one, front, trusts=trusts)


def _forwarded(one: Controller, front: _Front, *, trusts: bool) -> Answer:
    if trusts:
        return Pass(one.object)
    subject: KubeObject = one.object
    path: KeyPath = one.container.path
    key = "forwardedHeaders.trustedIPs"
    if one.product == "ingress-nginx":
        key = "use-forwarded-headers"
        if one.config_map is not None:
            subject, path = one.config_map, ("data", key)
    return Gap(
        subject,
        f"{one.name} stands behind {front.what} and does not take the client's address and protocol from it",
        path,
        evidence=(f"{key}: absent", f"in front: {front.object.key}"),
        confidence=Confidence.MEDIUM,
        related=(front.object, one.object),
    )


@check(
    "ing-limit-by-address",
    title="A limit by client address sees one address for all clients",
    severity=Severity.MEDIUM,
    incidents=(RATE_LIMIT,),
    about=("Ingress",),
    needs=("Service", "ConfigMap"),
)
def ing_limit_by_address(scene: Scene) -> Answers:
    """
    What it does
    Looks for Ingresses of ingress-nginx with `limit-rps`, `limit-rpm`, `limit-connections` or
    `whitelist-source-range`, whose controller stands behind a Service of type LoadBalancer that hides the
    client: `externalTrafficPolicy` is `Cluster` (the default), or a balancer speaks HTTP itself, and neither
    the PROXY protocol nor `use-forwarded-headers` brings the address back.

    Why it matters
    With the policy `Cluster` the node that gets a connection writes its own address over the client's. All
    clients of a node then share one limit, which the first busy minute reaches; an access list lets all or
    nobody in.

    Incidents
    At PostHog a rate limit by address was put behind a balancer. It took the balancer for the only client,
    and 97 % of requests got 429.

    Fix
    Set `externalTrafficPolicy: Local` on the controller's Service, or the PROXY protocol on both sides, or
    `use-forwarded-headers` behind a balancer that speaks HTTP. Then look at the addresses in the access log
    before limiting by them.

    References
    - https://kubernetes.io/docs/tutorials/services/source-ip/#source-ip-for-services-with-type-loadbalancer
    - https://kubernetes.github.io/ingress-nginx/user-guide/nginx-configuration/annotations/#rate-limiting
    """
    for ingress in scene.of("Ingress"):
        key = _limit_key(ingress)
        if not key:
            continue
        one = answering(scene, ingress, "ingress-nginx")
        if one is None:
            yield NotApplicable(ingress, "its controller is not in the scene")
        elif one.config_unread:
            yield Unknown(f"ConfigMap {one.flags['configmap']} is not among the files", ingress)
        else:
            yield _by_address(ingress, key, one)


def _limit_key(ingress: KubeObject) -> str:
    """The annotation by which an Ingress treats clients by their address; empty where it does not."""
    keys = (f"nginx.ingress.kubernetes.io/{name}" for name in _LIMITS)
    return next((key for key in keys if as_text(ingress.annotations.get(key))), "")


def _by_address(ingress: KubeObject, key: str, one: Controller) -> Answer:
    kept = _nginx_on(one, "use-forwarded-headers") or _nginx_on(one, "use-proxy-protocol")
    hiding = next((service for service in one.balancers if _hides_client(service)), None)
    front = _http_front(one)
    if kept or (hiding is None and front is None):
        return Pass(ingress)
    where = front.object if front is not None else hiding
    return Gap(
        ingress,
        f"`{key}` goes by the client's address, and {one.object.key} sees that of nodes or of the balancer",
        ("metadata", "annotations", key),
        evidence=(
            f"annotation: {key}",
            f"{where.key if where else ''}: "
            + ("speaks HTTP itself" if front is not None else "externalTrafficPolicy Cluster"),
            "use-forwarded-headers, use-proxy-protocol: absent",
        ),
        confidence=Confidence.MEDIUM,
        related=(one.object,),
    )


def _hides_client(service: KubeObject) -> bool:
    """Whether nodes write their own address over the client's."""
    if as_text(service.spec.get("externalTrafficPolicy")) == "Local":
        return False
    target = as_text(service.annotations.get(_AWS + "nlb-target-type"))
    return target != "ip"


@check(
    "proxy-protocol-mismatch",
    title="The balancer sends the PROXY protocol and the controller does not expect it",
    severity=Severity.HIGH,
    breaks=True,
    incidents=DOCUMENTATION_ONLY,
    about=SERVING,
    needs=("Service", "ConfigMap"),
)
def proxy_protocol_mismatch(scene: Scene) -> Answers:
    """
    What it does
    Reads annotations by which the balancer of ingress-nginx, Traefik or haproxy-ingress sends the PROXY
    protocol (AWS, DigitalOcean, Hetzner, Scaleway, OpenStack), and whether the controller expects it:
    `use-proxy-protocol` in the ConfigMap, `proxyProtocol` of Traefik's entry points.

    Why it matters
    The first line of every connection is then not HTTP or TLS. A controller that does not expect it answers
    400 or ends the handshake, for all hosts; the balancer's health check, which is plain TCP, stays green.

    Incidents
    No public incident with this very cause is in the library; ingress-nginx documents the symptom.

    Fix
    Switch both sides in one change, and try it on a second controller first: neither order is free of errors.

    References
    - https://kubernetes.github.io/ingress-nginx/user-guide/miscellaneous/#proxy-protocol
    - https://doc.traefik.io/traefik/reference/install-configuration/entrypoints/
    """
    for one in controllers_of(scene, "ingress-nginx", "haproxy-ingress", "traefik"):
        sending = [(service, key) for service in one.balancers for key in _sends_proxy(service)]
        if not sending:
            continue
        if one.config_unread or (one.product == "traefik" and one.static is None):
            yield Unknown("its configuration is not among the files", one.object)
            continue
        service, key = sending[0]
        if _expects_proxy(one):
            yield Pass(one.object)
            continue
        yield Gap(
            service,
            f"The balancer sends the PROXY protocol, and {one.object.key} does not expect it",
            ("metadata", "annotations", key),
            evidence=(f"{key}: {service.annotations.get(key)}", f"{one.object.key}: PROXY protocol off"),
            related=(one.object,),
        )


_SENDERS = {
    _AWS + "proxy-protocol": "*",
    "service.beta.kubernetes.io/do-loadbalancer-enable-proxy-protocol": "true",
    "load-balancer.hetzner.cloud/uses-proxyprotocol": "true",
    "service.beta.kubernetes.io/scw-loadbalancer-proxy-protocol-v2": "true",
    "loadbalancer.openstack.org/proxy-protocol": "true",
}


def _sends_proxy(service: KubeObject) -> Iterator[str]:
    for key, value in _SENDERS.items():
        if str(service.annotations.get(key, "")).lower() == value:
            yield key
    attributes = _AWS + "target-group-attributes"
    if "proxy_protocol_v2.enabled=true" in as_text(service.annotations.get(attributes)):
        yield attributes


def _expects_proxy(one: Controller) -> bool:
    if one.product == "traefik":
        return any(
            ".proxyprotocol." in name and value not in {"", "false"}
            for name, value in as_map(one.static).items()
        )
    return _nginx_on(one, "use-proxy-protocol")


CHECKS = (ing_forwarded_headers, ing_limit_by_address, proxy_protocol_mismatch)
