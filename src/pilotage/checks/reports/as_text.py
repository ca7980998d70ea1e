"""A report for people: by file, worst first, the incident in one line, what could not be looked at below."""

from __future__ import annotations

import textwrap
import unicodedata
from collections import defaultdict

from pilotage.checks.model import Finding, Severity
from pilotage.checks.report import Report
from pilotage.checks.reports.incidents import Incidents, cited_lines
from pilotage.checks.reports.words import Lang, counted, scope, sentence, summary, word
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


def render(
    report: Report, incidents: Incidents, *, width: int = 0, colour: bool = False, lang: Lang = "en"
) -> str:
    """The report as text.

    Args:
        report: the report.
        incidents: what to tell of incidents.
        width: columns of the terminal, at which lines are wrapped; 0 where it is none.
        colour: whether to colour it.
        lang: language of the fixed words.
    """
    writer = _Writer(incidents, width, colour=colour, lang=lang)
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
    def __init__(self, incidents: Incidents, width: int, *, colour: bool, lang: Lang) -> None:
        self.incidents = incidents
        self.lang = lang
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

    def head(self, key: str, columns: int) -> str:
        """A fixed word, as wide as its fellows: a Hangul syllable takes two columns."""
        text = word(key, self.lang)
        taken = sum(2 if unicodedata.east_asian_width(one) in "WF" else 1 for one in text)
        return text + " " * max(1, columns - taken)

    def finding(self, finding: Finding) -> None:
        place = finding.place
        where = f"{place.line}:{place.column}" if place.line else place.path
        tail = printable(f"  {finding.subject}  {where}")
        severity = self.styled(f" {word(finding.severity, self.lang)} ", finding.severity)
        self.lines.append(f"  {severity} {self.styled(finding.check, 'bold')}{self.styled(tail, 'dim')}")
        times = f" {word('objects of one', self.lang, finding.count)}" if finding.count > 1 else ""
        self.line(finding.message + times, indent=4)
        columns = 7 if self.lang == "en" else 8
        for item in finding.evidence:
            self.line(item, "dim", indent=4, head=self.head("read", columns))
        for one in finding.related:
            text = f"{one.object} ({one})" if one.file else one.object
            self.line(text, "dim", indent=4, head=self.head("with", columns))
        self.line(finding.fix, "fix", indent=4, head=self.head("fix", columns))
        for line in cited_lines(finding.incidents, self.incidents, self.lang):
            self.line(line, "seen", indent=4, head=self.head("seen", columns))

    def rest(self, report: Report) -> None:
        """What could not be read or looked at, and the counts."""
        columns = 10 if self.lang == "en" else 12
        for problem in report.problems:
            head = self.head("not read" if problem.grave else "skipped", columns)
            self.line(f"{problem.place}: {sentence(problem.message, self.lang)}", "doubt", head=head)
        for unknown in report.unknown[:_MOST_UNKNOWN]:
            place = f"{unknown.place}: " if unknown.place is not None else ""
            head = self.head("unknown", columns)
            self.line(f"{place}{sentence(unknown.why, self.lang)} [{unknown.check}]", "doubt", head=head)
        more = len(report.unknown) - _MOST_UNKNOWN
        if more > 0:
            self.line(word("more", self.lang, more), "doubt", head=self.head("unknown", columns))
        idle = idle_lines(report, self.lang)
        for line in idle:
            self.line(line, "doubt", head=self.head("idle", columns))
        if report.problems or report.unknown or idle:
            self.lines.append("")
        worst = report.findings[0].severity if report.findings else None
        self.line(summary(report, self.lang), worst if worst is not None else "fix")
        self.line(scope(report, self.lang), "dim")
        grave = len(report.grave_problems)
        if grave:
            self.line(word("not whole", self.lang, counted(grave, "place", self.lang)), "doubt")


def idle_lines(report: Report, lang: Lang = "en") -> list[str]:
    """The decisions that do nothing, a line each."""
    ignores = [f"{one.place}: ignore[{one.check}]: {sentence(one.why, lang)}" for one in report.idle_ignores]
    return ignores + [
        word("idle rule", lang, one.rule.place, one.rule.words, sentence(one.why, lang))
        for one in report.idle_rules
    ]
