"""The live check on a real API server, under our ClusterRole, against the file check on the same objects."""

from __future__ import annotations

import json
import urllib.error
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from pilotage.checks.model import Check
from pilotage.checks.objects import KubeObject
from pilotage.checks.readers.assemble import assemble
from pilotage.checks.readers.kinds import known_kinds
from pilotage.checks.readers.live import ClusterQuestion, ClusterReading, read_cluster
from pilotage.checks.readers.reading import Reading
from pilotage.checks.readers.role import account, cluster_role
from pilotage.checks.registry import all_checks
from pilotage.checks.report import Report
from pilotage.checks.runner import run
from rig import kube_scenes
from rig.kube_control_plane import ControlPlane, control_plane, wait_until
from rig.kube_scenes import Case, Round

pytestmark = [pytest.mark.real, pytest.mark.slow, pytest.mark.timeout(900)]
GOLDEN = Path(__file__).parents[1] / "golden" / "checks"
ACCOUNT = "system:serviceaccount:audit:pilotage"

_SECRETS = "the data of Secrets is never read"
ONLY_WRITTEN: dict[tuple[str, str], str] = {
    ("ing-tls-expiry", 'data["tls.crt"]'): _SECRETS,
    ("ing-tls-name-mismatch", "spec.tls[0].secretName"): _SECRETS,
    ("ing-tls-secret-broken", "data"): _SECRETS,
}
"""Check and path of all that is found in files and cannot be found in a cluster, and why."""
_REFUSED = "the server refuses such objects"
_SEVERAL = "several controllers of one class may answer an Ingress"
SILENT: dict[str, str] = {
    "bad-enum-value": _REFUSED,
    "duplicate-key": "JSON has each key once",
    "ing-limit-by-address": _SEVERAL,
    "ing-tls-name-mismatch": _SECRETS,
    "missing-required": _REFUSED,
    "nginx-path-type-strict": _SEVERAL,
    "null-value": "the server stores an absent field",
    "removed-api": "a cluster shows each object in whatever version it is asked for",
    "selector-mismatch": _REFUSED,
    "wrong-type": _REFUSED,
}
"""Checks whose bad fixtures are fine once they are beside the others in a cluster, and why."""


class Told(NamedTuple):
    """What is compared of a finding; `object` is the ConfigMap where the subject is a part of a configuration."""

    check: str
    severity: str
    object: str
    subject: str
    path: str


@pytest.fixture(scope="module")
def plane() -> Iterator[ControlPlane]:
    with control_plane() as running:
        created(running, [namespace("audit")])
        for one in (cluster_role(all_checks().values()), *account("audit", "pilotage")):
            create_any(running, one)
        yield running


def namespace(name: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def create_any(plane: ControlPlane, one: dict[str, Any]) -> None:
    done = plane.kubectl("apply", "-f", "-", text=json.dumps(one))
    assert done.returncode == 0, done.stderr.decode()


def created(plane: ControlPlane, objects: list[dict[str, Any]]) -> list[str]:
    return plane.send_all("POST", [(kube_scenes.path_of(one), one) for one in objects])


def read(plane: ControlPlane, checks: list[Check], *, namespaces: tuple[str, ...] = ()) -> ClusterReading:
    token = plane.account_token("audit", "pilotage")
    config = plane.kubeconfig("account", token=token)
    return read_cluster(ClusterQuestion(str(config), namespaces=namespaces), checks)


@dataclass
class Played:
    """One round, played on the real server and in files.

    Attributes:
        live: what the live check found.
        filed: what the file check found in the same objects as they were written, and in the server's own ones.
        refused: case -> why the server took one of its objects not.
        cases: all of them; the objects that were taken count, whatever became of the others.
        owners: `Kind namespace/name` -> the case that has it.
    """

    live: set[Told]
    filed: set[Told]
    refused: dict[str, str]
    cases: list[Case]
    owners: dict[str, str]


@pytest.fixture(scope="module")
def played(plane: ControlPlane) -> list[Played]:
    rounds = kube_scenes.telling(kube_scenes.rounds(kube_scenes.bad_first(kube_scenes.cases(GOLDEN))))
    everything = [one for each in rounds for case in each.cases for one in case.objects]
    kube_scenes.define(plane, everything)
    return [play(plane, each) for each in rounds]


def play(plane: ControlPlane, each: Round) -> Played:
    objects = [one for case in each.cases for one in case.objects]
    makes_room(plane, objects)
    own = kube_scenes.held(plane)
    refusals: dict[int, str] = {}
    batches = kube_scenes.in_order(one for one in objects if one["kind"] != "Namespace")
    for batch in batches:
        for one, refusal in zip(batch, created(plane, batch), strict=True):
            if refusal:
                refusals[id(one)] = refusal
    told_states = [one for one in objects if one.get("status") and one["kind"] in kube_scenes.STATES]
    plane.send_all("PUT", [(kube_scenes.path_of(one, named=True) + "/status", one) for one in told_states])
    try:
        found = read(plane, list(all_checks().values()))
        assert not found.blind
        live = run(all_checks(), found.scene(), reading=found.reading)
    finally:
        for batch in reversed(batches):
            plane.send_all("DELETE", [(kube_scenes.path_of(one, named=True), None) for one in batch])
    states = {one.name: one.data.get("status") for one in found.reading.objects if one.kind == "APIService"}
    here = {kube_scenes.key_of(one) for one in own}
    taken = [one for one in objects if id(one) not in refusals and kube_scenes.key_of(one) not in here]
    # Whether an aggregated API answers the server finds out by itself, and writes it down.
    taken = [
        {**one, "status": states[one["metadata"]["name"]]} if one["kind"] == "APIService" else one
        for one in taken
    ]
    filed = run(all_checks(), assemble(Reading([KubeObject(one) for one in [*own, *taken]]), live=True))
    refused = {
        case.name: refusals[id(one)] for case in each.cases for one in case.objects if id(one) in refusals
    }
    owners = {KubeObject(one).key: case.name for case in each.cases for one in case.objects}
    return Played(told(live), told(filed), refused, each.cases, owners)


def makes_room(plane: ControlPlane, objects: list[dict[str, Any]]) -> None:
    """The namespaces that the objects live in, and the account that pods need where there are some."""
    stated = {one["metadata"]["name"] for one in objects if one["kind"] == "Namespace"}
    names = {one["metadata"].get("namespace", "") for one in objects} - {""}
    created(plane, [namespace(name) for name in sorted(names - stated)])
    created(plane, [one for one in objects if one["kind"] == "Namespace"])
    accounts = [
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default", "namespace": name}}
        for name in sorted({one["metadata"]["namespace"] for one in objects if one["kind"] == "Pod"})
    ]
    created(plane, accounts)


def told(report: Report) -> set[Told]:
    return {
        Told(one.check, str(one.severity), one.place.object, one.subject, one.place.path)
        for one in report.findings
    }


def test_nearly_every_fixture_is_an_object_that_the_server_takes(played: list[Played]) -> None:
    # What a schema forbids the server takes not either: that is what those fixtures are for.
    forbidden = {one.id for one in all_checks().values() if one.family in {"schema", "repeated_keys"}}
    refused = {
        name: why
        for each in played
        for name, why in each.refused.items()
        if name.partition("/")[0] not in forbidden
    }
    taken = sum(len(each.cases) for each in played)
    assert taken > 100
    assert len(refused) < taken / 10, refused


def test_the_live_check_finds_what_the_file_check_finds(played: list[Played]) -> None:
    for each in played:
        lost = {one for one in each.filed - each.live if (one.check, one.path) not in ONLY_WRITTEN}
        more = each.live - each.filed
        assert not lost, "\n".join(map(str, sorted(lost)))
        assert not more, "\n".join(map(str, sorted(more)))


def test_every_check_finds_something_in_a_cluster(played: list[Played]) -> None:
    # A comparison of nothing with nothing proves nothing.
    bad = {case.check for each in played for case in each.cases if case.is_bad}
    found = {one.check for each in played for one in each.live}
    assert len(bad) > 100
    assert bad - found == SILENT.keys() & bad


def test_settings_that_the_server_dropped_are_found_in_what_was_applied(played: list[Played]) -> None:
    assert any(one[0] == "cron-policy-misplaced" for each in played for one in each.live)


@pytest.mark.parametrize(
    ("resource", "kind"),
    [
        ("services", "Service"),
        ("cronjobs", "CronJob"),
        ("poddisruptionbudgets", "PodDisruptionBudget"),
        ("horizontalpodautoscalers", "HorizontalPodAutoscaler"),
    ],
)
def test_a_missing_permission_blinds_exactly_the_checks_that_need_it(
    plane: ControlPlane, resource: str, kind: str
) -> None:
    checks = all_checks()
    role = cluster_role(checks.values(), without=[kind])
    assert not any(resource in rule["resources"] for rule in role["rules"])
    role["metadata"]["name"] = "less"
    binding = account("audit", "less")[1]
    binding["metadata"]["name"] = binding["roleRef"]["name"] = "less"
    for one in (role, *account("audit", "less")[:1], binding):
        create_any(plane, one)
    token = plane.account_token("audit", "less")
    config = plane.kubeconfig("less", token=token)
    base = f"/apis/{plane_group(kind)}" if plane_group(kind) else "/api/v1"
    wait_until(lambda: not permitted(plane, token, f"{base}/{resource}"), within=10, what="permission gone")
    found = read_cluster(ClusterQuestion(str(config)), checks.values())
    assert set(found.blind) == {kind}
    assert "cannot list" in found.blind[kind]
    report = run(checks, found.scene(), reading=found.reading)
    blind = {one.check for one in report.unknown if one.why.startswith(f"{kind}: ")}
    asking = {one.id for one in checks.values() if kind in (*one.about, *one.needs)}
    assert asking <= blind
    assert blind - asking == asked_besides(kind, found)
    assert not report.grave_problems


def plane_group(kind: str) -> str:
    (one,) = known_kinds()[kind]
    versions = {"autoscaling": "v2"}
    return f"{one.group}/{versions.get(one.group, 'v1')}" if one.group else ""


def permitted(plane: ControlPlane, token: str, path: str) -> bool:
    plane.tokens["less"] = token
    try:
        plane.call("GET", path, user="less")
    except urllib.error.HTTPError as error:
        if error.code != 403:
            raise
        return False
    return True


def asked_besides(kind: str, found: ClusterReading) -> set[str]:
    """The checks that ask the scene about a kind which they do not name, as they do when nothing is hidden."""
    scene = found.scene()
    scene.blind = {}
    asking = set()
    for one in all_checks().values():
        scene.asked.clear()
        if scene.kinds() & set(one.about):
            list(one.look(scene))
        if kind in scene.asked and kind not in (*one.about, *one.needs):
            asking.add(one.id)
    return asking


def test_nothing_but_get_and_list_reached_the_server(plane: ControlPlane, played: list[Played]) -> None:
    assert played
    verbs = Counter(one["verb"] for one in plane.audit(ACCOUNT))
    assert set(verbs) == {"get", "list"}
    assert verbs["list"] > len(played)
