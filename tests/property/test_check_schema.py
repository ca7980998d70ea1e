"""Shapes: the quick answer and the long one agree; nothing that stands in an object stops a check."""

from __future__ import annotations

import copy
import functools
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pilotage.checks.objects import KubeObject
from pilotage.checks.readers.files import read_paths
from pilotage.checks.registry import all_checks
from pilotage.checks.runner import RunSettings, run
from pilotage.checks.scene import Scene
from pilotage.checks.schema.codes import parse
from pilotage.checks.schema.crds import defined
from pilotage.checks.schema.places import suggest
from pilotage.checks.schema.published import definitions, table
from pilotage.checks.schema.shapes import SCALARS, is_scalar_of
from pilotage.checks.schema.walk import Rule, faults
from pilotage.checks.values import dig

TESTS = Path(__file__).parents[1]
OURS = ("api_versions", "repeated_keys", "schema")
WORDS = [
    "name",
    "spec",
    "replicas",
    "containers",
    "env",
    "livenessProbe",
    "livenesProbe",
    "metadata",
    "$patch",
    "",
]
JUNK: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=6)
    | st.sampled_from(["1Gi", "always", "TCP", "YQ==", "2024-05-01T12:00:00Z", "${X}", "\ud800", "10%"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=3),
    max_leaves=6,
)


@functools.cache
def bases() -> list[dict[str, Any]]:
    paths = [
        TESTS / "real" / "schema_objects.yaml",
        *(TESTS / "golden" / "checks").glob("unknown-field/*.yaml"),
    ]
    return [dict(one.data) for one in read_paths(map(str, paths)).objects]


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path]
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        found += places(inner, (*path, key))
    return found


@st.composite
def spoilt(draw: st.DrawFn) -> dict[str, Any]:
    one = copy.deepcopy(draw(st.sampled_from(bases())))
    for _ in range(draw(st.integers(0, 4))):
        path = draw(st.sampled_from([path for path in places(one) if path]))
        holder = dig(one, *path[:-1]) if path[:-1] else one
        what = draw(st.sampled_from(["replace", "remove", "beside"]))
        if what == "replace":
            holder[path[-1]] = draw(JUNK)
        elif what == "remove":
            del holder[path[-1]]
        elif isinstance(holder, dict):
            holder[draw(st.sampled_from(WORDS) | st.text(max_size=8))] = draw(JUNK)
        else:
            holder.append(draw(JUNK))
    return one


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(spoilt(), st.integers(25, 37))
def test_the_quick_answer_is_that_of_the_long_one(one: dict[str, Any], minor: int) -> None:
    shape = definitions(minor).of(str(one.get("apiVersion")), str(one.get("kind")))
    if shape is None:
        return
    found = list(faults(one, shape))
    assert shape.fits(one) == (not found)
    for fault in found:
        if fault.rule is Rule.REQUIRED:
            assert fault.path[:-1] == () or isinstance(dig(one, *fault.path[:-1]), dict)
        else:
            assert dig(one, *fault.path) == fault.value or fault.value != fault.value


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(spoilt())
def test_a_suggestion_leads_to_a_field_that_exists(one: dict[str, Any]) -> None:
    shape = definitions(36).of(str(one.get("apiVersion")), str(one.get("kind")))
    if shape is None:
        return
    for fault in faults(one, shape):
        if fault.rule is not Rule.UNKNOWN:
            continue
        hint = suggest(shape, one, fault)
        if hint.spelling:
            assert hint.spelling in fault.shape.fields  # type: ignore[attr-defined]
            assert hint.spelling not in (dig(one, *fault.path[:-1]) if fault.path[:-1] else one)
        for place in hint.places:
            assert place != fault.path[:-1]


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(spoilt(), min_size=1, max_size=4), st.booleans(), st.integers(20, 40))
def test_checks_survive_any_object(objects: list[dict[str, Any]], live: bool, minor: int) -> None:
    scene = Scene([KubeObject(one) for one in objects], live=live, version=(1, minor))
    checks = {name: one for name, one in all_checks().items() if one.family in OURS}
    report = run(checks, scene, RunSettings())
    assert all(finding.message and finding.fix for finding in report.findings)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(JUNK, JUNK, st.booleans())
def test_any_definition_is_read(schema: Any, value: Any, old: bool) -> None:
    one = KubeObject(
        {
            "apiVersion": f"apiextensions.k8s.io/{'v1beta1' if old else 'v1'}",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": "x"},
            "spec": {
                "group": "a.example",
                "names": {"kind": "X"},
                "versions": [{"name": "v1", "schema": {"openAPIV3Schema": schema}}],
            },
        }
    )
    resource = {"apiVersion": "a.example/v1", "kind": "X", "metadata": {"name": "x"}, "spec": value}
    for _, version in defined(one, definitions(36)):
        assert version.shape.fits(resource) == (not list(faults(resource, version.shape)))


SCHEMAS = st.recursive(
    st.sampled_from(
        [
            {"type": "string"},
            {"type": "string", "nullable": True},
            {"type": "string", "enum": ["a", "b"]},
            {"type": "integer", "default": 1},
            {"type": "number"},
            {"type": "boolean"},
            {"x-kubernetes-int-or-string": True},
            {"x-kubernetes-preserve-unknown-fields": True},
        ]
    ),
    lambda inner: (
        st.builds(lambda item: {"type": "array", "items": item}, inner)
        | st.builds(lambda value: {"type": "object", "additionalProperties": value}, inner)
        | st.builds(
            lambda parts, needed, keeps: {
                "type": "object",
                "properties": parts,
                "required": needed,
                "x-kubernetes-preserve-unknown-fields": keeps,
            },
            st.dictionaries(st.sampled_from(["name", "spec", "env"]), inner, max_size=3),
            st.lists(st.sampled_from(["name", "spec"]), max_size=2, unique=True),
            st.booleans(),
        )
    ),
    max_leaves=8,
)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(SCHEMAS, JUNK)
def test_any_value_against_any_definition(schema: dict[str, Any], value: Any) -> None:
    test_any_definition_is_read.hypothesis.inner_test(  # type: ignore[attr-defined]
        {"type": "object", "properties": {"spec": schema}}, value, False
    )


@given(st.sampled_from(sorted(SCALARS)), JUNK)
def test_scalars_are_total(code: str, value: Any) -> None:
    assert is_scalar_of(value, code) in {True, False}


def test_every_code_of_the_table_is_one() -> None:
    for fields in table()["types"].values():
        for key, value in fields.items():
            if key != "!":
                for code in [value] if isinstance(value, str) else [row[2] for row in value]:
                    parse(code)
