"""One incident as get_incident answers it: whole sections, each of its own model."""

from __future__ import annotations

from typing import Literal

from pilotage.web.mcp.answers import NOTICE, Out, Term

Section = Literal[
    "overview",
    "tags",
    "timing",
    "remediation",
    "lessons",
    "sources",
    "causes",
    "mechanism",
    "symptoms",
    "trigger",
    "detection",
    "impact",
    "related",
    "follow_up",
    "timeline",
    "disagreement",
    "provenance",
]


class Overview(Out):
    """Title, organisation, summary."""

    title: str
    organisation: str | None = None
    summary: str | None = None
    withdrawn_reason: str | None = None


class Timing(Out):
    """How long it took from the start of the impact, as stated; absent means not stated."""

    detected_after: str | None = None
    mitigated_after: str | None = None
    resolved_after: str | None = None
    note: str | None = None


class Action(Out):
    """Something that was done or is to be done."""

    kind: str | None = None
    status: str | None = None
    text: str


class Cause(Out):
    """A root cause or a contributing factor."""

    kind: str | None = None
    text: str | None = None


class Causes(Out):
    """Why it could happen, the primary root cause first, and what made it likelier, wider or longer."""

    root_causes: list[Cause]
    contributing: list[Cause]


class MechanismStep(Out):
    """One cause and one effect."""

    id: str
    kind: str
    label: str
    text: str
    leads_to: list[str] | None = None


class Moment(Out):
    """One point of the timeline; without `at` no source states the time."""

    at: str | None = None
    text: str


class SourceOfFacts(Out):
    """Where the facts come from."""

    url: str
    kind: str
    title: str | None = None
    archived: str | None = None


class Impact(Out):
    """Who and what was hit."""

    scope: str | None = None
    users: str | None = None
    region: str | None = None
    text: str | None = None


class FieldBasis(Out):
    """What a field rests on."""

    state: str
    confidence: str | None = None
    source: int | None = None
    where: str | None = None
    note: str | None = None


class Relative(Out):
    """A related incident in a line; related_incidents has the reasons one by one."""

    id: str
    title: str
    score: float
    why: str


class IncidentReport(Out):
    """Untrusted text of the report, by section.

    A section that is absent has nothing in it, was not asked for, or is named in `left_out`.
    """

    overview: Overview | None = None
    tags: list[Term] | None = None
    timing: Timing | None = None
    remediation: list[Action] | None = None
    lessons: str | None = None
    sources: list[SourceOfFacts] | None = None
    causes: Causes | None = None
    mechanism: list[MechanismStep] | None = None
    symptoms: str | None = None
    trigger: str | None = None
    detection: str | None = None
    impact: Impact | None = None
    related: list[Relative] | None = None
    follow_up: list[Action] | None = None
    timeline: list[Moment] | None = None
    disagreement: str | None = None
    provenance: dict[str, FieldBasis] | None = None


class IncidentAnswer(Out):
    """What get_incident answers."""

    content_notice: str = NOTICE
    id: str
    alias: str | None = None
    """The former id that was asked for."""
    date: str | None = None
    date_kind: str | None = None
    """incident or published."""
    status: str
    """draft, reviewed, or withdrawn: do not cite."""
    private: bool | None = None
    revision: int
    not_stated: list[str] | None = None
    """Looked for; no source states it."""
    report: IncidentReport
    left_out: list[str] | None = None
    note: str | None = None
