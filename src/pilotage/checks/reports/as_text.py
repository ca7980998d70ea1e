"""A report for people: by file, worst first, the incident in one line, what could not be looked at below."""

from __future__ import annotations

import io
from collections import defaultdict

from rich.console import Console
from rich.text import Text

from pilotage.checks.model import Finding, Severity
from pilotage.checks.report import Report
from pilotage.checks.reports.incidents import Incidents, cited_lines
from pilotage.checks.reports.words import counted, scope, summary
from pilotage.core.text import printable

_STYLES = {
    Severity.CRITICAL: "bold white on red",
    Severity.HIGH: "bold red",
    Severity.MEDIUM: "yellow",
    Severity.LOW: "cyan",
}
_PIPE_WIDTH = 10_000
_MOST_UNKNOWN = 5


def render(report: Report, incidents: Incidents, *, width: int = 0) -> str:
    """The report as text.

    Args:
        report: the report.
        incidents: what to tell of incidents.
        width: columns of the terminal, for colours and wrapped lines; 0 where it is none.
    """
    stream = io.StringIO()
    console = Console(
        file=stream,
        width=width or _PIPE_WIDTH,
        force_terminal=bool(width),
        color_system="standard" if width else None,
        highlight=False,
        soft_wrap=not width,
    )
    writer = _Writer(console, incidents)
    for place, findings in _by_place(report).items():
        writer.group(place, findings)
    writer.rest(report)
    return stream.getvalue()


def _by_place(report: Report) -> dict[str, list[Finding]]:
    groups: dict[str, list[Finding]] = defaultdict(list)
    for finding in report.findings:
        groups[finding.place.file or finding.place.object].append(finding)
    return groups


class _Writer:
    def __init__(self, console: Console, incidents: Incidents) -> None:
        self.console = console
        self.incidents = incidents

    def line(self, text: str, style: str = "", *, indent: int = 0, head: str = "") -> None:
        """Text that others wrote: nothing in it drives the terminal or is read as markup."""
        body = Text(printable(" ".join(text.split())))
        body.stylize(style)
        lead = " " * indent + head
        if not self.console.is_terminal:
            self.console.print(lead + body.plain, markup=False)
            return
        for part in body.wrap(self.console, max(30, self.console.width - len(lead))):
            self.console.print(Text(lead, style="dim") + part)
            lead = " " * len(lead)

    def group(self, place: str, findings: list[Finding]) -> None:
        self.line(place, "bold underline")
        for finding in findings:
            self.finding(finding)
            self.console.print()

    def finding(self, finding: Finding) -> None:
        place = finding.place
        where = f"{place.line}:{place.column}" if place.line else place.path
        head = Text("  ")
        head.append(f" {finding.severity} ", style=_STYLES[finding.severity])
        head.append(f" {finding.check}", style="bold")
        head.append(printable(f"  {finding.subject}  {where}"), style="dim")
        self.console.print(head)
        times = f" ({finding.count} objects of this owner)" if finding.count > 1 else ""
        self.line(finding.message + times, indent=4)
        for item in finding.evidence:
            self.line(item, "dim", indent=4, head="read   ")
        for one in finding.related:
            self.line(f"{one.object} {one}".strip(), "dim", indent=4, head="with   ")
        self.line(finding.fix, "green", indent=4, head="fix    ")
        for line in cited_lines(finding.incidents, self.incidents):
            self.line(line, "magenta", indent=4, head="seen   ")

    def rest(self, report: Report) -> None:
        """What could not be read or looked at, and the counts."""
        for problem in report.problems:
            head = "not read  " if problem.grave else "skipped   "
            self.line(f"{problem.place}: {problem.message}", "yellow", head=head)
        for unknown in report.unknown[:_MOST_UNKNOWN]:
            place = f"{unknown.place}: " if unknown.place is not None else ""
            self.line(f"{place}{unknown.why} [{unknown.check}]", "yellow", head="unknown   ")
        more = len(report.unknown) - _MOST_UNKNOWN
        if more > 0:
            self.line(f"{more} more; --output json lists them", "yellow", head="unknown   ")
        for ignore in report.idle_ignores:
            self.line(f"{ignore.place}: ignore[{ignore.check}]: {ignore.why}", "yellow", head="idle      ")
        if report.problems or report.unknown or report.idle_ignores:
            self.console.print()
        worst = report.findings[0].severity if report.findings else None
        self.line(summary(report), _STYLES[worst] if worst is not None else "green")
        self.line(scope(report), "dim")
        grave = len(report.grave_problems)
        if grave:
            self.line(f"{counted(grave, 'place')} could not be read: the answer is not whole", "bold yellow")
