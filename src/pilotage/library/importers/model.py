"""What an importer hands on: candidate records with a note for everything that was mapped or dropped."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, Literal, Protocol

from pilotage.core.errors import InvalidInput


@dataclass(frozen=True)
class Note:
    """One line of the mapping report.

    Attributes:
        kind: `mapped` (went into `target`), `dropped` (nowhere to put it, `why`) or `unknown-slug`.
        source: name of the field in the input.
        target: name of the record's field.
        why: the reason, or the nearest known slugs.
    """

    kind: Literal["mapped", "dropped", "unknown-slug"]
    source: str
    target: str = ""
    why: str = ""


@dataclass(frozen=True)
class Candidate:
    """A record as an importer read it, before redaction and before anything is stored.

    Attributes:
        document: a JSON object in the record's keys; `read_record` accepts it.
        place: where it stands, for messages: `feed.json, incident 3`.
        format: name of the importer that read it.
        notes: the mapping report.
    """

    document: dict[str, Any]
    place: str
    format: str
    notes: tuple[Note, ...] = ()


Progress = Callable[[int], None]
"""Called with the number of bytes read since the last call."""


OnSkip = Callable[[str, str], None]
"""Called with the place of a file in a folder or archive that is left out, and why."""

HEAD_BYTES = 64 * 1024
"""How much of a file detection may look at."""
MAX_DOCUMENT_BYTES = 64 * 1024 * 1024
"""The largest file of a format that is read as a whole."""


@dataclass(frozen=True)
class Source:
    """One file, open at its beginning, to be read once.

    Attributes:
        name: the file, for messages and for detection.
        head: its first bytes, `HEAD_BYTES` at most; the stream gives them again.
        stream: the whole file.
    """

    name: str
    head: bytes
    stream: BinaryIO

    @property
    def blank(self) -> bool:
        """Whether nothing but white space is in the file; a byte order mark does not count."""
        return len(self.head) < HEAD_BYTES and not self.head.removeprefix(codecs.BOM_UTF8).strip()

    def read_all(self, limit: int = MAX_DOCUMENT_BYTES) -> bytes:
        """All bytes of a file that is read as a whole.

        Raises:
            InvalidInput: it is larger than the limit.
        """
        parts = []
        left = limit
        while left >= 0 and (part := self.stream.read(min(left + 1, 1024 * 1024))):
            parts.append(part)
            left -= len(part)
        if left < 0:
            raise InvalidInput(
                f"{self.name}: larger than {limit // 2**20} MiB",
                hint="Only JSON lists and JSON Lines may be of any size.",
            )
        return b"".join(parts)


class Importer(Protocol):
    """One format."""

    name: str
    """What `--format` takes."""
    title: str
    """One line for `--help`."""

    def detects(self, name: str, head: bytes) -> bool:
        """Whether a file of this name that begins with these bytes (64 KiB at most) is of this format."""

    def read(self, source: Source) -> Iterator[Candidate]:
        """The candidates of one file, one at a time, in constant memory where the format allows it.

        Raises:
            InvalidInput: with file, line and column where they are known.
        """
