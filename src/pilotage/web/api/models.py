"""The shapes of answers, for the description of the API. The tests hold every answer against them."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from pilotage.library.record import Lang, Record

Both = dict[Lang, str]
Level = Literal["critical", "high", "medium", "low"]


class Shape(BaseModel):
    """An object of an answer. Later versions may add keys."""

    model_config = ConfigDict(use_attribute_docstrings=True)


class Problem(Shape):
    """An error (RFC 9457)."""

    type: str = Field(examples=["urn:pilotage:error:not-found"])
    title: str
    status: int = Field(examples=[404])
    detail: str = Field(examples=["no record 'cloudflare-2025-11-17'"])
    hint: str = Field(examples=["Did you mean 'cloudflare-2025-11-18-bot-management-feature-file'?"])
    code: str = Field(examples=["not-found"])
    """Stable; the same as on the command line."""


class TermRef(Shape):
    """A facet value."""

    facet: str
    slug: str
    label: str


class TermBoth(Shape):
    """A facet value with its labels in both languages."""

    facet: str
    slug: str
    label: Both


class FacetCount(Shape):
    """A facet value and the number of records that bear it."""

    slug: str
    label: str
    count: int


class Snippet(Shape):
    """A part of a record that matched."""

    field: str
    lang: Lang
    text: str
    marks: list[list[int]]
    """(start, end) of what matched, in characters."""


class Why(Shape):
    """Why a record is among the hits."""

    text: str
    """In one line."""
    terms: list[TermRef]
    words: list[str]
    fields: list[str]
    """Fields that hold these words."""
    snippets: list[Snippet]
    semantic_share: float
    """Share of the score that comes from likeness of meaning, 0 to 1."""
    nearest_part: str | None
    dates: list[str]


class Item(Shape):
    """An incident in short."""

    id: str
    aliases: list[str]
    organisation: str | None
    date: str | None
    date_kind: str | None
    date_precision: str | None
    title: str
    status: Literal["draft", "reviewed", "withdrawn"]
    private: bool
    sources: list[str]


class ListItem(Item):
    """An incident in a list."""

    url: str
    """Address of its page."""
    record: dict[str, Any] | None = None
    """The keys named by `fields`."""
    terms: list[TermBoth] | None = None
    """With `extra=terms`."""


class Hit(Item):
    """An incident that a search found."""

    score: float
    why: Why


class Correction(Shape):
    """A word that was read as another."""

    typed: str
    understood: str


class SearchAnswer(Shape):
    """What a search found."""

    query: str
    total: int
    no_good_match: bool
    """Whether nothing is good enough; `hits` is empty then."""
    suggestions: list[TermRef]
    hits: list[Hit]
    facets: dict[str, list[FacetCount]]
    used: list[str]
    pasted: bool
    clipped: bool
    corrections: list[Correction]
    semantic: str | None
    confidence: float
    next: str | None


class Incidents(Shape):
    """A part of the list of incidents, newest first."""

    total: int
    items: list[ListItem]
    next: str | None
    """Pass it as `cursor` for the part that follows; stays right while records are added."""
    facets: dict[str, list[FacetCount]] | None = None


class RevisionItem(Shape):
    """One state that a record has had."""

    number: int
    stored_at: str
    origin: str
    digest: str
    changed: list[str]
    """Keys that differ from the state before."""


class History(Shape):
    """The revisions of a record, newest first."""

    id: str
    revisions: list[RevisionItem]


class Reason(Shape):
    """Why two incidents are related."""

    kind: str
    weight: float
    hand_made: bool
    text: Both
    evidence: dict[str, Any]


class RelatedHit(Shape):
    """A related incident."""

    id: str
    title: str
    organisation: str | None
    date: str | None
    date_precision: str | None
    score: float
    hand_made: bool
    why: Both
    reasons: list[Reason]


class Related(Shape):
    """Related incidents with their reasons."""

    id: str
    lang: Lang
    total: int
    next: str | None
    threshold: float
    hits: list[RelatedHit]


class RecordPart(Record):
    """A record, or the keys of it that were asked for."""

    id: str | None = None  # type: ignore[assignment]


class LookingCheck(Shape):
    """A check that looks for what an incident came of."""

    id: str
    title: str
    severity: Level
    exact: bool
    """Whether the incident came of this very gap; else it shows the same mechanism."""
    url: str


class Incident(Shape):
    """One incident."""

    id: str
    url: str
    revision: int
    revisions: int
    """Number of the latest revision."""
    stored_at: str
    digest: str
    """SHA-256 of the record's canonical JSON."""
    status: Literal["draft", "reviewed", "withdrawn"]
    withdrawn_reason: dict[str, Any] | None
    private: bool
    record: RecordPart
    related: Related | None = None
    history: History | None = None
    terms: list[TermBoth] | None = None
    checks: list[LookingCheck] | None = None
    """With `extra=checks`: the checks that look for what it came of."""


class TopicTerm(TermBoth):
    """A term among the cases of a topic, with its base rate."""

    n: int
    of: int
    share: float
    low: float
    high: float
    base_n: int
    base_of: int
    lift: float


class TopicCase(Shape):
    """One incident of a topic."""

    id: str
    title: str
    organisation: str | None
    date: str | None
    date_precision: str | None


class Span(Shape):
    """First and last date of the cases."""

    first: str | None
    first_precision: str | None
    last: str | None
    last_precision: str | None
    dated: int


class Lesson(Shape):
    """What several cases teach."""

    words: list[str]
    overlap: float
    lessons: list[dict[str, Any]]


class Topic(Shape):
    """The incidents that bear some terms together, and what they have in common."""

    terms: list[TermBoth]
    summary: Both
    lang: Lang
    total: int
    base: int
    next: str | None
    page: str
    cases: list[TopicCase]
    span: Span
    companions: dict[str, list[TopicTerm]]
    lessons: list[Lesson]


class Kind(Shape):
    """One kind of vocabulary."""

    kind: str
    facet: str | None
    version: int
    terms: int
    url: str


class Kinds(Shape):
    """The kinds of vocabulary."""

    kinds: list[Kind]


class Term(Shape):
    """One term of the vocabulary."""

    kind: str
    facet: str | None
    slug: str
    label: Both
    definition: Both
    synonyms: dict[Lang, list[str]]
    parent: str | None
    crosswalk: dict[str, Any]
    replaced_by: str | None
    records: int
    url: str


class Terms(Shape):
    """The terms of a kind."""

    kind: str
    facet: str | None
    version: int
    terms: list[Term]


class WholeTerm(Term):
    """One term with what stands around it."""

    narrower: list[str]
    companions: dict[str, list[TopicTerm]]
    """Terms that stand beside it more often than chance."""
    cases: list[TopicCase]
    """The newest."""


class OrganisationItem(Shape):
    """An organisation and its number of records."""

    slug: str
    label: Both
    records: int
    url: str


class Organisations(Shape):
    """A part of the organisations that a record names, by slug."""

    total: int
    items: list[OrganisationItem]
    next: str | None


class Organisation(OrganisationItem):
    """One organisation with its incidents."""

    incidents: Incidents
    facets: dict[str, list[FacetCount]]


class TermCount(Shape):
    """A term and its number of records, all in all and by year."""

    slug: str
    label: Both
    n: int
    by_year: dict[str, int]


class Bucket(Shape):
    """A bar of a histogram, in seconds."""

    low: int
    high: int | None
    n: int


class Distribution(Shape):
    """How long something took, in seconds, over the records that state it."""

    interval: str
    n: int
    of: int
    unreadable: int
    minimum: float | None
    q1: float | None
    median: float | None
    q3: float | None
    maximum: float | None
    buckets: list[Bucket]


class Coverage(Shape):
    """How many records state a field."""

    field: str
    stated: int
    not_stated: int
    open: int


class Statistics(Shape):
    """The library in numbers."""

    records: int
    organisations: int
    bilingual: int
    status: dict[str, int]
    source_kinds: dict[str, int]
    facets: dict[str, list[TermCount]]
    durations: list[Distribution]
    coverage: list[Coverage]


class Side(Shape):
    """A row or column of a matrix."""

    slug: str
    label: Both
    n: int


class Matrix(Shape):
    """How often the terms of two facets stand together."""

    first: str
    second: str
    rows: list[Side]
    columns: list[Side]
    cells: list[list[int]]
    total: int


class Change(Shape):
    """The latest change of a record."""

    id: str
    revision: int
    stored_at: str
    event: Literal["added", "changed", "withdrawn"]
    url: str


class Changes(Shape):
    """The delta feed, oldest change first. A record stands where its latest change is."""

    items: list[Change]
    next: str
    """Pass it as `since` next time, also after the last part."""
    has_more: bool
    """Whether more changes are there already."""


class SharedTerm(TermBoth):
    """A term that several of the compared incidents bear."""

    ids: list[str]


class Comparison(Shape):
    """Two to four incidents side by side."""

    incidents: list[Incident]
    shared: list[SharedTerm]
