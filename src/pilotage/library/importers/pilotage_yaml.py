"""Our own records in YAML: one document or several in a file."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pilotage.core.errors import InvalidInput
from pilotage.core.text import kind_of
from pilotage.library.decoding.strict_yaml import load_all
from pilotage.library.importers.model import Candidate, Source
from pilotage.library.importers.sniff import front_matter, shape_of
from pilotage.library.record import complete

_ID_LINE = re.compile(r"^id:\s", re.MULTILINE)
_OTHER_LINE = re.compile(r"^(?:schema_version|org|org_slug|title|summary|date|status):(?:\s|$)", re.MULTILINE)


class PilotageYaml:
    """The form in which records are written and reviewed."""

    name = "pilotage-yaml"
    title = "Pilotage YAML: one record a document"

    def detects(self, name: str, head: bytes) -> bool:
        """Whether the text has the keys of a record at the margin and is no Markdown with front matter."""
        shape = shape_of(head)
        if shape.kind != "text" or name.endswith((".md", ".markdown")) or front_matter(shape.text):
            return False
        return bool(_ID_LINE.search(shape.text) and _OTHER_LINE.search(shape.text))

    def read(self, source: Source) -> Iterator[Candidate]:
        """The documents, each with every standard key.

        Raises:
            InvalidInput: with file, line and column.
        """
        count = 0
        for document in load_all(source.read_all(), source.name):
            count += 1
            place = f"{source.name}:{document.line}"
            if not isinstance(document.value, dict):
                raise InvalidInput(
                    f"{place}: a record must be `key: value` lines, found {kind_of(document.value)}",
                    hint="See `pilotage library new` for the form.",
                )
            if not isinstance(document.value.get("id"), str):
                raise InvalidInput(f"{place}: the record has no id", hint="Give it an `id`, a readable slug.")
            yield Candidate(complete(document.value), f"{place}, record {count}", self.name)
        if not count:
            raise InvalidInput(f"{source.name}: there is no record in it", hint="Try `pilotage library new`.")
