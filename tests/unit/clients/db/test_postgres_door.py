"""The door to PostgreSQL where a server would be in the way."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from pilotage.clients.db.postgres import PostgresDoor
from pilotage.core.errors import Unreachable


class Failing:
    """A connection whose first statement fails."""

    closed = False

    def execute(self, _statement: object) -> None:
        raise psycopg.OperationalError("server closed the connection unexpectedly")

    def close(self) -> None:
        self.closed = True


def test_a_connection_whose_first_statement_fails_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Failing] = []

    def connect(**_options: Any) -> Failing:
        made.append(Failing())
        return made[-1]

    monkeypatch.setattr(psycopg, "connect", connect)
    monkeypatch.setattr(psycopg.Connection, "close", Failing.close)
    with pytest.raises(Unreachable, match="went away"):
        PostgresDoor("postgresql://me@127.0.0.1:1/db", busy_seconds=1)
    assert [connection.closed for connection in made] == [True]
