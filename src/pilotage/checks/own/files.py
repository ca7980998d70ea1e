"""Finds the files of users' checks; light, since every run that has a `pilotage.toml` may ask."""

from __future__ import annotations

import glob
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from pilotage.core.errors import NotFound
from pilotage.core.paths import is_absent, is_file, is_folder, read_bytes, real_path

_SUFFIXES = {".yaml", ".yml"}
_CHECKS = re.compile(rb"^(?:\xef\xbb\xbf)?checks\s*:", re.MULTILINE)
_BEGINS = "A file of checks is YAML that begins with 'checks:'."


def files_of(path: Path) -> list[Path]:
    """The files that a file, a folder or a glob means.

    What stands in a folder or fits a glob, and holds no checks, is passed over: manifests for their tests
    often lie beside them. A file that is named is always meant.

    Raises:
        NotFound: there is no such file, or none that holds checks.
    """
    if is_folder(path):
        found = list(_holding(path.rglob("*"), path))
        if not found:
            raise NotFound(f"{path} holds no file of checks", hint=_BEGINS)
        return found
    if not is_absent(path):
        return [path]
    if not glob.has_magic(str(path)):
        raise NotFound(f"{path} does not exist", hint="Name a file of checks, or a folder of them.")
    found = [
        file
        for hit in sorted(glob.glob(str(path), recursive=True))  # noqa: PTH207 - the way to it may be a pattern
        for file in _holding(Path(hit).rglob("*") if is_folder(Path(hit)) else [Path(hit)], Path(hit))
    ]
    if not found:
        raise NotFound(f"{path} means no file of checks", hint=_BEGINS)
    return found


def all_files(paths: Iterable[Path]) -> list[Path]:
    """The files of several such paths, each once, however it is named.

    Raises:
        NotFound: see `files_of`.
    """
    found: dict[Path, Path] = {}
    for path in paths:
        for file in files_of(path):
            found.setdefault(real_path(file), file)
    return list(found.values())


def _holding(candidates: Iterable[Path], folder: Path) -> Iterator[Path]:
    for one in sorted(candidates):
        hidden = any(part.startswith(".") for part in one.relative_to(folder).parts)
        if one.suffix in _SUFFIXES and not hidden and is_file(one) and _holds_checks(one):
            yield one


def _holds_checks(path: Path) -> bool:
    """Whether a file of a folder is meant; others are not ours to judge."""
    try:
        return _CHECKS.search(read_bytes(path)) is not None
    except OSError:
        return False
