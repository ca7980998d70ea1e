"""The door to a SQLite file.

The file is in WAL mode, so that readers go on while one process writes, and synchronous is FULL: with NORMAL
a power cut may take back transactions that had been acknowledged.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import quote

from pilotage.clients.db.pool import Pool
from pilotage.clients.db.session import Row
from pilotage.core.errors import (
    ConfigError,
    NotFound,
    PilotageError,
    StoreBusy,
    StoreCorrupt,
    StoreError,
    StoreFull,
    StoreGone,
    StoreReadOnly,
)
from pilotage.core.paths import is_absent, is_file, is_folder

_CACHE_KIB = 32_768
_WRITING_CACHE_KIB = 8192
"""Pages that a writer holds back; more of them made an import no faster, but fuller by as much."""
_LOG_LIMIT_BYTES = 64 * 1024 * 1024
_BATCH = 200
_PRIMARY = 0xFF
_WRITE_REFUSED = (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_IOERR_WRITE)
_UNOPENED = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)

_FULL_HINT = (
    "Make room on the device (or raise the quota), then do it again; what was committed before is safe."
)
_KINDS: dict[int, tuple[type[PilotageError], str, str]] = {
    sqlite3.SQLITE_BUSY: (StoreBusy, "another writer holds the store", "Try again when it has finished."),
    sqlite3.SQLITE_LOCKED: (StoreBusy, "another writer holds the store", "Try again when it has finished."),
    sqlite3.SQLITE_FULL: (StoreFull, "the device is full, the transaction was undone", _FULL_HINT),
    sqlite3.SQLITE_READONLY: (
        StoreReadOnly,
        "the file or its folder cannot be written",
        "Check owner and permissions, or name another place with --store.",
    ),
    sqlite3.SQLITE_CORRUPT: (
        StoreCorrupt,
        "the file is damaged",
        "Move it away and import again, or restore a copy; `pilotage library verify` says more.",
    ),
    sqlite3.SQLITE_NOTADB: (
        StoreCorrupt,
        "the file is not a Pilotage store",
        "Name another file with --store; this one was left as it is.",
    ),
    sqlite3.SQLITE_CANTOPEN: (
        StoreError,
        "the file cannot be opened",
        "Check that the folder is there and that you may enter and write it.",
    ),
}


@contextmanager
def translated(where: str) -> Iterator[None]:
    """Turns the driver's errors into ours.

    Raises:
        StoreBusy, StoreFull, StoreReadOnly, StoreCorrupt, StoreError: as SQLite's error code says.
    """
    try:
        yield
    except sqlite3.Error as error:
        raise _our_error(error, where) from error


def _our_error(error: sqlite3.Error, where: str) -> PilotageError:
    code = getattr(error, "sqlite_errorcode", 0)
    if code in _WRITE_REFUSED:
        # A quota or a file-size limit; ENOSPC itself comes as SQLITE_FULL. Full-text tables lose the
        # finer code, and give plain SQLITE_IOERR.
        return StoreFull(
            f"{where}: the device refused a write, the transaction was undone ({error})", hint=_FULL_HINT
        )
    kind, message, hint = _KINDS.get(
        code & _PRIMARY,
        (
            StoreError,
            "the database gave an error",
            "What was committed before is safe; see the message for the cause.",
        ),
    )
    return kind(f"{where}: {message} ({error})", hint=hint)


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _uri(path: Path) -> str:
    """The path as SQLite takes it: two slashes at its beginning would be read as the name of a host."""
    return ("file://" if path.is_absolute() else "file:") + quote(os.fsencode(path))


class SqliteSession:
    """An open transaction on one connection."""

    numbers: ClassVar[str] = "(SELECT value FROM json_each(?))"
    texts: ClassVar[str] = "(SELECT value FROM json_each(?))"

    def __init__(self, connection: sqlite3.Connection, where: str) -> None:
        self._connection = connection
        self._where = where

    def listed(self, values: Iterable[int] | Iterable[str]) -> Any:
        """A list as one parameter."""
        return json.dumps(list(values))

    def rows(self, sql: str, params: Sequence[Any] = ()) -> list[Row]:
        """All rows of a query."""
        with translated(self._where):
            return self._connection.execute(sql, params).fetchall()

    def one(self, sql: str, params: Sequence[Any] = ()) -> Row | None:
        """The first row of a query."""
        found = self.rows(sql, params)
        return found[0] if found else None

    def stream(self, sql: str, params: Sequence[Any] = ()) -> Iterator[Row]:
        """The rows of a query one by one."""
        with translated(self._where):
            cursor = self._connection.execute(sql, params)
        try:
            while True:
                with translated(self._where):
                    batch = cursor.fetchmany(_BATCH)
                if not batch:
                    return
                yield from batch
        finally:
            cursor.close()

    def run(self, sql: str, params: Sequence[Any] = ()) -> None:
        """Runs a statement."""
        with translated(self._where):
            self._connection.execute(sql, params)

    def add(self, sql: str, params: Sequence[Any], key: str) -> int:  # noqa: ARG002 - the key is the row's id
        """Runs an INSERT of one row, and gives what the database chose for its column `key`."""
        # Not RETURNING, which opens a savepoint, at which full-text tables write out all that they hold back.
        with translated(self._where):
            return self._connection.execute(sql, params).lastrowid or 0

    def many(self, sql: str, params: Iterable[Sequence[Any]]) -> None:
        """Runs a statement for each set of parameters."""
        with translated(self._where):
            self._connection.executemany(sql, params)

    def has_table(self, name: str) -> bool:
        """Whether there is a table of that name."""
        return self.one("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", (name,)) is not None

    def make_place(self) -> None:
        """The file is all that tables need."""


class SqliteDoor:
    """The door to one SQLite file.

    Args:
        path: the file.
        application_id: what `PRAGMA application_id` of our files says.
        busy_seconds: how long to wait for another writer.
        create: make the file and its folder when they are not there; without a commit they go again.

    Raises:
        NotFound: there is no such file and `create` is false.
        ConfigError: the path is a folder.
        StoreCorrupt: the file is something else.
        StoreReadOnly: it is to be made where nothing can be written, or its log cannot be read.
    """

    def __init__(self, path: Path, *, application_id: int, busy_seconds: float, create: bool) -> None:
        self.address = f"sqlite:///{path}"
        self._path = path
        self._busy_seconds = busy_seconds
        self._mode = "mode=rwc" if create else "mode=rw"
        self.generation = 0
        self._application_id = application_id
        self._pool: Pool[sqlite3.Connection] = Pool(self._connect, sqlite3.Connection.close)
        self._following = threading.Lock()
        self._made: list[Path] = []
        self._find(create=create)
        self._pool.give(self._probe(application_id))
        self._identity = _identity(path)

    def close(self) -> None:
        """Closes the connections, and takes away a file that was made here and never written to."""
        self._pool.close()
        if self._made:
            self._discard()

    @contextmanager
    def reading(self) -> Iterator[SqliteSession]:
        """A read transaction on the file that lies at the path now.

        Raises:
            StoreGone: there is none, though there was one.
        """
        self._follow()
        pool = self._pool
        connection = pool.take()
        try:
            with translated(self.address):
                connection.execute("BEGIN")
            yield SqliteSession(connection, self.address)
        finally:
            self._end(pool, connection)

    def _follow(self) -> None:
        # An open file that was taken away can still be read: a server would go on answering from it for ever.
        found = _identity(self._path)
        if found == self._identity:
            return
        if found is None:
            hint = "Put it back: reading goes on as soon as it is there."
            raise StoreGone(f"{self.address}: the file is gone", hint=hint)
        with self._following:
            if found == self._identity:
                return
            pool: Pool[sqlite3.Connection] = Pool(self._connect, sqlite3.Connection.close)
            pool.give(self._probe(self._application_id))
            before, self._pool = self._pool, pool
            self._identity = found
            self.generation += 1
        # What others are still reading there goes when they have done.
        before.close()

    @contextmanager
    def writing(self) -> Iterator[SqliteSession]:
        """The write transaction."""
        pool = self._pool
        connection = pool.take()
        try:
            with translated(self.address):
                connection.execute(f"PRAGMA cache_size = -{_WRITING_CACHE_KIB}")
                connection.execute("BEGIN IMMEDIATE")
            if _identity(self._path) != self._identity:
                raise StoreError(
                    f"{self.address}: the file was taken away or replaced while it was open",
                    hint="Do it again; nothing was written.",
                )
            yield SqliteSession(connection, self.address)
            if not connection.in_transaction:
                raise StoreError(
                    f"{self.address}: the transaction was undone before its end",
                    hint="Do it again; what was committed before is safe.",
                )
            with translated(self.address):
                connection.execute("COMMIT")
            self._made = []
        finally:
            self._end(pool, connection)

    def begin_log(self) -> None:
        """Puts a new file into WAL mode; others may be doing the same at this moment."""
        deadline = time.monotonic() + self._busy_seconds
        connection = self._pool.take()
        try:
            while True:
                try:
                    connection.execute("PRAGMA journal_mode = WAL")
                except sqlite3.OperationalError as error:
                    if (
                        error.sqlite_errorcode & _PRIMARY != sqlite3.SQLITE_BUSY
                        or time.monotonic() > deadline
                    ):
                        raise _our_error(error, self.address) from error
                    time.sleep(0.02)
                else:
                    return
        finally:
            self._end(self._pool, connection)

    def _discard(self) -> None:
        """Takes an empty file away that nobody else has open: only then can WAL mode be left."""
        connection = sqlite3.connect(self._path, timeout=0, isolation_level=None)
        try:
            if connection.execute("PRAGMA journal_mode = DELETE").fetchone()[0] != "delete":
                return
            connection.execute("BEGIN EXCLUSIVE")
            if connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                connection.execute("ROLLBACK")
                connection.execute("PRAGMA journal_mode = WAL")
                return
            file, *folders = self._made
            file.unlink()
            for folder in folders:
                folder.rmdir()
        except (sqlite3.Error, OSError):
            return  # somebody has begun to use it
        finally:
            connection.close()

    def _end(self, pool: Pool[sqlite3.Connection], connection: sqlite3.Connection) -> None:
        try:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
        except sqlite3.Error:
            # The first error is the one to tell; this connection is not used again.
            pool.drop(connection)
        else:
            pool.give(connection)

    def _find(self, *, create: bool) -> None:
        if is_folder(self._path):
            raise ConfigError(f"{self._path} is a folder, not a store", hint="Name a file in it.")
        # One that cannot be looked at is opened, which tells why it cannot.
        if not is_absent(self._path):
            return
        if not create:
            raise NotFound(
                f"there is no store at {self._path}",
                hint=f"`pilotage library import --bundled --store {self._path}` makes one.",
            )
        folders = [self._path.parent, *self._path.parent.parents]
        self._made = [self._path, *(folder for folder in folders if is_absent(folder))]
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreReadOnly(
                f"the folder {self._path.parent} cannot be made: {error.strerror}",
                hint="Check owner and permissions, or name another place with --store.",
            ) from error

    def _probe(self, application_id: int) -> sqlite3.Connection:
        """The first connection, in the first mode in which the file can be read."""
        try:
            return self._checked(application_id)
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & _PRIMARY not in _UNOPENED or not is_file(self._path):
                raise _our_error(error, self.address) from error
            return self._probe_read_only(application_id)
        except sqlite3.Error as error:
            raise _our_error(error, self.address) from error

    def _probe_read_only(self, application_id: int) -> sqlite3.Connection:
        log = Path(f"{self._path}-wal")
        with translated(self.address):
            try:
                self._mode = "mode=ro"
                return self._checked(application_id)
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & _PRIMARY not in _UNOPENED:
                    raise
                if is_file(log) and log.stat().st_size:
                    raise StoreReadOnly(
                        f"{self.address}: the log beside the file cannot be read in a read-only folder",
                        hint="Open the store once where its folder can be written: that folds the log in.",
                    ) from error
            # Nothing but this mode reads a WAL file in a folder that cannot be written.
            self._mode = "mode=ro&immutable=1"
            return self._checked(application_id)

    def _checked(self, application_id: int) -> sqlite3.Connection:
        connection = self._connect_untranslated()
        try:
            found = connection.execute("PRAGMA application_id").fetchone()[0]
            tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        except sqlite3.Error:
            connection.close()
            raise
        if found != application_id and (tables or found):
            connection.close()
            raise StoreCorrupt(
                f"{self.address}: the file is a database, but not a Pilotage store",
                hint="Name another file with --store; this one was left as it is.",
            )
        return connection

    def _connect(self) -> sqlite3.Connection:
        with translated(self.address):
            return self._connect_untranslated()

    def _connect_untranslated(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            f"{_uri(self._path)}?{self._mode}",
            uri=True,
            timeout=self._busy_seconds,
            isolation_level=None,
            check_same_thread=False,
        )
        try:
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
            connection.execute(f"PRAGMA journal_size_limit = {_LOG_LIMIT_BYTES}")
        except sqlite3.Error:
            connection.close()
            raise
        return connection
