"""Where the data of a workload lies: in a folder of one node, or with others that its arguments name."""

from __future__ import annotations

import re

from pilotage.checks.objects import KubeObject
from pilotage.checks.scene import Exposure, Scene
from pilotage.checks.serving import serving_container
from pilotage.checks.values import as_list, as_text, dig
from pilotage.checks.workloads import Workload

_FOLDERS = frozenset({"hostPath", "local"})
_DATABASE = re.compile(r"\b(?:postgres(?:ql)?|mysql|mariadb|mssql|oracle)(?:\+\w+)?://")
_OBJECT_STORE = re.compile(r"\b(?:s3a?|gs|wasbs?|abfss?|oss)://")


def folder_of_one_node(scene: Scene, workload: Workload) -> str:
    """The volume that is a folder of one node and that its pods mount; empty where the scene has none.

    A claim is bound to it by name, or by a class that only such volumes offer. That is asked of files only:
    in a cluster it would cost everybody the right to list all volumes.
    """
    if scene.live:
        return ""
    for volume in as_list(workload.pod.get("volumes")):
        name = as_text(dig(volume, "persistentVolumeClaim", "claimName"))
        claim = scene.find("PersistentVolumeClaim", name, workload.object) if name else None
        bound = _bound(scene, claim) if claim is not None else []
        if bound and all(_FOLDERS & one.spec.keys() for one in bound):
            return bound[0].key
    return ""


def _bound(scene: Scene, claim: KubeObject) -> list[KubeObject]:
    """The volumes of the scene of which a claim gets one."""
    offered = list(scene.of("PersistentVolume"))
    named = [one for one in offered if one.name == claim.spec.get("volumeName")]
    if named:
        return named
    storage = claim.spec.get("storageClassName")
    return [one for one in offered if storage and one.spec.get("storageClassName") == storage]


def kept_elsewhere(workload: Workload, exposure: Exposure) -> bool:
    """Whether the arguments of what gets the requests name a database and an object store for its data."""
    container = serving_container(workload, exposure)
    told = " ".join(container.words) if container is not None else ""
    return _DATABASE.search(told) is not None and _OBJECT_STORE.search(told) is not None
