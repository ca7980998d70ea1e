"""The lines that reports tell of incidents, from the bundled library."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import yaml

from pilotage.checks.model import Check
from pilotage.checks.reports.incidents import Incident
from pilotage.checks.reports.words import Lang
from pilotage.core.regex import regex
from pilotage.library.shipped import bundled_files

_KEY = regex(r"^(?=\w)", re.MULTILINE)
_HEAD_CHARACTERS = 4000


@functools.cache
def files_by_id() -> dict[str, Path]:
    """The bundled record files by id, which is their name."""
    return {path.stem: path for path in bundled_files()}


class _Told(Mapping[str, Incident]):
    """Incidents by id, each read when it is asked for: a report tells of few of those that checks cite."""

    def __init__(self, ids: Iterable[str], lang: Lang) -> None:
        files = files_by_id()
        self._files = {id_: files[id_] for id_ in sorted(ids) if id_ in files}
        self._lang = lang
        self._known: dict[str, Incident] = {}

    def __getitem__(self, id_: str) -> Incident:
        if id_ not in self._known:
            self._known[id_] = _read(id_, self._files[id_], self._lang)
        return self._known[id_]

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)


def incidents_of(checks: Iterable[Check], lang: Lang = "en") -> Mapping[str, Incident]:
    """What to tell of the incidents that some checks cite."""
    return _Told({cited.id for one in checks for cited in one.cited}, lang)


def all_incidents(lang: Lang = "en") -> Mapping[str, Incident]:
    """What to tell of every incident of the library."""
    return _Told(files_by_id(), lang)


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
