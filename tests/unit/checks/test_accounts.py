"""What an account may do: whether two pods that bear it could agree on one that works."""

from __future__ import annotations

from typing import Any

import pytest

from pilotage.checks.accounts import Agreement, agreement
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


def answer(one: Scene) -> Agreement:
    return agreement(one, one.workloads[0])


def configmaps(*names: str, verbs: tuple[str, ...] = ("update",)) -> dict[str, Any]:
    return {"resources": ["configmaps"], "verbs": [*verbs], **({"resourceNames": [*names]} if names else {})}


@pytest.mark.parametrize(
    "rules",
    [
        [SERVICES],
        [SERVICES, configmaps("own-ca")],
        [SERVICES, configmaps(verbs=("create",))],
    ],
)
def test_an_account_that_changes_objects_and_may_keep_no_lock(rules: list[dict[str, Any]]) -> None:
    assert answer(scene(*rules)) is Agreement.NONE


@pytest.mark.parametrize("rules", [[SERVICES, LEASES], [{"resources": ["*"], "verbs": ["*"]}]])
def test_one_that_may_keep_a_lease(rules: list[dict[str, Any]]) -> None:
    assert answer(scene(*rules)) is Agreement.BY_LEASE


@pytest.mark.parametrize("rules", [[], [SERVICES, configmaps()], [SERVICES, configmaps("leader-of-a")]])
def test_one_of_which_nobody_can_tell(rules: list[dict[str, Any]]) -> None:
    assert answer(scene(*rules)) is Agreement.UNKNOWN


@pytest.mark.parametrize(
    "rule",
    [
        {"resources": ["services"], "verbs": ["get", "list", "watch"]},
        {"resources": ["secrets", "events", "tokenreviews"], "verbs": ["create", "update"]},
        {"resources": ["certificatesigningrequests/approval"], "verbs": ["create", "update"]},
    ],
)
def test_one_that_changes_nothing_of_others(rule: dict[str, Any]) -> None:
    assert answer(scene(rule)) is Agreement.NEEDLESS


def test_what_another_namespace_is_granted_does_not_count() -> None:
    assert answer(scene(SERVICES, namespace="other")) is Agreement.UNKNOWN
