"""A small library behind the server: the app in this process, or `pilotage serve` as a process of its own."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
from fastapi import FastAPI
from fastapi.testclient import TestClient

from pilotage.core.settings import LibrarySettings, Settings, WebSettings
from pilotage.library.catalogue import Catalogue
from pilotage.library.stores.opening import open_store
from pilotage.library.stores.protocol import Store
from pilotage.web.app import create_app
from rig.stores import put

HOST = "http://127.0.0.1:8000"
TOKEN = "a-token-of-32-characters-or-more"
SECRET = "zanzibar"
"""A word that only the private record holds."""
PRIVATE_ID = "acme-2023-09-09-zanzibar-dns"
PRIVATE_ALIAS = "old-zanzibar"


def record(id_: str, title: str, ko: str, **fields: Any) -> dict[str, Any]:
    return {
        "id": id_,
        "org": "Acme",
        "org_slug": "acme",
        "status": "reviewed",
        "date_kind": "incident",
        "date_precision": "day",
        "title": {"en": title, "ko": ko},
        "sources": [{"url": f"https://example.com/{id_}", "kind": "blog"}],
        **fields,
    }


DNS = record(
    "acme-2021-03-01-coredns-oom",
    "Cluster lost DNS because CoreDNS was killed for memory",
    "CoreDNS가 메모리 부족으로 종료되어 클러스터 DNS 중단",
    date="2021-03-01",
    aliases=["old-coredns"],
    components=["coredns"],
    symptoms=["oom-killed", "dns-failure"],
    root_cause="resource-limit",
    severity="major",
    summary={"en": "CoreDNS pods were OOMKilled.", "ko": "CoreDNS 파드가 메모리 부족으로 강제 종료되었다."},
    timeline={"detected_after": "5m", "resolved_after": "1h 10m"},
    lessons={"en": "Give DNS headroom and check it.", "ko": "DNS에 여유를 두고 확인한다."},
    related=["acme-2022-04-02-lb-uneven"],
    related_reasons={"acme-2022-04-02-lb-uneven": {"en": "Same cluster.", "ko": "같은 클러스터다."}},
    x_ours={"big": 12345678901234567890123, "deep": [1.5, None]},
)
UNEVEN = record(
    "acme-2022-04-02-lb-uneven",
    "Some pods got all requests because a reload reset the balancer",
    "리로드가 로드 밸런서를 초기화해 일부 파드에 요청 집중",
    date="2022-04-02",
    components=["ingress"],
    symptoms=["uneven-load"],
    root_cause="software-bug",
    summary={"en": "Every reload began at the first pod.", "ko": "리로드할 때마다 첫 파드에서 시작했다."},
)
HOSTILE = record(
    "evil-2020-01-01-escape",
    "\x1b[31mRed\x1b[0m \u202etitle <script>alert(1)</script> & ]]>",
    "\x1b]0;제목\x07 나쁜 제목",
    org="Evil & <Inc>",
    org_slug="evil",
    date="2020-01-01",
    summary={"en": "A \x1b[2J summary \ufffe about gremlins.", "ko": "그렘린 \x1b[2J 이야기."},
)
WITHDRAWN = record(
    "acme-2019-01-01-retold",
    "Told twice",
    "두 번 전해진 장애",
    date="2019-01-01",
    status="withdrawn",
    withdrawn_reason={"en": "It was another incident.", "ko": "다른 장애였다."},
)
PUBLIC = [DNS, UNEVEN, HOSTILE, WITHDRAWN]
PRIVATE = record(
    PRIVATE_ID,
    f"The {SECRET} zone emptied because of a push",
    f"{SECRET} 존이 푸시 때문에 비워짐",
    aliases=[PRIVATE_ALIAS],
    visibility="private",
    org="Zanzibar Ltd",
    org_slug=SECRET,
    date="2023-09-09",
    components=["coredns", "ingress"],
    symptoms=["oom-killed", "uneven-load"],
    root_cause="software-bug",
    summary={"en": f"CoreDNS in {SECRET} was OOMKilled.", "ko": f"{SECRET}의 CoreDNS가 종료되었다."},
    timeline={"detected_after": "7m", "resolved_after": "9h"},
    lessons={"en": f"Check {SECRET}.", "ko": f"{SECRET}를 확인한다."},
)


def fill(url: str, documents: Sequence[dict[str, Any]] = PUBLIC) -> None:
    """A store of these records; one of them gets a second revision."""
    store = open_store(url, create=True, busy_seconds=20)
    try:
        put(store, [*documents[:1], *([UNEVEN | {"severity": "minor"}] if UNEVEN in documents else [])])
        put(store, documents)
    finally:
        store.close()


def with_private(path: Path, copy: Path) -> Path:
    """A copy of a SQLite store with the private record in it."""
    shutil.copy(path, copy)
    store = open_store(str(copy))
    put(store, [PRIVATE])
    store.close()
    return copy


def make_app(store: Store, *, token: str = TOKEN, base_url: str = "") -> FastAPI:
    """The app over a store, by words alone."""
    settings = Settings(
        web=WebSettings(token=token, base_url=base_url), library=LibrarySettings(semantic=False)
    )
    return create_app(settings, Catalogue(store))


@contextmanager
def client_of(app: FastAPI) -> Iterator[TestClient]:
    """A client that follows no redirect and sees a failure as the outside does."""
    with TestClient(app, base_url=HOST, raise_server_exceptions=False, follow_redirects=False) as client:
        yield client


class Served:
    """`pilotage serve` as a process."""

    def __init__(self, process: subprocess.Popen[bytes], log: Path, address: str) -> None:
        self.process = process
        self.log = log
        self.address = address

    def get(self, path: str, **options: Any) -> httpx.Response:
        return httpx.get(self.address + path, **({"timeout": 30} | options))

    def said(self) -> str:
        return self.log.read_text("utf-8", "replace")

    def terminate(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=60)


@contextmanager
def served(store: str, folder: Path, *options: str, env: dict[str, str] | None = None) -> Iterator[Served]:
    """The running server; ready when this returns."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PILOTAGE_")}
    log = folder / f"serve-{time.monotonic_ns()}.log"
    arguments = ["serve", "--port", "0", "--no-semantic", "--store", store, *options]
    with log.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "pilotage.cli", *arguments],
            cwd=folder,
            env=kept | (env or {}),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=out,
        )
    try:
        yield Served(process, log, _address(process, log))
    finally:
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(timeout=40)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(timeout=10)


def _address(process: subprocess.Popen[bytes], log: Path) -> str:
    """The address that it printed, once it answers there."""
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline:
        said = log.read_text("utf-8", "replace")
        found = re.search(r"^Pages +(http://\S+?)/$", said, re.MULTILINE)
        if found and _ready(found[1]):
            return found[1]
        if process.poll() is not None:
            raise RuntimeError(f"the server ended with {process.returncode}: {said}")
        time.sleep(0.05)
    raise RuntimeError(f"the server did not start: {log.read_text('utf-8', 'replace')}")


def _ready(address: str) -> bool:
    try:
        return httpx.get(f"{address}/readyz", timeout=5).status_code == 200
    except httpx.HTTPError:
        return False
