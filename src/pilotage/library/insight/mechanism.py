"""Whether two incidents went the same way: the steps of their mechanisms side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from pilotage.library.insight.likeness import Weighed, Words, bag_of, cosine, overlap, shared_words
from pilotage.library.record import LANGS, Lang, Record, Step

MOST_PAIRS = 2
LEAST_OVERLAP = 0.12
"""Two steps that share less of their words are not shown as evidence."""
LEAST_WORDS = 2
"""Nor are steps that share a single word: `pod` alone proves nothing."""


@dataclass(frozen=True)
class StepPair:
    """Two steps that say the same.

    Attributes:
        own: id of the step of the incident that was asked for.
        other: id of the step of the related one.
        own_label: label of the first, per language.
        other_label: label of the second, per language.
        words: the words that both share, heaviest first.
    """

    own: str
    other: str
    own_label: dict[Lang, str]
    other_label: dict[Lang, str]
    words: tuple[str, ...]

    def to_json(self) -> dict[str, object]:
        """`{"own", "other", "own_label", "other_label", "words"}`."""
        return {
            "own": self.own,
            "other": self.other,
            "own_label": dict(self.own_label),
            "other_label": dict(self.other_label),
            "words": list(self.words),
        }


Pairs = tuple[StepPair, ...]


class Mechanism:
    """The words of a mechanism, whole and by step.

    Args:
        record: whose mechanism it is.
        rarity: of tokens.
    """

    def __init__(self, record: Record, rarity: Callable[[Iterable[str]], Mapping[str, float]]) -> None:
        self.steps = tuple(record.mechanism)
        self.whole = Words(lambda lang: [text for step in self.steps for text in _said(step, lang)], rarity)
        self._rarity = rarity
        self._parts: dict[Lang, list[Weighed]] = {}

    def parts(self, lang: Lang) -> list[Weighed]:
        """The words of each step."""
        if lang not in self._parts:
            bags = [bag_of(_said(step, lang)) for step in self.steps]
            self._parts[lang] = [Weighed(bag, self._rarity(bag.counts)) for bag in bags]
        return self._parts[lang]


def mechanism_likeness(first: Mechanism, second: Mechanism, lang: Lang) -> tuple[float, Pairs]:
    """How alike two mechanisms are (0 to 1, symmetric) and the steps that match best.

    The likeness is that of the whole mechanisms, since reports cut the same chain into steps differently; the
    pairs of steps are what a reader can check.

    Args:
        first: one mechanism.
        second: the other.
        lang: a language that both speak.
    """
    value = cosine(first.whole[lang], second.whole[lang])
    return value, _pairs(first, second, lang) if value else ()


def _pairs(first: Mechanism, second: Mechanism, lang: Lang) -> tuple[StepPair, ...]:
    scored = []
    others = second.parts(lang)
    for own, mine in zip(first.steps, first.parts(lang), strict=True):
        for other, theirs in zip(second.steps, others, strict=True):
            if len(mine.shared(theirs)) < LEAST_WORDS:
                continue
            value = overlap(mine, theirs)
            if value >= LEAST_OVERLAP:
                scored.append((-value, own.id, other.id, own, other, shared_words(mine, theirs)))
    scored.sort(key=lambda item: item[:3])
    found: list[StepPair] = []
    for _, own_id, other_id, own, other, words in scored:
        if any(pair.own == own_id or pair.other == other_id for pair in found):
            continue
        found.append(StepPair(own_id, other_id, _labels(own), _labels(other), words))
    return tuple(found[:MOST_PAIRS])


def _said(step: Step, lang: Lang) -> list[str]:
    return [text for text in (getattr(step.label, lang), getattr(step.text, lang)) if text]


def _labels(step: Step) -> dict[Lang, str]:
    return {lang: step.label.get(lang) for lang in LANGS}
