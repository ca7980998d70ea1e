"""A report as JSON: every finding, what was ignored, what could not be looked at, the counts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from pilotage.checks.model import Cited, Finding
from pilotage.checks.objects import Place
from pilotage.checks.report import Report, Tally
from pilotage.checks.reports.incidents import Incidents
from pilotage.core.regex import regex

if TYPE_CHECKING:
    from pilotage.checks.reports.document import (
        FindingValue,
        IncidentValue,
        ReportValue,
        TallyValue,
        WhereValue,
    )

VERSION: Final = 1
_DRIVES_A_TERMINAL = regex("[\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def render(report: Report, incidents: Incidents) -> str:
    """The report as one JSON document."""
    text = json.dumps(document(report, incidents), ensure_ascii=False, indent=1)
    # Such characters can only stand within strings, where an escape means the same.
    return _DRIVES_A_TERMINAL.sub(lambda found: f"\\u{ord(found[0]):04x}", text) + "\n"


def document(report: Report, incidents: Incidents) -> ReportValue:
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
                "trouble": one.trouble.value,
                "grave": one.grave,
                **_where(one.place),
            }
            for one in report.problems
        ],
        "idle_ignores": [
            {"check": one.check, "place": str(one.place), "why": one.why} for one in report.idle_ignores
        ],
        "idle_rules": [
            {"rule": one.rule.words, "place": str(one.rule.place), "why": one.why}
            for one in report.idle_rules
        ],
        "baseline": {"known": len(report.known), "gone": report.gone},
        "before": len(report.before),
        "summary": {
            "severities": {severity.value: number for severity, number in report.counts().items()},
            "files": report.files,
            "objects": report.objects,
            "skipped": dict(sorted(report.skipped.items())),
            "checks": {
                name: _tally(report.tallies[name]) if name in report.tallies else None
                for name in report.checks
            },
        },
    }


def _tally(tally: Tally) -> TallyValue:
    return {
        "findings": tally.findings,
        "passed": tally.passed,
        "not_applicable": tally.not_applicable,
        "unknown": tally.unknown,
    }


def finding_value(finding: Finding, incidents: Incidents) -> FindingValue:
    """A finding as JSON values."""
    return {
        "check": finding.check,
        "title": finding.title,
        "severity": finding.severity.value,
        "confidence": finding.confidence.value,
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


def _where(place: Place) -> WhereValue:
    return {
        "file": place.file or None,
        "line": place.line or None,
        "column": place.column or None,
        "object": place.object or None,
        "path": place.path or None,
    }


def _incident(cited: Cited, incidents: Incidents) -> IncidentValue:
    known = incidents.get(cited.id)
    return {
        "id": cited.id,
        "title": known.title if known is not None else None,
        "organisation": known.organisation if known is not None else None,
        "year": known.year if known is not None else None,
        "exact": cited.exact,
    }
