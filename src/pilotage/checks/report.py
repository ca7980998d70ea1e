"""The outcome of a run, before it takes a form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import msgspec

from pilotage.checks.ignores import IdleIgnore
from pilotage.checks.model import Check, Finding, Severity
from pilotage.checks.objects import Place
from pilotage.checks.readers.reading import Problem
from pilotage.checks.rules.rule import IdleRule


class Ignored(msgspec.Struct, frozen=True):
    """A finding that a user has decided to live with.

    Attributes:
        finding: the finding.
        reason: the user's reason.
        place: where the decision stands.
        by_rule: whether a rule of `pilotage.toml` says so, not the object or its file.
    """

    finding: Finding
    reason: str
    place: Place
    by_rule: bool = False


class NotLooked(msgspec.Struct, frozen=True):
    """What a check could not look at.

    Attributes:
        check: id of the check.
        why: one sentence.
        place: the object; None when it could not look at all.
    """

    check: str
    why: str
    place: Place | None = None


class Tally(msgspec.Struct):
    """How often a check said what."""

    findings: int = 0
    passed: int = 0
    not_applicable: int = 0
    unknown: int = 0


class Report(msgspec.Struct):
    """What a run found.

    Attributes:
        checks: the checks that ran, by id.
        findings: worst first.
        ignored: findings that annotations or comments silence.
        known: findings that the baseline holds.
        before: findings that were there before the change in question.
        unknown: what could not be looked at.
        idle_ignores: decisions in the files and on the objects that do nothing.
        idle_rules: rules that do nothing, or whose time is over.
        gone: number of findings of the baseline that are no more.
        tallies: check -> how often it said what; a check without a line had nothing to look at.
        problems: input that could not be read.
        skipped: input that was passed over, counted by reason.
        files: number of files that were looked at.
        objects: number of objects that were checked.
    """

    checks: Mapping[str, Check]
    findings: list[Finding] = msgspec.field(default_factory=list)
    ignored: list[Ignored] = msgspec.field(default_factory=list)
    known: list[Finding] = msgspec.field(default_factory=list)
    before: list[Finding] = msgspec.field(default_factory=list)
    unknown: list[NotLooked] = msgspec.field(default_factory=list)
    idle_ignores: list[IdleIgnore] = msgspec.field(default_factory=list)
    idle_rules: list[IdleRule] = msgspec.field(default_factory=list)
    gone: int = 0
    tallies: dict[str, Tally] = msgspec.field(default_factory=dict)
    problems: list[Problem] = msgspec.field(default_factory=list)
    skipped: Counter[str] = msgspec.field(default_factory=Counter)
    files: int = 0
    objects: int = 0

    def reaches(self, severity: Severity) -> bool:
        """Whether any finding is at least as severe."""
        return any(finding.severity.rank >= severity.rank for finding in self.findings)

    @property
    def grave_problems(self) -> list[Problem]:
        """Input that was asked for and is missing from the answer."""
        return [problem for problem in self.problems if problem.grave]

    @property
    def not_applicable(self) -> int:
        """How often a check had nothing to say about an object that it looked at."""
        return sum(tally.not_applicable for tally in self.tallies.values())

    def counts(self) -> dict[Severity, int]:
        """How many findings of each severity."""
        counted = Counter(finding.severity for finding in self.findings)
        return {severity: counted[severity] for severity in Severity}
