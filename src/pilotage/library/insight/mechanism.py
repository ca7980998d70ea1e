"""Whether two incidents went the same way: the steps of their mechanisms side by side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pilotage.library.insight.likeness import Bag, Bags, bag_of, cosine, overlap, shared_words
from pilotage.library.insight.rarity import Rarity
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
    """

    def __init__(self, record: Record) -> None:
        self.steps = tuple(record.mechanism)
        self.whole = Bags(lambda lang: [text for step in self.steps for text in _said(step, lang)])

    def parts(self, lang: Lang) -> list[Bag]:
        """The words of each step."""
        return [bag_of(_said(step, lang)) for step in self.steps]


def mechanism_likeness(
    first: Mechanism, second: Mechanism, lang: Lang, rarity: Rarity
) -> tuple[float, Pairs]:
    """How alike two mechanisms are (0 to 1, symmetric) and the steps that match best.

    The likeness is that of the whole mechanisms, since reports cut the same chain into steps differently; the
    pairs of steps are what a reader can check.

    Args:
        first: one mechanism.
        second: the other.
        lang: a language that both speak.
        rarity: how much a word says.
    """
    weights = rarity.of_tokens([*first.whole[lang].counts, *second.whole[lang].counts])
    value = cosine(first.whole[lang], second.whole[lang], weights)
    return value, _pairs(first, second, lang, weights) if value else ()


def _pairs(
    first: Mechanism, second: Mechanism, lang: Lang, weights: Mapping[str, float]
) -> tuple[StepPair, ...]:
    scored = []
    others = second.parts(lang)
    for own, mine in zip(first.steps, first.parts(lang), strict=True):
        for other, theirs in zip(second.steps, others, strict=True):
            value = overlap(mine, theirs, weights)
            if value >= LEAST_OVERLAP and len(mine.counts.keys() & theirs.counts.keys()) >= LEAST_WORDS:
                scored.append((-value, own.id, other.id, own, other, shared_words(mine, theirs, weights)))
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
