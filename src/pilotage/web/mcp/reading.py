"""From records to the items of a list, and text of reports made safe to hand on."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pilotage.core.text import normalise, printable
from pilotage.library.catalogue import Catalogue
from pilotage.library.insight.topics import TopicCase
from pilotage.library.record import Lang, Record, Text
from pilotage.library.search.answer import FIELD_LABELS, Hit
from pilotage.library.stores.protocol import Tag
from pilotage.library.terms import Term as VocabularyEntry
from pilotage.library.terms import Vocabulary, tags_of
from pilotage.web.mcp.answers import Item, Report, Term

_UNSEEN = re.compile("[\u200b\u2060\ufeff\U000e0000-\U000e007f]")
"""Characters that no reader sees and a model reads: the tag block spells out hidden ASCII."""
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
    report = Report(title=title_of(record, lang), organisation=clean(record.org) if record.org else None)
    if detailed:
        report.summary = said(record.summary, lang)
        report.tags = tag_slugs(record, vocabulary) or None
        report.sources = [clean(source.url) for source in record.sources or []] or None
    return Item(
        id=record.id,
        date=known_date(record.date, record.date_precision),
        date_kind=record.date_kind,
        status=record.status,
        private=private or None,
        report=report,
    )


def hit_item(hit: Hit, lang: Lang, *, vocabulary: Vocabulary, detailed: bool) -> Item:
    """A hit of a search: the record and why it is there."""
    item = item_of(hit.record, lang, private=hit.private, vocabulary=vocabulary, detailed=detailed)
    item.score = round(hit.score, 3)
    if item.report:
        item.report.matched = clean(hit.why.line(lang)) or None
        if detailed:
            item.report.snippets = [
                clean(f"{FIELD_LABELS.get(snippet.field, {}).get(lang, snippet.field)}: {snippet.text}")
                for snippet in hit.why.snippets
            ] or None
    return item


def case_item(case: TopicCase) -> Item:
    """An incident of a topic."""
    organisation = clean(case.organisation) if case.organisation else None
    return Item(
        id=case.id,
        date=known_date(case.date, case.date_precision),
        report=Report(title=clean(case.title), organisation=organisation),
    )


def bare(item: Item) -> Item:
    """What is left of an item that alone is too large: where to read it."""
    return Item(id=item.id, too_large=True)


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
