"""Whether something that is not in the scene is missing, or merely kept elsewhere."""

from __future__ import annotations

import os
import weakref
from collections import defaultdict
from collections.abc import Iterable
from difflib import get_close_matches

import msgspec

from pilotage.checks import workloads
from pilotage.checks.index import SHARED
from pilotage.checks.objects import KubeObject
from pilotage.checks.scene import Scene
from pilotage.checks.values import as_text, dig

_ALIKE = 0.8
_BASES = {"base", "bases"}
_SYSTEM = {"kube-system", "kube-public", "istio-system"}


class _Kept(msgspec.Struct):
    """Where objects of one kind are kept."""

    namespaces: set[str] = msgspec.field(default_factory=set)
    folders: set[tuple[str, str]] = msgspec.field(default_factory=set)


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


def surely_absent(  # noqa: PLR0913 - what a reference has
    scene: Scene, kind: str, name: str, origin: KubeObject, namespace: str = "", *, group: str = ""
) -> bool:
    """Whether an object that `origin` names does not exist.

    A cluster tells. Files tell where they `hold` what is of its kind, and none that bears its name may be
    the one that is meant. Of Services they tell only where they hold pods there: one that stands without any
    stands beside an application that is kept elsewhere. Where no namespace is stated, and many examples may
    lie in one folder, another must be in the very file or bear nearly that name.

    Args:
        scene: the scene, in which it was not found.
        kind: its kind.
        name: its name.
        origin: what names it.
        namespace: where it is said to be; empty means that of `origin`.
        group: its API group, where others have a kind of that name, too.
    """
    if not hold(scene, kind, origin, namespace, group):
        return False
    if kind == "Service" and not scene.live and not _holds_pods(scene, origin, namespace):
        return False
    if scene.live:
        return True
    wanted = namespace or origin.namespace
    found = scene.index.named(kind, name, wanted)
    if any(not group or one.group == group for one in found):
        return False
    return wanted not in SHARED or _beside_like(scene, kind, name, origin, group)


def _beside_like(scene: Scene, kind: str, name: str, origin: KubeObject, group: str) -> bool:
    folder = folder_of(origin)
    near = [one for one in scene.of(kind) if (not group or one.group == group) and folder_of(one) == folder]
    if any(one.file == origin.file for one in near):
        return True
    return bool(get_close_matches(name, [one.name for one in near], 1, _ALIKE))


def hold(scene: Scene, kind: str, origin: KubeObject, namespace: str = "", group: str = "") -> bool:
    """Whether a scene would hold an object of a kind that `origin` names, if there was one.

    Files do where they hold others of the kind in the namespace that is stated, or, where none is stated, in
    the same folder: whoever keeps some of them there keeps all of them there. In `default`, which unrelated
    examples share, they must be in the same folder, too. System namespaces have more owners than one, so
    files never tell. Nor do they of a namespace into which something in them has a chart installed.

    Args:
        scene: the scene.
        kind: the kind.
        origin: what names an object of it.
        namespace: where it is said to be; empty means that of `origin`.
        group: its API group, where others have a kind of that name, too.
    """
    if scene.live:
        return kind not in scene.blind
    wanted = namespace or origin.namespace
    if wanted in _SYSTEM or _installed_in(scene, wanted, origin):
        return False
    kept = _kept(scene, kind, group)
    if wanted in SHARED:
        return (wanted, folder_of(origin)) in kept.folders
    return wanted in kept.namespaces


_INSTALL = ("HelmRelease", "HelmChart", "HelmApp", "Application", "ApplicationSet", "KfDef")
_INSTALLERS: weakref.WeakKeyDictionary[Scene, list[tuple[str, KubeObject]]] = weakref.WeakKeyDictionary()


def _installed_in(scene: Scene, namespace: str, origin: KubeObject) -> bool:
    """Whether something has a chart that is not in the files put into a namespace."""
    if scene not in _INSTALLERS:
        _INSTALLERS[scene] = [
            (
                as_text(
                    one.spec.get("targetNamespace")
                    or dig(one.spec, "destination", "namespace")
                    or dig(one.spec, "template", "spec", "destination", "namespace")
                    or one.namespace
                ),
                one,
            )
            for one in scene.of(*_INSTALL)
            if one.kind != "Application" or one.group == "argoproj.io"
        ]
        # By such a group operators are told to install something: `operator.knative.dev`.
        _INSTALLERS[scene] += [
            (one.namespace, one) for one in scene.objects if one.group.startswith("operator.")
        ]
    return any(
        into == namespace and (into not in SHARED or scene.index.belong(origin, one))
        for into, one in _INSTALLERS[scene]
    )


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


def _holds_pods(scene: Scene, origin: KubeObject, namespace: str) -> bool:
    wanted = namespace or origin.namespace
    kept = [_kept(scene, kind, "") for kind in workloads.SERVING]
    if wanted in SHARED:
        return any((wanted, folder_of(origin)) in one.folders for one in kept)
    return any(wanted in one.namespaces for one in kept)


def folder_of(one: KubeObject) -> str:
    """The folder that an object was read from."""
    return one.file.rpartition("/")[0]


def by_name(one: KubeObject) -> tuple[str, str, str]:
    """An order that is the same in files and in a cluster, whichever object comes first."""
    return one.namespace, one.name, one.file


def to_be_completed(scene: Scene, one: KubeObject) -> bool:
    """Whether Kustomize completes an object, which it did not do here: what it lacks may be added.

    So it is with a folder that calls itself a base, and that nothing here builds upon.
    """
    file = one.document.file if one.document is not None else None
    # What a chart is rendered from bears the name of its template.
    if file is not None and file.name != file.shown and not _BASES.isdisjoint(file.application.split("/")):
        return True
    return bool(scene.unbuilt.files) and os.path.normpath(one.file) in scene.unbuilt.files


def together(scene: Scene, one: KubeObject, other: KubeObject) -> bool:
    """Whether two objects are surely meant to be in one cluster, and not variants of one example."""
    if scene.live or one.file == other.file:
        return True
    if (one.namespace, one.name) == (other.namespace, other.name) or _rendered_twice(one, other):
        return False
    if _kept_with(one) == _kept_with(other):
        return bool(one.application) or folder_of(one) not in scene.index.choices
    return bool(one.namespace and other.namespace and not {one.namespace, other.namespace} <= SHARED)


def _rendered_twice(one: KubeObject, other: KubeObject) -> bool:
    """Whether two objects are one manifest of a base, rendered for two environments."""
    if one.document is None or other.document is None or one.document.file.origin is None:
        return False
    mine, theirs = one.document, other.document
    return (mine.file.shown, mine.start) == (theirs.file.shown, theirs.start)


def _kept_with(one: KubeObject) -> str:
    """What an object is applied with: its chart or Kustomize folder, else its folder."""
    return one.application or folder_of(one)


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
            self._in_folder[_kept_with(one)].append(one)
        self._owned = [one for one in self._all if one.namespace not in SHARED]
        self._stated = [one for one in self._all if one.namespace]

    def of(self, origin: KubeObject) -> KubeObject | None:
        """The first other one that is in one cluster with `origin`; None where there is none."""
        if self._scene.live:
            return next((one for one in self._all if one is not origin), None)
        farther = self._owned if origin.namespace in SHARED else self._stated
        for group in (self._in_folder.get(_kept_with(origin), ()), farther if origin.namespace else ()):
            for one in group:
                if one is not origin and together(self._scene, origin, one):
                    return one
        return None
