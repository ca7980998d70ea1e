"""What a reader hands over: objects, configurations, what could not be read, what was passed over."""

from __future__ import annotations

import contextlib
import enum
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import msgspec

from pilotage.checks.aside import Shelf
from pilotage.checks.objects import KubeObject, Place, SourceFile, Unbuilt
from pilotage.checks.readers.elsewhere import Elsewhere
from pilotage.checks.readers.parallel import Ahead
from pilotage.checks.yaml_blocks import Common

LARGE = 8_000_000
"""Characters of a scene from which on memory is worth more than a little time."""


class Trouble(enum.StrEnum):
    """Why something could not be read."""

    UNREADABLE = "unreadable"
    BROKEN = "broken"
    TEMPLATE = "template"


class Problem(msgspec.Struct, frozen=True):
    """Something that was to be read and could not be.

    Attributes:
        place: where.
        message: what is wrong, one sentence.
        trouble: why it could not be read.
        grave: whether asked-for input is missing from the answer, which ends in exit code 3.
    """

    place: Place
    message: str
    trouble: Trouble
    grave: bool = True


@dataclass
class Reading:
    """Everything that was read.

    Attributes:
        objects: Kubernetes objects in the order of the files.
        configs: parsed configurations of other kinds (a proxy's), each of a class of its own.
        problems: what could not be read.
        skipped: what was passed over, counted by reason.
        files: number of files that were looked at.
        documents: number of documents that were parsed.
        charts: number of Helm charts among the files.
        kustomizations: files of Kustomize that were read as they lie, by name, with what they say.
        kustomize_folders: folders with such a file, rendered or not.
        every_kustomization: all of them by name, those that were rendered as well.
        unbuilt: what Kustomize makes of the objects, which it did not do here.
        ahead: documents that other processes parse meanwhile.
        characters: length of what was read.
        shelf: where the texts of a large scene lie; None for others, and where nobody may write.
        common: what documents of a large scene have in common; None for others.
        elsewhere: what Kustomize has fetched.
        asked: the paths that were asked for, absolute.
    """

    objects: list[KubeObject] = field(default_factory=list)
    configs: list[Any] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)
    files: int = 0
    documents: int = 0
    charts: int = 0
    kustomizations: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    kustomize_folders: set[str] = field(default_factory=set)
    every_kustomization: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    unbuilt: Unbuilt = field(default_factory=Unbuilt)
    ahead: Ahead = field(default_factory=Ahead, repr=False)
    characters: int = 0
    shelf: Shelf | None = field(default=None, repr=False)
    common: Common | None = field(default=None, repr=False)
    elsewhere: Elsewhere = field(default_factory=Elsewhere, repr=False)
    asked: list[str] = field(default_factory=list)

    def expect(self, file: SourceFile) -> None:
        """Is told of each file before it is read, and begins to save memory when they are many."""
        self.characters += len(file.text)
        if self.common is None and self.characters >= LARGE:
            self.common = {}
            with contextlib.suppress(OSError):
                self.shelf = Shelf()

    @property
    def empty(self) -> bool:
        """Whether there is nothing to check."""
        return not self.objects and not self.configs


class FileReader(Protocol):
    """Reads one kind of file. `readers/files.py` lists them by hand; the first that wants a file gets it."""

    patterns: Sequence[str]
    """Names (`*.yaml`) by which a walk through folders finds its files."""

    def wants(self, name: str, text: str) -> bool:
        """Whether the file is of this kind."""

    def read(self, file: SourceFile, into: Reading, *, asked: bool) -> None:
        """Adds what the file holds.

        Args:
            file: the file.
            into: where to add objects, configurations and problems; never raises for bad input.
            asked: whether the user named this very file, so that finding nothing in it is a problem.
        """
