"""Where the data of a workload lies: in a folder of one node, or with others that its arguments name."""

from __future__ import annotations

import msgspec

from pilotage.checks.components import bare_image
from pilotage.checks.objects import KubeObject
from pilotage.checks.scene import Exposure, Scene
from pilotage.checks.serving import serving_container
from pilotage.checks.values import as_list, as_text, dig
from pilotage.checks.workloads import Workload
from pilotage.core.regex import regex

_FOLDERS = frozenset({"hostPath", "local"})
_DATABASE = regex(r"\b(?:postgres(?:ql)?|mysql|mariadb|mssql|oracle)(?:\+\w+)?://")
_PARSE = regex(r"(?:^|/)(?:parse|parse-server)$")
_PARSE_DATABASE = {"PARSE_DATABASE_HOST", "PARSE_SERVER_DATABASE_URI"}
"""Parse keeps files in its database, too, unless it is given another adapter."""
_OF_ONE_SCHEMA = (
    "Each Parse Server keeps the schema in its memory: set `schemaCacheTtl` in its `databaseOptions`, or "
    "`enableSchemaHooks` with a replica set, so that one learns what another has changed. "
)
_OBJECT_STORE = regex(r"\b(?:s3a?|gs|wasbs?|abfss?|oss)://")


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


class Elsewhere(msgspec.Struct, frozen=True):
    """Where a program keeps all of its data, if not on a volume.

    Attributes:
        what: the stores and what names them.
        first: what a second instance needs first, as sentences; empty for nothing.
    """

    what: str
    first: str = ""


def kept_elsewhere(workload: Workload, exposure: Exposure) -> Elsewhere | None:
    """Where what gets the requests keeps all of its data; None where that may be a volume."""
    container = serving_container(workload, exposure)
    if container is None:
        return None
    told = " ".join(container.words)
    if _DATABASE.search(told) is not None and _OBJECT_STORE.search(told) is not None:
        return Elsewhere("a database and an object store, which its arguments name")
    named = {as_text(dig(item, "name")) for item in as_list(container.data.get("env"))}
    in_database = _PARSE.search(bare_image(container.image)) is not None and bool(named & _PARSE_DATABASE)
    return Elsewhere("a database, which its environment names", _OF_ONE_SCHEMA) if in_database else None
