"""What is kept of a live object is all that checks read, and little else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pilotage.checks.objects import KubeObject
from pilotage.checks.readers.assemble import assemble
from pilotage.checks.readers.files import read_paths
from pilotage.checks.readers.projection import LAST_APPLIED, projected
from pilotage.checks.readers.reading import Reading
from pilotage.checks.registry import all_checks
from pilotage.checks.runner import RunSettings, run
from pilotage.checks.workloads import APPLIED_REPLICAS

FIXTURES = Path(__file__).parents[2] / "golden" / "checks"
LOOK_INTO_SECRETS = {"ing-tls-expiry", "ing-tls-name-mismatch", "ing-tls-secret-broken"}
"""In a cluster these answer that they cannot tell."""
CHECKS = sorted(one for one in all_checks() if (FIXTURES / one).is_dir() and one not in LOOK_INTO_SECRETS)


def told(check: str, objects: list[dict[str, Any]]) -> list[Any]:
    scene = assemble(Reading([KubeObject(one) for one in objects]), live=True)
    report = run(all_checks(), scene, RunSettings(select=(check,)))
    found = [
        (one.subject, one.severity, one.place.path, one.message, one.evidence) for one in report.findings
    ]
    return [*found, report.tallies.get(check)]


@pytest.mark.parametrize("check", CHECKS)
def test_every_check_says_the_same_of_what_is_kept(check: str) -> None:
    for path in sorted((FIXTURES / check).glob("*")):
        if not path.name.startswith(("ok-", "bad-", "near-")):
            continue
        objects = [dict(one.data) for one in read_paths([str(path)]).objects]
        kept = [projected(one, one["kind"], one["apiVersion"]) for one in objects]
        assert told(check, kept) == told(check, objects)


@pytest.mark.parametrize("check", sorted(LOOK_INTO_SECRETS & all_checks().keys()))
def test_nothing_is_said_of_what_secrets_hold_in_a_cluster(check: str) -> None:
    paths = sorted((FIXTURES / check).glob("bad-*"))
    objects = [dict(one.data) for path in paths for one in read_paths([str(path)]).objects]
    assert any(one["kind"] == "Secret" for one in objects)
    kept_objects = [projected(one, one["kind"], one["apiVersion"]) for one in objects]
    report = run(all_checks(), assemble(Reading([KubeObject(one) for one in kept_objects]), live=True))
    assert not [one for one in report.findings if one.check == check and one.subject.startswith("Secret")]


def kept(value: dict[str, Any]) -> dict[str, Any]:
    return projected(value, value["kind"], "v1")


def test_what_the_server_keeps_for_itself_is_dropped() -> None:
    found = kept(
        {
            "kind": "Service",
            "metadata": {
                "name": "a",
                "namespace": "b",
                "uid": "u",
                "resourceVersion": "1",
                "managedFields": [{"manager": "x"}],
                "ownerReferences": [
                    {"kind": "A", "name": "b", "apiVersion": "v1", "controller": True, "uid": "u"}
                ],
            },
            "spec": {"ports": []},
            "status": {"loadBalancer": {}, "conditions": [{"type": "x"}]},
        }
    )
    assert found == {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            "name": "a",
            "namespace": "b",
            "ownerReferences": [{"kind": "A", "name": "b", "apiVersion": "v1", "controller": True}],
        },
        "spec": {"ports": []},
        "status": {"loadBalancer": {}},
    }


def applied(kind: str, written: dict[str, Any], live: dict[str, Any]) -> bool:
    """Whether the text of the last `kubectl apply` is kept."""
    text = json.dumps({"kind": kind, "metadata": {"name": "a", "annotations": {}}, **written})
    value = {"kind": kind, "metadata": {"name": "a", "annotations": {LAST_APPLIED: text}}, **live}
    return LAST_APPLIED in kept(value)["metadata"].get("annotations", {})


def test_what_was_applied_is_kept_only_where_the_server_dropped_some_of_it() -> None:
    assert applied("Job", {"spec": {"a": {"lost": 1}}}, {"spec": {"a": {}}})
    assert applied("Job", {"spec": {"list": [{"lost": 1}]}}, {"spec": {"list": [{"b": 1}]}})
    assert not applied("Job", {"spec": {"a": 1}}, {"spec": {"a": 2, "filled": 3}})
    assert not applied("Job", {"spec": {"a": {}, "b": None, "c": ""}}, {"spec": {}})
    assert not applied("Job", {"spec": {"list": [1]}}, {"spec": {"list": [1, 2]}})
    assert not applied("ConfigMap", {"data": {"a": "b"}}, {})
    assert applied("CronJob", {"spec": {"a": 1}}, {"spec": {"a": 1}})


def test_text_that_is_no_json_harms_nothing() -> None:
    value = {"kind": "Job", "metadata": {"name": "a", "annotations": {LAST_APPLIED: "{"}}}
    assert kept(value)["metadata"] == {"name": "a"}


def test_what_a_secret_holds_is_never_kept() -> None:
    found = kept(
        {"kind": "Secret", "metadata": {"name": "a"}, "data": {"tls.key": "c2VjcmV0"}, "stringData": {}}
    )
    assert found == {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}}


def test_config_maps_keep_what_is_small_or_configures_a_proxy() -> None:
    long = "x" * 10_000
    corefile = f".:53 {{\n  errors\n}}\n# {long}"
    found = kept(
        {
            "kind": "ConfigMap",
            "metadata": {"name": "a"},
            "data": {
                "small": "value",
                "dashboard.json": long,
                "Corefile": corefile,
                "odd-name": f"global\n  maxconn 10\n# {long}",
                "haproxy.cfg": long,
            },
            "binaryData": {"blob": "AAAA" * 1000},
        }
    )
    assert found["data"]["small"] == "value"
    assert found["data"]["dashboard.json"] == "(10000 characters that no check reads)"
    assert found["data"]["Corefile"] == corefile
    assert found["data"]["odd-name"].startswith("global")
    assert found["data"]["haproxy.cfg"] == long
    assert found["binaryData"] == {"blob": ""}


@pytest.mark.parametrize("value", [{}, {"metadata": None}, {"metadata": {"annotations": 1, "labels": []}}])
def test_odd_objects_are_survived(value: dict[str, Any]) -> None:
    assert projected({**value, "spec": 3, "status": "x", "data": 7}, "ConfigMap", "v1")["kind"] == "ConfigMap"


@pytest.mark.parametrize(("spec", "kept_number"), [({"replicas": 3}, "3"), ({}, "absent")])
def test_whether_a_manifest_states_the_number_of_replicas_is_kept(
    spec: dict[str, Any], kept_number: str
) -> None:
    text = json.dumps({"kind": "Deployment", "metadata": {"name": "a"}, "spec": spec})
    annotations = {LAST_APPLIED: text}
    found = kept({"kind": "Deployment", "metadata": {"name": "a", "annotations": annotations}, "spec": spec})
    assert found["metadata"]["annotations"] == {APPLIED_REPLICAS: kept_number}


def test_long_values_that_a_check_reads_are_kept_under_any_key() -> None:
    filler = "# x\n" * 2000
    values = {
        "policy": f"apiVersion: descheduler/v1alpha2\nkind: DeschedulerPolicy\n{filler}",
        "envoy": f"max_heap_size_bytes: 10\n{filler}",
        "http-snippet": filler,
        "my-corefile": f".:53 {{\n}}\n{filler}",
        "notes": filler,
    }
    found = kept({"kind": "ConfigMap", "metadata": {"name": "a"}, "data": values})["data"]
    assert {key for key in values if found[key] == values[key]} == values.keys() - {"notes"}
