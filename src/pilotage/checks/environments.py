"""What a manifest is for, by where it lies: whether anybody relies on what it makes."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable

from pilotage.core.regex import regex

_TRIED_IN = frozenset("dev develop development e2e hack k3d kind local minikube sandbox".split())
_TRIED = frozenset("dev development minikube kind".split())
"""Environments in which people try things: folders, and words of a file's name."""
_TRIED_AT_LAST = frozenset("dev development test testing sandbox minikube".split())
_SURROUNDINGS = frozenset("cluster clusters env environment environments overlay".split())
"""First or last word of a folder's name: `k8s-dev`, `cluster-test`; `dev-cluster`, not `dev-tools`."""
_SHOWN = frozenset(
    "cookbook cookbooks demo demos example examples experiment experiments lesson lessons playground "
    "playgrounds poc quickstart quickstarts sample samples tutorial tutorials workshop workshops".split()
)
"""Words of folders and files for what is shown to somebody."""
_TAKEN_OUT = frozenset("archived deprecated disabled obsolete superseded unused".split())
"""Words of folders; of a file `disabled` says what it is about."""
_FOLDERS = frozenset(
    "archive archives attic benchmark benchmarks exercises getting-started graveyard hands-on legacy old "
    "retired test testing tests".split()
)
_CHAPTER = regex(r"(?:chapter|ch|lesson|lab|exercise|demo|example)[-_ ]?\d+")
_TAUGHT = regex(r"(?:chapter|ch|lesson|exercise)[-_ ]?\d+|lessons?|exercises?|solutions?")
_SOLUTIONS = frozenset({"solution", "solutions"})
_AT_THE_TOP = frozenset("course doc docs documentation labs learn learning training".split())
"""Folders that only the first one is taken for: further down each may be the name of a program."""
_WORD = regex(r"[-_.]")


@functools.lru_cache(maxsize=4096)
def in_use(name: str, asked: frozenset[str] = frozenset()) -> bool:
    """Whether what a file makes may be what somebody relies on.

    It is not where folders or a name say that it is for development, shown as an example or in a lesson, or
    kept though it is out of use.

    Args:
        name: the file as a finding shows it.
        asked: what was asked for, absolute. Whoever names a folder of examples means it, so that only what
            lies below counts; an environment is one by its own name as well, unless that is absolute: people
            keep their work in folders of such names.
    """
    *folders, last = _parts(_below(name, asked))
    words = set(_WORD.split(last)[:-1])
    if words & (_TRIED | _SHOWN) or (folders and folders[0] in _AT_THE_TOP):
        return False
    if any(_says_so(folder) for folder in folders):
        return False
    above = [] if name.startswith(("/", "~")) or ":" in name[:3] else _parts(name)
    return _TRIED_IN.isdisjoint(above[:-1]) and _TRIED.isdisjoint(_WORD.split("".join(above[-1:]))[:-1])


def taught(name: str, asked: frozenset[str] = frozenset()) -> bool:
    """Whether a file is part of a lesson, which is applied for an hour, on a cluster of its own.

    Args:
        name: the file as a finding shows it.
        asked: what was asked for, as for `in_use`.
    """
    return any(_TAUGHT.fullmatch(folder) for folder in _parts(_below(name, asked))[:-1])


def exercises(names: Iterable[str]) -> frozenset[str]:
    """Files whose solution lies in a folder beside them: what is wrong in them is the reader's to mend."""
    solved = (name.split("/") for name in names)
    return frozenset(
        "/".join((*one[:-2], one[-1])) for one in solved if len(one) > 1 and one[-2].lower() in _SOLUTIONS
    )


def _parts(name: str) -> list[str]:
    return name.lower().replace("\\", "/").split("/")


def _below(name: str, asked: frozenset[str]) -> str:
    """The part of a name below the nearest of what was asked for; only the last part where nothing tells."""
    full = above = os.path.abspath(name)  # noqa: PTH100 - links stay as they are named
    if full in asked:
        return ""
    while (above := os.path.dirname(above)) not in asked:  # noqa: PTH120
        if above == os.path.dirname(above):  # noqa: PTH120
            return name.rpartition("/")[2]
    return full[len(above) :].lstrip("/")


def _says_so(folder: str) -> bool:
    words = _WORD.split(folder)
    return (
        folder.strip("_-.") in _FOLDERS
        or folder in _TRIED_IN
        or not (_SHOWN | _TAKEN_OUT).isdisjoint(words)
        or words[-1] in _TRIED_AT_LAST
        or (words[0] in _TRIED_AT_LAST and words[-1] in _SURROUNDINGS)
        or _CHAPTER.fullmatch(folder) is not None
    )
