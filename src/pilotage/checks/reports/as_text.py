"""A report for people: by file, worst first, the incident in one line, what could not be looked at below."""

from __future__ import annotations

import textwrap
from collections import defaultdict

from pilotage.checks.model import Finding, Severity
from pilotage.checks.report import Report
from pilotage.checks.reports.incidents import Incidents, cited_lines
from pilotage.checks.reports.words import counted, scope, summary
from pilotage.core.text import printable

_RESET = "\x1b[0m"
_STYLES = {
    "": "",
    "dim": "\x1b[2m",
    "bold": "\x1b[1m",
    "name": "\x1b[1;4m",
    "fix": "\x1b[32m",
    "seen": "\x1b[35m",
    "doubt": "\x1b[33m",
    Severity.CRITICAL: "\x1b[1;37;41m",
    Severity.HIGH: "\x1b[1;31m",
    Severity.MEDIUM: "\x1b[33m",
    Severity.LOW: "\x1b[36m",
}
_MOST_UNKNOWN = 5
_LEAST_WIDTH = 30


def render(report: Report, incidents: Incidents, *, width: int = 0, colour: bool = False) -> str:
    """The report as text.

    Args:
        report: the report.
        incidents: what to tell of incidents.
        width: columns of the terminal, at which lines are wrapped; 0 where it is none.
        colour: whether to colour it.
    """
    writer = _Writer(incidents, width, colour=colour)
    for place, findings in _by_place(report).items():
        writer.group(place, findings)
    writer.rest(report)
    return "\n".join(writer.lines) + "\n"


def _by_place(report: Report) -> dict[str, list[Finding]]:
    groups: dict[str, list[Finding]] = defaultdict(list)
    for finding in report.findings:
        groups[finding.place.file or finding.place.object].append(finding)
    return groups


class _Writer:
    def __init__(self, incidents: Incidents, width: int, *, colour: bool) -> None:
        self.incidents = incidents
        self.width = width
        self.colour = colour
        self.lines: list[str] = []

    def styled(self, text: str, style: str) -> str:
        return f"{_STYLES[style]}{text}{_RESET}" if self.colour and _STYLES[style] else text

    def line(self, text: str, style: str = "", *, indent: int = 0, head: str = "") -> None:
        """Text that others wrote: nothing in it drives the terminal."""
        body = printable(" ".join(text.split()))
        lead = " " * indent + head
        parts = [body]
        if self.width:
            parts = textwrap.wrap(body, max(_LEAST_WIDTH, self.width - len(lead))) or [""]
        for part in parts:
            self.lines.append(
                self.styled(lead, "dim") + self.styled(part, style) if lead else self.styled(part, style)
            )
            lead = " " * len(lead)

    def group(self, place: str, findings: list[Finding]) -> None:
        self.line(place, "name")
        for finding in findings:
            self.finding(finding)
            self.lines.append("")

    def finding(self, finding: Finding) -> None:
        place = finding.place
        where = f"{place.line}:{place.column}" if place.line else place.path
        tail = printable(f"  {finding.subject}  {where}")
        severity = self.styled(f" {finding.severity} ", finding.severity)
        self.lines.append(f"  {severity} {self.styled(finding.check, 'bold')}{self.styled(tail, 'dim')}")
        times = f" ({finding.count} objects of this owner)" if finding.count > 1 else ""
        self.line(finding.message + times, indent=4)
        for item in finding.evidence:
            self.line(item, "dim", indent=4, head="read   ")
        for one in finding.related:
            self.line(f"{one.object} ({one})" if one.file else one.object, "dim", indent=4, head="with   ")
        self.line(finding.fix, "fix", indent=4, head="fix    ")
        for line in cited_lines(finding.incidents, self.incidents):
            self.line(line, "seen", indent=4, head="seen   ")

    def rest(self, report: Report) -> None:
        """What could not be read or looked at, and the counts."""
        for problem in report.problems:
            head = "not read  " if problem.grave else "skipped   "
            self.line(f"{problem.place}: {problem.message}", "doubt", head=head)
        for unknown in report.unknown[:_MOST_UNKNOWN]:
            place = f"{unknown.place}: " if unknown.place is not None else ""
            self.line(f"{place}{unknown.why} [{unknown.check}]", "doubt", head="unknown   ")
        more = len(report.unknown) - _MOST_UNKNOWN
        if more > 0:
            self.line(f"{more} more; --output json lists them", "doubt", head="unknown   ")
        for ignore in report.idle_ignores:
            self.line(f"{ignore.place}: ignore[{ignore.check}]: {ignore.why}", "doubt", head="idle      ")
        if report.problems or report.unknown or report.idle_ignores:
            self.lines.append("")
        worst = report.findings[0].severity if report.findings else None
        self.line(summary(report), worst if worst is not None else "fix")
        self.line(scope(report), "dim")
        grave = len(report.grave_problems)
        if grave:
            self.line(f"{counted(grave, 'place')} could not be read: the answer is not whole", "doubt")
