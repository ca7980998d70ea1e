"""What kind of file begins with these bytes: looked up once a file, asked by every importer."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from pilotage.library.decoding.json_places import places
from pilotage.library.decoding.strict_json import encoding_of
from pilotage.library.importers.model import Importer

_MEMBER = 2
_MEMBER_OF_ITEM = 3
_FENCE = re.compile(r"\A---[ \t]*\r?\n(.*?\r?\n)(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_KEY_LINE = re.compile(r"[A-Za-z_][\w-]*:(?:\s|\Z)")


@dataclass(frozen=True)
class Shape:
    """The outline of the beginning of a file.

    Attributes:
        kind: a JSON object, a JSON list, or text of another kind.
        keys: of the object, or of the first object in the list.
        incident_keys: of the first object in the list under the key `incidents`.
        text: the beginning as text; wrong bytes are replaced.
    """

    kind: Literal["object", "list", "text"]
    keys: frozenset[str]
    incident_keys: frozenset[str]
    text: str


@lru_cache(maxsize=4)
def shape_of(head: bytes) -> Shape:
    """The outline of a file that begins so."""
    text = head.decode(encoding_of(head), "replace").removeprefix("\ufeff")
    start = text.lstrip()[:1]
    if start not in {"{", "["}:
        return Shape("text", frozenset(), frozenset(), text)
    keys: set[str] = set()
    incident_keys: set[str] = set()
    for place in places(text):
        path = place.path
        name = str(path[-1])
        if (start == "{" and len(path) == 1) or (start == "[" and len(path) == _MEMBER and path[0] == 0):
            keys.add(name)
        elif len(path) == _MEMBER_OF_ITEM and path[:2] == ("incidents", 0):
            incident_keys.add(name)
        elif path == (1,):
            break
    return Shape("object" if start == "{" else "list", frozenset(keys), frozenset(incident_keys), text)


def front_matter(text: str) -> tuple[str, str] | None:
    """The YAML between the `---` lines at the top of a Markdown text, and the rest; None when there is none.

    A YAML file of several documents begins the same way; there the rest is YAML again.
    """
    found = _FENCE.match(text.removeprefix("\ufeff"))
    if not found:
        return None
    rest = text.removeprefix("\ufeff")[found.end() :]
    first = next((line for line in rest.splitlines() if line.strip()), "")
    if _KEY_LINE.match(first) and _KEY_LINE.match(found.group(1)) and "\n#" not in "\n" + rest:
        return None
    return found.group(1), rest


def choose(name: str, head: bytes, importers: Iterable[Importer]) -> Importer | None:
    """The first importer that takes the file for its own."""
    return next((importer for importer in importers if importer.detects(name, head)), None)
