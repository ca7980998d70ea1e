"""From the sources of Kubernetes to the table: on a small module of our own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pilotage.checks.schema.build import merged, read_allowed, read_lifecycle, read_version, short, written

GENERATED = """
func schema_k8sio_api_core_v1_Sail(ref common.ReferenceCallback) common.OpenAPIDefinition {
\treturn common.OpenAPIDefinition{
\t\t\t\tProperties: map[string]spec.Schema{
\t\t\t\t\t"colour": {
\t\t\t\t\t\tSchemaProps: spec.SchemaProps{
\t\t\t\t\t\t\tEnum:        []interface{}{"Red", "Blue"},
\t\t\t\t\t\t},
\t\t\t\t\t},
\t\t\t\t\t"size": {
\t\t\t\t\t\tSchemaProps: spec.SchemaProps{
\t\t\t\t\t\t},
\t\t\t\t\t},
"""


def module(folder: Path, release: str, fields: dict[str, object]) -> Path:
    root = folder / f"kubernetes@{release}"
    (root / "api/openapi-spec").mkdir(parents=True)
    (root / "pkg/generated/openapi").mkdir(parents=True)
    definitions = {
        "io.k8s.api.core.v1.Sail": {
            "type": "object",
            "properties": fields,
            "required": ["colour"],
            "x-kubernetes-group-version-kind": [{"group": "", "version": "v1", "kind": "Sail"}],
        },
        "io.k8s.api.core.v1.SailList": {"type": "object", "properties": {}},
    }
    (root / "api/openapi-spec/swagger.json").write_text(json.dumps({"definitions": definitions}))
    (root / "pkg/generated/openapi/zz_generated.openapi.go").write_text(GENERATED)
    return root


def test_a_field_that_came_later_and_one_that_went(tmp_path: Path) -> None:
    colour = {"type": "string"}
    first = module(tmp_path, "v1.30.1", {"colour": colour, "rope": {"type": "string"}})
    size = {"$ref": "#/definitions/io.k8s.apimachinery.pkg.api.resource.Quantity"}
    second = module(tmp_path, "v1.31.0", {"colour": colour, "size": size})
    found = merged(map(read_version, [second, first]))
    assert found["types"] == {
        "core.v1.Sail": {
            "colour": "s=Blue|Red",
            "rope": [[30, 30, "s"]],
            "size": [[31, 31, "q"]],
            "!": "colour",
        }
    }
    assert found["kinds"] == {"v1 Sail": "core.v1.Sail"}
    assert found["versions"]["30"]["release"] == "v1.30.1"
    assert json.loads(written(found))["types"] == found["types"]


def test_values_of_a_field_are_found_by_type_and_name() -> None:
    assert read_allowed(GENERATED) == {("core_v1_Sail", "colour"): ["Blue", "Red"]}


def test_short_names() -> None:
    assert short("io.k8s.api.core.v1.Probe") == "core.v1.Probe"
    assert short("io.k8s.apimachinery.pkg.apis.meta.v1.Time") == "meta.v1.Time"


def test_another_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no folder of the module"):
        read_version(tmp_path)


def test_lifecycle(tmp_path: Path) -> None:
    group = tmp_path / "harbour" / "v1beta1"
    group.mkdir(parents=True)
    (group / "register.go").write_text('const GroupName = "harbour.example"\n')
    (group / "zz_generated.prerelease-lifecycle.go").write_text(
        "func (in *Sail) APILifecycleDeprecated() (major, minor int) {\n\treturn 1, 20\n}\n"
        "func (in *Sail) APILifecycleRemoved() (major, minor int) {\n\treturn 1, 23\n}\n"
        "func (in *Sail) APILifecycleReplacement() schema.GroupVersionKind {\n"
        '\treturn schema.GroupVersionKind{Group: "harbour.example", Version: "v1", Kind: "Sail"}\n}\n'
        "func (in *Oar) APILifecycleIntroduced() (major, minor int) {\n\treturn 1, 20\n}\n"
    )
    assert read_lifecycle(tmp_path) == {
        "harbour.example/v1beta1 Sail": {
            "deprecated": "1.20",
            "removed": "1.23",
            "replacement": "harbour.example/v1",
        }
    }
