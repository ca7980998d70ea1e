"""What a record is called."""

from __future__ import annotations

from pilotage.library.record import Lang, Record


def title_of(record: Record, lang: Lang) -> str:
    """The title of a record in a language, else in the other one; its id when it has none."""
    return (record.title.get(lang) if record.title else "") or record.id
