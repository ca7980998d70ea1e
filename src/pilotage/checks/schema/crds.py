"""The shapes of custom resources, from CustomResourceDefinition objects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from pilotage.checks.objects import KubeObject
from pilotage.checks.schema.published import Definitions
from pilotage.checks.schema.shapes import Anything, Free, Scalar, Sequence, Shape, Struct
from pilotage.checks.values import as_list, as_map, as_text

KIND = "CustomResourceDefinition"
_OF = {"string": "s", "integer": "l", "number": "n", "boolean": "b"}
_FORMATS = {("integer", "int32"): "i", ("string", "date-time"): "t", ("string", "byte"): "y"}
_DEEPEST = 60


class Defined(msgspec.Struct, frozen=True):
    """A version of a custom resource.

    Attributes:
        definition: the object that defines it.
        shape: what it may hold.
        served: whether the API server serves the version.
        deprecated: whether its makers call it deprecated.
    """

    definition: KubeObject
    shape: Struct
    served: bool
    deprecated: bool


def defined(one: KubeObject, published: Definitions) -> Iterator[tuple[tuple[str, str], Defined]]:
    """((apiVersion, kind), version) of every version that a definition defines.

    Args:
        one: a CustomResourceDefinition.
        published: the definitions of Kubernetes, for the metadata.
    """
    spec = one.spec
    group, kind = as_text(spec.get("group")), as_text(as_map(spec.get("names")).get("kind"))
    if not group or not kind:
        return
    shared = as_map(as_map(spec.get("validation")).get("openAPIV3Schema"))
    # `v1beta1` keeps unknown fields unless told otherwise.
    old = one.api_version.endswith("/v1beta1")
    keeps = spec.get("preserveUnknownFields", old) is True
    for version in _versions(spec):
        schema = as_map(as_map(version.get("schema")).get("openAPIV3Schema")) or shared
        shape = _resource(schema, published, open=keeps or not schema)
        name = f"{group}/{as_text(version.get('name'))}"
        served = version.get("served") is not False
        yield (name, kind), Defined(one, shape, served, version.get("deprecated") is True)


def _versions(spec: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
    versions = [as_map(item) for item in as_list(spec.get("versions"))]
    return versions or ([{"name": spec["version"]}] if as_text(spec.get("version")) else [])


def _resource(schema: Mapping[str, Any], published: Definitions, *, open: bool) -> Struct:  # noqa: A002
    maker = _Maker(published, keeps=open)
    shape = maker.struct(schema, 0)
    shape.fields = {
        **shape.fields,
        "apiVersion": Scalar("s"),
        "kind": Scalar("s"),
        "metadata": published.named("meta.v1.ObjectMeta"),
    }
    if "status" in shape.fields:
        shape.fields["status"] = Anything()
    shape.required = tuple(key for key in shape.required if key not in {"apiVersion", "kind", "status"})
    return shape


class _Maker:
    """Makes shapes of one schema.

    Args:
        published: for the metadata of embedded objects.
        keeps: whether unknown fields are kept everywhere.
    """

    def __init__(self, published: Definitions, *, keeps: bool) -> None:
        self.published = published
        self.keeps = keeps

    def shape(self, schema: Any, depth: int) -> Shape:
        if not isinstance(schema, dict) or depth > _DEEPEST:
            return Anything()
        shape = self._typed(schema, depth)
        shape.nullable = schema.get("nullable") is True or "default" in schema
        return shape

    def _typed(self, schema: Mapping[str, Any], depth: int) -> Shape:
        if schema.get("x-kubernetes-int-or-string") is True:
            return Scalar("p")
        kind = schema.get("type")
        if kind == "object":
            return self._object(schema, depth)
        if kind == "array":
            return Sequence(_kept_in(schema, self.shape(schema.get("items"), depth + 1)), _keys(schema))
        if isinstance(kind, str) and kind in _OF:
            return _scalar(schema, kind)
        return Anything()

    def _object(self, schema: Mapping[str, Any], depth: int) -> Shape:
        free = schema.get("additionalProperties")
        if free is not None and free is not False and not schema.get("properties"):
            return Free(Anything() if free is True else self.shape(free, depth + 1))
        return self.struct(schema, depth)

    def struct(self, schema: Mapping[str, Any], depth: int) -> Struct:
        """A mapping with the fields of a schema; whether it keeps others does not hold for those inside."""
        properties = as_map(schema.get("properties"))
        keeps = self.keeps or schema.get("x-kubernetes-preserve-unknown-fields") is True
        fields = {key: self.shape(value, depth + 1) for key, value in properties.items()}
        required = tuple(
            key
            for key in as_list(schema.get("required"))
            if isinstance(key, str) and "default" not in as_map(properties.get(key))
        )
        if schema.get("x-kubernetes-embedded-resource") is True:
            fields |= {"apiVersion": Scalar("s"), "kind": Scalar("s")}
            fields["metadata"] = self.published.named("meta.v1.ObjectMeta")
            required = (*required, "apiVersion", "kind")
        return Struct("", fields, required, open=keeps, blank=False)


def _kept_in(schema: Mapping[str, Any], item: Shape) -> Shape:
    """The items of a list; where the list keeps unknown fields, the API server keeps those of its items."""
    if schema.get("x-kubernetes-preserve-unknown-fields") is True and isinstance(item, Struct):
        item.open = True
    return item


def _keys(schema: Mapping[str, Any]) -> tuple[str, ...]:
    if schema.get("x-kubernetes-list-type") != "map":
        return ()
    return tuple(key for key in as_list(schema.get("x-kubernetes-list-map-keys")) if isinstance(key, str))


def _scalar(schema: Mapping[str, Any], kind: str) -> Scalar:
    code = _FORMATS.get((kind, as_text(schema.get("format"))), _OF[kind])
    allowed = tuple(value for value in as_list(schema.get("enum")) if isinstance(value, str | int | float))
    return Scalar(code, allowed)
