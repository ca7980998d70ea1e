"""One look at every object of a scene, shared by the checks that rest on definitions."""

from __future__ import annotations

import json
import re
import weakref
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePath
from typing import Any

import msgspec

from pilotage.checks.index import nearest
from pilotage.checks.model import NotApplicable, Pass
from pilotage.checks.objects import KubeObject, is_patch_name
from pilotage.checks.scene import Scene
from pilotage.checks.schema import crds
from pilotage.checks.schema.places import holds
from pilotage.checks.schema.published import Definitions, definitions, groups, nearest_minor, served
from pilotage.checks.schema.shapes import Struct
from pilotage.checks.schema.walk import Fault, Rule, faults
from pilotage.checks.values import KeyPath, as_list, as_map, as_text, dig
from pilotage.checks.workloads import workload_of
from pilotage.core.regex import regex

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_FORGOTTEN = "a cluster keeps nothing that it does not know"
_KIND = regex(r"^kind: *(\w+)", re.MULTILINE)
_OF_LIVE = (Rule.UNKNOWN, Rule.REPEATED)


class Look(msgspec.Struct):
    """What there is to say about one object.

    Attributes:
        object: the object.
        data: what was looked at: the object as somebody wrote it.
        shape: what it should be; None where there is nothing to compare it with.
        faults: what does not fit.
        why: why there is nothing to compare it with, or nothing but what a cluster shows.
        custom: whether it is a custom resource.
    """

    object: KubeObject
    data: Mapping[str, Any]
    shape: Struct | None = None
    faults: tuple[Fault, ...] = ()
    why: str = ""
    custom: bool = False


@dataclass
class Survey:
    """The looks at all objects of a scene.

    Args:
        scene: the scene.
    """

    scene: Scene
    published: Definitions = field(init=False)
    _custom: dict[tuple[str, str], list[crds.Defined]] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self.published = definitions(nearest_minor(self.scene.version))

    @cached_property
    def looks(self) -> list[Look]:
        """One look at each object, in the order of the scene."""
        return [self._look(one) for one in self.scene.objects]

    @cached_property
    def _definitions(self) -> dict[tuple[str, str], list[KubeObject]]:
        """(group, kind) -> what defines it; most of it nobody asks for."""
        found: dict[tuple[str, str], list[KubeObject]] = defaultdict(list)
        for one in (*self.scene.index.of(crds.KIND), *self.scene.definitions):
            kind = dig(one.spec, "names", "kind")
            found[as_text(one.spec.get("group")), as_text(kind)].append(one)
        return found

    def defined(self, one: KubeObject) -> list[crds.Defined]:
        """The definitions of a custom resource that the scene holds; several where folders differ."""
        key = (one.api_version, one.kind)
        if key not in self._custom:
            self._custom[key] = [
                version
                for definition in self._definitions.get((one.group, one.kind), ())
                for name, version in crds.defined(definition, self.published)
                if name == key
            ]
        return self._custom[key]

    def versions_with(self, one: KubeObject, path: KeyPath) -> list[str]:
        """The other served versions of a custom resource that have a field there, `v1alpha2` and so on."""
        return [
            name.rpartition("/")[2]
            for definition in self._definitions.get((one.group, one.kind), ())
            for (name, _), version in crds.defined(definition, self.published)
            if name != one.api_version and version.served and holds(version.shape, path)
        ]

    @cached_property
    def patches(self) -> dict[str, str]:
        """Kind -> what Kustomizations of Flux write into all objects of it that they apply."""
        found: dict[str, str] = defaultdict(str)
        for one in self.scene.index.of("Kustomization"):
            for patch in as_list(one.spec.get("patches")):
                text = as_text(dig(patch, "patch"))
                kind = _KIND.search(text)
                found[as_text(dig(patch, "target", "kind")) or (kind[1] if kind else "")] += text
        return dict(found)

    def _look(self, one: KubeObject) -> Look:
        data = as_applied(one)
        if data is None:
            return self._look_at_live(one)
        if any(key[:1] == "$" for key in one.data):
            return Look(one, data, why="it is a patch, a piece of an object")
        stated = as_text(data.get("apiVersion")) or one.api_version
        shape = self.published.of(stated, one.kind)
        if shape is not None:
            return _compared(one, data, shape)
        if stated != one.api_version:
            # It was applied in a version that is gone since: what it lost on the way, nobody can tell.
            return self._look_at_live(one)
        return self._look_at_custom(one, data)

    def _look_at_live(self, one: KubeObject) -> Look:
        """Of an object that the server has taken, written nobody knows how: keys that stand twice."""
        shape = self.published.of(one.api_version, one.kind)
        if shape is None or shape.fits(one.data):
            return Look(one, one.data, shape, why=_FORGOTTEN)
        found = tuple(fault for fault in faults(one.data, shape) if fault.rule is Rule.REPEATED)
        return Look(one, one.data, shape, found, _FORGOTTEN)

    def _look_at_custom(self, one: KubeObject, data: Mapping[str, Any]) -> Look:
        versions = self.defined(one)
        if versions:
            looks = [_compared(one, data, version.shape, custom=True) for version in versions]
            fitting = next((look for look in looks if not look.faults), None)
            # Definitions of other releases may lie nearer than the one that is meant.
            least = min(len(look.faults) for look in looks)
            likely = [at for at, look in enumerate(looks) if len(look.faults) == least]
            return fitting or looks[likely[self._nearest(one, [versions[at] for at in likely])]]
        if served(one.api_version, one.kind) is not None or one.group in groups():
            return Look(one, data, why=f"version 1.{self.published.minor} has no such kind")
        return Look(one, data, why="its definition is not among the objects", custom=True)

    def _nearest(self, one: KubeObject, versions: list[crds.Defined]) -> int:
        near = nearest(one, [version.definition for version in versions])
        return next(at for at, version in enumerate(versions) if version.definition is near[0])


def as_applied(one: KubeObject) -> Mapping[str, Any] | None:
    """An object as somebody wrote it; None where a cluster has forgotten that."""
    if not one.live:
        return one.data
    text = as_text(one.annotations.get(LAST_APPLIED))
    try:
        return as_map(json.loads(text)) or None if text else None
    except (ValueError, RecursionError):
        return None


def _compared(one: KubeObject, data: Mapping[str, Any], shape: Struct, *, custom: bool = False) -> Look:
    if shape.fits(data):
        return Look(one, data, shape, custom=custom)
    return Look(one, data, shape, tuple(faults(data, shape)), custom=custom)


def is_piece(one: KubeObject) -> bool:
    """Whether an object is only a piece of one: a patch, by its file's name or since it names no image."""
    path = PurePath(one.file)
    if is_patch_name(path.name) or "patches" in path.parts:
        return True
    view = workload_of(one)
    return view is not None and view.partial


_surveys: weakref.WeakKeyDictionary[Scene, Survey] = weakref.WeakKeyDictionary()


def survey(scene: Scene) -> Survey:
    """The survey of a scene, made once."""
    found = _surveys.get(scene)
    if found is None:
        found = _surveys[scene] = Survey(scene)
    return found


def looks(scene: Scene) -> Iterator[Look]:
    """One look at each object of a scene."""
    yield from survey(scene).looks


def written_elsewhere(scene: Scene, one: KubeObject, field: str) -> bool:
    """Whether what an object lacks is added before it is applied, or it is not applied as it is.

    Flux adds what patches of its Kustomization say. What no kustomization names is left alone where others of
    its folder are named and a patch completes its kind, or where another file holds the object in whole: then
    it is a patch itself.
    """
    made = survey(scene)
    if re.search(rf"\b{re.escape(field)}\b", made.patches.get(one.kind, "")):
        return True
    if not scene.unbuilt.leaves(one.source):
        return False
    if one.kind in scene.unbuilt.patched and scene.unbuilt.forgets(one.source):
        return True
    return any(
        look.object.file != one.file and not any(fault.rule is Rule.REQUIRED for fault in look.faults)
        for look in made.looks
        if (look.object.kind, look.object.name) == (one.kind, one.name)
    )


def answers(scene: Scene, *rules: Rule) -> Iterator[tuple[Look, list[Fault]] | NotApplicable | Pass]:
    """Objects with faults of some kinds; for the others what there is to say."""
    for look in looks(scene):
        if look.shape is None or (look.why and Rule.REPEATED not in rules):
            yield NotApplicable(look.object, look.why)
            continue
        if look.object.live and not set(rules) & set(_OF_LIVE):
            yield NotApplicable(look.object, "the API server has taken it")
            continue
        found = [fault for fault in look.faults if fault.rule in rules]
        if found:
            yield look, found
        else:
            yield Pass(look.object)
