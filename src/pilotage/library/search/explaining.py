"""Why a record is among the hits: the reasons as data. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from pilotage.library.analysis import is_stopword, word_tokens, words
from pilotage.library.record import Lang, Record
from pilotage.library.search.answer import Why
from pilotage.library.search.plan import Clue, Plan
from pilotage.library.search.query import Query
from pilotage.library.search.ranking import Ranked
from pilotage.library.search.snippets import Pieces, fields_with, snippets
from pilotage.library.stores.protocol import Tag
from pilotage.library.terms import FACET_OF, Term


@dataclass(frozen=True)
class Explainer:
    """Explains the hits of one query.

    Attributes:
        weights: token of the query, or of a label of its terms -> how much it says.
        dates: the dates that the query names.
        lang: language of labels and snippets.
    """

    weights: dict[str, float]
    dates: tuple[tuple[str, int | None], ...]
    lang: Lang

    @classmethod
    def of(cls, query: Query, plan: Plan, lang: Lang) -> Self:
        """The explainer of a query."""
        weights: dict[str, float] = {}
        for clue in plan.clues:
            names = [_telling(name) for term in clue.concepts for name in term.label.values()]
            for found in [*names, list(clue.tokens)]:
                # A name counts once, however many tokens its language needs for it.
                weights |= dict.fromkeys(found, clue.weight / max(1, len(found)))
        return cls(weights, query.dates, lang)

    def why(self, item: Ranked, record: Record, pieces: Pieces) -> Why:
        """Why this record is a hit."""
        terms = {
            (term.kind, term.slug): term
            for clue in item.matched
            for term in clue.concepts
            if (FACET_OF[term.kind], term.slug) in item.tags
        }
        by_word = [clue for clue in item.matched if not _by_term(clue, item)]
        wanted = {token for clue in item.matched for token in clue.tokens} | set(
            _label_tokens(tuple(terms.values()))
        )
        said = {token: weight for token, weight in self.weights.items() if token in wanted}
        return Why(
            terms=tuple(terms.values()),
            words=tuple(dict.fromkeys(clue.text for clue in by_word)),
            fields=tuple(fields_with(pieces, {token for clue in by_word for token in clue.tokens})),
            snippets=tuple(snippets(pieces, said, self.lang)),
            semantic=item.semantic_share,
            nearest=item.nearest,
            dates=tuple(self._dates(record)),
        )

    def _dates(self, record: Record) -> list[str]:
        month_of_record = (record.date or "")[5:7]
        return [
            f"{year}-{month:02}" if month else year
            for year, month in self.dates
            if record.year == year and (month is None or month_of_record == f"{month:02}")
        ]


def _by_term(clue: Clue, item: Ranked) -> bool:
    borne: frozenset[Tag] = frozenset(item.tags)
    return any((FACET_OF[term.kind], term.slug) in borne for term in clue.concepts)


def _label_tokens(terms: Sequence[Term]) -> list[str]:
    return [token for term in terms for name in term.label.values() for token in _telling(name)]


def _telling(name: str) -> list[str]:
    return [token for word in words(name) if not is_stopword(word) for token in word_tokens(word)]
