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


class Weighed:
    """A bag with how much each of its words says.

    Args:
        bag: the words.
        rarity: inverse document frequency of every token of the bag.
    """

    __slots__ = ("bag", "norm", "rarity", "weights", "whole")

    def __init__(self, bag: Bag, rarity: Mapping[str, float]) -> None:
        self.bag = bag
        self.rarity = {token: rarity[token] for token in bag.counts}
        # Term frequency counts as 1 + log(tf), as in Salton and Buckley, "Term-weighting approaches in
        # automatic text retrieval", Information Processing & Management 24 (1988).
        self.weights = {
            token: (1 + math.log(bag.counts[token])) * value for token, value in self.rarity.items()
        }
        self.norm = math.sqrt(math.fsum(value**2 for value in self.weights.values()))
        self.whole = math.fsum(self.rarity.values())

    def __bool__(self) -> bool:
        return bool(self.weights)

    def shared(self, other: Weighed) -> AbstractSet[str]:
        """The tokens of both."""
        return self.weights.keys() & other.weights.keys()


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


class Words:
    """The informative words of one thing in each language, counted and weighed when first asked for.

    Args:
        texts: gives the texts of a language.
        rarity: of tokens.
        without: tokens that do not count.
    """

    def __init__(
        self,
        texts: Callable[[Lang], Iterable[str]],
        rarity: Callable[[Iterable[str]], Mapping[str, float]],
        without: AbstractSet[str] = frozenset(),
    ) -> None:
        self._texts = texts
        self._rarity = rarity
        self._without = without
        self._weighed: dict[Lang, Weighed] = {}

    def __getitem__(self, lang: Lang) -> Weighed:
        found = self._weighed.get(lang)
        if found is None:
            bag = bag_of(self._texts(lang))
            for token in self._without & bag.counts.keys():
                del bag.counts[token]
            found = self._weighed[lang] = Weighed(bag, self._rarity(bag.counts))
        return found


def common_lang(first: Words, second: Words) -> Lang | None:
    """The language in which both sides speak, English first (its stems are sharper than Hangul bigrams)."""
    return next((lang for lang in LANGS if first[lang] and second[lang]), None)


def cosine(first: Weighed, second: Weighed) -> float:
    """Cosine of the tf-idf vectors, 0 to 1, the same in both directions."""
    dot = math.fsum(first.weights[token] * second.weights[token] for token in first.shared(second))
    norms = first.norm * second.norm
    return min(1.0, dot / norms) if norms else 0.0


def overlap(first: Weighed, second: Weighed) -> float:
    """Share of the weight of both that is shared, 0 to 1, each word counted by its rarity.

    The coefficient of Dice, "Measures of the amount of ecologic association between species", Ecology 26
    (1945).
    """
    whole = first.whole + second.whole
    shared = math.fsum(first.rarity[token] for token in first.shared(second))
    return 2 * shared / whole if whole else 0.0


def shared_words(first: Weighed, second: Weighed, *, limit: int = MOST_WORDS_SHOWN) -> tuple[str, ...]:
    """The shared words that weigh most, as the first text has them, heaviest first."""
    ordered = sorted(
        first.shared(second), key=lambda token: (-first.weights[token] * second.weights[token], token)
    )
    return tuple(dict.fromkeys(first.bag.surface[token] for token in ordered if first.rarity[token] > 0))[
        :limit
    ]
