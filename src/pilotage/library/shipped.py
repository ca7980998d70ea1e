"""Where the records are that are shipped with Pilotage.

Apart from what reads them, which takes long to import and which a check does not need.
"""

from __future__ import annotations

from importlib import resources
from pathlib import Path


def bundled_files() -> list[Path]:
    """The record files, by name."""
    return sorted(Path(str(resources.files("pilotage.library") / "records")).glob("*.yaml"))
