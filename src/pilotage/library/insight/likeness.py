"""How alike two texts are by their informative words, and which words make them so. Pure."""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from pilotage.library.analysis import is_hangul, is_stopword, tokens, without_particle, words
from pilotage.library.record import LANGS, Lang, Record

SHORTEST_LATIN = 3
SHORTEST_HANGUL = 2
MOST_WORDS_SHOWN = 6


@dataclass(frozen=True)
class Bag:
    """The informative words of a text.

    Attributes:
        counts: index token -> how often it occurs.
        surface: index token -> the word as the text has it.
    """

    counts: Counter[str] = field(default_factory=Counter)
    surface: dict[str, str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.counts)


def bag_of(texts: Iterable[str]) -> Bag:
    """The informative words of some texts: no stopwords, bare numbers or Korean particles.

    Tokens are those of the search index, so that their rarity can be looked up there.
    """
    bag = Bag()
    for text in texts:
        for word in words(text):
            for token, surface in _informative(word):
                bag.counts[token] += 1
                bag.surface.setdefault(token, surface)
    return bag


@functools.lru_cache(maxsize=200_000)
def _informative(word: str) -> tuple[tuple[str, str], ...]:
    if is_hangul(word):
        bare = without_particle(word)
        if len(bare) < SHORTEST_HANGUL or is_stopword(word):
            return ()
        return tuple((token, bare) for token in tokens(bare))
    if len(word) < SHORTEST_LATIN or word.isdigit() or is_stopword(word):
        return ()
    return ((tokens(word)[0], word if word.isupper() else word.lower()),)


def record_texts(record: Record, lang: Lang) -> list[str]:
    """What a record says in one language, phrases included; times and disagreements are about the sources."""
    found: list[str] = [
        value
        for name, text in record.texts()
        if name not in {"times", "disagreement"} and (value := getattr(text, lang))
    ]
    return found + list(getattr(record.phrases, lang))


class Bags:
    """The informative words of one thing in each language, counted when first asked for.

    Args:
        texts: gives the texts of a language.
        without: tokens that do not count.
    """

    def __init__(
        self, texts: Callable[[Lang], Iterable[str]], without: AbstractSet[str] = frozenset()
    ) -> None:
        self._texts = texts
        self._without = without
        self._bags: dict[Lang, Bag] = {}

    def __getitem__(self, lang: Lang) -> Bag:
        if lang not in self._bags:
            bag = bag_of(self._texts(lang))
            for token in self._without & bag.counts.keys():
                del bag.counts[token]
            self._bags[lang] = bag
        return self._bags[lang]

    def first(self) -> Bag:
        """The words in English, else in Korean."""
        return next((self[lang] for lang in LANGS if self[lang]), Bag())


def common_lang(first: Bags, second: Bags) -> Lang | None:
    """The language in which both sides speak, English first (its stems are sharper than Hangul bigrams)."""
    return next((lang for lang in LANGS if first[lang] and second[lang]), None)


def cosine(first: Bag, second: Bag, rarity: Mapping[str, float]) -> float:
    """Cosine of the tf-idf vectors, 0 to 1, the same in both directions.

    Term frequency counts as 1 + log(tf), as in Salton and Buckley, "Term-weighting approaches in automatic
    text retrieval", Information Processing & Management 24 (1988).

    Args:
        first: one text.
        second: the other.
        rarity: inverse document frequency of every token of both.
    """
    shared = sorted(first.counts.keys() & second.counts.keys())
    if not shared:
        return 0.0
    dot = math.fsum(_weight(first, token, rarity) * _weight(second, token, rarity) for token in shared)
    norms = _norm(first, rarity) * _norm(second, rarity)
    return min(1.0, dot / norms) if norms else 0.0


def overlap(first: Bag, second: Bag, rarity: Mapping[str, float]) -> float:
    """Share of the weight of both that is shared, 0 to 1, each word counted by its rarity.

    The coefficient of Dice, "Measures of the amount of ecologic association between species", Ecology 26
    (1945).
    """
    shared = math.fsum(rarity[token] for token in sorted(first.counts.keys() & second.counts.keys()))
    whole = math.fsum(rarity[token] for bag in (first, second) for token in sorted(bag.counts))
    return 2 * shared / whole if whole else 0.0


def shared_words(
    first: Bag, second: Bag, rarity: Mapping[str, float], *, limit: int = MOST_WORDS_SHOWN
) -> tuple[str, ...]:
    """The shared words that weigh most, as the first text has them, heaviest first."""
    shared = first.counts.keys() & second.counts.keys()
    ordered = sorted(
        shared, key=lambda token: (-_weight(first, token, rarity) * _weight(second, token, rarity), token)
    )
    return tuple(dict.fromkeys(first.surface[token] for token in ordered if rarity[token] > 0))[:limit]


def _weight(bag: Bag, token: str, rarity: Mapping[str, float]) -> float:
    return (1 + math.log(bag.counts[token])) * rarity[token]


def _norm(bag: Bag, rarity: Mapping[str, float]) -> float:
    return math.sqrt(math.fsum(_weight(bag, token, rarity) ** 2 for token in bag.counts))
