"""Kustomize folders: rendered by `kustomize build` or `kubectl kustomize`, or else read as they lie.

Every object is rendered with a note of its origin, so that a finding names the file and the line that was
written. Read as it lies, a patch is a piece of an object and is not checked as one.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Container, Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path

import msgspec

from pilotage.checks.dialect import DialectError, load
from pilotage.checks.objects import Document, KubeObject, Place, SourceFile, is_patch_name
from pilotage.checks.readers.built import BuiltObject
from pilotage.checks.readers.elsewhere import host_of
from pilotage.checks.readers.manifests import ManifestReader
from pilotage.checks.readers.reading import Problem, Reading, Trouble
from pilotage.checks.values import as_list, as_map, as_text, dig
from pilotage.clients import process
from pilotage.core.errors import OutsideError, ToolMissing, Unreachable
from pilotage.core.paths import is_file
from pilotage.core.regex import regex
from pilotage.core.text import shorten

PATCH = "Kustomize patch"
FILES = ("kustomization.yaml", "kustomization.yml", "Kustomization")
_CHANGES = ("components", "patches", "patchesJson6902", "patchesStrategicMerge", "replacements")
_ORIGIN = "config.kubernetes.io/origin"
_LONGEST = 400


def note_kustomization(file: SourceFile, into: Reading) -> None:
    """Keeps what a kustomization says, if a file is one; it is no object."""
    if os.path.basename(file.name) in FILES:  # noqa: PTH119 - the name may be no path of this machine
        into.kustomize_folders.add(os.path.dirname(file.name))  # noqa: PTH120
        try:
            into.kustomizations[file.name] = as_map(load(file.text))
        except DialectError:
            return
        into.every_kustomization[file.name] = into.kustomizations[file.name]


def drop_patches(reading: Reading) -> None:
    """Takes the objects of patch files out, counts them, and notes which others are to be completed.

    That are those of a kustomization that changes what it names, or that another one builds upon.
    """
    if not reading.kustomize_folders:
        return
    _note_names(reading)
    for data in reading.kustomizations.values():
        reading.unbuilt.images |= _tagged(data)
    found = {os.path.dirname(name): data for name, data in reading.kustomizations.items()}  # noqa: PTH120
    patches = {path for folder, data in found.items() for path in _files(folder, _patch_names(data))}
    named = {folder: set(_files(folder, _resource_names(data))) for folder, data in found.items()}
    used: set[str] = set().union(*named.values())
    for folder, data in found.items():
        if os.path.normpath(folder) in used or any(data.get(key) for key in _CHANGES):
            reading.unbuilt.files |= named[folder]
    kept: list[KubeObject] = []
    for one in reading.objects:
        file = os.path.normpath(one.file)
        if file in patches or (file not in used and _left_over(one.file, reading.kustomize_folders)):
            reading.skipped[PATCH] += 1
        else:
            kept.append(one)
    reading.objects = kept


def _note_names(reading: Reading) -> None:
    """Notes which files kustomizations name, wherever they do, and at which kinds patches are aimed."""
    unbuilt = reading.unbuilt
    for file, data in reading.every_kustomization.items():
        folder = os.path.dirname(os.path.abspath(file))  # noqa: PTH100, PTH120
        unbuilt.named |= {os.path.join(folder, Path(file).name), *_files(folder, _texts(data))}  # noqa: PTH118
        if data.get("resources"):
            unbuilt.listed.add(folder)
        for patch in as_list(data.get("patches")):
            unbuilt.patched.add(as_text(dig(patch, "target", "kind")))
    unbuilt.listed |= {os.path.dirname(one) for one in unbuilt.named if one.endswith((".yaml", ".yml"))}  # noqa: PTH120


def _texts(value: object) -> Iterator[str]:
    """All that may be a path: a file of a generator is written `name=path`."""
    if isinstance(value, str):
        if "\n" not in value:
            yield value.rpartition("=")[2]
        return
    for inner in value.values() if isinstance(value, Mapping) else as_list(value):
        yield from _texts(inner)


def _tagged(data: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """Each image that a kustomization changes, with what it makes of it."""
    for item in as_list(data.get("images")):
        name = as_text(dig(item, "name"))
        digest = as_text(dig(item, "digest"))
        written = f"@{digest}" if digest else f":{as_text(dig(item, 'newTag'))}"
        if name:
            yield name, (as_text(dig(item, "newName")) or name) + written


def _left_over(file: str, kustomizations: Container[str]) -> bool:
    """Whether a file lies among the patches of a Kustomize folder, whose list does not name it."""
    folder, name = os.path.split(file)
    above, last = os.path.split(folder)
    return (last == "patches" and above in kustomizations) or (
        is_patch_name(name) and folder in kustomizations
    )


def _files(folder: str, names: Iterable[str]) -> Iterator[str]:
    for name in names:
        yield os.path.normpath(os.path.join(folder, name))  # noqa: PTH118


def _resource_names(data: Mapping[str, object]) -> Iterator[str]:
    for key in ("resources", "bases", "components", "crds"):
        yield from (name for item in as_list(data.get(key)) if (name := as_text(item)))


def _patch_names(data: Mapping[str, object]) -> Iterator[str]:
    named = [as_text(item) for item in as_list(data.get("patchesStrategicMerge"))]
    for key in ("patches", "patchesJson6902"):
        # Before Kustomize 3 an item of `patches` was the name of a file.
        named += [as_text(item) or as_text(dig(item, "path")) for item in as_list(data.get(key))]
    yield from (name for name in named if name and "\n" not in name)


class Kustomization(msgspec.Struct, frozen=True, dict=True):
    """A folder with a kustomization.

    Attributes:
        file: its file.
        data: what the file says; empty where it cannot be read.
    """

    file: Path
    data: Mapping[str, object]

    @property
    def folder(self) -> Path:
        """Its folder."""
        return self.file.parent

    @property
    def component(self) -> bool:
        """Whether it is a part for others, that renders to nothing by itself."""
        return self.data.get("kind") == "Component"

    @cached_property
    def named(self) -> tuple[Path, ...]:
        """The files and folders that it names."""
        names = [*_resource_names(self.data), *_patch_names(self.data)]
        return tuple(Path(os.path.realpath(self.folder / name)) for name in names if "://" not in name)


def kustomization(file: Path) -> Kustomization:
    """Reads a kustomization; what is wrong with it the tool will say."""
    try:
        return Kustomization(file, as_map(load(file.read_text("utf-8", "replace"))))
    except (OSError, DialectError):
        return Kustomization(file, {})


def roots(found: Iterable[Kustomization]) -> list[Kustomization]:
    """Those that no other one builds upon."""
    found = list(found)
    used = {path for one in found for path in one.named}
    return [one for one in found if not one.component and Path(os.path.realpath(one.folder)) not in used]


def used_files(root: Kustomization) -> set[Path]:
    """The files that a kustomization is made of, those of its bases among them, by their real paths."""
    return _parts(root)[0]


def _parts(root: Kustomization) -> tuple[set[Path], set[str]]:
    """The files that a kustomization is made of, by their real paths, and the hosts of those elsewhere."""
    seen: set[Path] = set()
    hosts: set[str] = set()
    waiting = [root]
    while waiting:
        one = waiting.pop()
        file = Path(os.path.realpath(one.file))
        if file in seen:
            continue
        seen.add(file)
        hosts |= {host for name in _resource_names(one.data) if (host := host_of(name))}
        for path in one.named:
            inner = next((path / name for name in FILES if is_file(path / name)), None)
            if inner is not None:
                waiting.append(kustomization(inner))
            else:
                seen.add(path)
    return seen, hosts


class Flux:
    """Whether Flux applies the folders of a tree: it lets a kustomization take files from anywhere.

    Args:
        files: the files of the tree, which are read when the answer matters.

    Attributes:
        options: with what the tool is called, once it was found that it matters.
    """

    def __init__(self, files: Iterable[Path]) -> None:
        self._files = files
        self.options: tuple[str, ...] = ()

    @cached_property
    def there(self) -> bool:
        """Whether an object of Flux says that it applies a folder."""
        return any(_FLUX in _text(one) for one in self._files)


_FLUX = "kustomize.toolkit.fluxcd.io/"


def _text(file: Path) -> str:
    try:
        return file.read_text("utf-8", "surrogateescape")
    except OSError:
        return ""


def render_kustomization(root: Kustomization, into: Reading, flux: Flux) -> bool:
    """Adds the objects that a kustomization renders to; False where it cannot be rendered, with a problem.

    One that needs what cannot be fetched any more is only noted, for `tell_left_out`.

    Args:
        root: the kustomization.
        into: where to add objects and problems.
        flux: whether it may take files from anywhere.
    """
    hosts = _parts(root)[1]
    if into.elsewhere.leaves_out(str(root.file), hosts):
        return False
    try:
        out, layer = _fetched(root, hosts, into, *flux.options)
        if out.code and _OUTSIDE in out.err and not flux.options and flux.there:
            flux.options = ("--load-restrictor=LoadRestrictionsNone",)
            out, layer = _fetched(root, hosts, into, *flux.options)
    except OutsideError as error:
        hint = (
            ", so patches are not applied (--rendered takes it so)" if isinstance(error, ToolMissing) else ""
        )
        message = f"a Kustomize folder that cannot be rendered: {error.message}{hint}"
        into.problems.append(Problem(Place(str(root.file)), message, Trouble.TEMPLATE))
        return False
    if out.code:
        message = f"cannot be rendered: {shorten(_reason(out.err) or 'no reason given', _LONGEST)}"
        into.problems.append(Problem(Place(str(root.file)), message, Trouble.TEMPLATE))
        return False
    rendered = Reading()
    file = SourceFile(str(root.file), out.out.decode("utf-8", "replace"))
    ManifestReader().read(file, rendered, asked=False)
    if rendered.empty and file.text.strip():
        message = "what Kustomize answers for it holds no Kubernetes object"
        into.problems.append(Problem(Place(str(root.file)), message, Trouble.TEMPLATE))
        return False
    origins = _Origins(root, layer)
    into.objects += [origins.placed(one) for one in rendered.objects]
    into.problems += rendered.problems
    into.documents += rendered.documents
    into.files += 1
    return True


def tell_left_out(into: Reading) -> None:
    """Adds one problem for all folders that need what cannot be fetched."""
    if summary := into.elsewhere.summary():
        place = Place(into.elsewhere.left_out[0])
        into.problems.append(Problem(place, summary, Trouble.TEMPLATE))


_OUTSIDE = "is not in or below"
"""So the tool says that a file lies elsewhere than it allows."""
_AGAIN = "': "
"""Behind it the tool tells what else it has tried."""
_LOG = regex(r'[EWIF]\d{4} [\d:.]+ +\d+ \S+\] "command failed" err=<?')
_FETCH = regex(r"(?:failed to run|hit (?P<limit>\S+) timeout running) '[^']*'(?:: )?(?P<why>.*)")


def _reason(said: str) -> str:
    """Why the tool fails: what it says of the innermost part, since it repeats itself on the way there."""
    text = " ".join(_LOG.sub("", said).removesuffix(">\n").split())
    text = text.removeprefix("error: ").removeprefix("Error: ")
    part, _, why = text.rpartition("accumulating resources from ")[2].partition(": ")
    fetch = _FETCH.search(why)
    if fetch is None:
        return f"{part}: {why.partition(_AGAIN)[0]}" if why else part
    why = f"no answer in {fetch['limit']}" if fetch["limit"] else fetch["why"].partition(" : exit status")[0]
    return f"{part} cannot be fetched: {why}"


def _fetched(
    root: Kustomization, hosts: set[str], into: Reading, *options: str
) -> tuple[process.Output, Path]:
    """See `_built`; what lies elsewhere is waited for only as long as there is time left for that."""
    if not hosts:
        return _built(root, process.LIMIT_SECONDS, *options)
    with into.elsewhere.counting():
        try:
            out, layer = _built(root, into.elsewhere.left, *options)
        except Unreachable:
            into.elsewhere.failed(hosts, "timed out")
            raise
    if out.code:
        into.elsewhere.failed(hosts, out.err)
    return out, layer


def _built(root: Kustomization, limit_seconds: float, *options: str) -> tuple[process.Output, Path]:
    """What the tool says, and the folder to which the origins are relative."""
    kustomize, kubectl = process.find("kustomize"), process.find("kubectl")
    if kustomize is None and kubectl is None:
        raise ToolMissing("there is neither kustomize nor kubectl on the PATH")
    command = [kustomize, "build"] if kustomize is not None else [str(kubectl), "kustomize"]
    with tempfile.TemporaryDirectory(prefix="pilotage-") as folder:
        # A layer on top, which asks for the origin of each object.
        layer = Path(os.path.realpath(folder))
        above = os.path.relpath(os.path.realpath(root.folder), layer)
        text = f"resources:\n- {above!r}\nbuildMetadata: [originAnnotations]\n"
        (Path(folder) / FILES[0]).write_text(text, encoding="utf-8")
        # What lies elsewhere and is private asks for a name and a word: there is nobody to answer.
        variables = {"GIT_TERMINAL_PROMPT": "0"}
        return process.run(
            [*command, *options, folder], variables=variables, limit_seconds=limit_seconds
        ), layer


class FileOrigin(msgspec.Struct, frozen=True):
    """The file of an object that was rendered.

    Attributes:
        name: the file, as the user knows it.
    """

    name: str

    def at(self, line: int, column: int) -> tuple[int, int]:
        """The same place: the text is that of the file."""
        return line, column


class _Origins:
    """Finds the document from which a rendered object was made."""

    def __init__(self, root: Kustomization, layer: Path) -> None:
        self._root = root
        self._layer = layer
        self._read: dict[str, list[KubeObject]] = {}

    def placed(self, one: KubeObject) -> KubeObject:
        """The rendered object at the place where its origin stands; without the note of its origin."""
        note = as_text(as_map(one.annotations).get(_ORIGIN))
        data = _without_note(one)
        path = next(
            (line.partition(":")[2].strip() for line in note.splitlines() if line.startswith("path:")), ""
        )
        origin = self._origin(one, path) if path and "repo:" not in note else None
        if origin is not None and origin.document is not None:
            return BuiltObject(data, origin.document, origin.prefix, origin.data)
        return KubeObject(data, self._whole(self._root.file))

    def _origin(self, one: KubeObject, path: str) -> KubeObject | None:
        # The path is relative to the layer on top.
        file = Path(os.path.normpath(self._layer / path))
        if not is_file(file):
            return None
        name = str(file)
        if name not in self._read:
            into = Reading()
            ManifestReader().read(self._source(file), into, asked=False)
            self._read[name] = into.objects
        alike = [other for other in self._read[name] if other.kind == one.kind]
        near = [other for other in alike if other.name in one.name]
        # A Namespace is renamed as a whole.
        return max(near, key=lambda other: len(other.name), default=alike[0] if len(alike) == 1 else None)

    def _source(self, file: Path) -> SourceFile:
        shown = os.path.relpath(file)
        text = _text(file)
        # A name of its own for each overlay: objects of two overlays are no neighbours.
        folder = str(self._root.folder)
        return SourceFile(f"{folder}/{shown}", text, origin=FileOrigin(shown), application=folder)

    def _whole(self, file: Path) -> Document:
        source = self._source(file)
        return Document(source, 0, len(source.text), 1)


def _without_note(one: KubeObject) -> Mapping[str, object]:
    annotations = {key: value for key, value in one.annotations.items() if key != _ORIGIN}
    metadata = {**one.metadata, "annotations": annotations}
    if not annotations:
        del metadata["annotations"]
    return {**one.data, "metadata": metadata}
