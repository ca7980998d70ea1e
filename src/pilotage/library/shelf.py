"""Records as many questions need them, read once and kept for as long as they say the same."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from typing import Generic, TypeVar

from pilotage.library.stores.protocol import Stamp, Store

_Kept = TypeVar("_Kept")


class Shelf(Generic[_Kept]):
    """What was made of records, by their digests; the ones used longest ago go first. Safe between threads.

    Who may see a record is never kept: the stamps that a question begins with tell it.

    Args:
        store: where the records are.
        make: id -> what is kept, for the records of these ids; those that are gone meanwhile are left out.
        most: number of records kept.
    """

    def __init__(self, store: Store, make: Callable[[list[str]], Mapping[str, _Kept]], *, most: int) -> None:
        self._store = store
        self._make = make
        self._most = most
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[str, str], _Kept] = OrderedDict()

    def of(self, stamps: Iterable[Stamp]) -> dict[str, _Kept]:
        """Id -> what is kept of the record."""
        wanted = {stamp.id: (stamp.id, stamp.digest) for stamp in stamps}
        found: dict[str, _Kept] = {}
        with self._lock:
            for id_, key in wanted.items():
                if key in self._kept:
                    self._kept.move_to_end(key)
                    found[id_] = self._kept[key]
        missing = [id_ for id_ in wanted if id_ not in found]
        if missing:
            made = self._make(missing)
            found |= made
            # What changed while it was read is shown as it was read, and not kept under either digest.
            after = self._store.stamps(missing, "all")
            with self._lock:
                for id_, item in made.items():
                    if id_ in after and (id_, after[id_].digest) == wanted[id_]:
                        self._kept[wanted[id_]] = item
                while len(self._kept) > self._most:
                    self._kept.popitem(last=False)
        return found
