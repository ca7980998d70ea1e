"""The state before a change: the files of a commit, laid out apart from the work tree, read like others."""

from __future__ import annotations

import contextlib
import glob
import os
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from pilotage.checks.readers.charts import CHART
from pilotage.checks.readers.files import STDIN
from pilotage.checks.readers.kustomize import FILES as KUSTOMIZATIONS
from pilotage.checks.readers.reading import Reading
from pilotage.clients.git import LINK, SUBMODULE, Entry, Repository
from pilotage.core.errors import InvalidInput
from pilotage.core.paths import is_absent, real_path

_LARGEST = 64 * 1024 * 1024


def read_before(paths: Sequence[str], ref: str, read: Callable[[list[str]], Reading]) -> Reading:
    """What the paths held where the present branch left another one.

    Args:
        paths: as the user names them.
        ref: the other branch, or a commit; what counts is the last commit in common.
        read: reads paths from the folder in which the process is.

    Raises:
        InvalidInput: a path is not in the repository.
        NotFound: no repository, no such commit, no common ancestor.
        ToolMissing: no Git.
    """
    here = Path.cwd().resolve()
    repository = Repository(here)
    inside = [_inside(repository.top.resolve(), here, path) for path in paths]
    base = repository.merge_base(repository.commit(ref))
    entries = [one for one in repository.entries(base) if one.mode != SUBMODULE and one.size <= _LARGEST]
    with tempfile.TemporaryDirectory(prefix="pilotage-") as folder:
        _lay_out(repository, _wanted(entries, inside), Path(folder))
        there = Path(folder) / here.relative_to(repository.top.resolve())
        there.mkdir(parents=True, exist_ok=True)
        # Read from there, so that every file has the name that it has here.
        with contextlib.chdir(there):
            names = [os.path.relpath(Path(folder) / path, there) for path in inside]
            return read([name for name in names if _is_there(name)])


def _is_there(name: str) -> bool:
    return not is_absent(Path(name)) or bool(glob.glob(name, recursive=True))  # noqa: PTH207 - user's own glob


def _inside(top: Path, here: Path, path: str) -> str:
    """The path from the top of the repository."""
    if path == STDIN:
        raise InvalidInput(
            "standard input has no history", hint="Name files or folders with --changed-since."
        )
    full = Path(os.path.normpath(here / path))
    if not full.is_relative_to(top) and not real_path(full).is_relative_to(top):
        raise InvalidInput(f"{path} is not in the repository {top.name}", hint="Name paths inside of it.")
    return str((full if full.is_relative_to(top) else real_path(full)).relative_to(top))


def _wanted(entries: list[Entry], paths: list[str]) -> list[Entry]:
    """The files under the paths; all, where a glob is among them or something there builds upon others."""
    if any(glob.has_magic(path) or path == "." for path in paths):
        return entries
    under = [
        one for one in entries if any(one.path == path or one.path.startswith(f"{path}/") for path in paths)
    ]
    builds = {CHART, *KUSTOMIZATIONS}
    return entries if any(one.path.rpartition("/")[2] in builds for one in under) else under


def _lay_out(repository: Repository, entries: list[Entry], folder: Path) -> None:
    for entry, content in repository.contents(entries):
        path = folder / entry.path
        if not Path(os.path.normpath(path)).is_relative_to(folder):
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        if entry.mode == LINK:
            _link(path, os.fsdecode(content), folder)
        else:
            path.write_bytes(content)


def _link(path: Path, target: str, folder: Path) -> None:
    # A link that leads out would show the present state, or files that are none of the repository's.
    if Path(os.path.normpath(path.parent / target)).is_relative_to(folder):
        path.symlink_to(target)
