"""Makes one scene of everything that was read."""

from __future__ import annotations

from collections.abc import Mapping

from pilotage.checks.readers.reading import Reading
from pilotage.checks.scene import LATEST, Scene


def assemble(
    reading: Reading,
    *,
    live: bool = False,
    blind: Mapping[str, str] | None = None,
    version: tuple[int, int] = LATEST,
    counts: Mapping[str, int] | None = None,
) -> Scene:
    """The scene of a reading, whether it comes from files or from a cluster.

    Args:
        reading: objects and configurations.
        live: whether it is a cluster, so that what is not there does not exist.
        blind: kind -> why its objects could not be read.
        version: (major, minor) of the Kubernetes that it is meant for.
        counts: kind -> number of objects of a cluster, those that were not kept among them.
    """
    return Scene(reading.objects, reading.configs, live=live, blind=blind, version=version, counts=counts)
