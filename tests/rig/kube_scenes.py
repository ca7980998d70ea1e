"""Fixtures of checks as objects of one cluster: each case in namespaces of its own, as many at once as fit."""

from __future__ import annotations

import copy
import json
import re
import urllib.error
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pilotage.checks.objects import KubeObject
from pilotage.checks.readers.files import read_paths
from pilotage.checks.readers.kinds import known_kinds
from pilotage.checks.readers.projection import LAST_APPLIED
from rig.kube_control_plane import ControlPlane, wait_until

_SHARED = ("kube-", "default", "istio-system")
_EARLY = ("CustomResourceDefinition", "Namespace", "ServiceAccount", "PriorityClass")
_LATE = (
    "IngressClass",
    "ResourceQuota",
    "LimitRange",
    "APIService",
    "ValidatingWebhookConfiguration",
    "MutatingWebhookConfiguration",
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding",
)
"""What would hinder the creation of the others, or be written into them by the server (a default class)."""


_NAMED = (
    re.compile(r"(--[a-z-]*(?:configmap|service)[a-z-]*=)([a-z0-9-]+)(/)"),
    re.compile(r"(\.)([a-z0-9-]+)(\.svc\b)"),
)
"""How texts name a namespace."""
STATES = ("HorizontalPodAutoscaler", "Job", "Node", "PodDisruptionBudget", "ResourceQuota")
"""Kinds whose status controllers write, and nobody else here."""

_NOBODY_NAMES = ("ValidatingWebhookConfiguration", "MutatingWebhookConfiguration")
"""Kinds without a namespace whose names nothing refers to."""


@dataclass
class Case:
    """A fixture whose objects may live in a cluster beside those of others.

    Attributes:
        path: the fixture.
        check: the check whose fixture it is.
        objects: its objects, in namespaces of its own.
    """

    path: Path
    check: str
    objects: list[dict[str, Any]]

    @property
    def name(self) -> str:
        return f"{self.check}/{self.path.stem}"

    @property
    def is_bad(self) -> bool:
        """Whether its check must find something."""
        return self.path.name.startswith("bad-")

    def taken(self) -> set[tuple[str, str, str]]:
        return {key_of(one) for one in self.objects}


@dataclass
class Round:
    """Cases that do not get in each other's way."""

    cases: list[Case] = field(default_factory=list)
    keys: set[tuple[str, str, str]] = field(default_factory=set)


def key_of(one: Mapping[str, Any]) -> tuple[str, str, str]:
    metadata = one["metadata"]
    return one["kind"], metadata.get("namespace", ""), metadata["name"]


def _listed(kind: str, api_version: str) -> tuple[str, bool] | None:
    group = api_version.rpartition("/")[0]
    for places in known_kinds().values():
        for one in places:
            if one.kind.partition(".")[0] == kind and one.group == group:
                return one.resource, one.namespaced
    return None


def cases(folder: Path) -> Iterator[Case]:
    """All fixtures of checks that hold only Kubernetes objects."""
    paths = sorted(path for path in folder.glob("*/*") if path.name.startswith(("ok-", "bad-", "near-")))
    for number, path in enumerate(paths):
        reading = read_paths([str(path)])
        if reading.problems or not reading.objects or reading.configs:
            continue
        if all(_placeable(one) for one in reading.objects):
            objects = [_moved(one, f"c{number}") for one in reading.objects]
            yield Case(path, path.parent.name, objects)


def _placeable(one: KubeObject) -> bool:
    """Whether we know where it is created: its kind, and names that are text."""
    named = isinstance(one.metadata.get("name"), str)
    return (
        named
        and isinstance(one.metadata.get("namespace", ""), str)
        and _listed(one.kind, one.api_version) is not None
    )


def _moved(one: KubeObject, prefix: str) -> dict[str, Any]:
    value = copy.deepcopy(dict(one.data))
    listed = _listed(one.kind, one.api_version)
    if listed is not None and listed[1]:
        value["metadata"].setdefault("namespace", "")
    _rename(value, prefix)
    if one.kind == "Namespace" or one.kind in _NOBODY_NAMES:
        value["metadata"]["name"] = _renamed(value["metadata"]["name"], prefix)
    if listed is not None and not listed[1]:
        value["metadata"].pop("namespace", None)
    annotations = value["metadata"].setdefault("annotations", None) or {}
    value["metadata"]["annotations"] = {**annotations, LAST_APPLIED: json.dumps(value)}
    return value


def _renamed(namespace: str, prefix: str) -> str:
    if namespace.startswith(_SHARED):
        return namespace
    return f"{prefix}-{namespace}" if namespace else prefix


def _rename(value: Any, prefix: str) -> None:
    """Every namespace that is named, in the object's own metadata, in references and in selectors."""
    if isinstance(value, list):
        for item in value:
            _rename(item, prefix)
        value[:] = [_reworded(item, prefix) for item in value]
        return
    if not isinstance(value, dict):
        return
    for key, inner in value.items():
        if key in {"namespace", "kubernetes.io/metadata.name"} and isinstance(inner, str):
            value[key] = _renamed(inner, prefix)
        else:
            _rename(inner, prefix)
            value[key] = _reworded(inner, prefix)
    if value.get("key") == "kubernetes.io/metadata.name" and isinstance(value.get("values"), list):
        value["values"] = [_renamed(str(one), prefix) for one in value["values"]]


def _reworded(value: Any, prefix: str) -> Any:
    """A text with a namespace in it: `--configmap=ingress/settings`, `web.shop.svc`."""
    if not isinstance(value, str):
        return value
    for named in _NAMED:
        value = named.sub(lambda found: f"{found[1]}{_renamed(found[2], prefix)}{found[3]}", value)
    return value


def rounds(found: Iterable[Case]) -> list[Round]:
    """The cases in as few rounds as they fit into without two objects of one name."""
    made: list[Round] = []
    for case in found:
        keys = case.taken()
        place = next((one for one in made if not one.keys & keys), None)
        if place is None:
            place = Round()
            made.append(place)
        place.cases.append(case)
        place.keys |= keys
    return made


def bad_first(found: Iterable[Case]) -> list[Case]:
    """First one bad fixture of each check, then another of each, in the end what is fine."""
    counts: Counter[str] = Counter()
    order: dict[str, tuple[bool, int]] = {}
    all_cases = list(found)
    for case in all_cases:
        order[case.name] = (not case.is_bad, counts[case.check])
        counts[case.check] += 1
    return sorted(all_cases, key=lambda case: order[case.name])


def telling(found: Iterable[Round]) -> list[Round]:
    """The rounds with a bad fixture of a check that none before had: many of cluster DNS bear one name."""
    kept, seen = [], set[str]()
    for one in found:
        fresh = {case.check for case in one.cases if case.is_bad} - seen
        if fresh:
            kept.append(one)
            seen |= fresh
    return kept


def in_order(objects: Iterable[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Objects in the order in which they can be created."""
    batches: list[list[dict[str, Any]]] = [[] for _ in range(len(_EARLY) + 1 + len(_LATE))]
    for one in objects:
        kind = one["kind"]
        if kind in _EARLY:
            batches[_EARLY.index(kind)].append(one)
        elif kind in _LATE:
            batches[len(_EARLY) + 1 + _LATE.index(kind)].append(one)
        else:
            batches[len(_EARLY)].append(one)
    return [batch for batch in batches if batch]


def path_of(one: Mapping[str, Any], *, named: bool = False) -> str:
    """Where an object is created, or where it is."""
    kind, namespace, name = key_of(one)
    listed = _listed(kind, one["apiVersion"])
    assert listed is not None
    root = f"/apis/{one['apiVersion']}" if "/" in one["apiVersion"] else f"/api/{one['apiVersion']}"
    inside = f"/namespaces/{namespace}" if namespace else ""
    return f"{root}{inside}/{listed[0]}" + (f"/{name}" if named else "")


def definitions(objects: Iterable[Mapping[str, Any]], served: Collection[str]) -> list[dict[str, Any]]:
    """Definitions that make an API server take any object of the groups that it does not serve by itself."""
    versions: dict[tuple[str, str], set[str]] = {}
    for one in objects:
        group, _, version = one["apiVersion"].rpartition("/")
        if group not in served:
            versions.setdefault((group, one["kind"]), set()).add(version)
    return [_definition(group, kind, sorted(found)) for (group, kind), found in sorted(versions.items())]


def define(plane: ControlPlane, objects: Iterable[Mapping[str, Any]]) -> None:
    """Makes the server serve the kinds of some objects that it does not know by itself."""
    served = {"", *(one["name"] for one in plane.call("GET", "/apis")["groups"])}
    made = definitions(objects, served)
    where = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    refusals = plane.send_all("POST", [(where, one) for one in made])
    assert not any(refusals), refusals
    # A definition that is established is not yet served: until then its address is not found.
    for spec in (one["spec"] for one in made):
        for version in spec["versions"]:
            _list(plane, f"/apis/{spec['group']}/{version['name']}/{spec['names']['plural']}")


def _definition(group: str, kind: str, versions: list[str]) -> dict[str, Any]:
    listed = _listed(kind, f"{group}/v1")
    assert listed is not None
    plural, namespaced = listed
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    metadata: dict[str, Any] = {"name": f"{plural}.{group}"}
    if group.endswith("k8s.io"):
        # Groups of the project itself ask for a proof that somebody has looked at them.
        metadata["annotations"] = {"api-approved.kubernetes.io": "unapproved, a stub for tests"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": metadata,
        "spec": {
            "group": group,
            "scope": "Namespaced" if namespaced else "Cluster",
            "names": {"plural": plural, "singular": kind.lower(), "kind": kind, "listKind": f"{kind}List"},
            "versions": [
                {
                    "name": version,
                    "served": True,
                    "storage": version == versions[-1],
                    "schema": {"openAPIV3Schema": anything},
                }
                for version in versions
            ],
        },
    }


def held(plane: ControlPlane) -> list[dict[str, Any]]:
    """What the server holds of the kinds that checks look at, as it gives it."""
    known = {(one.group, one.resource) for places in known_kinds().values() for one in places}
    groups = plane.call("GET", "/apis")["groups"]
    versions = ["v1", *(one["preferredVersion"]["groupVersion"] for one in groups)]
    found = []
    for version in versions:
        root = f"/apis/{version}" if "/" in version else f"/api/{version}"
        try:
            resources = plane.call("GET", root)["resources"]
        except urllib.error.HTTPError:
            # An APIService of a fixture, which nothing answers for.
            continue
        for one in resources:
            if (version.rpartition("/")[0], one["name"]) in known and "list" in one["verbs"]:
                items = _list(plane, f"{root}/{one['name']}")
                found += [{"apiVersion": version, "kind": one["kind"], **item} for item in items]
    return found


def _list(plane: ControlPlane, path: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []

    def asked() -> bool:
        # A definition that was made just now answers 429 until its storage is there.
        found[:] = plane.call("GET", path)["items"]
        return True

    wait_until(asked, within=60, what=f"a list of {path}")
    return found
