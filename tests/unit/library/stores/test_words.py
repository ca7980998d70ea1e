"""The text search vector that PostgreSQL is given."""

from __future__ import annotations

import pytest

psycopg = pytest.importorskip("psycopg", reason="the extra [postgres] is not installed")

from pilotage.library.stores.postgres import words_of  # noqa: E402


def columns(**texts):
    return dict.fromkeys(("name", "said", "tags", "body"), "") | texts


def test_places_and_columns():
    assert words_of(columns(name="a b", body="a")) == "'a':1A,6D 'b':2A"


def test_a_long_record_stays_within_what_a_vector_holds():
    long = words_of(columns(name="first", body=" ".join(f"w{number}" for number in range(200_000))))
    assert long.startswith("'first' 'w0' ")
    assert len(long) < 1_800_000
    assert words_of(columns(name="x" * 3000 + " y")) == "'y':2A"
    assert words_of(columns(body="a " * 70_000)).count(",") == 254
