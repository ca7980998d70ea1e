"""Corefiles as files; what one imports from its folder is a part of it."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence

from pilotage.checks.coredns.model import Corefile
from pilotage.checks.coredns.parse import looks_like_corefile, parse
from pilotage.checks.objects import Place, SourceFile
from pilotage.checks.readers.folder import Folder
from pilotage.checks.readers.reading import Problem, Reading, Trouble
from pilotage.checks.texts import text_of_file


class CorefileReader:
    """Reads `Corefile`, `Corefile.*` and `*.corefile`."""

    patterns: Sequence[str] = ("Corefile", "Corefile.*", "corefile", "*.corefile", "*.Corefile")

    def wants(self, name: str, text: str) -> bool:
        """By name and look; what has no name that tells (standard input) by its look alone."""
        base = name.lower().rpartition("/")[2]
        if base.startswith("corefile") or base.endswith(".corefile"):
            return not base.endswith((".yaml", ".yml", ".json"))
        return "." not in base.lstrip("-") and looks_like_corefile(text) and "apiVersion" not in text

    def read(self, file: SourceFile, into: Reading, *, asked: bool) -> None:
        """Adds the Corefile; its imports are followed later, where it lies on this disk."""
        corefile = parse(text_of_file(file))
        take(corefile, into, asked=asked)
        if asked and not corefile.blocks and not corefile.problems:
            into.problems.append(
                Problem(Place(file.name), "no server block in this file", Trouble.UNREADABLE)
            )


def take(corefile: Corefile, into: Reading, *, asked: bool = False) -> None:
    """Adds a Corefile and what could not be read in it."""
    for problem in corefile.problems:
        grave = problem.grave or (asked and problem.trouble is Trouble.TEMPLATE)
        into.problems.append(Problem(problem.place, problem.message, problem.trouble, grave))
    if corefile.blocks:
        into.configs.append(corefile)


def join_imports(into: Reading) -> None:
    """Follows the imports of files on this disk, inside of the folder of each Corefile."""
    known: dict[str, SourceFile] = {}
    parts: set[str] = set()
    for position, one in enumerate(into.configs):
        if isinstance(one, Corefile) and one.holder is None and one.source is not None and one.unfinished:
            joined = parse(one.text, Folder(one.source, known).find)
            into.configs[position] = joined
            parts |= {os.path.realpath(source.name) for source in joined.sources[1:]}
    into.configs = [one for one in into.configs if not (isinstance(one, Corefile) and _is_part(one, parts))]
    for one in into.configs:
        if isinstance(one, Corefile) and one.holder is None:
            into.problems += _lost(one)


def _lost(corefile: Corefile) -> Iterator[Problem]:
    """The imports that lead nowhere. A pattern may mean no file, and a part's are meant from elsewhere."""
    for name, place in corefile.lost:
        if glob.has_magic(name) or corefile.source is None or place.file != corefile.source.name:
            continue
        message = f"`import {name}` names a file that is not here, so what it sets was not read"
        yield Problem(place, message, Trouble.UNREADABLE, grave=not name.startswith(("/", "..")))


def _is_part(corefile: Corefile, parts: set[str]) -> bool:
    source = corefile.source
    return corefile.holder is None and source is not None and os.path.realpath(source.name) in parts
