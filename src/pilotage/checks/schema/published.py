"""The definitions of Kubernetes itself, one version at a time, made from the packaged table when needed."""

from __future__ import annotations

import functools
import json
from importlib import resources
from typing import Any

import msgspec
import yaml

from pilotage.checks.schema.codes import Code, parse
from pilotage.checks.schema.shapes import Anything, Free, Scalar, Sequence, Shape, Struct

_REQUIRED = "!"


@functools.cache
def table() -> dict[str, Any]:
    """The packaged table of all versions."""
    text = resources.files("pilotage.checks.schema").joinpath("data/types.json").read_text("utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


@functools.cache
def server_rows(section: str) -> frozenset[str]:
    """`type.field` of a section of what the API server does otherwise than the definitions say."""
    text = resources.files("pilotage.checks.schema").joinpath("data/server.yaml").read_text("utf-8")
    return frozenset(yaml.load(text, Loader=yaml.CSafeLoader)[section])


@functools.cache
def renamed() -> dict[str, str]:
    """`type.field` of an older version -> what the newer one calls it."""
    text = resources.files("pilotage.checks.schema").joinpath("data/renamed.yaml").read_text("utf-8")
    return {row["field"]: row["instead"] for row in yaml.load(text, Loader=yaml.CSafeLoader)}


@functools.cache
def minors() -> tuple[int, ...]:
    """The minor versions that the table holds, in order."""
    return tuple(sorted(int(minor) for minor in table()["versions"]))


def nearest_minor(version: tuple[int, int]) -> int:
    """The minor version of the table that is nearest to a version."""
    known = minors()
    return min(known, key=lambda minor: abs(minor - version[1]))


def _at(value: Any, minor: int) -> Any:
    """What of a value with ranges holds for a version; None for nothing."""
    if isinstance(value, str):
        return value
    return next((item for first, last, item in value if first <= minor <= last), None)


def span(value: Any, own: tuple[int, int]) -> tuple[int, int]:
    """The first and the last minor version that has a field or a kind."""
    if isinstance(value, str):
        return own
    return value[0][0], value[-1][1]


class Served(msgspec.Struct, frozen=True):
    """Where a kind is known.

    Attributes:
        first: the first minor version of the table that has it.
        last: the last one.
    """

    first: int
    last: int


@functools.cache
def served(api_version: str, kind: str) -> Served | None:
    """The versions that have a kind; None for a kind that the table does not know."""
    value = table()["kinds"].get(f"{api_version} {kind}")
    if value is None:
        return None
    known = minors()
    return Served(*span(value, (known[0], known[-1])))


@functools.cache
def groups() -> frozenset[str]:
    """The API groups of Kubernetes itself; the core's is empty."""
    return frozenset(key.split(" ")[0].rpartition("/")[0] for key in table()["kinds"])


@functools.cache
def kinds_of(minor: int) -> dict[str, list[str]]:
    """Kind -> the versions (`apps/v1`) under which it is known."""
    found: dict[str, list[str]] = {}
    for key, value in table()["kinds"].items():
        if _at(value, minor) is not None:
            version, kind = key.split(" ")
            found.setdefault(kind, []).append(version)
    return found


class Definitions:
    """The types of one version.

    Args:
        minor: the minor version.
    """

    def __init__(self, minor: int) -> None:
        self.minor = minor
        self._made: dict[str, Struct] = {}

    def of(self, api_version: str, kind: str) -> Struct | None:
        """The shape of a kind; None where this version has no such kind."""
        value = table()["kinds"].get(f"{api_version} {kind}")
        name = _at(value, self.minor) if value is not None else None
        if name is None:
            return None
        shape = self.named(name)
        # The cluster writes it; what a manifest says there is dropped.
        if "status" in shape.fields:
            shape.fields["status"] = Anything()
        return shape

    def named(self, name: str) -> Struct:
        """A type by its name, such as `core.v1.Probe`."""
        made = self._made.get(name)
        if made is None:
            made = self._made[name] = Struct(name)
            self._fill(made)
        return made

    def _fill(self, shape: Struct) -> None:
        rows = table()["types"].get(shape.name)
        if rows is None:
            shape.open = True
            return
        own = (minors()[0], minors()[-1])
        for key, value in rows.items():
            code = _at(value, self.minor)
            if key == _REQUIRED:
                wanted = code.split(",") if code else []
                free = server_rows("not_demanded")
                shape.required = tuple(one for one in wanted if f"{shape.name}.{one}" not in free)
            elif code is None:
                shape.known[key] = span(value, own)
            else:
                shape.fields[key] = self._shape(parse(code), f"{shape.name}.{key}")

    def _shape(self, code: Code, place: str) -> Shape:
        shape = self._base(code, place)
        for depth in range(len(code.around), 0, -1):
            if code.around[depth - 1] == "[":
                shape = Sequence(shape, code.keys if depth == 1 else ())
            else:
                shape = Free(shape)
        return shape

    def _base(self, code: Code, place: str) -> Shape:
        if code.named:
            return self.named(code.base)
        if code.base == "*":
            return Anything()
        if code.base == "o":
            return Free(Anything())
        empty = place not in server_rows("empty_refused")
        return Scalar(code.base, code.allowed, empty=empty)


@functools.cache
def definitions(minor: int) -> Definitions:
    """The types of a version, made once."""
    return Definitions(minor)
