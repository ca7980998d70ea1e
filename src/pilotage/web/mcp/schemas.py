"""Schemas of tools as agents get them: every agent pays for each character before it asks anything."""

from __future__ import annotations

import json
from typing import Any

_SILENT = frozenset({"title", "maxLength", "maxItems"})
"""Names that pydantic makes up, and limits that no honest call reaches: who reaches one is told so."""
_REF = "#/$defs/"


def for_arguments(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema of a tool's arguments: what may be absent is not also called null."""
    named = {name: _slim(value, _SILENT) for name, value in schema.get("properties", {}).items()}
    for value in named.values():
        if value.get("default", "") in (None, []):
            del value["default"]
    return {**_slim(schema, _SILENT), "properties": named, "additionalProperties": False}


def for_answers(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema of a tool's answers: each model once, its fields described, itself not.

    What a model is stands in the field that holds it, and in the description of the tool. Which fields of
    an item are always there is left out: an agent reads what came.
    """
    slim = {**_slim(schema, _SILENT | {"default"}, answers=True), "required": schema.get("required", [])}
    definitions: dict[str, Any] = slim.pop("$defs", {})
    text = json.dumps([slim, definitions])
    single = {name for name in definitions if text.count(f'"{_REF}{name}"') == 1}
    written = {name: model for name, model in definitions.items() if name in single}
    shared = {name: _put(model, written) for name, model in definitions.items() if name not in single}
    whole: dict[str, Any] = _put(slim, written)
    return {**whole, "$defs": shared} if shared else whole


def _slim(schema: Any, without: frozenset[str], *, answers: bool = False) -> Any:
    if isinstance(schema, list):
        return [_slim(item, without, answers=answers) for item in schema]
    if not isinstance(schema, dict):
        return schema
    rest = {}
    for key, value in schema.items():
        if key in {"properties", "$defs"}:
            # The keys below are names of ours, whatever they are called.
            rest[key] = {name: _slim(one, without, answers=answers) for name, one in value.items()}
        elif key not in without:
            rest[key] = _slim(value, without, answers=answers)
    if answers and "properties" in rest:
        for key in ("description", "additionalProperties", "required"):
            rest.pop(key, None)
    return _without_null(rest)


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    real = [choice for choice in schema.get("anyOf", []) if choice != {"type": "null"}]
    if len(real) != 1:
        return schema
    return {**real[0], **{key: value for key, value in schema.items() if key != "anyOf"}}


def _put(schema: Any, models: dict[str, Any]) -> Any:
    """The schema with models written where they are referred to."""
    if isinstance(schema, list):
        return [_put(item, models) for item in schema]
    if not isinstance(schema, dict):
        return schema
    name = str(schema.get("$ref", "")).removeprefix(_REF)
    if name in models:
        rest = {key: value for key, value in schema.items() if key != "$ref"}
        return {**_put(models[name], models), **rest}
    return {key: _put(value, models) for key, value in schema.items()}
