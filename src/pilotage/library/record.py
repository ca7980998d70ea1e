"""The record: one incident, in the keys of the incident JSON plus what makes it trustworthy.

A record is kept as the JSON object that came in, so that what is imported can be exported without loss; the
classes here are the view through which the rest of Pilotage reads it. Keys that we do not know are kept.

A field without a value has three possible reasons, and readers must be able to tell them apart:
*not yet looked* (the field is null and has no provenance), *not stated* (its provenance says
`state: not_stated`: somebody looked, no source speaks), and *cannot apply* (null with a note that says so).
"""

from __future__ import annotations

import copy
import datetime as dt
import re
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from pilotage.core.errors import InvalidInput
from pilotage.core.text import kebab, kind_of
from pilotage.library import languages

SCHEMA_VERSION = 1
"""Version of the record's form. Minor additions keep it; a reader must ignore keys that it does not know."""

Lang = languages.Lang
LANGS = languages.LANGS
ID_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,119}$"


def _iso_date(value: str) -> str:
    if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", value):
        raise ValueError("write a whole date as YYYY-MM-DD; say with date_precision how much of it is known")
    try:
        dt.date.fromisoformat(value)
    except ValueError as error:
        raise ValueError(f"{value} is not a day of the calendar") from error
    return value


def _iso_timestamp(value: str) -> str:
    try:
        dt.datetime.fromisoformat(value)
    except ValueError as error:
        raise ValueError(f"'{value}' is not an ISO 8601 time") from error
    return value


def _interval(value: str) -> str:
    # Other wordings are kept as they are, and `validate` asks for a better one.
    if value.strip().startswith("-"):
        raise ValueError(f"interval '{value}' is negative")
    return value


IsoDate = Annotated[str, AfterValidator(_iso_date)]
IsoTimestamp = Annotated[str, AfterValidator(_iso_timestamp)]
Interval = Annotated[str, AfterValidator(_interval)]
RecordId = Annotated[str, Field(pattern=ID_PATTERN)]
Slug = Annotated[str, Field(min_length=1, max_length=80)]


class Part(BaseModel):
    """A piece of a record: frozen, keys that we do not know are kept."""

    # Every command that shows a record builds these: parts only where they are asked for alone, and what is
    # said under the fields is left to `schema.generate`, since reading it takes as long as the rest.
    model_config = ConfigDict(extra="allow", frozen=True, defer_build=True)


class Text(Part):
    """One text in two languages. Paragraphs are separated by blank lines."""

    en: str | None = None
    ko: str | None = None

    def get(self, lang: Lang) -> str:
        """The text in the language, else in the other one, else nothing."""
        first, second = (self.ko, self.en) if lang == "ko" else (self.en, self.ko)
        return first or second or ""


class Step(Part):
    """One step of the mechanism: one cause and one effect."""

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9-]{0,39}$")
    """Name of the step within its record, a short kebab slug."""
    kind: Literal["latent_condition", "trigger", "propagation", "amplification", "containment"]
    """What the step does: was true before, started it, carried it on, made it worse, or stopped it."""
    label: Text
    """What stands in the drawing, at most 60 characters a language."""
    text: Text
    """The step as a sentence."""
    leads_to: list[str] = []
    """Ids of the steps that follow from this one; an earlier one makes a loop. A latent condition names the
    step that it lies under, a containment the step that it stops."""


class Event(Part):
    """One point of the timeline."""

    at: str | None = None
    """The moment as stated: ISO date and time where known, else the source's words (`a Sunday`); null when
    no source states it."""
    text: Text


class Source(Part):
    """Where the facts come from."""

    url: str = Field(pattern=r"^[a-z][a-z0-9+.-]*:")
    kind: Slug
    title: str | None = None
    license: str | None = None
    archived: str | None = None


class Cause(Part):
    """One root cause."""

    kind: Slug
    text: Text | None = None


class Factor(Part):
    """One contributing factor in words, with its vocabulary term where one fits."""

    kind: Slug | None = None
    text: Text


class Action(Part):
    """Something that was done, or is to be done."""

    text: Text
    kind: Slug | None = None
    """Vocabulary term of the remediation."""
    status: str | None = None
    """For a follow-up: `done`, `under_way`, `planned` or `not_stated`."""


class Impact(Part):
    """Who and what was hit."""

    scope: str | None = None
    users: str | None = None
    region: str | None = None
    text: Text | None = None
    """The impact in one or two sentences."""


class Intervals(Part):
    """How long it took, measured from the start of the impact, as the source says it (`9m`, `3h 54m`)."""

    detected_after: Interval | None = None
    mitigated_after: Interval | None = None
    resolved_after: Interval | None = None


class Phrases(Part):
    """How people would put it while it happens; searched, never shown as facts."""

    en: list[str] = []
    ko: list[str] = []


class Review(Part):
    """Who wrote and who checked the record."""

    written_by: str | None = None
    reviewed_at: str | None = None
    reviewed_by: str | None = None


class Provenance(Part):
    """What one field rests on."""

    state: Literal["stated", "not_stated", "editorial"] = "stated"
    """`stated` in a source, looked for and `not_stated` in any, or `editorial`: our own reading."""
    confidence: Literal["high", "medium", "low"] | None = None
    """high: primary text read in full; medium: in part or through quotations; low: press or summaries."""
    source: int | None = Field(default=None, ge=1)
    """Number of the source, counted from 1."""
    where: str | None = None
    """The place within the source."""
    note: str | None = None


class Record(Part, defer_build=False):
    """One incident.

    Raises:
        pydantic.ValidationError: when built from an object that is not a record; use `read_record` to get
            our own error.
    """

    schema_version: int = Field(default=SCHEMA_VERSION, ge=1)
    id: RecordId
    aliases: list[RecordId] = []
    """Ids under which the record was known before; they always resolve."""
    status: Literal["draft", "reviewed", "withdrawn"] = "draft"
    withdrawn_reason: Text | None = None
    visibility: Literal["public", "private"] = "public"
    org: str | None = None
    org_slug: str | None = None
    date: IsoDate | None = None
    date_kind: Literal["incident", "published"] | None = None
    date_precision: Literal["day", "month", "year", "unknown"] | None = None
    """How much of the date is known; what is not known is written as 01."""
    title: Text | None = None
    summary: Text | None = None
    symptoms_text: Text | None = None
    """Symptoms as the one on call sees them, one a paragraph."""
    trigger: Text | None = None
    detection: Text | None = None
    lessons: Text | None = None
    """Lessons that carry over, one a paragraph."""
    domain: list[Slug] | None = None
    symptoms: list[Slug] | None = None
    components: list[Slug] | None = None
    contributing: list[Slug] | None = None
    contributing_notes: list[Factor] = []
    root_cause: Slug | None = None
    root_causes: list[Cause] = []
    """All root causes, the primary one first; its kind equals `root_cause`."""
    detection_kind: Slug | None = None
    severity: Slug | None = None
    impact: Impact | None = None
    timeline: Intervals | None = None
    events: list[Event] = []
    times: Text | None = None
    """What must be known to read the times: their zone, and what was not converted."""
    mechanism: list[Step] = []
    remediation: list[Action] | None = None
    action_items: list[Action] | None = None
    phrases: Phrases = Phrases()
    facts: list[str] = []
    """The stated figures, names and times that the text may use, as the sources write them."""
    disagreement: Text | None = None
    """Where sources differ, or one differs with itself."""
    sources: list[Source] | None = None
    docs: list[str] | None = None
    related: list[RecordId] | None = None
    related_reasons: dict[str, Text] = {}
    """For a hand-made link: id of the other record and why."""
    recurrence_of: RecordId | None = None
    provenance: dict[str, Provenance] = {}
    """Field (or `field.part`, or `default`) and what it rests on."""
    review: Review | None = None
    updated_at: IsoTimestamp | None = None
    url: str | None = None

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.root_causes and self.root_cause != self.root_causes[0].kind:
            raise ValueError("root_cause must equal the kind of the first of root_causes")
        if self.status == "withdrawn" and self.withdrawn_reason is None:
            raise ValueError("a withdrawn record needs withdrawn_reason")
        if self.id in self.aliases:
            raise ValueError("aliases must not hold the record's own id")
        _check_steps(self.mechanism)
        return self

    @property
    def year(self) -> str | None:
        """The year as text, unless not even that is known."""
        return None if self.date is None or self.date_precision == "unknown" else self.date[:4]

    @property
    def organisation(self) -> str | None:
        """The slug under which its organisation is filed: the stated one, else that of its name."""
        return self.org_slug or kebab(self.org or "") or None

    @property
    def causes(self) -> list[str]:
        """Slugs of all root causes, the primary one first."""
        if self.root_causes:
            return list(dict.fromkeys(cause.kind for cause in self.root_causes))
        return [self.root_cause] if self.root_cause else []

    def texts(self) -> list[tuple[str, Text]]:
        """Every bilingual text of the record with the name of its field, phrases excepted."""
        simple = (
            "title",
            "summary",
            "symptoms_text",
            "trigger",
            "detection",
            "lessons",
            "disagreement",
            "times",
        )
        found = [(name, getattr(self, name)) for name in simple if getattr(self, name) is not None]
        if self.impact and self.impact.text:
            found.append(("impact", self.impact.text))
        found += [("mechanism", text) for step in self.mechanism for text in (step.label, step.text)]
        found += [("root_causes", cause.text) for cause in self.root_causes if cause.text]
        found += [("contributing", factor.text) for factor in self.contributing_notes]
        found += [("events", event.text) for event in self.events]
        found += [("remediation", action.text) for action in self.remediation or []]
        found += [("action_items", action.text) for action in self.action_items or []]
        return found


def _check_steps(steps: list[Step]) -> None:
    ids = [step.id for step in steps]
    if len(set(ids)) != len(ids):
        raise ValueError("two steps of mechanism have the same id")
    for step in steps:
        for target in step.leads_to:
            if target not in ids:
                raise ValueError(f"step '{step.id}' of mechanism leads to '{target}', which is no step")


STANDARD_KEYS: dict[str, Any] = {
    "id": None,
    "org": None,
    "org_slug": None,
    "date": None,
    "date_kind": None,
    "title": None,
    "trigger": None,
    "detection": None,
    "summary": None,
    "symptoms_text": None,
    "lessons": None,
    "domain": [],
    "symptoms": [],
    "components": [],
    "contributing": [],
    "root_cause": None,
    "severity": "unknown",
    "impact": {"scope": "unknown", "users": "unknown", "region": "unknown"},
    "timeline": {"detected_after": None, "resolved_after": None},
    "remediation": [],
    "action_items": [],
    "sources": [],
    "docs": [],
    "related": [],
    "recurrence_of": None,
    "review": {"written_by": None, "reviewed_at": None, "reviewed_by": None},
    "updated_at": None,
    "url": None,
}
"""The keys that an incident JSON object always has, with what stands there when nothing is known."""


def complete(document: dict[str, Any]) -> dict[str, Any]:
    """The document with every standard key present, in the standard order, other keys behind."""
    defaults = copy.deepcopy(STANDARD_KEYS)
    head = {key: document.get(key, default) for key, default in defaults.items()}
    return head | {key: value for key, value in document.items() if key not in head}


def read_record(document: object, *, where: str = "record") -> Record:
    """The record view of a JSON object.

    Args:
        document: the decoded JSON value.
        where: how to call the place in an error message.

    Raises:
        InvalidInput: it is not a record; the message names the first wrong field and how many more there are.
    """
    if not isinstance(document, dict):
        raise InvalidInput(
            f"{where}: an incident must be an object, found {kind_of(document)}",
            hint="See `pilotage library new` for the form.",
        )
    try:
        return Record.model_validate(document)
    except ValidationError as error:
        problems = problems_of(error)
        path, message = problems[0]
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        named = f" '{document['id']}'" if isinstance(document.get("id"), str) else ""
        raise InvalidInput(
            f"{where}{named}: {path or 'record'}: {message}{more}",
            hint="`pilotage library validate` lists every problem with its line.",
        ) from error


_EXPECTED = {
    "string_type": "a text",
    "list_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
    "model_attributes_type": "an object",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
}


def problems_of(error: ValidationError) -> list[tuple[str, str]]:
    """The problems of a failed validation as (path, message), in an author's words, not pydantic's."""
    return [(".".join(str(part) for part in item["loc"]), _said(item)) for item in error.errors()]


def _said(item: Any) -> str:
    kind, given = item["type"], item["input"]
    limits = item.get("ctx", {})
    if kind in _EXPECTED:
        return f"must be {_EXPECTED[kind]}, found {kind_of(given)}"
    said = {
        "missing": "is missing",
        "literal_error": f"must be one of {limits.get('expected')}",
        "string_pattern_mismatch": f"{str(given)[:60]!r} has the wrong form",
        "string_too_short": "must not be empty",
        "string_too_long": f"must have at most {limits.get('max_length')} characters",
        "greater_than_equal": f"must be {limits.get('ge')} or more",
    }
    return said.get(kind) or str(item["msg"]).removeprefix("Value error, ")
