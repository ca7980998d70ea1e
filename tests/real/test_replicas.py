"""Two servers on one PostgreSQL: either can go, and what one began the other goes on with."""

from __future__ import annotations

import signal
import threading
import time
from pathlib import Path

import httpx
import pytest

from pilotage.library.stores.opening import open_store
from rig import postgres
from rig.rest import Served, fill, put, record, served

pytestmark = [pytest.mark.real, pytest.mark.slow]
RECORDS = 60


def many() -> list[dict[str, object]]:
    return [
        record(
            f"many-{number:02}",
            f"Incident number {number}",
            f"장애 {number}",
            date=f"2020-01-{1 + number % 28:02}",
        )
        for number in range(RECORDS)
    ]


class Load:
    """Requests without pause to one server, until told to stop."""

    def __init__(self, server: Served) -> None:
        self.statuses: list[int] = []
        self.failures: list[str] = []
        self._server = server
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._run, args=(number,)) for number in range(4)]
        for thread in self._threads:
            thread.start()

    def _run(self, number: int) -> None:
        with httpx.Client(base_url=self._server.address, timeout=30) as client:
            while not self._stop.is_set():
                number = (number + 7) % RECORDS
                try:
                    self.statuses.append(client.get(f"/api/v1/search?q=incident+{number}").status_code)
                    self.statuses.append(client.get(f"/api/v1/incidents/many-{number:02}").status_code)
                except httpx.HTTPError as error:
                    self.failures.append(repr(error))

    def end(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()


def test_one_is_killed_under_load_and_the_other_misses_nothing(
    postgres_server: postgres.Server, tmp_path: Path
) -> None:
    url = postgres_server.database()
    fill(url, many())
    with served(url, tmp_path) as one, served(url, tmp_path) as other:
        on_one, on_other = Load(one), Load(other)
        try:
            wait_for(lambda: len(on_one.statuses) > 20 and len(on_other.statuses) > 20)
            one.process.send_signal(signal.SIGKILL)
            one.process.wait(timeout=10)
            before = len(on_other.statuses)
            wait_for(lambda: len(on_other.statuses) > before + 40)
        finally:
            on_one.end()
            on_other.end()
        assert on_one.failures, "the load went on while it was killed"
        assert not on_other.failures
        assert set(on_other.statuses) == {200}


def test_a_list_begun_on_one_goes_on_on_the_other(postgres_server: postgres.Server, tmp_path: Path) -> None:
    url = postgres_server.database()
    fill(url, many())
    store = open_store(url)
    with served(url, tmp_path) as one, served(url, tmp_path) as other:
        same = "/api/v1/search?q=incident"
        host = {"host": "incidents.example.com"}
        etag = one.get(same, headers=host).headers["etag"]
        assert other.get(same, headers=host | {"if-none-match": etag}).status_code == 304

        listed: list[str] = []
        changed: list[str] = []
        cursor, since = "", ""
        for turn in range(100):
            server = one if turn % 2 else other
            part = server.get(f"/api/v1/incidents?limit=7{cursor}").json()
            listed += [item["id"] for item in part["items"]]
            feed = server.get(f"/api/v1/changes?limit=9{since}").json()
            changed += [item["id"] for item in feed["items"]]
            since = f"&since={feed['next']}"
            if turn == 2:
                put(store, [record("newer", "Newer", "새것", date="2026-01-01")])
            if part["next"] is None:
                break
            cursor = f"&cursor={part['next']}"
        assert sorted(listed) == [f"many-{number:02}" for number in range(RECORDS)]
        rest = other.get(f"/api/v1/changes?limit=200{since}").json()
        changed += [item["id"] for item in rest["items"]]
        assert sorted(changed) == sorted([*listed, "newer"])
        assert one.get(f"/api/v1/changes?since={rest['next']}").json()["items"] == []
        assert one.get(same, headers=host | {"if-none-match": etag}).status_code == 200
    store.close()


def wait_for(done: object, within: float = 60) -> None:
    deadline = time.monotonic() + within
    assert callable(done)
    while not done():
        assert time.monotonic() < deadline, "it did not come to that"
        time.sleep(0.02)
