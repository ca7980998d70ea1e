"""A report as Markdown, for a comment on a pull request."""

from __future__ import annotations

import re

from pilotage.checks.model import Finding
from pilotage.checks.report import Report
from pilotage.checks.reports.incidents import Incidents, cited_lines
from pilotage.checks.reports.words import scope, summary
from pilotage.core.text import printable

_MOST = 50
_SPECIAL = re.compile(r"([\\*_\[\]<>|#@])")


def render(report: Report, incidents: Incidents) -> str:
    """The report as Markdown."""
    lines = [f"### Pilotage: {summary(report)}", ""]
    for finding in report.findings[:_MOST]:
        lines += [*_finding(finding, incidents), ""]
    if len(report.findings) > _MOST:
        lines += [f"{len(report.findings) - _MOST} more are not shown.", ""]
    for problem in report.problems:
        word = "Not read" if problem.grave else "Skipped"
        lines.append(f"- {word}: {_code(str(problem.place))} {_text(problem.message)}")
    for ignore in report.idle_ignores:
        lines.append(f"- Idle ignore of `{ignore.check}` at {_code(str(ignore.place))}: {_text(ignore.why)}")
    return "\n".join([*lines, "", f"<sub>{_text(scope(report))}</sub>"]) + "\n"


def _finding(finding: Finding, incidents: Incidents) -> list[str]:
    lines = [
        f"#### {str(finding.severity).upper()} `{finding.check}` {_code(finding.subject)}",
        f"{_text(finding.message)} ({_code(str(finding.place))})",
    ]
    lines += [f"- Read: {_code(item)}" for item in finding.evidence]
    lines.append(f"- Fix: {_text(finding.fix)}")
    lines += [f"- Seen: {_text(line)}" for line in cited_lines(finding.incidents, incidents)]
    return lines


def _text(text: str) -> str:
    """Prose: what stands in backticks stays code, all else is harmless."""
    parts = printable(" ".join(text.split())).split("`")
    if len(parts) % 2 == 0:
        return _SPECIAL.sub(r"\\\1", "'".join(parts))
    return "`".join(part if place % 2 else _SPECIAL.sub(r"\\\1", part) for place, part in enumerate(parts))


def _code(text: str) -> str:
    return "`" + printable(" ".join(text.split())).replace("`", "'") + "`"
