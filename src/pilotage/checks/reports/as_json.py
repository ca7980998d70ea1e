"""A report as JSON: every finding, what was ignored, what could not be looked at, the counts."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from typing import Any

from pilotage.checks.model import Cited, Finding
from pilotage.checks.objects import Place
from pilotage.checks.report import Report
from pilotage.checks.reports.incidents import Incidents

VERSION = 1
_DRIVES_A_TERMINAL = re.compile("[\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def render(report: Report, incidents: Incidents) -> str:
    """The report as one JSON document."""
    text = json.dumps(document(report, incidents), ensure_ascii=False, indent=1)
    # Such characters can only stand within strings, where an escape means the same.
    return _DRIVES_A_TERMINAL.sub(lambda found: f"\\u{ord(found[0]):04x}", text) + "\n"


def document(report: Report, incidents: Incidents) -> dict[str, Any]:
    """The report as JSON values."""
    return {
        "version": VERSION,
        "findings": [finding_value(one, incidents) for one in report.findings],
        "ignored": [
            {**finding_value(one.finding, incidents), "reason": one.reason, "ignored_at": str(one.place)}
            for one in report.ignored
        ],
        "unknown": [
            {"check": one.check, "why": one.why, "place": str(one.place) if one.place is not None else None}
            for one in report.unknown
        ],
        "problems": [
            {
                "place": str(one.place),
                "message": one.message,
                "trouble": str(one.trouble),
                "grave": one.grave,
                **_where(one.place),
            }
            for one in report.problems
        ],
        "idle_ignores": [
            {"check": one.check, "place": str(one.place), "why": one.why} for one in report.idle_ignores
        ],
        "baseline": {"known": len(report.known), "gone": report.gone},
        "summary": {
            "severities": {str(severity): number for severity, number in report.counts().items()},
            "files": report.files,
            "objects": report.objects,
            "skipped": dict(sorted(report.skipped.items())),
            "checks": {
                name: asdict(report.tallies[name]) if name in report.tallies else None
                for name in report.checks
            },
        },
    }


def finding_value(finding: Finding, incidents: Incidents) -> dict[str, Any]:
    """A finding as JSON values."""
    return {
        "check": finding.check,
        "title": finding.title,
        "severity": str(finding.severity),
        "confidence": str(finding.confidence),
        "place": str(finding.place),
        **_where(finding.place),
        "message": finding.message,
        "evidence": list(finding.evidence),
        "fix": finding.fix,
        "patch": [step.as_json() for step in finding.patch],
        "incidents": [_incident(one, incidents) for one in finding.incidents],
        "related": [str(place) for place in finding.related],
        "count": finding.count,
        "fingerprint": finding.fingerprint,
    }


def _where(place: Place) -> dict[str, Any]:
    return {
        "file": place.file or None,
        "line": place.line or None,
        "column": place.column or None,
        "object": place.object or None,
        "path": place.path or None,
    }


def _incident(cited: Cited, incidents: Incidents) -> dict[str, Any]:
    known = incidents.get(cited.id)
    return {
        "id": cited.id,
        "title": known.title if known is not None else None,
        "organisation": known.organisation if known is not None else None,
        "year": known.year if known is not None else None,
        "exact": cited.exact,
    }
