"""What an account may do: whether two pods that bear it could agree on one that works."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from pilotage.checks.accounts import Agreement, agreement
from pilotage.checks.objects import KubeObject
from pilotage.checks.readers.files import read_text
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


ONE = """\
apiVersion: apps/v1
kind: Deployment
metadata: {{name: c{n}, namespace: n{n}}}
spec:
  template:
    spec: {{serviceAccountName: a{n}, containers: [{{name: c, image: example/c}}]}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {{name: r{n}, namespace: n{n}}}
rules: [{{apiGroups: [apps], resources: [{resource}], verbs: [update]}}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {{name: b{n}, namespace: n{n}}}
roleRef: {{kind: Role, name: r{n}, apiGroup: rbac.authorization.k8s.io}}
subjects: [{{kind: ServiceAccount, name: a{n}}}, {{kind: ServiceAccount, name: a{n}, namespace: n{n}}}]
"""


def test_bindings_are_gone_through_once(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "---\n".join(ONE.format(n=n, resource="deployments" if n % 2 else "leases") for n in range(20))
    scene = Scene(read_text(text).objects)
    asked = []
    given = Scene.of

    def counted(self: Scene, *kinds: str) -> Iterator[KubeObject]:
        asked.append(kinds)
        return given(self, *kinds)

    monkeypatch.setattr(Scene, "of", counted)
    found = [agreement(scene, one) for one in scene.workloads]
    assert found == [Agreement.BY_LEASE, Agreement.NONE] * 10
    assert sum("RoleBinding" in kinds for kinds in asked) == 1


def test_kinds_that_it_rests_on_are_told_each_time() -> None:
    scene = Scene(read_text(ONE.format(n=1, resource="pods")).objects)
    (workload,) = scene.workloads
    for _ in range(2):
        scene.asked.clear()
        agreement(scene, workload)
        assert {"ClusterRoleBinding", "RoleBinding"} <= scene.asked
