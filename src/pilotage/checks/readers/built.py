"""Objects as Kustomize built them, each part at its place in the file that holds it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from pilotage.checks.objects import ITEM_NAMES, Document, KubeObject, Place
from pilotage.checks.values import KeyPath, as_list, dig, dotted


class BuiltObject(KubeObject):
    """An object that was built from one in a file, to which patches may have added items, before its own too.

    Args:
        data: what was built.
        document: the document of the file.
        prefix: the way from there to the object.
        written: the object as the file has it.
    """

    __slots__ = ("written",)

    def __init__(
        self, data: Mapping[str, Any], document: Document, prefix: KeyPath, written: Mapping[str, Any]
    ) -> None:
        super().__init__(data, document, prefix)
        self.written = written

    def place(self, path: KeyPath = ()) -> Place:
        """See `KubeObject.place`."""
        return msgspec.structs.replace(super().place(self._in_file(path)), path=dotted(path))

    def lines(self, path: KeyPath) -> set[int]:
        """See `KubeObject.lines`."""
        return super().lines(self._in_file(path))

    def _in_file(self, path: KeyPath) -> KeyPath:
        """The way to the same part in the file; to what would hold it, where it is not there."""
        built: Any = self.data
        written: Any = self.written
        found: list[str | int] = []
        for part in path:
            items = as_list(built)
            built = dig(built, part)
            if isinstance(part, int):
                place = _place_of(built, part, len(items), as_list(written))
                if place is None:
                    break
                part = place  # noqa: PLW2901 - the same part, as the file counts it
            found.append(part)
            written = dig(written, part)
        return tuple(found)


def _place_of(item: Any, position: int, items: int, written: Sequence[Any]) -> int | None:
    """The position of an item in the list that the file has; None where a patch added it."""
    alike = [at for at, one in enumerate(written) if one == item]
    name = next((key for key in ITEM_NAMES if dig(item, key) is not None), "")
    if not alike and name:
        alike = [at for at, one in enumerate(written) if dig(one, name) == dig(item, name)]
    if alike:
        return position if position in alike else alike[0]
    return position if items == len(written) else None
