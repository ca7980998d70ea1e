"""The sections of one incident, each built as a whole."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, get_args

from pilotage.library.record import Action as RecordAction
from pilotage.library.record import Lang, Record
from pilotage.library.stores.protocol import Tag
from pilotage.library.terms import Vocabulary, tags_of
from pilotage.web.mcp.answers import Term
from pilotage.web.mcp.details import (
    Action,
    Cause,
    Causes,
    FieldBasis,
    Impact,
    MechanismStep,
    Moment,
    Overview,
    Section,
    SourceOfFacts,
    Timing,
)
from pilotage.web.mcp.reading import clean, said, title_of

SECTIONS: tuple[Section, ...] = get_args(Section)
"""In the order in which the budget takes them: what one on call needs comes first."""

CONCISE: tuple[Section, ...] = ("overview", "tags", "timing", "remediation", "lessons", "sources")


_FIELD = re.compile(r"[a-z_]{1,30}(\.[a-z_]{1,30})?")


def _optional(text: str | None) -> str | None:
    return clean(text) if text and text != "unknown" else None


def _overview(record: Record, lang: Lang) -> Overview:
    return Overview(
        title=title_of(record, lang),
        organisation=_optional(record.org),
        summary=said(record.summary, lang),
        withdrawn_reason=said(record.withdrawn_reason, lang),
    )


def _timing(record: Record, lang: Lang) -> Timing | None:
    times = record.timeline
    note = said(record.times, lang)
    if not note and not (times and (times.detected_after or times.mitigated_after or times.resolved_after)):
        return None
    return Timing(
        detected_after=_optional(times.detected_after) if times else None,
        mitigated_after=_optional(times.mitigated_after) if times else None,
        resolved_after=_optional(times.resolved_after) if times else None,
        note=note,
    )


def _actions(actions: list[RecordAction] | None, lang: Lang) -> list[Action]:
    return [
        Action(kind=_optional(one.kind), status=_optional(one.status), text=said(one.text, lang) or "")
        for one in actions or []
    ]


def _sources(record: Record, _: Lang) -> list[SourceOfFacts]:
    return [
        SourceOfFacts(
            url=clean(one.url),
            kind=clean(one.kind),
            title=_optional(one.title),
            archived=_optional(one.archived),
        )
        for one in record.sources or []
    ]


def _causes(record: Record, lang: Lang) -> Causes | None:
    roots = [Cause(kind=clean(one.kind), text=said(one.text, lang)) for one in record.root_causes]
    if not roots and record.root_cause:
        roots = [Cause(kind=clean(record.root_cause))]
    noted = [Cause(kind=_optional(one.kind), text=said(one.text, lang)) for one in record.contributing_notes]
    spoken = {cause.kind for cause in noted}
    noted += [Cause(kind=clean(slug)) for slug in record.contributing or [] if clean(slug) not in spoken]
    return Causes(root_causes=roots, contributing=noted) if roots or noted else None


def _mechanism(record: Record, lang: Lang) -> list[MechanismStep]:
    return [
        MechanismStep(
            id=step.id,
            kind=step.kind,
            label=said(step.label, lang) or "",
            text=said(step.text, lang) or "",
            leads_to=step.leads_to or None,
        )
        for step in record.mechanism
    ]


def _impact(record: Record, lang: Lang) -> Impact | None:
    impact = record.impact
    if impact is None:
        return None
    found = Impact(
        scope=_optional(impact.scope),
        users=_optional(impact.users),
        region=_optional(impact.region),
        text=said(impact.text, lang),
    )
    return found if found.model_dump(exclude_none=True) else None


def _timeline(record: Record, lang: Lang) -> list[Moment]:
    return [Moment(at=_optional(event.at), text=said(event.text, lang) or "") for event in record.events]


def _provenance(record: Record, _: Lang) -> dict[str, FieldBasis]:
    return {
        clean(name): FieldBasis(
            state=basis.state,
            confidence=basis.confidence,
            source=basis.source,
            where=_optional(basis.where),
            note=_optional(basis.note),
        )
        for name, basis in record.provenance.items()
    }


_BUILDERS: dict[Section, Callable[[Record, Lang], Any]] = {
    "overview": _overview,
    "timing": _timing,
    "remediation": lambda record, lang: _actions(record.remediation, lang),
    "lessons": lambda record, lang: said(record.lessons, lang),
    "sources": _sources,
    "causes": _causes,
    "mechanism": _mechanism,
    "symptoms": lambda record, lang: said(record.symptoms_text, lang),
    "trigger": lambda record, lang: said(record.trigger, lang),
    "detection": lambda record, lang: said(record.detection, lang),
    "impact": _impact,
    "follow_up": lambda record, lang: _actions(record.action_items, lang),
    "timeline": _timeline,
    "disagreement": lambda record, lang: said(record.disagreement, lang),
    "provenance": _provenance,
}


def section_of(name: Section, record: Record, lang: Lang, vocabulary: Vocabulary) -> Any:
    """The content of a section; None when the record has nothing there. `related` is not made here."""
    if name == "tags":
        return _tags(record, lang, vocabulary)
    return _BUILDERS[name](record, lang) or None


def _tags(record: Record, lang: Lang, vocabulary: Vocabulary) -> list[Term] | None:
    shown: list[Tag] = [
        (facet, slug)
        for facet, slug in tags_of(record, vocabulary)
        if facet not in {"year", "status", "source_kind"} and slug != "unknown"
    ]
    return [
        Term(facet=facet, slug=clean(slug), label=clean(vocabulary.facet_label(facet, slug, lang)))
        for facet, slug in shown
    ] or None


def not_stated(record: Record) -> list[str] | None:
    """Fields that somebody looked for in vain."""
    known = {name.partition(".")[0] for name in Record.model_fields}
    return [
        name
        for name, basis in sorted(record.provenance.items())
        if basis.state == "not_stated" and _FIELD.fullmatch(name) and name.partition(".")[0] in known
    ] or None
