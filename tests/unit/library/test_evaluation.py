from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from pilotage.core.errors import InvalidInput, NotFound
from pilotage.library.evaluation import Evaluation, Graded, evaluate, ndcg, read_graded
from pilotage.library.search.engine import Searcher
from unit.library.small_library import library, record

GOOD = '{"query": "dns", "lang": "en", "relevant": {"a": 2}, "kind": "symptom"}'


def graded(tmp_path: Path, *lines: str) -> list[Graded]:
    path = tmp_path / "graded.jsonl"
    path.write_text("\n".join(lines), "utf-8")
    return read_graded(path)


@pytest.mark.parametrize(
    ("grades", "found", "expected"),
    [
        ({"a": 3}, ["a"], 1.0),
        ({"a": 3}, ["b"], 0.0),
        ({"a": 3}, [], 0.0),
        ({}, ["a"], 0.0),
        # 3/log2(2) against 3/log2(3).
        ({"a": 3}, ["b", "a"], 1 / math.log2(3)),
        # Gains 1 + 3/log2(3) + 2/log2(4), ideal 3 + 2/log2(3) + 1/log2(4).
        (
            {"a": 3, "b": 2, "c": 1},
            ["c", "a", "b"],
            (1 + 3 / math.log2(3) + 1) / (3 + 2 / math.log2(3) + 0.5),
        ),
        ({"a": 1, "b": 1}, ["a"], 1 / (1 + 1 / math.log2(3))),
        ({"k": 1}, list("abcdefghijk"), 0.0),
        ({"j": 1}, list("abcdefghij"), 1 / math.log2(11)),
    ],
)
def test_ndcg_by_hand(grades: dict[str, float], found: list[str], expected: float) -> None:
    assert ndcg(grades, found) == pytest.approx(expected)


def test_more_than_ten_relevant_records_can_still_score_one() -> None:
    grades = {f"r{number}": 1.0 for number in range(15)}
    assert ndcg(grades, list(grades)[:10]) == pytest.approx(1.0)


def test_a_graded_set_is_read(tmp_path: Path) -> None:
    path = tmp_path / "graded.jsonl"
    path.write_bytes(
        "\ufeff".encode()
        + GOOD.encode()
        + b"\r\n\n"
        + '{"query": "a\u2028b", "lang": "ko", "relevant": {"x": 0, "y": 1.5}}\n'.encode()
    )
    first, second = read_graded(path)
    assert first == Graded("dns", "en", "symptom", {"a": 2.0}, f"{path}:1")
    assert second == Graded("a\u2028b", "ko", "", {"y": 1.5}, f"{path}:3")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "property name"),
        ("[]", "needs a text 'query'"),
        ('{"query": 3, "lang": "en", "relevant": {}}', "needs a text 'query'"),
        ('{"query": "x", "lang": "fr", "relevant": {}}', "'lang'"),
        ('{"query": "x", "relevant": {}}', "'lang'"),
        ('{"query": "x", "lang": "en"}', "'relevant'"),
        ('{"query": "x", "lang": "en", "relevant": ["a"]}', "'relevant'"),
        ('{"query": "x", "lang": "en", "relevant": {"a": -1}}', "'relevant'"),
        ('{"query": "x", "lang": "en", "relevant": {"a": true}}', "'relevant'"),
        ('{"query": "x", "lang": "en", "relevant": {"a": "3"}}', "'relevant'"),
        ('{"query": "x", "lang": "en", "relevant": {"a": NaN}}', "'relevant'"),
        ('{"query": "x", "lang": "en", "relevant": {"a": Infinity}}', "'relevant'"),
        ('{"query": "x", "lang": "en", "relevant": {"a": 1' + "0" * 400 + "}}", "'relevant'"),
        ("[" * 100_000, "recursion"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, line: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message) as caught:
        graded(tmp_path, GOOD, "", line)
    assert caught.value.message.startswith(f"{tmp_path / 'graded.jsonl'}:3: ")
    assert caught.value.hint


def test_a_file_that_cannot_be_read_is_one_error(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="No such file"):
        read_graded(tmp_path / "none.jsonl")
    with pytest.raises(NotFound, match="directory"):
        read_graded(tmp_path)
    with pytest.raises(InvalidInput, match="holds no query"):
        graded(tmp_path, "", "  ")
    (tmp_path / "latin.jsonl").write_bytes(b'{"query": "caf\xe9"}')
    with pytest.raises(InvalidInput, match="not UTF-8 at byte 15"):
        read_graded(tmp_path / "latin.jsonl")


RECORDS = [
    record(
        "zk",
        title="ZooKeeper lost its quorum",
        aliases=["IL-1"],
        sources=[{"url": "https://example.org/zk", "kind": "blog"}],
    ),
    record("cert", title="An expired certificate cut the mesh"),
    record("dns", title="Resolvers answered NXDOMAIN"),
]


def scores(*queries: dict[str, Any], **options: Any) -> Evaluation:
    asked = [
        Graded(q["query"], q.get("lang", "en"), q.get("kind", ""), q["relevant"], f"line {number}")
        for number, q in enumerate(queries, start=1)
    ]
    with library(*RECORDS) as store:
        return evaluate(Searcher(store), asked, **options)


def test_ids_aliases_and_addresses_name_a_record() -> None:
    done = []
    result = scores(
        {"query": "zookeeper lost its quorum", "relevant": {"zk": 1.0}},
        {"query": "zookeeper lost its quorum", "relevant": {"IL-1": 1.0}},
        {"query": "zookeeper lost its quorum", "relevant": {"http://www.example.org/zk/#top": 1.0}},
        progress=lambda: done.append(1),
    )
    assert [score.ndcg for score in result.scores] == [1.0, 1.0, 1.0]
    assert len(done) == 3


def test_two_names_of_one_record_count_once_with_the_higher_grade() -> None:
    result = scores({"query": "zookeeper lost its quorum", "relevant": {"zk": 3.0, "IL-1": 1.0}})
    assert (result.scores[0].ndcg, result.scores[0].recall) == (1.0, 1.0)


def test_sums_by_hand() -> None:
    result = scores(
        {"query": "zookeeper lost its quorum", "lang": "en", "kind": "title", "relevant": {"zk": 1.0}},
        {
            "query": "zookeeper lost its quorum",
            "lang": "ko",
            "kind": "title",
            "relevant": {"zk": 1, "dns": 1},
        },
        {"query": "how long to boil an egg", "lang": "en", "kind": "none", "relevant": {}},
        {"query": "zookeeper lost its quorum", "lang": "en", "kind": "none", "relevant": {}},
        {"query": "how long to boil an egg", "lang": "ko", "kind": "symptom", "relevant": {"cert": 1.0}},
    )
    half = 1 / (1 + 1 / math.log2(3))
    overall = result.overall
    assert (overall.answerable, overall.unanswerable) == (3, 2)
    assert overall.ndcg == pytest.approx((1 + half + 0) / 3)
    assert overall.mrr == pytest.approx(2 / 3)
    assert overall.recall == pytest.approx((1 + 0.5 + 0) / 3)
    assert overall.correct_refusals == 0.5
    assert overall.wrong_refusals == pytest.approx(1 / 3)
    assert (result.by_lang["ko"].answerable, result.by_lang["ko"].correct_refusals) == (2, None)
    assert result.by_kind["none"].ndcg is None
    assert list(result.by_kind) == ["none", "symptom", "title"]
    assert [score.graded.place for score in result.worst(10)] == ["line 4", "line 5", "line 2"]
    assert len(result.worst(1)) == 1
    shown = json.loads(json.dumps(result.to_json(2)))
    assert shown["overall"]["recall_at_10"] == pytest.approx(0.5)
    assert [worst["query"] for worst in shown["worst"]] == [
        "zookeeper lost its quorum",
        "how long to boil an egg",
    ]
    assert shown["worst"][1]["missed"] == ["cert"]


def test_a_record_that_is_not_there_is_named_with_its_line() -> None:
    with pytest.raises(NotFound, match="line 1: no record 'zkk'") as caught:
        scores({"query": "x", "relevant": {"zkk": 1.0}})
    assert "'zk'" in caught.value.hint


def test_one_record_of_several_that_is_not_there_counts_as_missed() -> None:
    found = scores(
        {"query": "zookeeper lost its quorum", "relevant": {"zkk": 1.0, "zk": 1.0}},
        {"query": "zookeeper lost its quorum", "relevant": {"https://elsewhere.example/report": 2.0}},
    )
    assert found.unknown == (
        "line 1: no record 'zkk', which counts as missed. Did you mean 'zk'?",
        "line 2: no record 'https://elsewhere.example/report', which counts as missed.",
    )
    assert found.overall.recall == pytest.approx(0.25)
    assert found.to_json(1)["unknown"] == list(found.unknown)


def test_private_records_are_no_answers_for_the_public() -> None:
    private = record("p", title="ZooKeeper lost its quorum again", visibility="private")
    query = [Graded("zookeeper lost its quorum again", "en", "", {"p": 1.0}, "line 1")]
    with library(*RECORDS, private) as store:
        with pytest.raises(NotFound, match="no record 'p'"):
            evaluate(Searcher(store), query)
        assert evaluate(Searcher(store), query, audience="all").overall.mrr == 1.0
