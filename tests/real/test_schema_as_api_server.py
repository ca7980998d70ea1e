"""What we say of an object against what a real API server says of it: dry run, strict field validation.

Decoding (unknown fields, types) must agree exactly. Of validation we know what the definitions tell (required
fields, fixed values, keys of lists); what the server checks beyond that is its own.
"""

from __future__ import annotations

import copy
import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from pilotage.checks.dialect import load
from pilotage.checks.objects import KubeObject
from pilotage.checks.readers.files import read_paths
from pilotage.checks.schema.crds import defined
from pilotage.checks.schema.published import Definitions, definitions, server_rows
from pilotage.checks.schema.shapes import Free, Scalar, Sequence, Shape, Struct
from pilotage.checks.schema.walk import Fault, Rule, faults
from pilotage.checks.values import KeyPath, dig
from rig.kube_control_plane import ControlPlane, control_plane, wait_until

pytestmark = pytest.mark.real
HERE = Path(__file__).parent
GOLDEN = HERE.parent / "golden" / "checks"
RIG_MINOR = 36
DRY = "?dryRun=All&fieldValidation=Strict"

BEYOND = {
    ("type", "autoscaling.v2.MetricTarget.averageValue", "-1"): "a quantity, yet it must be positive",
    ("type", "autoscaling.v2.MetricTarget.value", "-1"): "a quantity, yet it must be positive",
    ("type", "core.v1.EmptyDirVolumeSource.sizeLimit", "-1"): "a quantity, yet it must not be negative",
    (
        "type",
        "certificates.v1.CertificateSigningRequestSpec.request",
        "[]",
    ): "to Go a list is bytes; refused for these",
    (
        "repeated",
        "core.v1.Container.ports",
        "twice",
    ): "the number may stand twice, the name and the host's port not",
}
"""Changes of which the server says something else than we, and why; all others are found by both or by none."""

WRONG: dict[str, tuple[Any, ...]] = {
    "s": (5, True, 1.5, [], {}),
    "i": ("5", 2**31, 1.5, True, [], {}),
    "l": ("5", 2**63, True, [], {}),
    "b": ("true", 1, [], {}),
    "q": ("12Q", "1MB", True, "", "1 Gi", "-1", [], {}),
    "p": (1.5, True, 2**31, [], {}),
    "y": ("?", 5, "YQ=", [], {}),
    "t": ("2024", "", 5, "2024-05-01 12:00:00", [], {}),
    "u": ("2024", "2024-05-01T12:00:00Z", [], {}),
    "n": ("1.5", [], {}),
}

Change = Callable[[dict[str, Any]], None]


class Server:
    """The API server, asked whether it would take an object."""

    def __init__(self, plane: ControlPlane) -> None:
        self.plane = plane
        self.places: dict[tuple[str, str], tuple[str, bool]] = {}
        self.learn("/api/v1", "v1")
        for group in plane.call("GET", "/apis")["groups"]:
            for version in group["versions"]:
                self.learn(f"/apis/{version['groupVersion']}", version["groupVersion"])

    def learn(self, base: str, version: str) -> None:
        for one in self.plane.call("GET", base)["resources"]:
            if "/" not in one["name"] and "create" in one["verbs"]:
                self.places[version, one["kind"]] = (f"{base}|{one['name']}", one["namespaced"])

    def path(self, api_version: str, kind: str) -> str | None:
        place = self.places.get((api_version, kind))
        if place is None:
            return None
        base, _, name = place[0].partition("|")
        return f"{base}/namespaces/default/{name}{DRY}" if place[1] else f"{base}/{name}{DRY}"

    def refusals(self, objects: list[tuple[str, dict[str, Any]]]) -> list[str]:
        return self.plane.send_all("POST", [(path, as_sent(one)) for path, one in objects])


def as_sent(value: Any) -> Any:
    """As kubectl sends it: `1.0` of YAML is 1; every namespace is the one that exists."""
    if isinstance(value, dict):
        return {key: as_sent(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [as_sent(inner) for inner in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def in_default(one: dict[str, Any]) -> dict[str, Any]:
    value = copy.deepcopy(one)
    if isinstance(value.get("metadata"), dict) and "namespace" in value["metadata"]:
        value["metadata"]["namespace"] = "default"
    return value


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with control_plane(api_args=["--runtime-config=api/all=true"]) as plane:
        account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}}
        plane.call("POST", "/api/v1/namespaces/default/serviceaccounts", account)
        yield Server(plane)


def refused(data: dict[str, Any], shape: Struct) -> set[Rule]:
    """The rules by which the server would refuse an object, as far as we know."""
    return {fault.rule for fault in faults(data, shape) if is_refused(fault, shape)}


def is_refused(fault: Fault, root: Struct) -> bool:
    if fault.rule is Rule.NULL:
        return False
    if fault.rule is Rule.REPEATED:
        return f"{holder(root, fault.path[:-2])}.{fault.path[-2]}" not in server_rows("repeats_accepted")
    return True


def holder(root: Struct, path: KeyPath) -> str:
    shape: Any = root
    for part in path:
        shape = shape.fields[part] if isinstance(shape, Struct) else shape.item
    return str(shape.name)


def is_decoding(refusal: str) -> bool:
    return "cannot be handled as a" in refusal or "strict decoding error" in refusal


def test_every_fixture_as_the_server_takes_it(server: Server) -> None:
    published = definitions(RIG_MINOR)
    asked: list[tuple[KubeObject, Struct, tuple[str, dict[str, Any]]]] = []
    for one in read_paths([str(GOLDEN)]).objects:
        shape = published.of(one.api_version, one.kind)
        path = server.path(one.api_version, one.kind)
        if shape is not None and path is not None:
            asked.append((one, shape, (path, in_default(dict(one.data)))))
    refusals = server.refusals([request for _, _, request in asked])
    assert len(refusals) > 500
    differing, beyond = [], []
    for (one, shape, (_, data)), refusal in zip(asked, refusals, strict=True):
        rules = refused(data, shape)
        exists = "already exists" in refusal
        if is_decoding(refusal) != bool(rules & {Rule.UNKNOWN, Rule.TYPE}) or (rules and not refusal):
            differing.append((one.file, one.key, rules, refusal))
        elif refusal and not exists and not rules:
            beyond.append((one.file, one.key, refusal))
    assert not differing
    assert len(beyond) < len(asked) / 50, beyond


def visited(value: Any, shape: Shape, path: KeyPath = ()) -> Iterator[tuple[KeyPath, dict[str, Any], Struct]]:
    """Every mapping of a known type in an object."""
    if isinstance(shape, Struct) and isinstance(value, dict):
        yield path, value, shape
        for key, inner in value.items():
            if key in shape.fields:
                yield from visited(inner, shape.fields[key], (*path, key))
    elif isinstance(shape, Sequence) and isinstance(value, list):
        for position, inner in enumerate(value):
            yield from visited(inner, shape.item, (*path, position))


def changes(value: dict[str, Any], shape: Struct) -> Iterator[tuple[str, str, Any]]:
    """(what, field, new value) of everything that is done to a mapping; `REMOVED` takes the field out."""
    yield "unknown", "zzz", 1
    for key in shape.required:
        if key in value:
            yield "required", key, REMOVED
            yield "required", key, None
            if isinstance(value[key], str):
                yield "required", key, ""
    for key, inner in value.items():
        field = shape.fields.get(key)
        if isinstance(field, Scalar):
            yield from (("type", key, wrong) for wrong in WRONG[field.code])
            if field.allowed:
                swapped = str(inner).lower() if str(inner).lower() != inner else str(inner).upper()
                yield from (("value", key, wrong) for wrong in ("Zzz", swapped))
        elif isinstance(field, Sequence):
            yield from (("type", key, wrong) for wrong in ({}, "", 1))
            if inner and field.keys:
                yield "repeated", key, [*inner, copy.deepcopy(inner[0])]
        elif isinstance(field, Struct | Free):
            yield from (("type", key, wrong) for wrong in ([], "", 1))


REMOVED = object()


def changed(data: dict[str, Any], path: KeyPath, key: str, new: Any) -> dict[str, Any]:
    value = copy.deepcopy(data)
    part = dig(value, *path) if path else value
    if new is REMOVED:
        del part[key]
    else:
        part[key] = new
    return value


def test_every_field_changed_as_the_server_takes_it(server: Server) -> None:
    """Each field of each type once: taken out, of the wrong type, of a wrong value, twice, and one unknown."""
    published = definitions(RIG_MINOR)
    bases = [dict(one.data) for one in read_paths([str(HERE / "schema_objects.yaml")]).objects]
    paths = [server.path(one["apiVersion"], one["kind"]) or "" for one in bases]
    answers = server.refusals(list(zip(paths, bases, strict=True)))
    assert not [answer for answer in answers if answer and "already exists" not in answer]
    tried: list[tuple[tuple[str, str, Any], Struct, tuple[str, dict[str, Any]]]] = []
    seen: Counter[str] = Counter()
    for base, path in zip(bases, paths, strict=True):
        shape = published.of(base["apiVersion"], base["kind"])
        assert shape is not None
        for at, value, struct in visited(base, shape):
            for what, key, new in changes(value, struct):
                if not at and key in {"apiVersion", "kind", "metadata"}:
                    continue
                name = (what, f"{struct.name}.{key}", new)
                mark = repr(name) if new is not REMOVED else f"{name[:2]} removed"
                seen[mark] += 1
                if seen[mark] == 1:
                    tried.append((name, shape, (path, changed(base, at, key, new))))
    refusals = server.refusals([request for _, _, request in tried])
    assert len(tried) > 3000
    differing = {}
    for (name, shape, (_, data)), refusal in zip(tried, refusals, strict=True):
        rules = refused(data, shape)
        decoding = is_decoding(refusal) == bool(rules & {Rule.UNKNOWN, Rule.TYPE})
        if not decoding or bool(rules) != bool(refusal):
            differing[name[0], name[1], said(name)] = refusal[:200]
    assert {key: differing[key] for key in differing if key not in BEYOND} == {}
    assert set(BEYOND) <= set(differing), "the server has become milder: take the row out"


def said(name: tuple[str, str, Any]) -> str:
    return "removed" if name[2] is REMOVED else "twice" if name[0] == "repeated" else str(name[2])


def test_custom_resources_as_the_server_takes_them(server: Server) -> None:
    table = yaml.safe_load((HERE / "schema_custom.yaml").read_text("utf-8"))
    path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    server.plane.call("POST", path, table["definition"])
    ((key, version),) = defined(KubeObject(table["definition"]), Definitions(RIG_MINOR))
    wait_until(lambda: learnt(server, key[0]), within=90, what="definition served")
    objects, verdicts = [], []
    for number, case in enumerate(table["cases"]):
        rest = {name: value for name, value in case.items() if name not in {"verdict", "metadata"}}
        metadata = {"name": f"c{number}", **case.get("metadata", {})}
        objects.append({"apiVersion": key[0], "kind": key[1], "metadata": metadata, **rest})
        verdicts.append(case["verdict"])
    refusals = server.refusals([(server.path(*key) or "", one) for one in objects])
    differing = []
    for one, verdict, refusal in zip(objects, verdicts, refusals, strict=True):
        found = {
            fault.rule.value
            for fault in faults(one, version.shape)
            if not (fault.rule is Rule.NULL and (fault.shape.nullable or isinstance(fault.path[-1], str)))
        }
        if found != ({verdict} - {""}) or bool(verdict) != bool(refusal):
            differing.append((json.dumps(one.get("spec")), verdict, found, refusal[:200]))
    assert not differing


def learnt(server: Server, version: str) -> bool:
    server.learn(f"/apis/{version}", version)
    return bool(server.refusals([(server.path(version, "Chest") or "", {})])[0])


def test_the_dialect_of_the_table_is_kubectls() -> None:
    # The tables are read by a plain YAML reader; what they say must not hang on that.
    for name in ("schema_custom.yaml",):
        text = (HERE / name).read_text("utf-8")
        assert load(text) == yaml.safe_load(text)
