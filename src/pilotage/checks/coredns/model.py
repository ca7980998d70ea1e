"""Server blocks and plugins of a Corefile."""

from __future__ import annotations

import msgspec

from pilotage.checks.objects import Place, SourceFile
from pilotage.checks.readers.reading import Problem
from pilotage.checks.texts import Text
from pilotage.checks.values import KeyPath


class Entry(msgspec.Struct, eq=False):
    """A plugin of a server block, or a property of a plugin.

    Attributes:
        name: its first word.
        args: its other words, without quotes.
        text: the text in which it stands.
        line: from 1, in that text.
        column: from 1.
        items: what its own block holds.
    """

    name: str
    args: tuple[str, ...]
    text: Text
    line: int
    column: int
    items: list[Entry] = msgspec.field(default_factory=list)

    def __repr__(self) -> str:
        return f"<{' '.join((self.name, *self.args))}>"

    def get(self, name: str) -> Entry | None:
        """The first property of a name."""
        return next((one for one in self.items if one.name == name), None)


class ServerBlock(msgspec.Struct, eq=False):
    """A server block: what checks speak about.

    Attributes:
        keys: zones with ports, `.:53`.
        head: its first key.
        plugins: what it holds, snippets and imported files put in.
        open: whether it imports something that could not be followed, so that it may hold more.
    """

    keys: tuple[str, ...]
    head: Entry
    plugins: list[Entry] = msgspec.field(default_factory=list)
    open: bool = False

    def all(self, name: str) -> list[Entry]:
        """The plugins of a name."""
        return [one for one in self.plugins if one.name == name]

    def first(self, name: str) -> Entry | None:
        """The first plugin of a name."""
        return next((one for one in self.plugins if one.name == name), None)

    @property
    def zones(self) -> tuple[str, ...]:
        """Its zones without protocol and port, `.` for everything."""
        return tuple(zone(key) for key in self.keys)

    @property
    def serves_cluster(self) -> bool:
        """Whether it answers for the Services of a Kubernetes cluster."""
        return self.first("kubernetes") is not None

    # As the subject of a finding

    @property
    def key(self) -> str:
        """The text's name and its own."""
        return f"{self.head.text.label or 'Corefile '}{' '.join(self.keys)}"

    @property
    def source(self) -> SourceFile | None:
        """The file in which it stands."""
        return self.head.text.commented

    @property
    def holder(self) -> object:
        """The object whose annotations speak of it; None for a file."""
        return self.head.text.holder

    def _way(self, path: KeyPath) -> list[Entry]:
        """From its head to what a path names: a plugin, which of those of this name, a property."""
        way, items = [self.head], self.plugins
        for position, part in enumerate(path):
            if not isinstance(part, str):
                continue
            found = [one for one in items if one.name == part]
            following = path[position + 1] if position + 1 < len(path) else 0
            number = following if isinstance(following, int) else 0
            if number >= len(found):
                break
            way.append(found[number])
            items = found[number].items
        return way

    def place(self, path: KeyPath = ()) -> Place:
        """Where a plugin or a property stands; where it is absent, what should hold it."""
        part = self._way(path)[-1]
        return part.text.place(part.line, part.column, part=self.key, path=self.stable_path(path))

    def stable_path(self, path: KeyPath) -> str:
        """The names on the way; of several of one name the one that is meant by its first argument."""
        words = []
        for one in self._way(path)[1:]:
            several = any(isinstance(part, int) for part in path)
            words.append(f"{one.name} {one.args[0]}" if several and one.args else one.name)
        return "/".join(words)

    def lines(self, path: KeyPath) -> set[int]:
        """The lines of the way, as far as they stand in the same text."""
        way = self._way(path)
        return {one.text.source_line(one.line) for one in way if one.text.identity == way[-1].text.identity}


def zone(key: str) -> str:
    """The zone of a key: `cluster.local` of `dns://cluster.local.:53`."""
    bare = key.partition("://")[2] or key
    name, colon, port = bare.rpartition(":")
    if colon and port.isdigit():
        bare = name
    return bare.lower().rstrip(".") or "."


class Corefile(msgspec.Struct, eq=False):
    """A Corefile: a file, or a value of a ConfigMap.

    Attributes:
        text: the text and where it stands.
        blocks: its server blocks.
        problems: what could not be read.
        texts: all texts that it was read from.
        open: whether it imports server blocks that could not be followed.
        lost: what it imports and could not be followed, with where it says so.
    """

    text: Text
    blocks: list[ServerBlock] = msgspec.field(default_factory=list)
    problems: list[Problem] = msgspec.field(default_factory=list)
    texts: list[Text] = msgspec.field(default_factory=list)
    open: bool = False
    lost: list[tuple[str, Place]] = msgspec.field(default_factory=list)

    @property
    def key(self) -> str:
        """Its name in reports."""
        return self.text.label.removesuffix(": ") or "Corefile"

    @property
    def source(self) -> SourceFile | None:
        """The file in which it stands."""
        return self.text.commented

    @property
    def holder(self) -> object:
        """The object that holds it; None for a file."""
        return self.text.holder

    def place(self, path: KeyPath = ()) -> Place:  # noqa: ARG002 - a subject's form
        """Where it begins."""
        return self.text.place(1, 1, part=self.key)

    def stable_path(self, path: KeyPath) -> str:
        """The path as it is."""
        return "/".join(str(part) for part in path)

    def lines(self, path: KeyPath) -> set[int]:  # noqa: ARG002 - a subject's form
        """Its first line."""
        return {self.text.source_line(1)}

    @property
    def unfinished(self) -> bool:
        """Whether it imports anything that could not be followed."""
        return self.open or any(block.open for block in self.blocks)

    @property
    def sources(self) -> list[SourceFile]:
        """The files in which comments on it stand."""
        return [one.commented for one in self.texts if one.commented is not None]

    @property
    def node_cache(self) -> bool:
        """Whether it is that of a cache on each node: it binds to an address that no network routes."""
        return any(
            arg.startswith(("169.254.", "__PILLAR__"))
            for block in self.blocks
            for one in block.all("bind")
            for arg in one.args
        )

    @property
    def serves_cluster(self) -> bool:
        """Whether it answers for the Services of a Kubernetes cluster."""
        return any(block.serves_cluster for block in self.blocks)
