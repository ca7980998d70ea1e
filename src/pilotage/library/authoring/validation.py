"""Every problem of a record file with its line, for authors and CI.

`read_record` refuses a record at its first mistake; here an author gets all of them at once, each with what
to write instead, and also those that only a reader would notice: a missing translation, an unknown slug, a
link to nothing.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from pilotage.core.errors import InvalidInput
from pilotage.core.text import nearest
from pilotage.library.authoring.editorial import editorial_problems
from pilotage.library.authoring.files import Loaded, load_file
from pilotage.library.authoring.rules import RULES, Finding, text_list
from pilotage.library.importers.files import kind_of, open_path, path_error, walk
from pilotage.library.importers.slugs import Known
from pilotage.library.record import Record

SUFFIXES = frozenset({".yaml", ".yml", ".json", ".jsonl", ".ndjson"})
"""Files that are looked at in a folder."""


@dataclass(frozen=True, order=True)
class Problem:
    """One problem.

    Attributes:
        file: the file.
        line: counted from 1.
        column: counted from 1.
        key: the path in the record, such as `events.3.text`; empty for the file as a whole.
        message: what is wrong.
        instead: what to write instead.
    """

    file: str
    line: int
    column: int
    key: str
    message: str
    instead: str = ""

    def __str__(self) -> str:
        key = f"{self.key}: " if self.key else ""
        instead = f" ({self.instead})" if self.instead else ""
        return f"{self.file}:{self.line}:{self.column}: {key}{self.message}{instead}"


def validate_file(path: str | Path, known: Known, *, check_links: bool = False) -> list[Problem]:
    """All problems of one file, in the order of its lines.

    Args:
        path: a YAML file (one or more documents) or incident JSON (object, list, JSON Lines).
        known: vocabulary field and its known slugs; a field that is left out is not checked.
        check_links: also demand that related ids exist in the file.

    Raises:
        NotFound: there is no such file.
        InvalidInput: it may not be read or is no file.
    """
    return validate_paths([path], known, check_links=check_links)


def validate_paths(
    paths: Iterable[str | Path], known: Known, *, check_links: bool = False, editorial: bool = False
) -> list[Problem]:
    """All problems of files and folders, ids compared across all of them.

    Args:
        paths: files, and folders whose YAML and JSON files are taken.
        known: vocabulary field and its known slugs.
        check_links: also demand that related ids exist among the files.
        editorial: also hold records to the editorial rules.

    Raises:
        NotFound: there is no such path.
        InvalidInput: it may not be read.
    """
    problems: list[Problem] = []
    loaded: list[Loaded] = []
    for path in _files(paths):
        documents, mistakes = _load(path)
        loaded += documents
        problems += mistakes
    for document in loaded:
        for rule in RULES:
            problems += [
                _problem(document, finding) for finding in rule(document.value, known, document.strict_keys)
            ]
        if editorial:
            problems += [_problem(document, finding) for finding in _editorial(document.value)]
    problems += _across(loaded, check_links=check_links)
    return sorted(set(problems))


def _editorial(document: Any) -> Iterator[Finding]:
    try:
        record = Record.model_validate(document)
    except ValidationError:
        return  # what is wrong with its form is told by the other rules
    for field, message in editorial_problems(record):
        parts = tuple(field.split("."))
        while parts and not _has(document, parts):
            parts = parts[:-1]
        yield Finding(parts, message if parts else f"{field}: {message}")


def _has(document: Any, parts: tuple[str, ...]) -> bool:
    for part in parts:
        if not isinstance(document, dict) or part not in document:
            return False
        document = document[part]
    return True


def _files(paths: Iterable[str | Path]) -> Iterator[Path]:
    seen: set[str] = set()
    for given in paths:
        path = Path(given)
        if kind_of(path) == "folder":
            found = [file for file in walk(path, _passed_over) if file.suffix.lower() in SUFFIXES]
            if not found:
                raise InvalidInput(
                    f"{path}: no YAML or JSON file in it", hint="Give the folder of the records."
                )
        else:
            found = [path]
        for file in found:
            real = os.path.realpath(file)
            if real not in seen:
                seen.add(real)
                yield file


def _passed_over(_place: str, _why: str) -> None:
    return


def _load(path: Path) -> tuple[list[Loaded], list[Problem]]:
    with open_path(path) as file:
        try:
            data = file.read()
        except OSError as error:
            raise path_error(path, error) from error
    documents, mistakes = load_file(data, str(path))
    return documents, [Problem(str(path), m.line, m.column, m.key, m.message, m.instead) for m in mistakes]


def _problem(document: Loaded, finding: Finding) -> Problem:
    line, column = document.place(finding.path)
    key = ".".join(str(part) for part in finding.path)
    return Problem(document.name, line, column, key, finding.message, finding.instead)


def _across(loaded: list[Loaded], *, check_links: bool) -> Iterator[Problem]:
    """Ids that come twice, aliases that are ids of others, links to nothing."""
    ids: dict[str, Loaded] = {}
    for document in loaded:
        own = document.value.get("id") if isinstance(document.value, dict) else None
        if not isinstance(own, str):
            continue
        if own in ids:
            first = ids[own]
            where = f"{first.name}:{first.place(('id',))[0]}"
            yield _problem(
                document, Finding(("id",), f"the id '{own}' is taken by {where}", "choose another id")
            )
        ids.setdefault(own, document)
    aliases: dict[str, Loaded] = {}
    for document in loaded:
        for index, alias in text_list(document.value, "aliases"):
            yield from _alias(document, index, alias, ids, aliases)
    if check_links:
        names = dict.fromkeys([*ids, *aliases])
        for document in loaded:
            yield from _links(document, names)


def _alias(
    document: Loaded, index: int, alias: str, ids: dict[str, Loaded], aliases: dict[str, Loaded]
) -> Iterator[Problem]:
    path = ("aliases", index)
    owner = ids.get(alias)
    if owner is not None and owner is not document:
        yield _problem(
            document, Finding(path, f"the alias '{alias}' is the id of {owner.name}", "leave it out")
        )
    first = aliases.setdefault(alias, document)
    if first is not document:
        yield _problem(
            document, Finding(path, f"the alias '{alias}' is taken by {first.name}", "leave it out")
        )


def _links(document: Loaded, names: Collection[str]) -> Iterator[Problem]:
    wanted: list[tuple[tuple[str | int, ...], str]] = [
        (("related", index), name) for index, name in text_list(document.value, "related")
    ]
    recurrence = document.value.get("recurrence_of") if isinstance(document.value, dict) else None
    if isinstance(recurrence, str):
        wanted.append((("recurrence_of",), recurrence))
    for path, name in wanted:
        if name not in names:
            near = nearest(name, names)
            instead = "write " + " or ".join(near) if near else "add the record or leave the link out"
            yield _problem(document, Finding(path, f"no record '{name}' among the files", instead))
