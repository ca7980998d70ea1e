"""Objects with the places that they were read from.

Values are plain dicts, as fast as the parser makes them; line and column are found only when a finding needs
them, by reading its one document a second time.
"""

from __future__ import annotations

import contextlib
import functools
import os
import re
from collections.abc import Mapping
from typing import Any, Protocol

import msgspec

from pilotage.checks.aside import Aside, Shelf
from pilotage.checks.dialect import DialectError, Position, compose, literal_line, position_of
from pilotage.checks.repeating import lines_of_key, same_each_time
from pilotage.checks.values import KeyPath, as_list, as_map, as_text, dig, dotted
from pilotage.checks.yaml_places import place_of, simple_rows
from pilotage.core.regex import regex

_PATCH_NAME = regex(r"(?:^|[-_.])patch", re.IGNORECASE)
_BEGIN = regex(r"^[^\s#]", re.MULTILINE)
"""Where a document in block form begins."""


ITEM_NAMES = ("name", "key", "mountPath", "containerPort", "port", "host", "path", "type", "topologyKey")
"""What tells items of a list apart."""


class Place(msgspec.Struct, frozen=True):
    """Where something stands.

    Attributes:
        file: name of the file as it was asked for; empty for an object of a live cluster.
        line: from 1; 0 where it is not known.
        column: from 1; 0 where it is not known.
        object: `Kind namespace/name`; empty where it is no object.
        path: the way to the value inside the object, dotted.
    """

    file: str = ""
    line: int = 0
    column: int = 0
    object: str = ""
    path: str = ""

    def __str__(self) -> str:
        """`file:line:column`, or the object and the path where there is no file."""
        if not self.file:
            return " ".join(part for part in (self.object, self.path) if part)
        return ":".join(str(part) for part in (self.file, self.line, self.column) if part)


class Origin(Protocol):
    """Where a rendered text comes from."""

    @property
    def name(self) -> str:
        """The file that a user would mend."""

    def at(self, line: int, column: int) -> tuple[int, int]:
        """The place in that file of a place in the rendered text; zeros where it is not known."""


class SourceFile:
    """A file that was read.

    Args:
        name: as the user knows it: relative to where the command runs, `-` for standard input.
        text: all of it.
        chart_defaults: whether it is a chart that was rendered with nobody's values but its own.
        origin: of a text that was rendered, what it was rendered from.
        application: the chart or Kustomize folder that it is applied with; empty where nobody tells.
    """

    __slots__ = ("_aside", "_text", "application", "chart_defaults", "name", "origin")

    def __init__(
        self,
        name: str,
        text: str,
        chart_defaults: bool = False,
        origin: Origin | None = None,
        application: str = "",
    ) -> None:
        self.name = name
        self._text = text
        self._aside: Aside | None = None
        self.chart_defaults = chart_defaults
        self.origin = origin
        self.application = application

    @property
    def text(self) -> str:
        """All of it."""
        return self._text if self._aside is None else self._aside.part(0, self._aside.length)

    def part(self, start: int, end: int) -> str:
        """The characters of its text from one up to another."""
        return self._text[start:end] if self._aside is None else self._aside.part(start, end)

    def put_aside(self, shelf: Shelf) -> None:
        """Keeps its text on disk from now on; where there is no room, or comments decide, it stays here."""
        if self._aside is None and not self.decides:
            with contextlib.suppress(OSError):
                self._aside = shelf.put(self._text)
                self._text = ""

    @property
    def decides(self) -> bool:
        """Whether comments in it may say with which findings somebody lives."""
        return "pilotage:" in self._text

    @property
    def shown(self) -> str:
        """The file that a finding names."""
        return self.origin.name if self.origin is not None else self.name

    def place(self, line: int, column: int) -> Place:
        """A place of the text, in the file that a user would mend."""
        if self.origin is None:
            return Place(self.name, line, column)
        return Place(self.origin.name, *self.origin.at(line, column))


class Document(msgspec.Struct, frozen=True, eq=False):
    """One document of a file.

    Attributes:
        file: the file.
        start: where it begins in the text.
        end: where it ends.
        line: number of its first line, from 1.
    """

    file: SourceFile
    start: int
    end: int
    line: int

    @property
    def text(self) -> str:
        """The text of this document alone."""
        return self.file.part(self.start, self.end)

    def position(self, path: KeyPath) -> Position:
        """Line and column of the deepest part of a path that is written down; of its key where it has one."""
        if not path and (begin := _BEGIN.search(text := self.text)) is not None:
            return Position(self.line + text.count("\n", 0, begin.start()), 1)
        rows = _rows(self)
        line, column = (rows and place_of(rows, path)) or position_of(_nodes(self), path)
        return Position(line + self.line - 1, column)

    def lines_of_key(self, path: KeyPath) -> list[int]:
        """The lines at which a key stands; more than one where a mapping names it twice."""
        return [line + self.line - 1 for line in lines_of_key(_nodes(self), path)]

    def same_each_time(self, path: KeyPath) -> bool:
        """Whether the same value stands under a key each time that the mapping names it."""
        return same_each_time(_nodes(self), path)

    def literal_begin(self, path: KeyPath) -> Position | None:
        """Where the lines of a text begin that is written as a literal block (`|`); None for another form."""
        line = literal_line(_nodes(self), path)
        if line is None:
            return None
        for written in self.text.split("\n")[line - 1 :]:
            if written.strip():
                return Position(line + self.line - 1, len(written) - len(written.lstrip(" ")) + 1)
        return None


@functools.lru_cache(maxsize=8)
def _rows(document: Document) -> list[str] | None:
    return simple_rows(document.text + "\n")


@functools.lru_cache(maxsize=8)
def _nodes(document: Document) -> Any:
    try:
        return compose(document.text)
    except DialectError:
        # The values may come from elsewhere: rendered from a file that somebody has changed meanwhile.
        return None


class Subject(Protocol):
    """What a check can find something about: a Kubernetes object, a part of a proxy's configuration."""

    @property
    def key(self) -> str:
        """Its name in reports and baselines, stable under moves: `Deployment shop/web`, `backend api`."""

    @property
    def source(self) -> SourceFile | None:
        """The file it comes from; None for a live object."""

    def place(self, path: KeyPath = ()) -> Place:
        """Where a part of it stands."""

    def stable_path(self, path: KeyPath) -> str:
        """The path in a form that does not change when unrelated things move: list items by name."""

    def lines(self, path: KeyPath) -> set[int]:
        """The lines at which a comment speaks of this part: its own and those of what holds it."""


class KubeObject:
    """A Kubernetes object as it was written or as the cluster gave it.

    Args:
        data: the object.
        document: where it was read; None for an object of a live cluster.
        prefix: the way from the document to the object, for items of a `List`.
    """

    __slots__ = ("api_version", "data", "document", "kind", "name", "namespace", "prefix")

    def __init__(
        self, data: Mapping[str, Any], document: Document | None = None, prefix: KeyPath = ()
    ) -> None:
        self.data = data
        self.document = document
        self.prefix = prefix
        metadata = as_map(data.get("metadata"))
        self.kind = as_text(data.get("kind"))
        self.api_version = as_text(data.get("apiVersion"))
        self.name = as_text(metadata.get("name")) or as_text(metadata.get("generateName"))
        self.namespace = as_text(metadata.get("namespace"))
        """Empty where the manifest leaves it to the one who applies it."""

    def __repr__(self) -> str:
        return f"<{self.key}>"

    @property
    def key(self) -> str:
        """`Kind namespace/name`; without a namespace `Kind name`."""
        return f"{self.kind} {self.namespace}/{self.name}" if self.namespace else f"{self.kind} {self.name}"

    @property
    def group(self) -> str:
        """The API group; empty for the core."""
        return self.api_version.rpartition("/")[0]

    @property
    def file(self) -> str:
        """The file it comes from; empty for a live object."""
        return self.document.file.name if self.document is not None else ""

    @property
    def source(self) -> SourceFile | None:
        """The file it comes from; None for an object of a live cluster."""
        return None if self.document is None else self.document.file

    @property
    def application(self) -> str:
        """The chart or Kustomize folder that it is applied with; empty where nobody tells."""
        return self.document.file.application if self.document is not None else ""

    @property
    def live(self) -> bool:
        """Whether it comes from a cluster."""
        return self.document is None

    @property
    def metadata(self) -> Mapping[str, Any]:
        """The metadata; empty where there is none."""
        return as_map(self.data.get("metadata"))

    @property
    def spec(self) -> Mapping[str, Any]:
        """The spec; empty where there is none."""
        return as_map(self.data.get("spec"))

    @property
    def labels(self) -> Mapping[str, Any]:
        """The labels."""
        return as_map(self.metadata.get("labels"))

    @property
    def annotations(self) -> Mapping[str, Any]:
        """The annotations."""
        return as_map(self.metadata.get("annotations"))

    def get(self, *path: str | int) -> Any:
        """The value at the end of a path; None where the way is barred."""
        return dig(self.data, *path)

    def place(self, path: KeyPath = ()) -> Place:
        """Where a part of it stands; the deepest part that is written down."""
        if self.document is None:
            return Place(object=self.key, path=dotted(path))
        at = self.document.file.place(*self.document.position((*self.prefix, *path)))
        return msgspec.structs.replace(at, object=self.key, path=dotted(path))

    def stable_path(self, path: KeyPath) -> str:
        """The path with list items called by their names instead of their positions."""
        parts: list[str] = []
        value: Any = self.data
        for part in path:
            inner = dig(value, part)
            parts.append(_item_name(inner, part) if isinstance(part, int) else part)
            value = inner
        return "/".join(parts)

    def lines(self, path: KeyPath) -> set[int]:
        """The lines of its part, of what holds that part, and of the object."""
        if self.document is None:
            return set()
        whole = (*self.prefix, *path)
        return {self.document.position(whole[:end]).line for end in range(len(self.prefix), len(whole) + 1)}

    def controller(self) -> tuple[str, str] | None:
        """Kind and name of the object that controls this one."""
        for reference in as_list(self.metadata.get("ownerReferences")):
            if isinstance(reference, dict) and reference.get("controller"):
                return as_text(reference.get("kind")), as_text(reference.get("name"))
        return None


class Unbuilt(msgspec.Struct):
    """What Kustomize makes of the objects, which it did not do here.

    Attributes:
        files: files with objects that it completes.
        images: name of an image -> the image that it writes instead.
        named: absolute paths that some kustomization names.
        listed: absolute paths of folders of whose files kustomizations name some.
        patched: kinds at which a patch is aimed.
    """

    files: set[str] = msgspec.field(default_factory=set)
    images: dict[str, str] = msgspec.field(default_factory=dict)
    named: set[str] = msgspec.field(default_factory=set)
    listed: set[str] = msgspec.field(default_factory=set)
    patched: set[str] = msgspec.field(default_factory=set)

    def leaves(self, file: SourceFile | None) -> bool:
        """Whether there are kustomizations, and none names a file."""
        return bool(self.named) and file is not None and os.path.abspath(file.shown) not in self.named  # noqa: PTH100

    def forgets(self, file: SourceFile | None) -> bool:
        """Whether kustomizations name other files of its folder, and none names the file itself."""
        if not self.listed or file is None:
            return False
        return os.path.dirname(os.path.abspath(file.shown)) in self.listed and self.leaves(file)  # noqa: PTH100, PTH120


def is_patch_name(name: str) -> bool:
    """Whether a file calls itself a patch: `web-patch.yaml`, and not `dispatch.yaml`."""
    return _PATCH_NAME.search(name) is not None


def _item_name(item: object, position: int) -> str:
    for key in ITEM_NAMES:
        value = dig(item, key)
        if isinstance(value, str | int):
            return f"[{key}={value}]"
    return f"[{item}]" if isinstance(item, str) else f"[{position}]"
