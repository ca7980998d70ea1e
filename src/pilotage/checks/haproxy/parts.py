"""Sections as subjects of findings: names, places, and the statements in them."""

from __future__ import annotations

from collections.abc import Iterator

from pilotage.checks.haproxy.statements import Block, Statement
from pilotage.checks.objects import KubeObject, Place, SourceFile
from pilotage.checks.values import KeyPath


class Section:
    """A section of a configuration.

    A path into it is a phrase and, where several lines begin alike, their first argument and a word of them:
    `("timeout connect",)`, `("server", "web1", "inter")`.

    Args:
        block: the section as it was written.
    """

    def __init__(self, block: Block) -> None:
        self.block = block
        self.kind = block.kind
        self.name = block.name

    def __repr__(self) -> str:
        return f"<{self.key}>"

    @property
    def key(self) -> str:
        """`backend api`; with the object that holds the configuration before it, where one does."""
        return f"{self.block.head.text.label}{self.title}"

    @property
    def title(self) -> str:
        """`backend api`, `global`."""
        return f"{self.kind} {self.name}".strip()

    @property
    def source(self) -> SourceFile | None:
        """The file that it stands in."""
        return self.block.head.text.commented

    @property
    def holder(self) -> KubeObject | None:
        """The object that holds the configuration; None where it is a file of its own."""
        return self.block.head.text.holder

    @property
    def conditional(self) -> bool:
        """Whether it is there only under a condition."""
        return self.block.head.conditional

    @property
    def statements(self) -> list[Statement]:
        """Its own lines."""
        return self.block.statements

    def all(self, phrase: str) -> Iterator[Statement]:
        """Its own lines that begin with a phrase, those with a modifier left out."""
        return (one for one in self.statements if not one.modifier and one.begins(phrase))

    def last(self, phrase: str) -> Statement | None:
        """The last of its own lines that begin with a phrase; None where there is none."""
        found = None
        for found in self.all(phrase):  # noqa: B007 - the last one counts
            pass
        return found

    def place(self, path: KeyPath = ()) -> Place:
        """Where a part of it stands; its first line where the part is not written down."""
        statement = self._meant(path)
        word = statement.words[0]
        for part in path[1:]:
            word = next((one for one in statement.words if one == part), word)
        written = " ".join(str(part) for part in path)
        return statement.text.place(statement.line, word.column, part=self.key, path=written)

    def _meant(self, path: KeyPath) -> Statement:
        best = self.block.head
        if not path:
            return best
        for one in self.statements:
            if not one.begins(str(path[0])):
                continue
            best = one
            if len(path) == 1 or path[1] in one.words:
                break
        return best

    def stable_path(self, path: KeyPath) -> str:
        """The path by its words, which do not change when lines move."""
        return "/".join(str(part) for part in path)

    def lines(self, path: KeyPath) -> set[int]:
        """The lines of a part and of the section."""
        return {one.text.source_line(one.line) for one in (self.block.head, self._meant(path))}


class Settings(Section):
    """A section whose settings may come from a `defaults` section.

    Args:
        block: the section as it was written.
        base: the `defaults` section that it is built on; None where there is none.
    """

    def __init__(self, block: Block, base: Settings | None) -> None:
        super().__init__(block)
        self.base = base
        self._last: dict[str, Statement | None] = {}

    @property
    def chain(self) -> Iterator[Settings]:
        """Itself, the `defaults` below, and so on."""
        one: Settings | None = self
        while one is not None:
            yield one
            one = one.base

    def setting(self, phrase: str) -> Statement | None:
        """The line that decides a setting, its own or an inherited one; None where none does."""
        if phrase not in self._last:
            own = self.last(phrase)
            self._last[phrase] = own or (self.base.setting(phrase) if self.base is not None else None)
        return self._last[phrase]

    def option(self, name: str) -> Statement | None:
        """The line that switches an option on; None where it is off."""
        phrase = f"option {name}"
        for one in self.chain:
            decisive = [line for line in one.statements if line.begins(phrase)]
            if decisive:
                return None if decisive[-1].modifier else decisive[-1]
        return None

    def rules(self, phrase: str) -> Iterator[Statement]:
        """All lines that begin with a phrase, its own and inherited ones."""
        for one in self.chain:
            yield from one.all(phrase)

    def owner_of(self, statement: Statement) -> Settings:
        """The section in which a line stands that holds here."""
        return next((one for one in self.chain if statement in one.statements), self)

    @property
    def disabled(self) -> bool:
        """Whether it is switched off."""
        for one in self.chain:
            for line in reversed(one.statements):
                if line.keyword in {"disabled", "enabled"}:
                    return line.keyword == "disabled"
        return False
