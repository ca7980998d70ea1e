"""A live cluster as a reading: what is asked for, what is kept, and what each trouble turns into."""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from pilotage.checks.readers.cluster import NOT_KEPT
from pilotage.checks.readers.kinds import configurations, known_kinds, listed_for, names_of
from pilotage.checks.readers.live import ClusterQuestion, ClusterReading, read_cluster
from pilotage.checks.readers.role import account, as_yaml, cluster_role
from pilotage.checks.registry import all_checks
from pilotage.checks.report import Report
from pilotage.checks.runner import run
from pilotage.checks.scene import LATEST
from pilotage.cli.main import run as pilotage
from pilotage.core.errors import BadReply, InvalidInput, MissingExtra, NotFound, Refused, Unreachable
from rig.fake_kube import FakeKube, busy, dying, saying, stalling, usual_kinds

Ask = Callable[..., ClusterReading]
CRONJOB: dict[str, Any] = {
    "apiVersion": "batch/v1",
    "kind": "CronJob",
    "metadata": {"name": "poll", "namespace": "shop"},
    "spec": {
        "schedule": "*/5 * * * *",
        "jobTemplate": {
            "spec": {
                "template": {
                    "spec": {"containers": [{"name": "a", "image": "a:1"}], "restartPolicy": "Never"}
                }
            }
        },
    },
}


def simple(kind: str, api_version: str, name: str, namespace: str = "shop", **parts: Any) -> dict[str, Any]:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {}), **parts.pop("metadata", {})}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **parts}


def owned(kind: str, api_version: str, name: str, owner: dict[str, Any], **parts: Any) -> dict[str, Any]:
    reference = {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "controller": True,
    }
    return simple(kind, api_version, name, metadata={"ownerReferences": [reference]}, **parts)


@pytest.fixture
def fake() -> Iterator[FakeKube]:
    with FakeKube().running() as running:
        for name in ("shop", "pay"):
            running.create(simple("Namespace", "v1", name, ""))
        running.create(CRONJOB)
        yield running


@pytest.fixture
def ask(fake: FakeKube, tmp_path: Path) -> Ask:
    def asked(*namespaces: str, timeout: float = 5.0, **options: Any) -> ClusterReading:
        config = str(fake.kubeconfig(tmp_path))
        question = ClusterQuestion(config, namespaces=namespaces, timeout_seconds=timeout)
        return read_cluster(question, all_checks().values(), **options)

    return asked


def checked(found: ClusterReading) -> Report:
    return run(all_checks(), found.scene(), reading=found.reading)


def keys(found: ClusterReading) -> list[str]:
    return [one.key for one in found.reading.objects]


def test_only_what_checks_need_is_asked_for(fake: FakeKube, ask: Ask) -> None:
    found = ask()
    assert keys(found) == ["CronJob shop/poll", "Namespace pay", "Namespace shop"]
    assert found.version == (1, 36)
    assert found.whole
    assert not found.blind
    resources = {re.sub(r".*/", "", path.partition("?")[0]) for _, path in fake.requests} - {
        "version",
        "api",
        "apis",
    }
    assert resources == {one.resource for one in listed_for(all_checks().values())}
    assert {method for method, _ in fake.requests} == {"GET"}
    assert "cron-overlap-unbounded" in {one.check for one in checked(found).findings}


def test_kinds_that_the_server_does_not_know_are_simply_absent(tmp_path: Path) -> None:
    kinds = [one for one in usual_kinds() if one.group in {"", "batch"}]
    with FakeKube(kinds, aggregated=False).running() as fake:
        fake.create(CRONJOB)
        found = read_cluster(ClusterQuestion(str(fake.kubeconfig(tmp_path))), all_checks().values())
    assert not found.blind
    assert keys(found) == ["CronJob shop/poll"]


def test_an_unknown_version_is_taken_for_the_latest(fake: FakeKube, ask: Ask) -> None:
    fake.minor = ""
    assert ask().version == LATEST


@pytest.mark.parametrize("kind", ["Service", "CronJob", "ConfigMap", "Namespace", "Gateway", "Secret", "Pod"])
def test_a_missing_permission_blinds_exactly_those_that_ask_for_it(
    fake: FakeKube, ask: Ask, kind: str
) -> None:
    checks = all_checks()
    fake.forbidden = {one.resource for one in known_kinds()[kind]}
    found = ask()
    classes = configurations(checks.values()) if kind == "ConfigMap" else set()
    assert set(found.blind) - classes == {kind}
    assert f'cannot list resource "{min(fake.forbidden)}"' in found.blind[kind]
    report = checked(found)
    assert not report.grave_problems
    told = {one.check for one in report.unknown if one.why.partition(":")[0] in found.blind}
    assert {one.id for one in checks.values() if set(found.blind) & {*one.about, *one.needs}} <= told
    assert told <= {one.id for one in checks.values() if kind in names_of([one])}


def test_nothing_permitted_at_all_is_an_error(fake: FakeKube, ask: Ask) -> None:
    fake.faults["*"] = lambda handler: (
        handler.path.startswith(("/api/", "/apis/"))
        and saying(403, b'{"message": "no"}', "application/json")(handler)
    )
    with pytest.raises(Refused) as caught:
        ask()
    assert "permits us to list nothing" in caught.value.message
    assert "--namespace" in caught.value.hint


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (saying(200, b"<html><title>Oops</title>"), "web page ('Oops')"),
        (dying, "broke off"),
        (stalling, "stalls"),
        (saying(500, b'{"message": "etcd"}', "application/json"), "not well (500"),
    ],
)
def test_one_kind_that_fails_harms_no_other(fake: FakeKube, ask: Ask, fault: Any, words: str) -> None:
    fake.faults["/api/v1/services"] = fault
    found = ask(timeout=0.5)
    assert set(found.blind) == {"Service"}
    assert words in found.blind["Service"]
    report = checked(found)
    (problem,) = report.grave_problems
    assert words in problem.message
    assert str(problem.place) == "Service"
    assert "cron-overlap-unbounded" in {one.check for one in report.findings}


def test_a_server_that_stalls_altogether_is_not_waited_for_kind_by_kind(fake: FakeKube, ask: Ask) -> None:
    fake.faults["*"] = lambda handler: handler.path.count("/") > 2 and stalling(handler)
    with pytest.raises(Unreachable, match="stalls"):
        ask(timeout=0.2)
    lists = [path for _, path in fake.requests if "limit" in path]
    assert len(lists) < len(listed_for(all_checks().values())) / 2


def test_a_server_that_asks_for_long_pauses_is_not_asked_kind_by_kind(fake: FakeKube, ask: Ask) -> None:
    refuse = busy(1000, "86400")
    fake.faults["*"] = lambda handler: handler.path.count("/") > 2 and refuse(handler)
    with pytest.raises(Unreachable, match="a pause of 86400 s"):
        ask()
    lists = [path for _, path in fake.requests if "limit" in path]
    assert len(lists) < len(listed_for(all_checks().values())) / 2


def test_a_server_that_goes_away_midway_ends_the_rest_at_once(fake: FakeKube, ask: Ask) -> None:
    answered: list[str] = []

    def goes_away(handler: Any) -> bool:
        if "limit" not in handler.path:
            return False
        answered.append(handler.path)
        return len(answered) > 3 and saying(401, b"{}", "application/json")(handler)

    fake.faults["*"] = goes_away
    report = checked(ask())
    (problem,) = {one.message for one in report.grave_problems}
    assert "does not know who we are" in problem
    assert len(answered) < 12


def test_no_server_is_an_error(tmp_path: Path) -> None:
    fake = FakeKube()
    config = str(fake.kubeconfig(tmp_path))
    fake._server.server_close()
    with pytest.raises(Unreachable, match="does not answer"):
        read_cluster(ClusterQuestion(config, timeout_seconds=2), all_checks().values())


def test_something_else_that_listens_there_is_an_error(fake: FakeKube, ask: Ask) -> None:
    fake.faults["*"] = saying(200, b"<html><title>Welcome</title>")
    with pytest.raises(BadReply, match="Welcome"):
        ask()


def test_namespaces_narrow_what_is_read(fake: FakeKube, ask: Ask) -> None:
    fake.create(simple("Service", "v1", "api", "pay", spec={}))
    fake.create(simple("Service", "v1", "web", "shop", spec={}))
    fake.requests.clear()
    found = ask("pay", "pay")
    assert keys(found) == ["Namespace pay", "Service pay/api"]
    assert not found.whole
    assert not found.scene().live
    assert "/api/v1/namespaces/pay/services?limit=500" in {path for _, path in fake.requests}
    assert not [path for _, path in fake.requests if path.startswith("/api/v1/services")]
    assert [path for _, path in fake.requests if "validatingwebhookconfigurations" in path]


def test_a_namespace_that_does_not_exist_is_an_error(ask: Ask) -> None:
    with pytest.raises(NotFound, match="there is no namespace 'gone'"):
        ask("shop", "gone")
    with pytest.raises(InvalidInput, match="no name of a namespace"):
        ask("../secrets")


def test_namespaces_that_may_not_be_read_are_read_all_the_same(fake: FakeKube, ask: Ask) -> None:
    fake.forbidden = {"namespaces"}
    found = ask("shop")
    assert keys(found) == ["CronJob shop/poll"]
    assert set(found.blind) == {"Namespace"}


def test_a_kind_that_one_namespace_forbids_is_blind_with_its_name(fake: FakeKube, ask: Ask) -> None:
    fake.faults["/api/v1/namespaces/pay/services"] = saying(403, b'{"message": "no"}', "application/json")
    found = ask("shop", "pay")
    assert found.blind == {"Service": "in namespace pay: not permitted: no"}


def test_what_another_object_controls_is_counted_and_not_kept(fake: FakeKube, ask: Ask) -> None:
    web = simple("Deployment", "apps/v1", "web", spec={"replicas": 2})
    replicas = owned("ReplicaSet", "apps/v1", "web-1", web, spec={})
    fake.create(web)
    fake.create(replicas)
    for number in range(3):
        fake.create(owned("Pod", "v1", f"web-1-{number}", replicas, spec={}))
    fake.create(owned("Pod", "v1", "odd-1", simple("Widget", "widgets.example/v1", "odd"), spec={}))
    fake.create(simple("Pod", "v1", "alone", spec={}))
    found = ask()
    pods = [one.name for one in found.reading.objects if one.kind == "Pod"]
    assert pods == ["alone", "odd-1"]
    assert not [one for one in found.reading.objects if one.kind == "ReplicaSet"]
    assert found.reading.skipped[NOT_KEPT] == 4
    assert found.scene().numbers("Pod") == {"shop": 5}
    fake.forbidden = {"replicasets"}
    again = ask()
    assert [one.name for one in again.reading.objects if one.kind == "Pod"] == [
        "alone",
        "odd-1",
        "web-1-0",
        "web-1-1",
        "web-1-2",
    ]


def test_a_list_that_begins_again_is_not_read_twice(fake: FakeKube, ask: Ask) -> None:
    for number in range(700):
        fake.create(simple("Service", "v1", f"s-{number:03}", spec={}))
    answers: list[str] = []

    def forgets(handler: Any) -> bool:
        answers.append(handler.path)
        if "continue=" not in handler.path or len(answers) > 2:
            return False
        return saying(410, b'{"reason": "Expired", "metadata": {}}', "application/json")(handler)

    fake.faults["/api/v1/services"] = forgets
    found = ask()
    names = [one.name for one in found.reading.objects if one.kind == "Service"]
    assert len(names) == len(set(names)) == 700
    assert found.scene().numbers("Service").total() == 700
    assert len(answers) == 4


def test_the_objects_come_in_one_order_whatever_the_server_says_first(ask: Ask) -> None:
    assert keys(ask()) == keys(ask())


def test_progress_is_told(ask: Ask) -> None:
    steps: list[tuple[str, int, int]] = []
    ask(progress=lambda *step: steps.append(step))
    assert steps[-1][1] == steps[-1][2] == len(steps)


def test_the_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.import_module

    def without(name: str, *rest: Any) -> Any:
        if name == "pilotage.checks.readers.cluster":
            raise ModuleNotFoundError("No module named 'aiohttp'", name="aiohttp")
        return real(name, *rest)

    monkeypatch.setattr(importlib, "import_module", without)
    with pytest.raises(MissingExtra) as caught:
        read_cluster(ClusterQuestion(), all_checks().values())
    assert "aiohttp" in caught.value.message
    assert "pilotage[cluster]" in caught.value.hint


# The commands


def code_of(*arguments: str) -> int:
    with pytest.raises(SystemExit) as left:
        pilotage(list(arguments))
    return int(left.value.code or 0)


def test_the_command_reports_as_the_others_do(
    fake: FakeKube, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = str(fake.kubeconfig(tmp_path))
    assert code_of("check", "cluster", "--kubeconfig", config, "--no-config", "--output", "json") == 1
    report = json.loads(capsys.readouterr().out)
    (finding,) = [one for one in report["findings"] if one["check"] == "cron-overlap-unbounded"]
    assert "CronJob shop/poll" in json.dumps(finding)
    fake.faults["/api/v1/services"] = saying(200, b"<html>")
    only = ("--select", "webhook*", "--fail-on", "never", "--no-config")
    assert code_of("check", "cluster", "--kubeconfig", config, *only) == 3
    assert "not read" in capsys.readouterr().out


def test_the_command_says_in_one_line_what_is_wrong(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert code_of("check", "cluster", "--kubeconfig", str(tmp_path / "gone")) == 2
    assert "does not exist" in capsys.readouterr().err


def test_the_role_is_printed_with_an_account(capsys: pytest.CaptureFixture[str]) -> None:
    assert code_of("check", "role", "--without", "Secret", "--service-account", "audit/me") == 0
    text = capsys.readouterr().out
    assert text == as_yaml([cluster_role(all_checks().values(), without=["Secret"]), *account("audit", "me")])
    resources = [name for rule in next(yaml.safe_load_all(text))["rules"] for name in rule["resources"]]
    assert "secrets" not in resources
    assert "sealedsecrets" in resources
    assert text.count("\nkind: ") == 3
    assert code_of("check", "role", "--service-account", "audit") == 2
    assert code_of("check", "role", "--without", "Secrets") == 2
