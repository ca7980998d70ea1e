"""Incident JSON: a list of objects, or one object a line. What was imported comes out as the same value."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import BinaryIO

from pilotage.library.stores.protocol import Stored


class IncidentJson:
    """One list of incident objects."""

    name = "incident-json"
    title = "one JSON list of incident objects, without loss"
    binary = False

    def write(self, records: Iterable[Stored], out: BinaryIO) -> int:
        """Writes the list, one object after the other."""
        count = 0
        out.write(b"[")
        for stored in records:
            text = json.dumps(stored.document, ensure_ascii=False, indent=1)
            out.write((",\n" if count else "\n").encode() + text.encode())
            count += 1
        out.write(b"\n]\n")
        return count


class JsonLines:
    """One incident object a line."""

    name = "jsonl"
    title = "one JSON object a line, without loss"
    binary = False

    def write(self, records: Iterable[Stored], out: BinaryIO) -> int:
        """Writes one line a record."""
        count = 0
        for stored in records:
            out.write(json.dumps(stored.document, ensure_ascii=False).encode() + b"\n")
            count += 1
        return count
