"""From what the user names to files: folders, globs, standard input; every file read at most once."""

from __future__ import annotations

import fnmatch
import glob
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from pilotage.checks.objects import Place, SourceFile
from pilotage.checks.readers.haproxy import HaproxyReader, join_haproxy
from pilotage.checks.readers.kustomize import drop_patches
from pilotage.checks.readers.manifests import ManifestReader
from pilotage.checks.readers.reading import FileReader, Problem, Reading, Trouble
from pilotage.core.errors import NotFound

READERS: tuple[FileReader, ...] = (HaproxyReader(), ManifestReader())
"""Every kind of file; the first that wants a file reads it."""

STDIN = "-"
_PASSED_OVER = {"node_modules", "__pycache__", "vendor"}


def read_paths(paths: Iterable[str], *, chart_defaults: bool = False) -> Reading:
    """Everything that the paths hold, as one.

    Args:
        paths: files, folders, globs, `-` for standard input.
        chart_defaults: whether they are charts that were rendered with their own default values.

    Raises:
        NotFound: a path does not exist, a glob matches nothing.
    """
    into = Reading()
    seen: set[tuple[int, int]] = set()
    for name in paths:
        before = _Before(into, seen)
        if name == STDIN:
            _read_one(STDIN, sys.stdin.buffer.read(), into, asked=True, chart_defaults=chart_defaults)
            continue
        for path, asked in _expand(name, into, seen):
            try:
                content = path.read_bytes()
            except OSError as error:
                into.problems.append(
                    Problem(Place(str(path)), f"cannot be read: {error.strerror}", Trouble.UNREADABLE)
                )
                continue
            _read_one(str(path), content, into, asked=asked, chart_defaults=chart_defaults)
        before.complain(name, into)
    drop_patches(into)
    join_haproxy(into)
    return into


class _Before:
    """What was there before a path was read, to tell whether it brought anything."""

    def __init__(self, into: Reading, seen: set[tuple[int, int]]) -> None:
        self.found = len(into.objects) + len(into.configs)
        self.problems = len(into.problems)
        self.files = into.files
        self.first = not seen

    def complain(self, name: str, into: Reading) -> None:
        """Adds a problem where a folder or a glob brought nothing: silence would look like an answer."""
        if len(into.objects) + len(into.configs) > self.found:
            return
        if any(problem.grave for problem in into.problems[self.problems :]) or not self.first:
            return
        files = into.files - self.files
        templates = len(into.problems) - self.problems
        message = f"nothing in it could be checked: {files} files, none with a Kubernetes object"
        if templates:
            message += f", {templates} places that look like unrendered templates"
        into.problems.append(Problem(Place(name), message, Trouble.UNREADABLE))


def read_text(text: str, name: str = "pasted") -> Reading:
    """What a text holds, as one file that was asked for."""
    into = Reading()
    _read_one(name, text.encode("utf-8", "surrogateescape"), into, asked=True, chart_defaults=False)
    return into


def _read_one(name: str, content: bytes, into: Reading, *, asked: bool, chart_defaults: bool) -> None:
    file = SourceFile(name, _decoded(content), chart_defaults)
    into.files += 1
    for reader in READERS:
        if reader.wants(name, file.text):
            reader.read(file, into, asked=asked)
            return
    if asked:
        into.problems.append(
            Problem(Place(name), "neither a manifest nor a configuration that we know", Trouble.UNREADABLE)
        )
    else:
        into.skipped["other files"] += 1


def _decoded(content: bytes) -> str:
    if content[:2] in {b"\xff\xfe", b"\xfe\xff"}:
        return content.decode("utf-16", "replace")
    return content.decode("utf-8", "surrogateescape").removeprefix("\ufeff")


def _expand(name: str, into: Reading, seen: set[tuple[int, int]]) -> Iterator[tuple[Path, bool]]:
    path = Path(name)
    if path.is_dir():
        for file in _walk(path, into):
            if _first_time(file, seen):
                yield file, False
        return
    if path.exists():
        if _first_time(path, seen):
            yield path, True
        return
    matches = sorted(glob.glob(name, recursive=True)) if glob.has_magic(name) else []  # noqa: PTH207 - user's own glob
    if not matches:
        raise NotFound(
            f"{name} does not exist", hint="Name files, folders or globs, or - for standard input."
        )
    for match in matches:
        if Path(match).is_dir():
            continue
        if _first_time(Path(match), seen):
            yield Path(match), False


def _first_time(path: Path, seen: set[tuple[int, int]]) -> bool:
    try:
        status = path.stat()
    except OSError:
        return True
    identity = (status.st_dev, status.st_ino)
    if identity in seen:
        return False
    seen.add(identity)
    return True


def _walk(folder: Path, into: Reading) -> Iterator[Path]:
    """The files that some reader knows by name, folders in order, links followed, no folder twice."""
    patterns = [pattern for reader in READERS for pattern in reader.patterns]
    visited: set[str] = set()

    def cannot(error: OSError) -> None:
        into.problems.append(
            Problem(Place(str(error.filename)), f"cannot be read: {error.strerror}", Trouble.UNREADABLE)
        )

    for root, folders, names in os.walk(folder, followlinks=True, onerror=cannot):
        real = os.path.realpath(root)
        if real in visited:
            folders.clear()
            continue
        visited.add(real)
        folders[:] = sorted(one for one in folders if not one.startswith(".") and one not in _PASSED_OVER)
        for name in sorted(names):
            if any(fnmatch.fnmatch(name, pattern) for pattern in patterns):
                path = Path(root) / name
                if path.is_file() or path.is_symlink():
                    yield path
