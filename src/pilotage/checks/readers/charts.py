"""Helm charts, rendered by `helm template`; a finding names the template that a rendered line comes from."""

from __future__ import annotations

import io
import re
import tarfile
import zlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import cached_property
from itertools import pairwise
from pathlib import Path, PurePosixPath

import msgspec

from pilotage.checks.objects import Place, SourceFile
from pilotage.checks.readers.reading import Problem, Reading, Trouble
from pilotage.clients import process
from pilotage.core.errors import OutsideError, ToolMissing
from pilotage.core.paths import is_file, is_folder
from pilotage.core.regex import regex
from pilotage.core.text import shorten

CHART = "Chart.yaml"
ARCHIVES = (".tgz", ".tar.gz")
LIBRARY = "library charts"
_SOURCE = regex(r"^# Source: (\S.*)$", re.MULTILINE)
_DIVIDER = regex(r"^---[ \t]*$", re.MULTILINE)
_AT = regex(r"\(([^():\s]+):(\d+):(\d+)\)|at <[^>]*>|([\w./-]+\.(?:ya?ml|tpl|txt)):(\d+):(\d+)")
_LIBRARY = regex(r"^type:\s*[\"']?library\b", re.MULTILINE)
_MISSING = regex(r"missing in charts/ directory: (.+)")
_MOST_MEMBERS = 20_000
_LARGEST_MEMBER = 2_000_000
_LARGEST_ARCHIVE = 100_000_000
"""Bytes of all members together; packed, they may be a thousandth of that."""
_LONGEST = 400
_SHORT = 80
_MOST_PAIRS = 25_000_000


class HelmChoices(msgspec.Struct, frozen=True):
    """How charts are rendered.

    Attributes:
        values: files of values; none means the chart's defaults.
        version: the Kubernetes version that templates may ask for; empty leaves it to helm.
    """

    values: tuple[str, ...] = ()
    version: str = ""


def is_archive(path: Path) -> bool:
    """Whether a file is a packed chart."""
    if not path.name.lower().endswith(ARCHIVES):
        return False
    return any(PurePosixPath(name).name == CHART for name in _Archive(path).names)


def render_chart(path: Path, choices: HelmChoices, into: Reading) -> list[SourceFile]:
    """The files that a chart renders to; what goes wrong is added to the problems.

    Args:
        path: the folder of the chart, or the packed chart.
        choices: values and version.
        into: where problems go.
    """
    files: _Folder | _Archive = _Folder(path) if is_folder(path) else _Archive(path)
    if _LIBRARY.search(files.text(CHART)):
        into.skipped[LIBRARY] += 1
        return []
    place = Place(str(path / CHART) if is_folder(path) else str(path))
    try:
        out = _helm(path, choices)
    except OutsideError as error:
        hint = " (or leave charts out with --rendered)" if isinstance(error, ToolMissing) else ""
        message = f"a Helm chart that cannot be rendered: {error.message}{hint}"
        into.problems.append(Problem(place, message, Trouble.TEMPLATE))
        return []
    if out.code:
        into.problems.append(_failure(path, place, out.err))
        return []
    text = out.out.decode("utf-8", "replace")
    if (said := text.strip()) and _SOURCE.search(text) is None:
        message = f"what helm answers for it is no rendered chart: {shorten(said, _SHORT)}"
        into.problems.append(Problem(place, message, Trouble.TEMPLATE))
        return []
    return _divided(text, files, chart_defaults=not choices.values)


def _helm(path: Path, choices: HelmChoices) -> process.Output:
    helm = process.find("helm")
    if helm is None:
        raise ToolMissing("there is no helm on the PATH")
    name = re.sub(r"[^a-z0-9-]+", "-", path.resolve().name.lower()).strip("-")[:50] or "release"
    command = [helm, "template", name, str(path), "--include-crds", "--skip-tests"]
    for values in choices.values:
        command += ["--values", values]
    if choices.version:
        command += ["--kube-version", choices.version]
    return process.run(command)


def _failure(path: Path, place: Place, said: str) -> Problem:
    lines = [line.strip() for line in said.splitlines() if line.strip() and not line.startswith("WARNING")]
    text = next(
        (line for line in lines if line.startswith("Error:")), lines[-1] if lines else "no reason given"
    )
    missing = _MISSING.search(said)
    if missing is not None:
        message = f"the chart's dependencies are missing ({missing[1]}): run helm dependency build {path}"
        return Problem(place, message, Trouble.TEMPLATE)
    for match in _AT.finditer(text):
        file, line, column = (match[1], match[2], match[3]) if match[1] else (match[4], match[5], match[6])
        if file and is_file(found := path / file.partition("/")[2]):
            place = Place(str(found), int(line), int(column))
            break
    message = f"helm cannot render the chart: {shorten(text.removeprefix('Error: '), _LONGEST)}"
    return Problem(place, message, Trouble.TEMPLATE)


class _Folder:
    """The files of a chart in a folder."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def text(self, name: str) -> str:
        try:
            return (self.path / name).read_text("utf-8", "replace")
        except OSError:
            return ""

    def shown(self, name: str) -> str:
        """The file to name for a part of the chart: itself, or the archive of the subchart that holds it."""
        if is_file(self.path / name):
            return str(self.path / name)
        parts = PurePosixPath(name).parts
        if parts[:1] == ("charts",) and len(parts) > 1:
            packed = sorted((self.path / "charts").glob(f"{parts[1]}-*.tgz"))
            if packed:
                return f"{packed[0]}/{'/'.join(parts[2:])}"
        return str(self.path / name)


class _Archive:
    """The files of a packed chart, read without unpacking them."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @cached_property
    def _texts(self) -> Mapping[str, bytes]:
        found: dict[str, bytes] = {}
        try:
            with tarfile.open(fileobj=io.BytesIO(self.path.read_bytes()), mode="r:gz") as archive:
                size = 0
                for number, member in enumerate(archive):
                    size += member.size
                    if number > _MOST_MEMBERS or size > _LARGEST_ARCHIVE:
                        break
                    if member.isfile() and member.size <= _LARGEST_MEMBER and _wanted(member.name):
                        content = archive.extractfile(member)
                        found[member.name] = content.read() if content is not None else b""
        except (OSError, tarfile.TarError, EOFError, ValueError, zlib.error):
            return found
        return found

    @property
    def names(self) -> Sequence[str]:
        """The names of its templates and of its chart file, below one folder."""
        return list(self._texts)

    def text(self, name: str) -> str:
        for path, content in self._texts.items():
            if path.partition("/")[2] == name:
                return content.decode("utf-8", "replace")
        return ""

    def shown(self, name: str) -> str:
        return f"{self.path}/{name}"


def _wanted(name: str) -> bool:
    return name.endswith((".yaml", ".yml", ".tpl", ".json"))


def _divided(text: str, files: _Folder | _Archive, *, chart_defaults: bool) -> list[SourceFile]:
    """The rendered documents as a file for each template."""
    documents: dict[str, list[str]] = defaultdict(list)
    last = ""
    for part in _DIVIDER.split(text):
        source = _SOURCE.search(part)
        last = source[1].strip() if source is not None else last
        if part.strip():
            documents[last].append(part)
    found = []
    for source_name, parts in documents.items():
        name = source_name.partition("/")[2]
        rendered = "---" + "---".join(parts)
        origin = TemplateOrigin(files.shown(name), files.text(name), rendered)
        found.append(SourceFile(files.shown(name), rendered, chart_defaults, origin, str(files.path)))
    return found


_TEMPLATED = regex(r"\{\{.*?\}\}")
_KEY = regex(r"^\s*((?:- )*)(\"[^\"]+\"|'[^']+'|[^\s:#{}]+):(?:\s|$)")


@dataclass(frozen=True)
class TemplateOrigin:
    """The template of a rendered text; lines are matched by their keys, in order.

    Attributes:
        name: file of the template.
        template: its text; empty where it is not to be had.
        rendered: what became of it.
    """

    name: str
    template: str = field(repr=False)
    rendered: str = field(repr=False)

    def at(self, line: int, column: int) -> tuple[int, int]:
        """The line of the template that a rendered line comes from, or of the one that holds it."""
        found = self._lines.get(line, 0)
        if not found:
            return 0, 0
        source = self.template.split("\n")[found - 1]
        return found, min(column, len(source) - len(source.lstrip()) + 1)

    @cached_property
    def _lines(self) -> dict[int, int]:
        if not self.template:
            return {}
        rendered, template = self.rendered.split("\n"), self.template.split("\n")
        if len(rendered) * len(template) > _MOST_PAIRS:
            return {}
        matcher = SequenceMatcher(None, autojunk=False)
        matcher.set_seq2([_mark(line, number, "t") for number, line in enumerate(template)])
        exact: dict[int, int] = {}
        # A template may make many documents of one text: each is matched by itself.
        heads = [number for number, line in enumerate(rendered) if line.startswith("---")]
        for begin, end in pairwise([*heads, len(rendered)]):
            matcher.set_seq1([_mark(line, begin + n, "r") for n, line in enumerate(rendered[begin:end])])
            for start, at, size in matcher.get_matching_blocks():
                exact |= {begin + start + step + 1: at + step + 1 for step in range(size)}
        return self._with_the_rest(rendered, exact)

    @staticmethod
    def _with_the_rest(rendered: list[str], exact: Mapping[int, int]) -> dict[int, int]:
        # What a template includes from elsewhere stands at the line that holds it: the last less indented.
        found: dict[int, int] = {}
        open_lines: list[tuple[int, int]] = []
        for number, line in enumerate(rendered, start=1):
            if not line.strip():
                continue
            depth = len(line) - len(line.lstrip())
            while open_lines and open_lines[-1][0] >= depth:
                open_lines.pop()
            at = exact.get(number) or (open_lines[-1][1] if open_lines else 0)
            if at:
                found[number] = at
                open_lines.append((depth, at))
        return found


def _mark(line: str, number: int, side: str) -> str:
    """What identifies a line before and after rendering: its key; its text where it has none."""
    bare = _TEMPLATED.sub("", line)
    key = _KEY.match(bare)
    if key is not None:
        return f"{key[1]}{key[2]}:"
    text = bare.strip()
    # Lines that say nothing by themselves match nothing.
    return text if len(text) > 1 and "{{" not in line else f"{side}{number}"
