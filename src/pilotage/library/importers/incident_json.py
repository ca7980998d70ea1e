"""Incident JSON: an object, a list or JSON Lines, handed on exactly as read."""

from __future__ import annotations

from collections.abc import Iterator

from pilotage.core.errors import InvalidInput
from pilotage.core.text import kind_of
from pilotage.library.decoding.strict_json import read_items
from pilotage.library.importers.model import Candidate, Source
from pilotage.library.importers.sniff import shape_of
from pilotage.library.record import STANDARD_KEYS

_TELLING = frozenset(STANDARD_KEYS) - {"id", "url", "docs"}


class IncidentJson:
    """The lossless format: unknown keys are kept, nothing is added."""

    name = "incident-json"
    title = "Incident JSON: one object, a list, or one object a line (lossless)"

    def detects(self, name: str, head: bytes) -> bool:
        """Whether the first object has an id and another key of a record."""
        shape = shape_of(head)
        if shape.kind == "text":
            return False
        if shape.kind == "list" and not shape.keys:
            return shape.text.split() == ["[]"] and name.endswith(".json")
        return "id" in shape.keys and bool(_TELLING & shape.keys)

    def read(self, source: Source) -> Iterator[Candidate]:
        """The objects, in constant memory for a list or JSON Lines.

        Raises:
            InvalidInput: with file, line and column; an item is no object or has no id.
        """
        for item in read_items(source.stream, source.name):
            place = f"{source.name}:{item.line}"
            if not isinstance(item.value, dict):
                raise InvalidInput(
                    f"{place}: incident {item.number} must be an object, found {kind_of(item.value)}",
                    hint="A file holds one incident object, a list of them, or one a line.",
                )
            if not isinstance(item.value.get("id"), str):
                raise InvalidInput(
                    f"{place}: incident {item.number} has no id",
                    hint="Give it an `id`, a text such as IL-0011.",
                )
            yield Candidate(
                item.value, f"{source.name}, incident {item.number} (line {item.line})", self.name
            )
