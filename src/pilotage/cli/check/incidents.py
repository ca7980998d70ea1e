"""The lines that reports tell of incidents, from the bundled library."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from pathlib import Path

import yaml

from pilotage.checks.model import Check
from pilotage.checks.reports.incidents import Incident
from pilotage.checks.reports.words import Lang
from pilotage.library.shipped import bundled_files

_KEY = re.compile(r"^(?=\w)", re.MULTILINE)
_HEAD_CHARACTERS = 4000


@functools.cache
def files_by_id() -> dict[str, Path]:
    """The bundled record files by id, which is their name."""
    return {path.stem: path for path in bundled_files()}


def incidents_of(checks: Iterable[Check], lang: Lang = "en") -> dict[str, Incident]:
    """What to tell of the incidents that some checks cite."""
    files = files_by_id()
    wanted = {cited.id for one in checks for cited in one.cited}
    return {id_: _read(id_, files[id_], lang) for id_ in sorted(wanted) if id_ in files}


def all_incidents(lang: Lang = "en") -> dict[str, Incident]:
    """What to tell of every incident of the library."""
    return {id_: _read(id_, path, lang) for id_, path in files_by_id().items()}


def _read(id_: str, path: Path, lang: Lang) -> Incident:
    # The title stands at the top of a record; the rest, a hundred times longer, is not needed.
    with path.open(encoding="utf-8") as file:
        head = file.read(_HEAD_CHARACTERS)
    parts = [part for part in _KEY.split(head)[:-1] if part.startswith(("org:", "date:", "title:"))]
    values = yaml.load("".join(parts), Loader=yaml.CSafeLoader) or {}
    title = values.get("title") or {}
    return Incident(
        id_,
        str(values.get("org") or "?"),
        str(values.get("date") or "")[:4],
        title.get(lang) or title.get("en") or id_,
    )
