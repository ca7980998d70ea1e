"""Lessons that several incidents teach: the paragraphs of different cases that say the same. Pure."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from pilotage.library.entry import paragraphs
from pilotage.library.insight.likeness import Bag, Weighed, bag_of, overlap, shared_words
from pilotage.library.record import LANGS, Lang, Record

LEAST_OVERLAP = 0.2
"""Two lessons that share less of their words, by weight, say different things."""
LEAST_WORDS = 3
"""Nor do two lessons say the same that share one or two words."""
MOST_GROUPS = 5
MOST_IN_GROUP = 6


@dataclass(frozen=True)
class Lesson:
    """One lesson of one incident.

    Attributes:
        id: the incident.
        text: the lesson, per language; the other language where one is missing.
    """

    id: str
    text: dict[Lang, str]

    def to_json(self) -> dict[str, Any]:
        """`{"id", "text": {"en", "ko"}}`."""
        return {"id": self.id, "text": dict(self.text)}


@dataclass(frozen=True)
class SharedLesson:
    """What several incidents teach, each in its own words.

    Attributes:
        words: the words that the first two share, heaviest first.
        overlap: how much of the words of these two is shared, 0 to 1.
        lessons: at most one of each incident, at least two.
    """

    words: tuple[str, ...]
    overlap: float
    lessons: tuple[Lesson, ...]

    def to_json(self) -> dict[str, Any]:
        """`{"words", "overlap", "lessons": [{"id", "text"}]}`."""
        return {
            "words": list(self.words),
            "overlap": self.overlap,
            "lessons": [lesson.to_json() for lesson in self.lessons],
        }


def shared_lessons(records: Iterable[Record]) -> tuple[SharedLesson, ...]:
    """The lessons that most nearly say the same, best first; none when nothing overlaps.

    The answer depends on the records alone, not on their order or on the language that is shown.
    """
    lessons, bags = _lessons(sorted(records, key=lambda record: record.id))
    rarity = _rarity(bags)
    spoken = [Weighed(bag, rarity) for bag in bags]
    pairs = _pairs(lessons, spoken)
    partners: dict[int, list[tuple[float, int]]] = defaultdict(list)
    for value, first, second in pairs:
        partners[first].append((value, second))
        partners[second].append((value, first))
    used: set[int] = set()
    found: list[SharedLesson] = []
    for value, first, second in pairs:
        if {first, second} & used or len(found) == MOST_GROUPS:
            continue
        members = [first, second]
        near = sorted([*partners[first], *partners[second]], key=lambda item: (-item[0], item[1]))
        for _, other in near:
            taken = {lessons[member].id for member in members}
            if other not in used and lessons[other].id not in taken and len(members) < MOST_IN_GROUP:
                members.append(other)
        used.update(members)
        words = shared_words(spoken[first], spoken[second])
        found.append(SharedLesson(words, round(value, 3), tuple(lessons[member] for member in members)))
    return tuple(found)


def _lessons(records: Sequence[Record]) -> tuple[list[Lesson], list[Bag]]:
    lessons: list[Lesson] = []
    bags: list[Bag] = []
    for record in records:
        english, korean = (paragraphs(getattr(record.lessons, lang, None)) for lang in LANGS)
        for place, spoken in enumerate(english or korean):
            # Paragraphs correspond when both languages have as many.
            other = korean[place] if english and len(korean) == len(english) else spoken
            lessons.append(Lesson(record.id, {"en": spoken, "ko": other}))
            bags.append(bag_of([spoken]))
    return lessons, bags


def _rarity(bags: Sequence[Bag]) -> dict[str, float]:
    counts = Counter(token for bag in bags for token in bag.counts)
    return {token: math.log((len(bags) + 1) / count) for token, count in counts.items()}


def _pairs(lessons: Sequence[Lesson], spoken: Sequence[Weighed]) -> list[tuple[float, int, int]]:
    holders: dict[str, list[int]] = defaultdict(list)
    shared: Counter[tuple[int, int]] = Counter()
    for number, words in enumerate(spoken):
        for token in words.bag.counts:
            for earlier in holders[token]:
                if lessons[earlier].id != lessons[number].id:
                    shared[earlier, number] += 1
            holders[token].append(number)
    found = [
        (overlap(spoken[first], spoken[second]), first, second)
        for (first, second), count in shared.items()
        if count >= LEAST_WORDS
    ]
    near = [pair for pair in found if pair[0] >= LEAST_OVERLAP]
    return sorted(near, key=lambda pair: (-pair[0], pair[1], pair[2]))
