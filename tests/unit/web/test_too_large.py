"""A text that is too long to be checked: one answer at every door, with the limit named."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from pilotage.core.settings import Settings
from pilotage.library.catalogue import Catalogue
from pilotage.library.stores.opening import open_store
from pilotage.library.stores.protocol import Store
from pilotage.web.checking import MOST_BYTES
from pilotage.web.mcp.server import make_server
from rig.mcp_library import PUBLIC, ask, build, text_of
from rig.rest import client_of, make_app

LIMIT = f"longer than {MOST_BYTES} bytes"
TEXTS = {"a little": "#" * (MOST_BYTES + 1), "much": "#" * (4 * MOST_BYTES)}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with closing(open_store(build(tmp_path / "library.db", PUBLIC[:2]))) as opened:
        yield opened


@pytest.fixture
def client(store: Store) -> Iterator[TestClient]:
    with client_of(make_app(store)) as running:
        yield running


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_rest_and_page(client: TestClient, text: str) -> None:
    answer = client.post("/api/v1/checks/run", content=text)
    assert answer.status_code == 413
    assert answer.json()["code"] == "too-large"
    assert LIMIT in answer.json()["detail"]
    page = client.post("/checks/try", data={"text": text}, headers={"accept": "text/html"})
    assert page.status_code == 413
    assert LIMIT in page.text


def test_too_many_documents(client: TestClient) -> None:
    answer = client.post("/api/v1/checks/run", content="---\n" * 600)
    assert (answer.status_code, answer.json()["code"]) == (413, "too-large")


def test_mcp(store: Store) -> None:
    refused = ask(make_server(Settings(), Catalogue(store)), "check_manifests", text=TEXTS["a little"])
    assert refused.is_error
    assert LIMIT in text_of(refused)
    assert "pilotage check" in text_of(refused)


def test_what_just_fits_is_checked(client: TestClient) -> None:
    assert client.post("/api/v1/checks/run", content="#" * MOST_BYTES).status_code == 200
