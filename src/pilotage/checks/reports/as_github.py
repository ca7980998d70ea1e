"""A report as GitHub annotations: one workflow command a finding."""

from __future__ import annotations

from pilotage.checks.model import Severity
from pilotage.checks.objects import Place
from pilotage.checks.report import Report
from pilotage.checks.reports.incidents import Incidents, cited_lines
from pilotage.checks.reports.words import Lang, sentence, summary, word
from pilotage.core.text import printable

_LEVELS = {
    Severity.CRITICAL: "error",
    Severity.HIGH: "error",
    Severity.MEDIUM: "warning",
    Severity.LOW: "notice",
}


def render(report: Report, incidents: Incidents, *, lang: Lang = "en") -> str:
    """The report as workflow commands."""
    lines = []
    for finding in report.findings:
        body = [finding.message, f"{word('fix', lang).capitalize()}: {finding.fix}"]
        seen = word("seen", lang).capitalize()
        body += [f"{seen}: {line}" for line in cited_lines(finding.incidents, incidents, lang)]
        title = f"{finding.check} ({word(finding.severity, lang)}): {finding.subject}"
        lines.append(_command(_LEVELS[finding.severity], finding.place, title, "\n".join(body)))
    for problem in report.problems:
        level = "error" if problem.grave else "notice"
        lines.append(_command(level, problem.place, word("not read", lang), sentence(problem.message, lang)))
    lines.append(f"pilotage check: {summary(report, lang)}")
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
