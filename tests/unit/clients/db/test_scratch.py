import sqlite3

import pytest

from pilotage.clients.db import scratch
from pilotage.clients.db.scratch import Scratch
from pilotage.core.errors import StoreFull


def test_the_first_note_of_a_text_stays():
    with Scratch() as seen:
        assert seen.note("a", "one") is None
        assert seen.note("a", "two") == "one"
        assert seen.note("a", "three") == "one"
        assert "a" in seen
        assert "b" not in seen


def test_every_text_is_a_text_of_its_own():
    texts = ["", " ", "A", "a", "가", "\u1100\u1161", "\ud800", "\ud801", "\x00", "a\x00", "1", "01"]
    with Scratch() as seen:
        assert [seen.note(text, str(place)) for place, text in enumerate(texts)] == [None] * len(texts)
        assert [seen.note(text) for text in texts] == [str(place) for place in range(len(texts))]


def test_another_one_knows_nothing_of_it():
    with Scratch() as seen, Scratch() as other:
        seen.note("a")
        assert "a" not in other


def test_no_room_for_it_is_said(monkeypatch):
    def full(*_args: object, **_options: object) -> None:
        error = sqlite3.OperationalError("database or disk is full")
        error.sqlite_errorcode = sqlite3.SQLITE_FULL
        raise error

    monkeypatch.setattr(scratch.sqlite3, "connect", full)
    with pytest.raises(StoreFull, match="temporary files"):
        Scratch()
