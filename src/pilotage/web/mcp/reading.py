"""From records to the items of a list, and text of reports made safe to hand on."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, TypeVar

from pilotage.core.text import normalise, printable
from pilotage.library.catalogue import Catalogue
from pilotage.library.insight.topics import TopicCase
from pilotage.library.record import Lang, Record, Text
from pilotage.library.search.answer import FIELD_LABELS
from pilotage.library.search.answer import Hit as Found
from pilotage.library.stores.protocol import Tag
from pilotage.library.terms import Term as VocabularyEntry
from pilotage.library.terms import Vocabulary, tags_of
from pilotage.web.mcp.answers import Case, Heading, Hit, HitReport, Item, Report, Term

_UNSEEN = re.compile("[\u200b\u2060\ufeff\U000e0000-\U000e007f]")
"""Characters that no reader sees and a model reads: the tag block spells out hidden ASCII."""
_Case = TypeVar("_Case", bound=Case)
_LENGTH_OF_DATE = {"day": 10, "month": 7, "year": 4, "unknown": 0}


def clean(text: str) -> str:
    """The text without characters that drive a terminal or hide words from a human reader."""
    return _UNSEEN.sub("", printable(normalise(text)))


def said(text: Text | None, lang: Lang) -> str | None:
    """A text in the language, else in the other one, else nothing."""
    return clean(text.get(lang)) or None if text else None


def known_date(date: str | None, precision: str | None) -> str | None:
    """As much of a date as is known."""
    return (date or "")[: _LENGTH_OF_DATE.get(precision or "day", 10)] or None


def title_of(record: Record, lang: Lang) -> str:
    """The title, or the id where there is none."""
    return said(record.title, lang) or record.id


def tag_slugs(record: Record, vocabulary: Vocabulary) -> dict[str, list[str]]:
    """Facet and slugs of a record, without those that the item says anyway."""
    found: dict[str, list[str]] = {}
    for facet, slug in tags_of(record, vocabulary):
        if facet not in {"organisation", "year", "status", "source_kind"} and slug != "unknown":
            found.setdefault(facet, []).append(clean(slug))
    return found


def item_of(record: Record, lang: Lang, *, private: bool, vocabulary: Vocabulary, detailed: bool) -> Item:
    """A record in a list."""
    report = Report(**_told(record, lang, vocabulary, detailed=detailed))
    return Item(id=record.id, report=report, **_facts(record, private=private))


def hit_item(hit: Found, lang: Lang, *, vocabulary: Vocabulary, detailed: bool) -> Hit:
    """A hit of a search: the record and why it is there."""
    report = HitReport(
        **_told(hit.record, lang, vocabulary, detailed=detailed), matched=clean(hit.why.line(lang)) or None
    )
    if detailed:
        report.snippets = [
            clean(f"{FIELD_LABELS.get(snippet.field, {}).get(lang, snippet.field)}: {snippet.text}")
            for snippet in hit.why.snippets
        ] or None
    return Hit(
        id=hit.record.id, score=round(hit.score, 3), report=report, **_facts(hit.record, private=hit.private)
    )


def _facts(record: Record, *, private: bool) -> dict[str, Any]:
    return {
        "date": known_date(record.date, record.date_precision),
        "date_kind": record.date_kind,
        "status": record.status,
        "private": private or None,
    }


def _told(record: Record, lang: Lang, vocabulary: Vocabulary, *, detailed: bool) -> dict[str, Any]:
    heading = {
        "title": title_of(record, lang),
        "organisation": clean(record.org) if record.org else None,
    }
    if not detailed:
        return heading
    return heading | {
        "summary": said(record.summary, lang),
        "tags": tag_slugs(record, vocabulary) or None,
        "sources": [clean(source.url) for source in record.sources or []] or None,
    }


def case_item(case: TopicCase) -> Case:
    """An incident of a topic."""
    organisation = clean(case.organisation) if case.organisation else None
    return Case(
        id=case.id,
        date=known_date(case.date, case.date_precision),
        report=Heading(title=clean(case.title), organisation=organisation),
    )


def bare(item: _Case) -> _Case:
    """What is left of an item that alone is too large: where to read it."""
    return type(item)(id=item.id, too_large=True)


def terms_of(tags: Sequence[Tag], catalogue: Catalogue, lang: Lang) -> list[Term]:
    """Tags with the labels that readers see."""
    return [
        Term(facet=facet, slug=clean(slug), label=clean(catalogue.vocabulary.facet_label(facet, slug, lang)))
        for facet, slug in tags
    ]


def suggested(terms: Sequence[VocabularyEntry], facets: dict[str, str], lang: Lang) -> list[Term]:
    """Terms of the vocabulary as suggestions.

    Args:
        terms: the terms.
        facets: kind -> facet.
        lang: language of the labels.
    """
    return [
        Term(facet=facets[term.kind], slug=term.slug, label=term.label.get(lang, term.slug)) for term in terms
    ]
