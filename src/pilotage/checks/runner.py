"""Runs checks over a scene and makes findings of their gaps."""

from __future__ import annotations

import fnmatch
from collections import Counter
from collections.abc import Callable, Iterable, Mapping

import msgspec

from pilotage.checks.baseline import Baseline, fingerprint
from pilotage.checks.environments import exercises, in_use, taught
from pilotage.checks.generated import where_to_mend
from pilotage.checks.ignores import Ignore, Ignores
from pilotage.checks.model import (
    ANYTHING,
    Answer,
    Check,
    Cited,
    Finding,
    Gap,
    NotApplicable,
    Pass,
    Severity,
    Unknown,
)
from pilotage.checks.objects import KubeObject, Subject
from pilotage.checks.readers.reading import Reading
from pilotage.checks.report import Ignored, NotLooked, Report, Tally
from pilotage.checks.rules.rule import Rule, RuleBook
from pilotage.checks.scene import Scene
from pilotage.core.errors import UnknownTerm
from pilotage.core.text import did_you_mean

Listener = Callable[[Check, Answer], None]


class RunSettings(msgspec.Struct, frozen=True):
    """How to run.

    Attributes:
        select: ids, globs of ids or names of families; empty means all.
        ignore: likewise, what to leave out.
        severities: id -> severity, whatever anything else says.
        usual_severities: id -> severity instead of the check's own; a rule for the object beats it.
        baseline: findings that a file holds.
        before: findings that were there before a change.
        rules: what a team has decided about single objects.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    severities: Mapping[str, Severity] = msgspec.field(default_factory=dict)
    usual_severities: Mapping[str, Severity] = msgspec.field(default_factory=dict)
    baseline: Baseline | None = None
    before: Baseline | None = None
    rules: RuleBook = msgspec.field(default_factory=RuleBook)


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
            each = "Name each by itself: --select a --select b." if "," in word else ""
            hint = each or did_you_mean(word, known) or "See: pilotage check list."
            raise UnknownTerm(f"'{word}' names no check", hint=hint)
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
    asked = frozenset(reading.asked if reading is not None else ())
    solved = exercises(one.source.shown for one in scene.objects if one.source is not None)
    around = _Around(scene, settings, report, Ignores(scene, checks), listener, asked, solved)
    kinds = scene.kinds()
    raw: list[_Raw] = []
    for one in running.values():
        raw += _Run(one, around).look(kinds)
    _file(raw, scene, report, settings)
    report.idle_ignores = around.ignores.idle(running)
    report.idle_rules = settings.rules.idle(running.values(), scene)
    if settings.baseline is not None:
        report.gone = settings.baseline.gone
    return report


class _Raw(msgspec.Struct):
    """A gap that is to become a finding."""

    check: Check
    gap: Gap
    severity: Severity
    fingerprint: str
    ignore: Ignore | Rule | None
    count: int = 1

    @property
    def document(self) -> tuple[str, int]:
        """Which document its subject comes from; by names, so that two runs agree."""
        document = self.gap.subject.document if isinstance(self.gap.subject, KubeObject) else None
        return (document.file.name, document.start) if document is not None else ("", 0)

    def finding(self, scene: Scene) -> Finding:
        """The finding, with its place."""
        check, gap = self.check, self.gap
        fix = f"{gap.fix or check.fix} {where_to_mend(scene, gap.subject)}".rstrip()
        cited = check.cited
        if gap.incidents is not None:
            cited = tuple(Cited(one, exact=True) for one in gap.incidents)
        return Finding(
            check=check.id,
            title=check.title,
            severity=self.severity,
            confidence=gap.confidence,
            place=gap.subject.place(gap.path),
            subject=gap.subject.key,
            message=gap.message,
            evidence=gap.evidence,
            fix=fix,
            patch=gap.patch,
            incidents=cited,
            fingerprint=self.fingerprint,
            related=tuple(one.place() for one in gap.related),
            count=self.count,
        )


def _file(raw: list[_Raw], scene: Scene, report: Report, settings: RunSettings) -> None:
    # Places are found by reading a document again: all of one document together, so that each is read once.
    for one in _once(sorted(raw, key=lambda one: one.document)):
        finding = one.finding(scene)
        if one.ignore is not None:
            report.ignored.append(
                Ignored(finding, one.ignore.reason, one.ignore.place, isinstance(one.ignore, Rule))
            )
        elif settings.before is not None and settings.before.takes(finding):
            report.before.append(finding)
        elif settings.baseline is not None and settings.baseline.takes(finding):
            report.known.append(finding)
        else:
            report.findings.append(finding)
    for listed in (report.findings, report.before, report.known):
        listed.sort(key=_order)
    report.ignored.sort(key=lambda one: _order(one.finding))


def _once(raw: list[_Raw]) -> list[_Raw]:
    """One of several gaps that are one line of one file, rendered for several overlays."""
    kept: dict[tuple[object, ...], _Raw] = {}
    for one in raw:
        source = one.gap.subject.source
        if source is None or source.origin is None:
            kept[id(one),] = one
            continue
        key = (source.shown, one.fingerprint, one.severity, one.ignore is None)
        if kept.setdefault(key, one) is not one:
            kept[key].count += one.count
    return list(kept.values())


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


class _Around(msgspec.Struct, frozen=True):
    scene: Scene
    settings: RunSettings
    report: Report
    ignores: Ignores
    listener: Listener | None
    asked: frozenset[str]
    exercises: frozenset[str]


class _Run:
    """One check over one scene."""

    def __init__(self, check: Check, around: _Around) -> None:
        self.check = check
        self.scene = around.scene
        self.settings = around.settings
        self.report = around.report
        self.ignores = around.ignores
        self.listener = around.listener
        self.asked = around.asked
        self.exercises = around.exercises
        self.tally = Tally()
        self.ordinals: Counter[tuple[str, str, str]] = Counter()
        self.of_owner: dict[tuple[str, str], _Raw] = {}
        self.found: list[_Raw] = []

    def look(self, kinds: set[str]) -> list[_Raw]:
        """Asks the check, counts its answers and gives its gaps."""
        check = self.check
        hidden = [kind for kind in check.needs if kind in self.scene.blind]
        about_hidden = [kind for kind in check.about if kind in self.scene.blind and kind not in hidden]
        for kind in (*hidden, *about_hidden):
            self._take(Unknown(f"{kind}: {self.scene.blind[kind]}"))
        if not hidden and (ANYTHING in check.about or kinds & set(check.about)):
            self.scene.asked.clear()
            for answer in check.look(self.scene):
                self._take(answer)
            for kind in sorted(self.scene.asked & self.scene.blind.keys() - set(about_hidden)):
                self._take(Unknown(f"{kind}: {self.scene.blind[kind]}"))
        if any((self.tally.findings, self.tally.passed, self.tally.not_applicable, self.tally.unknown)):
            self.report.tallies[check.id] = self.tally
        return self.found

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
        subject = gap.subject
        stable = subject.stable_path(gap.path)
        ruled, severity = self.settings.rules.decide(self.check, subject, self.scene)
        ignore = self.ignores.match(self.check.id, gap) or ruled
        owner = _absent_owner(self.scene, subject)
        if ignore is None and owner and (owner, stable) in self.of_owner:
            self.of_owner[owner, stable].count += 1
            return
        seen = (subject.source.name if subject.source else "", subject.key, stable)
        ordinal = self.ordinals[seen]
        self.ordinals[seen] += 1
        mark = fingerprint(self.check.id, subject, gap.path, ordinal)
        raw = _Raw(self.check, gap, self._severity(gap, severity), mark, ignore)
        self.found.append(raw)
        if ignore is None:
            self.of_owner[owner, stable] = raw

    def _severity(self, gap: Gap, ruled: Severity | None) -> Severity:
        for said in (self.settings.severities, {self.check.id: ruled}, self.settings.usual_severities):
            if (decided := said.get(self.check.id)) is not None:
                return decided
        stated = gap.severity or self.check.severity
        source = gap.subject.source
        if source is None:
            return stated
        most = [stated]
        if source.chart_defaults:
            most.append(self.check.chart_severity or stated)
        if self.scene.unbuilt.forgets(source):
            most.append(stated.lowered())
        if not self.check.breaks and not in_use(source.shown, self.asked):
            most.append(self.check.chart_severity or stated.lowered())
        lesson = not self.check.breaks and taught(source.shown, self.asked)
        if lesson or source.shown in self.exercises:
            most.append(Severity.LOW)
        return min(most, key=lambda one: one.rank)


def _absent_owner(scene: Scene, subject: Subject) -> str:
    """A controller that is not in the scene, whose pods shall not each have a finding; else empty."""
    if not isinstance(subject, KubeObject):
        return ""
    last = scene.owner(subject)
    controller = last.controller()
    return f"{controller[0]} {last.namespace}/{controller[1]}" if controller is not None else ""
