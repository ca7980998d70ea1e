"""One set of answers over one store: what the command line, the pages, REST and MCP all ask."""

from __future__ import annotations

import base64
import binascii
import importlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pilotage.core.errors import InvalidInput, NotFound
from pilotage.core.text import did_you_mean
from pilotage.library.canonical import storable
from pilotage.library.embedding import Embedder
from pilotage.library.record import Lang, Record, read_record
from pilotage.library.search.answer import Answer
from pilotage.library.search.engine import Request, Searcher
from pilotage.library.search.lexicon import Lexicon, load_lexicon
from pilotage.library.search.query import facet_value
from pilotage.library.search.semantic import SemanticSearch
from pilotage.library.stores.protocol import Audience, Filters, Revision, Store, Stored, Tag
from pilotage.library.terms import FACETS, Vocabulary, facet_name, load_vocabulary

if TYPE_CHECKING:
    from pilotage.library.insight.related import RelatedAnswer, Sides
    from pilotage.library.insight.statistics import Matrix, Statistics
    from pilotage.library.insight.topics import Topic

_STATISTICS_KEPT = 32
"""Answers to different filters; a new version of the data makes all of them old."""
_NEAR_IDS_AMONG = 20_000
"""Beyond this number of records ids are not compared one by one with a mistyped one."""


@dataclass(frozen=True)
class Page:
    """A part of a list of records.

    Attributes:
        total: number of records in the whole list.
        items: the records of this part, newest first.
        next: cursor of the part that follows; None on the last one.
    """

    total: int
    items: tuple[Stored, ...]
    next: str | None


class Catalogue:
    """The answers of one store. Safe to share between threads.

    Args:
        store: where the records are.
        embedder: for likeness of meaning; None to answer from words alone.
        vocabulary: the controlled vocabulary.
        lexicon: its names.
    """

    def __init__(
        self,
        store: Store,
        embedder: Embedder | None = None,
        vocabulary: Vocabulary | None = None,
        lexicon: Lexicon | None = None,
    ) -> None:
        self.store = store
        self.vocabulary = vocabulary or load_vocabulary()
        self.lexicon = lexicon or load_lexicon()
        semantic = SemanticSearch(store, embedder) if embedder is not None else None
        self.searcher = Searcher(store, semantic, self.vocabulary, self.lexicon)
        self._statistics: dict[tuple[Audience, Filters | None, int], Statistics] = {}

    @cached_property
    def _sides(self) -> Sides:
        sides: Sides = _insight("related").Sides(self.store, self.vocabulary)
        return sides

    def search(self, request: Request) -> Answer:
        """See `Searcher.search`."""
        return self.searcher.search(request)

    def stored(self, name: str, audience: Audience) -> Stored:
        """The record of an id or alias; its `id` differs from `name` when that was an alias.

        Raises:
            NotFound: there is none that the audience may see; the hint names the nearest ids.
        """
        found = self.store.get([name], audience).get(name)
        if found is not None:
            return found
        few = self.store.count(Filters(withdrawn=True), audience) <= _NEAR_IDS_AMONG
        hint = did_you_mean(name, self.store.ids(audience)) if few else ""
        raise NotFound(f"no record '{name}'", hint=hint or "Search finds ids.")

    def record(self, name: str, audience: Audience) -> Record:
        """As `stored`, as the view."""
        found = self.stored(name, audience)
        return read_record(found.document, where=found.id)

    def revision(self, name: str, number: int, audience: Audience) -> Revision:
        """An older state of a record.

        Raises:
            NotFound: no such record or revision.
        """
        id_ = self.stored(name, audience).id
        revisions = self.store.revisions(id_, audience)
        for revision in revisions:
            if revision.number == number:
                return revision
        raise NotFound(f"'{id_}' has no revision {number}", hint=f"It has 1 to {len(revisions)}.")

    def page(self, filters: Filters, audience: Audience, *, limit: int, cursor: str | None = None) -> Page:
        """Records that bear all the terms, newest first. A cursor stays right while records are added.

        Raises:
            InvalidInput: the cursor is none of ours.
        """
        found = self.store.page(filters, audience, limit=limit + 1, after=_read_cursor(cursor))
        shown = found[:limit]
        more = len(found) > limit
        last = shown[-1] if more else None
        mark = _write_cursor(str(last.document.get("date") or ""), last.id) if last else None
        return Page(self.store.count(filters, audience), tuple(shown), mark)

    def related(
        self, name: str, audience: Audience, lang: Lang, *, limit: int, offset: int = 0
    ) -> RelatedAnswer:
        """See `related.related`."""
        found: RelatedAnswer = _insight("related").related(
            self._sides, name, audience=audience, lang=lang, limit=limit, offset=offset
        )
        return found

    def topic(
        self, terms: Sequence[Tag], audience: Audience, lang: Lang, *, limit: int, offset: int = 0
    ) -> Topic:
        """See `topics.topic`."""
        found: Topic = _insight("topics").topic(
            self.store,
            terms,
            audience=audience,
            lang=lang,
            limit=limit,
            offset=offset,
            vocabulary=self.vocabulary,
        )
        return found

    def statistics(self, audience: Audience, filters: Filters | None = None) -> Statistics:
        """See `statistics.statistics`; kept while the data stay as they are: it reads all of them."""
        key = (audience, filters, self.store.data_version(audience))
        found = self._statistics.get(key)
        if found is None:
            found = _insight("statistics").statistics(
                self.store, audience=audience, vocabulary=self.vocabulary, filters=filters
            )
            if len(self._statistics) >= _STATISTICS_KEPT:
                self._statistics.clear()
            self._statistics[key] = found
        return found

    def matrix(
        self, first: str, second: str, audience: Audience, filters: Filters | None = None, *, limit: int = 20
    ) -> Matrix:
        """See `statistics.cooccurrence`."""
        found: Matrix = _insight("statistics").cooccurrence(
            self.store,
            first,
            second,
            audience=audience,
            vocabulary=self.vocabulary,
            filters=filters,
            limit=limit,
        )
        return found

    def tags(self, given: Sequence[str], audience: Audience) -> tuple[Tag, ...]:
        """`facet=value` or `facet:value` words as tags; values may be slugs, labels or synonyms.

        Raises:
            InvalidInput: a word is not of that form.
            UnknownTerm: the facet or the value does not exist; the hint names the nearest ones.
        """
        if not given:
            return ()
        known = {
            facet: set(values)
            for facet, values in self.store.facets(Filters(withdrawn=True), audience).items()
        }
        known["status"] = {"draft", "reviewed", "withdrawn"}
        found: list[Tag] = []
        for text in given:
            sign = "=" if "=" in text else ":"
            name, _, value = text.partition(sign)
            if not name or not value:
                raise InvalidInput(
                    f"'{text}' is no term", hint=f"Write facet=value; facets are {', '.join(FACETS)}."
                )
            facet = facet_name(name)
            found.append((facet, facet_value(facet, value, self.vocabulary, self.lexicon, known)))
        return tuple(dict.fromkeys(found))


def _insight(name: str) -> Any:
    # A search needs none of them, and starts sooner without.
    return importlib.import_module(f"pilotage.library.insight.{name}")


def _write_cursor(date: str, id_: str) -> str:
    return base64.urlsafe_b64encode(json.dumps([date, id_]).encode()).decode().rstrip("=")


def _read_cursor(text: str | None) -> tuple[str, str] | None:
    if text is None:
        return None
    try:
        value: Any = json.loads(base64.urlsafe_b64decode(text.encode() + b"=" * (-len(text) % 4)))
    except (binascii.Error, ValueError, RecursionError):
        value = None
    if not (isinstance(value, list) and len(value) == 2 and all(map(_is_text, value))):  # noqa: PLR2004
        raise InvalidInput(f"'{text[:40]}' is no cursor", hint="Pass on `next` as it came.")
    return value[0], value[1]


def _is_text(value: object) -> bool:
    return isinstance(value, str) and storable(value) == value
