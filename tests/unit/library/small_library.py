"""Small stores for the tests of relations, topics and statistics."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pilotage.library.stores.opening import open_store
from pilotage.library.stores.protocol import Store
from pilotage.library.terms import load_vocabulary
from rig.stores import put

VOCABULARY = load_vocabulary()


def record(id_: str, **fields: Any) -> dict[str, Any]:
    """A record as it would be imported; what is not given is left out."""
    title = fields.pop("title", f"Incident {id_}")
    text = title if isinstance(title, dict) else {"en": title, "ko": title}
    return {"id": id_, "org": "Acme", "org_slug": "acme", "status": "reviewed", "title": text, **fields}


def step(id_: str, text: str, **fields: Any) -> dict[str, Any]:
    return {"id": id_, "kind": "propagation", "label": {"en": text}, "text": {"en": text}, **fields}


@contextmanager
def library(*documents: dict[str, Any]) -> Iterator[Store]:
    with TemporaryDirectory() as folder:
        store = open_store(str(Path(folder) / "small.db"), create=True)
        try:
            put(store, documents)
            yield store
        finally:
            store.close()


def fillers(count: int, **fields: Any) -> list[dict[str, Any]]:
    """Records that have nothing to do with anything, so that shared terms are rare."""
    return [
        record(f"filler-{number}", org=f"Org {number}", org_slug=f"org-{number}", **fields)
        for number in range(count)
    ]
