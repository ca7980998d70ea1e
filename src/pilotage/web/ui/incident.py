"""An incident as its page tells it: what is known of each field, and what that rests on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from pilotage.library.entry import paragraphs
from pilotage.library.insight.related import RelatedHit
from pilotage.library.interval import format_interval, parse_interval
from pilotage.library.record import Lang, Provenance, Record, Text
from pilotage.library.stores.protocol import Revision, Stored, Tag
from pilotage.library.terms import FACETS, Vocabulary
from pilotage.web.ui.chain import Graph, graph_of
from pilotage.web.ui.chain_tall import Tall, tall
from pilotage.web.ui.chain_wide import Wide, wide
from pilotage.web.ui.text import date_attribute, date_text, moment
from pilotage.web.ui.titles import title_of
from pilotage.web.ui.words import Words

Silence = Literal["not_stated", "open"]
"""Why a field is empty: somebody looked and no source speaks, or nobody has looked yet."""

INTERVALS = ("detected_after", "mitigated_after", "resolved_after")
_ASKED = (
    "org", "date", "severity", "domain", "components", "symptoms", "root_cause", "contributing", "summary",
    "symptoms_text", "trigger", "detection", "mechanism", "events", "impact.scope", "impact.users",
    "impact.region",
    "timeline.detected_after", "timeline.mitigated_after", "timeline.resolved_after", "remediation",
    "action_items", "lessons",
)  # fmt: skip
"""What a reader would like to know of every incident; the strip beside the page counts it."""


@dataclass(frozen=True)
class Rests:
    """What a field rests on.

    Attributes:
        key: of its popover.
        state: `stated`, `editorial` or `not_stated`.
        provenance: the rest.
    """

    key: str
    state: str
    provenance: Provenance

    @property
    def mark(self) -> str:
        """A full, a half or an empty circle."""
        return {"stated": "stated", "editorial": "part"}.get(self.state, "none")


@dataclass(frozen=True)
class Span:
    """One interval: what the source says, in the shortest form, or why nothing stands there."""

    name: str
    value: str
    silence: Silence


@dataclass(frozen=True)
class Point:
    """One point of the timeline."""

    text: Text
    date: str
    clock: str
    datetime: str
    words: str

    @property
    def mark(self) -> str:
        """How exactly its time is told."""
        return "" if self.datetime else "is-part" if self.words else "is-part is-open"


@dataclass(frozen=True)
class Chain:
    """The mechanism, drawn twice and told once."""

    graph: Graph
    wide: Wide
    tall: Tall
    line: str
    note: str


@dataclass
class Incident:
    """The view of one record.

    Attributes:
        record: the record.
        stored: as it lies in the store.
        lang: language of the page.
    """

    record: Record
    stored: Stored
    lang: Lang
    rests: dict[str, Rests] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """The title in the page's language, else in the other one."""
        return title_of(self.record, self.lang)

    @property
    def lead(self) -> str:
        """The first paragraph of the summary."""
        return next(iter(self.story), "")

    @property
    def story(self) -> list[str]:
        """The paragraphs of the summary."""
        return paragraphs(self.said("summary"))

    @property
    def date(self) -> str:
        """The date for readers, as far as it is known."""
        return date_text(self.record.date, self.record.date_precision, self.lang)

    @property
    def datetime(self) -> str:
        """The date for programs."""
        return date_attribute(self.record.date, self.record.date_precision)

    def said(self, name: str) -> str:
        """A text of the record in the page's language, else in the other one; nothing when it is empty."""
        text = getattr(self.record, name)
        return text.get(self.lang) if isinstance(text, Text) else ""

    def tongue(self, text: Text | None) -> str:
        """The language of a text where it is not that of the page: for `lang=`."""
        other: Lang = "en" if self.lang == "ko" else "ko"
        return other if text is not None and not getattr(text, self.lang) and getattr(text, other) else ""

    def rest(self, name: str) -> Rests | None:
        """What a field rests on: its own provenance, that of the field it is a part of, else the default."""
        known = self.record.provenance
        parts = name.split(".")
        for key in (name, parts[0], "default"):
            if key in known:
                found = known[key]
                safe = "".join(sign if sign.isalnum() else "-" for sign in key)
                # One popover serves all fields of the same provenance.
                return self.rests.setdefault(safe, Rests(safe, found.state, found))
        return None

    def silence(self, name: str) -> Silence:
        """Why a field is empty."""
        known = self.record.provenance.get(name)
        return "not_stated" if known is not None and known.state == "not_stated" else "open"

    def value(self, name: str) -> str:
        """A part of the impact as the source words it; nothing when it is unknown."""
        found = getattr(self.record.impact, name.partition(".")[2], None) if self.record.impact else None
        return "" if not isinstance(found, str) or found == "unknown" else found

    def spans(self) -> list[Span]:
        """The three intervals from the start of the impact."""
        found = []
        for name in INTERVALS:
            said = getattr(self.record.timeline, name, None) if self.record.timeline else None
            found.append(Span(name, _interval(said, self.lang), self.silence(f"timeline.{name}")))
        return found

    def points(self) -> list[Point]:
        """The timeline."""
        found = []
        for event in self.record.events:
            exact = moment(event.at)
            date, clock, stamp = exact or ("", "", "")
            found.append(Point(event.text, date, clock, stamp, "" if exact else (event.at or "")))
        return found

    def tags(self, facet: str, slugs: Sequence[str] | None, vocabulary: Vocabulary) -> list[Tag]:
        """Slugs as tags, deprecated ones resolved."""
        kind = FACETS[facet] or ""
        return [
            (facet, slug) for slug in dict.fromkeys(vocabulary.resolve(kind, slug) for slug in slugs or [])
        ]

    def known(self) -> dict[str, int]:
        """How many of the fields that one would like to know are stated, ours, not stated, not looked at."""
        counts = {"stated": 0, "editorial": 0, "not_stated": 0, "open": 0}
        for name in _ASKED:
            rests = self.rest(name)
            if not self._holds(name):
                counts[self.silence(name)] += 1
            else:
                counts["editorial" if rests is not None and rests.state == "editorial" else "stated"] += 1
        return counts

    def _holds(self, name: str) -> bool:
        value: Any = self.record
        for part in name.split("."):
            value = getattr(value, part, None)
        return value not in (None, "", "unknown", [])

    def chain(self, t: Words) -> Chain | None:
        """The mechanism; None when nobody has worked it out."""
        if not self.record.mechanism:
            return None
        graph = graph_of(self.record.mechanism, self.lang)
        counted = [f"{t('kind_' + kind)} {graph.count(kind)}" for kind in graph.kinds()]
        loops = len(graph.loops())
        note = t("chain_steps", n=len(graph.nodes)) + (f", {t('chain_loops', n=loops)}" if loops else "")
        return Chain(
            graph, wide(graph), tall(graph), f"{', '.join(counted)}. {t('chain_list_follows')}", note
        )


def _interval(said: str | None, lang: Lang) -> str:
    if not said:
        return ""
    try:
        return duration(parse_interval(said), lang)
    except ValueError:
        return said


def duration(seconds: float | None, lang: Lang) -> str:
    """A duration in words of the page: `3 h 54 min`; nothing for none."""
    if seconds is None:
        return ""
    units = {"d": ("d", "일"), "h": ("h", "시간"), "m": ("min", "분"), "s": ("s", "초")}
    parts = []
    for part in format_interval(seconds).split():
        number, unit = part[:-1], units[part[-1]][1 if lang == "ko" else 0]
        parts.append(f"{number}{unit}" if lang == "ko" else f"{number}\u202f{unit}")
    return " ".join(parts)


@dataclass(frozen=True)
class Segment:
    """A stretch of the bar of reasons."""

    cls: str
    x: float
    w: float


REASON_CLASS = {
    "recurrence": "r-hand", "linked": "r-hand", "same-root-cause": "r-cause", "shared-component": "r-comp",
    "shared-symptom": "r-symp", "shared-contributing": "r-contr", "same-mechanism": "r-mech",
    "same-organisation": "r-text", "text-likeness": "r-text",
}  # fmt: skip


def bar(hit: RelatedHit, most: float, width: float = 300.0) -> list[Segment]:
    """The weights of the reasons side by side, in proportion to the heaviest hit."""
    found: list[Segment] = []
    x = 0.0
    for reason in hit.reasons:
        w = reason.weight / most * width if most else 0.0
        if w >= 1:
            found.append(Segment(REASON_CLASS[reason.kind], x, max(1.0, w - 1.5)))
        x += w
    return found


@dataclass(frozen=True)
class Change:
    """What a revision changed in one field."""

    field: str
    before: tuple[str, ...]
    after: tuple[str, ...]


def changes(old: Revision | None, new: Revision) -> list[Change]:
    """The fields that differ between two revisions, leaf by leaf."""
    before = dict(_leaves(old.document)) if old is not None else {}
    after = dict(_leaves(new.document))
    found = []
    for name in dict.fromkeys([*after, *before]):
        one, other = before.get(name, ()), after.get(name, ())
        if one != other and name != "updated_at":
            found.append(Change(name, one, other))
    return found


def _leaves(value: object, name: str = "") -> list[tuple[str, tuple[str, ...]]]:
    if isinstance(value, dict):
        return [
            pair
            for key, item in value.items()
            for pair in _leaves(item, f"{name}.{key}" if name else str(key))
        ]
    if isinstance(value, list) and any(isinstance(item, dict) for item in value):
        return [pair for place, item in enumerate(value, 1) for pair in _leaves(item, f"{name}.{place}")]
    if isinstance(value, list):
        return [(name, tuple(str(item) for item in value))] if value else []
    return [] if value is None or value == "" else [(name, (str(value),))]
