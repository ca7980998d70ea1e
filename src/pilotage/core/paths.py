"""Looks at paths that a user named, or that a file names: whatever they are, looking raises nothing.

The methods of `Path` raise where a folder may not be entered, where links go in a circle and where a name is
too long; such a path is neither file nor folder, and whoever opens it then tells why.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path


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


def why_closed(path: Path, error: OSError) -> str:
    """Why a path cannot be opened, as the system has it; a link that leads nowhere is told as that."""
    if isinstance(error, FileNotFoundError) and path.is_symlink():
        return "it is a link that leads nowhere"
    if error.errno == errno.ENXIO:
        return "it is a socket, or a device that is not there"
    return error.strerror or str(error)
