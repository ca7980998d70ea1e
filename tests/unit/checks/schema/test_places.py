"""Where an unknown field belongs."""

from __future__ import annotations

from typing import Any

import pytest

from pilotage.checks.families.schema import unknown_field
from pilotage.checks.model import Gap
from pilotage.checks.objects import Document, KubeObject, SourceFile
from pilotage.checks.scene import Scene
from pilotage.checks.schema.places import Suggestion, suggest
from pilotage.checks.schema.published import definitions
from pilotage.checks.schema.walk import Rule, faults

POD = ("spec", "template", "spec")


def deployment(**parts: Any) -> dict[str, Any]:
    container = {"name": "web", "image": "registry.example/web:1", **parts.pop("container", {})}
    pod = {"containers": [container], **parts.pop("pod", {})}
    template = {"metadata": {"labels": {"a": "b"}}, "spec": pod, **parts.pop("template", {})}
    spec = {"selector": {"matchLabels": {"a": "b"}}, "template": template, **parts.pop("spec", {})}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": spec, **parts}


def suggested(data: dict[str, Any]) -> Suggestion:
    root = definitions(36).of(data["apiVersion"], data["kind"])
    assert root is not None
    (fault,) = [fault for fault in faults(data, root) if fault.rule is Rule.UNKNOWN]
    return suggest(root, data, fault)


@pytest.mark.parametrize(
    ("written", "spelling"),
    [
        ({"container": {"livenesProbe": {}}}, "livenessProbe"),
        ({"container": {"ImagePullPolicy": "Always"}}, "imagePullPolicy"),
        ({"container": {"working_dir": "/srv"}}, "workingDir"),
        ({"pod": {"serviceAcountName": "x"}}, "serviceAccountName"),
        ({"spec": {"replica": 3}}, "replicas"),
        ({"container": {"port": [{"containerPort": 1}]}}, "ports"),
    ],
)
def test_another_spelling(written: dict[str, Any], spelling: str) -> None:
    assert suggested(deployment(**written)) == Suggestion(spelling)


@pytest.mark.parametrize(
    ("written", "places"),
    [
        ({"pod": {"replicas": 3}}, (("spec",),)),
        ({"template": {"replicas": 3}}, (("spec",),)),
        ({"replicas": 3}, (("spec",),)),
        ({"pod": {"resources": {}, "readinessProbe": {}}}, None),
        ({"container": {"nodeSelector": {"a": "b"}}}, (POD,)),
        ({"container": {"limits": {"cpu": 1}}}, ((*POD, "containers", 0, "resources"),)),
        ({"labels": {"a": "b"}}, (("metadata",),)),
        ({"namespace": "shop"}, (("metadata",),)),
        ({"pod": {"imagePullPolicy": "Always"}}, ((*POD, "containers", 0),)),
        ({"spec": {"nodeSelector": {"a": "b"}}}, (POD,)),
    ],
)
def test_another_level(written: dict[str, Any], places: Any) -> None:
    data = deployment(**written)
    if places is None:
        root = definitions(36).of("apps/v1", "Deployment")
        assert root is not None
        found = {str(fault.path[-1]): suggest(root, data, fault).places for fault in faults(data, root)}
        # A pod has resources of its own.
        assert found == {"readinessProbe": ((*POD, "containers", 0),)}
        return
    assert suggested(data) == Suggestion(places=places)


def test_several_levels_are_named_where_they_are_equally_near() -> None:
    found = suggested(deployment(container={"lifecycle": {"exec": {"command": ["true"]}}}))
    assert {place[-1] for place in found.places} == {"postStart", "preStop"}


@pytest.mark.parametrize(
    "written",
    [
        {"container": {"sizeLimit": "1Gi"}},
        {"container": {"bananas": 1}},
        {"pod": {"value": "x"}},
        # The name fits, the value does not.
        {"pod": {"replicas": {"a": 1}}},
    ],
)
def test_what_is_known_nowhere(written: dict[str, Any]) -> None:
    assert suggested(deployment(**written)) == Suggestion()


def test_a_level_in_one_of_several_containers_is_not_guessed() -> None:
    data = deployment(pod={"imagePullPolicy": "Always"})
    data["spec"]["template"]["spec"]["containers"].append(
        {"name": "side", "image": "registry.example/side:1"}
    )
    assert suggested(data) == Suggestion()


def test_a_field_of_the_older_version() -> None:
    data = {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "Ingress",
        "metadata": {"name": "web"},
        "spec": {"rules": [{"http": {"paths": [{"pathType": "Prefix", "backend": {"serviceName": "web"}}]}}]},
    }
    assert suggested(data) == Suggestion(renamed="service.name")


def volume(**parts: Any) -> dict[str, Any]:
    spec = {"accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}, "flexVolume": parts}
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "prices"}, "spec": spec}


@pytest.mark.parametrize(
    ("written", "related"),
    [
        ({"secretName": "login"}, "secretRef"),
        ({"secretName": "login", "secretRef": {"name": "login"}}, ""),
        ({"volumeLabel": "a"}, ""),
        ({"cacheSize": "1Gi"}, ""),
        ({"secret": "login"}, ""),
    ],
)
def test_a_field_that_refers_to_the_same_thing_is_named(written: dict[str, Any], related: str) -> None:
    assert suggested(volume(**written)).related == related


def test_what_to_do_names_it_and_never_says_to_delete_what_is_needed() -> None:
    one = KubeObject(volume(secretName="login", cacheSize="1Gi"), Document(SourceFile("a.yaml", ""), 0, 0, 1))
    fixes = [answer.fix for answer in unknown_field.look(Scene([one])) if isinstance(answer, Gap)]
    assert len(fixes) == 2
    assert fixes[0].startswith("`secretRef` is probably meant")
    assert "Look up" in fixes[1]
