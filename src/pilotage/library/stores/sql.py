"""A store in an SQL database: what both stores do alike, each call in one transaction."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Self

from pilotage.clients.db.session import Door, Session
from pilotage.library.stores import counting, matching, meta, migrating, reading, vectors
from pilotage.library.stores.index import Index
from pilotage.library.stores.protocol import (
    Audience,
    Filters,
    Frequencies,
    Match,
    Revision,
    Stamp,
    Stored,
    Tag,
    Vector,
    VectorRow,
)
from pilotage.library.stores.writing import SqlWriter
from pilotage.library.terms import Vocabulary

_OF_ANOTHER_FILE = 1_000_000_000


class SqlStore:
    """A `Store`. Any number of threads may use it at once.

    Args:
        door: the database, with a store of today's form in it or none.
        index: its search index.
        dialect: `sqlite` or `postgres`.
        vocabulary: what index entries are made with.
        made: whether the form is there; else the first transaction makes it, or the first look.
    """

    def __init__(self, door: Door, index: Index, dialect: str, vocabulary: Vocabulary, *, made: bool) -> None:
        self.url = door.address
        self._door = door
        self._index = index
        self._vocabulary = vocabulary
        self._dialect = dialect
        self._made = made

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """See `Store.close`."""
        self._door.close()

    @contextmanager
    def transaction(self) -> Iterator[SqlWriter]:
        """See `Store.transaction`.

        Raises:
            StoreTooNew: a newer version of Pilotage has changed the store since it was opened.
        """
        with self._door.writing() as session:
            self._make(session)
            writer = SqlWriter(session, self._index)
            yield writer
            writer.finish()
        self._made = True

    def _make(self, session: Session) -> None:
        migrating.make(session, self._index, self._dialect, self._vocabulary, self.url)

    @contextmanager
    def _reading(self) -> Iterator[Session]:
        self._see_made()
        with self._door.reading() as session:
            yield session

    def _see_made(self) -> None:
        if not self._made:
            with self._door.writing() as session:
                self._make(session)
            self._made = True

    def data_version(self, audience: Audience) -> int:
        """See `Store.data_version`."""
        with self._reading() as session:
            # Another file in the place of the one that was open may bear the same number.
            return self._door.generation * _OF_ANOTHER_FILE + meta.data_version(session, audience)

    def count(self, filters: Filters, audience: Audience) -> int:
        """See `Store.count`."""
        with self._reading() as session:
            return counting.count(session, filters, audience)

    def get(self, ids: Sequence[str], audience: Audience) -> dict[str, Stored]:
        """See `Store.get`."""
        with self._reading() as session:
            return reading.get(session, ids, audience)

    def stamps(self, ids: Sequence[str], audience: Audience) -> dict[str, Stamp]:
        """See `Store.stamps`."""
        with self._reading() as session:
            return reading.stamps(session, ids, audience)

    def changes(
        self, audience: Audience, *, limit: int, after: tuple[str, str] = ("", ""), latest: bool = False
    ) -> list[Stamp]:
        """See `Store.changes`."""
        with self._reading() as session:
            return reading.changes(session, audience, limit=limit, after=after, latest=latest)

    def ids(self, audience: Audience) -> list[str]:
        """See `Store.ids`."""
        with self._reading() as session:
            return reading.all_ids(session, audience)

    def page(
        self, filters: Filters, audience: Audience, *, limit: int, after: tuple[str, str] | None = None
    ) -> list[Stored]:
        """See `Store.page`."""
        with self._reading() as session:
            return reading.page(session, filters, audience, limit=limit, after=after)

    def iterate(self, filters: Filters, audience: Audience) -> Iterator[Stored]:
        """See `Store.iterate`; the moment is that of the first record asked for."""
        with self._reading() as session:
            yield from reading.iterate(session, filters, audience)

    def revisions(self, id: str, audience: Audience) -> list[Revision]:  # noqa: A002 - the field's word
        """See `Store.revisions`."""
        with self._reading() as session:
            return reading.revisions(session, id, audience)

    def facets(
        self, filters: Filters, audience: Audience, ids: Sequence[str] | None = None
    ) -> dict[str, dict[str, int]]:
        """See `Store.facets`; with `ids`, the filters do not count."""
        with self._reading() as session:
            return counting.facets(session, filters, audience, ids)

    def pairs(
        self, first: str, second: str, filters: Filters, audience: Audience
    ) -> dict[tuple[str, str], int]:
        """See `Store.pairs`."""
        with self._reading() as session:
            return counting.pairs(session, first, second, filters, audience)

    def tags(self, ids: Sequence[str], audience: Audience) -> dict[str, list[Tag]]:
        """See `Store.tags`; tags in alphabetical order."""
        with self._reading() as session:
            return counting.tags(session, ids, audience)

    def sharing(self, tags: dict[Tag, float], audience: Audience, *, limit: int) -> list[tuple[str, float]]:
        """See `Store.sharing`; weights count to the ninth decimal."""
        with self._reading() as session:
            return counting.sharing(session, tags, audience, limit=limit)

    def match(
        self, query: Match, filters: Filters, audience: Audience, *, limit: int
    ) -> list[tuple[str, float]]:
        """See `Store.match`."""
        with self._reading() as session:
            return matching.match(session, self._index, query, filters, audience, limit=limit)

    def columns(self, ids: Sequence[str], audience: Audience) -> dict[str, dict[str, str]]:
        """See `Store.columns`."""
        with self._reading() as session:
            known = reading.numbers(session, ids, audience)
            nums = list(set(known.values()))
            found = self._index.read(session, nums, private=False)
            if audience == "all":
                found |= self._index.read(session, nums, private=True)
            return {asked: found[known[asked]] for asked in ids if asked in known and known[asked] in found}

    def frequencies(self, tokens: Iterable[str]) -> Frequencies:
        """See `Store.frequencies`."""
        with self._reading() as session:
            return matching.frequencies(session, self._index, tokens)

    def vectors(self, model: str, audience: Audience) -> Iterator[VectorRow]:
        """See `Store.vectors`."""
        with self._reading() as session:
            yield from vectors.vectors(session, model, audience)

    def without_vectors(self, model: str) -> list[str]:
        """See `Store.without_vectors`."""
        with self._reading() as session:
            return vectors.without_vectors(session, model)

    def add_vectors(self, model: str, vectors: dict[str, list[Vector]]) -> None:
        """See `Store.add_vectors`."""
        with self.transaction() as writer:
            writer.add_vectors(model, vectors)

    def verify(self) -> list[str]:
        """See `Store.verify`."""
        # What reads records takes long to import, and only this and a new index need it.
        verifying = importlib.import_module("pilotage.library.stores.verifying")
        self._see_made()
        found: list[str] = verifying.verify(self._door, self._index, self._vocabulary)
        return found
