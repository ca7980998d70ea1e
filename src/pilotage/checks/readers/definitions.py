"""CustomResourceDefinitions that are read beside the scene: they tell what custom resources may hold."""

from __future__ import annotations

from collections.abc import Iterable

from pilotage.checks.objects import KubeObject
from pilotage.checks.readers.files import Reach, read_paths
from pilotage.core.errors import InvalidInput

_KIND = "CustomResourceDefinition"


def read_definitions(paths: Iterable[str]) -> list[KubeObject]:
    """The CustomResourceDefinitions in files and folders; what else lies there is passed over.

    Raises:
        InvalidInput: a file cannot be read, or a path holds no definition.
    """
    found: list[KubeObject] = []
    for path in paths:
        reading = read_paths([path], reach=Reach())
        problem = next((one for one in reading.problems if one.grave), None)
        if problem is not None and not any(one.kind == _KIND for one in reading.objects):
            raise InvalidInput(f"{problem.place}: {problem.message}", hint="--crds names files or folders.")
        definitions = [one for one in reading.objects if one.kind == _KIND]
        if not definitions:
            raise InvalidInput(
                f"{path} holds no CustomResourceDefinition",
                hint="--crds names files or folders that hold some.",
            )
        found += definitions
    return found
