"""What to ask a cluster for and what came of it; the client itself is loaded only when somebody asks."""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Callable, Iterable

import msgspec

from pilotage.checks.model import Check
from pilotage.checks.readers.assemble import assemble
from pilotage.checks.readers.kinds import known_kinds
from pilotage.checks.readers.reading import Reading
from pilotage.checks.scene import LATEST, Scene
from pilotage.core.errors import MissingExtra

_NEEDED = ("aiohttp", "orjson")
Progress = Callable[[str, int, int], None]
"""Is told, after each kind, its name, how many kinds are done, and of how many."""


class ClusterQuestion(msgspec.Struct, frozen=True):
    """Which cluster, and how much of it.

    Attributes:
        kubeconfig: a file instead of the usual ones.
        context: a context instead of the current one.
        namespaces: only these; none means all.
        timeout_seconds: how long a silence of the server may last.
    """

    kubeconfig: str | None = None
    context: str | None = None
    namespaces: tuple[str, ...] = ()
    timeout_seconds: float = 30.0


class ClusterReading(msgspec.Struct):
    """What a cluster gave.

    Attributes:
        reading: its objects, and what could not be read.
        blind: kind -> why its objects could not be read.
        version: of the API server.
        whole: whether all namespaces were read, so that what is not there does not exist.
        counts: kind -> namespace -> number of objects, those that were not kept among them.
    """

    reading: Reading = msgspec.field(default_factory=Reading)
    blind: dict[str, str] = msgspec.field(default_factory=dict)
    version: tuple[int, int] = LATEST
    whole: bool = True
    counts: dict[str, Counter[str]] = msgspec.field(default_factory=dict)

    def scene(self) -> Scene:
        """The scene of it."""
        return assemble(
            self.reading, live=self.whole, blind=self.blind, version=self.version, counts=self.counts
        )


def read_cluster(
    question: ClusterQuestion, checks: Iterable[Check], progress: Progress | None = None
) -> ClusterReading:
    """Everything that some checks need of a cluster.

    Args:
        question: which cluster.
        checks: what is to be run; nothing else is read than what these need.
        progress: is told how far it is.

    Raises:
        MissingExtra: the client is not installed.
        UserError: the kubeconfig cannot be used, a namespace does not exist.
        OutsideError: the server does not answer, does not know us, or permits nothing at all.
    """
    try:
        # Optional, and dear to import: only who looks at a cluster pays for it.
        module = importlib.import_module("pilotage.checks.readers.cluster")
    except ModuleNotFoundError as error:
        if error.name is None or not error.name.startswith(_NEEDED):
            raise
        raise MissingExtra(
            f"looking at a live cluster needs {error.name}, which is not installed",
            hint="`pip install 'pilotage[cluster]'`",
        ) from error
    asked = tuple(checks)
    found: ClusterReading = module.read(question, asked, progress)
    found.blind = {**_unlisted(asked), **found.blind}
    return found


def _unlisted(checks: Iterable[Check]) -> dict[str, str]:
    """The kinds of own checks that we do not know where to list, with the reason to tell."""
    known = known_kinds()
    return {
        kind: "where it is listed is not known to us, so it was not asked for"
        for one in checks
        if one.own
        for kind in one.about
        if kind not in known and "." not in kind
    }
