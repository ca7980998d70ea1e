"""What a command does not need is not imported: start-up time, and an install without extras."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SERVERS = {"fastapi", "starlette", "uvicorn", "mcp", "aiohttp", "kubernetes_asyncio", "kazoo", "psycopg"}
HEAVY = {"pydantic", "rich", "yaml", "sqlite3", "numpy", "structlog", "asyncio"}
SCRIPT = """
import sys
from pilotage.cli.main import run
try:
    run(sys.argv[1:])
except SystemExit as stop:
    print(stop.code, file=sys.stderr)
print(*sorted({name.partition(".")[0] for name in sys.modules}), file=sys.stderr)
"""


def imported(tmp_path: Path, *arguments: str) -> set[str]:
    env = {name: value for name, value in os.environ.items() if not name.startswith("PILOTAGE_")}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *arguments],
        cwd=tmp_path,
        env=env | {"PILOTAGE_LIBRARY__SEMANTIC": "false"},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    code, names = done.stderr.strip().splitlines()[-2:]
    assert code == "0", done.stderr
    return set(names.split())


@pytest.mark.parametrize("arguments", [["--help"], ["library", "--help"], ["--version"]])
def test_help_imports_next_to_nothing(tmp_path: Path, arguments: list[str]) -> None:
    assert not imported(tmp_path, *arguments) & (SERVERS | HEAVY)


def test_what_needs_no_record_starts_without_its_model(tmp_path: Path) -> None:
    assert not imported(tmp_path, "library", "vocab", "components") & (
        SERVERS | {"pydantic", "yaml", "numpy"}
    )


def test_search_imports_no_server_and_no_driver(tmp_path: Path) -> None:
    store = str(tmp_path / "library.db")
    (tmp_path / "one.json").write_text('{"id": "acme-2024-dns"}', encoding="utf-8")
    assert not imported(tmp_path, "library", "import", "one.json", "--store", store) & SERVERS
    assert not imported(tmp_path, "library", "search", "x", "--store", store) & (SERVERS | {"numpy", "yaml"})
