"""The text of a file or of standard input, as far as there is an end to it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import BinaryIO

from pilotage.core.errors import InvalidInput
from pilotage.core.paths import why_closed

MOST_BYTES = 2**29
"""A file that is longer is no manifest: a device, a pipe that nobody ends, a file that somebody writes to."""
_CHUNK = 2**18
_MARKS = (b"\xff\xfe", b"\xfe\xff")


class Unreadable(Exception):
    """There is no text to be had, for a reason that is one sentence."""


def text_of(path: Path) -> str:
    """The text of a file.

    Raises:
        Unreadable: it cannot be opened, or does not end.
    """
    try:
        with path.open("rb", buffering=0) as file:
            return _text(file)
    except OSError as error:
        raise Unreadable(f"cannot be read: {why_closed(path, error)}") from error


def standard_input() -> str:
    """What somebody sends to this process.

    Raises:
        InvalidInput: it is closed.
        Unreadable: it cannot be read, or does not end.
    """
    if sys.stdin is None:
        raise InvalidInput("standard input is closed", hint="Name files or folders, or send something to it.")
    try:
        return _text(sys.stdin.buffer)
    except OSError as error:
        raise Unreadable(f"cannot be read: {error.strerror}") from error


def decoded(content: bytes | bytearray) -> str:
    """Bytes as text; what is no UTF-8 stays in it as half characters."""
    if content[:2] in _MARKS:
        return content.decode("utf-16", "replace")
    return content.decode("utf-8", "surrogateescape").removeprefix("\ufeff")


def holds_zeros(text: str | bytes) -> bool:
    """Whether something is no text; a zero in a later document is that document's fault."""
    if isinstance(text, bytes):
        return text[:2] not in _MARKS and b"\0" in text.partition(b"\n---")[0]
    return "\0" in text.partition("\n---")[0]


def _text(file: BinaryIO) -> str:
    content = bytearray()
    while chunk := file.read(_CHUNK):
        content += chunk
        # What is no text need not be read to its end, which a device does not have.
        if len(content) == len(chunk) and holds_zeros(chunk):
            break
        if len(content) > MOST_BYTES:
            raise Unreadable(f"longer than {MOST_BYTES >> 20} MiB, or without an end")
    return decoded(content)
