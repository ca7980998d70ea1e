"""The tool check_cluster on a real API server, over both transports: the same answer, by reading alone."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.types import CallToolResult

from pilotage.core.settings import LibrarySettings, Settings, WebSettings
from rig.kube_control_plane import ControlPlane, control_plane
from rig.mcp_library import PUBLIC, answer_of, build, talk, text_of
from rig.mcp_server import served

PROGRAM = str(Path(sys.executable).with_name("pilotage"))
WEBHOOK = {
    "apiVersion": "admissionregistration.k8s.io/v1",
    "kind": "ValidatingWebhookConfiguration",
    "metadata": {"name": "everything"},
    "webhooks": [
        {
            "name": "all.example.com",
            "clientConfig": {"url": "https://127.0.0.1:1/check"},
            "failurePolicy": "Ignore",
            "timeoutSeconds": 30,
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
            "rules": [
                {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
            ],
        }
    ],
}
HALF = {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "ClusterRole",
    "metadata": {"name": "half"},
    "rules": [
        {
            "apiGroups": ["admissionregistration.k8s.io"],
            "resources": ["validatingwebhookconfigurations"],
            "verbs": ["list"],
        }
    ],
}
"""One of the two kinds that checks of webhooks read."""
BOUND = {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "ClusterRoleBinding",
    "metadata": {"name": "half"},
    "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "half"},
    "subjects": [{"kind": "ServiceAccount", "name": "reader", "namespace": "default"}],
}
READER = "system:serviceaccount:default:reader"
pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def store_url(tmp_path_factory: pytest.TempPathFactory) -> str:
    return build(tmp_path_factory.mktemp("mcp-cluster") / "library.db", PUBLIC)


@pytest.fixture(scope="module")
def plane() -> Iterator[ControlPlane]:
    with control_plane() as running:
        account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "reader"}}
        for one in (WEBHOOK, account, HALF, BOUND):
            done = running.kubectl("apply", "-f", "-", text=json.dumps(one))
            assert done.returncode == 0, done.stderr.decode()
        yield running


def over_stdio(store_url: str, kubeconfig: Path, arguments: dict[str, Any]) -> CallToolResult:
    environment = {
        "PILOTAGE_LIBRARY__SEMANTIC": "false",
        "PATH": os.environ["PATH"],
        "LC_ALL": "C.UTF-8",
        "KUBECONFIG": str(kubeconfig),
    }
    command = StdioServerParameters(
        command=PROGRAM, args=["mcp", "--allow-cluster", "--store", store_url], env=environment
    )

    async def call(client: Client) -> CallToolResult:
        return await client.call_tool("check_cluster", arguments)

    return talk(command, call)


@pytest.fixture(scope="module")
def address(store_url: str) -> Iterator[str]:
    settings = Settings(library=LibrarySettings(semantic=False), web=WebSettings(allow_cluster=True))
    with served(settings, store_url) as found:
        yield found


@pytest.fixture
def ask_both(store_url: str, address: str, monkeypatch: pytest.MonkeyPatch) -> Callable[..., CallToolResult]:
    """The answer of one transport, which is that of the other."""

    def ask(kubeconfig: Path, **arguments: Any) -> CallToolResult:
        async def call(client: Client) -> CallToolResult:
            return await client.call_tool("check_cluster", arguments)

        monkeypatch.setenv("KUBECONFIG", str(kubeconfig))
        first, second = talk(f"{address}/mcp", call), over_stdio(store_url, kubeconfig, arguments)
        assert first.is_error == second.is_error
        assert text_of(first) == text_of(second)
        return first

    return ask


def test_findings_of_what_runs(plane: ControlPlane, ask_both: Callable[..., CallToolResult]) -> None:
    found = answer_of(ask_both(plane.kubeconfig(), select=["webhooks"], response_format="detailed"))
    mine = [one for one in found["findings"] if "everything" in one["place"]]
    assert "webhook-timeout" in {one["check"] for one in mine}
    assert mine[0]["evidence"]
    assert found["objects"] >= 1
    assert found["total"] == sum(found["severities"].values())
    kept = answer_of(ask_both(plane.kubeconfig(), select=["webhooks"], ignore=["webhook-timeout"]))
    assert "webhook-timeout" not in {one["check"] for one in kept["findings"]}


def test_what_may_not_be_read_is_no_pass_and_nothing_is_written(
    plane: ControlPlane, ask_both: Callable[..., CallToolResult]
) -> None:
    config = plane.kubeconfig("reader", token=plane.account_token("default", "reader"))
    found = answer_of(ask_both(config, select=["webhook-timeout"]))
    unread = json.dumps([found.get("unknown"), found.get("problems")])
    assert "mutatingwebhookconfigurations" in unread.lower()
    verbs = {entry["verb"] for entry in plane.audit(READER)}
    assert verbs
    assert verbs <= {"get", "list"}


def test_an_account_that_may_read_nothing_is_told_so(
    plane: ControlPlane, ask_both: Callable[..., CallToolResult]
) -> None:
    refused = ask_both(plane.kubeconfig("nobody"), select=["webhook-timeout"])
    assert refused.is_error
    assert "permits us to list nothing" in text_of(refused)


def test_a_context_that_is_not_there_names_those_that_are(
    plane: ControlPlane, ask_both: Callable[..., CallToolResult]
) -> None:
    wrong = ask_both(plane.kubeconfig(), context="rigg")
    assert wrong.is_error
    assert "'rig'" in text_of(wrong)
