"""Why two incidents are related: typed reasons, each with its weight and its evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pilotage.library.insight.mechanism import StepPair
from pilotage.library.record import LANGS, Lang
from pilotage.library.terms import Vocabulary

ReasonKind = Literal[
    "recurrence",
    "linked",
    "same-root-cause",
    "shared-component",
    "shared-symptom",
    "shared-contributing",
    "same-mechanism",
    "same-organisation",
    "text-likeness",
]

WEIGHTS: dict[ReasonKind, float] = {
    # Hand-made links come first in any case; their weight only orders them among themselves.
    "recurrence": 4.0,
    "linked": 3.0,
    # Few root causes exist and most are common: rarity does the rest.
    "same-root-cause": 1.0,
    # What broke is what readers compare first.
    "shared-component": 1.0,
    # Many chains end in the same few symptoms.
    "shared-symptom": 0.6,
    # What made it worse carries over between systems that have no component in common.
    "shared-contributing": 0.75,
    # The chain itself is the best reason; it is a cosine, seldom above .4, so the factor is large.
    "same-mechanism": 4.0,
    # Never enough: one organisation writes about all its trouble.
    "same-organisation": 0.1,
    # Backs up the rest, and carries records that have no tags yet (imported drafts). The weights of tags and
    # text were set against `tests/graded/related.jsonl`, one half of its records checking the other.
    "text-likeness": 4.5,
}
"""The weight of a reason at strength 1. For a tag the strength is its rarity, for a text its likeness."""

DAMPING = 0.8
"""Of several shared terms of one facet, rarest first, each counts this much of the one before: records with
many tags would otherwise be like everything."""

TAG_KINDS: dict[str, ReasonKind] = {
    "root_cause": "same-root-cause",
    "component": "shared-component",
    "symptom": "shared-symptom",
    "contributing": "shared-contributing",
    "organisation": "same-organisation",
}
"""Facet -> the reason that sharing a term of it is."""

HAND_MADE: tuple[ReasonKind, ...] = ("recurrence", "linked")
MOST_IN_LINE = 4
LEAST_IN_LINE = 0.15
"""A reason that weighs less is left out of the one line, unless nothing else is there."""

_FULL: dict[ReasonKind, dict[Lang, str]] = {
    "recurrence": {"en": "cited recurrence", "ko": "출처가 밝힌 재발"},
    "linked": {"en": "linked by hand", "ko": "직접 연결됨"},
    "same-root-cause": {"en": "same root cause: {}", "ko": "같은 근본 원인: {}"},
    "shared-component": {"en": "shared {}", "ko": "공통 구성 요소: {}"},
    "shared-symptom": {"en": "shared symptom: {}", "ko": "공통 증상: {}"},
    "shared-contributing": {"en": "shared contributing factor: {}", "ko": "공통 기여 요인: {}"},
    "same-mechanism": {"en": "similar mechanism", "ko": "비슷한 메커니즘"},
    "same-organisation": {"en": "same organisation: {}", "ko": "같은 조직: {}"},
    "text-likeness": {"en": "similar wording: {}", "ko": "비슷한 표현: {}"},
}
_SHORT: dict[ReasonKind, dict[Lang, str]] = {
    "same-root-cause": {"en": "same root cause", "ko": "같은 근본 원인"},
    "same-organisation": {"en": "same organisation", "ko": "같은 조직"},
    "text-likeness": {"en": "similar wording", "ko": "비슷한 표현"},
}


@dataclass(frozen=True)
class LinkEvidence:
    """A link that an author made.

    Attributes:
        source: id of the record that names the other.
        target: id of the one that it names.
        note: why, per language; empty where the author gave no reason.
    """

    source: str
    target: str
    note: dict[Lang, str]

    def to_json(self) -> dict[str, Any]:
        """`{"source", "target", "note"}`."""
        return {"source": self.source, "target": self.target, "note": dict(self.note)}


@dataclass(frozen=True)
class TermEvidence:
    """A term that both records bear.

    Attributes:
        facet: its facet.
        slug: its slug.
        label: what readers see, per language.
        n: number of public records that bear it.
        of: number of all public records.
    """

    facet: str
    slug: str
    label: dict[Lang, str]
    n: int
    of: int

    def to_json(self) -> dict[str, Any]:
        """`{"facet", "slug", "label", "n", "of"}`."""
        return {"facet": self.facet, "slug": self.slug, "label": dict(self.label), "n": self.n, "of": self.of}


@dataclass(frozen=True)
class StepEvidence:
    """The steps of both mechanisms that match best.

    Attributes:
        likeness: of the whole mechanisms, 0 to 1.
        pairs: the best pairs of steps.
    """

    likeness: float
    pairs: tuple[StepPair, ...]

    def to_json(self) -> dict[str, Any]:
        """`{"likeness", "pairs"}`."""
        return {"likeness": self.likeness, "pairs": [pair.to_json() for pair in self.pairs]}


@dataclass(frozen=True)
class WordEvidence:
    """The words that both records use.

    Attributes:
        likeness: cosine of both texts, 0 to 1.
        words: the shared words that weigh most, heaviest first.
    """

    likeness: float
    words: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """`{"likeness", "words"}`."""
        return {"likeness": self.likeness, "words": list(self.words)}


Evidence = LinkEvidence | TermEvidence | StepEvidence | WordEvidence


@dataclass(frozen=True)
class Reason:
    """One reason.

    Attributes:
        kind: what it is.
        weight: its part of the score, in whole thousandths, so that parts add up to the score as shown.
        evidence: what a reader can check.
    """

    kind: ReasonKind
    weight: float
    evidence: Evidence

    @property
    def hand_made(self) -> bool:
        """Whether an author made the link."""
        return self.kind in HAND_MADE

    def text(self, lang: Lang) -> str:
        """The reason with its evidence: `same root cause: Software defect`."""
        form = _FULL[self.kind][lang]
        if isinstance(self.evidence, TermEvidence):
            return form.format(self.evidence.label[lang])
        if isinstance(self.evidence, WordEvidence):
            return form.format(", ".join(self.evidence.words))
        if isinstance(self.evidence, LinkEvidence):
            note = self.evidence.note.get(lang, "")
            return f"{form}: {note}" if note else form
        pairs = [f"“{pair.own_label[lang]}” ≈ “{pair.other_label[lang]}”" for pair in self.evidence.pairs]
        return f"{form}: {'; '.join(pairs)}" if pairs else form

    def short(self, lang: Lang) -> str:
        """The reason as a few words: `same root cause`, `shared Ingress controller`."""
        if self.kind in _SHORT:
            return _SHORT[self.kind][lang]
        if isinstance(self.evidence, TermEvidence):
            return self.text(lang)
        return _FULL[self.kind][lang]

    def to_json(self) -> dict[str, Any]:
        """`{"kind", "weight", "hand_made", "text": {"en", "ko"}, "evidence": {…}}`."""
        return {
            "kind": self.kind,
            "weight": self.weight,
            "hand_made": self.hand_made,
            "text": {lang: self.text(lang) for lang in LANGS},
            "evidence": self.evidence.to_json(),
        }


def weigh(kind: ReasonKind, strength: float) -> float:
    """The weight of a reason of some strength, in whole thousandths."""
    return round(WEIGHTS[kind] * strength, 3)


def total(reasons: Sequence[Reason]) -> float:
    """The score: the sum of the weights, summed as whole thousandths so that it is exact."""
    return sum(round(reason.weight * 1000) for reason in reasons) / 1000


def in_order(reasons: Sequence[Reason]) -> tuple[Reason, ...]:
    """Hand-made links first, then the heaviest."""
    return tuple(sorted(reasons, key=lambda one: (not one.hand_made, -one.weight, one.text("en"))))


def one_line(reasons: Sequence[Reason], lang: Lang) -> str:
    """The chief reasons: `same root cause · shared Ingress controller`."""
    chosen = [reason for reason in reasons if reason.hand_made or reason.weight >= LEAST_IN_LINE] or reasons[
        :1
    ]
    return " · ".join(dict.fromkeys(reason.short(lang) for reason in chosen[:MOST_IN_LINE]))


def labels(vocabulary: Vocabulary, facet: str, slug: str) -> dict[Lang, str]:
    """What readers see for a value of a facet, per language."""
    return {lang: vocabulary.facet_label(facet, slug, lang) for lang in LANGS}
