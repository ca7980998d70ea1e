"""The door to a PostgreSQL server, through psycopg 3 (the optional extra `[postgres]`).

Everything lies in the schema `pilotage` of the database that the address names. A call takes a connection
from a small pool; when the server went away in the meantime, the call is begun once more on a new one.
"""

from __future__ import annotations

import functools
import logging
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar

import psycopg
from psycopg import conninfo

from pilotage.clients.db.pool import Pool
from pilotage.clients.db.session import Row
from pilotage.core.errors import (
    ConfigError,
    PilotageError,
    Refused,
    StoreBusy,
    StoreCorrupt,
    StoreError,
    StoreFull,
    StoreReadOnly,
    Unreachable,
)

# The driver warns of a broken connection too; without a handler Python would print that beside our error.
logging.getLogger("psycopg").addHandler(logging.NullHandler())

SCHEMA = "pilotage"
WRITER_LOCK = int.from_bytes(b"PILG", "big")
"""Key of the advisory lock that the one writer holds."""
_CONNECT_SECONDS = 10
_HOST = r"(?:\[[0-9a-fA-F:.%]+\]|[^:/?#@\[\],]*)(?::\d*)?"
_PLACE = re.compile(rf"{_HOST}(?:,{_HOST})*(?:/[^/?#@]*)?")
_USER = re.compile(r"[^/?#@:]*(?::[^/]*)?")
_BATCH = 200

_AGAIN = "Try again; what was committed before is safe."
_BUSY = (StoreBusy, "another writer holds the store", "Try again when it has finished.")
_KINDS: dict[str, tuple[type[PilotageError], str, str]] = {
    "55P03": _BUSY,
    "40P01": _BUSY,
    "40001": _BUSY,
    "25006": (StoreReadOnly, "the server takes no writes", "Name the primary server with --store."),
    "53100": (
        StoreFull,
        "the server's disk is full, the transaction was undone",
        "Make room on it, then do it again.",
    ),
    "42501": (
        Refused,
        "the server refused a permission",
        "The user needs CREATE on the database and its own tables.",
    ),
    "42P01": (StoreCorrupt, "a table of the store is missing", "Restore a backup."),
    "XX001": (StoreCorrupt, "the server found damaged data", "See the server's log; restore a backup."),
    "XX002": (
        StoreCorrupt,
        "the server found a damaged index",
        "See the server's log; REINDEX mends indexes.",
    ),
}
_GONE = ("08", "57P")
"""Classes of errors that mean that the server is not there (any more)."""
_UNREACHABLE = (
    "refused\n",
    "connection refused",
    "timeout",
    "timed out",
    "could not translate",
    "resolve",
    "no such file",
    "no route",
    "unreachable",
    "server closed",
    "reset by peer",
    "starting up",
    "shutting down",
    "too many",
    "connection slots",
)
"""What libpq says when nobody answers; a failed connection carries no error code."""


@contextmanager
def translated(where: str) -> Iterator[None]:
    """Turns the driver's errors into ours.

    Raises:
        Unreachable, Refused, StoreBusy, StoreFull, StoreReadOnly, StoreCorrupt, StoreError: as the code says.
    """
    try:
        yield
    except psycopg.Error as error:
        raise _our_error(error, where) from error


def _our_error(error: psycopg.Error, where: str) -> PilotageError:
    code = error.sqlstate or ""
    said = _said(error)
    if code in _KINDS:
        kind, message, hint = _KINDS[code]
        return kind(f"{where}: {message} ({said})", hint=hint)
    if code.startswith(_GONE) or (not code and isinstance(error, psycopg.OperationalError)):
        return Unreachable(f"{where}: the server went away ({said})", hint=_AGAIN)
    return StoreError(f"{where}: the database gave an error ({said})", hint=_AGAIN)


def _said(error: psycopg.Error) -> str:
    """The server's words in one line: libpq sets advice and places on lines of their own."""
    return " ".join(str(error).split())


def _connect_error(error: psycopg.OperationalError, where: str) -> PilotageError:
    said = _said(error)
    if any(words in said.lower() for words in _UNREACHABLE):
        return Unreachable(
            f"{where}: the server does not answer ({said})", hint="Check host, port and that the server runs."
        )
    return Refused(f"{where}: the server refused ({said})", hint="Check database, user and password.")


@functools.lru_cache(maxsize=512)
def _marked(sql: str) -> str:
    """The statement with psycopg's marks in place of `?`."""
    return sql.replace("%", "%%").replace("?", "%s")


class PostgresSession:
    """An open transaction on one connection."""

    numbers: ClassVar[str] = "(SELECT unnest(?::bigint[]))"
    texts: ClassVar[str] = "(SELECT unnest(?::text[]))"

    def __init__(self, connection: psycopg.Connection[Row], where: str) -> None:
        self._connection = connection
        self._where = where

    def listed(self, values: Iterable[int] | Iterable[str]) -> Any:
        """A list as one parameter."""
        return list(values)

    def rows(self, sql: str, params: Sequence[Any] = ()) -> list[Row]:
        """All rows of a query."""
        with translated(self._where), self._connection.cursor() as cursor:
            return cursor.execute(_marked(sql).encode(), params).fetchall()

    def one(self, sql: str, params: Sequence[Any] = ()) -> Row | None:
        """The first row of a query."""
        with translated(self._where), self._connection.cursor() as cursor:
            return cursor.execute(_marked(sql).encode(), params).fetchone()

    def stream(self, sql: str, params: Sequence[Any] = ()) -> Iterator[Row]:
        """The rows of a query one by one, through a cursor of the server."""
        cursor = self._connection.cursor("pilotage_stream")
        try:
            with translated(self._where):
                cursor.execute(_marked(sql).encode(), params)
            while True:
                with translated(self._where):
                    batch = cursor.fetchmany(_BATCH)
                if not batch:
                    return
                yield from batch
        finally:
            with translated(self._where):
                cursor.close()

    def run(self, sql: str, params: Sequence[Any] = ()) -> None:
        """Runs a statement."""
        with translated(self._where), self._connection.cursor() as cursor:
            cursor.execute(_marked(sql).encode(), params)

    def add(self, sql: str, params: Sequence[Any], key: str) -> int:
        """Runs an INSERT of one row, and gives what the database chose for its column `key`."""
        row = self.one(f"{sql} RETURNING {key}", params)
        return int(row[0]) if row else 0

    def many(self, sql: str, params: Iterable[Sequence[Any]]) -> None:
        """Runs a statement for each set of parameters."""
        with translated(self._where), self._connection.cursor() as cursor:
            cursor.executemany(_marked(sql).encode(), params)

    def has_table(self, name: str) -> bool:
        """Whether there is a table of that name."""
        # Not to_regclass(), which may answer from a cache that knows nothing of another session's commit.
        row = self.one(
            "SELECT has_schema_privilege(?, 'USAGE') FROM pg_tables WHERE schemaname = ? AND tablename = ?",
            (SCHEMA, SCHEMA, name),
        )
        if row is not None and not row[0]:
            raise Refused(
                f"{self._where}: the user may not enter the schema '{SCHEMA}'",
                hint=f"GRANT USAGE ON SCHEMA {SCHEMA}, and SELECT on its tables, let a user read it.",
            )
        return row is not None

    def make_place(self) -> None:
        """Makes the schema; asked first, since nobody but its owner may need the right to make one."""
        if self.one("SELECT 1 FROM pg_namespace WHERE nspname = ?", (SCHEMA,)) is None:
            self.run(f"CREATE SCHEMA {SCHEMA}")


class PostgresDoor:
    """The door to one database.

    Args:
        url: its address, `postgresql://user:password@host:port/database?…`.
        busy_seconds: how long to wait for another writer.

    Raises:
        ConfigError: the address cannot be read, or the database is not in UTF-8.
        Unreachable, Refused: see `translated`.
    """

    def __init__(self, url: str, *, busy_seconds: float) -> None:
        self.address = without_password(url)
        self.generation = 0
        self._busy_seconds = busy_seconds
        self._parameters = _parameters(url, self.address)
        self._pool: Pool[psycopg.Connection[Row]] = Pool(self._connect, psycopg.Connection.close)
        first = self._pool.take()
        encoding = first.info.parameter_status("server_encoding")
        if encoding != "UTF8":
            self._pool.drop(first)
            raise ConfigError(
                f"{self.address}: the database is in {encoding}", hint="Create one with ENCODING 'UTF8'."
            )
        self._pool.give(first)

    def close(self) -> None:
        """Closes the connections."""
        self._pool.close()

    @contextmanager
    def reading(self) -> Iterator[PostgresSession]:
        """A read transaction; repeatable read gives all its queries the same moment."""
        connection = self._begun("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        try:
            yield PostgresSession(connection, self.address)
        finally:
            self._end(connection)

    @contextmanager
    def writing(self) -> Iterator[PostgresSession]:
        """The write transaction."""
        connection = self._begun("BEGIN ISOLATION LEVEL READ COMMITTED")
        try:
            session = PostgresSession(connection, self.address)
            session.run(f"SET LOCAL lock_timeout = {max(1, round(self._busy_seconds * 1000))}")
            session.run("SELECT pg_advisory_xact_lock(?)", (WRITER_LOCK,))
            yield session
            session.run("COMMIT")
        finally:
            self._end(connection)

    def _begun(self, begin: str) -> psycopg.Connection[Row]:
        connection = self._pool.take()
        try:
            connection.execute(begin)
        except psycopg.OperationalError:
            # An idle connection does not notice that the server was restarted.
            self._pool.drop(connection)
            connection = self._pool.fresh()
            self._first(connection, begin)
        return connection

    def _end(self, connection: psycopg.Connection[Row]) -> None:
        try:
            if connection.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
                connection.execute("ROLLBACK")
        except psycopg.Error:
            # The first error is the one to tell; this connection is not used again.
            self._pool.drop(connection)
        else:
            self._pool.give(connection)

    def _connect(self) -> psycopg.Connection[Row]:
        try:
            connection: psycopg.Connection[Row] = psycopg.connect(**self._parameters, autocommit=True)
        except psycopg.OperationalError as error:
            raise _connect_error(error, self.address) from error
        self._first(connection, f"SET search_path TO {SCHEMA}, pg_catalog")
        return connection

    def _first(self, connection: psycopg.Connection[Row], statement: str) -> None:
        """Runs the first statement of a connection, which nobody else would close if it fails."""
        try:
            with translated(self.address):
                connection.execute(statement.encode())
        except BaseException:
            self._pool.drop(connection)
            raise


def without_password(url: str) -> str:
    """The address as messages may show it: no password, no parameters.

    A password may hold what ends a part of an address, and then stands where no password is looked for: what
    is not plainly user, hosts and database is not shown at all.
    """
    scheme, _, rest = url.partition("://")
    place = rest.partition("?")[0]
    user, mark, where = place.rpartition("@")
    if not _PLACE.fullmatch(where) or not _USER.fullmatch(user) or (not mark and "@" in rest):
        return f"{scheme}://…"
    return f"{scheme}://{user.partition(':')[0]}{mark}{where}"


def _parameters(url: str, shown: str) -> dict[str, Any]:
    try:
        found: dict[str, Any] = dict(conninfo.conninfo_to_dict(url))
    except psycopg.ProgrammingError:
        # Not chained: the driver's message quotes the address with its password.
        found = {}
    if not found:
        raise ConfigError(
            f"{shown}: the address cannot be read", hint="Write postgresql://USER@HOST:PORT/DATABASE."
        )
    found.setdefault("connect_timeout", _CONNECT_SECONDS)
    found.setdefault("application_name", "pilotage")
    return found | {"client_encoding": "UTF8"}
