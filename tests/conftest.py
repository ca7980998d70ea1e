"""Fixtures that several suites share."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from pilotage.library.stores.opening import open_store
from pilotage.library.stores.protocol import Store
from rig import postgres
from rig.stores import vocabulary

# Before the first import of numpy: its threads wait by spinning, which on a busy machine costs four times the work.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# A busy machine is slow, not wrong.
settings.register_profile("suite", deadline=None)
settings.load_profile("suite")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files go in the order of the time that they are allowed, so that no worker begins a long one at the end.

    Those that say no time are taken by their marks: slow and real ones before all others; else as shuffled.
    """
    allowed: dict[Path, float] = {}
    for item in items:
        limit = item.get_closest_marker("timeout")
        slow = item.get_closest_marker("slow") or item.get_closest_marker("real")
        seconds = float(limit.args[0]) if limit else 1.0 if slow else 0.0
        allowed[item.path] = max(seconds, allowed.get(item.path, 0.0))
    items.sort(key=lambda item: -allowed[item.path])


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[postgres.Server]:
    """A real PostgreSQL server for the whole session."""
    with postgres.server() as running:
        yield running


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.real)])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The address of a place for a new store, once of each kind."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'library.db'}"
        return
    running: postgres.Server = request.getfixturevalue("postgres_server")
    with running.lent() as url:
        yield url


@pytest.fixture
def store(store_url: str) -> Iterator[Store]:
    """An empty store of each kind; the first look makes it."""
    opened = open_store(store_url, create=True, busy_seconds=20, vocabulary=vocabulary)
    assert opened.ids("all") == []
    yield opened
    opened.close()


@pytest.fixture
def open_again(store_url: str) -> Iterator[Callable[..., Store]]:
    """Opens the same store once more, as another process would."""
    opened: list[Store] = []

    def again(**options: object) -> Store:
        opened.append(open_store(store_url, **({"busy_seconds": 20, "vocabulary": vocabulary} | options)))
        return opened[-1]

    yield again
    for one in opened:
        one.close()
