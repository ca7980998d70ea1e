"""A plain SQLite file that Datasette, or any SQLite client, opens: tables, terms, full-text index."""

from __future__ import annotations

import contextlib
import json
import shutil
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from pilotage.core.errors import StoreFull
from pilotage.library.entry import index_entry
from pilotage.library.exporters.flat import COLUMNS, flat_row
from pilotage.library.record import read_record
from pilotage.library.stores.protocol import Stored
from pilotage.library.terms import Vocabulary, load_vocabulary

_SCHEMA = f"""
CREATE TABLE incidents (
    num INTEGER PRIMARY KEY, {", ".join(f"{name} TEXT" for name in COLUMNS)}, words TEXT, document TEXT
);
CREATE UNIQUE INDEX incidents_id ON incidents (id);
CREATE TABLE incident_terms (
    incident TEXT REFERENCES incidents (id), facet TEXT, slug TEXT, PRIMARY KEY (incident, facet, slug)
) WITHOUT ROWID;
CREATE INDEX incident_terms_slug ON incident_terms (facet, slug);
CREATE TABLE sources (
    incident TEXT REFERENCES incidents (id), position INTEGER, url TEXT, kind TEXT, title TEXT, archived TEXT,
    PRIMARY KEY (incident, position)
) WITHOUT ROWID;
CREATE TABLE vocabulary (
    kind TEXT, slug TEXT, label_en TEXT, label_ko TEXT, definition_en TEXT, definition_ko TEXT, parent TEXT,
    PRIMARY KEY (kind, slug)
) WITHOUT ROWID;
CREATE VIRTUAL TABLE incidents_fts USING fts5(
    title_en, title_ko, summary_en, summary_ko, words, content="incidents", content_rowid='num'
);
"""
_FILL = """
INSERT INTO incidents_fts (rowid, title_en, title_ko, summary_en, summary_ko, words)
SELECT num, title_en, title_ko, summary_en, summary_ko, words FROM incidents
"""


class SqliteFile:
    """One SQLite file."""

    name = "sqlite"
    title = "one SQLite file for Datasette and SQL: tables, terms, full-text index with Korean"
    binary = True

    def write(self, records: Iterable[Stored], out: BinaryIO) -> int:
        """Writes the file by way of a temporary one.

        The column `words` holds the index tokens (stems, Hangul bigrams), so that Korean is found as well.

        Raises:
            StoreFull: there is no room for the temporary file.
        """
        with tempfile.TemporaryDirectory(prefix="pilotage-") as folder:
            path = Path(folder) / "incidents.db"
            try:
                count = write_sqlite(path, records, load_vocabulary())
            except sqlite3.OperationalError as error:
                raise StoreFull(
                    f"cannot write the export in {folder}: {error}",
                    hint="Make room there, or name another folder with TMPDIR.",
                ) from error
            with path.open("rb") as made:
                shutil.copyfileobj(made, out)
        return count


def write_sqlite(path: Path, records: Iterable[Stored], vocabulary: Vocabulary) -> int:
    """Writes the SQLite file to a path that does not exist yet."""
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA page_size = 4096")
        db.executescript(_SCHEMA)
        with db:
            count = sum(1 for _ in _rows(db, records, vocabulary))
            db.executemany(
                "INSERT INTO vocabulary VALUES (?, ?, ?, ?, ?, ?, ?)",
                (
                    (
                        t.kind,
                        t.slug,
                        t.label.get("en"),
                        t.label.get("ko"),
                        t.definition.get("en"),
                        t.definition.get("ko"),
                        t.parent,
                    )
                    for t in vocabulary
                ),
            )
            db.execute(_FILL)
        db.execute("VACUUM")
    return count


def _rows(db: sqlite3.Connection, records: Iterable[Stored], vocabulary: Vocabulary) -> Iterator[str]:
    marks = ", ".join("?" * (len(COLUMNS) + 2))
    for stored in records:
        record = read_record(stored.document, where=stored.id)
        entry = index_entry(record, vocabulary)
        row = flat_row(record)
        words = " ".join(entry.columns.values())
        document = json.dumps(stored.document, ensure_ascii=False)
        db.execute(
            f"INSERT INTO incidents ({', '.join(COLUMNS)}, words, document) VALUES ({marks})",
            (*(row[name] for name in COLUMNS), words, document),
        )
        db.executemany(
            "INSERT INTO incident_terms VALUES (?, ?, ?)",
            ((record.id, facet, slug) for facet, slug in entry.tags),
        )
        db.executemany(
            "INSERT INTO sources VALUES (?, ?, ?, ?, ?, ?)",
            (
                (record.id, number, source.url, source.kind, source.title, source.archived)
                for number, source in enumerate(record.sources or [], start=1)
            ),
        )
        yield record.id
