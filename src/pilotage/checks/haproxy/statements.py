"""From a text to sections and statements; a line that HAProxy would refuse is a fault, the rest is read."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from pilotage.checks.haproxy.words import MOST_WORDS, BadLine, Word, split
from pilotage.checks.texts import Text
from pilotage.core.regex import regex

PROXIES = ("frontend", "backend", "listen")
"""Sections that carry traffic."""
SECTIONS = frozenset(
    {
        *PROXIES,
        *"acme cache crt-store defaults fcgi-app global healthcheck http-errors log-forward".split(),
        *"log-profile mailers namespace_list peers program resolvers ring traces userlist".split(),
    }
)
"""Words that begin a section, of every version from 1.8 on."""

_ALIASES = {
    "clitimeout": ("timeout", "client"),
    "contimeout": ("timeout", "connect"),
    "srvtimeout": ("timeout", "server"),
    "redispatch": ("option", "redispatch"),
}
_SETS = {"setenv", "presetenv", "resetenv", "unsetenv"}
_MACROS = {".if", ".elif", ".else", ".endif"}
_SAID = {".alert", ".warning", ".notice", ".diag"}
_NUMBER = regex(r"\d+")
_DEEPEST = 16
_BAD_BYTES = regex("[\udc80-\udcff]")


class Fault(msgspec.Struct, frozen=True):
    """Something in a text that HAProxy would refuse.

    Attributes:
        line: where, from 1.
        column: where, from 1.
        why: one sentence.
    """

    line: int
    column: int
    why: str


class Statement(msgspec.Struct, frozen=True, eq=False):
    """One line with a keyword.

    Attributes:
        text: the text that it stands in.
        line: its line within the text.
        words: its words, without the modifier.
        modifier: `no` or `default` before the keyword; else empty.
        conditional: whether it holds only under a condition (`.if`) whose outcome is not known here.
    """

    text: Text
    line: int
    words: tuple[Word, ...]
    modifier: str = ""
    conditional: bool = False

    @property
    def keyword(self) -> str:
        """The first word."""
        return self.words[0]

    @property
    def args(self) -> tuple[Word, ...]:
        """The words after the first."""
        return self.words[1:]

    def word(self, position: int) -> str:
        """The word at a position; empty where there is none."""
        return self.words[position] if position < len(self.words) else ""

    def after(self, name: str) -> str:
        """The word that follows a word; empty where the statement does not have it."""
        for position, word in enumerate(self.words[1:], start=1):
            if word == name:
                return self.word(position + 1)
        return ""

    def begins(self, phrase: str) -> bool:
        """Whether it begins with the words of a phrase, such as `timeout connect`."""
        parts = phrase.split(" ")
        return len(self.words) >= len(parts) and all(map(str.__eq__, self.words, parts))

    def __str__(self) -> str:
        """The statement in one line, as it would be written without need of quotes."""
        return " ".join(word for word in (self.modifier, *self.words) if word)


class Block(msgspec.Struct, frozen=True, eq=False):
    """A section as it was written.

    Attributes:
        head: the line that begins it.
        statements: its lines.
    """

    head: Statement
    statements: list[Statement] = msgspec.field(default_factory=list)

    @property
    def kind(self) -> str:
        """`frontend`, `global` …."""
        return self.head.keyword

    @property
    def name(self) -> str:
        """Its name; empty where it has none."""
        name = self.head.word(1)
        return "" if name == "from" and self.kind == "defaults" and len(self.head.words) == 3 else name  # noqa: PLR2004


class Parser:
    """Reads texts of one configuration in order; variables that one sets hold in the next."""

    def __init__(self) -> None:
        self.environment: dict[str, str] = {}
        self.blocks: list[Block] = []
        self.faults: list[tuple[Text, Fault]] = []

    def read(self, text: Text) -> None:
        """Adds the sections of a text."""
        reader = _TextReader(text, self.environment)
        reader.read()
        self.blocks += reader.blocks
        self.faults += [(text, fault) for fault in reader.faults]


class _TextReader:
    def __init__(self, text: Text, environment: dict[str, str]) -> None:
        self.text = text
        self.environment = environment
        self.blocks: list[Block] = []
        self.faults: list[Fault] = []
        self.conditions: list[_Condition] = []

    def read(self) -> None:
        for number, line in _lines(self.text.content):
            try:
                words = split(line, self.environment)
            except BadLine as error:
                self.faults.append(Fault(number, error.column, f"HAProxy would not read it: {error.why}"))
                continue
            if not words or not words[0]:
                continue
            if len(words) > MOST_WORDS:
                why = f"{len(words)} words: HAProxy reads at most {MOST_WORDS} on one line"
                self.faults.append(Fault(number, words[MOST_WORDS].column, why))
            if words[0] in _MACROS:
                self.macro(number, words)
            elif words[0] not in _SAID and not any(one.skipped for one in self.conditions):
                self.take(number, words)
        if self.conditions:
            self.faults.append(Fault(self.conditions[-1].line, 1, "this .if has no .endif"))

    def macro(self, number: int, words: tuple[Word, ...]) -> None:
        if words[0] == ".if":
            if len(self.conditions) >= _DEEPEST:
                self.faults.append(Fault(number, words[0].column, f".if nested deeper than {_DEEPEST}"))
            self.conditions.append(_Condition(number, *_outcome(words[1:])))
        elif not self.conditions:
            self.faults.append(Fault(number, words[0].column, f"{words[0]} without an .if"))
        elif words[0] == ".endif":
            self.conditions.pop()
        else:
            self.conditions[-1].turn(*(_outcome(words[1:]) if words[0] == ".elif" else (True, True)))

    def take(self, number: int, words: tuple[Word, ...]) -> None:
        conditional = any(not one.sure for one in self.conditions)
        modifier = ""
        if words[0] in {"no", "default"} and len(words) > 1:
            modifier, words = words[0], words[1:]
        alias = _ALIASES.get(words[0])
        if alias is not None:
            words = (*(Word(part, words[0].column) for part in alias), *words[1:])
        statement = Statement(self.text, number, words, modifier, conditional)
        if words[0] in SECTIONS and not modifier:
            self.blocks.append(Block(statement))
        elif not self.blocks:
            why = f"'{words[0][:40]}' stands before the first section"
            self.faults.append(Fault(number, words[0].column, why))
        else:
            self.blocks[-1].statements.append(statement)
            if words[0] in _SETS and self.blocks[-1].kind == "global":
                self.set_variable(words)

    def set_variable(self, words: tuple[Word, ...]) -> None:
        value = words[2] if len(words) > 2 else None  # noqa: PLR2004
        if words[0] in {"setenv", "presetenv"} and value is not None and not value.open:
            self.environment[words[1]] = value


def _lines(content: str) -> Iterator[tuple[int, str]]:
    begin, number = 0, 1
    while begin <= len(content):
        end = content.find("\n", begin)
        end = len(content) if end < 0 else end
        yield number, content[begin:end]
        begin, number = end + 1, number + 1


class _Condition:
    """A block from `.if` to `.endif`.

    Args:
        line: where it begins.
        holds: whether the branch is taken, as far as known.
        sure: whether that is known.
    """

    def __init__(self, line: int, holds: bool, sure: bool) -> None:
        self.line = line
        self.holds, self.sure = holds, sure
        self.taken = holds and sure
        self.doubtful = not sure

    @property
    def skipped(self) -> bool:
        """Whether the present branch is surely not taken."""
        return self.sure and not self.holds

    def turn(self, holds: bool, sure: bool) -> None:
        """Goes over to the next branch."""
        if self.taken:
            self.holds, self.sure = False, True
            return
        # After a branch that may have been taken nothing is sure any more, but for what never holds.
        self.sure = sure and not (self.doubtful and holds)
        self.holds = holds
        self.doubtful = self.doubtful or not sure
        self.taken = self.holds and self.sure


def _outcome(words: tuple[Word, ...]) -> tuple[bool, bool]:
    """Whether a condition holds and whether that is known: only a number says it by itself."""
    text = " ".join(words).strip()
    negated = text.startswith("!")
    text = text.lstrip("! ") if negated else text
    if not text and not negated:
        return False, True
    if _NUMBER.fullmatch(text):
        return (int(text) != 0) != negated, True
    return True, False
