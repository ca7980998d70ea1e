"""The JSON Schema (2020-12) of a record, made from the model so that the two cannot disagree."""

from __future__ import annotations

from typing import Any

from pydantic.json_schema import GenerateJsonSchema

from pilotage.library.record import SCHEMA_VERSION, Record


def record_schema() -> dict[str, Any]:
    """The schema, with the dialect and an id."""
    schema = Record.model_json_schema(schema_generator=GenerateJsonSchema)
    schema["$defs"]["IsoDate"] = {"type": "string", "pattern": r"^\d{4}-\d{2}-\d{2}$"}
    schema["properties"]["date"]["anyOf"][0] = {"$ref": "#/$defs/IsoDate"}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:pilotage:schema:record:{SCHEMA_VERSION}",
        **schema,
        "title": "Pilotage incident record",
    }
