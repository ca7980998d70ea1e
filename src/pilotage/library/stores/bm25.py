"""BM25 in the exact form of SQLite's FTS5, over token columns. Pure.

Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with k1 = 1.2,
b = 0.75 and the frequency of a token weighted by the column it stands in. It scores what SQLite cannot:
private records by the statistics of public ones, and the records of a PostgreSQL store.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pilotage.library.stores.protocol import COLUMN_WEIGHTS, Match, Phrase

K1 = 1.2
B = 0.75
LEAST_IDF = 1e-6
"""FTS5's floor: a token that more than half of the records hold still adds a trace."""


@dataclass(frozen=True)
class Statistics:
    """What is known of the public records.

    Attributes:
        records: their number.
        tokens: number of tokens of all their columns.
        holding: phrase -> number of records that hold it.
    """

    records: int
    tokens: int
    holding: Mapping[Phrase, int]

    @property
    def average(self) -> float:
        """Mean number of tokens of a record; 1 when there are none, so that it can divide."""
        return self.tokens / self.records if self.records and self.tokens else 1.0

    def idf(self, phrase: Phrase) -> float:
        """The weight of a phrase: the rarer, the more."""
        held = self.holding.get(phrase, 0)
        return max(math.log((self.records - held + 0.5) / (held + 0.5)), LEAST_IDF)


def phrases_of(query: Match) -> list[Phrase]:
    """All phrases that bear on the score, each once."""
    return list(dict.fromkeys(phrase for _, phrases in query.groups for phrase in phrases if phrase))


def frequencies(columns: Mapping[str, str], phrases: Iterable[Phrase]) -> tuple[dict[Phrase, float], int]:
    """(phrase -> weighted frequency, number of tokens) of a record; phrases that it lacks are left out."""
    wanted = set(phrases)
    single = {phrase[0] for phrase in wanted if len(phrase) == 1}
    several = [phrase for phrase in wanted if len(phrase) > 1]
    found: dict[Phrase, float] = {}
    length = 0
    for column, weight in COLUMN_WEIGHTS.items():
        tokens = columns.get(column, "").split()
        length += len(tokens)
        for token in tokens:
            if token in single:
                found[(token,)] = found.get((token,), 0.0) + weight
        for phrase in several:
            times = _occurrences(tokens, phrase)
            if times:
                found[phrase] = found.get(phrase, 0.0) + weight * times
    return found, length


def score(columns: Mapping[str, str], query: Match, statistics: Statistics) -> float:
    """The score of one record: the weighted sum of the BM25 scores by group."""
    found, length = frequencies(columns, phrases_of(query))
    norm = K1 * (1 - B + B * length / statistics.average)
    total = 0.0
    for weight, phrases in query.groups:
        for phrase in dict.fromkeys(phrases):
            frequency = found.get(phrase)
            if frequency:
                total += weight * statistics.idf(phrase) * frequency * (K1 + 1) / (frequency + norm)
    return total


def _occurrences(tokens: list[str], phrase: Phrase) -> int:
    first, size = phrase[0], len(phrase)
    wanted = list(phrase)
    return sum(
        1
        for start in range(len(tokens) - size + 1)
        if tokens[start] == first and tokens[start : start + size] == wanted
    )
