"""A command line in-process, and a small real store of records made for these tests."""

from __future__ import annotations

import io
import json
import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pilotage.cli.main import run

SECRET = "zanzibar"
"""A word that only the private record holds."""
PRIVATE_ID = "acme-2023-09-09-zanzibar-dns"


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
    mechanism=[
        {
            "id": "one",
            "kind": "trigger",
            "label": {"en": "reload"},
            "text": {"en": "A reload."},
            "leads_to": ["two"],
        },
        {"id": "two", "kind": "propagation", "label": {"en": "uneven"}, "text": {"en": "Pods fill."}},
    ],
)
HOSTILE = record(
    "evil-2020-01-01-escape",
    "\x1b[31mRed\x1b[0m \x9b2J\u202etitle <script>alert(1)</script> [bold]x[/bold]",
    "\x1b]0;제목\x07 나쁜 제목",
    org="Evil \x1b[5m Inc",
    org_slug="evil",
    date="2020-01-01",
    summary={"en": "A \x1b[2J summary about gremlins.", "ko": "그렘린 \x1b[2J 이야기."},
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
    org="Zanzibar Ltd",
    org_slug="zanzibar",
    date="2023-09-09",
    components=["coredns", "ingress"],
    symptoms=["oom-killed", "uneven-load"],
    root_cause="software-bug",
    summary={"en": f"CoreDNS in {SECRET} was OOMKilled.", "ko": f"{SECRET}의 CoreDNS가 종료되었다."},
    timeline={"detected_after": "7m", "resolved_after": "9h"},
    lessons={"en": f"Check {SECRET}.", "ko": f"{SECRET}를 확인한다."},
)


@dataclass(frozen=True)
class Result:
    """What a command did."""

    code: int
    raw: bytes
    err: str

    @property
    def out(self) -> str:
        return self.raw.decode()

    def json(self) -> Any:
        return json.loads(self.raw)

    def error(self) -> Any:
        return json.loads(self.err)["error"]


Cli = Callable[..., Result]


def call(*arguments: str, stdin: bytes = b"") -> Result:
    """Runs the command line as the installed script does."""
    before = sys.stdin, sys.stdout, sys.stderr
    out, err = io.BytesIO(), io.BytesIO()
    sys.stdin = io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8")
    sys.stdout = io.TextIOWrapper(out, encoding="utf-8")
    sys.stderr = io.TextIOWrapper(err, encoding="utf-8")
    try:
        run(list(arguments))
    except SystemExit as stop:
        sys.stdout.flush()
        sys.stderr.flush()
        code = stop.code if isinstance(stop.code, int) else 0
        return Result(code, out.getvalue(), err.getvalue().decode())
    finally:
        sys.stdin, sys.stdout, sys.stderr = before
    raise AssertionError("run ends in an exit")


@pytest.fixture(autouse=True)
def quiet_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder, no settings of this machine, English, no vectors."""
    for name in list(os.environ):
        if name.startswith(("PILOTAGE_", "_PILOTAGE_", "LC_")) or name in {"LANG", "LANGUAGE", "FORCE_COLOR"}:
            monkeypatch.delenv(name)
    monkeypatch.setenv("PILOTAGE_LIBRARY__SEMANTIC", "false")
    monkeypatch.setenv("PILOTAGE_STORE__URL", str(tmp_path / "default.db"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Two stores, made once: with public records only, and with the private one beside them."""
    folder = tmp_path_factory.mktemp("cli")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PILOTAGE_LIBRARY__SEMANTIC", "false")
        (folder / "public.json").write_text(json.dumps(PUBLIC), encoding="utf-8")
        (folder / "private.json").write_text(json.dumps(PRIVATE), encoding="utf-8")
        stores = {"public": folder / "public.db", "both": folder / "both.db"}
        for store in stores.values():
            done = call("library", "import", str(folder / "public.json"), "--store", str(store))
            assert done.code == 0, done.err
        store = str(stores["both"])
        done = call("library", "import", str(folder / "private.json"), "--private", "--store", store)
        assert done.code == 0, done.err
    return stores


@pytest.fixture
def store(built: dict[str, Path], tmp_path: Path) -> str:
    """A copy of the store with public records, the default one of the test."""
    return str(shutil.copy(built["public"], tmp_path / "default.db"))


@pytest.fixture
def both(built: dict[str, Path], tmp_path: Path) -> str:
    """A copy of the store that holds the private record too."""
    return str(shutil.copy(built["both"], tmp_path / "both.db"))


@pytest.fixture
def cli() -> Cli:
    """`cli("list", "--limit", "1")` runs `pilotage library list --limit 1`."""

    def library(*arguments: str, stdin: bytes = b"") -> Result:
        return call("library", *arguments, stdin=stdin)

    return library
