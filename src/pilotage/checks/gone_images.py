"""Images that a manifest names and that their makers have withdrawn."""

from __future__ import annotations

import functools
from collections.abc import Mapping

import msgspec

from pilotage.checks.components import bare_image
from pilotage.checks.tables import read_table
from pilotage.checks.values import as_list, as_map, as_text, dig

_HUB = ("docker.io/", "index.docker.io/", "registry-1.docker.io/")


class GoneImage(msgspec.Struct, frozen=True):
    """A row of `data/gone_images.yaml`.

    Attributes:
        what: what became of it, as the end of a sentence.
        fix: what to run instead, as sentences.
        pulled: whether nodes can still pull it, though that is of no use.
    """

    what: str
    fix: str
    pulled: bool


def gone_image(image: str) -> GoneImage | None:
    """The row of an image of Docker Hub; None for one that is still there, and for other registries."""
    name = bare_image(image)
    for hub in _HUB:
        name = name.removeprefix(hub)
    return _rows().get(name)


@functools.cache
def _rows() -> Mapping[str, GoneImage]:
    """Name on Docker Hub -> its row."""
    rows = as_list(as_map(read_table("data/gone_images.yaml")).get("images"))
    return {
        as_text(name): GoneImage(
            as_text(dig(row, "what")), as_text(dig(row, "fix")), dig(row, "pulled") is True
        )
        for row in rows
        for name in as_list(dig(row, "names"))
    }
