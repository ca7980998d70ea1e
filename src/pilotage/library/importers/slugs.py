"""Which vocabulary slugs a record uses, and where."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from typing import Any

from pilotage.core.text import nearest
from pilotage.library.importers.model import Note

Path = tuple[str | int, ...]
Known = Mapping[str, Collection[str]]
"""Record field (`symptoms`, `sources.kind` …) and its known slugs."""

_LISTS = ("domain", "symptoms", "components", "contributing")
_SINGLE = ("root_cause", "severity", "detection_kind")
_KINDS = {
    "root_causes": "root_cause",
    "contributing_notes": "contributing",
    "remediation": "remediation.kind",
    "sources": "sources.kind",
}


def slugs_in(document: Mapping[str, Any]) -> Iterator[tuple[str, Path, str]]:
    """Vocabulary field, path and slug of every term in a document of any form."""
    for name in _SINGLE:
        if isinstance(document.get(name), str):
            yield name, (name,), document[name]
    for name in _LISTS:
        for index, slug in enumerate(_list(document.get(name))):
            if isinstance(slug, str):
                yield name, (name, index), slug
    for name, vocabulary in _KINDS.items():
        for index, part in enumerate(_list(document.get(name))):
            if isinstance(part, dict) and isinstance(part.get("kind"), str):
                yield vocabulary, (name, index, "kind"), part["kind"]


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def unknown_slugs(document: Mapping[str, Any], known: Known) -> Iterator[tuple[Path, str, list[str]]]:
    """Path, slug and the nearest known ones of every term that its vocabulary does not have.

    When none of its own field is near, those of other fields are named with their field.
    """
    for vocabulary, path, slug in slugs_in(document):
        terms = known.get(vocabulary)
        if terms is not None and slug not in terms:
            yield path, slug, list(_near(slug, frozenset(terms))) or _elsewhere(slug, known)


def _elsewhere(slug: str, known: Known) -> list[str]:
    """Terms of other fields that are near: a cause is easily taken for a contributing factor."""
    found = ((_near(slug, frozenset(terms)), field) for field, terms in known.items())
    return [f"{near[0]} in {field}" for near, field in found if near]


@lru_cache(maxsize=10_000)
def _near(slug: str, terms: frozenset[str]) -> tuple[str, ...]:
    # The same few slugs stand in all records of somebody with a vocabulary of their own.
    return tuple(nearest(slug, sorted(terms)))


def slug_notes(document: Mapping[str, Any], known: Known) -> tuple[Note, ...]:
    """A note for every unknown slug with the nearest known ones, for the mapping report."""
    return tuple(
        Note("unknown-slug", slug, ".".join(map(str, path)), _why(near))
        for path, slug, near in unknown_slugs(document, known)
    )


def _why(near: list[str]) -> str:
    return "nearest known: " + ", ".join(near) if near else "no known term is near"
