"""How HAProxy divides a line into words: quotes, escapes, comments, environment variables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

from pilotage.core.regex import regex

MOST_WORDS = 64
"""HAProxy refuses a line with more."""

_SPECIAL = regex(r"[\"'\\#$\r]")
_PLAIN = regex(r"[^ \t\v\f]+")
_BLANKS = " \t\v\f\n"
_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", " ": " ", "\\": "\\", "#": "#", "'": "'", '"': '"'}
_VARIABLE = regex(r"\.?[A-Za-z_][A-Za-z0-9_]*")
_HEX = regex(r"[0-9A-Fa-f]{2}")


class Word(str):
    """A word as HAProxy sees it.

    Attributes:
        column: where it begins in its line, from 1.
        open: whether it holds the value of a variable that is not known here.
    """

    __slots__ = ("column", "open")
    column: int
    open: bool

    def __new__(cls, text: str, column: int, *, is_open: bool = False) -> Self:
        """A string with a place."""
        word = super().__new__(cls, text)
        word.column = column
        word.open = is_open
        return word


class BadLine(Exception):
    """A line that HAProxy refuses to divide.

    Args:
        why: what is wrong.
        column: where, from 1.
    """

    def __init__(self, why: str, column: int) -> None:
        super().__init__(why)
        self.why = why
        self.column = column


def split(line: str, environment: Mapping[str, str]) -> tuple[Word, ...]:
    """The words of a line, without its comment.

    Args:
        line: one line, without its end.
        environment: variables that the configuration sets itself.

    Raises:
        BadLine: HAProxy would refuse it.
    """
    if _SPECIAL.search(line) is None:
        return tuple(Word(found[0], found.start() + 1) for found in _PLAIN.finditer(line))
    return _Splitter(line, environment).words()


class _Splitter:
    """One pass over a line."""

    def __init__(self, line: str, environment: Mapping[str, str]) -> None:
        self.line = line.split("\r", 1)[0]
        self.environment = environment
        self.at = 0
        self.quote = ""
        self.quoted_at = 0
        self.found: list[Word] = []
        self.begin = -1
        self.parts: list[str] = []
        self.open = False

    def words(self) -> tuple[Word, ...]:
        while self.at < len(self.line) and not (self.line[self.at] == "#" and not self.quote):
            self.step(self.line[self.at])
        if self.quote:
            raise BadLine(f"the quote {self.quote} is not closed", self.quoted_at + 1)
        self.close()
        return tuple(self.found)

    def step(self, char: str) -> None:
        """Takes the next character and what belongs to it."""
        if char in "\"'" and self.quote in {"", char}:
            self.start()
            self.quote, self.quoted_at = ("", 0) if self.quote else (char, self.at)
            self.at += 1
        elif char == "\\" and self.quote != "'":
            self.start()
            self.escape(self.line[self.at + 1 : self.at + 2])
        elif char == "$" and self.quote == '"':
            self.start()
            self.variable()
        elif char in _BLANKS and not self.quote:
            self.close()
            self.at += 1
        else:
            self.start()
            self.parts.append(char)
            self.at += 1

    def start(self) -> None:
        if self.begin < 0:
            self.begin = self.at

    def close(self) -> None:
        if self.begin >= 0:
            self.found.append(Word("".join(self.parts), self.begin + 1, is_open=self.open))
        self.begin, self.parts, self.open = -1, [], False

    def escape(self, following: str) -> None:
        if following == "x":
            digits = _HEX.match(self.line, self.at + 2)
            if digits is None:
                raise BadLine("\\x needs two hexadecimal digits", self.at + 1)
            self.parts.append(chr(int(digits[0], 16)))
            self.at += 4
        elif following in _ESCAPES and following:
            self.parts.append(_ESCAPES[following])
            self.at += 2
        elif following == "$" and self.quote:
            self.parts.append("$")
            self.at += 2
        else:
            self.parts.append("\\")
            self.at += 1

    def variable(self) -> None:
        begin = self.at
        braced = self.line[self.at + 1 : self.at + 2] == "{"
        name = _VARIABLE.match(self.line, self.at + 1 + braced)
        if name is None:
            raise BadLine("the name of a variable must begin with a letter", self.at + 1)
        self.at = name.end()
        default = ""
        has_default = False
        if braced:
            if self.line.startswith("[*]", self.at):
                self.at += 3
            end = self.line.find("}", self.at)
            has_default = self.line[self.at : self.at + 1] == "-"
            if end < 0 or (end > self.at and not has_default):
                raise BadLine("the brace of a variable is not closed", begin + 1)
            default = self.line[self.at + 1 : end]
            self.at = end + 1
        known = self.environment.get(name[0], default if has_default else None)
        if known is None:
            self.open = True
            known = f"${{{name[0]}}}"
        self.parts.append(known)
