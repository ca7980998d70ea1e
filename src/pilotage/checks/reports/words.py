"""Words that all forms share."""

from __future__ import annotations

from pilotage.checks.report import Report


def counted(number: int, what: str) -> str:
    """`1 finding`, `2 findings`."""
    if number == 1:
        return f"1 {what}"
    return f"{number} {what[:-1]}ies" if what.endswith("y") else f"{number} {what}s"


def summary(report: Report) -> str:
    """`3 findings: 1 critical, 2 high`."""
    counts = [f"{number} {severity}" for severity, number in report.counts().items() if number]
    if not counts:
        return "no findings" if report.objects else "nothing was checked"
    return f"{counted(len(report.findings), 'finding')}: {', '.join(counts)}"


def scope(report: Report) -> str:
    """What was looked at, and what was not."""
    parts = [f"{counted(report.objects, 'object')} in {counted(report.files, 'file')}"]
    parts.append(counted(len(report.checks), "check"))
    for number, words in (
        (len(report.unknown), "could not be looked at"),
        (len(report.ignored), "ignored"),
        (len(report.known), "in the baseline"),
        (report.gone, "of the baseline are gone"),
    ):
        if number:
            parts.append(f"{number} {words}")
    parts += [f"{number} passed over ({reason})" for reason, number in sorted(report.skipped.items())]
    return " · ".join(parts)
