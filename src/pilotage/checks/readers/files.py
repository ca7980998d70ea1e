"""From what the user names to files: folders, globs, standard input; every file read at most once."""

from __future__ import annotations

import fnmatch
import glob
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import msgspec

from pilotage.checks.objects import Place, SourceFile
from pilotage.checks.readers.charts import ARCHIVES, CHART, HelmChoices, is_archive, render_chart
from pilotage.checks.readers.contents import Unreadable, decoded, holds_zeros, standard_input, text_of
from pilotage.checks.readers.corefile import CorefileReader, join_imports
from pilotage.checks.readers.haproxy import HaproxyReader, join_haproxy
from pilotage.checks.readers.kustomize import FILES as KUSTOMIZATIONS
from pilotage.checks.readers.kustomize import (
    Flux,
    drop_patches,
    kustomization,
    note_kustomization,
    render_kustomization,
    roots,
    tell_left_out,
    used_files,
)
from pilotage.checks.readers.manifests import ManifestReader, parse_ahead
from pilotage.checks.readers.nginx import NginxReader, join_includes
from pilotage.checks.readers.reading import FileReader, Problem, Reading, Trouble
from pilotage.checks.readers.releases import OLDER, older_releases
from pilotage.checks.rules.patterns import path_matches
from pilotage.core.errors import NotFound
from pilotage.core.paths import is_absent, is_folder, is_special
from pilotage.core.regex import regex

READERS: tuple[FileReader, ...] = (HaproxyReader(), NginxReader(), CorefileReader(), ManifestReader())
"""Every kind of file; the first that wants a file reads it."""

STDIN = "-"
_MOST_AT_ONCE = 20_000_000
"""Characters of files that wait to be read together."""
_PASSED_OVER = {"node_modules", "__pycache__", "vendor", "Godeps", "cue.mod"}
_TEST_DATA = {"testdata", "test-data", "test_data", "fixtures", "__fixtures__"}
_HOLDS_TESTS = {"hack", "src"}
_IN_TESTS = {"integration", "unit", "util", "utils"}
_WORD = regex(r"[-_.]")
_RIGS = {"benchmark", "benchmarks", "perf", "performance"}
_PROGRAMS = (".go", ".py", ".rs", ".java", ".js", ".ts", ".rb", ".bats")
"""Folders of what programs are tested with, wrong on purpose or a rig for an hour; one that is named is read.

A folder `test` may hold what runs in an environment of that name, or is put together for a try, so that it
must lie in `hack` or `src`, or hold tests itself.
"""


class Reach(msgspec.Struct, frozen=True):
    """What a walk through folders takes, and how.

    Attributes:
        chart_defaults: whether the files are charts that were rendered with their own default values.
        render: how to render charts and Kustomize folders; None reads them as they lie.
        exclude: patterns of paths that are passed over.
        root: the folder to which those patterns are relative.
    """

    chart_defaults: bool = False
    render: HelmChoices | None = None
    exclude: tuple[str, ...] = ()
    root: Path = Path()

    def excludes(self, path: Path) -> bool:
        """Whether a path is passed over."""
        if not self.exclude:
            return False
        name = os.path.relpath(path, self.root).replace(os.sep, "/")
        return any(path_matches(name, glob) for glob in self.exclude)


def read_paths(
    paths: Iterable[str],
    *,
    chart_defaults: bool = False,
    reach: Reach | None = None,
    meanwhile: Callable[[], object] | None = None,
) -> Reading:
    """Everything that the paths hold, as one.

    Args:
        paths: files, folders, globs, `-` for standard input.
        chart_defaults: whether they are charts that were rendered with their own default values.
        reach: what to take and how; without it nothing is rendered.
        meanwhile: what else has to be done, once; other processes begin to parse before it. What it raises
            comes before what is wrong with the paths.

    Raises:
        NotFound: a path does not exist, a glob matches nothing.
        InvalidInput: standard input is asked for and closed.
    """
    reach = reach if reach is not None else Reach(chart_defaults=chart_defaults)
    into = Reading()
    first = _Once(meanwhile)
    try:
        _read_each(paths, into, reach, first)
    finally:
        into.ahead.finish()
        first()
    tell_left_out(into)
    drop_patches(into)
    join_haproxy(into)
    join_includes(into)
    join_imports(into)
    into.common = None
    return into


def _read_each(paths: Iterable[str], into: Reading, reach: Reach, first: _Once) -> None:
    seen: set[tuple[int, int]] = set()
    for name in dict.fromkeys(paths):
        into.asked.append(os.path.abspath(name))  # noqa: PTH100 - links stay as they are named
        before = _Before(into, seen)
        if name == STDIN:
            first()
            _read_input(into, chart_defaults=reach.chart_defaults)
            continue
        batch = _Batch(into, first)
        for path, asked in _expand(name, into, seen, reach):
            if reach.render is not None and (is_folder(path) or is_archive(path)):
                batch.read()
                _read_chart(path, into, reach.render)
                continue
            try:
                file = SourceFile(str(path), text_of(path), reach.chart_defaults)
            except Unreadable as error:
                into.problems.append(Problem(Place(str(path)), str(error), Trouble.UNREADABLE))
                continue
            batch.add(file, asked=asked)
        batch.read()
        before.complain(name, into, excluded=bool(reach.exclude))


def _read_input(into: Reading, *, chart_defaults: bool) -> None:
    try:
        _read_one(SourceFile(STDIN, standard_input(), chart_defaults), into)
    except Unreadable as error:
        into.problems.append(Problem(Place(STDIN), str(error), Trouble.UNREADABLE))


def _read_chart(path: Path, into: Reading, choices: HelmChoices) -> None:
    into.files += 1
    into.charts += 1
    for file in render_chart(path, choices, into):
        into.expect(file)
        _read_source(file, into, asked=False)


class _Once:
    """Something that is to be done once: as soon as other processes have work, or have none."""

    def __init__(self, work: Callable[[], object] | None) -> None:
        self.work = work

    def __call__(self) -> None:
        work, self.work = self.work, None
        if work is not None:
            work()


class _Batch:
    """Files that are read together, since several processes can then share the work."""

    def __init__(self, into: Reading, first: _Once) -> None:
        self.into = into
        self.first = first
        self.files: list[tuple[SourceFile, bool]] = []
        self.size = 0

    def add(self, file: SourceFile, *, asked: bool) -> None:
        """Adds a file; reads all when there are many."""
        self.files.append((file, asked))
        self.size += len(file.text)
        self.into.expect(file)
        if self.size >= _MOST_AT_ONCE:
            self.read()

    def read(self) -> None:
        """Reads what was added."""
        parse_ahead((file for file, _ in self.files), self.into, busy=self.first.work is not None)
        self.first()
        for file, asked in self.files:
            self.into.files += 1
            _read_source(file, self.into, asked=asked)
        self.into.ahead.finish()
        self.files, self.size = [], 0


class _Before:
    """What was there before a path was read, to tell whether it brought anything."""

    def __init__(self, into: Reading, seen: set[tuple[int, int]]) -> None:
        self.found = len(into.objects) + len(into.configs)
        self.problems = len(into.problems)
        self.files = into.files
        self.first = not seen

    def complain(self, name: str, into: Reading, *, excluded: bool) -> None:
        """Adds a problem where a folder or a glob brought nothing: silence would look like an answer."""
        if len(into.objects) + len(into.configs) > self.found:
            return
        if any(problem.grave for problem in into.problems[self.problems :]) or not self.first:
            return
        files = into.files - self.files
        templates = len(into.problems) - self.problems
        message = f"nothing in it could be checked: {_counted(files)}"
        if templates:
            places = "1 place that looks" if templates == 1 else f"{templates} places that look"
            message += f", {places} like unrendered templates"
        if excluded:
            message += "; what --exclude or pilotage.toml excludes was passed over"
        into.problems.append(Problem(Place(name), message, Trouble.UNREADABLE))


def _counted(files: int) -> str:
    if not files:
        return "it has no manifest and no configuration that we know by its name"
    return f"{files} {'files' if files > 1 else 'file'}, none with a Kubernetes object"


def read_text(text: str, name: str = "pasted") -> Reading:
    """What a text holds, as one file that was asked for."""
    into = Reading()
    _read_one(SourceFile(name, decoded(text.encode("utf-8", "surrogateescape"))), into)
    return into


def _read_one(file: SourceFile, into: Reading) -> None:
    into.files += 1
    into.expect(file)
    _read_source(file, into, asked=True)


def _read_source(file: SourceFile, into: Reading, *, asked: bool) -> None:
    if asked and (why := _no_text(file)):
        into.problems.append(Problem(Place(file.name), why, Trouble.UNREADABLE))
        return
    note_kustomization(file, into)
    for reader in READERS:
        if reader.wants(file.name, file.text):
            reader.read(file, into, asked=asked)
            return
    if asked:
        into.problems.append(
            Problem(
                Place(file.name), "neither a manifest nor a configuration that we know", Trouble.UNREADABLE
            )
        )
    else:
        into.skipped["other files"] += 1


def _no_text(file: SourceFile) -> str:
    """Why there is nothing to read in a file; empty where there may be."""
    if not file.text.strip():
        return (
            "it is empty: the command before the pipe wrote nothing" if file.name == STDIN else "it is empty"
        )
    return "it is no text: it holds zero bytes" if holds_zeros(file.text) else ""


def _expand(
    name: str, into: Reading, seen: set[tuple[int, int]], reach: Reach
) -> Iterator[tuple[Path, bool]]:
    path = Path(name)
    if not name:
        raise NotFound("an empty name is no path", hint="Is a variable not set? The folder here is `.`.")
    if is_folder(path):
        yield from ((file, False) for file in _folder(path, into, seen, reach))
        return
    if not is_absent(path):
        if _first_time(path, seen):
            yield path, True
        return
    matches = sorted(glob.glob(name, recursive=True)) if glob.has_magic(name) else []  # noqa: PTH207 - user's own glob
    if not matches:
        said = "means no file" if glob.has_magic(name) else "does not exist"
        raise NotFound(f"{name} {said}", hint="Name files, folders or globs, or - for standard input.")
    for match in matches:
        if is_folder(Path(match)) or is_special(Path(match)) or reach.excludes(Path(match)):
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


def _folder(path: Path, into: Reading, seen: set[tuple[int, int]], reach: Reach) -> Iterator[Path]:
    """What a folder holds: files, folders of charts; Kustomize folders are rendered on the way."""
    found = [one for one in _walk(path, into, reach) if _first_time(one, seen)]
    used: set[Path] = set()
    if older := older_releases(found, path):
        into.skipped[OLDER] += len(older)
        found = [one for one in found if one not in older]
    if reach.render is not None:
        files = [one for one in found if one.name in KUSTOMIZATIONS]
        into.kustomize_folders |= {str(one.parent) for one in files}
        flux = Flux(one for one in found if not is_folder(one))
        every = [kustomization(one) for one in files]
        into.every_kustomization |= {str(one.file): one.data for one in every}
        for root in roots(every):
            if render_kustomization(root, into, flux):
                used |= used_files(root)
    yield from (one for one in found if not used or Path(os.path.realpath(one)) not in used)


def _walk(folder: Path, into: Reading, reach: Reach) -> Iterator[Path]:
    """The files that some reader knows by name, folders in order, links followed, no folder twice.

    A folder with a chart is one of them where charts are rendered.
    """
    patterns = [pattern for reader in READERS for pattern in reader.patterns]
    if reach.render is not None:
        patterns += [f"*{ending}" for ending in ARCHIVES] + list(KUSTOMIZATIONS)
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
        if reach.render is not None and CHART in names:
            folders.clear()
            yield Path(root)
            continue
        folders[:] = sorted(_entered(Path(root), folders, into, reach))
        for name in sorted(names):
            path = Path(root) / name
            if any(fnmatch.fnmatch(name, pattern) for pattern in patterns) and not reach.excludes(path):
                if _is_other_archive(path, reach):
                    into.skipped["archives without a chart"] += 1
                elif not is_special(path):
                    yield path


def _entered(root: Path, folders: Iterable[str], into: Reading, reach: Reach) -> Iterator[str]:
    for name in folders:
        if name.startswith(".") or name in _PASSED_OVER or reach.excludes(root / name):
            continue
        if _is_test_data(root / name):
            into.skipped["folders of test data"] += 1
        else:
            yield name


def _is_test_data(folder: Path) -> bool:
    if folder.parent.name == "hack" and folder.name in _RIGS:
        return True
    return _is_tests(folder.name) or (folder.name in {"test", "tests"} and _holds_tests(folder))


def _is_tests(name: str) -> bool:
    return name in _TEST_DATA or "e2e" in _WORD.split(name)


def _holds_tests(folder: Path) -> bool:
    if folder.parent.name in _HOLDS_TESTS:
        return True
    try:
        inside = [one.name for one in folder.iterdir()]
    except OSError:
        return False
    return any(_is_tests(one) or one in _IN_TESTS or one.endswith(_PROGRAMS) for one in inside)


def _is_other_archive(path: Path, reach: Reach) -> bool:
    return reach.render is not None and path.name.lower().endswith(ARCHIVES) and not is_archive(path)
