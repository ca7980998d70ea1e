"""Users' expressions mean the same here and for a real API server, and so do the policies made of them."""

from __future__ import annotations

import json
import urllib.error
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from pilotage.checks.own.reading import read_files
from pilotage.checks.policies.from_own import policy_of
from pilotage.checks.policies.writing import Binding, Telling, objects_of
from pilotage.cli.main import run
from rig.kube_control_plane import ControlPlane, control_plane, wait_until

GOLDEN = Path(__file__).parents[1] / "golden" / "own"
TRUE = yaml.safe_load((GOLDEN / "true.yaml").read_text("utf-8"))
_ADMISSION = "/apis/admissionregistration.k8s.io/v1"
_THINGS = "/apis/tests.pilotage.dev/v1/namespaces/default/things"
_DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
_DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "things.tests.pilotage.dev"},
    "spec": {
        "group": "tests.pilotage.dev",
        "scope": "Namespaced",
        "names": {"plural": "things", "kind": "Thing"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
                },
            }
        ],
    },
}

pytestmark = [pytest.mark.real, pytest.mark.slow]


@pytest.fixture(scope="module")
def plane() -> Iterator[ControlPlane]:
    with control_plane() as running:
        running.call("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", _DEFINITION)
        wait_until(lambda: "items" in running.call("GET", _THINGS), within=90, what="the kind is served")
        yield running


def tried(plane: ControlPlane, path: str, body: dict[str, Any]) -> str:
    """What the API server says against an object; empty for nothing."""
    try:
        plane.call("POST", f"{path}?dryRun=All", body)
    except urllib.error.HTTPError as error:
        return str(json.loads(error.read())["message"])
    return ""


@contextmanager
def followed(plane: ControlPlane, rules: dict[str, Any], binding: dict[str, Any]) -> Iterator[None]:
    plane.call("POST", f"{_ADMISSION}/validatingadmissionpolicies", rules)
    plane.call("POST", f"{_ADMISSION}/validatingadmissionpolicybindings", binding)
    try:
        yield
    finally:
        name = rules["metadata"]["name"]
        plane.call("DELETE", f"{_ADMISSION}/validatingadmissionpolicybindings/{name}")
        plane.call("DELETE", f"{_ADMISSION}/validatingadmissionpolicies/{name}")


def test_what_is_true_here_is_true_for_the_api_server(plane: ControlPlane) -> None:
    thing = {**TRUE["object"], "apiVersion": "tests.pilotage.dev/v1", "kind": "Thing"}
    marked = 'object.metadata.name != "mark"'
    rules = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": "true"},
        "spec": {
            "failurePolicy": "Fail",
            "matchConstraints": {
                "resourceRules": [
                    {
                        "apiGroups": ["tests.pilotage.dev"],
                        "apiVersions": ["*"],
                        "operations": ["CREATE"],
                        "resources": ["things"],
                    }
                ]
            },
            "validations": [
                {"expression": marked, "message": "in force"},
                *({"expression": text, "message": f"not true: {text}"} for text in TRUE["expressions"]),
            ],
        },
    }
    binding = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": "true"},
        "spec": {"policyName": "true", "validationActions": ["Deny"]},
    }
    with followed(plane, rules, binding):
        mark = {**thing, "metadata": {**thing["metadata"], "name": "mark"}}
        wait_until(
            lambda: "in force" in tried(plane, _THINGS, mark), within=90, what="the policy is in force"
        )
        assert tried(plane, _THINGS, thing) == ""


def test_own_checks_look_at_a_cluster(
    plane: ControlPlane, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("gc.disable", lambda: None)
    text = (GOLDEN / "checks.yaml").read_text("utf-8")
    unknown = (
        "  - {id: shop-gizmo, title: x, severity: low, kinds: [{kind: Gizmo, group: a.b}], "
        "validations: [{expression: 'false'}], fix: Do it.}\n"
    )
    (tmp_path / "own.yaml").write_text(text + unknown)
    web = next(yaml.safe_load_all((GOLDEN / "manifests" / "web.yaml").read_text()))
    del web["metadata"]["namespace"]
    foreign = json.loads(json.dumps(web).replace("registry.shop.example", "other"))
    wait_until(lambda: not tried(plane, _DEPLOYMENTS, foreign), within=90, what="no policy is left")
    plane.call("POST", _DEPLOYMENTS, foreign)
    try:
        with pytest.raises(SystemExit) as stop:
            run(
                [
                    *("check", "cluster", "--kubeconfig", str(plane.kubeconfig()), "--no-config"),
                    *("--checks", str(tmp_path / "own.yaml"), "--select", "own", "--output", "json"),
                ]
            )
    finally:
        plane.call("DELETE", f"{_DEPLOYMENTS}/web")
    document = json.loads(capsys.readouterr().out)
    found = {one["check"]: one for one in document["findings"]}
    assert stop.value.code == 1
    assert found["shop-own-registry"]["message"] == "container web runs other/web:1.4"
    assert any("where it is listed is not known" in json.dumps(one) for one in document["unknown"])


def test_a_policy_of_an_own_check_refuses_what_the_check_finds(plane: ControlPlane) -> None:
    rule = read_files([GOLDEN / "checks.yaml"])[0]
    rules, binding = objects_of(
        policy_of(rule), Telling(rule.stated.title, "high", rule.stated.fix), Binding("Deny", ())
    )
    rules["spec"]["failurePolicy"] = "Fail"
    ours = next(yaml.safe_load_all((GOLDEN / "manifests" / "web.yaml").read_text()))
    del ours["metadata"]["namespace"]
    foreign = json.loads(json.dumps(ours).replace("registry.shop.example", "other.example"))
    with followed(plane, rules, binding):
        wait_until(
            lambda: "An image comes from a registry" in tried(plane, _DEPLOYMENTS, foreign),
            within=90,
            what="the policy is in force",
        )
        assert tried(plane, _DEPLOYMENTS, ours) == ""
