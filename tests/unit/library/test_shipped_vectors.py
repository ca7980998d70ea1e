from __future__ import annotations

from collections.abc import Sequence

import pytest

from pilotage.library.bundled import bundled_candidates
from pilotage.library.entry import passages
from pilotage.library.record import read_record
from pilotage.library.shipped_vectors import WithShipped

np = pytest.importorskip("numpy")

MODEL, WIDTH = "use-multilingual-3", 512


class Asked:
    """Notes what it is asked; all its vectors point the same way."""

    name = MODEL

    def __init__(self) -> None:
        self.texts: list[str] = []

    def passages(self, texts: Sequence[str]) -> np.ndarray:
        self.texts += texts
        return np.eye(1, WIDTH, dtype="float32").repeat(len(texts), axis=0)

    def query(self, text: str) -> np.ndarray:
        return self.passages([text])[0]


@pytest.fixture
def model() -> Asked:
    return Asked()


@pytest.fixture(scope="module")
def texts() -> list[str]:
    record = read_record(next(iter(bundled_candidates())).document)
    return [passage.text for passage in passages(record)]


@pytest.fixture(autouse=True)
def version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.metadata.version", lambda name: {"the-model": "0.2.1"}[name])


def test_passages_of_a_bundled_record_do_not_ask_the_model(model: Asked, texts: list[str]) -> None:
    rows = WithShipped(model, "the-model").passages(texts)
    assert model.texts == []
    assert rows.dtype == np.float32
    assert rows.shape == (len(texts), WIDTH)
    assert np.linalg.norm(rows, axis=1) == pytest.approx(np.ones(len(texts)), abs=1e-5)


def test_a_changed_text_asks_the_model_for_itself_alone(model: Asked, texts: list[str]) -> None:
    embedder = WithShipped(model, "the-model")
    rows = embedder.passages([texts[0], texts[1] + ".", texts[2]])
    assert model.texts == [texts[1] + "."]
    assert rows[1] == pytest.approx(np.eye(1, WIDTH)[0])
    assert rows[[0, 2]] == pytest.approx(embedder.passages([texts[0], texts[2]]))


def test_texts_of_others_go_to_the_model_as_they_are(model: Asked) -> None:
    assert WithShipped(model, "the-model").passages(["one", "two"]).shape == (2, WIDTH)
    assert model.texts == ["one", "two"]


def test_queries_go_to_the_model(model: Asked, texts: list[str]) -> None:
    WithShipped(model, "the-model").query(texts[0])
    assert model.texts == texts[:1]


def test_another_version_of_the_model_finds_nothing(
    model: Asked, texts: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.metadata.version", lambda _: "0.2.2")
    WithShipped(model, "the-model").passages(texts)
    assert model.texts == texts


def test_a_table_keeps_the_rows_that_are_known(model: Asked, texts: list[str]) -> None:
    embedder = WithShipped(model, "the-model")
    table = embedder.table([texts[0], "new"])
    assert model.texts == ["new"]
    kept = embedder._table[embedder._places[int(table["key"][0])]]
    assert table[0] == kept
    assert table["row"][1].tolist() == [127] + [0] * (WIDTH - 1)
