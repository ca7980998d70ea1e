"""What the search index holds of a record: token columns, tags, addresses, passages. Pure."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pilotage.library.address import canonical_url
from pilotage.library.analysis import spelled, tag_token
from pilotage.library.languages import LANGS, Lang
from pilotage.library.terms import FACETS, Vocabulary, tags_of

if TYPE_CHECKING:
    from pilotage.library.record import Record, Text

COLUMNS = ("name", "said", "tags", "body")
"""Columns of the index. name: title, organisation, ids; said: phrases and symptoms; tags: vocabulary terms;
body: the rest."""

MOST_PASSAGES = 64
_UNSPOKEN_FACETS = frozenset({"status", "severity", "source_kind", "year"})


@dataclass(frozen=True)
class Passage:
    """A piece of a record that gets its own vector.

    Attributes:
        part: what it is: title, summary, symptoms, mechanism, lessons or phrase.
        lang: its language.
        text: its words.
    """

    part: str
    lang: Lang
    text: str


@dataclass(frozen=True)
class Entry:
    """The index entry of one record.

    Attributes:
        columns: column name -> tokens separated by spaces.
        tags: (facet, slug) pairs.
        urls: canonical addresses of the sources.
        passages: what the embedder is given.
    """

    columns: dict[str, str]
    tags: list[tuple[str, str]]
    urls: list[str]
    passages: list[Passage]


def index_entry(record: Record, vocabulary: Vocabulary) -> Entry:
    """The index entry of a record."""
    tags = tags_of(record, vocabulary)
    said: list[str] = [*record.phrases.en, *record.phrases.ko, *_both(record.symptoms_text)]
    name = [
        record.id,
        *record.aliases,
        record.org or "",
        *_both(record.title),
        *_organisation(record, vocabulary),
    ]
    return Entry(
        columns={
            "name": _joined(name),
            "said": _joined(said),
            "tags": " ".join([*_tag_tokens(tags, vocabulary), *_month(record), *_links(record)]),
            "body": _joined(_body(record)),
        },
        tags=tags,
        urls=list(dict.fromkeys(canonical_url(source.url) for source in record.sources or [])),
        passages=passages(record),
    )


def passages(record: Record) -> list[Passage]:
    """The pieces of a record that get vectors: phrases one by one, longer texts by paragraph."""
    found: list[Passage] = []
    for lang in LANGS:
        found += [Passage("phrase", lang, phrase) for phrase in getattr(record.phrases, lang)]
        for part, text in (
            ("title", record.title),
            ("symptoms", record.symptoms_text),
            ("summary", record.summary),
        ):
            value = getattr(text, lang) if text else None
            found += [Passage(part, lang, paragraph) for paragraph in paragraphs(value)]
        steps = " ".join(getattr(step.label, lang) or "" for step in record.mechanism).strip()
        if steps:
            found.append(Passage("mechanism", lang, steps))
        lessons = " ".join(paragraphs(getattr(record.lessons, lang) if record.lessons else None))
        if lessons:
            found.append(Passage("lessons", lang, lessons))
    return found[:MOST_PASSAGES]


def paragraphs(text: str | None) -> list[str]:
    """The paragraphs of a text."""
    return [part.strip() for part in (text or "").split("\n\n") if part.strip()]


def _body(record: Record) -> list[str]:
    parts: list[str] = []
    for name, text in record.texts():
        if name not in {"title", "symptoms_text"}:
            parts += _both(text)
    if record.impact:
        parts += [record.impact.scope or "", record.impact.users or "", record.impact.region or ""]
    return [part for part in parts if part and part != "unknown"]


def _month(record: Record) -> list[str]:
    if record.date is None or record.date_precision in {"year", "unknown"}:
        return []
    return [tag_token("month", record.date[:7])]


def _links(record: Record) -> list[str]:
    # So that a link made by hand is found from its other end as well.
    targets = [*(record.related or []), *([record.recurrence_of] if record.recurrence_of else [])]
    return [tag_token("link", target) for target in dict.fromkeys(targets)]


def _organisation(record: Record, vocabulary: Vocabulary) -> list[str]:
    term = vocabulary.terms.get("organisations", {}).get(record.organisation or "")
    return [] if term is None else list(term.names())


def _tag_tokens(tags: list[tuple[str, str]], vocabulary: Vocabulary) -> list[str]:
    return [_spoken(facet, slug, vocabulary) for facet, slug in tags]


@functools.lru_cache(maxsize=20_000)
def _spoken(facet: str, slug: str, vocabulary: Vocabulary) -> str:
    """What the index holds of a tag: its own token, and the words of its slug and labels."""
    if facet in _UNSPOKEN_FACETS or facet == "organisation":
        return tag_token(facet, slug)
    term = vocabulary.terms.get(FACETS[facet] or "", {}).get(slug)
    labels = [] if term is None else [term.label.get(lang, "") for lang in LANGS]
    return " ".join([tag_token(facet, slug), *filter(None, map(spelled, [slug, *labels]))])


def _both(text: Text | None) -> list[str]:
    return [] if text is None else [part for part in (text.en, text.ko) if part]


def _joined(parts: Iterable[str]) -> str:
    return " ".join(filter(None, map(spelled, parts)))
