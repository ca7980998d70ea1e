"""What is wrong with a store: everything that is written twice is compared with its other copy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from pilotage.clients.db.session import Door, Session
from pilotage.core.errors import InvalidInput, StoreCorrupt, StoreReadOnly
from pilotage.library.canonical import decode, digest, key_of, storable
from pilotage.library.entry import Entry, index_entry
from pilotage.library.record import Record, read_record
from pilotage.library.stores import filtering
from pilotage.library.stores.index import Index
from pilotage.library.stores.writing import length_of
from pilotage.library.terms import Vocabulary

_BATCH = 100
_MOST = 200
"""After so many sentences a reader knows enough."""


@dataclass
class _Batch:
    """The rows of a hundred records."""

    records: list[tuple[int, str, int, int, str]]
    documents: dict[int, str] = field(default_factory=dict)
    names: dict[int, set[str]] = field(default_factory=dict)
    addresses: dict[int, set[str]] = field(default_factory=dict)
    tags: dict[int, set[tuple[str, str, int]]] = field(default_factory=dict)
    public: dict[int, dict[str, str]] = field(default_factory=dict)
    private: dict[int, dict[str, str]] = field(default_factory=dict)


def verify(door: Door, index: Index, vocabulary: Vocabulary) -> list[str]:
    """See `Store.verify`."""
    found: list[str] = []
    try:
        with door.reading() as session:
            for problem in _problems(session, index, vocabulary):
                found.append(problem)
                if len(found) >= _MOST:
                    return [*found, "There is more; this is the beginning."]
        found += _damage(door, index)
    except StoreCorrupt as error:
        found.append(f"The store cannot be read to its end: {error.message}.")
    return found


def _damage(door: Door, index: Index) -> list[str]:
    try:
        with door.writing() as session:
            return index.damage(session)
    except StoreReadOnly:
        # The index's own check writes; its rows have been compared already.
        return []


def _problems(session: Session, index: Index, vocabulary: Vocabulary) -> Iterator[str]:
    lengths: Counter[int] = Counter()
    for batch in _batches(session, index):
        for num, id_, state, revision, stored_digest in batch.records:
            yield from _of_record(batch, (num, id_, state, revision, stored_digest), vocabulary)
            columns = (batch.private if state & filtering.PRIVATE else batch.public).get(num, {})
            lengths[state] += length_of(columns)
    yield from _of_revisions(session)
    yield from _of_counts(session, lengths)
    yield from _of_strays(session, index)


def _batches(session: Session, index: Index) -> Iterator[_Batch]:
    last = -1
    while True:
        rows = session.rows(
            "SELECT num, id, state, revision, digest FROM record WHERE num > ? ORDER BY num LIMIT ?",
            (last, _BATCH),
        )
        if not rows:
            return
        batch = _Batch([(num, id_, state, revision, stored) for num, id_, state, revision, stored in rows])
        nums = [row[0] for row in rows]
        last = nums[-1]
        listed = (session.listed(nums),)
        among = session.numbers
        batch.documents = dict(
            session.rows(
                "SELECT v.num, v.document FROM record r"
                f" JOIN revision v ON v.num = r.num AND v.number = r.revision WHERE r.num IN {among}",
                listed,
            )
        )
        for num, alias in session.rows(f"SELECT num, alias FROM alias WHERE num IN {among}", listed):
            batch.names.setdefault(num, set()).add(alias)
        for num, key, url in session.rows(f"SELECT num, key, url FROM address WHERE num IN {among}", listed):
            batch.addresses.setdefault(num, set()).add(
                url if key == key_of(url) else f"{url} (under a wrong key)"
            )
        for num, *tag in session.rows(
            "SELECT g.num, t.facet, t.slug, g.state FROM tag g JOIN term t ON t.term = g.term"
            f" WHERE g.num IN {among}",
            listed,
        ):
            batch.tags.setdefault(num, set()).add((tag[0], tag[1], tag[2]))
        batch.public = index.read(session, nums, private=False)
        batch.private = index.read(session, nums, private=True)
        yield batch


def _of_record(batch: _Batch, row: tuple[int, str, int, int, str], vocabulary: Vocabulary) -> Iterator[str]:
    num, id_, state, revision, stored_digest = row
    text = batch.documents.get(num)
    if text is None:
        yield f"Record '{id_}' has no revision {revision}, which should be its latest."
        return
    try:
        document = decode(text)
        record = read_record(document)
    except (ValueError, InvalidInput) as error:
        yield f"Record '{id_}' cannot be read: {error}."
        return
    if digest(document) != stored_digest:
        yield f"Record '{id_}' does not have the digest that was noted for it."
    if record.id != id_:
        yield f"Record '{id_}' holds a document with the id '{record.id}'."
    yield from _of_names(batch, num, record, id_)
    yield from _of_entry(batch, num, id_, state, index_entry(record, vocabulary))


def _of_names(batch: _Batch, num: int, record: Record, id_: str) -> Iterator[str]:
    for alias in sorted(set(record.aliases) - batch.names.get(num, set())):
        yield f"Alias '{alias}' of record '{id_}' does not resolve to it."


def _of_entry(batch: _Batch, num: int, id_: str, state: int, entry: Entry) -> Iterator[str]:
    withdrawn = filtering.WITHDRAWN_TAG in entry.tags
    if withdrawn != bool(state & filtering.WITHDRAWN):
        yield f"Record '{id_}' is {'withdrawn' if withdrawn else 'not withdrawn'}, but filed the other way."
    tags = {(storable(facet), storable(slug), state) for facet, slug in entry.tags}
    if batch.tags.get(num, set()) != tags:
        yield f"The tags of record '{id_}' are not those of its document."
    # An address with characters that no column takes is kept in its storable form.
    urls = {url if storable(url) == url else f"{storable(url)} (under a wrong key)" for url in entry.urls}
    if batch.addresses.get(num, set()) != urls:
        yield f"The source addresses of record '{id_}' are not those of its document."
    own, other = (batch.private, batch.public) if state & filtering.PRIVATE else (batch.public, batch.private)
    if num in other:
        yield f"Record '{id_}' stands in the search index of the other audience."
    if num not in own:
        yield f"Record '{id_}' is missing from the search index."
    elif own[num] != entry.columns:
        yield f"The search index of record '{id_}' does not agree with its document."


def _of_revisions(session: Session) -> Iterator[str]:
    for id_, revision, first, last, number in session.rows(
        "SELECT r.id, r.revision, min(v.number), max(v.number), count(*) FROM record r"
        " JOIN revision v ON v.num = r.num GROUP BY r.id, r.revision"
        " HAVING min(v.number) <> 1 OR max(v.number) <> r.revision OR count(*) <> r.revision ORDER BY r.id"
    ):
        yield f"Record '{id_}' should have revisions 1 to {revision}, it has {number} from {first} to {last}."
    for id_, number, noted, text in session.stream(
        "SELECT r.id, v.number, v.digest, v.document FROM revision v JOIN record r ON r.num = v.num"
    ):
        try:
            sound = digest(decode(text)) == noted
        except (ValueError, InvalidInput):
            sound = False
        if not sound:
            yield f"Revision {number} of record '{id_}' does not have the digest that was noted for it."
    for (id_,) in session.rows(
        "SELECT r.id FROM record r JOIN revision v ON v.num = r.num AND v.number = r.revision"
        " WHERE v.digest <> r.digest OR v.stored_at <> r.stored_at ORDER BY r.id"
    ):
        yield f"Record '{id_}' and its latest revision do not agree."


def _of_counts(session: Session, lengths: Counter[int]) -> Iterator[str]:
    noted = {
        (term, state): int(records) for term, state, records in session.rows("SELECT * FROM tally") if records
    }
    counted = {
        (term, state): int(records)
        for term, state, records in session.rows("SELECT term, state, count(*) FROM tag GROUP BY term, state")
    }
    if noted != counted:
        wrong = sorted(set(noted.items()) ^ set(counted.items()))
        yield f"The counts of facets do not agree with the tags, {len({key for key, _ in wrong})} in all."
    records = {
        state: int(n) for state, n in session.rows("SELECT state, count(*) FROM record GROUP BY state")
    }
    totals = {state: (int(n), int(tokens)) for state, n, tokens in session.rows("SELECT * FROM total")}
    for state in range(4):
        if totals.get(state, (0, 0)) != (records.get(state, 0), lengths[state]):
            n, tokens = totals.get(state, (0, 0))
            yield (
                f"The totals of state {state} say {n} records and {tokens} tokens,"
                f" there are {records.get(state, 0)} and {lengths[state]}."
            )


def _of_strays(session: Session, index: Index) -> Iterator[str]:
    things = {
        "vector": "Vectors",
        "tag": "Tags",
        "alias": "Aliases",
        "address": "Source addresses",
        "revision": "Revisions",
    }
    for table, word in things.items():
        rows = session.rows(
            f"SELECT DISTINCT s.num FROM {table} s"
            " WHERE NOT EXISTS (SELECT 1 FROM record r WHERE r.num = s.num) ORDER BY s.num LIMIT 3"
        )
        if rows:
            numbers = ", ".join(str(row[0]) for row in rows)
            yield f"{word} of unknown records are in the store (numbers {numbers})."
    strays = index.orphans(session)
    if strays:
        yield f"The search index holds rows of no record (numbers {', '.join(map(str, strays))})."
    for alias, id_ in session.rows("SELECT a.alias, r.id FROM alias a JOIN record r ON r.id = a.alias"):
        yield f"'{alias}' is an alias and at the same time the id of record '{id_}'."
