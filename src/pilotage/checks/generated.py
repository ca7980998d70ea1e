"""Where an object is to be mended that a program writes, or of which there are copies."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Any

from pilotage.checks.objects import KubeObject, SourceFile, Subject
from pilotage.checks.scene import Scene
from pilotage.core.counting import counted
from pilotage.core.regex import regex

_SAYS_SO = regex(
    r"\bauto(?:matically)?[- ]?generated\b|\bgenerated (?:by|file|from|with)\b|"
    r"\bdo not (?:manually |directly )?(?:edit|modify|change)\b",
    re.IGNORECASE,
)
_ORIGINAL = "Where one is copied from another, change the original."
_HEAD = 4000
_MOST = 20
"""So many objects of one name are compared with each other, that a folder of thousands costs no more."""
FORGOTTEN = "No kustomization here names this file: name it in one, or delete it if nobody applies it."
ELSEWHERE = "This file says that it is generated: change what it is made from."


def where_to_mend(scene: Scene, subject: Subject) -> str:
    """A sentence on where else an object is to be changed, so that it stays changed; empty for nowhere."""
    if says_generated(subject.source):
        return ELSEWHERE
    if scene.unbuilt.forgets(subject.source):
        return FORGOTTEN
    found = list(dict.fromkeys(_copies(scene, subject))) if isinstance(subject, KubeObject) else []
    if not found:
        return ""
    if len(found) == 1:
        return f"`{found[0]}` holds the same object and needs the same. {_ORIGINAL}"
    others = counted(len(found) - 1, "other file")
    return f"`{found[0]}` and {others} hold the same object and need the same. {_ORIGINAL}"


def _copies(scene: Scene, one: KubeObject) -> Iterator[str]:
    """The other files that hold the same object; which version of an image each names makes none another."""
    source = one.source
    if source is None or source.chart_defaults:
        return
    for other in scene.index.named(one.kind, one.name, one.namespace)[:_MOST]:
        beside = other.source
        if other is one or beside is None or beside.shown == source.shown or says_generated(beside):
            continue
        if one.api_version == other.api_version and _but_images(one.data) == _but_images(other.data):
            yield beside.shown


def _but_images(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _but_images(inner) for key, inner in value.items() if key != "image"}
    return [_but_images(inner) for inner in value] if isinstance(value, list) else value


def says_generated(source: SourceFile | None) -> bool:
    """Whether the comments at the head of a file say that nobody is to edit it by hand."""
    if source is None or source.origin is not None:
        return False
    lines = source.part(0, _HEAD).split("\n")
    head = itertools.takewhile(lambda line: not line.strip() or line.startswith(("#", "---")), lines)
    return any(_SAYS_SO.search(line) for line in head)
