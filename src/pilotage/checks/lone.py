"""What works as one instance only, so that a second replica is no advice: programs, controllers, volumes."""

from __future__ import annotations

import functools
import re
import weakref
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from pilotage.checks import components
from pilotage.checks.accounts import Agreement, account_of, agreement
from pilotage.checks.objects import KubeObject
from pilotage.checks.scene import Exposure, Scene
from pilotage.checks.serving import serving_container
from pilotage.checks.tables import read_table
from pilotage.checks.values import as_list, as_map, as_text, dig
from pilotage.checks.workloads import Container, Workload
from pilotage.core.regex import regex

_MAKES = frozenset({"pods", "deployments", "statefulsets", "daemonsets", "replicasets"})
_WRITES = frozenset({"create", "*"})
_TRAFFIC = frozenset({"ingress-controller", "network-agent", "cluster-dns", "node-dns"})
_ELECTS = regex(r"^--?(?:enable-)?leader-elect(?:ion)?(?:=true)?$")
_STAYS_OFF = regex(r"^--?(?:(?:enable-)?leader-elect(?:ion)?=false|mode\.single(?:=true)?)$")
_OFF = regex(r"^leaderElection:\s*\n(?:[ \t]+.*\n)*?[ \t]+leaderElect:[ \t]*false\b", re.MULTILINE)
"""In the file of a controller manager."""
ROLL_NOTHING = frozenset({"ReplicaSet", "ReplicationController"})
"""Kinds that replace no pod when their template changes."""
_NOT_ROLLED = ROLL_NOTHING | {"StatefulSet"}
_STAYS_ALONE = regex(
    r"replicas:\s*1\s*#[^\n]*(?:\b(?:do\s?n[o']t|never|cannot|can't|must not)\s(?:be )?"
    r"(?:scale|increase|raise|change)|\bonly one\b|\bsingleton\b|\bexactly one\b)",
    re.IGNORECASE,
)
_ONE_NODE = frozenset({"ReadWriteOnce", "ReadWriteOncePod"})

USES = ("ClusterRole", "ClusterRoleBinding", "ConfigMap", "PersistentVolumeClaim", "Role", "RoleBinding")
"""The kinds that tell it, for the checks that ask."""


class Program(msgspec.Struct, frozen=True):
    """A row of `data/one_instance.yaml`.

    Attributes:
        why: why one instance works at a time.
        fix: what would let two work; empty where nothing does.
        unless: texts in the pod's configuration that show that it has been done.
        store: whether it keeps the data of others: a pod that brings one along is alone with its data.
        hookless: whether a hook before its end gains nothing.
    """

    why: str
    fix: str
    unless: tuple[str, ...]
    store: bool
    hookless: bool


@functools.cache
def _programs() -> Mapping[str, Program]:
    """Last parts of an image's name -> its row."""
    found: dict[str, Program] = {}
    for row in as_list(as_map(read_table("data/one_instance.yaml")).get("programs")):
        unless = tuple(as_text(one) for one in as_list(dig(row, "unless")))
        why, fix = as_text(dig(row, "why")), as_text(dig(row, "fix"))
        program = Program(why, fix, unless, dig(row, "store") is True, dig(row, "hook") == "none")
        found |= {as_text(image): program for image in as_list(dig(row, "images"))}
    return found


def program_of(scene: Scene, workload: Workload, exposure: Exposure) -> Program | None:
    """The row of the program that gets the requests; None where two of it may work."""
    container = serving_container(workload, exposure)
    found = _program(container) if container is not None else None
    if found is None or container is None:
        return next((one for each in workload.running if (one := _program(each)) and one.store), None)
    told = "\n".join(_configuration(scene, workload, container)) if found.unless else ""
    return None if any(mark in told for mark in found.unless) else found


def _program(container: Container) -> Program | None:
    """The row of the program of one container."""
    parts = components.bare_image(container.image).split("/")
    parts = ["library", *parts] if len(parts) == 1 else parts
    for start in range(len(parts) - 2, len(parts)):
        found = _programs().get("/".join(parts[start:]))
        if found is not None:
            return found
    return None


def _configuration(scene: Scene, workload: Workload, container: Container) -> Iterator[str]:
    yield from container.words
    yield from (as_text(dig(item, "name")) for item in as_list(container.data.get("env")))
    yield from _mounted(scene, workload)


def _mounted(scene: Scene, workload: Workload) -> Iterator[str]:
    """The texts of the ConfigMaps that it uses."""
    for reference in scene.references(workload):
        if reference.kind == "ConfigMap":
            one = scene.find(reference.kind, reference.name, workload.object)
            yield from (as_text(text) for text in as_map(one.data.get("data") if one else None).values())


def ends_first(scene: Scene, workload: Workload) -> bool:
    """Whether its one pod is always gone before the next one starts, since nothing rolls it over."""
    scale = scene.scale(workload)
    if scale is None or scale.most != 1:
        return False
    away = workload.object.get("spec", "strategy", "rollingUpdate", "maxUnavailable")
    return workload.kind in _NOT_ROLLED or (workload.kind == "Deployment" and away in (1, "100%"))


def is_console(workload: Workload) -> bool:
    """Whether people look at other things by it, so that nothing waits for it."""
    return "console" in components.roles(workload)


def why_alone(scene: Scene, workload: Workload, exposure: Exposure) -> str:
    """Why nobody can run it twice or would gain by it; empty where that may help."""
    program = program_of(scene, workload, exposure)
    if program is not None and not program.fix:
        return program.why
    if _said_to_be_alone(workload):
        return "whoever wrote it says that it stays at one"
    if is_controller(scene, workload):
        return "it looks after other workloads, which go on without it"
    return ""


def why_stopped_first(scene: Scene, workload: Workload, exposure: Exposure, held: str) -> str:
    """Why its one pod is rightly stopped before the next one starts; empty where it could be rolled over.

    Args:
        scene: the scene.
        workload: the workload.
        exposure: how requests reach it.
        held: the volume that one node may have at a time; empty for none.
    """
    program = program_of(scene, workload, exposure)
    if program is not None:
        return program.why
    if exposure.by in {"webhook", "api"} and competes(scene, workload):
        return "two of it would compete: see webhook-single and apiservice-fragile"
    if held and exposure.by == "service":
        return f"{held} leaves it no other strategy, and only programs inside wait for it"
    return why_alone(scene, workload, exposure)


def _said_to_be_alone(workload: Workload) -> bool:
    """Whether a comment beside its number of replicas says that it is not to be raised."""
    document = workload.object.document
    return document is not None and _STAYS_ALONE.search(document.text) is not None


# Controllers

_GRANTS: weakref.WeakKeyDictionary[Scene, dict[str, list[KubeObject]]] = weakref.WeakKeyDictionary()


def is_controller(scene: Scene, workload: Workload) -> bool:
    """Whether it makes the pods of others, by what its account may do, or waits to be elected.

    A proxy is none, though some make workloads: the traffic itself goes through it.
    """
    if components.roles(workload) & _TRAFFIC:
        return False
    if elects_a_leader(workload):
        return True
    scene.asked.update(("ClusterRoleBinding", "RoleBinding"))
    name, own = account_of(workload), workload.object.namespace
    if name == "default":
        return False
    return any(
        _makes_workloads(scene, binding)
        for binding in _bindings(scene).get(name, ())
        if _binds(binding, name, own)
    )


def elects_a_leader(workload: Workload) -> bool:
    """Whether its arguments say that one of its pods works at a time."""
    return any(_ELECTS.match(word) for one in workload.running for word in one.words)


def competes(scene: Scene, workload: Workload) -> str:
    """What shows that two pods of a controller would work against each other; empty where nothing does."""
    if any(_STAYS_OFF.match(word) for one in workload.running for word in one.words):
        return "leader election is off"
    if elects_a_leader(workload):
        return ""
    if any(_OFF.search(text) for text in _mounted(scene, workload)):
        return "leader election is off"
    return "its account may write no lease" if agreement(scene, workload) is Agreement.NONE else ""


def only_one_works(scene: Scene, workload: Workload) -> str:
    """What shows that a controller is meant to run once; empty where nothing does."""
    once = workload.strategy == "Recreate" and workload.replicas == 1 and not elects_a_leader(workload)
    return competes(scene, workload) or (
        "one replica with the strategy Recreate: it is meant to run once" if once else ""
    )


_TWO = "Run two replicas on different nodes, with a PodDisruptionBudget."
_WHERE_IT_ELECTS = "Where it elects a leader, or does nothing but answer, r"
"""And so on as for one that surely may."""
_SHORT = "keep the way back of its one pod short: {ways}."


def fix_of_one(scene: Scene, workload: Workload, instead: str = "") -> str:
    """What to do about a controller of one pod that others wait for.

    Args:
        scene: the scene.
        workload: the controller.
        instead: what helps where two of it do not work; a sentence.
    """
    off = next((word for one in workload.running for word in one.words if _STAYS_OFF.match(word)), "")
    if off:
        return f"Have it elect a leader (take `{off}` off), then r{_TWO[1:]}"
    classed = workload.pod.get("priorityClassName")
    ways = (
        "" if classed else "a priority class, "
    ) + "an image that the nodes have, drains that are announced"
    short = _SHORT.format(ways=ways)
    if only_one_works(scene, workload):
        return " ".join(("Two of it would compete.", instead, f"{'Else k' if instead else 'K'}{short[1:]}"))
    surely = {Agreement.BY_LEASE, Agreement.NEEDLESS}
    if elects_a_leader(workload) or agreement(scene, workload) in surely:
        return _TWO
    return " ".join((_WHERE_IT_ELECTS + _TWO[1:], f"Where it does neither, {short}", instead)).rstrip()


def _bindings(scene: Scene) -> dict[str, list[KubeObject]]:
    """Account -> what binds roles to it."""
    known = _GRANTS.get(scene)
    if known is None:
        known = _GRANTS[scene] = {}
        for binding in scene.of("ClusterRoleBinding", "RoleBinding"):
            for subject in as_list(binding.data.get("subjects")):
                if dig(subject, "kind") == "ServiceAccount":
                    known.setdefault(as_text(dig(subject, "name")), []).append(binding)
    return known


def _binds(binding: KubeObject, name: str, own: str) -> bool:
    """Whether the account that a binding names may be the one of a namespace."""
    stated = (
        as_text(dig(subject, "namespace")) or binding.namespace
        for subject in as_list(binding.data.get("subjects"))
        if dig(subject, "name") == name
    )
    return any(not one or not own or one == own for one in stated)


def _makes_workloads(scene: Scene, binding: KubeObject) -> bool:
    kind, role = as_text(binding.get("roleRef", "kind")), as_text(binding.get("roleRef", "name"))
    if kind == "ClusterRole" and role == "cluster-admin":
        return True
    found = scene.find(kind, role, binding) if kind in {"ClusterRole", "Role"} else None
    rules = as_list(found.data.get("rules")) if found is not None else []
    return any(_may_make(as_map(rule)) for rule in rules)


def _may_make(rule: Mapping[str, Any]) -> bool:
    verbs = {as_text(one) for one in as_list(rule.get("verbs"))}
    return bool(verbs & _WRITES) and bool(
        {as_text(one) for one in as_list(rule.get("resources"))} & (_MAKES | {"*"})
    )


# Volumes


def volume_of_one_node(scene: Scene, workload: Workload) -> str:
    """What holds the data that only pods of one node may have at a time; empty where nothing does.

    A claim that the scene does not hold counts: nearly all are of that kind.
    """
    if workload.kind == "StatefulSet":
        templates = as_list(workload.object.spec.get("volumeClaimTemplates"))
        return next((f"the claim `{as_text(dig(one, 'metadata', 'name'))}`" for one in templates), "")
    for volume in as_list(workload.pod.get("volumes")):
        name = as_text(dig(volume, "persistentVolumeClaim", "claimName"))
        if not name or dig(volume, "persistentVolumeClaim", "readOnly") is True:
            continue
        claim = scene.find("PersistentVolumeClaim", name, workload.object)
        modes = (
            {as_text(one) for one in as_list(claim.spec.get("accessModes"))} if claim is not None else set()
        )
        if modes <= _ONE_NODE:
            return f"the claim `{name}`"
    return ""


def beside(scene: Scene, workload: Workload) -> Workload | None:
    """Another workload that answers behind every Service by which requests from outside reach this one."""
    ways = [one for one in scene.exposures(workload) if one.by == "edge"]
    found: Workload | None = None
    for way in ways:
        found = next((one for one in scene.workloads_of(way.service) if _answers(one, workload, way)), None)
        if found is None:
            return None
    return found


def _answers(other: Workload, workload: Workload, way: Exposure) -> bool:
    if other is workload or other.kind in {"Job", "Pod"} or other.object.file != workload.object.file:
        return False
    ports = [as_map(port) for port in as_list(way.service.spec.get("ports"))]
    return other.replicas != 0 and all(
        other.container_port(port.get("targetPort", port.get("port"))) is not None for port in ports
    )
