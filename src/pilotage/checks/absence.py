"""Whether something that is not in the scene is missing, or merely kept elsewhere."""

from __future__ import annotations

import weakref
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from pilotage.checks.objects import KubeObject
from pilotage.checks.scene import Scene

_SYSTEM = {"kube-system", "kube-public", "istio-system"}
_SHARED = {"", "default"}


@dataclass
class _Kept:
    """Where objects of one kind are kept."""

    namespaces: set[str] = field(default_factory=set)
    folders: set[tuple[str, str]] = field(default_factory=set)


_MAKERS: weakref.WeakKeyDictionary[Scene, dict[str, list[KubeObject]]] = weakref.WeakKeyDictionary()
_MAKE_NOTHING = (
    ".k8s.io",
    "istio.io",
    "traefik.io",
    "traefik.containo.us",
    "projectcontour.io",
    "cert-manager.io",
    "monitoring.coreos.com",
    "external-secrets.io",
    "openshift.io",
)
"""Groups of which no object makes a Service: routes, policies, certificates, rules."""
_WHERE: weakref.WeakKeyDictionary[Scene, dict[tuple[str, str], _Kept]] = weakref.WeakKeyDictionary()


def surely_absent(scene: Scene, kind: str, origin: KubeObject, namespace: str = "", group: str = "") -> bool:
    """Whether an object that `origin` names does not exist.

    A cluster tells. Files tell where they hold others of the kind in the namespace that is stated, or, where
    none is stated, in the same folder: whoever keeps some of them there keeps all of them there. In
    `default`, which unrelated examples share, they must be in the same folder, too. System namespaces have
    more owners than one, so files never tell.

    Args:
        scene: the scene, in which it was not found.
        kind: its kind.
        origin: what names it.
        namespace: where it is said to be; empty means that of `origin`.
        group: its API group, where others have a kind of that name, too.
    """
    if scene.live:
        return kind not in scene.blind
    wanted = namespace or origin.namespace
    if wanted in _SYSTEM:
        return False
    kept = _kept(scene, kind, group)
    if wanted in _SHARED:
        return (wanted, folder_of(origin)) in kept.folders
    return wanted in kept.namespaces


def maker(scene: Scene, name: str, origin: KubeObject, namespace: str = "") -> KubeObject | None:
    """A custom resource whose operator may make an object of that name: of `kibana` comes `kibana-kb-http`.

    Args:
        scene: the scene; of a live one there is nothing to guess.
        name: the name that is looked for.
        origin: what names it.
        namespace: where it is said to be; empty means that of `origin`.
    """
    if scene.live:
        return None
    if scene not in _MAKERS:
        found: dict[str, list[KubeObject]] = defaultdict(list)
        for one in scene.objects:
            group = one.group
            if "." in group and not group.endswith(_MAKE_NOTHING):
                found[one.name].append(one)
        _MAKERS[scene] = found
    wanted = namespace or origin.namespace
    parts = name.split("-")
    for end in range(len(parts), 0, -1):
        for one in _MAKERS[scene].get("-".join(parts[:end]), ()):
            if one is not origin and (one.namespace or wanted) == (wanted or one.namespace):
                return one
    return None


def _kept(scene: Scene, kind: str, group: str) -> _Kept:
    known = _WHERE.setdefault(scene, {})
    if (kind, group) not in known:
        found = known[kind, group] = _Kept()
        for one in scene.of(kind):
            if not group or one.group == group:
                found.namespaces.add(one.namespace)
                found.folders.add((one.namespace, folder_of(one)))
    return known[kind, group]


def folder_of(one: KubeObject) -> str:
    """The folder that an object was read from."""
    return one.file.rpartition("/")[0]


def by_name(one: KubeObject) -> tuple[str, str, str]:
    """An order that is the same in files and in a cluster, whichever object comes first."""
    return one.namespace, one.name, one.file


def together(scene: Scene, one: KubeObject, other: KubeObject) -> bool:
    """Whether two objects are surely meant to be in one cluster, and not variants of one example."""
    if scene.live or one.file == other.file:
        return True
    if (one.namespace, one.name) == (other.namespace, other.name):
        return False
    if folder_of(one) == folder_of(other):
        return True
    return bool(one.namespace and other.namespace and not {one.namespace, other.namespace} <= _SHARED)


class Companions:
    """Objects among which one is sought that is surely in one cluster with another, without a long search.

    Args:
        scene: where they are.
        items: the objects.
    """

    def __init__(self, scene: Scene, items: Iterable[KubeObject]) -> None:
        self._scene = scene
        self._all = list(items)
        self._in_folder: dict[str, list[KubeObject]] = defaultdict(list)
        for one in self._all:
            self._in_folder[folder_of(one)].append(one)
        self._owned = [one for one in self._all if one.namespace not in _SHARED]
        self._stated = [one for one in self._all if one.namespace]

    def of(self, origin: KubeObject) -> KubeObject | None:
        """The first other one that is in one cluster with `origin`; None where there is none."""
        if self._scene.live:
            return next((one for one in self._all if one is not origin), None)
        farther = self._owned if origin.namespace in _SHARED else self._stated
        for group in (self._in_folder.get(folder_of(origin), ()), farther if origin.namespace else ()):
            for one in group:
                if one is not origin and together(self._scene, origin, one):
                    return one
        return None
