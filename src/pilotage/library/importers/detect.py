"""The door of the importers: paths in, candidates out."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from pilotage.core.errors import InvalidInput, UnknownTerm
from pilotage.core.text import did_you_mean
from pilotage.library.importers.archive import Archive, distinct
from pilotage.library.importers.aws_events import AwsEvents
from pilotage.library.importers.files import kind_of, open_path, open_stream
from pilotage.library.importers.google_cloud import GoogleCloud
from pilotage.library.importers.incident_json import IncidentJson
from pilotage.library.importers.markdown import Markdown
from pilotage.library.importers.model import Candidate, Importer, OnSkip, Progress, Source
from pilotage.library.importers.pilotage_yaml import PilotageYaml
from pilotage.library.importers.postmortems_app import PostmortemsApp
from pilotage.library.importers.slugs import Known, slug_notes
from pilotage.library.importers.sniff import choose
from pilotage.library.importers.statuspage import Statuspage

STDIN = "-"
"""The path that stands for standard input."""

FORMATS: tuple[Importer, ...] = (
    GoogleCloud(),
    Statuspage(),
    AwsEvents(),
    IncidentJson(),
    PostmortemsApp(),
    PilotageYaml(),
    Markdown(),
)
"""The formats of single files; the first that detects a file reads it."""

IMPORTERS: tuple[Importer, ...] = (*FORMATS, Archive(FORMATS))
"""Everything that `--format` takes."""

_OTHER_NAMES = {
    "json": "incident-json",
    "jsonl": "incident-json",
    "ndjson": "incident-json",
    "yaml": "pilotage-yaml",
    "zip": "archive",
}
"""So that what `export --format` is told can be told here too."""
_BY_SUFFIX = {
    ".json": "incident-json",
    ".jsonl": "incident-json",
    ".ndjson": "incident-json",
    ".yaml": "pilotage-yaml",
    ".yml": "pilotage-yaml",
    ".md": "markdown",
    ".markdown": "markdown",
    ".zip": "archive",
}


def importer_named(name: str) -> Importer:
    """The importer that `--format` names.

    Raises:
        UnknownTerm: there is none; the hint names the nearest.
    """
    names = {importer.name: importer for importer in IMPORTERS}
    wanted = _OTHER_NAMES.get(name, name)
    if wanted not in names:
        raise UnknownTerm(f"no import format '{name}'", hint=did_you_mean(name, names))
    return names[wanted]


def open_candidates(  # noqa: PLR0913 - the options of the import command
    paths: Iterable[str | Path],
    format: str | None = None,  # noqa: A002 - the name of the flag
    progress: Progress | None = None,
    *,
    on_skip: OnSkip | None = None,
    known: Known | None = None,
    stdin: BinaryIO | None = None,
) -> Iterator[Candidate]:
    """The candidates of all files, folders and zips, one at a time.

    Args:
        paths: files and folders; `-` is standard input.
        format: name of an importer; detected when not given. In a folder or zip only files that it detects
            are read.
        progress: told of the bytes read.
        on_skip: told of the files in folders and zips that are of no known format.
        known: known slugs; with it the notes name unknown ones.
        stdin: what `-` reads, `sys.stdin` when not given.

    Raises:
        UnknownTerm: no such format.
        NotFound: no such path.
        InvalidInput: a file is broken, unsafe, unreadable, of no known format, or holds an id twice.
    """
    wanted = None if format is None else importer_named(format)
    formats = FORMATS if wanted is None or wanted.name == Archive.name else (wanted,)
    archive = Archive(formats, on_skip)
    for path in paths:
        for candidate in _open_one(path, wanted, archive, progress, stdin):
            notes = slug_notes(candidate.document, known) if known is not None else ()
            yield replace(candidate, notes=candidate.notes + notes) if notes else candidate


def _open_one(
    path: str | Path,
    wanted: Importer | None,
    archive: Archive,
    progress: Progress | None,
    stdin: BinaryIO | None,
) -> Iterator[Candidate]:
    if str(path) == STDIN:
        source = open_stream("standard input", stdin or sys.stdin.buffer, progress)
        yield from _read(source, wanted, archive)
    elif kind_of(Path(path)) == "folder":
        yield from archive.read_folder(Path(path), progress)
    else:
        with open_path(Path(path)) as file:
            yield from _read(open_stream(str(path), file, progress), wanted, archive)


def _read(source: Source, wanted: Importer | None, archive: Archive) -> Iterator[Candidate]:
    if source.blank:
        raise InvalidInput(f"{source.name}: the file is empty", hint="There is nothing to import.")
    if archive.detects(source.name, source.head):
        return archive.read(source)
    importer = wanted or choose(source.name, source.head, FORMATS) or _by_suffix(source.name)
    if importer is None:
        names = ", ".join(importer.name for importer in IMPORTERS)
        raise InvalidInput(f"{source.name}: no known format", hint=f"Name it with --format: {names}.")
    return distinct(importer.read(source))


def _by_suffix(name: str) -> Importer | None:
    """The importer by the name alone, so that a broken file gets the error of its format."""
    found = _BY_SUFFIX.get(Path(name).suffix.lower())
    return importer_named(found) if found else None
