"""Past releases that lie beside the newest one: folders or files whose names differ by a version only."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from pilotage.checks.readers.charts import CHART
from pilotage.checks.readers.kustomize import FILES, kustomization
from pilotage.core.paths import is_folder
from pilotage.core.regex import regex

OLDER = "files of older releases"

_VERSION = regex(
    r"(?<![\w.])v?(\d+)\.(\d+)(?:\.(\d+))?(?:[-.]?(alpha|beta|rc)[-.]?(\d*))?(?![\w+]|\.\d)", re.IGNORECASE
)
"""Two or three numbers: four are the address of a node."""
_NAME = regex(r"^(?:  )?name: *[\"']?([^\s#\"']+)", re.MULTILINE)
_FINAL = "~"
"""Behind alpha, beta and rc."""

_Version = tuple[int, int, int, str, int]
_Series = tuple[tuple[str, ...], str, str]
"""The folder in which releases lie, and what stands in their names before and behind the version."""


def older_releases(found: Sequence[Path], folder: Path) -> set[Path]:
    """The files of releases beside which a newer one holds the same objects.

    They are as their makers left them, and whoever runs one has the copy that counts. A release is older if
    half of the names that its objects bear stand in a newer one: files for two databases of two versions,
    which both run, hold objects of their own. What a kustomization builds upon is in use.

    Args:
        found: the files, and folders of charts.
        folder: the folder that was asked for; versions above it, and its own, tell nothing.
    """
    series: dict[_Series, dict[_Version, list[Path]]] = defaultdict(lambda: defaultdict(list))
    for path in found:
        # Names that are relative take their time, and most have no version anywhere.
        if _VERSION.search(str(path)):
            for one, version in _placed(path.relative_to(folder)):
                series[one][version].append(path)
    releases = [one for group in series.values() if len(group) > 1 for one in _older(group)]
    left_out = {file for files in releases for file in files}
    wanted = _wanted(one for one in found if one not in left_out) if left_out else set()
    in_use = {file for files in releases if any(_is_named(one, wanted) for one in files) for file in files}
    return left_out - in_use


def _placed(relative: Path) -> Iterator[tuple[_Series, _Version]]:
    for at, part in enumerate(relative.parts):
        match = _VERSION.search(part)
        if match is not None:
            major, minor, patch, stage, number = match.groups()
            version = (int(major), int(minor), int(patch or 0), (stage or _FINAL).lower(), int(number or 0))
            yield (relative.parts[:at], part[: match.start()], part[match.end() :]), version


def _older(releases: dict[_Version, list[Path]]) -> Iterator[list[Path]]:
    newer: set[str] = set()
    for version in sorted(releases, reverse=True):
        names = set().union(*map(_names, releases[version]))
        if names and 2 * len(names & newer) >= len(names):
            yield releases[version]
        newer |= names


def _wanted(files: Iterable[Path]) -> set[Path]:
    return {path for one in files if one.name in FILES for path in kustomization(one).named}


def _is_named(file: Path, wanted: set[Path]) -> bool:
    real = Path(os.path.realpath(file))
    return real in wanted or real.parent in wanted


def _names(file: Path) -> set[str]:
    """The names that objects of a file bear; of a chart, its own."""
    try:
        text = (file / CHART if is_folder(file) else file).read_text("utf-8", "replace")
    except OSError:
        return set()
    return set(_NAME.findall(text))
