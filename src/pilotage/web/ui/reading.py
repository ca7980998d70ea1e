"""One incident, its older states, and incidents side by side."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from starlette.responses import RedirectResponse, Response

from pilotage.core.errors import InvalidInput
from pilotage.library.insight.related import RelatedAnswer
from pilotage.library.record import Record, read_record
from pilotage.library.stores.protocol import Stored, Tag
from pilotage.web.ui.incident import INTERVALS, REASON_CLASS, Incident, bar, changes
from pilotage.web.ui.rendering import View
from pilotage.web.ui.routing import Found

SIMILAR = 6
MOST_COMPARED = 4
_CANDIDATES = 8
_SILENT = {"", "unknown", "not-stated"}
"""Slugs that say that nothing is known: drawn as such, not as a term."""


def incident(view: View) -> Found | Response:
    """The page of an incident; an alias leads to the id in force."""
    name = view.request.path_params["id"]
    catalogue = view.doors.catalogue
    stored = catalogue.stored(name, view.audience)
    if stored.id != name:
        return RedirectResponse(view.u(f"/incidents/{stored.id}"), 301)
    related = catalogue.related(stored.id, view.audience, view.lang, limit=SIMILAR)
    return "incident.html", context_of(view, stored, related)


def context_of(view: View, stored: Stored, related: RelatedAnswer) -> dict[str, Any]:
    """What the page of an incident shows."""
    shown = seen(view, stored)
    most = max((hit.score for hit in related.hits), default=0.0)
    return {
        "i": shown,
        "r": shown.record,
        "chain": shown.chain(view.t),
        "related": [(hit, bar(hit, most)) for hit in related.hits],
        "reason_class": REASON_CLASS,
        "related_total": related.total,
        "revisions": view.doors.catalogue.store.revisions(stored.id, view.audience),
        "facts": facts(view, shown),
        "components": _slugs(view, shown, "component"),
        "symptoms": _slugs(view, shown, "symptom"),
        "withdrawn": shown.record.status == "withdrawn",
        "looking": view.doors.offer.looking_for(stored.id),
    }


def seen(view: View, stored: Stored) -> Incident:
    """The view of a stored record."""
    return Incident(read_record(stored.document, where=stored.id), stored, view.lang)


def _slugs(view: View, shown: Incident, facet: str) -> list[Tag]:
    slugs: list[str] | None = {
        "domain": shown.record.domain,
        "component": shown.record.components,
        "symptom": shown.record.symptoms,
        "contributing": shown.record.contributing,
        "root_cause": shown.record.causes,
        "detection": [shown.record.detection_kind or ""],
        "severity": [shown.record.severity or ""],
    }[facet]
    slugs = [slug for slug in slugs or [] if slug not in _SILENT]
    return shown.tags(facet, slugs, view.doors.catalogue.vocabulary)


@dataclass(frozen=True)
class Fact:
    """One line of the facts: terms or a text, or why neither is there."""

    name: str
    field: str
    terms: tuple[Tag, ...] = ()
    text: str = ""
    tongue: str = ""


def facts(view: View, shown: Incident) -> list[Fact]:
    """What stands beside the title."""
    # The parts of the impact are in English only; the Korean page tells it in its section.
    tongue = "en" if view.lang == "ko" else ""
    return [
        Fact("root_cause", "root_cause", tuple(_slugs(view, shown, "root_cause"))),
        Fact("domain", "domain", tuple(_slugs(view, shown, "domain"))),
        Fact("detection", "detection", tuple(_slugs(view, shown, "detection"))),
        Fact("severity", "severity", tuple(_slugs(view, shown, "severity"))),
        Fact("region", "impact.region", text=shown.value("impact.region"), tongue=tongue),
        Fact("users", "impact.users", text=shown.value("impact.users"), tongue=tongue),
    ]


def revision(view: View) -> Found | Response:
    """What one revision of a record changed."""
    name = view.request.path_params["id"]
    text = view.request.path_params["number"]
    if not text.isascii() or not text.isdigit() or len(text) > 6:  # noqa: PLR2004 - nothing is revised a million times
        raise InvalidInput(f"'{text[:20]}' is no number of a revision", hint="They are counted from 1.")
    catalogue = view.doors.catalogue
    stored = catalogue.stored(name, view.audience)
    if stored.id != name:
        return RedirectResponse(view.u(f"/incidents/{stored.id}/history/{int(text)}"), 301)
    new = catalogue.revision(name, int(text), view.audience)
    every = catalogue.store.revisions(stored.id, view.audience)
    old = next((one for one in every if one.number == new.number - 1), None)
    return "revision.html", {
        "i": seen(view, stored),
        "old": old,
        "new": new,
        "latest": every[0].number,
        "changes": changes(old, new),
    }


@dataclass(frozen=True)
class Row:
    """One line of the comparison: for each incident its terms or its text."""

    name: str
    terms: tuple[tuple[Tag, ...], ...] = ()
    texts: tuple[str, ...] = ()
    shared: frozenset[Tag] = frozenset()

    @property
    def says(self) -> bool:
        """Whether any of the incidents has something there."""
        return any(self.terms) or any(self.texts)


def compare(view: View) -> Found:
    """Two to four incidents side by side.

    Raises:
        InvalidInput: more than four are given.
        NotFound: one of them is not there.
    """
    names = list(
        dict.fromkeys(name.strip() for name in view.request.query_params.getlist("id") if name.strip())
    )
    if len(names) > MOST_COMPARED:
        raise InvalidInput(f"{len(names)} incidents are too many side by side", hint="Choose two to four.")
    catalogue = view.doors.catalogue
    shown = {
        stored.id: seen(view, stored) for stored in (catalogue.stored(name, view.audience) for name in names)
    }
    incidents = list(shown.values())
    told = rows(view, incidents) if len(incidents) > 1 else []
    candidates = []
    if 0 < len(incidents) < MOST_COMPARED:
        near = catalogue.related(incidents[0].record.id, view.audience, view.lang, limit=_CANDIDATES)
        candidates = [hit for hit in near.hits if hit.id not in shown]
    return "compare.html", {
        "incidents": incidents,
        "rows": [row for row in told if row.says],
        "silent": [row.name for row in told if not row.says],
        "candidates": candidates,
        "most": MOST_COMPARED,
        "pairs_with": lambda ids, other: [("id", id_) for id_ in [*ids, other]],
        "pairs_without": lambda ids, other: [("id", id_) for id_ in ids if id_ != other],
    }


def rows(view: View, incidents: list[Incident]) -> list[Row]:
    """The lines of the comparison."""
    found = []
    for facet in ("root_cause", "component", "symptom", "contributing", "detection", "severity", "domain"):
        terms = tuple(tuple(_slugs(view, shown, facet)) for shown in incidents)
        counted = [tag for tags in terms for tag in tags]
        found.append(Row(facet, terms, shared=frozenset(tag for tag in counted if counted.count(tag) > 1)))
    for place, name in enumerate(INTERVALS):
        found.append(Row(name, texts=tuple(shown.spans()[place].value for shown in incidents)))
    texts: dict[str, Callable[[Record], str]] = {
        "trigger": lambda record: record.trigger.get(view.lang) if record.trigger else "",
        "mechanism": lambda record: "\n\n".join(
            f"{number}. {step.label.get(view.lang)}" for number, step in enumerate(record.mechanism, start=1)
        ),
        "remediation": lambda record: "\n\n".join(
            action.text.get(view.lang) for action in record.remediation or []
        ),
        "lessons": lambda record: record.lessons.get(view.lang) if record.lessons else "",
    }
    found += [
        Row(name, texts=tuple(text(shown.record) for shown in incidents)) for name, text in texts.items()
    ]
    return found
