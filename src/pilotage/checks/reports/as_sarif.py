"""A report as SARIF 2.1.0, for code scanning: rules with help, stable fingerprints, suppressions."""

from __future__ import annotations

import json
import os
from importlib import metadata
from typing import Any
from urllib.parse import quote

from pilotage.checks.model import Check, Finding, Severity
from pilotage.checks.objects import Place
from pilotage.checks.report import Report
from pilotage.checks.reports.incidents import Incidents, cited_lines
from pilotage.checks.reports.words import Lang, sentence, word

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {
    Severity.CRITICAL: "error",
    Severity.HIGH: "error",
    Severity.MEDIUM: "warning",
    Severity.LOW: "note",
}
_PROBLEMS = {"error": "error", "warning": "warning", "note": "recommendation"}
"""Level -> the word by which code scanning sorts rules that are not about security."""
MOST_RESULTS = 25_000
"""With more results in a run, code scanning refuses the whole file."""
_ROOT = "%SRCROOT%"
"""What paths are relative to: the folder in which the check runs, in CI the root of the repository."""
_RANKS = {Severity.CRITICAL: 95.0, Severity.HIGH: 75.0, Severity.MEDIUM: 50.0, Severity.LOW: 25.0}


def render(report: Report, incidents: Incidents, *, lang: Lang = "en", limit: int = MOST_RESULTS) -> str:
    """The report as a SARIF log; of more results than the limit those of the lowest rank are left out."""
    rules = list(report.checks.values())
    numbers = {check.id: number for number, check in enumerate(rules)}
    results = [_result(one, numbers, incidents, lang) for one in report.findings]
    for ignored in report.ignored:
        suppressed = _result(ignored.finding, numbers, incidents, lang)
        suppressed["suppressions"] = [
            {"kind": "external" if ignored.by_rule else "inSource", "justification": ignored.reason}
        ]
        results.append(suppressed)
    notes = [_note(sentence(one.message, lang), one.place, grave=one.grave) for one in report.problems]
    if len(results) > limit:
        notes.append(_note(word("left out", lang, len(results) - limit)))
        results.sort(key=lambda one: -float(one["rank"]))
        del results[limit:]
    log = {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "pilotage",
                        "semanticVersion": metadata.version("pilotage"),
                        "rules": [_rule(check, incidents, lang) for check in rules],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "originalUriBaseIds": {_ROOT: {"description": {"text": "The root of the repository."}}},
                "invocations": [
                    {
                        "executionSuccessful": not report.grave_problems,
                        "toolExecutionNotifications": notes,
                    }
                ],
                "results": results,
            }
        ],
    }
    return json.dumps(log, ensure_ascii=True, indent=1) + "\n"


def _note(message: str, place: Place | None = None, *, grave: bool = False) -> dict[str, Any]:
    note: dict[str, Any] = {"level": "error" if grave else "note", "message": {"text": message}}
    return note if place is None else note | {"locations": [_location(place)]}


def _rule(check: Check, incidents: Incidents, lang: Lang) -> dict[str, Any]:
    cited = cited_lines(check.cited, incidents, lang)
    sections = "\n\n".join(f"## {name}\n\n{text}" for name, text in check.page.items())
    rule: dict[str, Any] = {
        "id": check.id,
        "name": "".join(part.capitalize() for part in check.id.split("-")),
        "shortDescription": {"text": check.title},
        "fullDescription": {"text": " ".join(check.page["What it does"].split())},
        "help": {
            "text": "\n\n".join([check.page["Why it matters"], check.page["Fix"], *cited]),
            "markdown": f"{sections}\n",
        },
        "defaultConfiguration": {"level": _LEVELS[check.severity], "rank": _RANKS[check.severity]},
        "properties": {
            "tags": ["availability", check.family],
            "precision": "high",
            "problem.severity": _PROBLEMS[_LEVELS[check.severity]],
            "incidents": [one.id for one in check.cited],
        },
    }
    if check.references:
        rule["helpUri"] = check.references[0]
    return rule


def _result(finding: Finding, numbers: dict[str, int], incidents: Incidents, lang: Lang) -> dict[str, Any]:
    lines = [finding.message, f"{word('fix', lang).capitalize()}: {finding.fix}"]
    seen = word("seen", lang).capitalize()
    lines += [f"{seen}: {line}" for line in cited_lines(finding.incidents, incidents, lang)]
    result: dict[str, Any] = {
        "ruleId": finding.check,
        "ruleIndex": numbers[finding.check],
        "level": _LEVELS[finding.severity],
        "rank": _RANKS[finding.severity],
        "message": {"text": "\n".join(lines)},
        "locations": [_location(finding.place)],
        "partialFingerprints": {"pilotage/v1": finding.fingerprint},
        "properties": {
            "severity": str(finding.severity),
            "confidence": str(finding.confidence),
            "evidence": list(finding.evidence),
        },
    }
    if finding.related:
        result["relatedLocations"] = [_location(place) for place in finding.related]
    return result


def _location(place: Place) -> dict[str, Any]:
    location: dict[str, Any] = {}
    if place.file:
        physical: dict[str, Any] = {
            "artifactLocation": {"uri": _uri(place.file), "uriBaseId": _ROOT},
            "region": {"startLine": max(1, place.line)},
        }
        if place.column:
            physical["region"]["startColumn"] = place.column
        location["physicalLocation"] = physical
    if place.object:
        name = f"{place.object} {place.path}".strip()
        location["logicalLocations"] = [{"fullyQualifiedName": name, "kind": "object"}]
    return location


def _uri(file: str) -> str:
    # An absolute path would need a base; code scanning wants paths from the root of the repository.
    name = os.path.relpath(file) if os.path.isabs(file) else os.path.normpath(file)  # noqa: PTH117
    return quote(name.replace(os.sep, "/"), errors="replace")
