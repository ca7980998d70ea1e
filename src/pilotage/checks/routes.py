"""Objects that lead traffic to a Service: Ingress, Gateway routes, OpenShift, Istio, Traefik, Contour."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec

from pilotage.checks.objects import KubeObject
from pilotage.checks.values import KeyPath, as_list, as_map, as_text, dig


class Backend(msgspec.Struct, frozen=True, eq=False):
    """A Service that a route leads to.

    Attributes:
        route: the object that leads there.
        path: where the Service is named in it.
        service: its name.
        namespace: its namespace; empty means that of the route.
        port: number or name; None where none is given.
        host: the host name for which it serves; empty for any.
        default: whether it gets what no rule matches.
    """

    route: KubeObject
    path: KeyPath
    service: str
    namespace: str = ""
    port: object = None
    host: str = ""
    default: bool = False


def backends(route: KubeObject) -> Iterator[Backend]:
    """The Services that an object leads to; none for a kind that leads nowhere."""
    read = _READERS.get(route.kind)
    if read is not None:
        yield from (one for one in read(route) if one.service)


def _ingress(route: KubeObject) -> Iterator[Backend]:
    for key in ("defaultBackend", "backend"):
        yield from _ingress_backend(route, ("spec", key), "", default=True)
    for place, rule in enumerate(as_list(route.spec.get("rules"))):
        for position, _ in enumerate(as_list(dig(rule, "http", "paths"))):
            path = ("spec", "rules", place, "http", "paths", position, "backend")
            yield from _ingress_backend(route, path, as_text(dig(rule, "host")))


def _ingress_backend(
    route: KubeObject, path: KeyPath, host: str, *, default: bool = False
) -> Iterator[Backend]:
    backend = as_map(route.get(*path))
    service = as_map(backend.get("service"))
    if service:
        port = as_map(service.get("port"))
        stated = port.get("number", port.get("name"))
        yield Backend(route, (*path, "service"), as_text(service.get("name")), "", stated, host, default)
    elif "serviceName" in backend:
        name = as_text(backend.get("serviceName"))
        yield Backend(route, path, name, "", backend.get("servicePort"), host, default)


def _gateway_route(route: KubeObject) -> Iterator[Backend]:
    hosts = as_list(route.spec.get("hostnames"))
    host = as_text(hosts[0]) if hosts else ""
    for place, rule in enumerate(as_list(route.spec.get("rules"))):
        for position, item in enumerate(as_list(dig(rule, "backendRefs"))):
            if as_text(dig(item, "kind")) in {"", "Service"} and not dig(item, "group"):
                path = ("spec", "rules", place, "backendRefs", position)
                yield Backend(
                    route,
                    path,
                    as_text(dig(item, "name")),
                    as_text(dig(item, "namespace")),
                    dig(item, "port"),
                    host,
                )


def _openshift(route: KubeObject) -> Iterator[Backend]:
    port = route.get("spec", "port", "targetPort")
    host = as_text(route.spec.get("host"))
    if as_text(route.get("spec", "to", "kind")) in {"", "Service"}:
        yield Backend(route, ("spec", "to"), as_text(route.get("spec", "to", "name")), "", port, host)
    for place, item in enumerate(as_list(route.spec.get("alternateBackends"))):
        yield Backend(route, ("spec", "alternateBackends", place), as_text(dig(item, "name")), "", port, host)


def _istio(route: KubeObject) -> Iterator[Backend]:
    for kind in ("http", "tcp", "tls"):
        for place, rule in enumerate(as_list(route.spec.get(kind))):
            for position, item in enumerate(as_list(dig(rule, "route"))):
                name, namespace = cluster_name(as_text(dig(item, "destination", "host")))
                path = ("spec", kind, place, "route", position, "destination")
                yield Backend(route, path, name, namespace, dig(item, "destination", "port", "number"))


def cluster_name(host: str) -> tuple[str, str]:
    """Service and namespace of `web`, `web.shop`, `web.shop.svc…`; nothing for a name outside."""
    parts = host.split(".")
    if len(parts) == 1:
        return host, ""
    if len(parts) == 2 or parts[2] == "svc":  # noqa: PLR2004
        return parts[0], parts[1]
    return "", ""


def _traefik(route: KubeObject) -> Iterator[Backend]:
    for place, rule in enumerate(as_list(route.spec.get("routes"))):
        for position, item in enumerate(as_list(dig(rule, "services"))):
            if as_text(dig(item, "kind")) in {"", "Service"}:
                path = ("spec", "routes", place, "services", position)
                yield Backend(
                    route,
                    path,
                    as_text(dig(item, "name")),
                    as_text(dig(item, "namespace")),
                    dig(item, "port"),
                )


def _contour(route: KubeObject) -> Iterator[Backend]:
    host = as_text(route.get("spec", "virtualhost", "fqdn"))
    for place, rule in enumerate(as_list(route.spec.get("routes"))):
        for position, item in enumerate(as_list(dig(rule, "services"))):
            path = ("spec", "routes", place, "services", position)
            yield Backend(route, path, as_text(dig(item, "name")), "", dig(item, "port"), host)


_READERS: dict[str, Callable[[KubeObject], Iterator[Backend]]] = {
    "Ingress": _ingress,
    "HTTPRoute": _gateway_route,
    "GRPCRoute": _gateway_route,
    "TCPRoute": _gateway_route,
    "TLSRoute": _gateway_route,
    "UDPRoute": _gateway_route,
    "Route": _openshift,
    "VirtualService": _istio,
    "IngressRoute": _traefik,
    "IngressRouteTCP": _traefik,
    "HTTPProxy": _contour,
}
KINDS = tuple(_READERS)
"""Kinds that lead traffic to Services."""
