"""What a service account may do: roles and bindings as lookups."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from pilotage.checks.index import SHARED, nearest
from pilotage.checks.objects import KubeObject
from pilotage.checks.scene import Scene
from pilotage.checks.values import as_list, as_map, as_text, dig
from pilotage.checks.workloads import Workload

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
    "validatingwebhookconfigurations mutatingwebhookconfigurations".split()
)
"""What a server writes that answers questions only: reports, its own certificate and where it is trusted."""
_LOCKS = frozenset({"leases", "configmaps", "endpoints", "*"})
_WRITES = frozenset({"create", "update", "patch", "delete", "*"})


def may_not_elect(scene: Scene, workload: Workload) -> bool:
    """Whether its account may change objects of others, and none by which two pods of it agree on one.

    Args:
        scene: where the roles and bindings are; where they are not, the answer is no.
        workload: what the account is of.
    """
    written: set[str] = set()
    for rule in _rules_anywhere(scene, workload):
        if {as_text(one) for one in as_list(rule.get("verbs"))} & _WRITES:
            written.update(as_text(one).partition("/")[0] for one in as_list(rule.get("resources")))
    return bool(written - _NO_WORK) and not written & _LOCKS


def _rules_anywhere(scene: Scene, workload: Workload) -> Iterator[Mapping[str, Any]]:
    """The rules that bind its account, in all namespaces or in some."""
    one = workload.object
    for binding in scene.of("ClusterRoleBinding", "RoleBinding"):
        names = (
            as_text(dig(subject, "name")) == account_of(workload)
            and one.namespace in {"", as_text(dig(subject, "namespace")) or binding.namespace}
            for subject in as_list(binding.data.get("subjects"))
        )
        if any(names):
            kind, role = as_text(binding.get("roleRef", "kind")), as_text(binding.get("roleRef", "name"))
            found = scene.find(kind, role, binding)
            yield from map(as_map, as_list(found.data.get("rules")) if found is not None else ())
