"""What a user has decided to live with: annotations on objects, comments in files; each with a reason."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from pilotage.checks.model import Gap
from pilotage.checks.objects import KubeObject, Place, SourceFile, Subject
from pilotage.checks.scene import Scene
from pilotage.checks.values import KeyPath, as_map, as_text
from pilotage.checks.workloads import workload_of
from pilotage.core.regex import regex
from pilotage.core.text import did_you_mean

ANNOTATION = "pilotage.dev/ignore"
_ENTRY = regex(r"(?:^|;)\s*([a-z0-9][a-z0-9-]*)\s*:|^\s*([a-z0-9]+(?:-[a-z0-9]+)+)\s*$", re.MULTILINE)
_COMMENT = regex(r"#\s*pilotage:\s*ignore\[([^\]\n]*)\]([^\n]*)")
_BLANK = regex(r"\s*(?:#|---|$)")


class Ignore(msgspec.Struct, eq=False):
    """One decision.

    Attributes:
        check: id of the check that is not to speak.
        reason: why.
        place: where the decision stands.
        used: whether it silenced anything.
    """

    check: str
    reason: str
    place: Place
    used: bool = False


class IdleIgnore(msgspec.Struct, frozen=True):
    """A decision that does nothing.

    Attributes:
        check: the id that it names.
        place: where it stands.
        why: why it does nothing.
    """

    check: str
    place: Place
    why: str


class Ignores:
    """The decisions of a scene.

    Args:
        scene: where to look for them.
        known: ids of all checks.
    """

    def __init__(self, scene: Scene, known: Iterable[str]) -> None:
        self._scene = scene
        self._known = set(known)
        self._noted: dict[int, list[Ignore]] = {}
        self._comments: dict[int, Mapping[int, list[Ignore]]] = {
            id(source): comments(source) for source in _sources(scene) if source.decides
        }
        for one in scene.objects:
            if noted := list(_annotated(one)):
                self._noted[id(one)] = noted

    def match(self, check: str, gap: Gap) -> Ignore | None:
        """The decision that silences a gap; None where there is none."""
        for ignore in self._speaking_of(gap.subject, gap.path):
            if ignore.check == check and ignore.reason:
                ignore.used = True
                return ignore
        return None

    def _speaking_of(self, subject: Subject, path: KeyPath) -> Iterator[Ignore]:
        # A configuration inside of an object is spoken of by the annotations of that object.
        holder = subject if isinstance(subject, KubeObject) else getattr(subject, "holder", None)
        if isinstance(holder, KubeObject):
            yield from self._noted.get(id(holder), ())
            owner = self._scene.owner(holder)
            if owner is not holder:
                yield from self._noted.get(id(owner), ())
        lines = self._comments.get(id(subject.source)) if subject.source is not None else None
        if lines:
            for line in subject.lines(path):
                yield from lines.get(line, ())

    def idle(self, ran: Iterable[str]) -> list[IdleIgnore]:
        """Decisions that silenced nothing, where their checks ran; and those that cannot."""
        found = []
        ran = set(ran)
        by_comment = [one for lines in self._comments.values() for items in lines.values() for one in items]
        for ignore in [*(one for items in self._noted.values() for one in items), *by_comment]:
            why = self._idleness(ignore, ran)
            if why:
                found.append(IdleIgnore(ignore.check, ignore.place, why))
        return found

    def _idleness(self, ignore: Ignore, ran: set[str]) -> str:
        if ignore.check not in self._known:
            return f"there is no check '{ignore.check}'. {did_you_mean(ignore.check, self._known)}".strip()
        if not ignore.reason:
            return "it gives no reason, so it does not count"
        return "" if ignore.used or ignore.check not in ran else "it matches nothing any more"


def _sources(scene: Scene) -> list[SourceFile]:
    found = {id(one.source): one.source for one in scene.subjects() if one.source is not None}
    for one in scene.subjects():
        # What a configuration includes are files of their own.
        found.update((id(source), source) for source in getattr(one, "sources", ()))
    return list(found.values())


def _annotated(one: KubeObject) -> Iterator[Ignore]:
    places: list[KeyPath] = [("metadata", "annotations")]
    workload = workload_of(one)
    if workload is not None and workload.template:
        places.append((*workload.template, "metadata", "annotations"))
    for path in places:
        text = as_text(as_map(one.get(*path)).get(ANNOTATION))
        if text:
            place = one.place((*path, ANNOTATION))
            yield from (Ignore(check, reason, place) for check, reason in entries(text))


def entries(text: str) -> Iterator[tuple[str, str]]:
    """The pairs of id and reason of an annotation: one a line, or divided by semicolons."""
    heads = list(_ENTRY.finditer(text))
    for head, following in zip(heads, [*heads[1:], None], strict=False):
        end = following.start() if following is not None else len(text)
        yield head[1] or head[2], text[head.end() : end].strip(" \t;\n")


def comments(source: SourceFile) -> Mapping[int, list[Ignore]]:
    """The decisions in a file's comments, by the line that they speak of: their own, or the next one."""
    found: dict[int, list[Ignore]] = defaultdict(list)
    lines = source.text.split("\n")
    for number, line in enumerate(lines, start=1):
        match = _COMMENT.search(line)
        if match is None:
            continue
        target = number
        if not line[: match.start()].strip():
            target = next(
                (n for n in range(number + 1, len(lines) + 1) if not _BLANK.match(lines[n - 1])), number
            )
        for check in match[1].split(","):
            place = source.place(number, match.start() + 1)
            found[target].append(Ignore(check.strip(), match[2].strip(), place))
    return found
