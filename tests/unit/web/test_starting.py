"""While the server loads it says so, at every address; then it answers. What cannot be loaded ends it."""

from __future__ import annotations

import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import structlog
from fastapi import FastAPI
from fastapi.testclient import TestClient

from pilotage.web.health import install_health
from pilotage.web.starting import Starting


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with structlog.testing.capture_logs():
        yield


def made() -> FastAPI:
    app = FastAPI()
    install_health(app)
    app.add_api_route("/there", lambda: "it is")
    return app


def until(client: TestClient, path: str, status: int) -> None:
    deadline = time.monotonic() + 30
    while client.get(path).status_code != status:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_it_says_that_it_loads_and_then_answers() -> None:
    go_on = threading.Event()

    def slowly() -> FastAPI:
        go_on.wait(30)
        return made()

    with TestClient(Starting(slowly)) as client:
        for path in ("/readyz", "/there", "/api/v1/search?q=dns", "/mcp", "/metrics"):
            told = client.get(path)
            assert (told.status_code, told.json()["detail"]) == (503, "the server is loading"), path
            assert told.headers["retry-after"] == "3"
            assert told.headers["content-type"] == "application/problem+json"
            assert told.headers["x-content-type-options"] == "nosniff"
        assert client.get("/healthz").json() == {"status": "alive"}
        page = client.get("/search", headers={"accept": "text/html", "accept-language": "ko"})
        assert (page.status_code, page.headers["refresh"]) == (503, "3")
        assert "불러오는 중" in page.text
        go_on.set()
        until(client, "/there", 200)
        assert client.get("/there").json() == "it is"


def test_a_worker_that_loads_beside_one_that_answers_lets_requests_wait(tmp_path: Path) -> None:
    go_on = threading.Event()
    shared = tmp_path / "ready"

    def slowly() -> FastAPI:
        go_on.wait(30)
        return made()

    with TestClient(Starting(slowly, shared=shared)) as client:
        assert client.get("/there").status_code == 503
        shared.touch()
        assert client.get("/healthz").status_code == 200
        threading.Timer(0.05, go_on.set).start()
        assert client.get("/there").json() == "it is"
    with TestClient(Starting(made, shared=tmp_path / "other")) as client:
        until(client, "/there", 200)
    assert (tmp_path / "other").exists()


def test_what_cannot_be_loaded_ends_the_server() -> None:
    ended = threading.Event()

    def broken() -> FastAPI:
        raise RuntimeError("no model")

    def unable() -> FastAPI:
        @asynccontextmanager
        async def lifespan(_: FastAPI) -> AsyncIterator[None]:
            raise RuntimeError("no session")
            yield

        return FastAPI(lifespan=lifespan)

    for make, why in ((broken, "no model"), (unable, "no session")):
        ended.clear()
        starting = Starting(make, ended.set)
        with TestClient(starting) as client:
            assert ended.wait(30)
            assert client.get("/readyz").status_code == 503
        assert str(starting.failure) == why
