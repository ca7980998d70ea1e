"""YAML as programs write it, read line by line, several times as fast as by a parser of all of YAML.

Manifests are mappings and lists in block form with plain or quoted words. What each line says is known from
the last time that it was met, so that a document is a matter of columns. Whatever else YAML knows (anchors,
tags, braces …) makes the reader give up, and so does every mistake: it never tells what is wrong, and where
it gives a value, that is the one of `dialect.load_any`.
"""

from __future__ import annotations

from typing import Any

from pilotage.checks.plain_words import WORDS
from pilotage.checks.yaml_lines import (
    DASH,
    FRESH,
    KEYED,
    LINES,
    LITERAL,
    OPEN,
    OTHER,
    PLAIN,
    QUOTE,
    SKIP,
    WHOLE,
    Line,
    unquoted,
)

_USUAL = bytes([9, 10, *range(32, 127)])
_BELOW = {WHOLE, FRESH, LITERAL}
"""What may stand alone below a key or a dash."""
_DEEPEST = 100
_MOST_COMMON = 12
"""Rows of what is worth comparing with other documents: longer ones hardly ever are the same."""


class Unsure(Exception):
    """There is something in a text that takes a parser of all of YAML."""


Common = dict[int, Any]
"""Mappings and lists that stand in many documents, by a hash of their lines."""


def read_blocks(text: str, common: Common | None = None) -> Any:
    """The value of a document.

    Args:
        text: the document, with the end of its last line.
        common: what other documents hold, so that of the same mapping or list there is one only.

    Raises:
        Unsure: it is not so simple, or it is wrong.
    """
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    if not text.endswith("\n") or _odd(text):
        raise Unsure
    return _Reader(text.split("\n")[:-1], common).read()


def _odd(text: str) -> bool:
    """Whether it holds signs that no reader of YAML takes, or that may stand for the end of a line."""
    if text.isascii():
        return bool(text.encode().translate(None, _USUAL))
    return not text.replace("\n", "").replace("\t", "").isprintable()


def _marks(text: str, mark: str) -> int:
    """How many quotes begin or end in a text; a guess, where there are backslashes."""
    return text.count(mark) - text.count(f"\\{mark}")


class _Reader:
    """One document.

    Args:
        rows: its lines.
        common: what other documents hold.
    """

    def __init__(self, rows: list[str], common: Common | None) -> None:
        self.rows = rows
        self.common = common
        self.at = 0
        self.edge = 0
        """No word goes on from before this row."""
        self.top: Any = [None]
        """The mapping or list that is being read, its column and first row, and those around it."""
        self.column = -1
        self.begun = 0
        self.around: list[tuple[Any, int, int, Any]] = []
        self.slot: Any = 0
        """Where in it a value stands that may follow below, and whether one may."""
        self.open = True

    def read(self) -> Any:
        """The value of all rows."""
        root, rows, known = self.top, self.rows, LINES
        while self.at < len(rows):
            line = known[rows[self.at]]
            self.at += 1
            column, what, value, key = line
            if what == SKIP:
                continue
            top = self.top
            if (
                what <= OPEN
                and column == self.column
                and key is not None
                and top.__class__ is dict
                and key not in top
            ):
                top[key] = value
                self.slot = key
                self.open = what == OPEN
            else:
                self._take(line)
        if self.common is not None:
            while len(self.around) > 1:
                self._end(self.at)
        if root[0] is None:
            raise Unsure
        return root[0]

    def _take(self, line: Line) -> None:
        column, what, value, key = line
        item = what == DASH
        if column > self.column and not self.open:
            self._go_on()
            return
        if key is None and not item:
            if column <= self.column or what not in _BELOW or not self.around:
                raise Unsure
            self._put(what, value)
            return
        if column > self.column:
            self._begin(column, [] if item else {})
        else:
            self._leave(column, item=item)
        if item:
            self._item(value)
            return
        if self.top.__class__ is not dict or key in self.top:
            raise Unsure
        self.slot = key
        self._put(what, value)

    def _begin(self, column: int, made: Any) -> None:
        """What stands below a key or a dash."""
        if len(self.around) > _DEEPEST:
            raise Unsure
        self.top[self.slot] = made
        self.around.append((self.top, self.column, self.begun, self.slot))
        self.top, self.column, self.begun, self.open = made, column, self.at - 1, False

    def _end(self, row: int) -> None:
        """Goes back to what holds a mapping or list that ends before a row."""
        made, begun = self.top, self.begun
        self.top, self.column, self.begun, slot = self.around.pop()
        if self.common is not None and row - begun <= _MOST_COMMON:
            mark = hash(tuple(self.rows[begun:row])) + (made.__class__ is list)
            known = self.common.setdefault(mark, made)
            if known is not made and known == made:
                self.top[slot] = known

    def _leave(self, column: int, *, item: bool) -> None:
        """Goes back to what has this column."""
        while column < self.column or (column == self.column and not item and self.top.__class__ is list):
            self._end(self.at - 1)
            self.open = False
        if column != self.column:
            raise Unsure
        if item and self.top.__class__ is dict:
            # The items of a list may stand right below its key.
            if not self.open:
                raise Unsure
            self._begin(column, [])

    def _item(self, line: Line) -> None:
        self.top.append(None)
        self.slot = -1
        self.open = True
        if line.key is not None or line.what == DASH:
            self._take(line)
        elif line.what != SKIP:
            self._put(line.what, line.value)

    def _put(self, what: int, value: Any) -> None:
        if what == OTHER:
            raise Unsure
        if what == FRESH:
            value = value.copy()
        elif what == LITERAL:
            value = self._literal(value)
        elif what == QUOTE:
            value = self._quoted(value)
        self.top[self.slot] = value
        self.open = what == OPEN

    def _go_on(self) -> None:
        """A plain word of a row above that goes on in this one, and perhaps in further ones."""
        start = self.at - 2
        while start >= self.edge and not self.rows[start].strip(" "):
            start -= 1
        row = self.rows[start]
        line = LINES[row]
        while line.what == DASH:
            row = row.replace("-", " ", 1)
            line = line.value
        if start < self.edge or line.what != PLAIN:
            raise Unsure
        self.at = start + 1
        body = row.strip(" ")
        keyed = KEYED.fullmatch(body)
        word = WORDS[self._joined(body if keyed is None else keyed["text"])]
        if word.__class__ is not tuple:
            raise Unsure
        self.top[-1 if line.key is None else line.key] = word[0]

    def _joined(self, word: str) -> str:
        """A plain word with what it goes on with."""
        blank = 0
        while self.at < len(self.rows):
            row = self.rows[self.at]
            text = row.strip(" ")
            if text and (len(row) - len(row.lstrip(" ")) <= self.column or text[0] == "#"):
                break
            if ": " in text or text[-1:] == ":" or " #" in text or "\t" in text:
                raise Unsure
            if text:
                word += ("\n" * blank or " ") + text
            blank = 0 if text else blank + 1
            self.at += 1
        self.edge = self.at
        return word

    def _quoted(self, word: str) -> str:
        """A word in quotes that end in a row below."""
        mark, blank = word[0], 0
        count = _marks(word, mark)
        while count % 2:
            row = self.rows[self.at] if self.at < len(self.rows) else "#"
            text = row.strip(" ")
            deeper = not text or row.startswith(" " * (self.column + 1))
            # What looks like a comment may be one, and hold quotes of its own.
            if not deeper or "\t" in text or " #" in f" {text}":
                raise Unsure
            if text:
                word += ("\n" * blank or " ") + text
                count += _marks(text, mark)
            blank = 0 if text else blank + 1
            self.at += 1
        self.edge = self.at
        found = unquoted(word)
        if found is None:
            raise Unsure
        return found

    def _literal(self, chomp: str) -> str:
        """The text of a literal, which ends as the mark behind its head says."""
        rows = self.rows
        first = self.at
        while first < len(rows) and not rows[first].strip(" "):
            first += 1
        body = rows[first].lstrip(" ") if first < len(rows) else ""
        column = len(rows[first]) - len(body) if body else 0
        if first == self.at and column <= self.column and chomp != "+":
            self.edge = first
            return ""
        too_deep = any(len(row) > column for row in rows[self.at : first])
        if column <= self.column or too_deep or body[0] == "\t":
            raise Unsure
        found: list[str] = []
        margin = " " * column
        while self.at < len(rows):
            row = rows[self.at]
            if not row.startswith(margin) and row.strip(" "):
                break
            found.append(row[column:])
            self.at += 1
        self.edge = self.at
        while chomp != "+" and not found[-1]:
            found.pop()
        return "\n".join(found) + ("" if chomp == "-" else "\n")
