"""Whether what routes name is there, live and in files."""

from __future__ import annotations

from typing import Any

import pytest

from pilotage.checks.absence import surely_absent, to_be_completed, together
from pilotage.checks.families.ingress_classes import ingress_class_unknown
from pilotage.checks.families.routes_to_backends import route_backend_missing, route_parent_missing
from pilotage.checks.model import Confidence, Gap, Pass, Severity, Unknown
from pilotage.checks.objects import KubeObject, SourceFile
from pilotage.checks.readers.files import read_text
from pilotage.checks.readers.kustomize import FileOrigin
from pilotage.checks.readers.manifests import ManifestReader
from pilotage.checks.readers.reading import Reading
from pilotage.checks.scene import Scene


def made(kind: str, name: str, spec: dict[str, Any] | None = None, namespace: str = "shop") -> KubeObject:
    versions = {"Ingress": "networking.k8s.io/v1", "IngressClass": "networking.k8s.io/v1"}
    api = versions.get(kind, "gateway.networking.k8s.io/v1" if kind in {"Gateway", "HTTPRoute"} else "v1")
    metadata = {"name": name, "namespace": namespace}
    return KubeObject({"apiVersion": api, "kind": kind, "metadata": metadata, "spec": spec or {}})


def ingress(service: str, port: Any = 80, **more: Any) -> KubeObject:
    key = "number" if isinstance(port, int) else "name"
    backend = {"service": {"name": service, "port": {key: port}}}
    return made("Ingress", "web", {"rules": [{"http": {"paths": [{"backend": backend}]}}], **more})


def written(text: str, file: str) -> list[KubeObject]:
    return read_text(text, file).objects


SERVICE = "apiVersion: v1\nkind: Service\nmetadata: {{name: {name}{more}}}\nspec: {{ports: [{{port: 80}}]}}\n"
PODS = """---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: other{more}}}
spec: {{template: {{spec: {{containers: [{{name: web, image: web}}]}}}}}}
"""
ROUTE = """apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {{name: {name}{more}}}
spec: {{defaultBackend: {{service: {{name: web, port: {{number: 80}}}}}}}}
"""


def test_live_an_absent_service_is_missing_for_sure() -> None:
    (answer,) = route_backend_missing.look(Scene([ingress("web")], live=True))
    assert isinstance(answer, Gap)
    assert answer.confidence is Confidence.HIGH


@pytest.mark.parametrize(("port", "fits"), [(80, True), ("http", True), (8080, False), ("https", False)])
def test_a_port_by_number_or_name(port: Any, fits: bool) -> None:
    service = made("Service", "web", {"ports": [{"name": "http", "port": 80, "targetPort": 8080}]})
    (answer,) = route_backend_missing.look(Scene([service, ingress("web", port)], live=True))
    assert isinstance(answer, Pass if fits else Gap)
    if port == 8080:
        assert isinstance(answer, Gap)
        assert "port 80" in answer.fix


def test_an_openshift_route_names_the_target_port() -> None:
    service = made("Service", "web", {"ports": [{"port": 80, "targetPort": 8080}]})
    spec = {"to": {"kind": "Service", "name": "web"}, "port": {"targetPort": 8080}}
    data = {
        "apiVersion": "route.openshift.io/v1",
        "kind": "Route",
        "metadata": {"name": "web", "namespace": "shop"},
    }
    (answer,) = route_backend_missing.look(Scene([service, KubeObject({**data, "spec": spec})]))
    assert isinstance(answer, Pass)


@pytest.mark.parametrize(
    ("service", "route", "file", "absent"),
    [
        ("", "", "a/svc.yaml", False),
        ("", "", "a/web.yaml", True),
        ("", "", "b/svc.yaml", False),
        (", namespace: shop", ", namespace: shop", "b/svc.yaml", True),
        (", namespace: shop", ", namespace: blog", "a/svc.yaml", False),
        (", namespace: default", ", namespace: default", "b/svc.yaml", False),
        (", namespace: default", ", namespace: default", "a/svc.yaml", False),
        (", namespace: default", ", namespace: default", "a/web.yaml", True),
        (", namespace: kube-system", ", namespace: kube-system", "a/svc.yaml", False),
    ],
)
def test_in_files_others_of_the_kind_must_be_kept_there(
    service: str, route: str, file: str, absent: bool
) -> None:
    objects = written(SERVICE.format(name="other", more=service) + PODS.format(more=service), file)
    (origin,) = written(ROUTE.format(name="web", more=route), "a/web.yaml")
    scene = Scene([*objects, origin])
    assert surely_absent(scene, "Service", "web", origin) is absent
    (answer,) = route_backend_missing.look(scene)
    assert isinstance(answer, Gap if absent else Unknown)


def test_without_a_namespace_nearly_the_name_in_the_folder_is_a_sign() -> None:
    objects = written(SERVICE.format(name="webb", more="") + PODS.format(more=""), "a/svc.yaml")
    (origin,) = written(ROUTE.format(name="web", more=""), "a/web.yaml")
    assert surely_absent(Scene([*objects, origin]), "Service", "web", origin)


def test_live_a_kind_that_cannot_be_read_is_not_absent() -> None:
    scene = Scene([ingress("web")], live=True, blind={"Service": "forbidden"})
    assert not surely_absent(scene, "Service", "web", ingress("web"))


def test_two_renderings_of_one_manifest_are_for_two_environments() -> None:
    uat = rendered("uat", "base/web.yaml")
    assert not together(Scene(), uat, rendered("prod", "base/web.yaml"))
    assert together(Scene(), uat, rendered("prod", "other/web.yaml"))


def test_a_base_that_nothing_builds_upon_is_to_be_completed() -> None:
    assert to_be_completed(Scene(), rendered("apps/base/web", "apps/base/web/web.yaml"))
    assert not to_be_completed(Scene(), rendered("overlays/prod", "apps/base/web/web.yaml"))


def rendered(overlay: str, origin: str) -> KubeObject:
    """An Ingress of a base as an overlay has it."""
    text = ROUTE.format(name="web", more=f", namespace: shop-{overlay}")
    file = SourceFile(f"{overlay}/{origin}", text, origin=FileOrigin(origin), application=overlay)
    into = Reading()
    ManifestReader().read(file, into, asked=False)
    return into.objects[0]


def test_which_objects_are_meant_for_one_cluster() -> None:
    (a,) = written(ROUTE.format(name="web", more=", namespace: shop"), "a/web.yaml")
    (b,) = written(ROUTE.format(name="web", more=", namespace: shop"), "b/web.yaml")
    (c,) = written(ROUTE.format(name="api", more=", namespace: shop"), "b/api.yaml")
    (d,) = written(ROUTE.format(name="api", more=", namespace: default"), "c/api.yaml")
    (e,) = written(ROUTE.format(name="web", more=", namespace: default"), "d/web.yaml")
    scene = Scene([a, b, c, d, e])
    assert not together(scene, a, b), "variants of one object"
    assert together(scene, a, c)
    assert not together(scene, d, e), "unrelated examples share the namespace default"
    assert together(Scene(live=True), a, b)


@pytest.mark.parametrize(("labels", "taken"), [({"edge": "yes"}, True), ({"edge": "no"}, False), ({}, False)])
def test_a_listener_that_selects_namespaces(labels: dict[str, str], taken: bool) -> None:
    namespaces = {"from": "Selector", "selector": {"matchLabels": {"edge": "yes"}}}
    listener = {"name": "http", "port": 80, "allowedRoutes": {"namespaces": namespaces}}
    gateway = made("Gateway", "edge", {"listeners": [listener]}, "gateways")
    route = made("HTTPRoute", "web", {"parentRefs": [{"name": "edge", "namespace": "gateways"}]})
    metadata = {"name": "shop", "labels": labels}
    space = KubeObject({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})
    (answer,) = route_parent_missing.look(Scene([gateway, route, space]))
    assert isinstance(answer, Pass if taken else Gap)


def test_live_an_ingress_without_class_needs_a_default_one() -> None:
    plain = made("IngressClass", "nginx", {"controller": "k8s.io/ingress-nginx"}, "")
    (answer,) = ingress_class_unknown.look(Scene([ingress("web"), plain], live=True))
    assert isinstance(answer, Gap)
    assert answer.severity is Severity.MEDIUM
    (answer,) = ingress_class_unknown.look(Scene([ingress("web"), plain]))
    assert isinstance(answer, Unknown)
