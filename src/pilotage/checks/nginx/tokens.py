"""Words of an nginx configuration with their places.

`crossplane` divides the text and knows the blocks of Lua code in it. It tells lines only, and only of files:
so the text goes through a temporary file, and columns are found by walking along the same text.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import msgspec


class Token(msgspec.Struct, frozen=True):
    """A word, or one of the signs `{`, `}` and `;`.

    Attributes:
        text: without its quotes.
        line: from 1.
        column: from 1.
        quoted: whether it stood in quotes or is a block of Lua.
    """

    text: str
    line: int
    column: int
    quoted: bool

    def is_sign(self, *signs: str) -> bool:
        """Whether it is one of the signs, and no word in quotes."""
        return not self.quoted and self.text in signs


class TokenError(Exception):
    """The text cannot be divided any further.

    Attributes:
        message: why.
        line: from 1; 0 where it is not known.
        excess: whether it is a closing brace too much, after which one can read on.
    """

    def __init__(self, message: str, line: int, *, excess: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.excess = excess


def tokens(text: str) -> Iterator[Token]:
    """The words of a text, comments left out.

    Args:
        text: with newlines as line ends.

    Raises:
        TokenError: braces do not match, or a block of Lua does not end.
    """
    # Only who has such a file pays for these.
    import tempfile  # noqa: PLC0415

    import crossplane  # noqa: PLC0415
    from crossplane.errors import NgxParserBaseException  # noqa: PLC0415

    walk = _Walk(text)
    with tempfile.TemporaryFile() as file:
        # The line end makes the last word whole; what cannot be encoded must stay one character.
        file.write(text.encode("utf-8", "replace") + b"\n")
        file.seek(0)
        try:
            for word, line, quoted in crossplane.lex(os.dup(file.fileno())):
                found = walk.step(word, line, quoted=quoted)
                if quoted or not word.startswith("#"):
                    yield found
        except NgxParserBaseException as error:
            message = str(error.strerror)
            raise TokenError(message, error.lineno or 0, excess=message == 'unexpected "}"') from error


class _Walk:
    """Where the reading is in the text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.line = 1
        self.begin = 0
        """Where the current line begins."""

    def step(self, word: str, line: int, *, quoted: bool) -> Token:
        """The place of the next word, with the reading moved behind it."""
        self._over_blanks()
        start = self.at
        sign = self.text[start : start + 1]
        if quoted and sign in {"'", '"'}:
            end = self._closing(start, sign)
        elif quoted and sign == "{":
            end = self._lua(start, word)
        elif self.text.startswith(word, start):
            end = start + len(word)
        else:
            # The sign that ends a block of Lua is not written: nothing moves.
            return Token(word, line, 1, quoted)
        found = Token(word, self.line, start - self.begin + 1, quoted)
        self._move(end)
        return found

    def _over_blanks(self) -> None:
        end = self.at
        while end < len(self.text) and self.text[end].isspace():
            end += 1
        self._move(end)

    def _move(self, end: int) -> None:
        lines = self.text.count("\n", self.at, end)
        if lines:
            self.line += lines
            self.begin = self.text.rfind("\n", self.at, end) + 1
        self.at = end

    def _closing(self, start: int, quote: str) -> int:
        at = start + 1
        while at < len(self.text) and self.text[at] != quote:
            at += 2 if self.text[at] == "\\" else 1
        return min(at + 1, len(self.text))

    def _lua(self, start: int, code: str) -> int:
        # Blanks before the code belong to it for us and not for crossplane.
        inner = self.text.find(code, start + 1)
        end = self.text.find("}", inner + len(code)) if inner >= 0 else -1
        return end + 1 if end >= 0 else start + 1
