"""The scorer equals SQLite's own bm25() on any texts."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pilotage.library.entry import COLUMNS
from pilotage.library.stores import bm25
from pilotage.library.stores.protocol import COLUMN_WEIGHTS, Match

words = st.sampled_from(["a", "b", "c", "가나", "나다", "x1", "long"])
texts = st.lists(words, max_size=8).map(" ".join)
rows = st.lists(st.fixed_dictionaries(dict.fromkeys(COLUMNS, texts)), min_size=1, max_size=8)
phrases = st.lists(st.lists(words, min_size=1, max_size=3).map(tuple), min_size=1, max_size=5, unique=True)


def by_sqlite(records, asked):
    weights = ", ".join(str(COLUMN_WEIGHTS[column]) for column in COLUMNS)
    with closing(sqlite3.connect(":memory:")) as db:
        db.execute(f"CREATE VIRTUAL TABLE t USING fts5({', '.join(COLUMNS)})")
        db.executemany(
            f"INSERT INTO t (rowid, {', '.join(COLUMNS)}) VALUES (?, ?, ?, ?, ?)",
            [(number, *(record[column] for column in COLUMNS)) for number, record in enumerate(records)],
        )
        expression = " OR ".join('"' + " ".join(phrase) + '"' for phrase in asked)
        return dict(db.execute(f"SELECT rowid, -bm25(t, {weights}) FROM t WHERE t MATCH ?", (expression,)))


@settings(max_examples=150, deadline=None)
@given(rows, phrases)
def test_it_equals_sqlite(records, asked):
    query = Match(((1.0, tuple(asked)),))
    found = [bm25.frequencies(record, asked) for record in records]
    holding = {phrase: sum(phrase in each for each, _ in found) for phrase in asked}
    known = bm25.Statistics(len(records), sum(length for _, length in found), holding)
    expected = by_sqlite(records, asked)
    scores = {number: bm25.score(record, query, known) for number, record in enumerate(records)}
    assert {number for number, score in scores.items() if score} == set(expected)
    for number, score in expected.items():
        assert scores[number] == pytest.approx(score, rel=1e-6)


def test_groups_add_up_by_weight():
    record = dict.fromkeys(COLUMNS, "") | {"body": "a b a"}
    known = bm25.Statistics(100, 300, {("a",): 3, ("b",): 1})
    one, two = (bm25.score(record, Match(((1.0, (phrase,)),)), known) for phrase in (("a",), ("b",)))
    both = bm25.score(record, Match(((2.0, (("a",), ("a",))), (0.5, (("b",),)))), known)
    assert both == pytest.approx(2 * one + 0.5 * two)


def test_nothing_public_is_no_division_by_zero():
    record = dict.fromkeys(COLUMNS, "a")
    assert bm25.score(record, Match(((1.0, (("a",),)),)), bm25.Statistics(0, 0, {})) > 0
