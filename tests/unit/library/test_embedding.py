from __future__ import annotations

import importlib.util

import pytest

from pilotage.core.errors import MissingExtra
from pilotage.library import embedding
from pilotage.library.bundled import bundled_candidates
from pilotage.library.embedding import Embedder, installed, load_embedder, vectors_of
from pilotage.library.entry import Entry, Passage, passages
from pilotage.library.record import read_record
from pilotage.library.shipped_vectors import WithShipped
from rig.embedder import WIDTH, HashedWords

np = pytest.importorskip("numpy")

TEXTS = [
    "the ingress controller was killed for lack of memory",
    "인그레스 컨트롤러가 메모리 부족으로 종료됐다",
    "how to bake bread",
    "",
    "!?",
    # More than the 512 tokens that a model looks at together.
    "가" * 1200,
]


@pytest.fixture(params=["hashed-words", *installed()])
def embedder(request: pytest.FixtureRequest) -> Embedder:
    return HashedWords() if request.param == "hashed-words" else load_embedder(request.param)


def test_vectors_have_one_width_and_length_one(embedder: Embedder) -> None:
    rows = embedder.passages(TEXTS)
    assert rows.shape[0] == len(TEXTS)
    assert rows.dtype == np.float32
    assert np.isfinite(rows).all()
    assert np.linalg.norm(rows, axis=1) == pytest.approx(np.ones(len(TEXTS)), abs=0.01)
    assert embedder.query(TEXTS[0]).shape == rows.shape[1:]


def test_a_query_is_a_vector_among_those_of_passages(embedder: Embedder) -> None:
    rows, asked = embedder.passages(TEXTS[:3]), embedder.query(TEXTS[0])
    assert asked.dtype == np.float32
    assert float(np.linalg.norm(asked)) == pytest.approx(1, abs=0.01)
    likeness = rows @ asked
    assert likeness.argmax() == 0
    assert likeness[0] > 0.9


def test_a_passage_has_the_same_vector_alone_and_among_others(embedder: Embedder) -> None:
    together = embedder.passages(TEXTS[:3])
    alone = np.vstack([embedder.passages([text]) for text in TEXTS[:3]])
    assert np.abs(together - alone).max() < 0.02


@pytest.mark.parametrize("name", installed())
def test_the_real_ones_see_the_same_meaning_across_languages(name: str) -> None:
    rows = load_embedder(name).passages(TEXTS[:3])
    assert rows[0] @ rows[1] > rows[0] @ rows[2]


@pytest.mark.skipif("use-multilingual-3" not in installed(), reason="the extra [semantic] is not installed")
def test_shipped_vectors_are_those_of_the_model() -> None:
    embedder = load_embedder("use-multilingual-3")
    assert isinstance(embedder, WithShipped)
    texts = [passage.text for passage in passages(read_record(next(iter(bundled_candidates())).document))][
        ::6
    ]
    likeness = (embedder.passages(texts) * embedder._embedder.passages(texts)).sum(axis=1)
    assert likeness.min() > 0.9999


def entry(*texts: str) -> Entry:
    return Entry({}, [], [], [Passage("phrase", "en", text) for text in texts])


def test_vectors_are_kept_as_halves_in_the_order_of_the_passages() -> None:
    embedder = HashedWords()
    kept = vectors_of(entry("one", "two"), embedder)
    assert [(vector.part, vector.lang, len(vector.data)) for vector in kept] == [
        ("phrase", "en", 2 * WIDTH)
    ] * 2
    back = np.frombuffer(kept[1].data, dtype="<f2").astype("float32")
    assert float(back @ embedder.query("two")) == pytest.approx(1, abs=0.01)


def test_no_passages_ask_for_nothing() -> None:
    embedder = HashedWords()
    assert vectors_of(entry(), embedder) == []
    assert embedder.asked == 0


def test_an_unknown_embedder_names_the_extra() -> None:
    with pytest.raises(MissingExtra, match="no-such-model") as caught:
        load_embedder("no-such-model")
    assert "pilotage[semantic]" in caught.value.hint


def test_without_numpy_none_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "numpy" else found(name))
    assert embedding.installed() == []
