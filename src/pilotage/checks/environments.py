"""What a manifest is for, by where it lies: an environment in which people try things, or not."""

from __future__ import annotations

import functools
import re

_FOLDERS = frozenset("dev develop development e2e hack k3d kind local minikube sandbox".split())
_WORDS = frozenset("dev development minikube kind".split())
_WORD = re.compile(r"[-_.]")


@functools.lru_cache(maxsize=4096)
def for_development(name: str) -> bool:
    """Whether a folder of a file, or a word of its name, says that it is for development.

    Args:
        name: the file as it was asked for. One that is absolute tells nothing: people keep their work in
            folders of such names.
    """
    if name.startswith(("/", "~")) or ":" in name[:3]:
        return False
    *folders, last = name.lower().replace("\\", "/").split("/")
    return not _FOLDERS.isdisjoint(folders) or not _WORDS.isdisjoint(_WORD.split(last)[:-1])
