"""Which controller answers an Ingress, and what gets the requests that no rule names."""
# ruff: noqa: D205, D212, D416 - the docstring of a check is its page, in fixed sections

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping

from pilotage.checks.absence import Companions, by_name, folder_of
from pilotage.checks.classes import class_of, is_default
from pilotage.checks.controllers import Controller, controllers_of
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
from pilotage.checks.values import KeyPath, as_list, as_text, dig
from pilotage.core.regex import regex

HIJACK = "dfds-2025-03-17-traefik-dashboard-rule-hijacked-api-path"

_BUILT_IN = {"gce", "gce-internal", "alb", "azure/application-gateway", "openshift-default"}
"""Classes whose controllers are known to work without an IngressClass object."""
_INSTALLED_AS = {
    "nginx": "k8s.io/ingress-nginx",
    "traefik": "traefik.io/ingress-controller",
    "haproxy": "haproxy",
    "kong": "ingress-controllers.konghq.com/kong",
    "contour": "projectcontour.io",
    "cilium": "cilium.io/ingress-controller",
    "istio": "istio.io/ingress-controller",
    "tailscale": "tailscale.com/ts-ingress",
    "ngrok": "k8s.ngrok.com/ingress-controller",
}
"""Classes that the installation of a product makes -> what their `spec.controller` begins with."""


@check(
    "ingress-class-unknown",
    title="No controller answers an Ingress of this class",
    severity=Severity.HIGH,
    breaks=True,
    incidents=DOCUMENTATION_ONLY,
    about=("Ingress",),
    needs=("IngressClass",),
)
def ingress_class_unknown(scene: Scene) -> Answers:
    """
    What it does
    Compares `spec.ingressClassName` of Ingresses with the IngressClass objects of the scene. An Ingress that
    names none is compared with the default class. In files it speaks only where they hold IngressClass
    objects, and of a class that a product brings (`nginx`, `traefik`) only where one of them is of that
    product; the annotation `kubernetes.io/ingress.class` needs no such object and is passed over.

    Why it matters
    The API server accepts the Ingress and no controller takes it. There is no error: the address in its
    status stays empty, and the host answers 404 from whatever else listens there.

    Incidents
    No public incident with this very cause is in the library; the rule is that of the Kubernetes API.

    Fix
    Name a class that exists (`kubectl get ingressclass`), or mark one as the default with
    `ingressclass.kubernetes.io/is-default-class`.

    References
    - https://kubernetes.io/docs/concepts/services-networking/ingress/#ingress-class
    """
    classes = list(scene.of("IngressClass"))
    names = {one.name: as_text(one.spec.get("controller")) for one in classes}
    default = any(is_default(one) for one in classes)
    bare = any(one.flags.get("watch-ingress-without-class") == "true" for one in controllers_of(scene))
    for ingress in scene.of("Ingress"):
        yield _class_answer(scene, ingress, names, default=default or bare)


def _class_answer(scene: Scene, ingress: KubeObject, names: Mapping[str, str], *, default: bool) -> Answer:
    stated = as_text(ingress.spec.get("ingressClassName"))
    if not stated and class_of(ingress):
        return NotApplicable(ingress, "its class is named by annotation")
    if stated in names or stated in _BUILT_IN or (not stated and default):
        return Pass(ingress)
    if not scene.live and not names:
        return Unknown("no IngressClass is among the files", ingress)
    if not scene.live and stated in _INSTALLED_AS:
        product = _INSTALLED_AS[stated]
        if not any(controller.startswith(product) for controller in names.values()):
            return Unknown("its class comes with a product that is installed from elsewhere", ingress)
    if not stated and not scene.live:
        return Unknown("it names no class, and the default may be kept elsewhere", ingress)
    message = (
        f"Class `{stated}` does not exist" if stated else "It names no class and there is no default one"
    )
    return Gap(
        ingress,
        f"{message}, so no controller serves it",
        ("spec", "ingressClassName"),
        evidence=(
            f"ingressClassName: {stated or 'absent'}",
            f"classes: {', '.join(sorted(names)) or 'none'}",
        ),
        confidence=Confidence.HIGH if scene.live else Confidence.MEDIUM,
        severity=None if stated else Severity.MEDIUM,
    )


@check(
    "ingress-class-conflict",
    title="Two controllers answer the same Ingresses",
    severity=Severity.MEDIUM,
    incidents=DOCUMENTATION_ONLY,
    about=("IngressClass", "Deployment", "DaemonSet"),
)
def ingress_class_conflict(scene: Scene) -> Answers:
    """
    What it does
    Looks for two IngressClasses that are both marked as the default, and for two installations of
    ingress-nginx that answer one class: the same `--controller-class`, or both with
    `--watch-ingress-without-class`. Different `--watch-namespace` keep them apart. In files only what stands
    in one folder, or states its namespaces, is compared.

    Why it matters
    With two default classes the API server refuses to create Ingresses that name none. Two controllers that
    answer one class both write the address into its status, over and over, and DNS follows now the one, now
    the other; a change of one of them changes traffic that nobody expected there.

    Incidents
    No public incident with this very cause is in the library; ingress-nginx documents it for several
    installations in one cluster.

    Fix
    Keep one default class. Give each further controller a class and a `--controller-class` of its own.

    References
    - https://kubernetes.io/docs/concepts/services-networking/ingress/#default-ingress-class
    - https://kubernetes.github.io/ingress-nginx/user-guide/multiple-ingress/
    """
    defaults = sorted((one for one in scene.of("IngressClass") if is_default(one)), key=by_name)
    for one in scene.of("IngressClass"):
        others = [other for other in defaults if other is not one and _same_install(scene, one, other)]
        rivals = [other for other in others if other.name != one.name]
        if not is_default(one) or not rivals:
            yield Pass(one)
        elif one is defaults[-1]:
            yield Gap(
                one,
                f"It is marked as the default class, and so is `{rivals[0].name}`",
                ("metadata", "annotations", "ingressclass.kubernetes.io/is-default-class"),
                evidence=tuple(f"default: {other.name}" for other in (one, *rivals)),
                related=tuple(rivals),
            )
    yield from _rival_controllers(scene)


def _same_install(scene: Scene, one: KubeObject, other: KubeObject) -> bool:
    return scene.live or folder_of(one) == folder_of(other)


def _rival_controllers(scene: Scene) -> Iterator[Answer]:
    answering: dict[tuple[str, str], list[Controller]] = defaultdict(list)
    for one in sorted(controllers_of(scene, "ingress-nginx"), key=lambda one: by_name(one.object)):
        watched = one.flags.get("watch-namespace", "")
        names = [one.flags.get("controller-class", "k8s.io/ingress-nginx")]
        if one.flags.get("watch-ingress-without-class") == "true":
            names.append("")
        for name in names:
            answering[name, watched].append(one)
    for (name, _), found in answering.items():
        for one in found:
            rival = next((other for other in found if _rivals(scene, one, other)), None)
            if rival is None:
                yield Pass(one.object)
            elif one is found[-1]:
                what = f"controller class `{name}`" if name else "Ingresses without a class"
                yield Gap(
                    one.object,
                    f"It answers {what}, and so does {rival.object.key}",
                    one.container.path,
                    evidence=(f"{one.object.key}: {what}", f"{rival.object.key}: {what}"),
                    related=(rival.object,),
                )


def _rivals(scene: Scene, one: Controller, other: Controller) -> bool:
    first, second = one.object, other.object
    if one is other or (first.name, first.namespace) == (second.name, second.namespace):
        return False
    return scene.live or (first.file == second.file)


@check(
    "default-backend-business",
    title="An application gets the requests of every host that no rule names",
    severity=Severity.LOW,
    incidents=(),
    alike=(HIJACK,),
    about=("Ingress",),
)
def default_backend_business(scene: Scene) -> Answers:
    """
    What it does
    Looks for an Ingress with a `defaultBackend` beside rules of its own, or with a rule without a host, in a
    scene where other Ingresses of the same class do name hosts. Classes that make a balancer for each Ingress
    are left out.

    Why it matters
    On a shared controller such a rule gets the requests of hosts whose Ingress was deleted, mistyped or not
    yet created, scanners among them. Instead of a 404, which somebody would notice, users see another team's
    application, and its load and its logs are not its own.

    Incidents
    At DFDS a rule without a host took `/api` of every application behind the same controller.

    Fix
    Give the rule its host. Let a small server that answers 404 be the default backend.

    References
    - https://kubernetes.io/docs/concepts/services-networking/ingress/#default-backend
    """
    named: dict[str, list[KubeObject]] = defaultdict(list)
    for ingress in scene.of("Ingress"):
        if any(as_text(dig(rule, "host")) for rule in as_list(ingress.spec.get("rules"))):
            named[class_of(ingress)].append(ingress)
    companions = {name: Companions(scene, found) for name, found in named.items()}
    for ingress in scene.of("Ingress"):
        name = class_of(ingress)
        if name in _BUILT_IN:
            yield NotApplicable(ingress, f"class {name} makes a balancer for each Ingress")
            continue
        path = _catch_all(ingress)
        neighbour = companions[name].of(ingress) if path is not None and name in companions else None
        if path is None:
            yield Pass(ingress)
        elif neighbour is None:
            yield NotApplicable(ingress, "no other Ingress of its class names a host")
        else:
            yield Gap(
                ingress,
                "It gets the requests of every host that no rule names",
                path,
                evidence=(f"host: absent in {ingress.key}", f"shares its class with {neighbour.key}"),
                confidence=Confidence.MEDIUM,
                related=(neighbour,),
            )


_NOT_BUSINESS = regex(r"default|fallback|404|error|maintenance|landing|catch-?all")


def _catch_all(ingress: KubeObject) -> tuple[str | int, ...] | None:
    """The way to the part that takes every host; None where there is none or it is a server for that."""
    for key in ("defaultBackend", "backend"):
        name = as_text(ingress.get("spec", key, "service", "name")) or as_text(
            ingress.get("spec", key, "serviceName")
        )
        if name and not _NOT_BUSINESS.search(name):
            return ("spec", key)
    for position, rule in enumerate(as_list(ingress.spec.get("rules"))):
        for item in as_list(dig(rule, "http", "paths")):
            name = as_text(dig(item, "backend", "service", "name")) or as_text(
                dig(item, "backend", "serviceName")
            )
            whole = (as_text(dig(item, "path")) or "/") == "/"
            if not as_text(dig(rule, "host")) and whole and name and not _NOT_BUSINESS.search(name):
                return ("spec", "rules", position)
    return None


_HOST = regex(r"\b(?:Host|HostRegexp|HostSNI|HostSNIRegexp|HostHeader)\s*\(", re.IGNORECASE)


@check(
    "traefik-rule-without-host",
    title="A Traefik rule without a host takes that path from every host",
    severity=Severity.HIGH,
    incidents=(HIJACK,),
    about=("IngressRoute",),
)
def traefik_rule_without_host(scene: Scene) -> Answers:
    """
    What it does
    Looks for routes of an IngressRoute whose `match` names no host, while other IngressRoutes or Ingresses
    name hosts. A route on an entry point of its own (neither `web` nor `websecure`) is left out.

    Why it matters
    Traefik tries the longest rule first. A rule such as ``PathPrefix(`/api`) || PathPrefix(`/dashboard`)`` is
    longer than many a host's rule, and then gets `/api` of all applications behind the same Traefik.

    Incidents
    At DFDS a rule for the Traefik dashboard matched `/api` for every host. Applications answered 404 on that
    path for hours, at night.

    Fix
    Begin the rule with ``Host(`...`) &&``, or bind it to an entry point that carries nothing else.

    References
    - https://doc.traefik.io/traefik/routing/routers/#priority
    - https://doc.traefik.io/traefik/operations/dashboard/
    """
    named = Companions(scene, (one for one in scene.of("IngressRoute", "Ingress") if _names_host(one)))
    for route in scene.of("IngressRoute"):
        for position, rule in enumerate(as_list(route.spec.get("routes"))):
            match = as_text(dig(rule, "match"))
            if route.spec.get("parentRefs"):
                yield NotApplicable(route, "its parent names the host")
            elif _HOST.search(match) or "ClientIP" in match:
                yield Pass(route)
            elif "(" in match:
                yield _rule(route, ("spec", "routes", position, "match"), named.of(route))


def _rule(route: KubeObject, path: KeyPath, neighbour: KubeObject | None) -> Answer:
    match = as_text(route.get(*path))
    if neighbour is None:
        return NotApplicable(route, "nothing else in the scene is served by the same Traefik")
    points = [as_text(one) for one in as_list(route.spec.get("entryPoints"))]
    if points and not set(points) & {"web", "websecure", "http", "https"}:
        return NotApplicable(route, f"it is bound to entry point {', '.join(points)}")
    return Gap(
        route,
        f"The rule `{match[:80]}` names no host, so it takes these paths from every host",
        path,
        evidence=(f"match: {match[:120]}", f"served beside {neighbour.key}"),
        confidence=Confidence.MEDIUM,
        related=(neighbour,),
    )


def _names_host(one: KubeObject) -> bool:
    if one.kind == "Ingress":
        if class_of(one) and "traefik" not in class_of(one):
            return False
        return any(as_text(dig(rule, "host")) for rule in as_list(one.spec.get("rules")))
    return any(_HOST.search(as_text(dig(rule, "match"))) for rule in as_list(one.spec.get("routes")))


CHECKS = (
    default_backend_business,
    ingress_class_conflict,
    ingress_class_unknown,
    traefik_rule_without_host,
)
