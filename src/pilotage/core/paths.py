"""Looks at paths that a user named, or that a file names: whatever they are, looking raises nothing.

The methods of `Path` raise where a folder may not be entered, where links go in a circle and where a name is
too long; such a path is neither file nor folder, and whoever opens it then tells why.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

MOST_BYTES = 2**26
"""Files that people write, and lists of findings, are shorter."""


def is_folder(path: Path) -> bool:
    """Whether a path leads to a folder that can be looked at."""
    return os.path.isdir(path)  # noqa: PTH112 - the method raises


def is_file(path: Path) -> bool:
    """Whether a path leads to a file that can be looked at."""
    return os.path.isfile(path)  # noqa: PTH113 - the method raises


def is_special(path: Path) -> bool:
    """Whether a path leads to a pipe, a socket or a device: reading it may never end."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def is_absent(path: Path) -> bool:
    """Whether nothing has this name, not even a link that leads nowhere."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False


def real_path(path: Path) -> Path:
    """Where a path leads, as far as its links can be followed."""
    return Path(os.path.realpath(path))


def at_home(path: str) -> Path:
    """A path with `~` put in; as it is where there is no such home."""
    return Path(os.path.expanduser(path))  # noqa: PTH111 - the method raises


def read_bytes(path: Path, most_bytes: int = MOST_BYTES) -> bytes:
    """All of a file that has an end.

    Raises:
        OSError: it cannot be read, or is longer than that, as a device is.
    """
    with path.open("rb") as file:
        content = file.read(most_bytes + 1)
    if len(content) > most_bytes:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), str(path))
    return content


def why_closed(path: Path, error: OSError) -> str:
    """Why a path cannot be opened, as the system has it; a link that leads nowhere is told as that."""
    if isinstance(error, FileNotFoundError) and path.is_symlink():
        return "it is a link that leads nowhere"
    if error.errno == errno.ENXIO:
        return "it is a socket, or a device that is not there"
    return error.strerror or str(error)
