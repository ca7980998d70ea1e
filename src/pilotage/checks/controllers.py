"""Ingress controllers and edge proxies among the workloads: which one, which version, how it is set."""

from __future__ import annotations

import re
import weakref
from collections.abc import Iterator, Mapping
from functools import cached_property

import msgspec

from pilotage.checks.classes import class_of
from pilotage.checks.components import bare_image, image_tag
from pilotage.checks.objects import KubeObject
from pilotage.checks.scene import Scene
from pilotage.checks.static_settings import flattened
from pilotage.checks.values import as_list, as_map, as_text, dig, duration
from pilotage.checks.workloads import SERVING, Container, Workload

Version = tuple[int, ...]

_IMAGES: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (product, re.compile(pattern))
    for product, pattern in (
        ("ingress-nginx", r"(?:^|/)ingress-nginx/controller(?:-chroot)?$|(?:^|/)nginx-ingress-controller$"),
        ("haproxy-ingress", r"(?:^|/)jcmoraisjr/haproxy-ingress$"),
        ("haproxytech", r"(?:^|/)haproxytech/kubernetes-ingress$"),
        ("traefik", r"(?:^|/)(?:traefik|mirrored-library-traefik)$"),
        ("skipper", r"(?:^|/)(?:skipper|skipper-internal|skipper-ingress)$"),
        ("kong", r"(?:^|/)kong(?:/kong|-gateway)?$"),
        ("envoy", r"(?:^|/)envoy(?:-distroless|-alpine|-contrib)?$"),
    )
)
"""Product -> how the name of its image ends."""

NAMES = {
    "ingress-nginx": "ingress-nginx",
    "haproxy-ingress": "haproxy-ingress",
    "haproxytech": "the HAProxy Kubernetes Ingress Controller",
    "traefik": "Traefik",
    "skipper": "Skipper",
    "kong": "Kong",
    "envoy": "Envoy",
    "contour": "Contour's Envoy",
    "istio-gateway": "an Istio gateway",
}


class Controller(msgspec.Struct, frozen=True, eq=False, dict=True):
    """A workload that takes in traffic for others.

    Attributes:
        product: a key of `NAMES`.
        workload: the workload.
        container: the container that holds the proxy.
        scene: where it is.
    """

    product: str
    workload: Workload
    container: Container
    scene: Scene

    @property
    def name(self) -> str:
        """The product as people call it."""
        return NAMES[self.product]

    @property
    def object(self) -> KubeObject:
        """The object of the workload."""
        return self.workload.object

    @cached_property
    def version(self) -> Version:
        """The version that the image's tag names; empty where it names none."""
        return version_of(image_tag(self.container.image))

    @cached_property
    def flags(self) -> Mapping[str, str]:
        """Flags on its command line, without dashes and in lower case; a bare one is `true`."""
        return read_flags(self.container.words)

    @cached_property
    def config_map(self) -> KubeObject | None:
        """The ConfigMap that its flag names; None where there is none in the scene."""
        named = self.flags.get("configmap", "")
        if not named:
            return None
        namespace, _, name = named.rpartition("/")
        return self.scene.find("ConfigMap", name, self.object, "" if "$" in namespace else namespace)

    @property
    def config_unread(self) -> bool:
        """Whether it has a ConfigMap that the scene does not hold."""
        return bool(self.flags.get("configmap")) and self.config_map is None

    def setting(self, key: str) -> str:
        """A key of its ConfigMap; empty where it is not set."""
        if self.config_map is None:
            return ""
        value = as_map(self.config_map.data.get("data")).get(key)
        return "" if value is None else str(value)

    @cached_property
    def static(self) -> Mapping[str, str] | None:
        """Traefik's static configuration by dotted keys in lower case; None where it is kept out of sight."""
        found = dict(self.flags)
        for item in as_list(self.container.data.get("env")):
            name = as_text(dig(item, "name"))
            if name.startswith("TRAEFIK_"):
                found[name.removeprefix("TRAEFIK_").replace("_", ".").lower()] = str(dig(item, "value"))
        file = found.get("configfile", "")
        if any(key.startswith(("entrypoints.", "providers.")) for key in found):
            return found
        texts = list(self._mounted())
        if not texts:
            return None if file or as_list(self.container.data.get("volumeMounts")) else found
        for text in texts:
            found |= flattened(text)
        return found

    def _mounted(self) -> Iterator[str]:
        for reference in self.scene.references(self.workload):
            one = self.scene.find(reference.kind, reference.name, self.object) if reference.name else None
            if one is None or reference.kind != "ConfigMap":
                continue
            for name, text in as_map(one.data.get("data")).items():
                if str(name).lower().startswith("traefik.") and isinstance(text, str):
                    yield text

    @cached_property
    def services(self) -> list[KubeObject]:
        """The Services that lead to it."""
        return self.scene.services_of(self.workload)

    @cached_property
    def balancers(self) -> list[KubeObject]:
        """Its Services that have a balancer of the cloud's."""
        return [one for one in self.services if as_text(one.spec.get("type")) == "LoadBalancer"]

    @cached_property
    def faces_outside(self) -> bool:
        """Whether requests come to it from outside: by a balancer, a node's port, another route.

        Where no Service is among the files they are kept elsewhere, and one leads to a controller.
        """
        if not self.scene.has("Service", self.object):
            return True
        if any(as_text(one.spec.get("type")) in {"LoadBalancer", "NodePort"} for one in self.services):
            return True
        if self.workload.pod.get("hostNetwork") is True:
            return True
        if any(port.get("hostPort") for port in self.container.ports):
            return True
        return self.scene.exposed(self.workload, "edge") is not None

    def before(self, *bound: int) -> bool:
        """Whether its version is surely lower; a tag that names no patch release counts as the last one."""
        return bool(self.version) and self.version < bound[: len(self.version)]


def version_of(tag: str) -> Version:
    """The numbers at the head of a tag (`v1.12.1-debian` -> 1, 12, 1); empty for fewer than two."""
    match = re.match(r"(?:controller-|nginx-)?v?(\d{1,4})\.(\d{1,4})(?:\.(\d{1,4}))?(?![\d.])", tag)
    return tuple(int(part) for part in match.groups() if part is not None) if match else ()


def read_flags(words: list[str]) -> dict[str, str]:
    """`--name=value`, `--name value` and `--name` as a mapping; of one that is repeated the last."""
    found: dict[str, str] = {}
    waiting = ""
    for word in (piece for words_ in words for piece in _pieces(words_)):
        if word.startswith("-") and not re.fullmatch(r"-\d+\w*", word):
            name, equals, value = word.lstrip("-").partition("=")
            waiting = "" if equals else name.lower()
            found[name.lower()] = value if equals else "true"
        elif waiting:
            found[waiting] = word
            waiting = ""
    return found


def _pieces(word: str) -> list[str]:
    # A shell's script is one word; a flag with a blank in its value is one, too.
    return word.split() if "\n" in word or re.search(r"\s-{1,2}[a-z]", word) else [word]


_KNOWN: weakref.WeakKeyDictionary[Scene, tuple[Controller, ...]] = weakref.WeakKeyDictionary()


def controllers_of(scene: Scene, *products: str) -> tuple[Controller, ...]:
    """The controllers of a scene (of some products)."""
    found = _KNOWN.get(scene)
    if found is None:
        found = tuple(one for workload in scene.workloads if (one := recognised(scene, workload)) is not None)
        _KNOWN[scene] = found
    return found if not products else tuple(one for one in found if one.product in products)


_ANSWERING: weakref.WeakKeyDictionary[Scene, dict[tuple[str, str], list[Controller]]] = (
    weakref.WeakKeyDictionary()
)


def answering(scene: Scene, ingress: KubeObject, product: str) -> Controller | None:
    """The one controller of a product that answers an Ingress; None where it cannot be told."""
    known = _ANSWERING.get(scene)
    if known is None:
        known = _ANSWERING[scene] = {}
        for one in controllers_of(scene):
            for name in {one.flags.get("ingress-class", ""), "*"}:
                known.setdefault((one.product, name), []).append(one)
    name = class_of(ingress)
    if not name:
        fitting = known.get((product, "*"), [])
    else:
        fitting = known.get((product, name), []) + known.get((product, ""), [])
    return fitting[0] if len(fitting) == 1 else None


def recognised(scene: Scene, workload: Workload) -> Controller | None:
    """The controller that a workload is; None where it is none."""
    if workload.kind not in SERVING:
        return None
    gateway = _istio_gateway(workload)
    if gateway is not None:
        return Controller("istio-gateway", workload, gateway, scene)
    for container in workload.containers:
        image = bare_image(container.image)
        for product, pattern in _IMAGES:
            if pattern.search(image):
                if product == "envoy" and _bootstrapped_by_contour(workload):
                    product = "contour"  # noqa: PLW2901 - the same image, another owner
                return Controller(product, workload, container, scene)
    return None


def _istio_gateway(workload: Workload) -> Container | None:
    templates = as_text(workload.pod_annotations.get("inject.istio.io/templates"))
    for container in workload.containers:
        if container.name == "istio-proxy" and (
            templates == "gateway" or container.words[:2] == ["proxy", "router"]
        ):
            return container
    return None


def _bootstrapped_by_contour(workload: Workload) -> bool:
    return any("bootstrap" in one.words and "contour" in one.image for one in workload.init_containers)


def proxy_config(controller: Controller) -> Mapping[str, str]:
    """Istio's ProxyConfig of a pod by dotted keys, from its annotation; empty where it cannot be read."""
    text = as_text(controller.workload.pod_annotations.get("proxy.istio.io/config"))
    return flattened(text, keep_case=True)


def seconds(value: object) -> float | None:
    """A duration in seconds, whatever it is written as; None where it is none."""
    found = duration(value)
    return found if found is not None and found >= 0 else None
