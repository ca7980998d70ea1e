"""The records that are shipped with Pilotage."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pilotage.library.importers.detect import open_candidates
from pilotage.library.importers.model import Candidate, Progress
from pilotage.library.shipped import bundled_files

ORIGIN = "bundled"


def bundled_candidates(progress: Progress | None = None) -> Iterator[Candidate]:
    """The bundled records as candidates for an import."""
    for path in bundled_files():
        for candidate in open_candidates([path], "pilotage-yaml", progress):
            yield replace(candidate, format=ORIGIN, place=path.name)
