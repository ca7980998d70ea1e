"""CoreDNS's own reader of Corefiles, built once per content into the user's cache."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import platformdirs
import pytest

SOURCES = Path(__file__).with_name("corefile")


def program() -> Path:
    """The program; skips the test where it cannot be built, or fails it under PILOTAGE_REQUIRE_REAL=1."""
    mark = hashlib.sha256(b"".join(path.read_bytes() for path in sorted(SOURCES.iterdir()))).hexdigest()[:16]
    built = Path(platformdirs.user_cache_dir("pilotage")) / f"corefile-parser-{mark}"
    if built.exists():
        return built
    go = shutil.which("go")
    if go is None:
        return _without("no go on the PATH")
    built.parent.mkdir(parents=True, exist_ok=True)
    half = built.with_suffix(f".{os.getpid()}")
    command = [go, "build", "-o", str(half), "."]
    done = subprocess.run(command, cwd=SOURCES, capture_output=True, text=True, check=False, timeout=280)
    if done.returncode:
        return _without(f"go build: {done.stderr.strip()[-300:]}")
    half.replace(built)
    return built


def _without(why: str) -> Path:
    message = f"CoreDNS's own reader of Corefiles could not be built: {why}"
    if os.environ.get("PILOTAGE_REQUIRE_REAL") == "1":
        pytest.fail(message)
    pytest.skip(message)


def read(files: Sequence[Path]) -> list[dict[str, Any]]:
    """What it makes of files: `error`, or `blocks` with `keys` and the words of each of its `plugins`."""
    command = [str(program()), *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    return [json.loads(line) for line in done.stdout.splitlines()]
