"""One set of answers over one store: what the command line, the pages, REST and MCP all ask."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pilotage.core.cursors import Part, read_place
from pilotage.core.errors import InvalidInput, NotFound
from pilotage.library.embedding import Embedder
from pilotage.library.missing import no_record
from pilotage.library.paging import KEY_SIZE, filters_told, order_key, place_of
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


@dataclass(frozen=True)
class Page:
    """A part of a list of records.

    Attributes:
        total: number of records in the whole list.
        items: the records of this part, newest first.
        onward: where the list goes on.
    """

    total: int
    items: tuple[Stored, ...]
    onward: Part

    @property
    def next(self) -> str | None:
        """The cursor of the part that follows; None on the last one."""
        return self.onward.next


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
        raise no_record(self.store, name, audience)

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
            InvalidInput: the cursor is none, or belongs to another list.
        """
        question = ("incidents", filters_told(filters), audience)
        place = read_place(cursor, KEY_SIZE, question)
        found = self.store.page(filters, audience, limit=limit + 1, after=place_of(place))
        shown = tuple(found[:limit])
        part = Part(question, place.seen, tuple(map(order_key, shown)), len(found) > limit)
        return Page(self.store.count(filters, audience), shown, part)

    def related(
        self, name: str, audience: Audience, lang: Lang, *, limit: int, cursor: str | None = None
    ) -> RelatedAnswer:
        """See `related.related`."""
        found: RelatedAnswer = _insight("related").related(
            self._sides, name, audience=audience, lang=lang, limit=limit, cursor=cursor
        )
        return found

    def topic(
        self, terms: Sequence[Tag], audience: Audience, lang: Lang, *, limit: int, cursor: str | None = None
    ) -> Topic:
        """See `topics.topic`."""
        found: Topic = _insight("topics").topic(
            self.store,
            terms,
            audience=audience,
            lang=lang,
            limit=limit,
            cursor=cursor,
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
