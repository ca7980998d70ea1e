"""Which workload runs which Corefile."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from pilotage.checks.components import bare_image, container_roles, image_tag
from pilotage.checks.coredns.model import Corefile
from pilotage.checks.scene import Scene
from pilotage.checks.values import as_text
from pilotage.checks.workloads import SERVING, Container, Workload


class Server(msgspec.Struct, frozen=True):
    """A workload that runs CoreDNS.

    Attributes:
        workload: the workload.
        container: the container in which CoreDNS runs.
        corefile: its configuration; None where the scene does not hold it.
    """

    workload: Workload
    container: Container
    corefile: Corefile | None

    @property
    def serves_cluster(self) -> bool:
        """Whether the pods of a cluster ask it: by its Corefile, else by the label of cluster DNS."""
        if self.corefile is not None:
            return self.corefile.serves_cluster and not self.corefile.node_cache
        labels = self.workload.pod_labels
        return "kube-dns" in {as_text(labels.get("k8s-app")), as_text(labels.get("app.kubernetes.io/name"))}

    @property
    def version(self) -> tuple[int, ...] | None:
        """The version in the image's tag; None where it tells none."""
        parts = image_tag(self.container.image).lstrip("v").split("-")[0].split(".")
        if len(parts) < 2 or not all(part.isascii() and part.isdigit() for part in parts):  # noqa: PLR2004
            return None
        return tuple(int(part[:6]) for part in parts)


def dns_servers(scene: Scene) -> Iterator[Server]:
    """The workloads that run CoreDNS, recognised by image, or by a Corefile that they mount."""
    by_map = {id(one.holder): one for one in scene.configs(Corefile) if one.holder is not None}
    for workload in scene.workloads:
        if workload.kind not in SERVING:
            continue
        corefile = _mounted(scene, workload, by_map)
        container = _container(workload, mounted=corefile is not None)
        if container is not None:
            yield Server(workload, container, corefile)


def _mounted(scene: Scene, workload: Workload, by_map: dict[int, Corefile]) -> Corefile | None:
    if not by_map:
        return None
    for reference in scene.references(workload):
        if reference.kind == "ConfigMap":
            held = scene.find("ConfigMap", reference.name, workload.object)
            if held is not None and id(held) in by_map:
                return by_map[id(held)]
    return None


def _container(workload: Workload, *, mounted: bool) -> Container | None:
    for one in workload.running:
        image = bare_image(one.image).rpartition("/")[2]
        if image == "coredns" or image.endswith("-coredns") or (mounted and "-conf" in one.words):
            return one
    return None


def has_node_cache(scene: Scene) -> bool:
    """Whether a cache runs on each node: by image, or by a Corefile that binds to the node's own address."""
    if any(one.node_cache for one in scene.configs(Corefile)):
        return True
    return any(
        "node-dns" in container_roles(container)
        for workload in scene.workloads
        if workload.kind == "DaemonSet"
        for container in workload.running
    )
