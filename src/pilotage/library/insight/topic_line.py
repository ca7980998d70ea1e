"""The one sentence that tells a topic, in English and in Korean. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pilotage.library.insight.korean import joined, with_particle
from pilotage.library.record import Lang

Named = tuple[str, str]
"""(facet, label) of a term of the topic."""
Chief = tuple[str, int, float]
"""(label, number of cases, lift) of a term that stands out."""


@dataclass(frozen=True)
class Span:
    """From when to when.

    Attributes:
        first: earliest date, cut to what is known of it (`2017`, `2017-04`, `2017-04-05`); null when none is.
        first_precision: `day`, `month` or `year`.
        last: latest date, likewise.
        last_precision: likewise.
        dated: number of cases whose year is known.
    """

    first: str | None = None
    first_precision: str | None = None
    last: str | None = None
    last_precision: str | None = None
    dated: int = 0

    def to_json(self) -> dict[str, Any]:
        """`{"first", "first_precision", "last", "last_precision", "dated"}`."""
        return {
            "first": self.first,
            "first_precision": self.first_precision,
            "last": self.last,
            "last_precision": self.last_precision,
            "dated": self.dated,
        }


def summary_line(named: Sequence[Named], total: int, span: Span, chief: Sequence[Chief], lang: Lang) -> str:
    """A topic in a sentence.

    Args:
        named: the terms of the topic.
        total: number of its cases.
        span: their dates.
        chief: the terms that stand out among them.
        lang: the language.
    """
    if lang == "ko":
        return _korean_none(named) if total == 0 else _korean(named, total, span, chief)
    return _english_none(named) if total == 0 else _english(named, total, span, chief)


def _split(named: Sequence[Named]) -> tuple[list[str], list[str]]:
    """Organisations stand for a place, years are told by the span, all other terms are what is involved."""
    places = [label for facet, label in named if facet == "organisation"]
    involved = [label for facet, label in named if facet not in {"organisation", "year"}]
    return places, involved


def _english(named: Sequence[Named], total: int, span: Span, chief: Sequence[Chief]) -> str:
    places, involved = _split(named)
    subject = "1 incident" if total == 1 else f"{total} incidents"
    parts = [subject, *([f"at {_and(places)}"] if places else []), *([_years(span)] if span.first else [])]
    verb = "involves" if total == 1 else "involve"
    if involved:
        parts.append(f"{verb} {_and(involved)}")
    elif not places:
        parts.append("is in the library" if total == 1 else "are in the library")
    sentence = " ".join(parts)
    if chief:
        sentence += "; most often together: " + ", ".join(
            f"{label} ({n} of {total}, {lift:.1f} times the base rate)" for label, n, lift in chief
        )
    return sentence + "."


def _english_none(named: Sequence[Named]) -> str:
    places, involved = _split(named)
    years = [label for facet, label in named if facet == "year"]
    parts = ["No incident", *([f"at {_and(places)}"] if places else []), *(f"in {year}" for year in years)]
    if involved:
        parts.append(f"involves {_and(involved)}" + (" together" if len(involved) > 1 else ""))
    elif not places and not years:
        parts.append("is in the library")
    else:
        parts.append("is known here")
    return " ".join(parts) + "."


def _korean(named: Sequence[Named], total: int, span: Span, chief: Sequence[Chief]) -> str:
    places, involved = _split(named)
    parts = [f"{joined(places)}에서"] if places else []
    if span.first and span.last:
        first, last = span.first[:4], span.last[:4]
        parts.append(f"{first}년에" if first == last else f"{first}년부터 {last}년까지")
    if involved:
        parts.append(f"{with_particle(joined(involved), '이/가')} 관련된 사례는")
    elif parts:
        parts.append("일어난 사례는")
    else:
        parts.append("라이브러리에 있는 사례는")
    sentence = " ".join(parts) + f" {total}건이다."
    if chief:
        listed = ", ".join(
            f"{label}({total}건 중 {n}건, 기준 비율의 {lift:.1f}배)" for label, n, lift in chief
        )
        sentence += f" 가장 자주 함께 나타난 것은 {listed}이다."
    return sentence


def _korean_none(named: Sequence[Named]) -> str:
    places, involved = _split(named)
    years = [label for facet, label in named if facet == "year"]
    parts = [*([f"{joined(places)}에서"] if places else []), *(f"{year}년에" for year in years)]
    if involved:
        together = "함께 관련된" if len(involved) > 1 else "관련된"
        parts.append(f"{with_particle(joined(involved), '이/가')} {together} 사례는 없다.")
    else:
        parts.append("일어난 사례는 없다." if parts else "라이브러리에 사례가 없다.")
    return " ".join(parts)


def _years(span: Span) -> str:
    first, last = (span.first or "")[:4], (span.last or "")[:4]
    return f"in {first}" if first == last else f"from {first} to {last}"


def _and(words: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))
