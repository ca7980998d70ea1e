"""What an account may do: whether two pods that bear it could agree on one that works."""

from __future__ import annotations

from typing import Any

import pytest

from pilotage.checks.accounts import may_not_elect
from pilotage.checks.objects import KubeObject
from pilotage.checks.scene import Scene

RBAC = "rbac.authorization.k8s.io/v1"
POD = {"serviceAccountName": "a", "containers": [{"name": "a", "image": "registry.example/a:1"}]}
SERVICES = {"resources": ["services/status"], "verbs": ["update"]}
LEASES = {"resources": ["leases"], "verbs": ["create", "update"]}


def scene(*rules: dict[str, Any], namespace: str = "shop") -> Scene:
    objects = [
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "a", "namespace": "shop"},
            "spec": {"selector": {"matchLabels": {"app": "a"}}, "template": {"metadata": {}, "spec": POD}},
        },
        {
            "apiVersion": RBAC,
            "kind": "Role",
            "metadata": {"name": "r", "namespace": "shop"},
            "rules": [*rules],
        },
        {
            "apiVersion": RBAC,
            "kind": "RoleBinding",
            "metadata": {"name": "b", "namespace": "shop"},
            "roleRef": {"kind": "Role", "name": "r"},
            "subjects": [{"kind": "ServiceAccount", "name": "a", "namespace": namespace}],
        },
    ]
    return Scene([KubeObject(one) for one in objects], live=True)


def answer(one: Scene) -> bool:
    return may_not_elect(one, one.workloads[0])


def test_an_account_that_changes_objects_and_may_keep_no_lease() -> None:
    assert answer(scene(SERVICES))


@pytest.mark.parametrize(
    "rules",
    [
        [],
        [SERVICES, LEASES],
        [{"resources": ["*"], "verbs": ["*"]}],
        [{"resources": ["services"], "verbs": ["get", "list", "watch"]}],
        [{"resources": ["secrets", "events", "tokenreviews"], "verbs": ["create", "update"]}],
    ],
)
def test_one_that_may_elect_or_changes_nothing_of_others(rules: list[dict[str, Any]]) -> None:
    assert not answer(scene(*rules))


def test_what_another_namespace_is_granted_does_not_count() -> None:
    assert not answer(scene(SERVICES, namespace="other"))
