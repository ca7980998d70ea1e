"""Vectors of the bundled records that are shipped with them: the model would take half a minute to make them.

A row is found by what it was made from: the version of the model's package and the text. So a text that was
changed, or a model of another version, finds nothing here, and its vector is made as any other.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
from collections.abc import Sequence
from importlib import resources
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pilotage.library.embedding import Embedder

_MOST = 127
"""The largest number of a row as it is shipped; its length is restored when it is read."""


class WithShipped:
    """An embedder that looks a passage up before it asks its model.

    Args:
        embedder: what makes the others, and the vectors of queries.
        distribution: the package that carries its model.
    """

    def __init__(self, embedder: Embedder, distribution: str) -> None:
        self.name = embedder.name
        self._embedder = embedder
        self._distribution = distribution

    def passages(self, texts: Sequence[str]) -> Any:
        """See `Embedder.passages`; a shipped vector is within a cosine of .9999 of the model's."""
        places = [self._places.get(self._key(text)) for text in texts]
        missing = [number for number, place in enumerate(places) if place is None]
        if len(missing) == len(texts):
            return self._embedder.passages(texts)
        numpy = importlib.import_module("numpy")
        rows = self._table["row"][[place or 0 for place in places]].astype("float32")
        rows /= numpy.linalg.norm(rows, axis=1, keepdims=True)
        if missing:
            rows[missing] = self._embedder.passages([texts[number] for number in missing])
        return rows

    def query(self, text: str) -> Any:
        """See `Embedder.query`."""
        return self._embedder.query(text)

    def table(self, texts: Sequence[str]) -> Any:
        """What is shipped for these texts, in their order; only those that are new are asked of the model."""
        numpy = importlib.import_module("numpy")
        rows = self.passages(texts)
        table = numpy.empty(len(texts), dtype=[("key", "<u8"), ("row", "i1", (rows.shape[1],))])
        table["key"] = [self._key(text) for text in texts]
        table["row"] = numpy.rint(rows * (_MOST / numpy.abs(rows).max(axis=1, keepdims=True)))
        return table

    @functools.cached_property
    def _version(self) -> str:
        # Only what makes vectors pays for its import; a search of words starts without.
        return str(importlib.import_module("importlib.metadata").version(self._distribution))

    @functools.cached_property
    def _table(self) -> Any:
        with vectors_file(self.name).open("rb") as file:
            return importlib.import_module("numpy").load(file)

    @functools.cached_property
    def _places(self) -> dict[int, int]:
        return {key: place for place, key in enumerate(self._table["key"].tolist())}

    def _key(self, text: str) -> int:
        made_from = f"{self._version}\n{text}".encode()
        return int.from_bytes(hashlib.blake2b(made_from, digest_size=8).digest(), "big")


def vectors_file(model: str) -> Any:
    """The file with the shipped vectors of a model."""
    return resources.files("pilotage.library") / "records" / f"{model}.npy"
