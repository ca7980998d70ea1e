"""From the text of a Corefile to its server blocks, as CoreDNS reads it; what is broken is told."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

import msgspec

from pilotage.checks.coredns.model import Corefile, Entry, ServerBlock
from pilotage.checks.readers.reading import Problem, Trouble
from pilotage.checks.texts import Text
from pilotage.core.regex import regex

Find = Callable[[str], Sequence[Text] | None]
"""The texts that an import means; None where they cannot be known."""

_LOOK = regex(r"^[ \t]*[^\s{}#;=][^\n{}#;=]{0,300}[ \t]\{[ \t]*(?:#[^\n]*)?$|^[ \t]*\.[ \t]+\{", re.MULTILINE)
_PLUGIN = regex(
    r"^[ \t]*(?:forward[ \t]+\S+[ \t]+\S|kubernetes(?:[ \t]|$)|cache(?:[ \t]+\d+)?[ \t]*(?:\{|$)"
    r"|errors[ \t]*$"
    r"|loadbalance|reload(?:[ \t]+\d+\w+)?[ \t]*$|prometheus(?:[ \t]|$)|whoami[ \t]*$)",
    re.MULTILINE,
)
_WORD = regex(
    r'(?P<comment>#[^\n]*)|"(?P<quoted>(?:\\.|[^"\\])*)(?:"|\Z)|(?P<plain>[^\s#]+)(?:#\S*)?',
    re.DOTALL,
)
_TEMPLATE = regex(r"\{\{[^\n]*\}\}|\{%-?[ \t]|<%")
_DEEPEST = 20
_LARGEST = 2_000_000
_MOST_IMPORTS = 1000
_MOST_WORDS = 400_000


def looks_like_corefile(text: str) -> bool:
    """Whether a text has a server block and plugins that only CoreDNS knows."""
    return _LOOK.search(text) is not None and _PLUGIN.search(text) is not None


class _Word(msgspec.Struct, frozen=True):
    text: str
    line: int
    column: int
    quoted: bool
    where: Text

    def is_sign(self, sign: str) -> bool:
        return self.text == sign and not self.quoted


def _words(where: Text) -> Iterator[_Word]:
    """The words of a text; a `#` inside of a word hides the rest of the word, not of the line."""
    line, begin, at = 1, 0, 0
    for match in _WORD.finditer(where.content):
        line += where.content.count("\n", at, match.start())
        begin = where.content.rfind("\n", begin, match.start()) + 1 or begin
        at, column = match.start(), match.start() - begin + 1
        if match["comment"] is not None:
            continue
        quoted = match["quoted"]
        if quoted is not None:
            yield _Word(quoted.replace('\\"', '"'), line, column, True, where)
        else:
            yield _Word(match["plain"], line, column, False, where)


class _Broken(Exception):
    def __init__(self, word: _Word, message: str) -> None:
        super().__init__(message)
        self.word = word
        self.message = message


def parse(text: Text, find: Find = lambda _: None) -> Corefile:
    """The Corefile of a text.

    Args:
        text: the text and where it stands.
        find: the texts that an import means.
    """
    corefile = Corefile(text, texts=[text])
    if len(text.content) > _LARGEST:
        message = f"larger than {_LARGEST // 1_000_000} MB, so it is not read"
        corefile.problems.append(Problem(text.place(1, 1), message, Trouble.BROKEN))
        return corefile
    template = _TEMPLATE.search(text.content)
    if template is not None:
        line = text.content.count("\n", 0, template.start()) + 1
        message = "looks like an unrendered template: render it first"
        corefile.problems.append(Problem(text.place(line, 0), message, Trouble.TEMPLATE, grave=False))
        return corefile
    try:
        _Parser(corefile, find).read(list(_words(text)))
    except _Broken as error:
        place = error.word.where.place(error.word.line, error.word.column)
        corefile.problems.append(
            Problem(place, f"CoreDNS would not read it: {error.message}", Trouble.BROKEN)
        )
    return corefile


class _Parser:
    """Reads server blocks; an import outside of them or in them is replaced by what it means."""

    def __init__(self, corefile: Corefile, find: Find) -> None:
        self.corefile = corefile
        self.find = find
        self.snippets: dict[str, list[_Word]] = {}
        self.words: list[_Word] = []
        self.at = 0
        self.imports = 0
        self.opened = False
        """Whether the block that is being read imports what could not be followed."""

    def read(self, words: list[_Word]) -> None:
        """Reads all words of a text."""
        self.words = words
        while self.at < len(self.words):
            if self._importing():
                self._import(outside=True)
            else:
                self._block()

    def _next(self) -> _Word | None:
        return self.words[self.at] if self.at < len(self.words) else None

    def _new_line(self, position: int) -> bool:
        """Whether a word is the first on its line."""
        if position == 0:
            return True
        one, before = self.words[position], self.words[position - 1]
        return one.where is not before.where or one.line > before.line + before.text.count("\n")

    def _importing(self) -> bool:
        word = self._next()
        return word is not None and word.is_sign("import") and self._new_line(self.at)

    def _import(self, *, outside: bool) -> None:
        """Puts the words that an import means in its place."""
        start = self.at
        if start + 1 >= len(self.words) or self._new_line(start + 1):
            raise _Broken(self.words[start], "import names nothing")
        pattern = self.words[start + 1]
        if start + 2 < len(self.words) and not self._new_line(start + 2):
            raise _Broken(self.words[start + 2], "import takes one argument")
        brought = self._brought(pattern)
        if brought is None:
            if outside:
                self.corefile.open = True
            self.opened = True
            self.corefile.lost.append((pattern.text, pattern.where.place(pattern.line, pattern.column)))
            brought = []
        self.imports += 1
        if self.imports > _MOST_IMPORTS or len(self.words) + len(brought) > _MOST_WORDS:
            raise _Broken(pattern, "imports unfold without end")
        self.words[start : start + 2] = brought

    def _brought(self, pattern: _Word) -> list[_Word] | None:
        if pattern.text in self.snippets:
            return self.snippets[pattern.text]
        found = self.find(pattern.text)
        if found is None:
            return None
        known = {one.identity for one in self.corefile.texts}
        self.corefile.texts += [one for one in found if one.identity not in known]
        return [word for text in found for word in _words(text)]

    def _block(self) -> None:
        keys: list[_Word] = []
        braced = False
        while (word := self._next()) is not None:
            if word.is_sign("{"):
                braced = True
                self.at += 1
                break
            if keys and self._new_line(self.at) and not keys[-1].text.endswith(","):
                break
            keys.append(word)
            self.at += 1
        if not keys:
            raise _Broken(self.words[self.at - 1], "a server block without a zone")
        if keys[0].is_sign("}"):
            raise _Broken(keys[0], "unexpected `}`")
        names = tuple(name for key in keys if (name := key.text.removesuffix(",")))
        name = names[0] if names else ""
        if braced and len(names) == 1 and name.startswith("(") and name.endswith(")"):
            self.snippets[name[1:-1]] = self._raw(keys[0])
            return
        head = Entry(name, names[1:], keys[0].where, keys[0].line, keys[0].column)
        block = ServerBlock(names, head)
        self.opened = False
        block.plugins = self._entries(keys[0], braced=braced, depth=0)
        block.open = self.opened
        self.corefile.blocks.append(block)

    def _raw(self, head: _Word) -> list[_Word]:
        """The words of a snippet, up to its brace."""
        start, depth = self.at, 1
        while (word := self._next()) is not None:
            depth += word.is_sign("{") - word.is_sign("}")
            self.at += 1
            if depth == 0:
                return self.words[start : self.at - 1]
        raise _Broken(head, "its `{` is never closed")

    def _entries(self, head: _Word, *, braced: bool, depth: int) -> list[Entry]:
        """The lines of a block, with the blocks inside of them."""
        if depth > _DEEPEST:
            raise _Broken(head, f"nested more than {_DEEPEST} levels deep")
        found: list[Entry] = []
        while (word := self._next()) is not None:
            if self._importing():
                self._import(outside=False)
                continue
            if word.is_sign("}"):
                # A single block may go without its opening brace, and have the closing one all the same.
                self.at += 1
                return found
            found.append(self._entry(word, depth))
        # At the end of a text the brace of a plugin closes the block around it as well.
        if braced and not self.words[-1].is_sign("}"):
            raise _Broken(head, "its `{` is never closed")
        return found

    def _entry(self, word: _Word, depth: int) -> Entry:
        self.at += 1
        args: list[str] = []
        items: list[Entry] = []
        while (following := self._next()) is not None and not self._new_line(self.at):
            if following.is_sign("{"):
                self.at += 1
                items = self._entries(word, braced=True, depth=depth + 1)
                break
            if following.is_sign("}"):
                break
            args.append(following.text)
            self.at += 1
        return Entry(word.text, tuple(args), word.where, word.line, word.column, items)
