"""What one line of YAML in block form says by itself.

It is worked out once, since the same lines stand in manifest after manifest.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from pilotage.checks.plain_words import NO_TEXT, WORDS, key_text

SKIP, WHOLE, PLAIN, OPEN, FRESH, QUOTE, LITERAL, DASH, OTHER = range(9)
"""What a line says: nothing; a word that is whole; one that may go on below; a value that may follow below;
a list or a mapping, which each document needs for itself; a quote that does not end; a literal follows; an
item; anything else."""

_PLAIN_KEY = r"(?P<plain>(?:[A-Za-z0-9_/]|\.[A-Za-z])[\w./-]{0,200})"
_QUOTED_KEY = r""""(?P<double>[^"\\]{0,200})"|'(?P<single>[^']{0,200})'"""
KEYED = re.compile(rf"(?:{_PLAIN_KEY}|{_QUOTED_KEY}):(?: +(?P<text>.*))?", re.ASCII)
"""A key and what stands behind it."""
_USUAL = re.compile(r"""( *)([A-Za-z][\w./-]{0,200}):(?: ([A-Za-z/][\w./-]*|"[^"\\\t]*"|))?""", re.ASCII)
"""What most lines are: a key with a word that begins like a name, with one in quotes, or with nothing."""
_DOUBLE = re.compile(r'"((?:[^"\\]|\\["\\nt])*)"(?: +#.*| *)')
_SINGLE = re.compile(r"'((?:[^']|'')*)'(?: +#.*| *)")
_ESCAPE = re.compile(r"\\(.)")
_ESCAPED = {"n": "\n", "t": "\t"}
_IN_BRACKETS = r""" *(?:"[^"\\]*"|'[^']*'|[A-Za-z0-9/][\w./-]*) *"""
_BRACKETS = re.compile(rf"\[( *|{_IN_BRACKETS}(?:,{_IN_BRACKETS})*)\](?: +#.*| *)", re.ASCII)
_ITEM = re.compile(r""""([^"]*)"|'([^']*)'|([^\[\]#'" ,]+)""")
_NOT_PLAIN = frozenset(",[]{}#&*!|>'\"%@`?")
"""With these no plain word begins; with a question mark one might, but hardly any does."""
_MOST_LINES = 50_000


class Line(NamedTuple):
    """What a line says.

    Attributes:
        column: where it begins, from 0.
        what: one of the above.
        value: the word, the list, the marks of a literal; of an item the line without its dash.
        key: the key; None where it has none.
    """

    column: int
    what: int
    value: Any = None
    key: str | None = None


class _Lines(dict[str, Line]):
    """Lines already seen."""

    def __missing__(self, text: str) -> Line:
        line = _line(text)
        if len(self) < _MOST_LINES:
            self[text] = line
        return line


LINES = _Lines()
"""Text of a line -> what it says."""


def _line(text: str) -> Line:
    match = _USUAL.fullmatch(text)
    if match is not None:
        blanks, key, word = match.groups()
        if key not in NO_TEXT and word not in NO_TEXT:
            if not word:
                return Line(len(blanks), OPEN, None, key)
            if word[0] == '"':
                return Line(len(blanks), WHOLE, word[1:-1], key)
            return Line(len(blanks), PLAIN, word, key)
    return _unusual_line(text)


def _unusual_line(text: str) -> Line:
    body = text.lstrip(" ")
    column = len(text) - len(body)
    if not body or body[0] == "#":
        return Line(column, SKIP)
    if "\t" in body or body.startswith("- - - "):
        return Line(column, OTHER)
    if body[0] == "-" and body[1:2] in {"", " "}:
        # An item says what its line would say without the dash.
        return Line(column, DASH, _line(f"{text[:column]} {body[1:]}"))
    match = KEYED.fullmatch(body)
    if match is None:
        return Line(column, *_word(body))
    plain, double, single, value = match.groups()
    key = _name(plain) if plain is not None else single if double is None else double
    return Line(column, OTHER) if key is None else Line(column, *_word(value or "#"), key)


def _name(word: str) -> str | None:
    """A plain word as a key; None where it is none."""
    value = WORDS[word]
    if value.__class__ is not tuple:
        return None
    try:
        return value[0] if value[0].__class__ is str else key_text(value[0])
    except ValueError:
        return None


def _word(text: str) -> tuple[int, Any]:
    """What a text says that stands for a value."""
    first = text[0]
    if first == "#":
        return OPEN, None
    if first in "\"'[{|":
        return _marked(text)
    word, comment, _ = text.partition(" #")
    word = word.rstrip(" ")
    if first in _NOT_PLAIN or ": " in word or word[-1] == ":" or (first in "-:" and word[1:2] in {"", " "}):
        return OTHER, None
    value = WORDS[word]
    if value.__class__ is not tuple:
        return OTHER, None
    return WHOLE if comment else PLAIN, value[0]


def _marked(text: str) -> tuple[int, Any]:
    """What a text says that begins with a mark."""
    first, bare = text[0], text.rstrip(" ")
    if first == "|" and bare in {"|", "|-", "|+"}:
        return LITERAL, bare[1:]
    if first == "{" and bare == "{}":
        return FRESH, {}
    if first == "[" and (match := _BRACKETS.fullmatch(text)) is not None:
        return _items(match[1])
    if first in "'\"":
        word = unquoted(text)
        return (WHOLE, word) if word is not None else (QUOTE, bare)
    return OTHER, None


def _items(text: str) -> tuple[int, Any]:
    found = []
    for double, single, plain in _ITEM.findall(text):
        value = WORDS[plain] if plain else (double or single,)
        if value.__class__ is not tuple:
            return OTHER, None
        found.append(value[0])
    return FRESH, found


def unquoted(text: str) -> str | None:
    """A word in quotes, perhaps with a comment behind; None where the quotes do not end so."""
    if text[0] == "'":
        match = _SINGLE.fullmatch(text)
        return None if match is None else match[1].replace("''", "'")
    match = _DOUBLE.fullmatch(text)
    return None if match is None else _ESCAPE.sub(lambda found: _ESCAPED.get(found[1], found[1]), match[1])
