"""What may stand behind the `?` of each address. A parameter that is unknown is refused by name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from pilotage.core.cursors import LONGEST
from pilotage.core.errors import InvalidInput, UnknownTerm
from pilotage.core.text import did_you_mean
from pilotage.library.catalogue import Catalogue
from pilotage.library.record import Lang
from pilotage.library.stores.protocol import Audience, Filters
from pilotage.library.terms import FACETS

MOST_LIMIT = 200
MOST_FACETS = 50
_LONGEST_VALUE = 200

Limit = Annotated[int, Field(ge=1, le=MOST_LIMIT)]
Value = Annotated[str, Field(max_length=_LONGEST_VALUE)]
Values = Annotated[list[Value], Field(default_factory=list)]
Cursor = Annotated[str, Field(max_length=LONGEST)]


class Asked(BaseModel):
    """Parameters that every address takes."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    lang: Annotated[Lang | None, Field(examples=["ko"])] = None
    """Language of labels, titles and snippets; without it, the cookie `lang`, then `Accept-Language`."""


class Narrowed(Asked):
    """Facet terms, all of which a record must bear. A value is a slug, a label or a synonym."""

    facet: Annotated[list[Value], Field(default_factory=list, examples=[["component=ingress"]])]
    """`facet=value`, repeated for several: `?facet=component=ingress&facet=year=2019`."""
    organisation: Values
    """Short for `facet=organisation=…`; the same holds for the other facets."""
    year: Values
    """Year of the incident."""
    domain: Values
    """Domain."""
    component: Annotated[list[Value], Field(default_factory=list, examples=[["coredns"]])]
    """Component."""
    symptom: Values
    """Symptom."""
    root_cause: Values
    """Root cause, primary or not."""
    contributing: Values
    """Contributing factor."""
    detection: Values
    """How it was noticed."""
    remediation: Values
    """What was done."""
    severity: Values
    """Severity."""
    source_kind: Values
    """Kind of source."""
    status: Values
    """`draft`, `reviewed` or `withdrawn`; withdrawn records are left out unless asked for."""

    def words(self) -> list[str]:
        """All terms as `facet=value`.

        Raises:
            InvalidInput: there are more than `MOST_FACETS`.
        """
        words = [*self.facet, *(f"{name}={value}" for name in FACETS for value in getattr(self, name))]
        if len(words) > MOST_FACETS:
            raise InvalidInput(f"{len(words)} facet terms are too many", hint=f"Give at most {MOST_FACETS}.")
        return words

    def filters(self, catalogue: Catalogue, audience: Audience) -> Filters:
        """The terms as filters.

        Raises:
            UnknownTerm, InvalidInput: see `Catalogue.tags`.
        """
        return Filters(all_of=catalogue.tags(self.words(), audience))


class Chosen(Asked):
    """What of a record is told."""

    fields: Annotated[list[str], Field(default_factory=list, examples=[["title,summary"]])]
    """Keys of a record, separated by commas; without it a record comes whole."""


class ListAsked(Narrowed, Chosen):
    """Parameters of the list of incidents."""

    extra: Annotated[list[str], Field(default_factory=list, examples=[["facets"]])]
    """Further blocks: `facets` (counts over the whole list), `terms` (the tags of each item)."""
    limit: Limit = 20
    """Number of items."""
    cursor: Cursor | None = None
    """`next` of the part before."""


class IncidentAsked(Chosen):
    """Parameters of one incident."""

    extra: Annotated[list[str], Field(default_factory=list, examples=[["related,terms"]])]
    """Further blocks: `related`, `history`, `terms`, `checks` (those that look for what it came of)."""
    revision: Annotated[int | None, Field(ge=1, le=1_000_000)] = None
    """Number of an older state."""


class RelatedAsked(Asked):
    """Parameters of related incidents."""

    limit: Limit = 10
    """Number of hits."""
    cursor: Cursor | None = None
    """`next` of the part before."""


class SearchAsked(Narrowed):
    """Parameters of a search."""

    q: Annotated[str, Field(examples=["pods not ready one after another behind ingress"])] = ""
    """Words, a question, a pasted log. At most 20 kB are read; `clipped` says when it was more."""
    extra: Annotated[list[str], Field(default_factory=list, examples=[["facets"]])]
    """Further blocks: `facets` (counts over all hits)."""
    limit: Limit = 10
    """Number of hits."""
    cursor: Cursor | None = None
    """`next` of the part before."""


class TopicAsked(Narrowed):
    """Parameters of a topic."""

    limit: Limit = 20
    """Number of cases."""
    cursor: Cursor | None = None
    """`next` of the part before."""


class UsedAsked(Asked):
    """Parameters of the terms of a kind."""

    used: bool = False
    """Only terms that a record bears."""


class PagedAsked(Asked):
    """Parameters of a list in parts."""

    limit: Limit = 50
    """Number of items."""
    cursor: Cursor | None = None
    """`next` of the part before."""


class ChangesAsked(Asked):
    """Parameters of the delta feed."""

    limit: Limit = 50
    """Number of changes."""
    since: Cursor | None = None
    """`next` of the answer before; without it the feed begins with the oldest change."""


class MatrixAsked(Narrowed):
    """Parameters of a matrix."""

    by: Annotated[list[Value], Field(default_factory=lambda: ["component", "root_cause"])]
    """Two facets, repeated: that of the rows, then that of the columns."""
    limit: Annotated[int, Field(ge=1, le=100)] = 20
    """Most rows and most columns."""


class ExportAsked(Narrowed):
    """Parameters of an export."""

    format: Annotated[Value, Field(examples=["jsonl"])] = "incident-json"
    """`incident-json`, `jsonl`, `csv`, `sqlite` or `zip`."""


class CompareAsked(Asked):
    """Parameters of a comparison."""

    id: Annotated[list[Value], Field(default_factory=list)]
    """Ids of two to four incidents, repeated."""


def names(given: Sequence[str], known: Iterable[str], what: str) -> tuple[str, ...]:
    """The names of a list with commas, each of which must be known.

    Args:
        given: as they came, each with any number of names.
        known: the names there are.
        what: how to call one in an error.

    Raises:
        UnknownTerm: one is not; the hint names the nearest known ones, or all.
    """
    listed = list(known)
    found = [name.strip() for text in given for name in text.split(",") if name.strip()]
    for name in found:
        if name not in listed:
            near = did_you_mean(name, listed)
            every = f"Known are: {', '.join(listed)}."
            hint = f"{near} {every}" if near.startswith("Did") else every
            raise UnknownTerm(f"'{name[:_LONGEST_VALUE]}' is no {what}", hint=hint)
    return tuple(dict.fromkeys(found))
