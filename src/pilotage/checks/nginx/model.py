"""Directives of an nginx configuration, what they inherit, and what may be set where we cannot see it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import msgspec

from pilotage.checks.objects import Place, SourceFile
from pilotage.checks.readers.reading import Problem
from pilotage.checks.texts import Text
from pilotage.checks.values import KeyPath

PASSES = ("proxy_pass", "grpc_pass", "fastcgi_pass", "uwsgi_pass", "scgi_pass")
"""Directives that hand a request on."""


class Directive(msgspec.Struct, eq=False):
    """One directive; with a block it is what checks speak about.

    Attributes:
        name: its first word; empty for the whole of a file.
        args: its other words, without quotes.
        text: the text in which it stands.
        line: from 1, in that text.
        column: from 1.
        parent: the block around it; for what an include brings, the block of the include.
        items: what its block holds, includes among them; None where it has no block.
        included: what an `include` brings; None where it could not be followed.
    """

    name: str
    args: tuple[str, ...]
    text: Text
    line: int
    column: int
    parent: Directive | None = None
    items: list[Directive] | None = None
    included: list[Directive] | None = None

    def __repr__(self) -> str:
        return f"<{' '.join((self.name, *self.args))}>"

    @property
    def arg(self) -> str:
        """Its first argument; empty where it has none."""
        return self.args[0] if self.args else ""

    @property
    def children(self) -> Iterator[Directive]:
        """What stands in its block, an include replaced by what it brings."""
        for one in self.items or ():
            if one.name == "include" and one.included is not None:
                yield from _unfolded(one.included, 0)
            else:
                yield one

    def all(self, *names: str) -> list[Directive]:
        """The directives of some names that stand in its own block."""
        return [one for one in self.children if one.name in names]

    def first(self, name: str) -> Directive | None:
        """The first directive of a name in its own block."""
        return next((one for one in self.children if one.name == name), None)

    def walk(self) -> Iterator[Directive]:
        """All directives inside of it, in order."""
        for one in self.children:
            yield one
            if one.items is not None:
                yield from one.walk()

    @property
    def ancestors(self) -> Iterator[Directive]:
        """The blocks around it, from the inside out."""
        block = self.parent
        while block is not None:
            yield block
            block = block.parent

    def setting(self, name: str) -> Directive | None:
        """The directive of a name that holds here: in its own block, else in the nearest around it."""
        return next((found for block in (self, *self.ancestors) if (found := block.first(name))), None)

    def values(self, name: str) -> list[Directive]:
        """All directives of a name that hold here: those of the nearest block that has any."""
        return next((found for block in (self, *self.ancestors) if (found := block.all(name))), [])

    def block(self, name: str) -> Directive | None:
        """The nearest block of a name around it."""
        return next((one for one in self.ancestors if one.name == name), None)

    @property
    def open(self) -> bool:
        """Whether an include in its own block could not be followed, so that it may hold more."""
        return any(one.name == "include" and not only_tables(one.arg) for one in self.children)

    @property
    def closed(self) -> bool:
        """Whether all that holds here is known: nothing around it was left unread, up to the whole file."""
        blocks = [self, *self.ancestors] if self.items is not None else list(self.ancestors)
        return not any(block.open for block in blocks) and "http" in {block.name for block in blocks}

    # As the subject of a finding

    @property
    def label(self) -> str:
        """How it is called: `upstream api`, `server shop.example.org`, `location /api`."""
        if self.name == "server" and self.items is not None:
            named = self.first("server_name")
            listen = self.first("listen")
            word = named.arg if named is not None and named.arg not in {"", "_"} else ""
            return f"server {word or (listen.arg if listen is not None else ':80')}"
        return " ".join((self.name, *self.args)) if self.name else "main"

    @property
    def key(self) -> str:
        """The text's name and the way to the block by names."""
        around = [one.label for one in self.ancestors if one.name not in {"", "http"}]
        return self.text.label + " ".join(
            (*(() if self.text.holder else ("nginx",)), *reversed(around), self.label)
        )

    @property
    def source(self) -> SourceFile | None:
        """The file in which it stands."""
        return self.text.commented

    @property
    def holder(self) -> object:
        """The object whose annotations speak of it; None for a file."""
        return self.text.holder

    def _part(self, path: KeyPath) -> Directive:
        """The directive that a path names: its name, then which of those of this name, counted from 0."""
        here = self
        for position, part in enumerate(path):
            if not isinstance(part, str):
                continue
            found = here.all(part)
            following = path[position + 1] if position + 1 < len(path) else 0
            number = following if isinstance(following, int) else 0
            if number >= len(found):
                break
            here = found[number]
        return here

    def place(self, path: KeyPath = ()) -> Place:
        """Where it, or a directive inside of it, stands."""
        part = self._part(path)
        return part.text.place(part.line, part.column, part=self.key, path=self.stable_path(path))

    def stable_path(self, path: KeyPath) -> str:
        """The names on the way; of several of one name the one that is meant by its first argument."""
        if any(isinstance(part, int) for part in path):
            part = self._part(path)
            return "/".join((*(one for one in path if isinstance(one, str)), part.arg))
        return "/".join(str(part) for part in path)

    def lines(self, path: KeyPath) -> set[int]:
        """Its line and those of the blocks around it, as far as they stand in the same text."""
        part = self._part(path)
        chain = [part, *part.ancestors]
        return {one.text.source_line(one.line) for one in chain if one.text is part.text and one.name}


_DEEPEST = 20


def _unfolded(found: list[Directive], depth: int) -> Iterator[Directive]:
    for one in found:
        if one.name == "include" and one.included is not None and depth < _DEEPEST:
            yield from _unfolded(one.included, depth + 1)
        else:
            yield one


_HARMLESS = (
    "mime.types",
    "fastcgi_params",
    "fastcgi.conf",
    "uwsgi_params",
    "scgi_params",
    "proxy_params",
    "koi-utf",
    "koi-win",
    "win-utf",
)


def only_tables(pattern: str) -> bool:
    """Whether an include brings only tables, headers or modules, which no check asks for."""
    return pattern.rpartition("/")[2] in _HARMLESS or "modules" in pattern


class NginxConfig(msgspec.Struct, eq=False, dict=True):
    """One configuration: a file, or a value of a ConfigMap, with what it includes.

    Attributes:
        root: the whole of it.
        problems: what could not be read in it.
        texts: all texts that it was read from.
        in_image: whether a Dockerfile beside it copies it into an image.
    """

    root: Directive
    problems: list[Problem] = msgspec.field(default_factory=list)
    texts: list[Text] = msgspec.field(default_factory=list)
    in_image: bool = False

    @property
    def sources(self) -> list[SourceFile]:
        """The files in which comments on it stand."""
        return [one.commented for one in self.texts if one.commented is not None]

    @property
    def text(self) -> Text:
        """Where its main text stands."""
        return self.root.text

    @property
    def key(self) -> str:
        """Its name in reports."""
        return self.root.key

    @property
    def source(self) -> SourceFile | None:
        """The file of its main text."""
        return self.text.commented

    @property
    def holder(self) -> object:
        """The object that holds it; None for a file."""
        return self.text.holder

    def place(self, path: KeyPath = ()) -> Place:
        """Where it, or a directive of its outermost level, stands."""
        return self.root.place(path)

    def stable_path(self, path: KeyPath) -> str:
        """The names on the way."""
        return self.root.stable_path(path)

    def lines(self, path: KeyPath) -> set[int]:
        """The lines of the way."""
        return self.root.lines(path)

    @cached_property
    def directives(self) -> list[Directive]:
        """All directives in it."""
        return list(self.root.walk())

    @cached_property
    def upstreams(self) -> dict[str, Directive]:
        """The `upstream` blocks by name."""
        return {one.arg: one for one in self.directives if one.name == "upstream" and one.items is not None}

    @property
    def complete(self) -> bool:
        """Whether it is a whole configuration and no part that another one includes."""
        return self.root.first("http") is not None or self.root.first("stream") is not None

    def of(self, *names: str) -> list[Directive]:
        """All directives of some names."""
        return [one for one in self.directives if one.name in names]

    @cached_property
    def passes(self) -> list[Directive]:
        """The directives that hand HTTP requests on, those of the `stream` module left out."""
        return [one for one in self.of(*PASSES) if one.block("stream") is None]
