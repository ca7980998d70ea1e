"""What each controller knows, by version: annotations, keys of its ConfigMap, flags; from `data/`."""

from __future__ import annotations

import difflib
import enum
import functools
import re
from collections.abc import Mapping

import msgspec

from pilotage.checks.tables import read_table
from pilotage.checks.values import as_list, as_map, as_text, duration

FILES = {
    "ingress-nginx": "ingress_nginx",
    "haproxy-ingress": "haproxy_ingress",
    "haproxytech": "haproxytech",
    "traefik": "traefik",
}
_CLOSE = 0.75


class Standing(enum.Enum):
    """What a version makes of a key."""

    KNOWN = enum.auto()
    UNKNOWN = enum.auto()
    TOO_NEW = enum.auto()
    GONE = enum.auto()


class Range(msgspec.Struct, frozen=True):
    """From which minor version on, and until which; None means unbounded."""

    since: tuple[int, int] | None
    until: tuple[int, int] | None


class Known(msgspec.Struct, frozen=True):
    """What one controller knows.

    Attributes:
        product: the controller.
        prefix: of its annotations.
        last: the last minor version that was read.
        tables: `annotations`, `settings`, `flags` -> key -> range; where there is only one list, annotations
            are the settings.
        patterns: keys with a number in them.
    """

    product: str
    prefix: str
    last: tuple[int, int]
    tables: Mapping[str, Mapping[str, Range]]
    patterns: Mapping[str, tuple[tuple[re.Pattern[str], Range], ...]]

    def range(self, table: str, key: str) -> Range | None:
        """The range of a key; None where no version knew it."""
        found = self.tables.get(table, {}).get(key)
        if found is not None:
            return found
        return next((one for pattern, one in self.patterns.get(table, ()) if pattern.fullmatch(key)), None)

    def standing(self, table: str, key: str, version: tuple[int, ...]) -> Standing:
        """What a version makes of a key; without a version only what no version knew is unknown."""
        found = self.range(table, key)
        if found is None:
            newer = bool(version) and version[:2] > self.last
            return Standing.KNOWN if newer else Standing.UNKNOWN
        if not version:
            return Standing.KNOWN
        if found.since is not None and version[:2] < found.since:
            return Standing.TOO_NEW
        if found.until is not None and version[:2] > found.until:
            return Standing.GONE
        return Standing.KNOWN

    def nearest(self, table: str, key: str) -> str:
        """The known key that is spelt most like this one; empty where none is close."""
        found = difflib.get_close_matches(key, self.tables.get(table, {}), n=1, cutoff=_CLOSE)
        return found[0] if found else ""


def _range(value: object) -> Range:
    since, _, until = as_text(value).partition("-")
    return Range(_minor(since), _minor(until))


def _minor(text: str) -> tuple[int, int] | None:
    parts = text.split(".")
    return (int(parts[0]), int(parts[1])) if len(parts) > 1 else None


@functools.cache
def known_by(product: str) -> Known | None:
    """What a controller knows; None for one of which we have no list."""
    name = FILES.get(product)
    if name is None:
        return None
    data = as_map(read_table(f"data/{name}.yaml"))
    tables: dict[str, dict[str, Range]] = {}
    patterns: dict[str, tuple[tuple[re.Pattern[str], Range], ...]] = {}
    for table in ("annotations", "settings", "flags"):
        rows = as_map(data.get(table) or (data.get("settings") if table == "annotations" else None))
        tables[table] = {key: _range(value) for key, value in rows.items() if "*" not in key}
        patterns[table] = tuple(
            (re.compile(re.escape(key).replace(r"\*", r"\d+")), _range(value))
            for key, value in rows.items()
            if "*" in key
        )
    return Known(
        product, as_text(data.get("prefix")), _minor(as_text(data.get("last"))) or (0, 0), tables, patterns
    )


class Default(msgspec.Struct, frozen=True):
    """What a controller does where nothing is written.

    Attributes:
        value: as it would be written.
        range: the minor versions for which it holds; `until` is the first for which it does not.
        source: the page or file that says so.
    """

    value: str
    range: Range
    source: str


@functools.cache
def _defaults() -> Mapping[tuple[str, str], tuple[Default, ...]]:
    found: dict[tuple[str, str], tuple[Default, ...]] = {}
    for row in as_list(as_map(read_table("data/controller_defaults.yaml")).get("defaults")):
        mark = (as_text(row.get("product")), as_text(row.get("key")))
        value = row.get("value")
        bounds = Range(_minor(as_text(row.get("since"))), _minor(as_text(row.get("before"))))
        one = Default(
            str(value).lower() if isinstance(value, bool) else str(value), bounds, as_text(row.get("source"))
        )
        found[mark] = (*found.get(mark, ()), one)
    return found


def default_of(product: str, key: str, version: tuple[int, ...] = ()) -> Default | None:
    """What a version does where a key is not written; None where we do not know it.

    Args:
        product: the controller.
        key: of its ConfigMap, its flags or its configuration.
        version: its version; without one only what holds for every version is known.
    """
    for one in _defaults().get((product, key), ()):
        since, before = one.range.since, one.range.until
        if since is None and before is None:
            return one
        if version and (since is None or version[:2] >= since) and (before is None or version[:2] < before):
            return one
    return None


def default_seconds(product: str, key: str, version: tuple[int, ...] = ()) -> float:
    """A default that is a duration, in seconds; 0 where we do not know it."""
    found = default_of(product, key, version)
    return (duration(found.value) or 0.0) if found is not None else 0.0
