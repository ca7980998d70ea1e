from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog
from fastapi import FastAPI
from fastapi.testclient import TestClient

from pilotage.library.stores.opening import open_store
from pilotage.library.stores.protocol import Store
from rig.rest import client_of, fill, make_app


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of a few public records, made once."""
    path = tmp_path_factory.mktemp("rest") / "library.db"
    fill(str(path))
    return path


@pytest.fixture
def store(filled: Path, tmp_path: Path) -> Iterator[Store]:
    opened = open_store(str(shutil.copy(filled, tmp_path / "library.db")))
    yield opened
    opened.close()


@pytest.fixture
def app(store: Store) -> FastAPI:
    return make_app(store)


@pytest.fixture
def client(app: FastAPI) -> Iterator[TestClient]:
    with structlog.testing.capture_logs(), client_of(app) as opened:
        yield opened


@pytest.fixture(scope="session")
def _running(filled: Path) -> Iterator[TestClient]:
    opened = open_store(str(filled))
    with client_of(make_app(opened)) as client:
        yield client
    opened.close()


@pytest.fixture
def reader(_running: TestClient) -> Iterator[TestClient]:
    """A client of one app for the whole session: for answers that nothing asked before can change."""
    with structlog.testing.capture_logs():
        yield _running
    _running.cookies.clear()
