"""Writing records, the same on both stores: whatever belongs to a record changes with it."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from pilotage.clients.db.session import Session
from pilotage.core.errors import Conflict, NotFound, StoreError
from pilotage.library.canonical import decode, encode, key_of, storable
from pilotage.library.entry import Entry
from pilotage.library.stores import filtering, meta, reading
from pilotage.library.stores.index import Index
from pilotage.library.stores.protocol import Audience, New, Outcome, Stored, Tag, Vector

_MOST_OF_A_DAY = 100
"""Thousands fall on one day where only the year is known, and each new one would be compared with all."""
_Known = tuple[int, str, int, int, str]
"""(num, id, state, revision, digest)."""


def _now() -> dt.datetime:
    return dt.datetime.now(dt.UTC)


def _written(moment: dt.datetime) -> str:
    return moment.isoformat(timespec="microseconds")


class SqlWriter:
    """The open transaction of a store.

    Counts are summed up in memory (by term and state, so independent of the number of records) and written by
    `finish`. After an error inside a write nothing more is taken: half a record must not be committed.
    """

    def __init__(self, session: Session, index: Index) -> None:
        self._session = session
        self._index = index
        self._terms: dict[Tag, int] = {}
        self._tally: Counter[tuple[int, int]] = Counter()
        self._records: Counter[int] = Counter()
        self._tokens: Counter[int] = Counter()
        self._touched: set[bool] = set()
        self._broken = False
        self._latest = ""

    def put(self, new: New) -> Outcome:
        """See `Writer.put`."""
        self._sound()
        document = encode(new.document)
        known = self._owner(new)
        state = _state(new)
        if known is not None:
            self._same_audience(new, known)
            if known[4] == new.digest and known[1] == new.id:
                return "unchanged"
        with self._whole():
            num = self._write_record(new, document, state, known)
            self._write_aliases(num, new.id, new.aliases)
            if known is not None:
                self.forget(num, known[2])
            self.describe(num, state, new.entry)
            for model, vectors in new.vectors.items():
                self._write_vectors(num, model, vectors)
            self._touched.add(new.private)
        return "new" if known is None else "changed"

    def find(self, id: str) -> Stored | None:  # noqa: A002 - the field's word
        """See `Writer.find`."""
        self._sound()
        return reading.get(self._session, [id], "all").get(id)

    def owners(self, urls: Iterable[str], audience: Audience) -> dict[str, list[str]]:
        """See `Writer.owners`."""
        self._sound()
        asked = {key_of(url): url for url in urls}
        seen = filtering.state_list(audience, withdrawn=True)
        rows = self._session.rows(
            "SELECT a.key, r.id FROM address a JOIN record r ON r.num = a.num"
            f" WHERE a.key IN {self._session.texts} AND r.state IN {seen} ORDER BY r.id",
            (self._session.listed(asked),),
        )
        found: dict[str, list[str]] = {}
        for key, id_ in rows:
            found.setdefault(asked[key], []).append(id_)
        return found

    def same_day(self, org_slug: str, date: str, audience: Audience) -> list[tuple[str, dict[str, Any]]]:
        """See `Writer.same_day`."""
        self._sound()
        seen = filtering.state_list(audience, withdrawn=True)
        rows = self._session.rows(
            "SELECT r.id, v.document FROM record r JOIN revision v ON v.num = r.num AND v.number = r.revision"
            " JOIN tag g ON g.num = r.num JOIN term t ON t.term = g.term"
            f" WHERE r.order_date = ? AND t.key = ? AND r.state IN {seen} ORDER BY r.num DESC LIMIT ?",
            (date, key_of("organisation", org_slug), _MOST_OF_A_DAY),
        )
        return [(id_, decode(document)) for id_, document in rows]

    def add_vectors(self, model: str, vectors: Mapping[str, list[Vector]]) -> None:
        """See `Store.add_vectors`.

        Raises:
            NotFound: one of the ids is no record.
        """
        self._sound()
        rows = self._session.rows(
            f"SELECT id, num, state FROM record WHERE id IN {self._session.texts}",
            (self._session.listed(vectors),),
        )
        known = {id_: (num, state) for id_, num, state in rows}
        missing = [id_ for id_ in vectors if id_ not in known]
        if missing:
            raise NotFound(f"there is no record '{missing[0]}' to add vectors to", hint="Import it first.")
        with self._whole():
            for id_, listed in vectors.items():
                num, state = known[id_]
                self._session.run("DELETE FROM vector WHERE model = ? AND num = ?", (model, num))
                self._write_vectors(num, model, listed)
                self._touched.add(bool(state & filtering.PRIVATE))

    def describe(self, num: int, state: int, entry: Entry) -> None:
        """Writes what is derived from a record: tags, addresses, index row; counts follow with `finish`."""
        terms = sorted({self._term(tag) for tag in entry.tags})
        self._session.many(
            "INSERT INTO tag (term, num, state) VALUES (?, ?, ?)", [(term, num, state) for term in terms]
        )
        self._session.many(
            "INSERT INTO address (num, key, url) VALUES (?, ?, ?)",
            [(num, key_of(url), storable(url)) for url in dict.fromkeys(entry.urls)],
        )
        self._index.put(self._session, num, bool(state & filtering.PRIVATE), entry.columns)
        self._count(terms, state, length_of(entry.columns), 1)

    def forget(self, num: int, state: int) -> None:
        """Removes what is derived from a record, vectors included."""
        private = bool(state & filtering.PRIVATE)
        terms = [row[0] for row in self._session.rows("SELECT term FROM tag WHERE num = ?", (num,))]
        columns = self._index.read(self._session, [num], private).get(num, {})
        for table in ("tag", "address", "vector"):
            self._session.run(f"DELETE FROM {table} WHERE num = ?", (num,))
        self._index.drop(self._session, num, private)
        self._count(terms, state, length_of(columns), -1)

    def touch(self, private: bool) -> None:
        """Notes that what an audience sees has changed."""
        self._touched.add(private)

    def finish(self) -> None:
        """Writes the counts; the last thing before the commit."""
        self._sound()
        self._session.many(
            "INSERT INTO tally (term, state, records) VALUES (?, ?, ?)"
            " ON CONFLICT (term, state) DO UPDATE SET records = tally.records + excluded.records",
            [(term, state, records) for (term, state), records in sorted(self._tally.items()) if records],
        )
        self._session.many(
            "INSERT INTO total (state, records, tokens) VALUES (?, ?, ?) ON CONFLICT (state) DO UPDATE"
            " SET records = total.records + excluded.records, tokens = total.tokens + excluded.tokens",
            [(state, self._records[state], self._tokens[state]) for state in sorted(self._tokens)],
        )
        if self._touched:
            meta.grow(self._session, "all")
        if False in self._touched:
            meta.grow(self._session, "public")

    def _sound(self) -> None:
        if self._broken:
            raise StoreError(
                "the transaction failed before and takes nothing more",
                hint="Begin a new one; what was committed before is safe.",
            )

    @contextmanager
    def _whole(self) -> Iterator[None]:
        self._broken = True
        yield
        self._broken = False

    def _owner(self, new: New) -> _Known | None:
        """The record that `new` goes on with, found by its id or by its former id among the aliases."""
        asked = [new.id, *new.aliases]
        listed = self._session.listed(asked)
        columns = "r.num, r.id, r.state, r.revision, r.digest"
        ids: list[_Known] = [
            (num, id_, state, revision, digest)
            for num, id_, state, revision, digest in self._session.rows(
                f"SELECT {columns} FROM record r WHERE r.id IN {self._session.texts}", (listed,)
            )
        ]
        held = self._session.rows(
            "SELECT a.alias, r.id, r.num FROM alias a JOIN record r ON r.num = a.num"
            f" WHERE a.alias IN {self._session.texts}",
            (listed,),
        )
        own = next((known for known in ids if known[1] == new.id), ids[0] if ids else None)
        for known in ids:
            if own is not None and known[0] != own[0]:
                raise _clash(known[1], known[1], new.id)
        for alias, id_, num in held:
            if own is None or num != own[0]:
                raise _clash(alias, id_, new.id)
        return own

    def _same_audience(self, new: New, known: _Known) -> None:
        was_private = bool(known[2] & filtering.PRIVATE)
        if was_private != new.private:
            words = ("private", "public") if was_private else ("public", "private")
            raise Conflict(
                f"record '{known[1]}' is {words[0]} in the store and would turn {words[1]}",
                hint="An import never changes who sees a record; import it under another id.",
            )

    def _write_record(self, new: New, document: str, state: int, known: _Known | None) -> int:
        now = self._moment()
        revision = 1 if known is None else known[3] + 1
        values = (new.id, state, new.order_date, revision, new.digest, now)
        if known is None:
            num = self._session.add(
                "INSERT INTO record (id, state, order_date, revision, digest, stored_at)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                values,
                "num",
            )
        else:
            num = known[0]
            self._session.run(
                "UPDATE record SET id = ?, state = ?, order_date = ?, revision = ?, digest = ?, stored_at = ?"
                " WHERE num = ?",
                (*values, num),
            )
            if known[1] != new.id:
                # The new id may be one that this record had before.
                self._session.run("DELETE FROM alias WHERE alias = ?", (new.id,))
                self._write_aliases(num, new.id, (known[1],))
        self._session.run(
            "INSERT INTO revision (num, number, digest, stored_at, origin, document)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            (num, revision, new.digest, now, storable(new.origin), document),
        )
        return num

    def _moment(self) -> str:
        """Now, or a little later: behind all that is stored, whatever the clocks of other writers said.

        Delta feeds go on behind the last moment that they have seen. All moments have one width, so that they
        sort by time whatever the order of a database's language.
        """
        if not self._latest:
            (self._latest,) = self._session.one("SELECT COALESCE(MAX(stored_at), '') FROM record") or ("",)
        moment = _written(_now())
        if moment <= self._latest:
            moment = _written(dt.datetime.fromisoformat(self._latest) + dt.timedelta(microseconds=1))
        self._latest = moment
        return moment

    def _write_aliases(self, num: int, id_: str, aliases: Iterable[str]) -> None:
        # Aliases are never taken back: an id that once resolved always does.
        self._session.many(
            "INSERT INTO alias (alias, num) VALUES (?, ?) ON CONFLICT (alias) DO NOTHING",
            [(alias, num) for alias in dict.fromkeys(aliases) if alias != id_],
        )

    def _write_vectors(self, num: int, model: str, vectors: Iterable[Vector]) -> None:
        self._session.many(
            "INSERT INTO vector (model, num, position, part, lang, data) VALUES (?, ?, ?, ?, ?, ?)",
            [
                (model, num, place, vector.part, vector.lang, vector.data)
                for place, vector in enumerate(vectors)
            ],
        )

    def _term(self, tag: Tag) -> int:
        number = self._terms.get(tag)
        if number is None:
            facet, slug = tag
            self._session.run(
                "INSERT INTO term (key, facet, slug) VALUES (?, ?, ?) ON CONFLICT (key) DO NOTHING",
                (key_of(facet, slug), storable(facet), storable(slug)),
            )
            row = self._session.one("SELECT term FROM term WHERE key = ?", (key_of(facet, slug),))
            number = self._terms[tag] = int(row[0]) if row else 0
        return number

    def _count(self, terms: Iterable[int], state: int, length: int, step: int) -> None:
        for term in terms:
            self._tally[term, state] += step
        self._records[state] += step
        self._tokens[state] += step * length


def length_of(columns: Mapping[str, str]) -> int:
    """Number of tokens of an index row; one space stands between two of them."""
    return sum(tokens.count(" ") + 1 for tokens in columns.values() if tokens)


def _state(new: New) -> int:
    withdrawn = filtering.WITHDRAWN if filtering.WITHDRAWN_TAG in new.entry.tags else 0
    return (filtering.PRIVATE if new.private else 0) | withdrawn


def _clash(name: str, owner: str, wanted_by: str) -> Conflict:
    return Conflict(
        f"record '{wanted_by}' cannot come in: '{name}' already belongs to record '{owner}'",
        hint="Give one of the two another id or alias; nothing was changed.",
    )
