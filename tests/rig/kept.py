"""What tests fetch once per machine, in the user's cache."""

from __future__ import annotations

import fcntl
import shutil
from collections.abc import Callable
from pathlib import Path

import platformdirs


def kept(name: str, make: Callable[[Path], None]) -> Path:
    """A folder of the cache; the first that needs it makes it, others wait, and none sees it half made.

    Args:
        name: says what is in it and of which version.
        make: fills an empty folder, or raises.
    """
    root = Path(platformdirs.user_cache_dir("pilotage-tests"))
    folder = root / name
    if folder.exists():
        return folder
    root.mkdir(parents=True, exist_ok=True)
    with (root / f".{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            half = root / f".{name}.half"
            shutil.rmtree(half, ignore_errors=True)
            half.mkdir()
            make(half)
            half.rename(folder)
    return folder
