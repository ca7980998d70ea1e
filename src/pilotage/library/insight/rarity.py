"""How much a shared term or word says: the rarer among public records, the more.

Only public records are counted, whoever asks: a weight must not betray that a private record exists. The
measure is the inverse document frequency of Spärck Jones, "A statistical interpretation of term specificity
and its application in retrieval", Journal of Documentation 28 (1972).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from pilotage.library.stores.protocol import Filters, Store, Tag

COMMON_SHARE = 1 / 3
"""A term that more than this share of the records bear says almost nothing about two of them."""

RARE_SHARE = 0.02
"""A term that this share of the records bear has rarity 1."""

LEAST = 0.02
"""Rarity of a common term: it is still named as a reason, but moves no ranking."""

MOST = 1.5
"""Rarity of the rarest terms. Without a ceiling one slug that two records bear would outweigh all others."""

PRIOR = 10
"""Imaginary records without the term: in a store of two records a shared term is no proof of being common."""


class Rarity:
    """Rarity of tags and of index tokens, as of one moment.

    Args:
        store: whose public records are counted.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._facets = store.facets(Filters(), "public")
        self._weights: dict[str, float] = {}
        self.records = store.count(Filters(), "public")

    def count(self, tag: Tag) -> int:
        """Number of public records that bear a tag."""
        return self._facets.get(tag[0], {}).get(tag[1], 0)

    def of_tag(self, tag: Tag) -> float:
        """Rarity of a tag, `LEAST` to `MOST`: logarithmic between `COMMON_SHARE` (0) and `RARE_SHARE` (1)."""
        share = (self.count(tag) + 1) / (self.records + PRIOR)
        value = math.log(COMMON_SHARE / share) / math.log(COMMON_SHARE / RARE_SHARE)
        return min(MOST, max(LEAST, value))

    def of_tokens(self, tokens: Iterable[str]) -> Mapping[str, float]:
        """Token -> its inverse document frequency, 0 for a token that every record holds.

        The answer also holds the tokens that were asked for before.
        """
        missing = sorted(set(tokens) - self._weights.keys())
        if missing:
            found = self._store.frequencies(missing)
            for token in missing:
                share = (found.of.get(token, 0) + 1) / (found.records + 2)
                self._weights[token] = max(0.0, -math.log(share))
        return self._weights
