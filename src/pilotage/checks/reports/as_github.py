"""A report as GitHub annotations: one workflow command a finding."""

from __future__ import annotations

from pilotage.checks.model import Severity
from pilotage.checks.objects import Place
from pilotage.checks.report import Report
from pilotage.checks.reports.incidents import Incidents, cited_lines
from pilotage.checks.reports.words import summary
from pilotage.core.text import printable

_LEVELS = {
    Severity.CRITICAL: "error",
    Severity.HIGH: "error",
    Severity.MEDIUM: "warning",
    Severity.LOW: "notice",
}


def render(report: Report, incidents: Incidents) -> str:
    """The report as workflow commands."""
    lines = []
    for finding in report.findings:
        body = [finding.message, f"Fix: {finding.fix}"]
        body += [f"Seen: {line}" for line in cited_lines(finding.incidents, incidents)]
        title = f"{finding.check} ({finding.severity}): {finding.subject}"
        lines.append(_command(_LEVELS[finding.severity], finding.place, title, "\n".join(body)))
    for problem in report.problems:
        level = "error" if problem.grave else "notice"
        lines.append(_command(level, problem.place, "not read", problem.message))
    lines.append(f"pilotage check: {summary(report)}")
    return "\n".join(lines) + "\n"


def _command(level: str, place: Place, title: str, body: str) -> str:
    parts = {"file": place.file, "line": place.line, "col": place.column, "title": title}
    properties = ",".join(f"{key}={_property(str(value))}" for key, value in parts.items() if value)
    return f"::{level} {properties}::{_data(body)}"


def _data(text: str) -> str:
    lines = (printable(line) for line in text.splitlines())
    return "\n".join(lines).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
