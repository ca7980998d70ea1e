"""A report as one HTML file: nothing is fetched, nothing runs, and its filters are style sheets alone."""

from __future__ import annotations

import functools
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from importlib import resources

import msgspec
from jinja2 import Environment, FunctionLoader
from markupsafe import Markup, escape

from pilotage.checks.model import Check, Finding, Severity
from pilotage.checks.report import Report
from pilotage.checks.reports.as_text import idle_lines
from pilotage.checks.reports.incidents import Incidents, cited_lines
from pilotage.checks.reports.words import Lang, scope, sentence, summary, word
from pilotage.core.text import printable

_MOST_FILES = 60
"""Files that can be chosen by themselves, those with most findings; a longer list helps nobody."""


class Group(msgspec.Struct, frozen=True):
    """The findings of one check.

    Attributes:
        check: the check.
        findings: its findings, worst first.
        seen: incidents, a line each.
        severities: their severities.
        files: numbers of their files.
    """

    check: Check
    findings: list[Finding]
    seen: list[str]
    severities: tuple[Severity, ...]
    files: tuple[int, ...]

    @property
    def severity(self) -> Severity:
        """The worst of its findings."""
        return self.severities[0]


def render(report: Report, incidents: Incidents, *, lang: Lang = "en") -> str:
    """The report as an HTML document.

    Args:
        report: the report.
        incidents: what to tell of incidents.
        lang: language of the fixed words.
    """
    files = _files(report.findings)
    groups = _groups(report, incidents, files, lang)
    template = _environment().get_template("report.html")
    text = template.render(
        lang=lang,
        # What checks say is English in every report.
        en=Markup(' lang="en"') if lang != "en" else "",
        t=functools.partial(_word, lang),
        say=lambda text: sentence(text, lang),
        report=report,
        groups=groups,
        files=[(number, name, count) for name, (number, count) in files.items()],
        file_of=lambda finding: files.get(_file(finding), (0, 0))[0],
        counts=[(severity, number) for severity, number in report.counts().items() if number],
        tallies=_tallies(report),
        summary=summary(report, lang),
        scope=scope(report, lang),
        idle=idle_lines(report, lang),
        css=Markup(_text("report.css")),  # noqa: S704 - a file of ours
        rules=Markup("\n".join(_rules(groups, len(files)))),  # noqa: S704 - numbers and severities
    )
    return f"{text}\n"


def _word(lang: Lang, key: str, *values: object) -> str:
    return word(key, lang, *values)


def _file(finding: Finding) -> str:
    return finding.place.file or finding.place.object


def _files(findings: Iterable[Finding]) -> dict[str, tuple[int, int]]:
    """Name -> number and count of findings, those with most first."""
    counted = Counter(_file(one) for one in findings).most_common(_MOST_FILES)
    return {name: (number, count) for number, (name, count) in enumerate(counted, start=1)}


def _groups(
    report: Report, incidents: Incidents, files: Mapping[str, tuple[int, int]], lang: Lang
) -> list[Group]:
    by_check: dict[str, list[Finding]] = defaultdict(list)
    for finding in report.findings:
        by_check[finding.check].append(finding)
    made = []
    for id_, findings in by_check.items():
        cited = dict.fromkeys(
            line for one in findings for line in cited_lines(one.incidents, incidents, lang)
        )
        severities = sorted({one.severity for one in findings}, key=lambda one: -one.rank)
        numbers = sorted({files[_file(one)][0] for one in findings if _file(one) in files})
        made.append(Group(report.checks[id_], findings, list(cited), tuple(severities), tuple(numbers)))
    return sorted(made, key=lambda group: (-group.severity.rank, -len(group.findings), group.check.id))


def _tallies(report: Report) -> list[tuple[Check, int, int, int, int]]:
    """Every check that ran: findings, passed, does not apply, unknown."""
    rows = []
    for id_, check in report.checks.items():
        tally = report.tallies.get(id_)
        counts = (0, 0, 0, 0)
        if tally is not None:
            counts = (tally.findings, tally.passed, tally.not_applicable, tally.unknown)
        rows.append((check, *counts))
    return rows


def _rules(groups: Iterable[Group], files: int) -> list[str]:
    """The style rules by which a choice hides what it leaves out."""
    rules = [
        f"body:has(#sev-{severity}:not(:checked)) .finding--{severity}{{display:none}}"
        for severity in Severity
    ]
    for severities in sorted({group.severities for group in groups}):
        unchecked = "".join(f":has(#sev-{one}:not(:checked))" for one in severities)
        rules.append(f'body{unchecked} [data-severities="{" ".join(severities)}"]{{display:none}}')
    for number in range(1, files + 1):
        chosen = f"body:has(#file-{number}:checked)"
        rules.append(f"{chosen} .finding:not(.in-{number}),{chosen} .group:not(.in-{number}){{display:none}}")
    return rules


def _inline(text: str) -> Markup:
    """Prose: what stands in backticks is code."""
    parts = printable(text).split("`")
    if len(parts) % 2 == 0:
        return escape("`".join(parts))
    pieces = (
        Markup("<code>{}</code>").format(part) if place % 2 else escape(part)
        for place, part in enumerate(parts)
    )
    return Markup("").join(pieces)


def _paragraphs(text: str) -> list[Markup]:
    return [_inline(" ".join(part.split())) for part in text.split("\n\n")]


@functools.cache
def _text(name: str) -> str:
    return (resources.files("pilotage.checks.reports") / "html" / name).read_text("utf-8")


@functools.cache
def _environment() -> Environment:
    made = Environment(
        loader=FunctionLoader(_text), autoescape=True, trim_blocks=True, lstrip_blocks=True, auto_reload=False
    )
    made.filters |= {"inline": _inline, "paragraphs": _paragraphs, "printable": printable}
    return made
