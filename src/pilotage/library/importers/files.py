"""Opening what a user named: every way in which a path can disappoint becomes one clear error."""

from __future__ import annotations

import errno
import io
import lzma
import os
import stat
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from pilotage.core.errors import InvalidInput, NotFound, PilotageError
from pilotage.library.decoding.strict_json import Joined
from pilotage.library.importers.model import HEAD_BYTES, OnSkip, Progress, Source

_BUFFER = 256 * 1024
ZIP_ERRORS = (
    zipfile.BadZipFile,
    zipfile.LargeZipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    NotImplementedError,
    RuntimeError,
    OSError,
    ValueError,
)
"""What the zipfile module raises on damaged, encrypted or exotic archives."""


class _Counted(io.RawIOBase):
    """A stream that reports what was read and turns the system's errors into ours."""

    def __init__(self, stream: BinaryIO, name: str, progress: Progress | None) -> None:
        super().__init__()
        self._stream = stream
        self._name = name
        self._progress = progress

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            data = self._stream.read(len(buffer))
        except ZIP_ERRORS as error:
            raise InvalidInput(
                f"{self._name}: cannot be read to its end: {error}",
                hint="The file is damaged or cut off; fetch it again.",
            ) from error
        if self._progress is not None:
            self._progress(len(data))
        buffer[: len(data)] = data
        return len(data)


def open_stream(name: str, stream: BinaryIO, progress: Progress | None = None) -> Source:
    """A source of an open stream.

    Args:
        name: the file, for messages and detection.
        stream: at its beginning.
        progress: told of every part that is read.

    Raises:
        InvalidInput: its first bytes cannot be read.
    """
    counted = io.BufferedReader(_Counted(stream, name, progress), _BUFFER)
    head = counted.read(HEAD_BYTES)
    return Source(name, head, io.BufferedReader(Joined(head, counted), _BUFFER))


def open_path(path: Path) -> BinaryIO:
    """The file, open for reading.

    Raises:
        InvalidInput: it may not be read.
        NotFound: it is not there.
    """
    try:
        return path.open("rb")
    except OSError as error:
        raise path_error(path, error) from error


def kind_of(path: Path) -> str:
    """`file` or `folder`.

    Raises:
        NotFound: nothing is there, or a link leads nowhere.
        InvalidInput: it is something else, or may not be looked at.
    """
    try:
        mode = path.stat().st_mode
    except ValueError as error:
        raise NotFound(f"{str(path)!r} is no name of a file", hint="Check the name.") from error
    except OSError as error:
        raise path_error(path, error) from error
    if stat.S_ISDIR(mode):
        return "folder"
    if stat.S_ISREG(mode):
        return "file"
    raise InvalidInput(
        f"{path}: a pipe, socket or device, no file",
        hint="Pipe the data to standard input and write '-' as the path.",
    )


def path_error(path: Path, error: OSError) -> PilotageError:
    """The system's error on a path in our words."""
    if error.errno == errno.ENOENT and path.is_symlink():
        return NotFound(f"{path}: the link leads nowhere", hint="Its target was moved or deleted.")
    if error.errno in {errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG}:
        return NotFound(f"{path}: no such file or folder", hint="Check the path.")
    if error.errno == errno.ELOOP:
        return InvalidInput(
            f"{path}: a link that leads back to itself", hint="Give the path of the file itself."
        )
    if error.errno in {errno.EACCES, errno.EPERM}:
        return InvalidInput(f"{path}: you may not read it", hint="Ask its owner, or check its permissions.")
    return InvalidInput(
        f"{path}: cannot be read: {error.strerror or error}", hint="Check the disk and the path."
    )


def walk(root: Path, on_skip: OnSkip) -> Iterator[Path]:
    """The files under a folder in the order of their names; hidden ones are passed over silently.

    Links to files inside of the folder are followed, so that mounted ConfigMaps can be read; others are
    skipped.

    Raises:
        InvalidInput: a folder may not be read.
    """
    top = Path(os.path.realpath(root))
    queue = [root]
    while queue:
        folder = queue.pop()
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError as error:
            raise path_error(folder, error) from error
        for entry in entries:
            path = Path(entry.path)
            if entry.name.startswith("."):
                continue
            if entry.is_symlink() and not _inside(path, top):
                on_skip(entry.path, "a link that leads to no file in the folder")
            elif entry.is_file():
                yield path
            elif not entry.is_dir(follow_symlinks=False):
                on_skip(entry.path, "no regular file")
        queue += [
            Path(e.path) for e in reversed(entries) if e.is_dir(follow_symlinks=False) and e.name[0] != "."
        ]


def _inside(path: Path, top: Path) -> bool:
    """Whether a link ends at a regular file under the top."""
    target = Path(os.path.realpath(path))
    return target.is_relative_to(top) and target.is_file()
