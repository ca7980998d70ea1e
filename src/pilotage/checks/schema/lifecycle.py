"""Which API versions are gone, are going, or are not there yet."""

from __future__ import annotations

import functools
import json
from importlib import resources
from typing import Any

import msgspec
import yaml

from pilotage.checks.schema.published import kinds_of, minors, served

Version = tuple[int, int]


class Life(msgspec.Struct, frozen=True):
    """What is known of the life of a version of a kind.

    Attributes:
        deprecated: since when its authors advise against it; None where they do not.
        removed: from which version on it is not served; None where no end is known.
        replacement: the version to write instead, with the kind where that is another one; empty for none.
        source: an address or the name of a file.
    """

    deprecated: Version | None
    removed: Version | None
    replacement: str = ""
    source: str = ""


def _version(text: str | None) -> Version | None:
    if not text:
        return None
    major, _, minor = text.partition(".")
    return int(major), int(minor)


@functools.cache
def lives() -> dict[str, Life]:
    """`apiVersion kind` -> its life."""
    folder = resources.files("pilotage.checks.schema").joinpath("data")
    generated: dict[str, Any] = json.loads(folder.joinpath("lifecycle.json").read_text("utf-8"))
    rows = {
        key: Life(
            _version(row.get("deprecated")),
            _version(row.get("removed")),
            row.get("replacement", ""),
            generated["source"]["from"],
        )
        for key, row in generated["rows"].items()
    }
    for row in yaml.load(folder.joinpath("removed.yaml").read_text("utf-8"), Loader=yaml.CSafeLoader):
        rows[row["api"]] = Life(
            _version(str(row["deprecated"])),
            _version(str(row["removed"])) if row.get("removed") else None,
            row.get("replacement", ""),
            row["source"],
        )
    return rows


class Standing(msgspec.Struct, frozen=True):
    """How a version of a kind stands in a version of Kubernetes.

    Attributes:
        gone: since when it is not served; None where it still is.
        going: from when on it will not be served; None where no end is known.
        deprecated: since when its authors advise against it.
        first: the version that first serves it, where it is not there yet.
        instead: what to write instead; empty where there is nothing.
    """

    gone: Version | None = None
    going: Version | None = None
    deprecated: Version | None = None
    first: Version | None = None
    instead: str = ""


def standing(api_version: str, kind: str, version: Version) -> Standing | None:
    """How a version of a kind stands; None where nothing is known against it."""
    life = lives().get(f"{api_version} {kind}")
    known = served(api_version, kind)
    minor = version[1]
    instead = _instead(api_version, kind, version, life)
    if known is not None and minor < known.first and known.first > minors()[0]:
        return Standing(first=(1, known.first), instead=instead)
    gone = _gone(life, known.last if known is not None else None, version)
    if gone is not None:
        return Standing(gone=gone, instead=instead)
    if life is None or life.deprecated is None or life.deprecated > version:
        return None
    going = life.removed if life.removed is not None and life.removed > version else None
    return Standing(going=going, deprecated=life.deprecated, instead=instead)


def _gone(life: Life | None, last: int | None, version: Version) -> Version | None:
    """Since when it is not served; what the definitions hold counts more than what was planned."""
    if last is not None and version[1] <= minors()[-1]:
        return (1, last + 1) if version[1] > last else None
    planned = life.removed if life is not None else None
    return planned if planned is not None and planned <= version else None


def _instead(api_version: str, kind: str, version: Version, life: Life | None) -> str:
    """A version of the kind that is served; stable ones first, those of the same group first."""
    group = api_version.rpartition("/")[0]
    minor = min(max(version[1], minors()[0]), minors()[-1])
    others = [one for one in kinds_of(minor).get(kind, []) if one != api_version]
    if life is not None and (life.replacement in others or " " in life.replacement):
        return life.replacement
    others = [one for one in others if kind != "Event" or one.startswith("events")]
    return min(
        others, key=lambda one: ("alpha" in one or "beta" in one, one.rpartition("/")[0] != group), default=""
    )
