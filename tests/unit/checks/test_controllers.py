"""Which controller a workload is, its version and how it is set."""

from __future__ import annotations

from typing import Any

import pytest

from pilotage.checks.controllers import answering, controllers_of, proxy_config, read_flags, version_of
from pilotage.checks.objects import KubeObject
from pilotage.checks.scene import Scene
from pilotage.checks.static_settings import flattened


def workload(image: str, **more: Any) -> KubeObject:
    container = {"name": more.pop("container", "main"), "image": image, **more.pop("set", {})}
    pod = {"containers": [container], **more.pop("pod", {})}
    metadata = {"labels": {"app": "edge"}, "annotations": more.pop("annotations", {})}
    return KubeObject(
        {
            "apiVersion": "apps/v1",
            "kind": more.pop("kind", "Deployment"),
            "metadata": {"name": more.pop("name", "edge"), "namespace": "edge"},
            "spec": {"template": {"metadata": metadata, "spec": pod}},
        }
    )


def config_map(name: str, data: dict[str, Any]) -> KubeObject:
    metadata = {"name": name, "namespace": "edge"}
    return KubeObject({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data})


def ingress(name: str = "") -> KubeObject:
    metadata = {"name": "web", "namespace": "shop"}
    spec = {"ingressClassName": name} if name else {}
    return KubeObject(
        {"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": metadata, "spec": spec}
    )


@pytest.mark.parametrize(
    ("image", "product", "version"),
    [
        ("registry.k8s.io/ingress-nginx/controller:v1.12.1@sha256:" + "0" * 64, "ingress-nginx", (1, 12, 1)),
        ("registry.example/ingress-nginx/controller-chroot:v1.9.6", "ingress-nginx", (1, 9, 6)),
        (
            "quay.io/kubernetes-ingress-controller/nginx-ingress-controller:0.30.0",
            "ingress-nginx",
            (0, 30, 0),
        ),
        ("docker.io/bitnami/nginx-ingress-controller:1.13.1-debian-12-r2", "ingress-nginx", (1, 13, 1)),
        ("traefik", "traefik", ()),
        ("rancher/mirrored-library-traefik:3.3.2", "traefik", (3, 3, 2)),
        ("traefik:v2.10", "traefik", (2, 10)),
        ("traefik:v3", "traefik", ()),
        ("quay.io/jcmoraisjr/haproxy-ingress:v0.15.1", "haproxy-ingress", (0, 15, 1)),
        ("haproxytech/kubernetes-ingress:3.1.4", "haproxytech", (3, 1, 4)),
        ("ghcr.io/zalando/skipper:v0.21.1", "skipper", (0, 21, 1)),
        ("envoyproxy/envoy:v1.34-latest", "envoy", (1, 34)),
    ],
)
def test_recognised_by_image(image: str, product: str, version: tuple[int, ...]) -> None:
    (found,) = controllers_of(Scene([workload(image)]))
    assert (found.product, found.version) == (product, version)


@pytest.mark.parametrize(
    "image",
    ["nginx:1.27", "nginx/nginx-ingress:3.7", "registry.example/traefik-forward-auth:2", "haproxy:3.0"],
)
def test_others_are_none(image: str) -> None:
    assert not controllers_of(Scene([workload(image, name="traefik")]))


def test_an_envoy_that_contour_sets_up_is_contours() -> None:
    init = {
        "name": "init",
        "image": "ghcr.io/projectcontour/contour:v1.30.2",
        "args": ["bootstrap", "/c.json"],
    }
    (found,) = controllers_of(Scene([workload("envoyproxy/envoy:v1.34.1", pod={"initContainers": [init]})]))
    assert found.product == "contour"


@pytest.mark.parametrize(
    "more",
    [
        {"annotations": {"inject.istio.io/templates": "gateway"}},
        {"set": {"args": ["proxy", "router", "--domain", "x"]}},
    ],
)
def test_an_istio_gateway_by_its_template_or_its_arguments(more: dict[str, Any]) -> None:
    scene = Scene([workload("auto", container="istio-proxy", **more)])
    assert [one.product for one in controllers_of(scene)] == ["istio-gateway"]


def test_a_sidecar_is_no_gateway() -> None:
    scene = Scene(
        [workload("istio/proxyv2:1.24.0", container="istio-proxy", set={"args": ["proxy", "sidecar"]})]
    )
    assert not controllers_of(scene)


def test_jobs_of_a_controller_are_none() -> None:
    job = KubeObject(
        {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"name": "hook"},
            "spec": {"template": {"spec": {"containers": [{"name": "x", "image": "traefik:v3.1"}]}}},
        }
    )
    assert not controllers_of(Scene([job]))


def test_flags_in_every_form() -> None:
    words = ["/controller", "--a=1", "--b", "2", "-C", "--d", "--e=x=y", "--f", "-1"]
    assert read_flags(words) == {"a": "1", "b": "2", "c": "true", "d": "true", "e": "x=y", "f": "-1"}
    assert read_flags(["sh", "-c", "exec proxy --port=80 \\\n --quiet"])["port"] == "80"


@pytest.mark.parametrize(
    ("tag", "version"),
    [
        ("v1.2.3", (1, 2, 3)),
        ("1.2", (1, 2)),
        ("latest", ()),
        ("3", ()),
        ("1.2.3.4", ()),
        ("nginx-0.30.0", (0, 30, 0)),
    ],
)
def test_versions_of_tags(tag: str, version: tuple[int, ...]) -> None:
    assert version_of(tag) == version


@pytest.mark.parametrize(
    ("tag", "before"),
    [("v1.11.4", True), ("v1.11.5", False), ("v1.11", False), ("v1.10", True), ("edge", False)],
)
def test_before_takes_a_bare_minor_version_for_its_last_release(tag: str, before: bool) -> None:
    (found,) = controllers_of(Scene([workload(f"ingress-nginx/controller:{tag}")]))
    assert found.before(1, 11, 5) is before


def test_settings_come_from_the_config_map_that_the_flag_names() -> None:
    controller = workload(
        "ingress-nginx/controller:v1.13.3", set={"args": ["--configmap=$(POD_NAMESPACE)/settings"]}
    )
    (found,) = controllers_of(
        Scene([controller, config_map("settings", {"use-http2": "false", "keep-alive": 75})])
    )
    assert (found.setting("use-http2"), found.setting("keep-alive"), found.setting("hsts")) == (
        "false",
        "75",
        "",
    )
    (blind,) = controllers_of(Scene([controller]))
    assert blind.config_unread
    assert blind.setting("use-http2") == ""


def test_traefik_reads_flags_variables_and_files_alike() -> None:
    flags = workload("traefik:v3.1", set={"args": ["--entryPoints.web.address=:80"]})
    (found,) = controllers_of(Scene([flags]))
    assert found.static == {"entrypoints.web.address": ":80"}
    variables = {"env": [{"name": "TRAEFIK_ENTRYPOINTS_WEB_ADDRESS", "value": ":80"}]}
    (found,) = controllers_of(Scene([workload("traefik:v3.1", set=variables)]))
    assert (found.static or {})["entrypoints.web.address"] == ":80"
    volume = {"volumes": [{"name": "c", "configMap": {"name": "traefik"}}]}
    mounted = workload(
        "traefik:v3.1", pod=volume, set={"volumeMounts": [{"name": "c", "mountPath": "/etc/traefik"}]}
    )
    toml = config_map("traefik", {"traefik.toml": '[entryPoints.web]\naddress = ":80"\n', "other": "x"})
    (found,) = controllers_of(Scene([mounted, toml]))
    assert found.static == {"entrypoints.web.address": ":80"}
    (found,) = controllers_of(Scene([mounted]))
    assert found.static is None


def test_who_answers_an_ingress() -> None:
    one = workload("ingress-nginx/controller:v1.13.3", set={"args": ["--ingress-class=public"]})
    two = workload("ingress-nginx/controller:v1.13.3", name="b", set={"args": ["--ingress-class=internal"]})
    scene = Scene([one, two])
    found = answering(scene, ingress("internal"), "ingress-nginx")
    assert found is not None
    assert found.object is two
    assert answering(scene, ingress(), "ingress-nginx") is None
    assert answering(scene, ingress("other"), "ingress-nginx") is None


def test_proxy_config_of_a_pod() -> None:
    text = "terminationDrainDuration: 30s\nproxyMetadata:\n  EXIT: 'true'\n"
    annotations = {"inject.istio.io/templates": "gateway", "proxy.istio.io/config": text}
    (found,) = controllers_of(Scene([workload("auto", container="istio-proxy", annotations=annotations)]))
    assert proxy_config(found) == {"terminationDrainDuration": "30s", "proxyMetadata.EXIT": "true"}


@pytest.mark.parametrize("text", ["", "just text", "[a", "a: [", "- 1", "\x00", "{{ x }}"])
def test_a_file_that_is_none_has_no_settings(text: str) -> None:
    assert flattened(text) == {}


def test_lists_and_empty_sections_of_a_file() -> None:
    text = "entryPoints:\n  Web:\n    ips: [10.0.0.0/8, 192.168.0.0/16]\nping: {}\nlog: true\nnothing: null\n"
    assert flattened(text) == {
        "entrypoints.web.ips": "10.0.0.0/8,192.168.0.0/16",
        "ping": "true",
        "log": "true",
    }
