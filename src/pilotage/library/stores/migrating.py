"""Bringing a store to today's form: numbered steps forward, the index made anew when its making changed."""

from __future__ import annotations

import functools
import importlib
import re
from importlib import resources

from pilotage.clients.db.session import Door, Session
from pilotage.core.errors import NotFound, StoreCorrupt, StoreTooNew
from pilotage.library.analysis import ANALYSIS_VERSION
from pilotage.library.stores import meta
from pilotage.library.stores.index import Index
from pilotage.library.terms import Vocabulary

_NAME = re.compile(r"(\d{4})_[a-z_]+\.(sqlite|postgres)\.sql")


@functools.cache
def steps(dialect: str) -> list[tuple[int, list[str]]]:
    """(version, statements) of each step for `sqlite` or `postgres`, in order."""
    found = []
    for file in resources.files("pilotage.library.stores").joinpath("migrations").iterdir():
        name = _NAME.fullmatch(file.name)
        if name and name[2] == dialect:
            found.append((int(name[1]), _statements(file.read_text(encoding="utf-8"))))
    return sorted(found)


def prepare(door: Door, index: Index, dialect: str, vocabulary: Vocabulary, *, create: bool) -> bool:
    """Brings a store to today's form. False when there is none yet: `make` is for the first transaction.

    Raises:
        NotFound: the place holds no store yet and `create` is false.
        StoreTooNew: the store has a later form than this version knows.
        StoreCorrupt: it does not say which form it has.
        StoreError: a record in it cannot be read by this version, so that it cannot be indexed.
    """
    path = steps(dialect)
    with door.reading() as session:
        found = meta.read(session)
    refuse_newer(found, path[-1][0], door.address)
    if not found and not create:
        raise NotFound(
            f"{door.address} holds no library yet",
            hint=f"`pilotage library import --bundled --store {door.address}` makes one.",
        )
    if not found:
        return False
    if not _due(found, path[-1][0], vocabulary):
        return True
    with door.writing() as session:
        # Somebody else may have done it in the meantime.
        found = meta.read(session)
        refuse_newer(found, path[-1][0], door.address)
        if _due(found, path[-1][0], vocabulary):
            _migrate(session, index, path, vocabulary, int(found[meta.SCHEMA]))
    return True


def make(session: Session, index: Index, dialect: str, vocabulary: Vocabulary, address: str) -> None:
    """Makes the form of a store, unless it is there, perhaps made by somebody else in the meantime.

    Raises:
        StoreTooNew: it is there in a later form than this version knows.
    """
    path = steps(dialect)
    found = meta.read(session)
    refuse_newer(found, path[-1][0], address)
    if not found:
        session.make_place()
        _migrate(session, index, path, vocabulary, 0)


def _migrate(
    session: Session, index: Index, path: list[tuple[int, list[str]]], vocabulary: Vocabulary, version: int
) -> None:
    """Takes the steps that are still to take and makes the index anew."""
    for number, statements in path:
        if number > version:
            for statement in statements:
                session.run(statement)
            meta.write(session, meta.SCHEMA, str(number))
    # Few stores are indexed anew, and what reads their records takes long to import.
    rebuilding = importlib.import_module("pilotage.library.stores.rebuilding")
    rebuilding.rebuild(session, index, vocabulary)
    meta.write(session, meta.ANALYSIS, str(ANALYSIS_VERSION))
    meta.write(session, meta.VOCABULARY, meta.vocabulary_versions(vocabulary.versions))


def refuse_newer(found: dict[str, str], known: int, address: str) -> None:
    """Raises `StoreTooNew` for a form that this version does not know, `StoreCorrupt` for none."""
    stated = found.get(meta.SCHEMA, "" if found else "0")
    if not stated.isdecimal():
        raise StoreCorrupt(
            f"{address}: the store does not say which form it has (found {stated[:40]!r})",
            hint="Restore a copy, or name another store with --store; nothing was changed.",
        )
    version = int(stated)
    if version > known:
        raise StoreTooNew(
            f"{address}: the store has form {version}, this version of Pilotage knows up to {known}",
            hint="Upgrade Pilotage, or name another store with --store; nothing was changed.",
        )


def _due(found: dict[str, str], latest: int, vocabulary: Vocabulary) -> bool:
    return (
        int(found[meta.SCHEMA]) < latest
        or found.get(meta.ANALYSIS) != str(ANALYSIS_VERSION)
        or found.get(meta.VOCABULARY) != meta.vocabulary_versions(vocabulary.versions)
    )


def _statements(text: str) -> list[str]:
    bare = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("--"))
    return [
        statement.strip() for statement in re.split(r";\s*$", bare, flags=re.MULTILINE) if statement.strip()
    ]
