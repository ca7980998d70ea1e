"""Runs checks over a scene and makes findings of their gaps."""

from __future__ import annotations

import fnmatch
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from pilotage.checks.baseline import Baseline, fingerprint
from pilotage.checks.ignores import Ignores
from pilotage.checks.model import Answer, Check, Cited, Finding, Gap, NotApplicable, Pass, Severity, Unknown
from pilotage.checks.objects import KubeObject, Subject
from pilotage.checks.readers.reading import Reading
from pilotage.checks.report import Ignored, NotLooked, Report, Tally
from pilotage.checks.scene import Scene
from pilotage.core.errors import UnknownTerm
from pilotage.core.text import did_you_mean

Listener = Callable[[Check, Answer], None]


@dataclass(frozen=True)
class RunSettings:
    """How to run.

    Attributes:
        select: ids, globs of ids or names of families; empty means all.
        ignore: likewise, what to leave out.
        severities: id -> severity instead of the check's.
        baseline: findings of before.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    severities: Mapping[str, Severity] = field(default_factory=dict)
    baseline: Baseline | None = None


def chosen(checks: Mapping[str, Check], settings: RunSettings) -> dict[str, Check]:
    """The checks that the settings choose.

    Raises:
        UnknownTerm: a word names no check; the hint names the nearest ones.
    """
    wanted = _named(checks, settings.select) if settings.select else set(checks)
    wanted -= _named(checks, settings.ignore)
    for name in settings.severities:
        _named(checks, (name,))
    return {name: one for name, one in checks.items() if name in wanted}


def _named(checks: Mapping[str, Check], words: Iterable[str]) -> set[str]:
    found: set[str] = set()
    for word in words:
        hits = {one.id for one in checks.values() if fnmatch.fnmatchcase(one.id, word) or one.family == word}
        if not hits:
            known = [*checks, *{one.family for one in checks.values()}]
            raise UnknownTerm(
                f"'{word}' names no check", hint=did_you_mean(word, known) or "See: pilotage check list."
            )
        found |= hits
    return found


def run(
    checks: Mapping[str, Check],
    scene: Scene,
    settings: RunSettings | None = None,
    *,
    reading: Reading | None = None,
    listener: Listener | None = None,
) -> Report:
    """Runs the chosen checks.

    Args:
        checks: all checks by id.
        scene: what to look at.
        settings: which checks, with which severities.
        reading: where the scene comes from, for the report.
        listener: is told every answer of every check.
    """
    settings = settings or RunSettings()
    running = chosen(checks, settings)
    report = Report(running, objects=sum(1 for _ in scene.subjects()))
    if reading is not None:
        report.problems, report.skipped, report.files = reading.problems, reading.skipped, reading.files
    ignores = Ignores(scene, checks)
    kinds = scene.kinds()
    for one in running.values():
        _Run(one, _Around(scene, settings, report, ignores, listener)).look(kinds)
    report.idle_ignores = ignores.idle(running)
    report.findings.sort(key=_order)
    if settings.baseline is not None:
        report.gone = settings.baseline.gone
    return report


def _order(finding: Finding) -> tuple[object, ...]:
    place = finding.place
    return (
        -finding.severity.rank,
        finding.check,
        place.file,
        place.line,
        place.column,
        place.object,
        place.path,
    )


@dataclass(frozen=True)
class _Around:
    scene: Scene
    settings: RunSettings
    report: Report
    ignores: Ignores
    listener: Listener | None


class _Run:
    """One check over one scene."""

    def __init__(self, check: Check, around: _Around) -> None:
        self.check = check
        self.scene = around.scene
        self.settings = around.settings
        self.report = around.report
        self.ignores = around.ignores
        self.listener = around.listener
        self.tally = Tally()
        self.ordinals: Counter[tuple[str, str, str]] = Counter()
        self.of_owner: dict[tuple[str, str], int] = {}
        self.found: list[Finding] = []

    def look(self, kinds: set[str]) -> None:
        """Asks the check and files its answers."""
        check = self.check
        hidden = [kind for kind in check.needs if kind in self.scene.blind]
        about_hidden = [kind for kind in check.about if kind in self.scene.blind]
        for kind in (*hidden, *about_hidden):
            self._take(Unknown(f"{kind}: {self.scene.blind[kind]}"))
        if not hidden and kinds & set(check.about):
            for answer in check.look(self.scene):
                self._take(answer)
        if any((self.tally.findings, self.tally.passed, self.tally.not_applicable, self.tally.unknown)):
            self.report.tallies[check.id] = self.tally
        self._file()

    def _file(self) -> None:
        for finding in self.found:
            if self.settings.baseline is not None and self.settings.baseline.takes(finding):
                self.report.known.append(finding)
            else:
                self.report.findings.append(finding)

    def _take(self, answer: Answer) -> None:
        if self.listener is not None:
            self.listener(self.check, answer)
        if isinstance(answer, Gap):
            self._gap(answer)
        elif isinstance(answer, Pass):
            self.tally.passed += 1
        elif isinstance(answer, NotApplicable):
            self.tally.not_applicable += 1
        else:
            self.tally.unknown += 1
            place = answer.subject.place(answer.path) if answer.subject is not None else None
            self.report.unknown.append(NotLooked(self.check.id, answer.why, place))

    def _gap(self, gap: Gap) -> None:
        self.tally.findings += 1
        ignore = self.ignores.match(self.check.id, gap)
        if ignore is not None:
            self.report.ignored.append(Ignored(self._finding(gap), ignore.reason, ignore.place))
            return
        owner = _absent_owner(self.scene, gap.subject)
        stable = gap.subject.stable_path(gap.path)
        if owner and (owner, stable) in self.of_owner:
            position = self.of_owner[owner, stable]
            self.found[position] = replace(self.found[position], count=self.found[position].count + 1)
            return
        self.of_owner[owner, stable] = len(self.found)
        self.found.append(self._finding(gap))

    def _finding(self, gap: Gap) -> Finding:
        check, subject = self.check, gap.subject
        seen = (subject.source.name if subject.source else "", subject.key, subject.stable_path(gap.path))
        ordinal = self.ordinals[seen]
        self.ordinals[seen] += 1
        cited = check.cited
        if gap.incidents is not None:
            cited = tuple(Cited(one, exact=True) for one in gap.incidents)
        return Finding(
            check=check.id,
            title=check.title,
            severity=self._severity(gap),
            confidence=gap.confidence,
            place=subject.place(gap.path),
            subject=subject.key,
            message=gap.message,
            evidence=gap.evidence,
            fix=gap.fix or check.fix,
            patch=gap.patch,
            incidents=cited,
            fingerprint=fingerprint(check.id, subject, gap.path, ordinal),
            related=tuple(one.place() for one in gap.related),
        )

    def _severity(self, gap: Gap) -> Severity:
        if self.check.id in self.settings.severities:
            return self.settings.severities[self.check.id]
        stated = gap.severity or self.check.severity
        source = gap.subject.source
        if source is not None and source.chart_defaults and self.check.chart_severity is not None:
            return min(stated, self.check.chart_severity, key=lambda one: one.rank)
        return stated


def _absent_owner(scene: Scene, subject: Subject) -> str:
    """The name of a controller that is not in the scene, whose pods shall not each have a finding; else empty."""
    if not isinstance(subject, KubeObject):
        return ""
    last = scene.owner(subject)
    controller = last.controller()
    return f"{controller[0]} {last.namespace}/{controller[1]}" if controller is not None else ""
