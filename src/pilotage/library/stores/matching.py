"""Lexical matching, the same on both stores: candidates of the index, exact scores, one order."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

from pilotage.clients.db.session import Session
from pilotage.library.canonical import storable
from pilotage.library.stores import bm25, filtering, reading
from pilotage.library.stores.index import Index
from pilotage.library.stores.protocol import Audience, Filters, Frequencies, Match, Phrase

MOST_CANDIDATES = 400
"""How many records are scored exactly where the index itself cannot, at the least."""
_DIGITS = 12
"""Scores that differ by less are a matter of the order of summing, and tie."""


def match(  # noqa: PLR0913 - the protocol's parameters
    session: Session, index: Index, query: Match, filters: Filters, audience: Audience, *, limit: int
) -> list[tuple[str, float]]:
    """See `Store.match`."""
    query = cleaned(query)
    if not query.groups or limit <= 0:
        return []
    found = index.best(session, query, filters, limit)
    if audience == "all":
        private = index.candidates(session, query, filters, max(2 * limit, MOST_CANDIDATES))
        if private:
            known = statistics(session, index, bm25.phrases_of(query))
            found += scored(session, index, query, private, known, private=True)
    names = reading.names(session, [num for num, _ in found])
    ranked = [(names[num], round(score, _DIGITS)) for num, score in found]
    return sorted(ranked, key=lambda hit: (-hit[1], hit[0]))[:limit]


def scored(  # noqa: PLR0913 - session, index and what they are asked
    session: Session,
    index: Index,
    query: Match,
    nums: Sequence[int],
    known: bm25.Statistics,
    *,
    private: bool,
) -> list[tuple[int, float]]:
    """(number, score) of these records by the statistics of public ones."""
    columns = index.read(session, nums, private)
    return [(num, bm25.score(columns[num], query, known)) for num in nums if num in columns]


def statistics(session: Session, index: Index, phrases: Sequence[Phrase]) -> bm25.Statistics:
    """What is known of the public records."""
    shown = filtering.state_list("public", withdrawn=True)
    row = session.one(
        f"SELECT coalesce(sum(records), 0), coalesce(sum(tokens), 0) FROM total WHERE state IN {shown}"
    )
    records, tokens = row or (0, 0)
    return bm25.Statistics(int(records), int(tokens), index.holding(session, phrases))


def frequencies(session: Session, index: Index, tokens: Iterable[str]) -> Frequencies:
    """See `Store.frequencies`."""
    asked = list(dict.fromkeys(tokens))
    known = statistics(session, index, [(storable(token),) for token in asked if token])
    return Frequencies(known.records, {token: known.holding.get((storable(token),), 0) for token in asked})


def cleaned(query: Match) -> Match:
    """The query without empty tokens and phrases, each phrase of a group once."""
    groups = tuple((weight, _phrases(phrases)) for weight, phrases in query.groups)
    return dataclasses.replace(
        query,
        groups=tuple((weight, phrases) for weight, phrases in groups if phrases),
        require=_phrases(query.require),
        exclude=_phrases(query.exclude),
        title=_phrases(query.title),
    )


def _phrases(phrases: Iterable[Phrase]) -> tuple[Phrase, ...]:
    whole = (tuple(storable(token) for token in phrase if token) for phrase in phrases)
    return tuple(dict.fromkeys(phrase for phrase in whole if phrase))
