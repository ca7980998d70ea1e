"""Texts of a large scene that lie on disk until somebody wants a place in them.

Most of what was read is never asked for again: only a document with a finding is. A file without a name holds
the texts, so that they do not change meanwhile, whoever gave them (a folder, a pipe, a commit), and end with
the process.
"""

from __future__ import annotations

import errno
import os
import tempfile
import weakref

import msgspec


class Shelf:
    """Where texts lie. The file has no name, and only this process can read it.

    Raises:
        OSError: there is no folder for it.
    """

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - it is open as long as this is there
        self._end = 0
        weakref.finalize(self, self._file.close)

    def put(self, text: str) -> Aside:
        """Takes a text.

        Raises:
            OSError: there is no room for it.
        """
        # Every character has the same width, so that a part can be found; half a character is one as well.
        width = 1 if text.isascii() else 4
        data = text.encode("ascii") if width == 1 else text.encode("utf-32-le", "surrogatepass")
        self._file.seek(self._end)
        if self._file.write(data) != len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        found = Aside(self, self._end, len(text), width)
        self._end += len(data)
        return found

    def read(self, start: int, size: int) -> bytes:
        """Some of what it holds."""
        self._file.seek(start)
        return self._file.read(size)


class Aside(msgspec.Struct, frozen=True):
    """A text on a shelf.

    Attributes:
        shelf: the shelf.
        start: where it begins there.
        length: its characters.
        width: bytes of a character.
    """

    shelf: Shelf
    start: int
    length: int
    width: int

    def part(self, start: int, end: int) -> str:
        """The characters from one up to another."""
        end = min(end, self.length)
        data = self.shelf.read(self.start + start * self.width, max(end - start, 0) * self.width)
        return data.decode("ascii") if self.width == 1 else data.decode("utf-32-le", "surrogatepass")
