"""Rules: which findings of which objects are ignored or get another severity, why, and until when."""

from __future__ import annotations

import datetime as dt
import fnmatch
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from pilotage.checks.model import Check, Severity
from pilotage.checks.objects import KubeObject, Place, Subject
from pilotage.checks.rules.patterns import path_matches
from pilotage.checks.scene import Scene


class Rule(msgspec.Struct, frozen=True):
    """One decision of a team.

    An empty tuple of patterns means any.

    Attributes:
        checks: ids, globs of ids, families.
        paths: patterns of files, relative to the folder of the file that holds the rule.
        kinds: globs of kinds.
        namespaces: globs of namespaces.
        names: globs of names.
        severity: the severity that the findings get; None ignores them.
        reason: why.
        expires: the last day on which it holds; None means no end.
        place: where it stands.
    """

    checks: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    namespaces: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    severity: Severity | None = None
    reason: str = ""
    expires: dt.date | None = None
    place: Place = msgspec.field(default_factory=Place)

    def expired(self, today: dt.date) -> bool:
        """Whether its last day has passed."""
        return self.expires is not None and today > self.expires

    def speaks_of(self, check: Check) -> bool:
        """Whether it is about a check."""
        return not self.checks or any(
            fnmatch.fnmatchcase(check.id, word) or check.family == word for word in self.checks
        )

    def means(self, subject: Subject, folder: Path) -> bool:
        """Whether it is about an object."""
        kind, namespace, name = identity(subject)
        return (
            _any(kind, self.kinds)
            and _any(namespace, self.namespaces)
            and _any(name, self.names)
            and self._means_file(subject, folder)
        )

    def _means_file(self, subject: Subject, folder: Path) -> bool:
        if not self.paths:
            return True
        if subject.source is None:
            return False
        path = os.path.relpath(subject.source.shown, folder).replace(os.sep, "/")
        return any(path_matches(path, glob) for glob in self.paths)

    @property
    def words(self) -> str:
        """What it is about, in one line."""
        parts = [" ".join(self.checks) or "every check"]
        for name, values in (
            ("paths", self.paths),
            ("kinds", self.kinds),
            ("namespaces", self.namespaces),
            ("names", self.names),
        ):
            if values:
                parts.append(f"{name} {' '.join(values)}")
        return ", ".join(parts)


def _any(value: str, globs: tuple[str, ...]) -> bool:
    return not globs or any(fnmatch.fnmatchcase(value, glob) for glob in globs)


def identity(subject: Subject) -> tuple[str, str, str]:
    """Kind, namespace and name of what a finding is about; of a proxy's section its first and other words."""
    if isinstance(subject, KubeObject):
        return subject.kind, subject.namespace, subject.name
    kind, _, rest = subject.key.partition(" ")
    namespace, slash, name = rest.partition("/")
    return (kind, namespace, name) if slash else (kind, "", rest)


class IdleRule(msgspec.Struct, frozen=True):
    """A rule that does nothing, or whose time is over.

    Attributes:
        rule: the rule.
        why: why it does nothing.
    """

    rule: Rule
    why: str


class RuleBook:
    """The rules of a run; remembers which of them were of use.

    Args:
        rules: in the order of the file; the first that ignores wins, of severities the last.
        folder: where the file lies, to which its paths are relative.
        today: the day by which rules expire.
        whole: whether the run covers all that rules can mean, so that one that means nothing is idle.
    """

    def __init__(
        self,
        rules: Iterable[Rule] = (),
        *,
        folder: Path | None = None,
        today: dt.date = dt.date.min,
        whole: bool = True,
    ) -> None:
        self._rules = list(rules)
        self._folder = folder if folder is not None else Path()
        self._today = today
        self._whole = whole
        self._hits = [0] * len(self._rules)

    def decide(self, check: Check, subject: Subject, scene: Scene) -> tuple[Rule | None, Severity | None]:
        """The rule that ignores a finding, else None; and the severity that rules give it, else None."""
        ignoring: Rule | None = None
        severity: Severity | None = None
        for number in self._about(check, subject, scene):
            rule = self._rules[number]
            self._hits[number] += 1
            if rule.expired(self._today):
                continue
            if rule.severity is not None:
                severity = rule.severity
            elif ignoring is None:
                ignoring = rule
        return ignoring, severity

    def _about(self, check: Check, subject: Subject, scene: Scene) -> Iterator[int]:
        subjects = [subject]
        if isinstance(subject, KubeObject) and (owner := scene.owner(subject)) is not subject:
            subjects.append(owner)
        for number, rule in enumerate(self._rules):
            if rule.speaks_of(check) and any(rule.means(one, self._folder) for one in subjects):
                yield number

    def idle(self, ran: Iterable[Check], scene: Scene) -> list[IdleRule]:
        """Rules whose time is over, and rules that met nothing though their checks ran."""
        ran = list(ran)
        found = []
        for rule, hits in zip(self._rules, self._hits, strict=True):
            if rule.expired(self._today):
                back = f"{hits} findings are back" if hits != 1 else "1 finding is back"
                found.append(IdleRule(rule, f"it expired on {rule.expires}: {back if hits else 'remove it'}"))
            elif not hits and any(rule.speaks_of(one) for one in ran) and (why := self._why(rule, scene)):
                found.append(IdleRule(rule, why))
        return found

    def _why(self, rule: Rule, scene: Scene) -> str:
        if scene.live and rule.paths:
            return ""
        if any(rule.means(one, self._folder) for one in scene.subjects()):
            return "there is no such finding any more"
        return "it means nothing that was checked" if self._whole else ""
