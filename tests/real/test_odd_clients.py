"""Clients and stores that misbehave, against `pilotage serve` itself: right answers, never a stack trace."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import httpx
import pytest

from rig import postgres
from rig.rest import DNS, PRIVATE_ID, TOKEN, Served, fill, served, with_private

pytestmark = [pytest.mark.real, pytest.mark.slow]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("odd")
    fill(str(folder / "library.db"))
    with served(str(folder / "library.db"), folder) as running:
        yield running


def place(server: Served) -> tuple[str, int]:
    host, _, port = server.address.removeprefix("http://").partition(":")
    return host, int(port)


def raw(server: Served, request: bytes) -> bytes:
    """What the server answers to these bytes."""
    with closing(socket.create_connection(place(server), timeout=20)) as talk:
        # It may refuse, and go, before it has read everything.
        with suppress(OSError):
            talk.sendall(request)
        parts = []
        with suppress(ConnectionResetError):
            while part := talk.recv(65_536):
                parts.append(part)
    return b"".join(parts)


def get_raw(server: Served, target: bytes, headers: bytes = b"") -> bytes:
    return raw(
        server, b"GET " + target + b" HTTP/1.1\r\nHost: x\r\n" + headers + b"Connection: close\r\n\r\n"
    )


def status(answer: bytes) -> int:
    found = re.match(rb"HTTP/1\.[01] (\d{3})", answer)
    assert found, answer[:200]
    assert b"Traceback" not in answer
    return int(found[1])


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        (b"/api/v1/search?q=" + b"x" * 1_000_000, (400, 414)),
        (b"/api/v1/search?q=" + b"x" * 110_000, (414,)),
        (b"/api/v1/search?q=" + b"x" * 90_000, (200,)),
        (b"/api/v1/search?" + b"&".join([b"facet=year=2020"] * 10_000), (400, 414)),
        (b"/api/v1/search?" + b"&".join([b"year=2020"] * 5_000), (400,)),
        (b"/" + b"a/" * 500 + b".json", (404,)),
        (b"/api/v1/incidents/%ff%fe", (400,)),
        (b"/api/v1/incidents/\xff\xfe", (400,)),
        (b"/api/v1/search?q=%c3%28", (400,)),
        (b"/api/v1/search?q=\xed\xa0\x80", (400,)),
        (b"/api/v1/incidents/%00", (404,)),
        (b"/api/v1/incidents/..%2f..%2fetc%2fpasswd", (404,)),
        (b"/static/..%2f..%2fapp.py", (404,)),
        (b"/api/v1/search?q=%00%1b[31m", (200,)),
        (b"*", (400, 404)),
        (b"http://elsewhere.example/api/v1/search", (200, 400, 404)),
        (b"//api/v1/search", (404,)),
    ],
    ids=lambda value: str(value)[:40],
)
def test_odd_addresses(server: Served, target: bytes, expected: tuple[int, ...]) -> None:
    assert status(get_raw(server, target)) in expected
    assert server.get("/healthz").status_code == 200


def test_odd_messages(server: Served) -> None:
    many = b"".join(b"X-%d: %s\r\n" % (number, b"y" * 100) for number in range(5_000))
    assert status(get_raw(server, b"/api/v1/search", many)) in {400, 431}
    assert status(get_raw(server, b"/api/v1/search", b"Cookie: " + b"a=b;" * 5_000 + b"\r\n")) == 200
    assert status(get_raw(server, b"/api/v1/search", b'If-None-Match: \xff\xfe,,"\r\n')) == 200
    assert status(get_raw(server, b"/api/v1/search", b"Accept-Language: ;;;q=,\xff\r\n")) == 200
    assert status(get_raw(server, b"/api/v1/search", b"Authorization: Bearer \xed\xa0\x80\r\n")) == 200
    assert status(raw(server, b"NONSENSE\r\n\r\n")) == 400
    assert status(raw(server, b"BREW /api/v1/search HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")) == 405
    posted = b"POST /api/v1/search HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello"
    assert status(raw(server, posted)) == 405
    head = raw(server, b"HEAD /api/v1/search HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    assert status(head) == 200
    assert head.endswith(b"\r\n\r\n")


def test_slow_clients_keep_nobody_waiting(server: Served) -> None:
    slow = [socket.create_connection(place(server), timeout=20) for _ in range(100)]
    try:
        for talk in slow:
            talk.sendall(b"GET /api/v1/search?q=dns HTTP/1.1\r\nHo")
        readers = [socket.create_connection(place(server), timeout=20) for _ in range(10)]
        for talk in readers:
            talk.sendall(b"GET /api/v1/export HTTP/1.1\r\nHost: x\r\n\r\n")
        started = time.monotonic()
        assert server.get("/api/v1/search?q=coredns").status_code == 200
        assert time.monotonic() - started < 5
        for talk in slow[:3]:
            talk.sendall(b"st: x\r\nConnection: close\r\n\r\n")
            assert status(talk.recv(65_536)) == 200
        for talk in readers:
            talk.close()
    finally:
        for talk in slow:
            talk.close()


def test_conditional_requests(server: Served) -> None:
    first = server.get(f"/api/v1/incidents/{DNS['id']}")
    again = server.get(f"/api/v1/incidents/{DNS['id']}", headers={"if-none-match": first.headers["etag"]})
    assert again.status_code == 304
    assert again.content == b""


def test_a_locked_file_is_503_and_then_all_is_well(tmp_path: Path) -> None:
    path = tmp_path / "library.db"
    fill(str(path))
    # Without its log a writer keeps readers out.
    with closing(sqlite3.connect(path)) as first:
        first.execute("PRAGMA journal_mode = DELETE")
    with served(str(path), tmp_path, env={"PILOTAGE_STORE__BUSY_SECONDS": "0.3"}) as running:
        assert running.get("/api/v1/search?q=dns").status_code == 200
        with closing(sqlite3.connect(path, isolation_level=None, timeout=20)) as other:
            other.execute("BEGIN EXCLUSIVE")
            busy = running.get("/api/v1/search?q=coredns")
            assert busy.status_code == 503
            assert busy.headers["retry-after"]
            assert busy.json()["code"] == "store-busy"
            assert str(tmp_path) not in busy.text
            assert running.get("/readyz").status_code == 503
            assert running.get("/healthz").status_code == 200
            other.execute("ROLLBACK")
        assert running.get("/api/v1/search?q=coredns").status_code == 200
        assert "Traceback" not in running.said()


def test_a_database_that_restarts(postgres_server: postgres.Server, tmp_path: Path) -> None:
    url = postgres_server.database()
    fill(url)
    with served(url, tmp_path) as running:
        path = f"/api/v1/incidents/{DNS['id']}"
        etag = running.get(path).headers["etag"]
        postgres_server.stop()
        try:
            for asked in (path, "/api/v1/search?q=dns", "/readyz", "/metrics", "/index.json"):
                gone = running.get(asked)
                assert gone.status_code == 503, asked
                assert int(gone.headers["retry-after"]) > 0
                assert gone.json()["code"] == "unreachable"
                assert str(postgres_server.port) not in gone.text
            page = running.get("/", headers={"accept": "text/html"})
            assert page.status_code == 503
            assert running.get("/healthz").status_code == 200
        finally:
            postgres_server.start()
        back = running.get(path)
        assert back.status_code == 200
        assert back.headers["etag"] == etag
        assert running.get("/readyz").status_code == 200
        assert "Traceback" not in running.said()


def test_a_stop_lets_open_requests_end(tmp_path: Path) -> None:
    fill(str(tmp_path / "library.db"))
    with served(str(tmp_path / "library.db"), tmp_path) as running:
        with closing(socket.create_connection(place(running), timeout=30)) as talk:
            talk.sendall(b"GET /api/v1/export?format=zip HTTP/1.1\r\nHost: x\r\n\r\n")
            running.process.send_signal(signal.SIGTERM)
            answer = b""
            while part := talk.recv(65_536):
                answer += part
        assert status(answer) == 200
        assert running.process.wait(timeout=30) == 0
        assert "Traceback" not in running.said()


def test_workers_answer_together_and_stop_together(tmp_path: Path) -> None:
    fill(str(tmp_path / "library.db"))
    beside = with_private(tmp_path / "library.db", tmp_path / "beside.db")
    with served(str(beside), tmp_path, "--workers", "2", env={"PILOTAGE_WEB__TOKEN": TOKEN}) as running:
        for _ in range(20):
            assert running.get("/api/v1/search?q=dns").status_code == 200
        token = {"authorization": f"Bearer {TOKEN}"}
        assert running.get(f"/api/v1/incidents/{PRIVATE_ID}", headers=token).status_code == 200
        assert running.get(f"/api/v1/incidents/{PRIVATE_ID}").status_code == 404
        line = 'pilotage_http_requests_total{method="GET",route="/api/v1/search",status="200"} 20.0'
        assert line in running.get("/metrics").text, "counts of both workers are added up"
        assert TOKEN not in running.said()
        assert running.terminate() == 0


def command(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    env = {name: value for name, value in os.environ.items() if not name.startswith("PILOTAGE_")}
    return subprocess.run(
        [sys.executable, "-m", "pilotage.cli", "serve", *arguments],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        check=False,
        timeout=90,
    )


def test_what_keeps_it_from_starting(server: Served, tmp_path: Path) -> None:
    fill(str(tmp_path / "library.db"))
    store = ["--store", str(tmp_path / "library.db"), "--no-semantic"]
    taken = command(tmp_path, *store, "--port", str(place(server)[1]))
    assert taken.returncode == 3
    assert "is in use" in taken.stderr
    assert "--port 0" in taken.stderr
    missing = command(tmp_path, "--store", str(tmp_path / "none.db"), "--port", "0")
    assert missing.returncode == 2
    assert "pilotage library import --bundled" in missing.stderr
    foreign = command(tmp_path, *store, "--port", "0", "--host", "192.0.2.1")
    assert foreign.returncode == 2
    for done in (taken, missing, foreign):
        assert "Traceback" not in done.stderr
        assert done.stdout == ""


def test_the_log_is_json_lines_of_constant_events(server: Served) -> None:
    httpx.get(server.address + "/api/v1/search?q=gremlins-in-the-query", timeout=20)
    said = server.said()
    assert "gremlins" not in said
    lines = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
    assert {line["event"] for line in lines} >= {"request"}
    assert all(line["level"] for line in lines)


def test_open_to_others_warns(tmp_path: Path) -> None:
    fill(str(tmp_path / "library.db"))
    with served(str(tmp_path / "library.db"), tmp_path, "--host", "0.0.0.0") as running:
        assert "PILOTAGE_WEB__ALLOWED_HOSTS" in running.said()
