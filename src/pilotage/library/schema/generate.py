"""The JSON Schema (2020-12) of a record, made from the model so that the two cannot disagree.

The model's own rules are carried over where JSON Schema can say them. What it cannot say is left to the
model: that `root_cause` equals the kind of the first of `root_causes`, that `aliases` do not hold the
record's own id, that steps of the mechanism have different ids and lead to steps.
"""

from __future__ import annotations

import ast
import inspect
import itertools
from typing import Any

from pilotage.library import record
from pilotage.library.record import SCHEMA_VERSION, Record

SCHEMA_FILE = "record.schema.json"
"""Name of the shipped file beside this module."""

_MEANINGS = {
    "schema_version": "Version of the record's form.",
    "id": "Readable slug, never changed once published.",
    "status": "`draft`: not yet checked; `reviewed`: checked by another; `withdrawn`: not to be cited.",
    "withdrawn_reason": "Why a withdrawn record was withdrawn.",
    "visibility": "A `private` record is shown and exported only on request.",
    "org": "Who was hit, as they write their name.",
    "org_slug": "The same as a slug of the vocabulary of organisations, such as `google-cloud`.",
    "date": "YYYY-MM-DD, with 01 for what is not known.",
    "date_kind": "Whether the date is that of the incident or of its publication.",
    "title": "Effect, because of mechanism; at most 120 characters a language, no date, no blame.",
    "summary": "What ran, what changed, the mechanism, why it spread or lasted, what ended it.",
    "trigger": "The event that started it, not the flaw.",
    "detection": "Who or what noticed it.",
    "domain": "Slugs of the vocabulary of domains.",
    "symptoms": "Slugs of the vocabulary of symptoms.",
    "components": "Slugs of the vocabulary of components.",
    "contributing": "Slugs of the vocabulary of contributing factors.",
    "contributing_notes": "Contributing factors in words.",
    "root_cause": "Slug of the primary root cause; equals the kind of the first of `root_causes`.",
    "detection_kind": "Slug of the vocabulary of detection.",
    "severity": "Slug of the vocabulary of severities.",
    "impact": "Who and what was hit.",
    "timeline": "How long it took; only what a source states.",
    "events": "The timeline, in order.",
    "mechanism": "The causal chain, step by step.",
    "remediation": "What was done, failed attempts too.",
    "action_items": "Follow-ups.",
    "phrases": "Four to eight short lines a language, as people would put it while it happens.",
    "sources": "What the record rests on.",
    "docs": "Addresses of documentation that helps.",
    "related": "Ids of incidents that belong together.",
    "recurrence_of": "Id of the incident that this one repeats.",
    "review": "Who wrote and who checked it.",
    "updated_at": "ISO 8601 time of the last change.",
    "url": "Address of the record's page.",
    "Text.en": "The English text.",
    "Text.ko": "The Korean text.",
    "Event.text": "What happened then.",
    "Source.url": "Its address.",
    "Source.kind": "Slug of the vocabulary of source kinds.",
    "Source.title": "Its title.",
    "Source.license": "The licence of its text, where it has one.",
    "Source.archived": "Address of an archived copy.",
    "Cause.kind": "Slug of the vocabulary of root causes.",
    "Cause.text": "The cause as a sentence.",
    "Factor.kind": "Slug of the vocabulary of contributing factors.",
    "Factor.text": "The factor in words.",
    "Action.text": "What was done, or is to be done.",
    "Impact.scope": "Products or systems.",
    "Impact.users": "How many or which users.",
    "Impact.region": "Where.",
    "Intervals.detected_after": "Until somebody noticed.",
    "Intervals.mitigated_after": "Until users were no longer hit.",
    "Intervals.resolved_after": "Until all was normal.",
    "Phrases.en": "In English.",
    "Phrases.ko": "In Korean.",
    "Review.written_by": "A team or role, no person.",
    "Review.reviewed_at": "The day of the check, YYYY-MM-DD.",
    "Review.reviewed_by": "A team or role other than the writer.",
    "Provenance.note": "What a reader must know about it.",
}
"""Meanings of the keys whose names the model lets speak for themselves."""

_INTERVAL = r"^(?!\s*-)"


def record_schema() -> dict[str, Any]:
    """The schema, with the dialect and an id."""
    schema = Record.model_json_schema()
    parts: dict[str, Any] = schema["$defs"]
    parts["IsoDate"] = {"type": "string", "format": "date", "pattern": r"^\d{4}-\d{2}-\d{2}$"}
    schema["properties"]["date"]["anyOf"][0] = {"$ref": "#/$defs/IsoDate"}
    for interval in parts["Intervals"]["properties"].values():
        interval["anyOf"][0]["pattern"] = _INTERVAL
    meanings = _MEANINGS | _said_under_fields()
    _describe(schema, "", meanings)
    for name, part in parts.items():
        _describe(part, f"{name}.", meanings)
    withdrawn = {"properties": {"status": {"const": "withdrawn"}}, "required": ["status"]}
    reason = {"properties": {"withdrawn_reason": {"type": "object"}}, "required": ["withdrawn_reason"]}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:pilotage:schema:record:{SCHEMA_VERSION}",
        **schema,
        "title": "Pilotage incident record",
        "description": "One incident. Unknown keys are kept.",
        "if": withdrawn,
        "then": reason,
    }


def _describe(part: dict[str, Any], prefix: str, meanings: dict[str, str]) -> None:
    for key, value in part.get("properties", {}).items():
        value["description"] = " ".join(meanings.get(prefix + key, "").split())


def _said_under_fields() -> dict[str, str]:
    """The texts that stand under the fields of the model, by the key of the field."""
    found: dict[str, str] = {}
    for part in ast.parse(inspect.getsource(record)).body:
        if not isinstance(part, ast.ClassDef):
            continue
        prefix = "" if part.name == Record.__name__ else f"{part.name}."
        for field, text in itertools.pairwise(part.body):
            match field, text:
                case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(said))):
                    found[prefix + name] = said
    return found
