"""What a store knows of itself: the versions of its form, text analysis, vocabulary and data."""

from __future__ import annotations

import json

from pilotage.clients.db.session import Session
from pilotage.library.stores.protocol import Audience

SCHEMA = "schema_version"
ANALYSIS = "analysis_version"
VOCABULARY = "vocabulary_versions"
_DATA = "data_version_"


def read(session: Session) -> dict[str, str]:
    """All of it; empty when the store is new."""
    return dict(session.rows("SELECT key, value FROM meta")) if session.has_table("meta") else {}


def write(session: Session, key: str, value: str) -> None:
    """Sets one value."""
    session.run(
        "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        (key, value),
    )


def data_version(session: Session, audience: Audience) -> int:
    """How many transactions have changed what an audience sees."""
    row = session.one("SELECT value FROM meta WHERE key = ?", (_DATA + audience,))
    return int(row[0]) if row else 0


def grow(session: Session, audience: Audience) -> None:
    """Raises the data version of an audience."""
    write(session, _DATA + audience, str(data_version(session, audience) + 1))


def vocabulary_versions(versions: dict[str, int]) -> str:
    """The versions of a vocabulary as one value."""
    return json.dumps(versions, sort_keys=True)
