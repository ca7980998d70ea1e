"""The shape of a report as JSON. The published schema is made of these types, so the two cannot differ."""

from __future__ import annotations

from typing import Any, Literal

from typing_extensions import TypedDict


class IncidentValue(TypedDict):
    """An incident that a finding refers to."""

    id: str
    """Id of the record in the library."""

    title: str | None
    """What happened, one line; null where the library does not hold it."""

    organisation: str | None
    """Whose it was."""

    year: str | None
    """When; empty where it is not known."""

    exact: bool
    """Whether this very gap caused it; else it shows the same mechanism."""


class WhereValue(TypedDict):
    """A place in parts."""

    file: str | None
    """File as it was asked for; null for an object of a live cluster."""

    line: int | None
    """Line from 1; null where it is not known."""

    column: int | None
    """Column from 1; null where it is not known."""

    object: str | None
    """`Kind namespace/name`."""

    path: str | None
    """The way to the value inside the object, dotted."""


class FindingValue(WhereValue):
    """A finding."""

    check: str
    """Id of the check."""

    title: str
    """What is wrong, in a few words, the same for every finding of the check."""

    severity: Literal["critical", "high", "medium", "low"]
    """How bad it would be, with all decisions of the user applied."""

    confidence: Literal["high", "medium", "low"]
    """How sure the reading is."""

    place: str
    """`file:line:column`, or the object and the path where there is no file."""

    message: str
    """What is wrong here."""

    evidence: list[str]
    """What was read, an item each."""

    fix: str
    """What to write instead."""

    patch: list[dict[str, Any]]
    """The change of the object as a JSON Patch, where it is mechanical; else empty."""

    incidents: list[IncidentValue]
    """What such a gap did to others; empty where the check rests on documentation only."""

    related: list[str]
    """Places of other objects that it rests on."""

    count: int
    """For how many objects it stands."""

    fingerprint: str
    """Identifies it from run to run: no line numbers and no file names are in it."""


class IgnoredValue(FindingValue):
    """A finding that somebody decided to live with."""

    reason: str
    """The reason that was given."""

    ignored_at: str
    """Where the decision stands."""


class UnknownValue(TypedDict):
    """What a check could not look at."""

    check: str
    """Id of the check."""

    why: str
    """Why it could not look."""

    place: str | None
    """The object; null where it could not look at all."""


class ProblemValue(WhereValue):
    """Input that could not be read."""

    place: str
    """Where, as one text."""

    message: str
    """What is wrong with it."""

    trouble: Literal["unreadable", "broken", "template"]
    """Of what kind."""

    grave: bool
    """Whether something that was asked for is missing from the answer (exit code 3)."""


class IdleIgnoreValue(TypedDict):
    """An annotation or a comment that silences nothing."""

    check: str
    """The id that it names."""

    place: str
    """Where it stands."""

    why: str
    """Why it does nothing."""


class IdleRuleValue(TypedDict):
    """A rule of `pilotage.toml` that does nothing, or whose time is over."""

    rule: str
    """What it is about."""

    place: str
    """Where it stands."""

    why: str
    """Why it does nothing."""


class BaselineValue(TypedDict):
    """The baseline in figures."""

    known: int
    """Findings that it holds."""

    gone: int
    """Findings of it that are no more."""


class TallyValue(TypedDict):
    """How often a check said what."""

    findings: int
    """Gaps, ignored ones among them."""

    passed: int
    """Objects that are in order."""

    not_applicable: int
    """Objects about which it has nothing to say."""

    unknown: int
    """Objects at which it could not look."""


class SummaryValue(TypedDict):
    """The run in figures."""

    severities: dict[Literal["critical", "high", "medium", "low"], int]
    """Findings by severity."""

    files: int
    """Files that were looked at."""

    objects: int
    """Objects that were checked."""

    skipped: dict[str, int]
    """Input that was passed over, by reason."""

    checks: dict[str, TallyValue | None]
    """Every check that ran; null where there was nothing that it looks at."""


class ReportValue(TypedDict):
    """What `pilotage check --output json` writes."""

    version: Literal[1]
    """Of this form; a new one when a key changes its meaning or goes. New keys do not change it."""

    findings: list[FindingValue]
    """Worst first."""

    ignored: list[IgnoredValue]
    """Findings that somebody decided to live with."""

    unknown: list[UnknownValue]
    """What could not be looked at. It is no pass."""

    problems: list[ProblemValue]
    """Input that could not be read."""

    idle_ignores: list[IdleIgnoreValue]
    """Annotations and comments without effect."""

    idle_rules: list[IdleRuleValue]
    """Rules of `pilotage.toml` without effect."""

    baseline: BaselineValue
    """What the baseline took away."""

    before: int
    """Findings that were there before the change (`--changed-since`), and are not listed."""

    summary: SummaryValue
    """The run in figures."""
