"""What routes refer to besides Services: middlewares, grants of other namespaces, hosts of the mesh."""
# ruff: noqa: D205, D212, D416 - the docstring of a check is its page, in fixed sections

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from pilotage.checks.absence import by_name, hold, surely_absent, together
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
from pilotage.checks.routes import cluster_name
from pilotage.checks.scene import Scene
from pilotage.checks.values import KeyPath, as_list, as_text, dig

MALFORMED = "dfds-2021-09-06-traefik-v2-malformed-ingressroute-404"
HIJACK = "dfds-2025-03-17-traefik-dashboard-rule-hijacked-api-path"

_GATEWAY_API = "gateway.networking.k8s.io"
_ROUTES = ("HTTPRoute", "GRPCRoute", "TLSRoute", "TCPRoute", "UDPRoute")
_ANNOTATION = "traefik.ingress.kubernetes.io/router.middlewares"
_CRD = "@kubernetescrd"
_EXAMPLES = 3
"""From so many files on a host without a namespace is shown in several ways, one of which is applied."""


@check(
    "traefik-middleware-missing",
    title="A Traefik route uses a middleware that does not exist",
    severity=Severity.HIGH,
    breaks=True,
    incidents=(),
    alike=(MALFORMED,),
    about=("IngressRoute", "Ingress"),
    needs=("Middleware",),
)
def traefik_middleware_missing(scene: Scene) -> Answers:
    """
    What it does
    Follows `middlewares` of IngressRoutes and the annotation
    `traefik.ingress.kubernetes.io/router.middlewares` of Ingresses to their Middleware objects. In files one
    counts as absent only where they hold other Middlewares of that namespace or folder.

    Why it matters
    Traefik does not serve a route one of whose middlewares it cannot find: the host answers 404, all of it,
    and only Traefik's log says why. Removing a Middleware that looks unused takes down every route that names
    it.

    Incidents
    At DFDS one route object that Traefik could not make sense of was enough for all services to answer 404
    once its pods restarted.

    Fix
    Apply the Middleware before the route, and remove it after the last one. Across namespaces IngressRoutes
    name the namespace, and annotations read `<namespace>-<name>@kubernetescrd`.

    References
    - https://doc.traefik.io/traefik/reference/routing-configuration/http/middlewares/overview/
    - https://doc.traefik.io/traefik/routing/providers/kubernetes-ingress/
    """
    for route in scene.of("IngressRoute"):
        for place, rule in enumerate(as_list(route.spec.get("routes"))):
            for position, item in enumerate(as_list(dig(rule, "middlewares"))):
                name, space = as_text(dig(item, "name")), as_text(dig(item, "namespace"))
                if name and "@" not in name:
                    path: KeyPath = ("spec", "routes", place, "middlewares", position)
                    found = scene.find("Middleware", name, route, space) is not None
                    yield _middleware(scene, route, path, (name, space), found=found)
    known: dict[str, list[KubeObject]] = defaultdict(list)
    for one in scene.of("Middleware"):
        known[f"{one.namespace or 'default'}-{one.name}"].append(one)
        if not one.namespace:
            known[f"-{one.name}"].append(one)
    for ingress in scene.of("Ingress"):
        for word in as_text(ingress.annotations.get(_ANNOTATION)).split(","):
            name = word.strip().removesuffix(_CRD)
            if word.strip().endswith(_CRD):
                path = ("metadata", "annotations", _ANNOTATION)
                found = name in known or any(name.endswith(mark) for mark in known if mark.startswith("-"))
                yield _middleware(scene, ingress, path, (name, ""), found=found)


def _middleware(
    scene: Scene, route: KubeObject, path: KeyPath, named: tuple[str, str], *, found: bool
) -> Answer:
    name, space = named
    where = f"`{space}/{name}`" if space else f"`{name}`"
    if found:
        return Pass(route)
    if not surely_absent(scene, "Middleware", name, route, space):
        return Unknown(f"Middleware {where} is not among the files", route, path)
    return Gap(
        route,
        f"Middleware {where} does not exist, so Traefik does not serve the route",
        path,
        evidence=(f"middlewares: {where.strip('`')}",),
        confidence=Confidence.HIGH if scene.live else Confidence.MEDIUM,
    )


@check(
    "route-grant-missing",
    title="A route or gateway reaches into a namespace that does not permit it",
    severity=Severity.HIGH,
    breaks=True,
    incidents=DOCUMENTATION_ONLY,
    about=(*_ROUTES, "Gateway"),
    needs=("ReferenceGrant", "Service"),
)
def route_grant_missing(scene: Scene) -> Answers:
    """
    What it does
    Looks for `backendRefs` of Gateway API routes, and `certificateRefs` of Gateways, that name another
    namespace, and for the ReferenceGrant in that namespace which permits it. In files it speaks only where
    they hold Services of that namespace. Routes of VPC Lattice, whose controller asks for no grant, are left
    out.

    Why it matters
    Without the grant the reference counts as broken: requests to such a backend get 500, and a listener whose
    certificate may not be read is not opened. The grant belongs to the other team, who may remove it without
    knowing whom that cuts off.

    Incidents
    No public incident with this very cause is in the library; the rule is that of the Gateway API.

    Fix
    Add a ReferenceGrant to the namespace of the Service or Secret, from the route's kind and namespace.

    References
    - https://gateway-api.sigs.k8s.io/api-types/referencegrant/
    """
    grants: dict[str, list[KubeObject]] = defaultdict(list)
    for one in scene.of("ReferenceGrant"):
        grants[one.namespace].append(one)
    for route, path, kind in _foreign(scene):
        space = as_text(route.get(*path, "namespace"))
        if any(_permits(grant, route, kind, as_text(route.get(*path, "name"))) for grant in grants[space]):
            yield Pass(route)
        elif kind == "Service" and _asks_no_grant(scene, route):
            yield NotApplicable(route, "its controller reads other namespaces without a grant")
        elif not scene.live and not hold(scene, "Service", route, space):
            yield Unknown(f"namespace {space} is not among the files", route, path)
        else:
            yield Gap(
                route,
                f"It names {kind} `{as_text(route.get(*path, 'name'))}` of namespace {space}, "
                "which has no ReferenceGrant for it",
                path,
                evidence=(f"namespace: {space}", f"ReferenceGrants there: {len(grants[space])}"),
                confidence=Confidence.HIGH if scene.live else Confidence.MEDIUM,
            )


_WITHOUT_GRANT = frozenset({"amazon-vpc-lattice"})
"""Gateway classes whose controllers do not look for grants of routes."""


def _asks_no_grant(scene: Scene, route: KubeObject) -> bool:
    for item in as_list(route.spec.get("parentRefs")):
        name, space = as_text(dig(item, "name")), as_text(dig(item, "namespace"))
        gateway = scene.find("Gateway", name, route, space)
        if gateway is not None and gateway.spec.get("gatewayClassName") in _WITHOUT_GRANT:
            return True
    return False


def _foreign(scene: Scene) -> Iterator[tuple[KubeObject, KeyPath, str]]:
    """References into other namespaces: who, where, to which kind."""
    for route in scene.of(*_ROUTES):
        for place, rule in enumerate(as_list(route.spec.get("rules"))):
            for position, item in enumerate(as_list(dig(rule, "backendRefs"))):
                kind = as_text(dig(item, "kind")) or "Service"
                if _is_foreign(route, item) and kind == "Service" and not dig(item, "group"):
                    yield route, ("spec", "rules", place, "backendRefs", position), kind
    for gateway in scene.of("Gateway"):
        listeners = as_list(gateway.spec.get("listeners")) if gateway.group == _GATEWAY_API else []
        for place, listener in enumerate(listeners):
            for position, item in enumerate(as_list(dig(listener, "tls", "certificateRefs"))):
                if _is_foreign(gateway, item):
                    yield gateway, ("spec", "listeners", place, "tls", "certificateRefs", position), "Secret"


def _is_foreign(origin: KubeObject, item: object) -> bool:
    space = as_text(dig(item, "namespace"))
    return bool(space and origin.namespace and space != origin.namespace)


def _permits(grant: KubeObject, route: KubeObject, kind: str, name: str) -> bool:
    sources = [
        one
        for one in as_list(grant.spec.get("from"))
        if dig(one, "kind") == route.kind and dig(one, "namespace") == route.namespace
    ]
    targets = [
        one
        for one in as_list(grant.spec.get("to"))
        if dig(one, "kind") == kind and as_text(dig(one, "name")) in {"", name}
    ]
    return bool(sources and targets)


@check(
    "mesh-host-conflict",
    title="Two VirtualServices claim one host inside the mesh, and only one is used",
    severity=Severity.MEDIUM,
    incidents=(),
    alike=(HIJACK,),
    about=("VirtualService",),
)
def mesh_host_conflict(scene: Scene) -> Answers:
    """
    What it does
    Looks for two VirtualServices with the same host that both apply to sidecars: they name no gateway, or
    `mesh` among them, and are not kept apart by `exportTo`. Those of gateways are merged by Istio and left
    out, as are three files or more that state no namespace: they show what may be done with a host.

    Why it matters
    For sidecars Istio does not merge them: one is used, the other has no effect at all. Its time limits,
    retries and canary weights look applied. When the first one is deleted, all of it comes into force at
    once.

    Incidents
    At DFDS a rule in one namespace took requests of others for hours, since nothing compares one team's
    routes with another's.

    Fix
    Keep one VirtualService for each host inside the mesh; let it delegate where several teams share it.

    References
    - https://istio.io/latest/docs/reference/config/analysis/ist0109/
    - https://istio.io/latest/docs/ops/best-practices/traffic-management/#split-virtual-services
    """
    claims: dict[tuple[str, str], list[KubeObject]] = defaultdict(list)
    for one in scene.of("VirtualService"):
        gateways = as_list(one.spec.get("gateways"))
        if gateways and "mesh" not in gateways:
            yield NotApplicable(one, "it applies to gateways only")
            continue
        for host in as_list(one.spec.get("hosts")):
            if isinstance(host, str) and host:
                claims[_full_name(one, host)].append(one)
    for (host, _), unordered in claims.items():
        found = sorted(unordered, key=by_name)
        rivals = [one for one in found[1:] if one is not found[0]]
        if not rivals or _shown_in_turn(found):
            yield Pass(found[0])
            continue
        for one in rivals:
            if _apart(one) or _apart(found[0]) or not together(scene, found[0], one):
                yield Pass(one)
                continue
            yield Gap(
                one,
                f"`{host}` is claimed by {found[0].key}, too; sidecars use only one of them",
                ("spec", "hosts"),
                evidence=(f"{one.key}: hosts {host}", f"{found[0].key}: hosts {host}"),
                related=(found[0],),
            )


def _shown_in_turn(found: list[KubeObject]) -> bool:
    loose = {one.file for one in found if one.file and not one.namespace and not one.application}
    return len(loose) >= _EXAMPLES


def _full_name(one: KubeObject, host: str) -> tuple[str, str]:
    name, space = cluster_name(host)
    return (name, space or one.namespace) if name else (host, "")


def _apart(one: KubeObject) -> bool:
    shown = as_list(one.spec.get("exportTo"))
    return bool(shown) and "*" not in shown


CHECKS = (mesh_host_conflict, route_grant_missing, traefik_middleware_missing)
