"""The store on a PostgreSQL server, for many web replicas over one library.

The words of a record lie in a `tsvector` that we write ourselves from the index tokens: PostgreSQL's own
parser would cut tokens otherwise. The database finds candidates and orders them by a rank that is near to
BM25; the scores themselves are computed from the columns as SQLite computes them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pilotage.clients.db.postgres import PostgresDoor
from pilotage.clients.db.session import Session
from pilotage.library.entry import COLUMNS
from pilotage.library.stores import bm25, filtering, matching, migrating
from pilotage.library.stores.protocol import COLUMN_WEIGHTS, Filters, Match, Phrase
from pilotage.library.stores.sql import SqlStore
from pilotage.library.stores.writing import length_of
from pilotage.library.terms import Vocabulary

_PUBLIC, _PRIVATE = "public_index", "private_index"
_LABELS = dict(zip(COLUMNS, "ABCD", strict=True))
_HEAVIEST = max(COLUMN_WEIGHTS.values())
_RANK_WEIGHTS = "{" + ",".join(str(COLUMN_WEIGHTS[column] / _HEAVIEST) for column in reversed(COLUMNS)) + "}"
_RANK_UNIT = _HEAVIEST * math.pi**2 / 6
"""`ts_rank` of a token that occurs once, times this, is the weight of its column."""
_LAST_PLACE = 16_383
_MOST_PLACES = 255
_MOST_LEXEME_BYTES = 2_046
_MOST_BYTES = 900_000
"""A tsvector holds a megabyte at most."""


def open_postgres(url: str, *, vocabulary: Vocabulary, busy_seconds: float, create: bool) -> SqlStore:
    """Opens a database, brings its store to today's form, and makes it first when `create` says so.

    Raises:
        NotFound, ConfigError, Unreachable, Refused, StoreError: see `PostgresDoor` and `migrating.prepare`.
    """
    door = PostgresDoor(url, busy_seconds=busy_seconds)
    index = TsIndex()
    try:
        if create:
            door.make_schema()
        migrating.prepare(door, index, "postgres", vocabulary, create=create)
        return SqlStore(door, index, "postgres", vocabulary)
    except BaseException:
        door.close()
        raise


class TsIndex:
    """The two index tables; a row has the number of its record."""

    def put(self, session: Session, num: int, private: bool, columns: Mapping[str, str]) -> None:
        """See `Index.put`."""
        session.run(
            f"INSERT INTO {_table(private)} (num, name, said, tags, body, tokens, words)"
            " VALUES (?, ?, ?, ?, ?, ?, ?::tsvector)",
            (num, *(columns[column] for column in COLUMNS), length_of(columns), words_of(columns)),
        )

    def drop(self, session: Session, num: int, private: bool) -> None:
        """See `Index.drop`."""
        session.run(f"DELETE FROM {_table(private)} WHERE num = ?", (num,))

    def clear(self, session: Session) -> None:
        """See `Index.clear`."""
        session.run(f"DELETE FROM {_PUBLIC}")
        session.run(f"DELETE FROM {_PRIVATE}")

    def read(self, session: Session, nums: Sequence[int], private: bool) -> dict[int, dict[str, str]]:
        """See `Index.read`."""
        rows = session.rows(
            f"SELECT num, name, said, tags, body FROM {_table(private)} WHERE num IN {session.numbers}",
            (session.listed(nums),),
        )
        return {num: dict(zip(COLUMNS, columns, strict=True)) for num, *columns in rows}

    def best(self, session: Session, query: Match, filters: Filters, limit: int) -> list[tuple[int, float]]:
        """See `Index.best`; exact where the best ones are among the candidates, of which there are many."""
        known = matching.statistics(session, self, bm25.phrases_of(query))
        wanted = max(2 * limit, matching.MOST_CANDIDATES)
        nums = _candidates(session, query, filters, _PUBLIC, known, wanted)
        return matching.scored(session, self, query, nums, known, private=False)

    def candidates(self, session: Session, query: Match, filters: Filters, limit: int) -> list[int]:
        """See `Index.candidates`."""
        known = matching.statistics(session, self, bm25.phrases_of(query))
        return _candidates(session, query, filters, _PRIVATE, known, limit)

    def holding(self, session: Session, phrases: Iterable[Phrase]) -> dict[Phrase, int]:
        """See `Index.holding`."""
        found: dict[Phrase, int] = {}
        for phrase in phrases:
            row = session.one(f"SELECT count(*) FROM {_PUBLIC} WHERE words @@ ?::tsquery", (_query(phrase),))
            found[phrase] = int(row[0]) if row else 0
        return found

    def orphans(self, session: Session) -> list[int]:
        """See `Index.orphans`."""
        rows = session.rows(
            f"SELECT num FROM {_PUBLIC} WHERE num NOT IN (SELECT num FROM record WHERE state IN (0, 2))"
            f" UNION SELECT num FROM {_PRIVATE} WHERE num NOT IN"
            " (SELECT num FROM record WHERE state IN (1, 3)) LIMIT 3"
        )
        return [row[0] for row in rows]

    def damage(self, session: Session) -> list[str]:
        """See `Index.damage`."""
        found = []
        for table in (_PUBLIC, _PRIVATE):
            wrong = 0
            for num, *columns, tokens in session.stream(
                f"SELECT num, name, said, tags, body, tokens FROM {table}"
            ):
                named = dict(zip(COLUMNS, columns, strict=True))
                row = session.one(
                    f"SELECT words = ?::tsvector FROM {table} WHERE num = ?", (words_of(named), num)
                )
                wrong += not (row and row[0]) or tokens != length_of(named)
            if wrong:
                found.append(
                    f"The words of the search index '{table}' do not agree with its rows, {wrong} in all."
                )
        return found


def words_of(columns: Mapping[str, str]) -> str:
    """The tsvector of an index row, as text.

    A gap between columns keeps phrases within one. Of a record so long that it does not fit, the places are
    left out, then its last words: it is found by fewer words then, and by no phrase.
    """
    places: dict[str, list[str]] = {}
    place = 0
    for column in COLUMNS:
        for token in columns[column].split():
            place += 1
            listed = places.setdefault(token, [])
            if len(listed) < _MOST_PLACES:
                listed.append(f"{min(place, _LAST_PLACE)}{_LABELS[column]}")
        place += 1
    sizes = {token: len(token.encode()) for token in places}
    fitting = [token for token in places if sizes[token] <= _MOST_LEXEME_BYTES]
    if sum(sizes[token] + 4 + 2 * len(places[token]) for token in fitting) <= _MOST_BYTES:
        return " ".join(f"{_lexeme(token)}:{','.join(places[token])}" for token in fitting)
    room = _MOST_BYTES
    kept = []
    for token in fitting:
        room -= sizes[token] + 4
        if room < 0:
            break
        kept.append(_lexeme(token))
    return " ".join(kept)


def _table(private: bool) -> str:
    return _PRIVATE if private else _PUBLIC


def _lexeme(token: str, label: str = "") -> str:
    """A token as a quoted lexeme: nothing in it is an operator."""
    quoted = token.replace("\\", "\\\\").replace("'", "''")
    return f"'{quoted}':{label}" if label else f"'{quoted}'"


def _query(phrase: Phrase, label: str = "") -> str:
    return "(" + " <-> ".join(_lexeme(token, label) for token in phrase) + ")"


def _candidates(  # noqa: PLR0913, PLR0917 - the query and where it is asked
    session: Session, query: Match, filters: Filters, table: str, known: bm25.Statistics, limit: int
) -> list[int]:
    condition = filtering.of_index(session, filters, f"{table}.num")
    if condition.never:
        return []
    sql, params = f"words @@ ?::tsquery{condition.sql}", [_any_of(bm25.phrases_of(query)), *condition.params]
    demands = [_query(phrase) for phrase in query.require]
    demands += [_query(phrase, _LABELS["name"]) for phrase in query.title]
    if demands:
        sql += " AND words @@ ?::tsquery"
        params.append(" & ".join(demands))
    if query.exclude:
        sql += " AND NOT words @@ ?::tsquery"
        params.append(_any_of(query.exclude))
    near, values = _near_score(query, known)
    rows = session.rows(
        f"SELECT num FROM {table} WHERE {sql} ORDER BY {near} DESC, num LIMIT ?", [*params, *values, limit]
    )
    return [row[0] for row in rows]


def _near_score(query: Match, known: bm25.Statistics) -> tuple[str, list[Any]]:
    """BM25 with the frequency as `ts_rank` gives it: right for a token that occurs once, low for many."""
    weights: dict[Phrase, float] = {}
    for weight, phrases in query.groups:
        for phrase in phrases:
            weights[phrase] = weights.get(phrase, 0.0) + weight * known.idf(phrase)
    parts = []
    params: list[Any] = []
    norm = f"({bm25.K1 * (1 - bm25.B)} + {bm25.K1 * bm25.B / known.average} * tokens)"
    for phrase, weight in weights.items():
        frequency = f"({_RANK_UNIT} * ts_rank('{_RANK_WEIGHTS}', words, ?::tsquery))"
        parts.append(f"? * {frequency} / ({frequency} + {norm})")
        params += [weight, _query(phrase), _query(phrase)]
    return " + ".join(parts), params


def _any_of(phrases: Iterable[Phrase]) -> str:
    return " | ".join(_query(phrase) for phrase in phrases)
