"""Makes one scene of everything that was read, configurations inside of ConfigMaps among it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pilotage.checks.objects import KubeObject
from pilotage.checks.readers.embedded import embedded
from pilotage.checks.readers.reading import Reading
from pilotage.checks.scene import LATEST, Scene


def assemble(  # noqa: PLR0913 - as many as a scene has parts
    reading: Reading,
    *,
    live: bool = False,
    blind: Mapping[str, str] | None = None,
    version: tuple[int, int] = LATEST,
    counts: Mapping[str, Mapping[str, int]] | None = None,
    definitions: Iterable[KubeObject] = (),
) -> Scene:
    """The scene of a reading, whether it comes from files or from a cluster.

    Args:
        reading: objects and configurations.
        live: whether it is a cluster, so that what is not there does not exist.
        blind: kind -> why its objects could not be read.
        version: (major, minor) of the Kubernetes that it is meant for.
        counts: kind -> namespace -> number of objects, where more were read than kept.
        definitions: CustomResourceDefinitions that only tell what others may hold.
    """
    inside = embedded(reading.objects)
    reading.problems += inside.problems
    return Scene(
        reading.objects,
        [*reading.configs, *inside.configs],
        live=live,
        blind=blind,
        version=version,
        counts=counts,
        definitions=definitions,
        unbuilt=reading.unbuilt,
    )
