"""Objects found by kind, by name, by label; of several equal ones in many folders the nearest."""

from __future__ import annotations

import functools
import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import PurePath
from typing import Any, Generic, TypeVar

from pilotage.checks.objects import KubeObject
from pilotage.checks.values import as_list, as_map, as_text
from pilotage.checks.workloads import KINDS as WORKLOADS

SHARED = {"", "default", "system"}
"""Namespaces that tell nothing: unrelated examples share them; in scaffolds `system` stands for another."""

_GROUPS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(
        (
            "Service",
            "Pod",
            "ConfigMap",
            "Secret",
            "Namespace",
            "Node",
            "PersistentVolumeClaim",
            "PersistentVolume",
            "ServiceAccount",
            "ResourceQuota",
            "LimitRange",
            "Endpoints",
            "ReplicationController",
            "Event",
        ),
        ("",),
    ),
    **dict.fromkeys(("Deployment", "DaemonSet", "ReplicaSet"), ("apps", "extensions")),
    "StatefulSet": ("apps",),
    "Ingress": ("networking.k8s.io", "extensions"),
    "NetworkPolicy": ("networking.k8s.io", "extensions"),
    "Job": ("batch",),
    "CronJob": ("batch",),
    "HorizontalPodAutoscaler": ("autoscaling",),
    "PodDisruptionBudget": ("policy",),
    "Rollout": ("argoproj.io",),
    "DeploymentConfig": ("apps.openshift.io", ""),
    "Route": ("route.openshift.io", ""),
}
"""Groups of the kinds whose names others use too (Knative has a `Service`, too)."""
_CLUSTER_WIDE = {"ClusterRole", "Namespace", "Node", "PersistentVolume", "PriorityClass", "StorageClass"}

_Item = TypeVar("_Item")


def indexed_kind(kube_object: KubeObject) -> str:
    """The kind under which it is found: `Kind.group` where it only shares the name of a well-known one."""
    groups = _GROUPS.get(kube_object.kind)
    if groups is None or kube_object.group in groups:
        return kube_object.kind
    return f"{kube_object.kind}.{kube_object.group}"


def may_share_namespace(one: KubeObject, other: KubeObject) -> bool:
    """Whether two objects can be in one namespace; a manifest without one goes wherever it is applied."""
    return one.namespace == other.namespace or not one.namespace or not other.namespace


class Index:
    """The objects of a scene.

    Args:
        objects: all of them.
    """

    def __init__(self, objects: Iterable[KubeObject]) -> None:
        self.by_kind: dict[str, list[KubeObject]] = defaultdict(list)
        self._by_name: dict[tuple[str, str], list[KubeObject]] = defaultdict(list)
        self._namespaces: dict[str, set[str]] = {}
        # One name may stand in a thousand namespaces.
        self._in_namespace: dict[tuple[str, str, str], list[KubeObject]] = defaultdict(list)
        for one in objects:
            kind = indexed_kind(one)
            self.by_kind[kind].append(one)
            self._by_name[kind, one.name].append(one)
            self._in_namespace[kind, one.name, one.namespace].append(one)

    @cached_property
    def _parts_in(self) -> dict[tuple[str, ...], set[str]]:
        """Folder -> the parts that objects in it have."""
        found: dict[tuple[str, ...], set[str]] = defaultdict(set)
        for kind, objects in self.by_kind.items():
            for one in objects:
                found[_folders(one.file)].add(_part(kind))
        return found

    def of(self, *kinds: str) -> Iterator[KubeObject]:
        """The objects of some kinds."""
        for kind in kinds:
            yield from self.by_kind.get(kind, ())

    def namespaces(self, kind: str) -> set[str]:
        """The namespaces that hold objects of a kind; an empty one for those that state none."""
        found = self._namespaces.get(kind)
        if found is None:
            found = self._namespaces[kind] = {one.namespace for one in self.by_kind.get(kind, ())}
        return found

    def named(self, kind: str, name: str, namespace: str = "") -> list[KubeObject]:
        """The objects of a name; those of an unstated namespace fit any, unless one fits exactly."""
        if not namespace:
            return list(self._by_name.get((kind, name), []))
        exact = self._in_namespace.get((kind, name, namespace), [])
        return list(exact or self._in_namespace.get((kind, name, ""), []))

    def find(self, kind: str, name: str, origin: KubeObject, namespace: str = "") -> KubeObject | None:
        """The object that another one means by a name, in its own namespace unless one is given.

        One that may just as well be of another application is not meant.
        """
        found = self.named(kind, name, namespace or origin.namespace)
        if kind not in _CLUSTER_WIDE:
            stated = namespace if namespace not in SHARED else ""
            found = [one for one in found if one.namespace == stated != "" or self.belong(origin, one)]
        return nearest(origin, found)[0] if found else None

    def belong(self, one: KubeObject, other: KubeObject, *, named: bool = True) -> bool:
        """Whether two objects that can be in one namespace are meant for each other.

        A folder of examples holds many that share a name or a label and have nothing to do with each other.
        So the namespace that both state must tell, or the chart or Kustomize folder that both are of, or a
        folder that lies within the other's. Where neither states one, folders beside each other do as well
        that are laid out by kind, so that neither holds what the other is there for; but not for what names
        nothing of the other, nor do files of a folder then of which one is chosen. Of such a folder nothing
        is meant for what lies in a folder within it.

        Args:
            one: an object.
            other: another one.
            named: whether one names the other or a label of it; `podSelector: {}` takes whatever there is.
        """
        if one.live or one.file == other.file:
            return True
        if one.namespace == other.namespace and one.namespace not in SHARED:
            return True
        if one.application and other.application:
            return one.application == other.application
        first, second = _folders(one.file), _folders(other.file)
        shorter = min(len(first), len(second))
        if first[:shorter] == second[:shorter]:
            if not named:
                return other.file.rpartition("/")[0] not in self.choices
            around = one if len(first) < len(second) else other
            return first == second or around.file.rpartition("/")[0] not in self.choices
        return named and one.namespace == other.namespace and self._beside(one, other)

    @cached_property
    def choices(self) -> set[str]:
        """Folders of which not all is applied, since several of their files hold the same object."""
        found: set[str] = set()
        for same in self._in_namespace.values():
            if len(same) > 1:
                folders = [file.rpartition("/")[0] for file in {one.file for one in same}]
                found |= {folder for folder, number in Counter(folders).items() if number > 1}
        return found

    def is_variant(self, one: KubeObject) -> bool:
        """Whether other files hold an object of its kind and name, too, so that one of them is chosen."""
        same = self._in_namespace[indexed_kind(one), one.name, one.namespace]
        return any(other.file != one.file and other.application == one.application for other in same)

    def _beside(self, one: KubeObject, other: KubeObject) -> bool:
        first, second = _folders(one.file), _folders(other.file)
        if first[:-1] != second[:-1]:
            return False
        parts = self._parts_in
        return _part(other.kind) not in parts[first] and _part(one.kind) not in parts[second]


def _part(kind: str) -> str:
    """What an object is there for; all that runs pods is one."""
    return "pods" if kind in WORKLOADS else kind


def nearest(origin: KubeObject, found: Sequence[KubeObject]) -> Sequence[KubeObject]:
    """Of several objects those that another one most likely means.

    They are in the same namespace, else in the same file, else in the nearest folder: a folder of examples
    holds many that share a name and state no namespace.
    """
    if len(found) < 2 or not origin.file:  # noqa: PLR2004
        return found
    exact = [one for one in found if one.namespace == origin.namespace and origin.namespace]
    if exact:
        return _nearest_of_each(origin, exact)
    distances = [_distance(origin.file, one.file) for one in found]
    least = min(distances)
    return [one for one, distance in zip(found, distances, strict=True) if distance == least]


def _nearest_of_each(origin: KubeObject, found: Sequence[KubeObject]) -> Sequence[KubeObject]:
    """Of objects with one name, which are variants of each other, only the nearest; one of each name."""
    least: dict[str, int] = {}
    for one in found:
        distance = _distance(origin.file, one.file)
        least[one.name] = min(distance, least.get(one.name, distance))
    return [one for one in found if _distance(origin.file, one.file) == least[one.name]]


def _distance(one: str, other: str) -> int:
    if one == other:
        return 0
    first, second = _folders(one), _folders(other)
    pairs = zip(first, second, strict=False)
    shared = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))
    return 1 + len(first) + len(second) - 2 * shared


@functools.lru_cache(maxsize=100_000)
def _folders(file: str) -> tuple[str, ...]:
    return PurePath(file).parent.parts


class Labelled(Generic[_Item]):
    """Things found by the labels that they bear; each lookup costs as much as it finds.

    Args:
        items: the things with their labels.
    """

    def __init__(self, items: Iterable[tuple[_Item, Mapping[str, Any]]]) -> None:
        self.items: list[tuple[_Item, Mapping[str, Any]]] = list(items)
        self._bearing: dict[tuple[str, Any], list[int]] = defaultdict(list)
        for position, (_, labels) in enumerate(self.items):
            for key, value in labels.items():
                if isinstance(value, str | int | bool):
                    self._bearing[key, str(value)].append(position)

    def matching(self, labels: Mapping[str, Any]) -> list[_Item]:
        """The things that bear all of the labels; nothing for no labels."""
        if not labels:
            return []
        lists = [self._bearing.get((key, str(value)), []) for key, value in labels.items()]
        shortest = min(lists, key=len)
        wanted = [(key, str(value)) for key, value in labels.items()]
        return [
            self.items[position][0]
            for position in shortest
            if all(str(self.items[position][1].get(key)) == value for key, value in wanted)
        ]

    def selected(self, selector: Mapping[str, Any]) -> list[_Item]:
        """The things that a label selector (`matchLabels`, `matchExpressions`) selects; an empty one all."""
        labels = as_map(selector.get("matchLabels"))
        candidates = self.matching(labels) if labels else [item for item, _ in self.items]
        if not selector.get("matchExpressions"):
            return candidates
        of = {id(item): found for item, found in self.items}
        return [item for item in candidates if selects(selector, of[id(item)])]


def selects(selector: Mapping[str, Any], labels: Mapping[str, Any]) -> bool:
    """Whether a label selector selects these labels; an empty one selects everything."""
    for key, value in as_map(selector.get("matchLabels")).items():
        if key not in labels or str(labels[key]) != str(value):
            return False
    return all(
        _fits(item, labels) for item in as_list(selector.get("matchExpressions")) if isinstance(item, dict)
    )


def _fits(expression: Mapping[str, Any], labels: Mapping[str, Any]) -> bool:
    key, operator = as_text(expression.get("key")), as_text(expression.get("operator"))
    values = {str(value) for value in as_list(expression.get("values"))}
    if operator == "In":
        return key in labels and str(labels[key]) in values
    if operator == "NotIn":
        return key not in labels or str(labels[key]) not in values
    if operator == "Exists":
        return key in labels
    return operator == "DoesNotExist" and key not in labels
