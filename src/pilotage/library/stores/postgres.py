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
from pilotage.library.stores import bm25, filtering, matching, meta, migrating
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
_RANKED = 2
"""How many times more records are ranked than are handed over."""
_MOST_COUNTED = 50_000
_LAST_PLACE = 16_383
_MOST_PLACES = 255
_MOST_LEXEME_BYTES = 2_046
_MOST_BYTES = 900_000
"""A tsvector holds a megabyte at most."""


def open_postgres(url: str, *, vocabulary: Vocabulary, busy_seconds: float, create: bool) -> SqlStore:
    """Opens a database, and brings its store to today's form; see `open_store` for `create`.

    Raises:
        NotFound, ConfigError, Unreachable, Refused, StoreError: see `PostgresDoor` and `migrating.prepare`.
    """
    door = PostgresDoor(url, busy_seconds=busy_seconds)
    index = TsIndex()
    try:
        made = migrating.prepare(door, index, "postgres", vocabulary, create=create)
        return SqlStore(door, index, "postgres", vocabulary, made=made)
    except BaseException:
        door.close()
        raise


class TsIndex:
    """The two index tables; a row has the number of its record."""

    def __init__(self) -> None:
        self._counted: tuple[int, dict[Phrase, int]] = (-1, {})

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
        """See `Index.holding`; counted once for each state of the data: common words are dear to count."""
        wanted = list(phrases)
        counts = self._counts(meta.data_version(session, "public"))
        missing = [phrase for phrase in wanted if phrase not in counts]
        if missing:
            _by_index(session)
        for phrase in missing:
            row = session.one(f"SELECT count(*) FROM {_PUBLIC} WHERE words @@ ?::tsquery", (_query(phrase),))
            counts[phrase] = int(row[0]) if row else 0
        return {phrase: counts[phrase] for phrase in wanted}

    def _counts(self, version: int) -> dict[Phrase, int]:
        """The counts of a state of the data. Threads share them: each only ever adds what is right."""
        held, counts = self._counted
        if held != version or len(counts) > _MOST_COUNTED:
            counts = {}
            self._counted = (version, counts)
        return counts

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
    """Numbers of the likeliest records: by the phrases that they hold, then by a rank near to BM25.

    The index tells which records hold a phrase without reading them; a rank reads the words of each, which
    are kept apart from the row, so it is asked of few.
    """
    _by_index(session)
    condition = filtering.of_index(session, filters, "held.num")
    weights = _weights(query, known)
    if table == _PUBLIC:
        weights = _telling(weights, query, filters, known, limit)
    if condition.never or not weights:
        return []
    demands = _demands(query)
    legs = " UNION ALL ".join(
        [f"SELECT num, tokens, ?::float8 AS weight FROM {table} WHERE words @@ ?::tsquery"] * len(weights)
    )
    params: list[Any] = []
    for phrase, weight in weights.items():
        params += [weight, _query(phrase) + demands]
    held = (
        f"SELECT held.num FROM ({legs}) held WHERE TRUE{condition.sql} GROUP BY held.num, held.tokens"
        f" ORDER BY sum(held.weight) / (1 + {_norm(known, 'held.tokens')}) DESC, held.num LIMIT ?"
    )
    near, values = _near_score(weights, known)
    rows = session.rows(
        f"SELECT num FROM {table} WHERE num IN ({held}) ORDER BY {near} DESC, num LIMIT ?",
        [*params, *condition.params, _RANKED * limit, *values, limit],
    )
    return [row[0] for row in rows]


def _by_index(session: Session) -> None:
    """For the rest of the transaction: no reading of whole tables.

    The planner knows that most rows hold a common word, and not that looking for it in a row means to fetch
    and unpack a tsvector that lies elsewhere: it would read a gigabyte to spare itself an index.
    """
    session.run("SET LOCAL enable_seqscan = off")


def _weights(query: Match, known: bm25.Statistics) -> dict[Phrase, float]:
    """How much each phrase says."""
    found: dict[Phrase, float] = {}
    for weight, phrases in query.groups:
        for phrase in phrases:
            found[phrase] = found.get(phrase, 0.0) + weight * known.idf(phrase)
    return found


def _telling(
    weights: dict[Phrase, float], query: Match, filters: Filters, known: bm25.Statistics, limit: int
) -> dict[Phrase, float]:
    """The phrases by which public records are looked for.

    What most records hold says nothing beside rarer phrases, as long as these alone find enough of them.
    """
    held = {phrase: weight for phrase, weight in weights.items() if known.holding.get(phrase)}
    rarer = {phrase: weight for phrase, weight in held.items() if known.idf(phrase) > bm25.LEAST_IDF}
    narrowed = filters.all_of or filters.none_of or query.require or query.exclude or query.title
    enough = max((known.holding[phrase] for phrase in rarer), default=0) >= limit
    return rarer if enough and not narrowed else held


def _demands(query: Match) -> str:
    """What every record must hold or lack beside a phrase, as the rest of its tsquery."""
    asked = [_query(phrase) for phrase in query.require]
    asked += [_query(phrase, _LABELS["name"]) for phrase in query.title]
    asked += [f"!{_query(phrase)}" for phrase in query.exclude]
    return "".join(f" & {part}" for part in asked)


def _norm(known: bm25.Statistics, tokens: str) -> str:
    return f"({bm25.K1 * (1 - bm25.B)} + {bm25.K1 * bm25.B / known.average} * {tokens})"


def _near_score(weights: Mapping[Phrase, float], known: bm25.Statistics) -> tuple[str, list[Any]]:
    """BM25 with the frequency as `ts_rank` gives it: right for a token that occurs once, low for many."""
    norm = _norm(known, "tokens")
    # f / (f + norm) as 1 - norm / (f + norm): a rank is the dear part, and is taken once.
    frequency = f"({_RANK_UNIT} * ts_rank('{_RANK_WEIGHTS}', words, ?::tsquery))"
    parts = [f"?::float8 * (1 - {norm} / ({frequency} + {norm}))"] * len(weights)
    return " + ".join(parts), [
        value for phrase, weight in weights.items() for value in (weight, _query(phrase))
    ]
