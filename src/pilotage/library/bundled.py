"""The records that are shipped with Pilotage."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from importlib import resources
from pathlib import Path

from pilotage.library.importers.detect import open_candidates
from pilotage.library.importers.model import Candidate, Progress

ORIGIN = "bundled"


def bundled_files() -> list[Path]:
    """The record files, by name."""
    return sorted(Path(str(resources.files("pilotage.library") / "records")).glob("*.yaml"))


def bundled_candidates(progress: Progress | None = None) -> Iterator[Candidate]:
    """The bundled records as candidates for an import."""
    for path in bundled_files():
        for candidate in open_candidates([path], "pilotage-yaml", progress):
            yield replace(candidate, format=ORIGIN, place=path.name)
