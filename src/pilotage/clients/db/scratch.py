"""A place to note what came by, of any length, without keeping it in memory."""

from __future__ import annotations

import sqlite3
from types import TracebackType
from typing import Self

from pilotage.clients.db.sqlite import translated

_WHERE = "the folder for temporary files (TMPDIR)"
_CACHE_KIB = 2048


class Scratch:
    """Texts, and what was noted of each first: a SQLite database without a name.

    SQLite keeps the first megabytes in memory and the rest in a temporary file, which no other process sees
    and which is gone with `close`.
    """

    def __init__(self) -> None:
        with translated(_WHERE):
            self._connection = sqlite3.connect("", isolation_level=None)
            self._connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
            # Nothing of it is ever taken back or read by the next process.
            self._connection.execute("PRAGMA journal_mode = OFF")
            self._connection.execute("CREATE TABLE noted (text BLOB PRIMARY KEY, what TEXT) WITHOUT ROWID")
            self._connection.execute("BEGIN")
            self._cursor = self._connection.cursor()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __contains__(self, text: str) -> bool:
        return self._found(_key(text)) is not None

    def note(self, text: str, what: str = "") -> str | None:
        """What was noted of a text before, or None, in which case `what` is noted of it.

        Raises:
            StoreFull: there is no room for temporary files.
        """
        key = _key(text)
        before = self._found(key)
        if before is None:
            with translated(_WHERE):
                self._cursor.execute("INSERT INTO noted VALUES (?, ?)", (key, what))
        return before

    def close(self) -> None:
        """Throws all of it away."""
        self._connection.close()

    def _found(self, key: bytes) -> str | None:
        with translated(_WHERE):
            row = self._cursor.execute("SELECT what FROM noted WHERE text = ?", (key,)).fetchone()
        return None if row is None else str(row[0])


def _key(text: str) -> bytes:
    # Lone surrogates are allowed in texts, but not in those of SQLite.
    return text.encode("utf-8", "surrogatepass")
