"""One look at each object: files, clusters, custom resources, pieces."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pilotage.checks.model import Gap, NotApplicable, Pass, Unknown
from pilotage.checks.objects import KubeObject
from pilotage.checks.readers.definitions import read_definitions
from pilotage.checks.readers.files import read_text
from pilotage.checks.registry import all_checks
from pilotage.checks.scene import Scene
from pilotage.checks.schema.survey import LAST_APPLIED, survey
from pilotage.core.errors import InvalidInput

GOLDEN = Path(__file__).parents[3] / "golden" / "checks"


def answers(check: str, scene: Scene) -> list[Any]:
    return list(all_checks()[check].look(scene))


def definition(version: str = "v1", **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "sails.sea.example"},
        "spec": {
            "group": "sea.example",
            "names": {"kind": "Sail", "plural": "sails"},
            "versions": [
                {
                    "name": version,
                    "schema": {
                        "openAPIV3Schema": {
                            "type": "object",
                            "properties": {
                                "spec": {"type": "object", "properties": {"size": {"type": "integer"}}}
                            },
                        }
                    },
                }
            ],
            **spec,
        },
    }


SAIL = {"apiVersion": "sea.example/v1", "kind": "Sail", "metadata": {"name": "jib"}, "spec": {"sizes": 3}}


def test_one_survey_for_all_checks_of_a_scene() -> None:
    scene = Scene([KubeObject(SAIL)])
    assert survey(scene) is survey(scene)
    assert survey(scene) is not survey(Scene([]))


def filed(*objects: dict[str, Any]) -> list[KubeObject]:
    return read_text("\n---\n".join(json.dumps(one) for one in objects) + "\n", "x.yaml").objects


def test_a_kind_without_a_definition_is_told_once() -> None:
    other = {**SAIL, "metadata": {"name": "main"}}
    found = answers("unknown-field", Scene(filed(SAIL, other)))
    unknown = [one for one in found if isinstance(one, Unknown)]
    assert [one.why for one in unknown] == [
        "no definition of Sail sea.example/v1, of which there are 2: name its CustomResourceDefinition with --crds"
    ]
    assert sum(isinstance(one, NotApplicable) for one in found) == 2
    assert not any(isinstance(one, Pass) for one in found)


def test_definitions_from_beside_the_scene_are_used_and_not_checked() -> None:
    definitions = [KubeObject(definition())]
    found = answers("unknown-field", Scene(filed(SAIL), definitions=definitions))
    (gap,) = found
    assert isinstance(gap, Gap)
    assert gap.path == ("spec", "sizes")
    assert gap.subject.key == "Sail jib"


def test_of_several_definitions_any_that_fits_will_do() -> None:
    free = definition(preserveUnknownFields=True)
    assert [type(one) for one in answers("unknown-field", Scene(filed(SAIL, definition(), free)))] == [
        Pass
    ] * 3


def test_of_several_definitions_that_do_not_fit_the_one_with_the_fewest_faults_is_meant() -> None:
    sail = {**SAIL, "spec": {"size": "large", "colour": "red"}}
    newer = definition()
    newer["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"][
        "colour"
    ] = {"type": "string"}
    found = answers("unknown-field", Scene(filed(sail, definition()), definitions=[KubeObject(newer)]))
    assert not any(isinstance(one, Gap) for one in found)


def test_the_old_form_of_a_definition_keeps_all_fields_unless_it_says_otherwise() -> None:
    old = definition()
    old["apiVersion"] = "apiextensions.k8s.io/v1beta1"
    schema = old["spec"]["versions"][0].pop("schema")
    old["spec"]["validation"] = schema
    kept = answers("unknown-field", Scene(filed(SAIL), definitions=[KubeObject(old)]))
    assert [type(one) for one in kept] == [Pass]
    old["spec"]["preserveUnknownFields"] = False
    pruned = answers("unknown-field", Scene(filed(SAIL), definitions=[KubeObject(old)]))
    assert [type(one) for one in pruned] == [Gap]


def live(applied: dict[str, Any] | None, **stored: Any) -> KubeObject:
    data = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x", "annotations": {}}, **stored}
    if applied is not None:
        data["metadata"]["annotations"][LAST_APPLIED] = json.dumps(applied)
    return KubeObject(data)


POD = {"containers": [{"name": "a", "image": "registry.example/a:1"}]}


def test_of_a_cluster_it_reads_what_was_applied() -> None:
    written = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}, "spec": {**POD, "replicas": 2}}
    (gap,) = answers("unknown-field", Scene([live(written, spec=POD)], live=True))
    assert isinstance(gap, Gap)
    assert gap.path == ("spec", "replicas")
    assert not gap.patch


def test_of_a_cluster_that_has_forgotten_it_says_nothing() -> None:
    scene = Scene([live(None, spec=POD)], live=True)
    for check in ("unknown-field", "misplaced-field", "wrong-type", "missing-required", "removed-api"):
        assert [type(one) for one in answers(check, scene)] == [NotApplicable], check


def test_of_a_cluster_it_tells_keys_that_stand_twice() -> None:
    twice = {"containers": [{"name": "a", "image": "x", "env": [{"name": "A"}, {"name": "A", "value": "1"}]}]}
    (gap,) = answers("duplicate-list-key", Scene([live(None, spec=twice)], live=True))
    assert isinstance(gap, Gap)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"a": 1}', "[" * 100_000])
def test_an_annotation_that_says_nothing(text: str) -> None:
    one = live(None, spec=POD)
    one.data["metadata"]["annotations"][LAST_APPLIED] = text
    for check in all_checks().values():
        if check.family in {"schema", "repeated_keys", "api_versions"}:
            assert list(check.look(Scene([one], live=True)))


def test_values_of_secrets_are_not_told() -> None:
    text = "apiVersion: v1\nkind: Secret\nmetadata: {name: x}\ndata: {a: hunter2}\nstringData: {b: 4711, c: true}\n"
    found = answers("wrong-type", Scene(read_text(text, "x.yaml").objects))
    assert len(found) == 3
    told = " ".join(str((one.message, one.evidence, one.fix, one.patch)) for one in found)
    assert "hunter2" not in told
    assert "4711" not in told


def test_each_target_version_has_its_fields() -> None:
    text = "apiVersion: v1\nkind: Pod\nmetadata: {name: x}\nspec: {schedulingGates: [], containers: [{name: a}]}\n"
    objects = read_text(text, "x.yaml").objects
    (gap,) = answers("unknown-field", Scene(objects, version=(1, 25)))
    assert "only since 1.26" in gap.message
    assert [type(one) for one in answers("unknown-field", Scene(objects, version=(1, 27)))] == [Pass]


def test_definitions_are_read_from_folders_and_files(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(json.dumps(definition()) + "\n---\n" + json.dumps(SAIL))
    assert [one.name for one in read_definitions([str(tmp_path)])] == ["sails.sea.example"]
    (tmp_path / "a.yaml").write_text(json.dumps(SAIL))
    with pytest.raises(InvalidInput, match="holds no CustomResourceDefinition"):
        read_definitions([str(tmp_path)])
    (tmp_path / "a.yaml").write_text("kind: X\napiVersion: y\n\t- broken: [")
    with pytest.raises(InvalidInput, match="a.yaml"):
        read_definitions([str(tmp_path / "a.yaml")])
