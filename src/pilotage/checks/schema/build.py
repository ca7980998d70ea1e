"""Makes the packaged definitions from the sources of Kubernetes; run by hand when a version comes out.

For every version download the Go module `k8s.io/kubernetes` (`go mod download k8s.io/kubernetes@v1.36.3`),
then `python -m pilotage.checks.schema.build FOLDER…` with the folders of the modules. Of each it reads two
files that the project publishes: `api/openapi-spec/swagger.json` (types, fields, what is required) and
`pkg/generated/openapi/zz_generated.openapi.go` (which values a field allows; the first file leaves that out).

A field is kept once with the versions that have it, so that a message can say since when it exists.

`… build --lifecycle FOLDER…` with the folders of several versions of the module `k8s.io/api` writes the other
file: which version of an API is deprecated since when, removed when, and replaced by what. Of two modules the
later counts.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pilotage.core.regex import regex

_SWAGGER = "api/openapi-spec/swagger.json"
_GENERATED = "pkg/generated/openapi/zz_generated.openapi.go"
_PREFIXES = (
    ("io.k8s.api.", ""),
    ("io.k8s.apimachinery.pkg.apis.", ""),
    ("io.k8s.apimachinery.pkg.", ""),
    ("io.k8s.apiextensions-apiserver.pkg.apis.", ""),
    ("io.k8s.kube-aggregator.pkg.apis.", ""),
)
_SPECIAL = {
    "util.intstr.IntOrString": "p",
    "api.resource.Quantity": "q",
    "meta.v1.Time": "t",
    "meta.v1.MicroTime": "u",
    "meta.v1.Duration": "d",
    "meta.v1.FieldsV1": "o",
    "meta.v1.Patch": "o",
    "runtime.RawExtension": "o",
    "apiextensions.v1.JSON": "*",
    "apiextensions.v1.JSONSchemaPropsOrArray": "*",
    "apiextensions.v1.JSONSchemaPropsOrBool": "*",
    "apiextensions.v1.JSONSchemaPropsOrStringArray": "*",
}
_FORMATS = {
    ("string", ""): "s",
    ("string", "byte"): "y",
    ("string", "date-time"): "t",
    ("string", "int-or-string"): "p",
    ("integer", "int32"): "i",
    ("integer", "int64"): "l",
    ("number", "double"): "n",
    ("boolean", ""): "b",
    ("object", ""): "o",
    ("", ""): "*",
}
# Answers and requests of the API itself, which nobody writes into a manifest.
_NOBODY_WRITES = regex(
    r"^(?:meta\.v1\.(?:API\w+|Status\w*|WatchEvent|GroupVersionForDiscovery"
    r"|ServerAddressByClientCIDR|Patch)|version\.Info|.*List)$"
)
_IN_EVERY_GROUP = "meta.v1.DeleteOptions"
_DATA = Path(__file__).parent / "data"


@dataclass
class Version:
    """The definitions of one version.

    Attributes:
        minor: 36 for 1.36.
        release: `v1.36.3`.
        digest: SHA-256 of the published file.
        types: type -> field -> code.
        required: type -> fields.
        kinds: `apiVersion kind` -> type.
    """

    minor: int
    release: str
    digest: str
    types: dict[str, dict[str, str]] = field(default_factory=dict)
    required: dict[str, list[str]] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)


def short(name: str) -> str:
    """`core.v1.Probe` of `io.k8s.api.core.v1.Probe`."""
    for prefix, instead in _PREFIXES:
        if name.startswith(prefix):
            return instead + name.removeprefix(prefix)
    return name


def read_version(folder: Path) -> Version:
    """The definitions in the sources of one version.

    Raises:
        ValueError: the folder is not that of a version of the module.
    """
    release = re.search(r"@(v1\.(\d+)\.\d+)$", folder.name)
    if release is None:
        raise ValueError(f"{folder} is no folder of the module k8s.io/kubernetes at a version")
    content = (folder / _SWAGGER).read_bytes()
    found = Version(int(release[2]), release[1], hashlib.sha256(content).hexdigest())
    allowed = read_allowed((folder / _GENERATED).read_text("utf-8"))
    for name, definition in json.loads(content)["definitions"].items():
        _add(found, short(name), definition, allowed)
    return found


def _add(
    into: Version, name: str, definition: Mapping[str, Any], allowed: Mapping[tuple[str, str], list[str]]
) -> None:
    if name in _SPECIAL or _NOBODY_WRITES.match(name):
        return
    into.types[name] = {
        key: _code(schema, allowed.get((_flat(name), key), []))
        for key, schema in definition.get("properties", {}).items()
    }
    into.required[name] = sorted(definition.get("required", ()))
    if name == _IN_EVERY_GROUP:
        return
    for one in definition.get("x-kubernetes-group-version-kind", ()):
        version = f"{one['group']}/{one['version']}" if one["group"] else one["version"]
        into.kinds[f"{version} {one['kind']}"] = name


def _code(schema: Mapping[str, Any], allowed: list[str]) -> str:
    text = _type(schema)
    if keys := schema.get("x-kubernetes-list-map-keys"):
        text += "|" + ",".join(keys)
    return text + ("=" + "|".join(allowed) if allowed else "")


def _type(schema: Mapping[str, Any]) -> str:
    if "$ref" in schema:
        name = short(schema["$ref"].removeprefix("#/definitions/"))
        return _SPECIAL.get(name, "@" + name)
    if schema.get("type") == "array":
        return "[" + _type(schema["items"])
    if schema.get("type") == "object" and "additionalProperties" in schema:
        return "{" + _type(schema["additionalProperties"])
    return _FORMATS[schema.get("type", ""), schema.get("format", "")]


_FUNCTION = regex(r"^func schema_(\w+)\(", re.MULTILINE)
_ALLOWED = regex(r'^\t{5}"([^"]+)": \{|^\t+Enum:\s+\[\]interface\{\}\{([^}]*)\}', re.MULTILINE)


def read_allowed(generated: str) -> dict[tuple[str, str], list[str]]:
    """(type, field) -> the values that are allowed, of the generated Go file; list items as their list."""
    found: dict[tuple[str, str], list[str]] = {}
    marks = list(_FUNCTION.finditer(generated))
    ends = [mark.start() for mark in marks[1:]] + [len(generated)]
    for mark, end in zip(marks, ends, strict=True):
        name, key = _flat_function(mark[1]), ""
        for match in _ALLOWED.finditer(generated, mark.end(), end):
            if match[1] is not None:
                key = match[1]
            else:
                found[name, key] = sorted(re.findall(r'"([^"]*)"', match[2]))
    return found


def _flat_function(name: str) -> str:
    # `k8sio_api_batch_v1_CronJobSpec`, `pkg_apis_apiextensions_v1_JSON`
    return re.sub(r"^(?:k8sio_api_|pkg_apis_|apimachinery_pkg_apis_)", "", name)


def _flat(name: str) -> str:
    return name.replace(".", "_")


# From versions to one table


def merged(versions: Iterable[Version]) -> dict[str, Any]:
    """One table of all versions: what stands in it without a range holds for each of them."""
    ordered = sorted(versions, key=lambda one: one.minor)
    minors = [one.minor for one in ordered]
    types: dict[str, dict[str, Any]] = {}
    for name in sorted({name for one in ordered for name in one.types}):
        having = [one for one in ordered if name in one.types]
        fields = sorted({key for one in having for key in one.types[name]})
        own = [one.minor for one in having]
        types[name] = {
            key: _ranges({one.minor: one.types[name].get(key) for one in having}, own) for key in fields
        }
        required = {one.minor: ",".join(one.required[name]) or None for one in having}
        if any(required.values()):
            types[name]["!"] = _ranges(required, own)
    kinds = {
        key: _ranges({one.minor: one.kinds.get(key) for one in ordered}, minors)
        for key in sorted({key for one in ordered for key in one.kinds})
        if not key.endswith("List")
    }
    return {
        "versions": {str(one.minor): {"release": one.release, "sha256": one.digest} for one in ordered},
        "kinds": {key: value for key, value in kinds.items() if _is_written(value, types)},
        "types": types,
    }


def _is_written(value: Any, types: Mapping[str, Any]) -> bool:
    names = [value] if isinstance(value, str) else [name for _, _, name in value]
    return all(name in types for name in names)


def _ranges(values: Mapping[int, str | None], own: list[int]) -> str | list[list[Any]]:
    """The value where all versions have the same; else runs of [first, last, value]."""
    runs: list[list[Any]] = []
    for minor in own:
        value = values[minor]
        if value is None:
            continue
        if runs and runs[-1][2] == value and runs[-1][1] == _before(minor, own):
            runs[-1][1] = minor
        else:
            runs.append([minor, minor, value])
    if len(runs) == 1 and runs[0][:2] == [own[0], own[-1]]:
        return str(runs[0][2])
    return runs


def _before(minor: int, own: list[int]) -> int:
    at = own.index(minor)
    return own[at - 1] if at else -1


def written(table: Mapping[str, Any]) -> str:
    """The table as JSON, a type to a line, so that a change of it can be read."""
    lines = ["{"]
    source = {
        "from": "the Go module k8s.io/kubernetes, Apache-2.0",
        "files": [_SWAGGER, _GENERATED],
        "made by": "python -m pilotage.checks.schema.build",
    }
    lines.append(f'"source": {json.dumps(source)},')
    for section in ("versions", "kinds", "types"):
        rows = ",\n".join(
            f"{json.dumps(key)}: {json.dumps(value, separators=(',', ':'))}"
            for key, value in table[section].items()
        )
        lines.append(f'"{section}": {{\n{rows}\n}}' + ("" if section == "types" else ","))
    return "\n".join([*lines, "}"]) + "\n"


_LIFECYCLE = "zz_generated.prerelease-lifecycle.go"
_METHOD = regex(r"^func \(in \*(\w+)\) APILifecycle(\w+)\(\) .*?\{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
_VERSION = regex(r"return (\d+), (\d+)")
_INSTEAD = regex(r'GroupVersionKind\{Group: "([^"]*)", Version: "([^"]*)"')
_GROUP = regex(r'GroupName\s*=\s*"([^"]*)"')


def read_lifecycle(folder: Path) -> dict[str, dict[str, str]]:
    """`apiVersion kind` -> what its authors say of its life, of one version of the module."""
    found: dict[str, dict[str, str]] = {}
    for file in sorted(folder.rglob(_LIFECYCLE)):
        group = _GROUP.search((file.parent / "register.go").read_text("utf-8"))
        version = f"{group[1]}/{file.parent.name}" if group is not None and group[1] else file.parent.name
        for kind, what, body in _METHOD.findall(file.read_text("utf-8")):
            if kind.endswith("List"):
                continue
            row = found.setdefault(f"{version} {kind}", {})
            if (number := _VERSION.search(body)) is not None:
                row[what.lower()] = f"{number[1]}.{number[2]}"
            elif (instead := _INSTEAD.search(body)) is not None:
                row["replacement"] = f"{instead[1]}/{instead[2]}" if instead[1] else instead[2]
    return {key: row for key, row in found.items() if "deprecated" in row}


def _write_lifecycle(folders: list[Path]) -> str:
    rows: dict[str, dict[str, str]] = {}
    for folder in folders:
        for key, row in read_lifecycle(folder).items():
            rows[key] = rows.get(key, {}) | row
    source = {
        "from": "the Go module k8s.io/api, Apache-2.0",
        "files": [_LIFECYCLE],
        "versions": [folder.name.partition("@")[2] for folder in folders],
        "made by": "python -m pilotage.checks.schema.build --lifecycle",
    }
    lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(row)}" for key, row in sorted(rows.items()))
    text = f'{{\n"source": {json.dumps(source)},\n"rows": {{\n{lines}\n}}\n}}\n'
    (_DATA / "lifecycle.json").write_text(text, encoding="utf-8")
    return f"{len(rows)} rows: lifecycle.json\n"


def _write_types(folders: list[Path]) -> str:
    table = merged(map(read_version, folders))
    (_DATA / "types.json").write_text(written(table), encoding="utf-8")
    return f"{len(table['types'])} types of {len(table['versions'])} versions: types.json\n"


def main() -> None:
    """Writes a packaged file from the folders that are named."""
    names = sys.argv[1:]
    write = _write_lifecycle if names[:1] == ["--lifecycle"] else _write_types
    sys.stdout.write(write([Path(name) for name in names if not name.startswith("--")]))


if __name__ == "__main__":
    main()
