"""A record as one flat row: for spreadsheets and for tables."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from typing import BinaryIO

from pilotage.library.record import Record, Text, read_record
from pilotage.library.stores.protocol import Stored

_TEXTS = ("title", "summary", "symptoms_text", "trigger", "detection", "lessons")
COLUMNS = (
    *("id", "organisation", "organisation_slug", "date", "date_kind", "date_precision", "status", "severity"),
    *("root_cause", "domains", "symptoms", "components", "contributing"),
    *("detected_after", "mitigated_after", "resolved_after", "scope", "users", "region"),
    *("recurrence_of", "related", "source", "sources", "updated_at"),
    *(f"{name}_{lang}" for name in _TEXTS for lang in ("en", "ko")),
)
"""Columns of the flat form. Lists are joined by `; `."""

_FORMULA = tuple("=+-@\t\r\n＝＋－＠")
"""What a formula begins with; spreadsheets of East Asia take the full-width signs as well."""


def flat_row(record: Record) -> dict[str, str | None]:
    """The row of a record; None where nothing is known."""
    timeline, impact = record.timeline, record.impact
    urls = [source.url for source in record.sources or []]
    row: dict[str, str | None] = {
        "id": record.id,
        "organisation": record.org,
        "organisation_slug": record.org_slug,
        "date": record.date,
        "date_kind": record.date_kind,
        "date_precision": record.date_precision,
        "status": record.status,
        "severity": record.severity,
        "root_cause": record.root_cause,
        "domains": _joined(record.domain),
        "symptoms": _joined(record.symptoms),
        "components": _joined(record.components),
        "contributing": _joined(record.contributing),
        "detected_after": timeline.detected_after if timeline else None,
        "mitigated_after": timeline.mitigated_after if timeline else None,
        "resolved_after": timeline.resolved_after if timeline else None,
        "scope": impact.scope if impact else None,
        "users": impact.users if impact else None,
        "region": impact.region if impact else None,
        "recurrence_of": record.recurrence_of,
        "related": _joined(record.related),
        "source": urls[0] if urls else None,
        "sources": _joined(urls),
        "updated_at": record.updated_at,
    }
    for name in _TEXTS:
        text: Text | None = getattr(record, name)
        row[f"{name}_en"] = text.en if text else None
        row[f"{name}_ko"] = text.ko if text else None
    return row


def _joined(values: Iterable[str] | None) -> str | None:
    listed = list(values or [])
    return "; ".join(listed) if listed else None


class Csv:
    """Comma-separated values, one row a record."""

    name = "csv"
    title = "one flat row a record, UTF-8 with a byte order mark for spreadsheets"
    binary = False

    def write(self, records: Iterable[Stored], out: BinaryIO) -> int:
        """Writes a header and one row a record.

        A text that a spreadsheet would run as a formula gets an apostrophe in front (OWASP, "CSV Injection").
        """
        text = io.TextIOWrapper(out, encoding="utf-8-sig", newline="", write_through=True)
        try:
            writer = csv.DictWriter(text, COLUMNS)
            writer.writeheader()
            count = 0
            for stored in records:
                row = flat_row(read_record(stored.document, where=stored.id))
                writer.writerow({key: _inert(value) for key, value in row.items()})
                count += 1
        finally:
            # Else the wrapper would close `out`, which may be standard output.
            text.detach()
        return count


def _inert(value: str | None) -> str:
    if value is None:
        return ""
    return f"'{value}" if value.startswith(_FORMULA) else value
