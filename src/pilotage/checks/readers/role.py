"""The smallest ClusterRole under which every check can look: get and list of the kinds that they need."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import yaml

from pilotage.checks.model import Check
from pilotage.checks.readers.kinds import listed_for

ROLE = "pilotage-check"
VERBS = ["get", "list"]


def cluster_role(checks: Iterable[Check], *, without: Iterable[str] = ()) -> dict[str, Any]:
    """The role for some checks.

    Args:
        checks: the checks that are to run.
        without: kinds that it shall not permit; the checks that need them then answer that they cannot tell.
    """
    by_group: dict[str, set[str]] = defaultdict(set)
    for one in listed_for(checks, without=without):
        by_group[one.group].add(one.resource)
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": ROLE},
        "rules": [
            {"apiGroups": [group], "resources": sorted(names), "verbs": VERBS}
            for group, names in sorted(by_group.items())
        ],
    }


def account(namespace: str, name: str) -> list[dict[str, Any]]:
    """A service account, and the binding that gives it the role."""
    return [
        {
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "metadata": {"name": name, "namespace": namespace},
        },
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": ROLE},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": ROLE},
            "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": namespace}],
        },
    ]


def as_yaml(documents: Iterable[dict[str, Any]]) -> str:
    """The manifests as a stream."""

    class Plain(yaml.SafeDumper):
        def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - PyYAML's signature
            return True

    return "".join(
        "---\n" + yaml.dump(one, Dumper=Plain, sort_keys=False, default_flow_style=False) for one in documents
    )
