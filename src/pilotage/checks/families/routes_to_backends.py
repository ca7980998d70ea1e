"""Routes: whether what a route names is there, and whether two routes claim the same requests."""
# ruff: noqa: D205, D212, D416 - the docstring of a check is its page, in fixed sections

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from pilotage.checks import routes
from pilotage.checks.absence import by_name, folder_of, maker, surely_absent, together
from pilotage.checks.classes import class_of
from pilotage.checks.index import SHARED, nearest
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
from pilotage.checks.placeholders import to_fill_in
from pilotage.checks.routes import Backend
from pilotage.checks.scene import Scene
from pilotage.checks.values import KeyPath, as_list, as_map, as_text, dig
from pilotage.core.regex import regex

MONZO = "monzo-2017-10-27-partial-outage-linkerd-empty-endpoints"
LATER_ROUTES = "dfds-2021-09-17-traefik-1-7-bad-secret-504"
HIJACK = "dfds-2025-03-17-traefik-dashboard-rule-hijacked-api-path"

_ALB_ACTION = "use-annotation"
_OWN_BALANCER = {"alb", "gce", "gce-internal", "azure-application-gateway"}
_CLUSTER_HOST_PARTS = 2
_Claim = tuple[str, str, str, str]
"""Class, host, path and path type."""


@check(
    "route-backend-missing",
    title="A route leads to a Service or a port that does not exist",
    severity=Severity.HIGH,
    breaks=True,
    incidents=(),
    alike=(LATER_ROUTES, MONZO),
    about=routes.KINDS,
    needs=("Service", "ServiceEntry"),
)
def route_backend_missing(scene: Scene) -> Answers:
    """
    What it does
    Follows every backend of Ingresses, Gateway API routes, OpenShift Routes, Istio VirtualServices, Traefik
    IngressRoutes and Contour HTTPProxies to its Service and to the port of it. In files it speaks of a
    missing Service only where they hold other Services, and pods, of that namespace (where none is stated, in
    that file, or a Service with nearly that name in that folder). Else the Service may be kept elsewhere and
    the answer is unknown, as it is where a chart is installed into that namespace, or where a custom resource
    has the name, or its beginning: an operator may make the Service.

    Why it matters
    Every request that the route matches is answered by an error of the proxy: 503, 500 or its default
    backend, often with nothing in the logs of the application. Some controllers refuse the whole object, so
    that its other paths fail, too; older ones stopped taking up any later route.

    Incidents
    At DFDS one Ingress that referred to something the proxy could not read kept all routes that came later
    from working. At Monzo a Service with nothing behind it brought down every proxy that read it again.

    Fix
    Name a Service that exists in the route's namespace, and one of its ports by `port` or `name` (not by
    `targetPort`); delete the route where the Service is gone for good.

    References
    - https://kubernetes.io/docs/concepts/services-networking/ingress/#resource-backend
    - https://gateway-api.sigs.k8s.io/reference/spec/#backendref
    """
    told: set[tuple[int, str, str, str]] = set()
    for backend in scene.backends:
        mark = (id(backend.route), backend.namespace, backend.service, str(backend.port))
        if mark not in told:
            told.add(mark)
            yield _backend(scene, backend)


def _backend(scene: Scene, backend: Backend) -> Answer:
    route = backend.route
    if backend.port == _ALB_ACTION:
        return NotApplicable(route, f"`{backend.service}` is an action of the AWS load balancer controller")
    service = scene.service_of(backend)
    if service is not None:
        return _port(scene, service, backend)
    where = f"`{backend.namespace}/{backend.service}`" if backend.namespace else f"`{backend.service}`"
    if route.kind == "VirtualService" and _outside_name(scene, backend):
        return NotApplicable(route, f"{where} is a host outside of the cluster")
    if not surely_absent(scene, "Service", backend.service, route, backend.namespace):
        return Unknown(f"Service {where} is not among the files", route, backend.path)
    made = maker(scene, backend.service, route, backend.namespace)
    if made is not None:
        return Unknown(f"{made.key} may have Service {where} made", route, backend.path)
    what = "gets every request that no rule matches" if backend.default else "gets its requests"
    return Gap(
        route,
        f"Service {where}, which {what}{_for(backend)}, does not exist",
        backend.path,
        evidence=(f"backend: {where.strip('`')}", f"route: {route.key}"),
        confidence=Confidence.HIGH if scene.live else Confidence.MEDIUM,
    )


def _for(backend: Backend) -> str:
    return f" for {backend.host}" if backend.host else ""


def _outside_name(scene: Scene, backend: Backend) -> bool:
    """Whether a VirtualService's destination may be a host of a ServiceEntry or of the world outside."""
    host = as_text(backend.route.get(*backend.path, "host"))
    if len(host.split(".")) == _CLUSTER_HOST_PARTS and not surely_absent(
        scene, "Service", backend.service, backend.route, backend.namespace
    ):
        return True
    return any(host in as_list(entry.spec.get("hosts")) for entry in scene.of("ServiceEntry"))


def _port(scene: Scene, service: KubeObject, backend: Backend) -> Answer:
    ports = [as_map(one) for one in as_list(service.spec.get("ports"))]
    if backend.port is None or not ports or service.spec.get("type") == "ExternalName":
        return Pass(backend.route)
    known = {str(port.get(key)) for port in ports for key in ("port", "name") if port.get(key) is not None}
    if backend.route.kind == "Route":
        known |= {str(port.get("targetPort")) for port in ports}
    if str(backend.port) in known:
        return Pass(backend.route)
    stated = backend.namespace or backend.route.namespace
    if not scene.live and folder_of(service) != folder_of(backend.route) and stated != service.namespace:
        return Unknown(f"{service.key} may be another one than the route means", backend.route, backend.path)
    target = next((one for one in ports if str(one.get("targetPort")) == str(backend.port)), None)
    hint = f"Name a port that the Service has ({', '.join(sorted(known))}), or give it this one."
    if target is not None:
        hint = f"Name the Service's port {target.get('port')}; {backend.port} is the port of its pods."
    return Gap(
        backend.route,
        f"{service.key} has no port `{backend.port}`, to which requests are sent{_for(backend)}",
        backend.path,
        evidence=(f"port: {backend.port}", f"ports of {service.key}: {', '.join(sorted(known)) or 'none'}"),
        fix=hint,
        related=(service,),
    )


@check(
    "route-parent-missing",
    title="A route is bound to a gateway or listener that does not take it",
    severity=Severity.HIGH,
    breaks=True,
    incidents=DOCUMENTATION_ONLY,
    about=("HTTPRoute", "GRPCRoute", "TLSRoute", "TCPRoute", "UDPRoute", "VirtualService"),
    needs=("Gateway",),
)
def route_parent_missing(scene: Scene) -> Answers:
    """
    What it does
    Follows `parentRefs` of Gateway API routes and `gateways` of Istio VirtualServices. It tells of a gateway
    that does not exist, of a `sectionName` or port that no listener has, of listeners that take no route of
    that namespace (`allowedRoutes` is `Same` where nothing else is written), and of host names that no
    listener serves. In files a gateway does not exist where they hold others of its namespace; where no
    namespace is stated, others in the file of the route, or one with nearly that name.

    Why it matters
    The API server accepts the route, and nothing serves it: requests get 404 or reach another route. The
    only sign is a condition in the route's status, which nobody reads in a pipeline.

    Incidents
    No public incident with this very cause is in the library; the rules are those of the Gateway API.

    Fix
    Correct the name, the namespace or the section; let the listener take routes of that namespace with
    `allowedRoutes.namespaces`, and its `hostname` cover the host names of the route.

    References
    - https://gateway-api.sigs.k8s.io/concepts/api-overview/#attaching-routes-to-gateways
    - https://gateway-api.sigs.k8s.io/reference/spec/#allowedroutes
    - https://istio.io/latest/docs/reference/config/networking/virtual-service/#VirtualService
    """
    for route in scene.of("HTTPRoute", "GRPCRoute", "TLSRoute", "TCPRoute", "UDPRoute"):
        for position, item in enumerate(as_list(route.spec.get("parentRefs"))):
            if as_text(dig(item, "kind")) in {"", "Gateway"}:
                yield _parent(scene, route, position)
    for route in scene.of("VirtualService"):
        for position, name in enumerate(as_list(route.spec.get("gateways"))):
            if isinstance(name, str) and name != "mesh":
                yield _mesh_gateway(scene, route, name, ("spec", "gateways", position))


GATEWAY_API = "gateway.networking.k8s.io"
ISTIO = "networking.istio.io"


def _find_gateway(scene: Scene, route: KubeObject, name: str, space: str, group: str) -> KubeObject | None:
    named = scene.index.named("Gateway", name, space or route.namespace)
    found = [one for one in named if one.group == group]
    return nearest(route, found)[0] if found else None


def _mesh_gateway(scene: Scene, route: KubeObject, name: str, path: KeyPath) -> Answer:
    space, _, bare = name.rpartition("/")
    if _find_gateway(scene, route, bare, space, ISTIO) is not None:
        return Pass(route)
    if not surely_absent(scene, "Gateway", bare, route, space, group=ISTIO):
        return Unknown(f"Gateway `{name}` is not among the files", route, path)
    return Gap(
        route,
        f"Gateway `{name}` does not exist, so nothing serves the route from outside",
        path,
        evidence=(f"gateways: {name}",),
        confidence=Confidence.HIGH if scene.live else Confidence.MEDIUM,
    )


def _parent(scene: Scene, route: KubeObject, position: int) -> Answer:
    path: KeyPath = ("spec", "parentRefs", position)
    name, space = as_text(route.get(*path, "name")), as_text(route.get(*path, "namespace"))
    gateway = _find_gateway(scene, route, name, space, GATEWAY_API)
    if gateway is None:
        if not surely_absent(scene, "Gateway", name, route, space, group=GATEWAY_API):
            return Unknown(f"Gateway `{name}` is not among the files", route, path)
        return Gap(
            route,
            f"Gateway `{name}` does not exist, so nothing serves the route",
            path,
            evidence=(f"parentRefs: {name}",),
            confidence=Confidence.HIGH if scene.live else Confidence.MEDIUM,
        )
    why = _refusal(scene, route, as_map(route.get(*path)), gateway)
    if not why and any(to_fill_in(one) for one in as_list(route.spec.get("hostnames"))):
        return Unknown("its host names are still to be filled in", route, ("spec", "hostnames"))
    if not why:
        return Pass(route)
    return Gap(
        route,
        f"{gateway.key} does not take the route: {why}",
        path,
        evidence=(f"parentRefs: {name}", why),
        related=(gateway,),
    )


def _refusal(
    scene: Scene, route: KubeObject, reference: dict[str, object] | object, gateway: KubeObject
) -> str:
    """Why none of the listeners that a reference means takes the route; empty where one does."""
    section, port = as_text(dig(reference, "sectionName")), dig(reference, "port")
    listeners = [one for one in as_list(gateway.spec.get("listeners")) if isinstance(one, dict)]
    meant = [
        one
        for one in listeners
        if (not section or one.get("name") == section) and (port is None or one.get("port") == port)
    ]
    if not listeners:
        return ""
    if not meant:
        asked = f"`{section}`" if section else f"on port {port}"
        return f"no listener {asked} among {', '.join(str(one.get('name')) for one in listeners)}"
    near = [one for one in meant if _takes_namespace(scene, route, gateway, one)]
    if not near:
        return f"its listeners take no route of namespace {route.namespace}"
    wanted = [one for one in as_list(route.spec.get("hostnames")) if isinstance(one, str)]
    offered = [as_text(one.get("hostname")) for one in near]
    if any(to_fill_in(one) for one in (*wanted, *offered)):
        return ""
    if wanted and not any(_overlap(one, other) for one in wanted for other in offered):
        return f"no listener serves {', '.join(wanted)}"
    return ""


def _takes_namespace(scene: Scene, route: KubeObject, gateway: KubeObject, listener: object) -> bool:
    if not route.namespace or not gateway.namespace or route.namespace == gateway.namespace:
        return True
    allowed = as_map(dig(listener, "allowedRoutes", "namespaces"))
    rule = as_text(allowed.get("from")) or "Same"
    if rule == "Selector":
        labels = scene.namespace_labels(route.namespace)
        wanted = as_map(dig(allowed, "selector", "matchLabels"))
        return labels is None or all(str(labels.get(key)) == str(value) for key, value in wanted.items())
    return rule != "Same"


def _overlap(one: str, other: str) -> bool:
    if not one or not other or one == other:
        return True
    for wild, name in ((one, other), (other, one)):
        if wild.startswith("*.") and name.endswith(wild[1:]):
            return True
    return False


_HOST = regex(r"(?:\*\.)?[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?")
"""A host name; a placeholder of a template is none."""


@check(
    "route-conflict",
    title="Two Ingresses claim one host and path for different Services",
    severity=Severity.MEDIUM,
    incidents=(),
    alike=(HIJACK,),
    about=("Ingress",),
)
def route_conflict(scene: Scene) -> Answers:
    """
    What it does
    Looks for two Ingresses of one class that name the same host, path and path type and lead to different
    Services. Canary Ingresses of ingress-nginx and classes that make a balancer for each Ingress are left
    out. In files both must state their namespaces or stand in one folder, so that variants of one example do
    not count, nor do two Ingresses without a namespace of which one claims all that the other does.

    Why it matters
    Only one of them is served. Which one depends on the controller: mostly the older object, with some the
    name. When the older one is deleted or made anew, the path changes hands without anybody having touched
    the other.

    Incidents
    At DFDS a rule in one namespace took `/api` of other teams' hosts for itself. It took hours to find,
    since nothing compares one team's routes with another's.

    Fix
    Give the path to one of them; where both shall get a share, use the controller's canary feature or
    weighted backends of an HTTPRoute.

    References
    - https://kubernetes.github.io/ingress-nginx/user-guide/nginx-configuration/annotations/#canary
    - https://kubernetes.io/docs/concepts/services-networking/ingress/#multiple-matches
    """
    claims: dict[_Claim, list[Backend]] = defaultdict(list)
    for backend in scene.backends:
        route = backend.route
        if route.kind != "Ingress" or backend.default or not _HOST.fullmatch(backend.host):
            continue
        name = class_of(route)
        if name in _OWN_BALANCER:
            yield NotApplicable(route, f"class {name} makes a balancer for each Ingress")
            continue
        path, kind = _path_of(backend)
        if str(route.annotations.get("nginx.ingress.kubernetes.io/canary")) != "true":
            claims[name, backend.host, path, kind].append(backend)
    held: dict[int, set[_Claim]] = defaultdict(set)
    for claim, found in claims.items():
        for one in found:
            held[id(one.route)].add(claim)
    for (_, host, path, _), found in claims.items():
        yield from _conflict(scene, held, sorted(found, key=lambda one: by_name(one.route)), f"{host}{path}")


def _path_of(backend: Backend) -> tuple[str, str]:
    item = as_map(backend.route.get(*backend.path[: backend.path.index("backend")]))
    return as_text(item.get("path")) or "/", as_text(item.get("pathType"))


def _variants(held: Mapping[int, set[_Claim]], one: KubeObject, other: KubeObject) -> bool:
    """Whether two Ingresses are most likely forms of one: in two files, one has all that the other claims."""
    mine, theirs = held[id(one)], held[id(other)]
    alike = min(len(mine), len(theirs)) > 1 and (mine <= theirs or theirs <= mine)
    return alike and one.file != other.file and {one.namespace, other.namespace} <= SHARED


def _conflict(
    scene: Scene, held: Mapping[int, set[_Claim]], claims: list[Backend], what: str
) -> Iterator[Answer]:
    first = claims[0]
    yield Pass(first.route)
    for other in claims[1:]:
        same = (other.service, other.route.namespace) == (first.service, first.route.namespace)
        apart = not together(scene, first.route, other.route)
        if same or other.route is first.route or apart or _variants(held, first.route, other.route):
            yield Pass(other.route)
            continue
        yield Gap(
            other.route,
            f"`{what}` leads to `{other.service}` here and to `{first.service}` in {first.route.key}",
            other.path,
            evidence=(
                f"{other.route.key}: {what} -> {other.service}",
                f"{first.route.key}: {what} -> {first.service}",
            ),
            related=(first.route,),
        )


CHECKS = (route_backend_missing, route_conflict, route_parent_missing)
