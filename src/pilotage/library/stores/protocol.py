"""What a store can do. Both stores pass the same contract suite.

Two audiences exist: `public` sees public records only and everything it is told (scores, counts, versions) is
computed from public records only; `all` sees private ones too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from pilotage.library.entry import Entry

Audience = Literal["public", "all"]
Outcome = Literal["new", "changed", "unchanged"]
Tag = tuple[str, str]
"""(facet, slug)."""
Phrase = tuple[str, ...]
"""Tokens that stand side by side in one column; mostly just one."""


@dataclass(frozen=True)
class Stored:
    """A record as it lies in the store.

    Attributes:
        id: its id.
        document: the JSON object, as imported.
        revision: number of its latest revision, counted from 1.
        digest: SHA-256 of the canonical JSON of `document`, hexadecimal.
        stored_at: when this revision was stored, ISO 8601 UTC.
        private: whether it is private.
    """

    id: str
    document: dict[str, Any]
    revision: int
    digest: str
    stored_at: str
    private: bool


@dataclass(frozen=True, slots=True)
class Stamp:
    """A record without its document: enough to know whether one that was read before is still right.

    Attributes:
        id: its id.
        revision: number of its latest revision.
        digest: as in `Stored`.
        stored_at: when this revision was stored, ISO 8601 UTC.
        private: whether it is private.
        withdrawn: whether it is withdrawn.
    """

    id: str
    revision: int
    digest: str
    stored_at: str
    private: bool
    withdrawn: bool


@dataclass(frozen=True)
class Revision:
    """One state that a record has had.

    Attributes:
        number: counted from 1.
        document: the JSON object of that time.
        digest: as in `Stored`.
        stored_at: as in `Stored`.
        origin: what brought it: format and file name, or `bundled`.
    """

    number: int
    document: dict[str, Any]
    digest: str
    stored_at: str
    origin: str


@dataclass(frozen=True)
class Filters:
    """A conjunction of facet terms.

    Attributes:
        all_of: every one of these tags must be there.
        none_of: none of these may be.
        withdrawn: whether withdrawn records are shown; otherwise they are only when `all_of` asks for them.
    """

    all_of: tuple[Tag, ...] = ()
    none_of: tuple[Tag, ...] = ()
    withdrawn: bool = False


NO_FILTERS = Filters()
"""Every record that is not withdrawn."""


@dataclass(frozen=True)
class Match:
    """A lexical query. The score of a record is the weighted sum of its BM25 scores by group.

    Attributes:
        groups: (weight, phrases): any phrase of any group makes a record a candidate.
        require: phrases that must be there, each anywhere.
        exclude: phrases that must not.
        title: phrases that must stand in the column `name`.
    """

    groups: tuple[tuple[float, tuple[Phrase, ...]], ...]
    require: tuple[Phrase, ...] = ()
    exclude: tuple[Phrase, ...] = ()
    title: tuple[Phrase, ...] = ()


@dataclass(frozen=True)
class Frequencies:
    """How often tokens occur in public records.

    Attributes:
        records: number of public records.
        of: token -> number of records that hold it; tokens that no record holds are 0.
    """

    records: int
    of: dict[str, int]


@dataclass(frozen=True)
class Vector:
    """The vector of one passage.

    Attributes:
        part: what the passage is (see `entry.Passage`).
        lang: its language.
        data: little-endian float16, normalised to length 1.
    """

    part: str
    lang: str
    data: bytes


@dataclass(frozen=True)
class VectorRow:
    """One stored vector with its record."""

    id: str
    part: str
    lang: str
    data: bytes


@dataclass(frozen=True)
class New:
    """A record to be written, with everything that changes together with it.

    Attributes:
        id, aliases, document, digest, private: of the record.
        entry: its index entry.
        origin: what brings it.
        order_date: ISO date to sort by, empty when unknown.
        vectors: model name -> vectors; empty without an embedder.
    """

    id: str
    aliases: tuple[str, ...]
    document: dict[str, Any]
    digest: str
    private: bool
    entry: Entry
    origin: str
    order_date: str = ""
    vectors: dict[str, list[Vector]] = field(default_factory=dict)


class Writer(Protocol):
    """The open transaction: all of it is committed, or nothing."""

    def put(self, new: New) -> Outcome:
        """Writes one record, its tags, aliases, addresses, index entry and vectors.

        The same digest again changes nothing. Another digest makes a new revision; old ones stay.

        Raises:
            Conflict: the id or an alias belongs to another record, or the record is there with the other
                visibility (a public record never turns private, nor the reverse, by an import).
        """

    def find(self, id: str) -> Stored | None:  # noqa: A002 - the field's word
        """The record of an id or alias, whatever its audience, as this transaction sees it."""

    def owners(self, urls: Iterable[str], audience: Audience) -> dict[str, list[str]]:
        """Canonical source address -> ids of the records that cite it, as this transaction sees it."""

    def same_day(self, org_slug: str, date: str, audience: Audience) -> list[tuple[str, dict[str, Any]]]:
        """(id, document) of the latest hundred records of an organisation on a day, the newest first."""


class Store(Protocol):
    """A store. Every method but `transaction` only reads. Use as a context manager, or `close` it."""

    url: str
    """Address without a password, for messages."""

    def close(self) -> None:
        """Gives connections back."""

    def transaction(self) -> AbstractContextManager[Writer]:
        """The one writer: waits for another one for `busy_seconds`, then raises `StoreBusy`."""

    def data_version(self, audience: Audience) -> int:
        """Grows whenever a transaction changed what the audience can see."""

    def count(self, filters: Filters, audience: Audience) -> int:
        """Number of records."""

    def get(self, ids: Sequence[str], audience: Audience) -> dict[str, Stored]:
        """The records of these ids or aliases, by the id or alias asked for; unknown ones are left out."""

    def stamps(self, ids: Sequence[str], audience: Audience) -> dict[str, Stamp]:
        """As `get`, without the documents."""

    def changes(
        self, audience: Audience, *, limit: int, after: tuple[str, str] = ("", ""), latest: bool = False
    ) -> list[Stamp]:
        """Records by the time of their latest change.

        Args:
            audience: whose records.
            limit: most of them.
            after: (stored_at, id) of the last one seen.
            latest: the newest change first, instead of the oldest.
        """

    def ids(self, audience: Audience) -> list[str]:
        """All ids and aliases: what near misses are looked for in."""

    def page(
        self, filters: Filters, audience: Audience, *, limit: int, after: tuple[str, str] | None = None
    ) -> list[Stored]:
        """Records by date, newest first, then id; `after` = (order_date, id) of the last one seen."""

    def iterate(self, filters: Filters, audience: Audience) -> Iterator[Stored]:
        """All records by id, in constant memory and as of one moment."""

    def revisions(self, id: str, audience: Audience) -> list[Revision]:  # noqa: A002 - the field's word
        """All revisions of a record, newest first; empty when there is no such record."""

    def facets(
        self, filters: Filters, audience: Audience, ids: Sequence[str] | None = None
    ) -> dict[str, dict[str, int]]:
        """Facet -> slug -> number of records, over the filtered records or just these ids."""

    def pairs(
        self, first: str, second: str, filters: Filters, audience: Audience
    ) -> dict[tuple[str, str], int]:
        """(slug of the first facet, slug of the second) -> number of records that bear both."""

    def tags(self, ids: Sequence[str], audience: Audience) -> dict[str, list[Tag]]:
        """Id -> tags."""

    def sharing(self, tags: dict[Tag, float], audience: Audience, *, limit: int) -> list[tuple[str, float]]:
        """(id, sum of the weights of the tags that it bears), best first, withdrawn records left out."""

    def match(
        self, query: Match, filters: Filters, audience: Audience, *, limit: int
    ) -> list[tuple[str, float]]:
        """(id, score) of the best records, best first, ties by id.

        Both stores give the score of SQLite's `bm25()` with `COLUMN_WEIGHTS`, k1 = 1.2, b = 0.75, with the
        statistics of public records.
        """

    def columns(self, ids: Sequence[str], audience: Audience) -> dict[str, dict[str, str]]:
        """Id -> column -> tokens, as indexed."""

    def frequencies(self, tokens: Iterable[str]) -> Frequencies:
        """How many public records hold each token."""

    def vectors(self, model: str, audience: Audience) -> Iterator[VectorRow]:
        """All vectors of a model, records in order of id."""

    def without_vectors(self, model: str) -> list[str]:
        """Ids of records that have no vectors of this model yet."""

    def add_vectors(self, model: str, vectors: dict[str, list[Vector]]) -> None:
        """Adds vectors to records that are there already, in one transaction."""

    def verify(self) -> list[str]:
        """What is wrong with the store, in sentences; empty when all of it agrees."""


COLUMN_WEIGHTS: dict[str, float] = {"name": 3.0, "said": 2.5, "tags": 1.5, "body": 1.0}
"""How much a token counts by the column it stands in; set on the graded queries of `tests/graded`."""
