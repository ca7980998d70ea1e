"""Making the index of a store anew from its records."""

from __future__ import annotations

from collections.abc import Iterator

from pilotage.clients.db.session import Session
from pilotage.core.errors import InvalidInput, StoreError
from pilotage.library.canonical import decode
from pilotage.library.entry import index_entry
from pilotage.library.record import read_record
from pilotage.library.stores import filtering
from pilotage.library.stores.index import Index
from pilotage.library.stores.writing import SqlWriter
from pilotage.library.terms import Vocabulary

_BATCH = 100


def rebuild(session: Session, index: Index, vocabulary: Vocabulary) -> None:
    """Derives tags, addresses, counts and the index from the documents anew; vectors stay."""
    for table in ("tag", "address", "tally", "total"):
        session.run(f"DELETE FROM {table}")
    index.clear(session)
    writer = SqlWriter(session, index)
    for num, state, id_, document in documents(session):
        try:
            entry = index_entry(read_record(decode(document)), vocabulary)
        except InvalidInput as error:
            raise StoreError(
                f"record '{id_}' in the store cannot be indexed: {error.message}",
                hint="Export it with the version that wrote it, mend it, and import it into a new store.",
            ) from error
        writer.describe(num, state, entry)
        writer.touch(bool(state & filtering.PRIVATE))
    writer.finish()


def documents(session: Session) -> Iterator[tuple[int, int, str, str]]:
    """(num, state, id, document) of every record by number, in constant memory, while others are written."""
    last = -1
    while True:
        rows = session.rows(
            "SELECT r.num, r.state, r.id, v.document FROM record r"
            " JOIN revision v ON v.num = r.num AND v.number = r.revision"
            " WHERE r.num > ? ORDER BY r.num LIMIT ?",
            (last, _BATCH),
        )
        if not rows:
            return
        yield from [(num, state, id_, document) for num, state, id_, document in rows]
        last = rows[-1][0]
