"""What the stores see of a database: sessions that run statements, doors that open transactions.

Statements mark parameters with `?` whatever the database.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, ClassVar, Protocol

Row = tuple[Any, ...]


class Session(Protocol):
    """An open transaction."""

    numbers: ClassVar[str]
    """A subquery that gives the integers of one parameter made by `listed`."""
    texts: ClassVar[str]
    """Likewise for texts."""

    def listed(self, values: Iterable[int] | Iterable[str]) -> Any:
        """A list as one parameter for `numbers` or `texts`."""

    def rows(self, sql: str, params: Sequence[Any] = ()) -> list[Row]:
        """All rows of a query."""

    def one(self, sql: str, params: Sequence[Any] = ()) -> Row | None:
        """The first row of a query."""

    def stream(self, sql: str, params: Sequence[Any] = ()) -> Iterator[Row]:
        """The rows of a query one by one, in constant memory."""

    def run(self, sql: str, params: Sequence[Any] = ()) -> None:
        """Runs a statement."""

    def add(self, sql: str, params: Sequence[Any], key: str) -> int:
        """Runs an INSERT of one row, and gives what the database chose for its column `key`."""

    def many(self, sql: str, params: Iterable[Sequence[Any]]) -> None:
        """Runs a statement for each set of parameters."""

    def has_table(self, name: str) -> bool:
        """Whether there is a table of that name."""

    def make_place(self) -> None:
        """Makes what tables lie in, unless it is there."""


class Door(Protocol):
    """A database. Its calls may be made from any thread."""

    address: str
    """Where it is, without a password."""
    generation: int
    """How often another database was found in its place."""

    def reading(self) -> AbstractContextManager[Session]:
        """A read transaction: all its queries see the same moment."""

    def writing(self) -> AbstractContextManager[Session]:
        """The one write transaction: committed at the end, undone when an exception leaves it."""

    def close(self) -> None:
        """Gives all connections back."""
