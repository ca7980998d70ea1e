"""Likeness of meaning: all passage vectors of a store in one matrix, read once per state of the store."""

from __future__ import annotations

import importlib
import threading
from dataclasses import dataclass
from typing import Any

from pilotage.library.embedding import Embedder
from pilotage.library.stores.protocol import Audience, Store

_ROWS_AT_ONCE = 65_536
_BREADTH = 3


@dataclass(frozen=True)
class Likeness:
    """How near a record comes to a query in meaning.

    Attributes:
        score: cosine of the nearest passage, -1 to 1.
        breadth: mean cosine of the three passages that come next: whether more than one speaks of it.
        part: what the nearest passage is.
        lang: its language.
    """

    score: float
    breadth: float
    part: str
    lang: str


class VectorIndex:
    """The vectors of one audience at one state of the store.

    Args:
        store: where they are.
        model: name of the embedder.
        audience: whose records.
    """

    def __init__(self, store: Store, model: str, audience: Audience) -> None:
        self.ids: list[str] = []
        self._starts: list[int] = []
        self._kind: list[tuple[str, str]] = []
        blocks: list[bytes] = []
        width = 0
        for row in store.vectors(model, audience):
            if not self.ids or self.ids[-1] != row.id:
                self.ids.append(row.id)
                self._starts.append(len(blocks))
            self._kind.append((row.part, row.lang))
            blocks.append(row.data)
            width = len(row.data) // 2
        if not blocks:
            return
        self._numpy = importlib.import_module("numpy")
        self._matrix: Any = self._numpy.frombuffer(b"".join(blocks), dtype="<f2").reshape(-1, max(width, 1))
        if len(blocks) <= _ROWS_AT_ONCE:
            self._matrix = self._matrix.astype("float32")

    def nearest(self, vector: Any, *, limit: int) -> dict[str, Likeness]:
        """The records nearest to a query vector, by their nearest passage."""
        if not self.ids:
            return {}
        np = self._numpy
        parts = [
            self._matrix[start : start + _ROWS_AT_ONCE].astype("float32", copy=False) @ vector
            for start in range(0, len(self._matrix), _ROWS_AT_ONCE)
        ]
        scores = np.concatenate(parts)
        best = np.maximum.reduceat(scores, self._starts)
        found: dict[str, Likeness] = {}
        for owner in np.argsort(-best, kind="stable")[:limit]:
            first = self._starts[owner]
            last = self._starts[owner + 1] if owner + 1 < len(self._starts) else len(scores)
            own = scores[first:last]
            order = np.argsort(-own, kind="stable")
            part, lang = self._kind[first + order[0]]
            breadth = float(own[order[1 : 1 + _BREADTH]].mean()) if len(own) > 1 else float(best[owner])
            found[self.ids[owner]] = Likeness(float(best[owner]), breadth, part, lang)
        return found


class SemanticSearch:
    """Keeps the vector index of a store up to date; safe to share between threads.

    Args:
        store: where the vectors are.
        embedder: what turns queries into vectors.
    """

    def __init__(self, store: Store, embedder: Embedder) -> None:
        self._store = store
        self.embedder = embedder
        self._lock = threading.Lock()
        self._indexes: dict[Audience, tuple[int, VectorIndex]] = {}

    def nearest(self, text: str, audience: Audience, *, limit: int) -> dict[str, Likeness]:
        """The records nearest in meaning to a text."""
        index = self.index(audience)
        return index.nearest(self.embedder.query(text), limit=limit) if index.ids else {}

    def index(self, audience: Audience) -> VectorIndex:
        """The index of the store's present state."""
        version = self._store.data_version(audience)
        with self._lock:
            held = self._indexes.get(audience)
            if held is None or held[0] != version:
                held = (version, VectorIndex(self._store, self.embedder.name, audience))
                self._indexes[audience] = held
            return held[1]
