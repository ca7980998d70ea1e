"""The delta feed: every record once, at the place of its latest change, oldest change first.

A client that keeps the last cursor never misses a change: a record that changes again moves to the end. The
list is derived from the store and kept for as long as the store stays as it is.
"""

from __future__ import annotations

import threading
from bisect import bisect_right
from dataclasses import dataclass
from typing import Any

from pilotage.library.stores.protocol import Audience, Filters, Store
from pilotage.web.api.paging import read_mark, write_mark


@dataclass(frozen=True, slots=True, order=True)
class Entry:
    """The latest change of one record; in order of time."""

    stored_at: str
    id: str
    revision: int
    event: str

    def to_json(self) -> dict[str, Any]:
        """See `models.Change`."""
        return {
            "id": self.id,
            "revision": self.revision,
            "stored_at": self.stored_at,
            "event": self.event,
            "url": f"/incidents/{self.id}",
        }


class Log:
    """The changes of a store, per audience. Safe to share between threads.

    Args:
        store: where the records are.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._held: dict[Audience, tuple[int, list[Entry]]] = {}

    def entries(self, audience: Audience) -> list[Entry]:
        """All changes, oldest first."""
        # Asked before reading: what changes meanwhile makes the next question read again.
        version = self._store.data_version(audience)
        with self._lock:
            held = self._held.get(audience)
            if held is None or held[0] != version:
                held = (version, self._read(audience))
                self._held[audience] = held
            return held[1]

    def after(self, cursor: str | None, audience: Audience, *, limit: int) -> dict[str, Any]:
        """A part of the feed; see `models.Changes`.

        Raises:
            InvalidInput: the cursor is none of ours.
        """
        mark = read_mark(cursor, 2) if cursor else ("", "")
        entries = self.entries(audience)
        place = bisect_right(entries, mark, key=lambda entry: (entry.stored_at, entry.id))
        shown = entries[place : place + limit]
        last = (shown[-1].stored_at, shown[-1].id) if shown else mark
        more = place + len(shown) < len(entries)
        return {"items": [entry.to_json() for entry in shown], "next": write_mark(*last), "more": more}

    def _read(self, audience: Audience) -> list[Entry]:
        return sorted(
            Entry(stored.stored_at, stored.id, stored.revision, _event(stored.document, stored.revision))
            for stored in self._store.iterate(Filters(withdrawn=True), audience)
        )


def _event(document: dict[str, Any], revision: int) -> str:
    if document.get("status") == "withdrawn":
        return "withdrawn"
    return "added" if revision == 1 else "changed"
