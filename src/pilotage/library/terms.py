"""The controlled vocabulary: terms with labels, definitions and synonyms in two languages.

The terms are data, one YAML file per kind in `vocabulary/`, read from the JSON file that is made of them
(see `vocabulary.compiling`). A deprecated slug keeps resolving to the term that took its place. Organisations
are an open kind: a record may name one that is not listed.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import resources
from typing import TYPE_CHECKING, Any

from pilotage.core.errors import UnknownTerm
from pilotage.core.text import did_you_mean
from pilotage.library.languages import LANGS, Lang

if TYPE_CHECKING:
    from pilotage.library.record import Record

KINDS = (
    "domains",
    "symptoms",
    "components",
    "root-causes",
    "contributing",
    "detection",
    "remediation",
    "severities",
    "source-kinds",
    "organisations",
)

FACETS: dict[str, str | None] = {
    "organisation": "organisations",
    "year": None,
    "domain": "domains",
    "component": "components",
    "symptom": "symptoms",
    "root_cause": "root-causes",
    "contributing": "contributing",
    "detection": "detection",
    "remediation": "remediation",
    "severity": "severities",
    "source_kind": "source-kinds",
    "status": None,
}
"""Name of each facet and the kind of vocabulary that its slugs come from."""

FACET_OF: dict[str, str] = {kind: facet for facet, kind in FACETS.items() if kind}
"""Kind of vocabulary -> the facet that its terms fill."""

FACET_LABELS: dict[str, dict[Lang, str]] = {
    "organisation": {"en": "Organisation", "ko": "조직"},
    "year": {"en": "Year", "ko": "연도"},
    "domain": {"en": "Domain", "ko": "영역"},
    "component": {"en": "Component", "ko": "구성 요소"},
    "symptom": {"en": "Symptom", "ko": "증상"},
    "root_cause": {"en": "Root cause", "ko": "근본 원인"},
    "contributing": {"en": "Contributing factor", "ko": "기여 요인"},
    "detection": {"en": "Detection", "ko": "감지"},
    "remediation": {"en": "Remediation", "ko": "조치"},
    "severity": {"en": "Severity", "ko": "심각도"},
    "source_kind": {"en": "Kind of source", "ko": "출처 종류"},
    "status": {"en": "Status", "ko": "상태"},
}

COMPILED = "compiled.json"
"""The file in `vocabulary/` that holds all kinds; `make docs` writes it."""

_STATUS_LABELS: dict[str, dict[Lang, str]] = {
    "draft": {"en": "Draft", "ko": "초안"},
    "reviewed": {"en": "Reviewed", "ko": "검토됨"},
    "withdrawn": {"en": "Withdrawn", "ko": "철회됨"},
}


@dataclass(frozen=True)
class Term:
    """One term.

    Attributes:
        kind: one of `KINDS`.
        slug: its stable name.
        label: what readers see, per language.
        definition: one sentence per language.
        synonyms: other words that mean it, per language.
        parent: slug of the wider term of the same kind.
        crosswalk: study id -> that study's label.
        replaced_by: for a deprecated slug, the term that took its place.
    """

    kind: str
    slug: str
    label: dict[Lang, str]
    definition: dict[Lang, str] = field(default_factory=dict)
    synonyms: dict[Lang, tuple[str, ...]] = field(default_factory=dict)
    parent: str | None = None
    crosswalk: dict[str, str] = field(default_factory=dict)
    replaced_by: str | None = None

    def names(self) -> Iterator[str]:
        """Every word or phrase that means this term: the slug, the labels, the synonyms."""
        yield self.slug
        for lang in LANGS:
            if lang in self.label:
                yield self.label[lang]
            yield from self.synonyms.get(lang, ())


class Vocabulary:
    """All terms.

    Args:
        terms: kind -> slug -> term.
        versions: kind -> version of its file.
    """

    def __init__(self, terms: dict[str, dict[str, Term]], versions: dict[str, int]) -> None:
        self.terms = terms
        self.versions = versions

    def __iter__(self) -> Iterator[Term]:
        for kind in KINDS:
            yield from self.terms.get(kind, {}).values()

    def of(self, kind: str) -> dict[str, Term]:
        """The terms of a kind by slug.

        Raises:
            UnknownTerm: no such kind.
        """
        if kind not in self.terms:
            raise UnknownTerm(f"'{kind}' is no kind of vocabulary", hint=did_you_mean(kind, KINDS))
        return self.terms[kind]

    def resolve(self, kind: str, slug: str) -> str:
        """The slug in force: that of the successor where `slug` is deprecated, else itself."""
        term = self.terms.get(kind, {}).get(slug)
        return term.replaced_by if term is not None and term.replaced_by else slug

    def label(self, kind: str | None, slug: str, lang: Lang) -> str:
        """What a reader sees for a slug; the slug itself where it is not in the vocabulary."""
        if kind is None:
            return _STATUS_LABELS.get(slug, {}).get(lang, slug)
        term = self.terms.get(kind, {}).get(slug)
        return slug if term is None else term.label.get(lang) or term.label.get("en") or slug

    def facet_label(self, facet: str, slug: str, lang: Lang) -> str:
        """What a reader sees for a value of a facet."""
        return self.label(FACETS[facet], slug, lang)


def tags_of(record: Record, vocabulary: Vocabulary) -> list[tuple[str, str]]:
    """The (facet, slug) pairs of a record, deprecated slugs resolved, each once."""
    listed: list[tuple[str, list[str | None]]] = [
        ("organisation", [record.organisation]),
        ("year", [record.year]),
        ("domain", list(record.domain or [])),
        ("component", list(record.components or [])),
        ("symptom", list(record.symptoms or [])),
        ("root_cause", list(record.causes)),
        ("contributing", list(record.contributing or [])),
        ("detection", [record.detection_kind]),
        ("remediation", [action.kind for action in record.remediation or []]),
        ("severity", [record.severity or "unknown"]),
        ("source_kind", [source.kind for source in record.sources or []]),
        ("status", [record.status]),
    ]
    pairs = [
        (facet, vocabulary.resolve(FACETS[facet] or "", slug))
        for facet, slugs in listed
        for slug in slugs
        if slug
    ]
    return list(dict.fromkeys(pairs))


def facet_name(name: str) -> str:
    """The facet that a user's word names: `root-cause`, `cause` and `org` are understood.

    Raises:
        UnknownTerm: there is no such facet; the hint names the nearest ones.
    """
    word = name.strip().lower().replace("-", "_")
    short = {
        "org": "organisation",
        "organization": "organisation",
        "cause": "root_cause",
        "source": "source_kind",
    }
    plural = word.removesuffix("s")
    for candidate in (word, short.get(word, ""), plural, short.get(plural, "")):
        if candidate in FACETS:
            return candidate
    raise UnknownTerm(
        f"'{name}' is no facet", hint=did_you_mean(word, FACETS) or f"Facets: {', '.join(FACETS)}."
    )


@functools.cache
def load_vocabulary() -> Vocabulary:
    """The vocabulary that is shipped with Pilotage."""
    terms: dict[str, dict[str, Term]] = {}
    versions: dict[str, int] = {}
    file = resources.files("pilotage.library") / "vocabulary" / COMPILED
    kinds = json.loads(file.read_bytes())
    for kind in KINDS:
        terms[kind] = {term.slug: term for term in (_term(kind, item) for item in kinds[kind]["terms"])}
        versions[kind] = kinds[kind]["version"]
    return Vocabulary(terms, versions)


def _term(kind: str, item: dict[str, Any]) -> Term:
    return Term(
        kind=kind,
        slug=item["slug"],
        label=item["label"],
        definition=item.get("definition") or {},
        synonyms={lang: tuple(words or ()) for lang, words in (item.get("synonyms") or {}).items()},
        parent=item.get("parent"),
        crosswalk=item.get("crosswalk") or {},
        replaced_by=item.get("replaced_by"),
    )
