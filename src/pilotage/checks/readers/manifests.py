"""Kubernetes manifests: YAML of many documents, JSON, `List` objects; one broken document harms no other."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from pilotage.checks.dialect import DialectError, load
from pilotage.checks.json_text import JsonDocument, JsonValue, ends_early, read_json
from pilotage.checks.objects import Document, KubeObject, Place, SourceFile
from pilotage.checks.readers.lists import Divided, divided, items_of
from pilotage.checks.readers.reading import Problem, Reading, Trouble
from pilotage.checks.values import as_map
from pilotage.checks.yaml_blocks import Common
from pilotage.core.regex import regex

# As kubectl divides a stream: at a line of three dashes with nothing but blanks or a comment after them.
# A mark of byte order may stand at the beginning of each.
_DIVIDER = regex(r"---[ \t\r]*(?:#[^\n]*)?(?:\n\ufeff|$)", re.MULTILINE)
_CONTENT = regex(r"(?:^|(?<=\n\ufeff))[ \t]*[^#\s%]", re.MULTILINE)
_WITHOUT_METADATA = {"KubeletConfiguration"}
"""Kinds of files that programs on a node read, and no API server."""
_KUBERNETES = regex(r"(?:^|[{,])\s*[\"']?kind[\"']?\s*:", re.MULTILINE)
_KIND = regex(r"\bkind[\"']?\s*:")
_API_VERSION = regex(r"(?:^|[{,])\s*[\"']?apiVersion[\"']?\s*:", re.MULTILINE)
_TEMPLATE = regex(r"\{\{|\{%|<%|\$\{\{")
_NO_KIND = regex(r"[${}<>%@#]")
"""Signs that only the name of something to be put in their place has."""
_BAD_BYTES = regex("[\udc80-\udcff]")

NOT_KUBERNETES = "not Kubernetes"


class ManifestReader:
    """Reads `.yaml`, `.yml` and `.json`."""

    patterns: Sequence[str] = ("*.yaml", "*.yml", "*.json")

    def wants(self, name: str, text: str) -> bool:
        """YAML and JSON by name; what has no name that tells (standard input) by its look."""
        return name.lower().endswith((".yaml", ".yml", ".json")) or bool(_KIND.search(text))

    def read(self, file: SourceFile, into: Reading, *, asked: bool) -> None:
        """Adds the objects of every document."""
        found = len(into.objects)
        if not (file.text.lstrip()[:1] == "{" and _read_json(file, into, asked=asked)):
            for document in documents(file):
                _read_document(document, into, asked=asked)
        if into.shelf is not None:
            file.put_aside(into.shelf)
        if asked and len(into.objects) == found and not any(p.place.file == file.name for p in into.problems):
            into.problems.append(
                Problem(Place(file.name), "no Kubernetes object in this file", Trouble.UNREADABLE)
            )


def documents(file: SourceFile) -> Iterator[Document]:
    """The documents of a file that hold anything."""
    text, start, line = file.text, 0, 1
    for end, following in _dividers(text):
        if _CONTENT.search(text, start, end):
            yield Document(file, start, end, line)
        line += text.count("\n", start, following)
        start = following


def _dividers(text: str) -> Iterator[tuple[int, int]]:
    """Where a document ends and where what follows it begins; the end of the text is the last one."""
    # To look for three dashes as text takes a fifth of the time of an expression that looks at each line.
    at = 0 if text.startswith("---") else text.find("\n---") + 1 or -1
    while at >= 0:
        match = _DIVIDER.match(text, at)
        if match:
            yield match.span()
        at = text.find("\n---", match.end() if match else at) + 1 or -1
    yield len(text), len(text)


def _read_document(document: Document, into: Reading, *, asked: bool) -> None:
    text = document.text
    if "kind" not in text or "apiVersion" not in text:
        into.skipped[NOT_KUBERNETES] += 1
        return
    bad = None if text.isascii() else _BAD_BYTES.search(text)
    if bad:
        line = document.line + text.count("\n", 0, bad.start())
        _report(document, into, (line, 0), (Trouble.BROKEN, "not UTF-8", True))
        return
    if (parts := divided(document)) is not None and _read_items(parts, document, into):
        return
    value = into.ahead.take(document, functools.partial(_value, common=into.common))
    if isinstance(value, DialectError):
        _report_broken(document, text, value, into, asked=asked)
        return
    into.documents += 1
    _take(value, document, into)


def _read_items(parts: Divided, document: Document, into: Reading) -> bool:
    """Reads a list item by item; False where it is to be read as a whole: items may need one another."""
    parse = functools.partial(_value, common=into.common)
    try:
        frame = load(parts.frame)
    except DialectError:
        return False
    if not isinstance(frame, dict) or "items" in frame:
        return False
    values = []
    for one in parts.items:
        value = into.ahead.take(one, parse)
        if not isinstance(value, list) or len(value) != 1:
            return False
        values += value
    into.documents += 1
    _take({**frame, "items": values}, document, into, parts.items)
    return True


def _value(document: Document, common: Common | None) -> Any:
    """What a document holds, or why it cannot be read."""
    text = document.text
    try:
        # kubectl ends the last line, too: a block that goes to the end of the file then holds a line end.
        return load(text if text.endswith("\n") else text + "\n", common)
    except DialectError as error:
        return error


def parse_ahead(files: Iterable[SourceFile], into: Reading, *, busy: bool = False) -> None:
    """Lets other processes begin to parse what is going to be read.

    Args:
        files: what is going to be read.
        into: where it goes.
        busy: whether this process does something else first.
    """
    waiting = [
        part
        for file in files
        if file.name.lower().endswith((".yaml", ".yml")) and file.text.lstrip()[:1] != "{"
        for document in documents(file)
        if _worth_parsing(document.text)
        for part in items_of(document) or (document,)
    ]
    parse = functools.partial(_value, common=into.common)
    into.ahead.start(waiting, parse, whole=into.common is not None, busy=busy)


def _worth_parsing(text: str) -> bool:
    # Without the words there is no object, and what else is wrong in there is not ours to tell.
    return "kind" in text and "apiVersion" in text and (text.isascii() or not _BAD_BYTES.search(text))


def _report_broken(document: Document, text: str, error: DialectError, into: Reading, *, asked: bool) -> None:
    looks_so = _KUBERNETES.search(text) and _API_VERSION.search(text)
    if not looks_so and not asked:
        into.skipped[NOT_KUBERNETES] += 1
        return
    line = document.line + error.line - 1 if error.line else document.line
    if _TEMPLATE.search(text):
        message = "looks like an unrendered template: render it first (helm template, kubectl kustomize)"
        _report(document, into, (line, error.column), (Trouble.TEMPLATE, message, asked))
        return
    message = f"kubectl would not read it: {error.message}"
    _report(document, into, (line, error.column), (Trouble.BROKEN, message, True))


def _report(
    document: Document, into: Reading, at: tuple[int, int], problem: tuple[Trouble, str, bool]
) -> None:
    trouble, message, grave = problem
    into.problems.append(Problem(Place(document.file.name, *at), message, trouble, grave))


def _take(value: object, document: Document, into: Reading, items: Sequence[Document] = ()) -> None:
    found = False
    for kube_object in _objects(value, document, (), items):
        found = True
        if _TEMPLATE.search(kube_object.name) or _NO_KIND.search(kube_object.kind):
            line = kube_object.place(("metadata", "name")).line
            message = "looks like an unrendered template: its name is a placeholder"
            _report(document, into, (line, 0), (Trouble.TEMPLATE, message, False))
            continue
        into.objects.append(kube_object)
    if not found:
        into.skipped[NOT_KUBERNETES] += 1


def _objects(
    value: object, document: Document, prefix: tuple[str | int, ...], apart: Sequence[Document] = ()
) -> Iterator[KubeObject]:
    if not isinstance(value, dict):
        return
    kind, version = value.get("kind"), value.get("apiVersion")
    if not isinstance(kind, str) or not isinstance(version, str) or not kind:
        return
    items = value.get("items")
    if kind.endswith("List") and "items" in value and items is None:
        # A list of nothing, as programs in Go write it.
        return
    if kind.endswith("List") and isinstance(items, list):
        # The text of an item is JSON of this item, or YAML of a list of one.
        within = () if apart and isinstance(apart[0], JsonDocument) else (0,)
        for place, item in enumerate(items):
            whole = _with_kind(item, kind, version)
            if apart:
                yield from _objects(whole, apart[place], within)
            else:
                yield from _objects(whole, document, (*prefix, "items", place))
        return
    if isinstance(value.get("metadata"), dict) or kind in _WITHOUT_METADATA:
        yield KubeObject(value, document, prefix)


def _with_kind(item: object, kind: str, version: str) -> object:
    # In a `PodList` the items go without kind and version.
    if isinstance(item, dict) and "kind" not in item and kind != "List":
        return {"apiVersion": version, "kind": kind.removesuffix("List"), **item}
    return item


def _read_json(file: SourceFile, into: Reading, *, asked: bool) -> bool:
    """Reads a file of JSON values; False when it is something else, such as YAML in braces."""
    text = file.text
    values: list[JsonValue] = []
    at = 0
    try:
        while (start := _next_value(text, at)) < len(text):
            values.append(read_json(text, start, into.common))
            at = values[-1].end
    except json.JSONDecodeError as error:
        if not ends_early(error):
            return False
        if asked or (_KUBERNETES.search(text) and _API_VERSION.search(text)):
            place = Place(file.name, error.lineno, error.colno)
            into.problems.append(Problem(place, "the JSON ends in the middle of a value", Trouble.BROKEN))
        else:
            into.skipped[NOT_KUBERNETES] += 1
        return True
    except (ValueError, RecursionError):
        return False
    places = _Places(file, text)
    for found in values:
        into.documents += 1
        document = places.document(found.start, found.end)
        items = [places.document(one.start, one.end) for one in found.items]
        _take(as_map(found.value), document, into, items)
    return True


class _Places:
    """Makes the documents of a file of JSON, one after the other, so that its lines are counted once."""

    def __init__(self, file: SourceFile, text: str) -> None:
        self.file = file
        self.text = text
        self.line, self.begin = 1, 0
        self.counted = 0

    def document(self, start: int, end: int) -> JsonDocument:
        """What stands between two places."""
        ends = self.text.count("\n", self.counted, start)
        if ends:
            self.line += ends
            self.begin = self.text.rfind("\n", self.counted, start) + 1
        self.counted = start
        return JsonDocument(self.file, start, end, self.line, start - self.begin + 1)


_BLANKS = regex(r"[\s\ufeff]*")


def _next_value(text: str, at: int) -> int:
    match = _BLANKS.match(text, at)
    return match.end() if match else at
