"""What the parts of lists of records are made of: their order, and what makes one list another."""

from __future__ import annotations

from pilotage.core.cursors import Place, Question
from pilotage.library.stores.protocol import Filters, Stored

KEY_SIZE = 2
"""Number of values in the key of a list of records."""


def order_key(stored: Stored) -> tuple[str, str]:
    """What `Store.page` orders a record by."""
    return str(stored.document.get("date") or ""), stored.id


def place_of(place: Place) -> tuple[str, str] | None:
    """The place of a cursor as `Store.page` takes it."""
    return (place.key[0], place.key[1]) if place.key else None


def filters_told(filters: Filters) -> Question:
    """Filters as a part of a question: the order in which they were given makes no other list."""
    return (sorted(filters.all_of), sorted(filters.none_of), filters.withdrawn)
