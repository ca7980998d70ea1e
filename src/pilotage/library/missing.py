"""What to say of a record that is not there, the same wherever it was asked for."""

from __future__ import annotations

from pilotage.core.errors import NotFound
from pilotage.core.text import did_you_mean
from pilotage.library.stores.protocol import Audience, Filters, Store

_NEAR_AMONG = 20_000
"""Beyond this number of records ids are not compared one by one with a mistyped one."""


def no_record(store: Store, name: str, audience: Audience) -> NotFound:
    """The error to raise; its hint names the nearest ids, unless there are too many to look at each."""
    few = store.count(Filters(withdrawn=True), audience) <= _NEAR_AMONG
    hint = did_you_mean(name, store.ids(audience)) if few else ""
    return NotFound(f"no record '{name}'", hint=hint or "Search finds ids.")
