"""A report as Markdown, for a comment on a pull request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pilotage.checks.model import Finding
from pilotage.checks.report import Report
from pilotage.checks.reports.incidents import Incidents, cited_lines
from pilotage.checks.reports.words import Lang, scope, sentence, summary, word
from pilotage.core.regex import regex
from pilotage.core.text import printable, shorten

LIMIT = 60_000
"""GitHub takes comments of 65,536 characters, GitLab of a million."""
_ROOM_FOR_COUNTS = 60
_LONGEST_NOTE = 600
_MOST_EVIDENCE = 8
_SPECIAL = regex(r"([\\*_\[\]<>|#@])")


def render(report: Report, incidents: Incidents, *, lang: Lang = "en", limit: int = LIMIT) -> str:
    """The report as Markdown.

    Args:
        report: the report.
        incidents: what to tell of incidents.
        lang: language of the fixed words.
        limit: most characters; what does not fit is counted.
    """
    head = f"### Pilotage: {summary(report, lang)}\n"
    foot = f"\n<sub>{_text(scope(report, lang))}</sub>\n"
    parts = ["\n".join(_finding(finding, incidents, lang)) + "\n" for finding in report.findings]
    # Each file that somebody else named may be as long as a file name can be: notes are bounded as well.
    notes = [f"- {shorten(line, _LONGEST_NOTE)}\n" for line in _notes(report, lang)]
    room = limit - len(head) - len(foot) - 2 * _ROOM_FOR_COUNTS
    shown_notes = _fitting(notes, room // 2)
    shown = _fitting(parts, room - sum(map(len, shown_notes)))
    lines = [head, *(f"\n{part}" for part in shown)]
    if len(shown) < len(parts):
        lines.append(f"\n{word('more not shown', lang, len(parts) - len(shown))}\n")
    if notes:
        lines += ["\n", *shown_notes]
    if len(shown_notes) < len(notes):
        lines.append(f"- {word('more not shown', lang, len(notes) - len(shown_notes))}\n")
    return "".join([*lines, foot])


def _fitting(parts: Sequence[str], room: int) -> list[str]:
    """As many of the first parts as there is room for."""
    shown: list[str] = []
    for part in parts:
        room -= len(part) + 1
        if room < 0:
            break
        shown.append(part)
    return shown


def _notes(report: Report, lang: Lang) -> Iterator[str]:
    for problem in report.problems:
        head = word("not read" if problem.grave else "skipped", lang).capitalize()
        yield f"{head}: {_code(str(problem.place))} {_text(sentence(problem.message, lang))}"
    for ignore in report.idle_ignores:
        told = word("idle ignore", lang, f"`{ignore.check}`", _code(str(ignore.place))).capitalize()
        yield f"{told}: {_text(sentence(ignore.why, lang))}"
    for rule in report.idle_rules:
        yield f"{_code(str(rule.rule.place))} {_text(rule.rule.words)}: {_text(sentence(rule.why, lang))}"


def _finding(finding: Finding, incidents: Incidents, lang: Lang) -> list[str]:
    severity = word(finding.severity, lang).upper()
    lines = [
        f"#### {severity} `{finding.check}` {_code(shorten(finding.subject, _LONGEST_NOTE))}",
        f"{_text(shorten(finding.message, _LONGEST_NOTE))} ({_code(str(finding.place))})",
    ]
    evidence = finding.evidence[:_MOST_EVIDENCE]
    lines += [
        f"- {word('read', lang).capitalize()}: {_code(shorten(item, _LONGEST_NOTE))}" for item in evidence
    ]
    lines.append(f"- {word('fix', lang).capitalize()}: {_text(finding.fix)}")
    seen = word("seen", lang).capitalize()
    lines += [f"- {seen}: {_text(line)}" for line in cited_lines(finding.incidents, incidents, lang)]
    return lines


def _text(text: str) -> str:
    """Prose: what stands in backticks stays code, all else is harmless."""
    parts = printable(" ".join(text.split())).split("`")
    if len(parts) % 2 == 0:
        return _SPECIAL.sub(r"\\\1", "'".join(parts))
    return "`".join(part if place % 2 else _SPECIAL.sub(r"\\\1", part) for place, part in enumerate(parts))


def _code(text: str) -> str:
    return "`" + printable(" ".join(text.split())).replace("`", "'") + "`"
