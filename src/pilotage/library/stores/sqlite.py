"""The store in one SQLite file. The search index is FTS5: a table of public and one of private records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pilotage.clients.db.session import Session
from pilotage.clients.db.sqlite import SqliteDoor
from pilotage.core.errors import StoreCorrupt
from pilotage.library.entry import COLUMNS
from pilotage.library.stores import filtering, migrating
from pilotage.library.stores.protocol import COLUMN_WEIGHTS, Filters, Match, Phrase
from pilotage.library.stores.sql import SqlStore
from pilotage.library.terms import Vocabulary

APPLICATION_ID = int.from_bytes(b"PILG", "big")
"""What marks a SQLite file as ours; the first migration writes it."""
_PUBLIC, _PRIVATE = "public_index", "private_index"
_TIE = 2e-12
"""Matches the digits to which scores are rounded: what differs by less is settled by id."""


def open_sqlite(path: Path, *, vocabulary: Vocabulary, busy_seconds: float, create: bool) -> SqlStore:
    """Opens a file and brings it to today's form; see `open_store` for `create`.

    Raises:
        NotFound, ConfigError, StoreError: see `SqliteDoor` and `migrating.prepare`.
    """
    door = SqliteDoor(path, application_id=APPLICATION_ID, busy_seconds=busy_seconds, create=create)
    index = FtsIndex()
    try:
        if create:
            door.begin_log()
        made = migrating.prepare(door, index, "sqlite", vocabulary, create=create)
        return SqlStore(door, index, "sqlite", vocabulary, made=made)
    except BaseException:
        door.close()
        raise


class FtsIndex:
    """The two FTS5 tables; a row has the number of its record."""

    def put(self, session: Session, num: int, private: bool, columns: Mapping[str, str]) -> None:
        """See `Index.put`."""
        session.run(
            f"INSERT INTO {_table(private)} (rowid, name, said, tags, body) VALUES (?, ?, ?, ?, ?)",
            (num, *(columns[column] for column in COLUMNS)),
        )

    def drop(self, session: Session, num: int, private: bool) -> None:
        """See `Index.drop`."""
        session.run(f"DELETE FROM {_table(private)} WHERE rowid = ?", (num,))

    def clear(self, session: Session) -> None:
        """See `Index.clear`."""
        session.run(f"DELETE FROM {_PUBLIC}")
        session.run(f"DELETE FROM {_PRIVATE}")

    def read(self, session: Session, nums: Sequence[int], private: bool) -> dict[int, dict[str, str]]:
        """See `Index.read`."""
        rows = session.rows(
            f"SELECT rowid, name, said, tags, body FROM {_table(private)} WHERE rowid IN {session.numbers}",
            (session.listed(nums),),
        )
        return {num: dict(zip(COLUMNS, columns, strict=True)) for num, *columns in rows}

    def best(self, session: Session, query: Match, filters: Filters, limit: int) -> list[tuple[int, float]]:
        """See `Index.best`."""
        condition = _condition(session, query, filters, _PUBLIC)
        if condition.never:
            return []
        sql, params = _ranked_groups(query, condition)
        wanted = limit
        while True:
            found = [
                (num, -score)
                for num, score in session.rows(f"{sql} ORDER BY score LIMIT ?", [*params, wanted + 1])
            ]
            if len(found) <= wanted or found[limit - 1][1] - found[-1][1] > _TIE:
                return found
            # The last ones tie, and ties are settled by id: all of them are needed.
            wanted *= 4

    def candidates(self, session: Session, query: Match, filters: Filters, limit: int) -> list[int]:
        """See `Index.candidates`."""
        condition = _condition(session, query, filters, _PRIVATE)
        if condition.never:
            return []
        every = [phrase for _, phrases in query.groups for phrase in phrases]
        sql, params = _ranked(_PRIVATE, 1.0, every, condition)
        return [row[0] for row in session.rows(f"{sql} ORDER BY score LIMIT ?", [*params, limit])]

    def holding(self, session: Session, phrases: Iterable[Phrase]) -> dict[Phrase, int]:
        """See `Index.holding`."""
        wanted = list(phrases)
        words = [phrase[0] for phrase in wanted if len(phrase) == 1]
        known: dict[str, int] = {}
        if words:
            sql = f"SELECT term, doc FROM public_words WHERE term IN {session.texts}"
            known = dict(session.rows(sql, (session.listed(words),)))
        found: dict[Phrase, int] = {}
        for phrase in wanted:
            if len(phrase) == 1:
                found[phrase] = int(known.get(phrase[0], 0))
                continue
            row = session.one(f"SELECT count(*) FROM {_PUBLIC} WHERE {_PUBLIC} MATCH ?", (_quoted(phrase),))
            found[phrase] = int(row[0]) if row else 0
        return found

    def orphans(self, session: Session) -> list[int]:
        """See `Index.orphans`."""
        rows = session.rows(
            f"SELECT rowid FROM {_PUBLIC} WHERE rowid NOT IN (SELECT num FROM record WHERE state IN (0, 2))"
            f" UNION SELECT rowid FROM {_PRIVATE} WHERE rowid NOT IN"
            " (SELECT num FROM record WHERE state IN (1, 3)) LIMIT 3"
        )
        return [row[0] for row in rows]

    def damage(self, session: Session) -> list[str]:
        """See `Index.damage`."""
        found = [
            f"The file is damaged: {row[0]}."
            for row in session.rows("PRAGMA integrity_check(20)")
            if row[0] != "ok"
        ]
        found += [
            f"A row of table '{row[0]}' refers to a row that is not there."
            for row in session.rows("PRAGMA foreign_key_check")
        ]
        for table in (_PUBLIC, _PRIVATE):
            try:
                session.run(f"INSERT INTO {table} ({table}) VALUES ('integrity-check')")
            except StoreCorrupt:
                found.append(f"The words of the search index '{table}' do not agree with its rows.")
        return found


def _table(private: bool) -> str:
    return _PRIVATE if private else _PUBLIC


def _quoted(phrase: Phrase) -> str:
    """A phrase as an FTS5 string: nothing in it is an operator."""
    return '"' + " ".join(token.replace('"', '""') for token in phrase) + '"'


def _any_of(phrases: Iterable[Phrase]) -> str:
    return " OR ".join(_quoted(phrase) for phrase in dict.fromkeys(phrases))


def _bm25(table: str) -> str:
    return f"bm25({table}, {', '.join(str(COLUMN_WEIGHTS[column]) for column in COLUMNS)})"


def _condition(session: Session, query: Match, filters: Filters, table: str) -> filtering.Condition:
    """What a row must meet besides holding a phrase; kept apart from the expression that is scored."""
    # The plus sign keeps SQLite from running a match once for every row of a list of numbers.
    num = f"+{table}.rowid"
    condition = filtering.of_index(session, filters, num)
    sql, params = condition.sql, list(condition.params)
    inside = f"(SELECT rowid FROM {table} WHERE {table} MATCH ?)"
    demands = [_quoted(phrase) for phrase in query.require]
    demands += ["name : " + _quoted(phrase) for phrase in query.title]
    if demands:
        sql += f" AND {num} IN {inside}"
        params.append(" AND ".join(f"({demand})" for demand in demands))
    if query.exclude:
        sql += f" AND {num} NOT IN {inside}"
        params.append(_any_of(query.exclude))
    return filtering.Condition(sql, tuple(params), condition.never)


def _ranked(
    table: str, weight: float, phrases: Iterable[Phrase], condition: filtering.Condition
) -> tuple[str, list[Any]]:
    # Not ORDER BY rank: FTS5 would compute the rank of every row that is given out a second time.
    return (
        f"SELECT rowid AS num, ? * {_bm25(table)} AS score FROM {table} WHERE {table} MATCH ?{condition.sql}",
        [float(weight), _any_of(phrases), *condition.params],
    )


def _ranked_groups(query: Match, condition: filtering.Condition) -> tuple[str, list[Any]]:
    if len(query.groups) == 1:
        return _ranked(_PUBLIC, *query.groups[0], condition)
    parts = [_ranked(_PUBLIC, weight, phrases, condition) for weight, phrases in query.groups]
    union = " UNION ALL ".join(sql for sql, _ in parts)
    params = [value for _, values in parts for value in values]
    return f"SELECT num, sum(score) AS score FROM ({union}) GROUP BY num", params
