"""The delta feed: every record once, at the place of its latest change, oldest change first.

A client that keeps the last cursor never misses a change: a record that changes again moves to the end.
"""

from __future__ import annotations

from typing import Any

from pilotage.core.cursors import Part, read_place
from pilotage.library.paging import KEY_SIZE, place_of
from pilotage.library.stores.protocol import Audience, Stamp, Store

_BEGINNING = ("", "")


def changes_after(store: Store, cursor: str | None, audience: Audience, *, limit: int) -> dict[str, Any]:
    """A part of the feed; see `models.Changes`.

    Raises:
        InvalidInput: the cursor is none, or belongs to another list.
    """
    question = ("changes", audience)
    place = read_place(cursor, KEY_SIZE, question)
    after = place_of(place) or _BEGINNING
    found = store.changes(audience, after=after, limit=limit + 1)
    shown = found[:limit]
    last = (shown[-1].stored_at, shown[-1].id) if shown else after
    return {
        "items": [_change(stamp) for stamp in shown],
        # Given at the end too: changes are yet to come.
        "next": Part(question, 0, (last,), more=True).next,
        "has_more": len(found) > limit,
    }


def event_of(stamp: Stamp) -> str:
    """What the latest change was: `added`, `changed` or `withdrawn`."""
    if stamp.withdrawn:
        return "withdrawn"
    return "added" if stamp.revision == 1 else "changed"


def _change(stamp: Stamp) -> dict[str, Any]:
    """See `models.Change`."""
    return {
        "id": stamp.id,
        "revision": stamp.revision,
        "stored_at": stamp.stored_at,
        "event": event_of(stamp),
        "url": f"/incidents/{stamp.id}",
    }
