"""What a search index can do: the part in which the two stores differ most."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from pilotage.clients.db.session import Session
from pilotage.library.stores.protocol import Filters, Match, Phrase


class Index(Protocol):
    """Two search indexes, one of public and one of private records, inside the store's transactions."""

    def put(self, session: Session, num: int, private: bool, columns: Mapping[str, str]) -> None:
        """Writes the row of a record that has none."""

    def drop(self, session: Session, num: int, private: bool) -> None:
        """Removes the row of a record."""

    def clear(self, session: Session) -> None:
        """Removes all rows."""

    def read(self, session: Session, nums: Sequence[int], private: bool) -> dict[int, dict[str, str]]:
        """Number -> column -> tokens."""

    def best(self, session: Session, query: Match, filters: Filters, limit: int) -> list[tuple[int, float]]:
        """(number, score) of the best public records; all that tie with the last one are among them."""

    def candidates(self, session: Session, query: Match, filters: Filters, limit: int) -> list[int]:
        """Numbers of the private records that meet the query, the likeliest first."""

    def holding(self, session: Session, phrases: Iterable[Phrase]) -> dict[Phrase, int]:
        """Phrase -> number of public records that hold it."""

    def orphans(self, session: Session) -> list[int]:
        """Numbers of rows that belong to no record, or to one of the other visibility."""

    def damage(self, session: Session) -> list[str]:
        """What is wrong inside the index, in sentences; the session must be a writing one."""
