"""The JSON Schema of a report, made of the types in `document.py`."""

from __future__ import annotations

import json
from typing import Any

from pydantic import ConfigDict, TypeAdapter

from pilotage.checks.reports import document

FILE = "report.schema.json"


def report_schema() -> dict[str, Any]:
    """The schema of what `pilotage check --output json` writes."""
    for kind in _kinds():
        kind.__pydantic_config__ = ConfigDict(use_attribute_docstrings=True)
    made = TypeAdapter(document.ReportValue).json_schema()
    said = TypeAdapter(document.WhereValue).json_schema()["properties"]
    said |= TypeAdapter(document.FindingValue).json_schema()["properties"] | said
    for part in made["$defs"].values():
        for key, value in part["properties"].items():
            # What a type has from another one comes without its description.
            if "description" not in value and "description" in said.get(key, {}):
                value["description"] = said[key]["description"]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **_without_titles(made)}


def _kinds() -> list[Any]:
    found = vars(document).values()
    return [kind for kind in found if getattr(kind, "__module__", "") == document.__name__]


def schema_text() -> str:
    """The schema as the file that is shipped."""
    return json.dumps(report_schema(), indent=1, ensure_ascii=False) + "\n"


def _without_titles(value: Any) -> Any:
    # Titles only repeat the keys.
    if isinstance(value, dict):
        return {
            key: _without_titles(inner)
            for key, inner in value.items()
            if key != "title" or isinstance(inner, dict)
        }
    return [_without_titles(inner) for inner in value] if isinstance(value, list) else value
