"""What a service account may do: roles and bindings as lookups."""

from __future__ import annotations

import enum
import re
import weakref
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from pilotage.checks.index import SHARED, nearest
from pilotage.checks.objects import KubeObject
from pilotage.checks.scene import Scene
from pilotage.checks.values import as_list, as_map, as_text, dig
from pilotage.checks.workloads import Workload
from pilotage.core.regex import regex

READS = frozenset({"list", "watch", "*"})


def account_of(workload: Workload) -> str:
    """The name of the account that its pods use."""
    names = (workload.pod.get("serviceAccountName"), workload.pod.get("serviceAccount"))
    return next((as_text(name) for name in names if as_text(name)), "default")


class ClusterGrants:
    """The rules that service accounts have in all namespaces.

    Args:
        scene: where the roles and bindings are.
    """

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._bound: dict[str, list[tuple[KubeObject, str]]] = defaultdict(list)
        for binding in scene.of("ClusterRoleBinding"):
            for subject in as_list(binding.data.get("subjects")):
                if as_text(dig(subject, "kind")) == "ServiceAccount":
                    name, namespace = as_text(dig(subject, "name")), as_text(dig(subject, "namespace"))
                    self._bound[name].append((binding, namespace))

    def rules_of(self, workload: Workload) -> Iterator[tuple[KubeObject, Mapping[str, Any]]]:
        """The rules that the pods of a workload have in all namespaces, with the ClusterRole of each."""
        for binding in self._bindings_of(workload):
            role = self._scene.find("ClusterRole", as_text(binding.get("roleRef", "name")), binding)
            if role is None or as_text(binding.get("roleRef", "kind")) != "ClusterRole":
                continue
            for rule in as_list(role.data.get("rules")):
                yield role, as_map(rule)

    def _bindings_of(self, workload: Workload) -> Iterator[KubeObject]:
        """Those that name its account: of its own application, else by the namespace that both state.

        Of several by one name, which are variants, the nearest.
        """
        one = workload.object
        fitting = [
            (binding, namespace)
            for binding, namespace in self._bound.get(account_of(workload), ())
            if not namespace or not one.namespace or namespace == one.namespace
        ]
        near = [binding for binding, _ in fitting if self._scene.index.belong(one, binding)]
        named: dict[str, list[KubeObject]] = defaultdict(list)
        for binding in near or (binding for binding, namespace in fitting if namespace not in SHARED):
            named[binding.name].append(binding)
        yield from (nearest(one, same)[0] for same in named.values() if one.namespace or near)


def readable(rule: Mapping[str, Any], resources: frozenset[str]) -> list[str]:
    """Those of some resources that a rule allows to list or watch in all namespaces, by any name."""
    verbs = {as_text(one) for one in as_list(rule.get("verbs"))}
    if not verbs & READS or rule.get("resourceNames"):
        return []
    named = {as_text(one) for one in as_list(rule.get("resources"))}
    return sorted(resources if "*" in named else named & resources)


_NO_WORK = frozenset(
    "events secrets tokenreviews subjectaccessreviews customresourcedefinitions certificates "
    "certificaterequests certificatesigningrequests signers "
    "validatingwebhookconfigurations mutatingwebhookconfigurations".split()
)
"""What a server writes that answers questions only: reports, its own certificate and where it is trusted."""
_LOCKS = frozenset({"leases", "*"})
_OLD_LOCKS = frozenset({"configmaps", "endpoints"})
_LOCK_NAME = regex(r"leader|elect|lock", re.IGNORECASE)
_RENEWS = frozenset({"update", "patch", "*"})
_WRITES = frozenset({"create", "update", "patch", "delete", "*"})


class Agreement(enum.Enum):
    """How two pods of one account could agree on which of them works."""

    BY_LEASE = "it may write leases"
    NEEDLESS = "it writes nothing about which they would have to"
    NONE = "it may change objects of others, and nothing by which they agree"
    UNKNOWN = "the roles are not there, or are those of older programs"


def agreement(scene: Scene, workload: Workload) -> Agreement:
    """How pods of a workload could agree, by what its account may write.

    Args:
        scene: where the roles and bindings are.
        workload: what the account is of.
    """
    written: set[str] = set()
    rules = list(_rules_anywhere(scene, workload))
    for rule in rules:
        verbs = {as_text(one) for one in as_list(rule.get("verbs"))} & _WRITES
        resources = {as_text(one).partition("/")[0] for one in as_list(rule.get("resources"))}
        if verbs and resources & _LOCKS:
            return Agreement.BY_LEASE
        if verbs:
            written |= (
                {"an old lock"} if resources & _OLD_LOCKS and _may_be_a_lock(rule, verbs) else resources
            )
    if not rules or "an old lock" in written:
        return Agreement.UNKNOWN
    return Agreement.NONE if written - _NO_WORK - _OLD_LOCKS else Agreement.NEEDLESS


def _may_be_a_lock(rule: Mapping[str, Any], verbs: set[str]) -> bool:
    """Whether one pod could go on holding what a rule lets it write: any object, or one of such a name."""
    names = [as_text(one) for one in as_list(rule.get("resourceNames"))]
    return bool(verbs & _RENEWS) and (not names or any(_LOCK_NAME.search(one) for one in names))


def _rules_anywhere(scene: Scene, workload: Workload) -> Iterator[Mapping[str, Any]]:
    """The rules that bind its account, in all namespaces or in some."""
    scene.asked.update(_BINDINGS)
    home = workload.object.namespace
    named = _bound(scene).get(account_of(workload), ())
    for binding in dict.fromkeys(one for one, namespace in named if home in {"", namespace}):
        kind, role = as_text(binding.get("roleRef", "kind")), as_text(binding.get("roleRef", "name"))
        found = scene.find(kind, role, binding)
        yield from map(as_map, as_list(found.data.get("rules")) if found is not None else ())


_BINDINGS = ("ClusterRoleBinding", "RoleBinding")
_Bound = Mapping[str, list[tuple[KubeObject, str]]]
_bound_in: weakref.WeakKeyDictionary[Scene, _Bound] = weakref.WeakKeyDictionary()


def _bound(scene: Scene) -> _Bound:
    """Name of an account -> the bindings that name it, each with the namespace of the account."""
    if scene not in _bound_in:
        found: dict[str, list[tuple[KubeObject, str]]] = defaultdict(list)
        for binding in scene.of(*_BINDINGS):
            for subject in as_list(binding.data.get("subjects")):
                namespace = as_text(dig(subject, "namespace")) or binding.namespace
                found[as_text(dig(subject, "name"))].append((binding, namespace))
        _bound_in[scene] = found
    return _bound_in[scene]
