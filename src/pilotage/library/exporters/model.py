"""What every exporter is given and gives."""

from __future__ import annotations

from collections.abc import Iterable
from typing import BinaryIO, Protocol

from pilotage.library.stores.protocol import Stored


class Exporter(Protocol):
    """One form of export."""

    name: str
    """What `--format` takes."""
    title: str
    """One line for `--help`."""
    binary: bool
    """Whether the result is no text, and so is not written to a terminal."""

    def write(self, records: Iterable[Stored], out: BinaryIO) -> int:
        """Writes the records in constant memory and returns how many there were."""
