"""Exported policies on a real API server: accepted, in force, refusing what our checks find and nothing else."""

from __future__ import annotations

import json
import urllib.error
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pilotage.checks.policies.policy import RESOURCES, Policy
from pilotage.checks.policies.shipped import shipped_policies
from pilotage.checks.policies.writing import Binding, name_of, objects_of
from pilotage.checks.readers.files import read_paths
from pilotage.checks.registry import all_checks
from pilotage.cli.check.export import telling_of
from pilotage.cli.check.incidents import incidents_of
from rig.kube_control_plane import ControlPlane, control_plane, wait_until

FIXTURES = Path(__file__).parents[1] / "golden" / "checks"
POLICIES = {id_: one for id_, one in shipped_policies().items() if id_ in all_checks()}
_POLICIES = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
_BINDINGS = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings"

pytestmark = [pytest.mark.real, pytest.mark.slow]


@pytest.fixture(scope="module")
def plane() -> Iterator[ControlPlane]:
    with control_plane() as running:
        running.start_controller_manager()
        yield running


def written(policy: Policy, **binding: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    check = all_checks()[policy.check]
    return objects_of(policy, telling_of(check, incidents_of([check])), Binding("Deny", **binding))


class Answer:
    """What the API server says to an object that it is only asked to try."""

    def __init__(self, code: int, message: str) -> None:
        self.code, self.message = code, message

    def refused_by(self, policy: Policy) -> bool:
        return f"ValidatingAdmissionPolicy '{name_of(policy)}'" in self.message


def tried(plane: ControlPlane, data: dict[str, Any], namespace: str = "default") -> Answer:
    resource = RESOURCES[data["kind"]]
    base = f"/apis/{resource.group}/{resource.version}" if resource.group else f"/api/{resource.version}"
    scope = (
        ""
        if resource.group in {"admissionregistration.k8s.io", "scheduling.k8s.io"}
        else f"/namespaces/{namespace}"
    )
    body = {**data, "metadata": {key: value for key, value in data["metadata"].items() if key != "namespace"}}
    try:
        plane.call("POST", f"{base}{scope}/{resource.name}?dryRun=All", body)
    except urllib.error.HTTPError as error:
        return Answer(error.code, json.loads(error.read())["message"])
    return Answer(200, "")


def subjects(policy: Policy, fixture: Path) -> list[dict[str, Any]]:
    wanted = {resource.name for resource in policy.resources}
    return [
        dict(one.data)
        for one in read_paths([str(fixture)]).objects
        if one.kind in RESOURCES and RESOURCES[one.kind].name in wanted and "v1beta1" not in one.api_version
    ]


def fixtures(policy: Policy, *beginnings: str) -> list[Path]:
    return sorted(path for path in (FIXTURES / policy.check).iterdir() if path.name.startswith(beginnings))


@pytest.fixture
def in_force(plane: ControlPlane, request: pytest.FixtureRequest) -> Iterator[Policy]:
    """A policy that the API server follows; errors of its expressions refuse, so that none goes unseen."""
    policy = POLICIES[request.param]
    rules, binding = written(policy, except_namespaces=())
    rules["spec"]["failurePolicy"] = "Fail"
    plane.call("POST", _POLICIES, rules)
    plane.call("POST", _BINDINGS, binding)
    probe = next(
        data
        for fixture in fixtures(policy, "bad-")
        if fixture.stem not in policy.unseen_fixtures
        for data in subjects(policy, fixture)
    )
    try:
        wait_until(lambda: tried(plane, probe).refused_by(policy), within=90, what=f"{policy.check} in force")
        yield policy
    finally:
        plane.call("DELETE", f"{_BINDINGS}/{binding['metadata']['name']}")
        plane.call("DELETE", f"{_POLICIES}/{rules['metadata']['name']}")


@pytest.mark.parametrize("in_force", sorted(POLICIES), indirect=True)
def test_policy_refuses_what_the_check_finds_and_nothing_else(plane: ControlPlane, in_force: Policy) -> None:
    policy = in_force
    for fixture in fixtures(policy, "bad-"):
        answers = [tried(plane, data) for data in subjects(policy, fixture)]
        refused = [answer for answer in answers if answer.refused_by(policy)]
        if fixture.stem in policy.unseen_fixtures:
            assert not refused, f"{fixture.stem} is said to be let through"
            continue
        assert refused, (fixture.name, [answer.message for answer in answers])
        assert all("no such key" not in answer.message for answer in refused), refused[0].message
    for fixture in fixtures(policy, "ok-", "near-"):
        for data in subjects(policy, fixture):
            answer = tried(plane, data)
            assert not answer.refused_by(policy), (fixture.name, answer.message)


def test_type_check_of_the_api_server_finds_nothing(plane: ControlPlane) -> None:
    names = []
    for policy in POLICIES.values():
        rules, _ = written(policy)
        plane.call("POST", _POLICIES, rules)
        names.append(rules["metadata"]["name"])
    try:
        found: dict[str, Any] = {}

        def checked() -> bool:
            for name in names:
                status = plane.call("GET", f"{_POLICIES}/{name}").get("status") or {}
                if "typeChecking" not in status:
                    return False
                found[name] = status["typeChecking"].get("expressionWarnings", [])
            return True

        wait_until(checked, within=60, what="all policies type-checked")
        assert {name: warnings for name, warnings in found.items() if warnings} == {}
    finally:
        for name in names:
            plane.call("DELETE", f"{_POLICIES}/{name}")


CRON = "/apis/batch/v1/namespaces/default/cronjobs"


def test_an_object_that_had_the_gap_can_still_be_changed(plane: ControlPlane) -> None:
    fixture = next(iter(fixtures(POLICIES["cron-history-large"], "bad-")))
    (data,) = subjects(POLICIES["cron-history-large"], fixture)
    body = {**data, "metadata": {"name": "old"}}
    # A policy that another test took away is in force for a moment longer.
    wait_until(lambda: tried(plane, body).code < 300, within=90, what="free of other policies")
    plane.call("POST", CRON, body)
    rules, binding = written(POLICIES["cron-history-large"])
    plane.call("POST", _POLICIES, rules)
    plane.call("POST", _BINDINGS, binding)
    try:
        wait_until(
            lambda: tried(plane, {**body, "metadata": {"name": "new"}}).code == 422,
            within=90,
            what="in force",
        )
        held = plane.call("GET", f"{CRON}/old")
        held["metadata"]["labels"] = {"touched": "yes"}
        assert plane.call("PUT", f"{CRON}/old", held)["metadata"]["labels"] == {"touched": "yes"}
        held = plane.call("GET", f"{CRON}/old")
        held["spec"] |= {"successfulJobsHistoryLimit": 3, "failedJobsHistoryLimit": 1}
        mended = plane.call("PUT", f"{CRON}/old", held)
        mended["spec"]["successfulJobsHistoryLimit"] = 90
        with pytest.raises(urllib.error.HTTPError) as refused:
            plane.call("PUT", f"{CRON}/old", mended)
        assert "Zalando 2018: " in json.loads(refused.value.read())["message"]
    finally:
        plane.call("DELETE", f"{_BINDINGS}/{binding['metadata']['name']}")
        plane.call("DELETE", f"{_POLICIES}/{rules['metadata']['name']}")
        plane.call("DELETE", f"{CRON}/old")
