"""Withdrawn: images that their makers took away, volumes that no kubelet mounts any more."""
# ruff: noqa: D205, D212, D416 - the docstring of a check is its page, in fixed sections

from __future__ import annotations

from pilotage.checks.components import bare_image
from pilotage.checks.gone_images import GoneImage, gone_image
from pilotage.checks.model import Answers, Gap, Pass, Severity, check
from pilotage.checks.objects import KubeObject
from pilotage.checks.scene import Scene
from pilotage.checks.schema.gone_volumes import GoneVolume, gone_provisioner, gone_volume
from pilotage.checks.values import KeyPath, as_list, as_map, as_text
from pilotage.checks.workloads import KINDS, Container

DFDS_ZERO = "dfds-2023-02-14-node-rollover-left-zero-nodes"
REDDIT = "reddit-2023-03-14-pi-day-calico-route-reflectors"

_STORAGE = ("PersistentVolume", "StorageClass")


@check(
    "image-gone",
    title="An image that its maker has withdrawn",
    severity=Severity.HIGH,
    breaks=True,
    incidents=(),
    alike=(DFDS_ZERO,),
    about=KINDS,
)
def image_gone(scene: Scene) -> Answers:
    """
    What it does
    Looks for images of Docker Hub whose makers have taken them off it (a table), and, at low severity, for
    those of programs that are of no use any more, since what they report to has been ended.

    Why it matters
    The pod runs on where its node has the image. On each other node, and after its node is replaced, it waits
    for an image that does not come, and no change of the manifest announces that day.

    Incidents
    At DFDS a cluster that had lost its nodes stayed without them while the script that adds them met a
    timeout of Docker Hub. An image that is gone is a registry that never answers again.

    Fix
    Name the image where it can be had, better in a registry of your own.

    References
    - https://kubernetes.io/docs/concepts/containers/images/
    """
    for workload in scene.workloads:
        gone = [
            (one, row)
            for one in (*workload.containers, *workload.init_containers)
            if (row := gone_image(_applied(scene, one))) is not None
        ]
        if not gone:
            yield Pass(workload.object)
        for one, row in gone:
            yield _image_gap(one, row)


def _applied(scene: Scene, one: Container) -> str:
    """Its image, or the one that a kustomization writes in its place."""
    return scene.unbuilt.images.get(bare_image(one.image)) or one.image


def _image_gap(one: Container, row: GoneImage) -> Gap:
    return Gap(
        one.workload.object,
        f"`{one.image}` {row.what}",
        (*one.path, "image"),
        evidence=(f"{one.name}: image: {one.image}",),
        fix=row.fix,
        severity=Severity.LOW if row.pulled else None,
    )


@check(
    "volume-gone",
    title="A kind of volume that no kubelet mounts any more",
    severity=Severity.HIGH,
    breaks=True,
    incidents=(),
    alike=(REDDIT,),
    about=(*KINDS, *_STORAGE),
)
def volume_gone(scene: Scene) -> Answers:
    """
    What it does
    Looks for volumes of pods, PersistentVolumes and StorageClasses of a kind whose plug-in the version in
    mind (`--kubernetes`) does not have any more (a table: `glusterfs`, `rbd`, `cephfs` and others), so that
    the API server takes the object and nothing comes of it. Kinds whose work a CSI driver has taken over
    under the same name, as those of the large clouds, are left alone.

    Why it matters
    Nothing is refused: the pod is created, is given a node, and waits there for its volume for ever.

    Incidents
    At Reddit an upgrade took away a label of nodes that nobody knew to be in use, and the network of the pods
    with it. A kind of volume that a version takes away is found as late.

    Fix
    Take a claim on a volume of a CSI driver instead, and bring the data there before the upgrade.

    References
    - https://kubernetes.io/docs/concepts/storage/volumes/
    - https://kubernetes.io/docs/concepts/storage/persistent-volumes/#types-of-persistent-volumes
    """
    minor = scene.version[1]
    for workload in scene.workloads:
        gone = [
            ((*workload.pod_path, "volumes", place), row)
            for place, volume in enumerate(as_list(workload.pod.get("volumes")))
            if (row := gone_volume(as_map(volume), minor)) is not None
        ]
        if not gone:
            yield Pass(workload.object)
        for path, row in gone:
            yield _volume_gap(workload.object, (*path, row.kind), row)
    for one in scene.of(*_STORAGE):
        way: KeyPath = ("provisioner",)
        row = gone_provisioner(as_text(one.data.get("provisioner")), minor)
        if one.kind == "PersistentVolume" and (row := gone_volume(one.spec, minor)) is not None:
            way = ("spec", row.kind)
        yield _volume_gap(one, way, row) if row is not None else Pass(one)


_TO_INSTALL = ", which has to be installed"
_COMES = {
    "PersistentVolume": "a pod that claims it does not start",
    "StorageClass": "no volume comes of it",
}


def _volume_gap(one: KubeObject, path: KeyPath, row: GoneVolume) -> Gap:
    if one.kind == "StorageClass":
        fix = f"Make the class anew with the provisioner `{row.driver}`{_TO_INSTALL}, and its parameters"
    elif one.kind == "PersistentVolume":
        fix = f"Make it anew as a volume of the CSI driver `{row.driver}`{_TO_INSTALL}"
    else:
        fix = f"Take a claim on a volume of the CSI driver `{row.driver}`{_TO_INSTALL}"
    return Gap(
        one,
        f"Kubernetes has no plug-in for `{row.kind}` volumes since 1.{row.gone}: "
        f"{_COMES.get(one.kind, 'its pods do not start')}",
        path,
        evidence=(f"plug-in for {row.kind}: taken out in 1.{row.gone}",),
        fix=f"{fix}." if row.driver else "Take storage that has a CSI driver, and bring the data there.",
    )


CHECKS = (image_gone, volume_gone)
