"""Addresses of stores as people write them: odd paths lead where they say, passwords stand in no message."""

from __future__ import annotations

import logging
import os
from contextlib import closing
from pathlib import Path

import pytest

from pilotage.clients.db.postgres import without_password
from pilotage.clients.db.sqlite import SqliteDoor
from pilotage.core.errors import NotFound, StoreError
from pilotage.library.stores.opening import open_store


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://h/db", "postgresql://h/db"),
        ("postgresql:///db?host=/run/postgresql", "postgresql:///db"),
        ("postgresql://me:secret@h:5432/db?sslmode=require", "postgresql://me@h:5432/db"),
        ("postgresql://me@h1:5432,h2:5433/db", "postgresql://me@h1:5432,h2:5433/db"),
        ("postgres://me:secret@[::1]:5432/db", "postgres://me@[::1]:5432/db"),
        ("postgresql://h/db?user=me&password=secret", "postgresql://h/db"),
        ("postgresql://me:se@cret@h/db", "postgresql://me@h/db"),
        ("postgresql://me:se[cret@h/db", "postgresql://me@h/db"),
        ("postgresql://me:se#cret@h/db", "postgresql://me@h/db"),
        ("postgresql://me:se/cret@h/db", "postgresql://…"),
        ("postgresql://me:se?cret@h/db", "postgresql://…"),
        ("postgresql://me:secret", "postgresql://…"),
    ],
)
def test_no_part_of_a_password_is_shown(url: str, shown: str) -> None:
    assert without_password(url) == shown


def opened(path: Path, *, create: bool = False) -> SqliteDoor:
    return SqliteDoor(path, application_id=7, busy_seconds=1, create=create)


@pytest.mark.parametrize("name", ["a?b#c%41.db", "한글 .db", os.fsdecode(b"\xff.db")])
def test_a_path_may_hold_anything(tmp_path: Path, name: str) -> None:
    for path in (tmp_path / name, Path(f"/{tmp_path / name}"), Path(os.path.relpath(tmp_path / name))):
        with closing(opened(path, create=True)) as door:
            with door.writing() as session:
                session.run("PRAGMA application_id = 7")
                session.run("CREATE TABLE IF NOT EXISTS t (x)")
                session.run("INSERT INTO t VALUES (1)")
            with closing(opened(path)) as other, other.reading() as session:
                assert session.one("SELECT count(*) FROM t") is not None
    assert [one.name for one in tmp_path.iterdir()] == [name]


def test_a_home_that_nobody_has_is_a_path_like_others() -> None:
    with pytest.raises(NotFound, match="~nobody-of-that-name"):
        open_store("~nobody-of-that-name/x.db")


def test_a_name_that_no_file_can_have_is_one_clear_error(tmp_path: Path) -> None:
    for create in (False, True):
        with pytest.raises(StoreError):
            opened(tmp_path / ("a" * 300), create=create)


def test_the_driver_prints_nothing_beside_our_errors():
    # Python prints the warnings of a logger that has no handler at all.
    assert any(isinstance(one, logging.NullHandler) for one in logging.getLogger("psycopg").handlers)
