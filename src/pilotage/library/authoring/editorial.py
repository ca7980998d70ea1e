"""What a reviewed record must satisfy beyond its form. Pure.

The rules are those of `docs/explanation/editorial.md` that a program can judge.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pilotage.library.entry import paragraphs
from pilotage.library.record import LANGS, Record, Text

_NUMBER = re.compile(r"(?<![A-Za-z0-9_.,])v?(\d+(?:,\d{3})+|\d+(?:\.\d+)*)")
_HANGUL = re.compile(r"[가-힣]")
_POLITE = re.compile(r"(?:습니다|입니다|해요|어요|세요)[.\s]|은\(는\)|이\(가\)|을\(를\)")
_CAREFUL = re.compile(r"\b(?:be careful|human error|careless|apolog|unfortunately)\w*", re.IGNORECASE)
_LONGEST = {"title": 120, "label": 60}
_MOST_WORDS = {"trigger": 60, "detection": 60}
_BILINGUAL = ("title", "summary", "symptoms_text", "trigger", "detection", "lessons")
_FEWEST_PHRASES, _MOST_PHRASES = 4, 8


def editorial_problems(record: Record) -> list[tuple[str, str]]:
    """Everything that breaks an editorial rule, as (field, what is wrong and what to do)."""
    return [
        *_languages(record),
        *_lengths(record),
        *_numbers(record),
        *_phrases(record),
        *_knowledge(record),
        *_words(record),
    ]


def numbers_of(text: str) -> set[str]:
    """The numbers of a text in one form: thousands commas and leading zeros dropped.

    Digits inside a word (`p90`, `EC2`) are part of a name and do not count; a version (`v0.6`) does.
    """
    return {_one_form(found) for found in _NUMBER.findall(text)}


def _one_form(number: str) -> str:
    plain = number.replace(",", "")
    return plain.lstrip("0") or "0"


def _known_numbers(record: Record) -> set[str]:
    known: set[str] = set()
    for fact in [*record.facts, record.date or "", *(event.at or "" for event in record.events)]:
        # Within a fact every digit run counts: 2019-04-23, 14:00, 5+5, p90, 10억.
        known |= {_one_form(run) for run in re.findall(r"\d+(?:,\d{3})+|\d+(?:\.\d+)*|\d+", fact)}
        known |= {_one_form(run) for run in re.findall(r"\d+", fact)}
    return known


def _numbers(record: Record) -> Iterator[tuple[str, str]]:
    known = _known_numbers(record)
    for field, text in record.texts():
        for lang in LANGS:
            for number in sorted(numbers_of(getattr(text, lang) or "") - known):
                yield (
                    field,
                    f"{lang}: the number {number} stands in no fact; add it to `facts` or drop it",
                )


def _languages(record: Record) -> Iterator[tuple[str, str]]:
    for field, text in record.texts():
        for lang in LANGS:
            if not getattr(text, lang):
                yield field, f"the {lang} text is missing"
        if text.ko and not _HANGUL.search(text.ko) and re.search("[a-z]{3} [a-z]{3}", text.ko):
            yield field, "ko: no Hangul in it"
    for field in _BILINGUAL:
        text = getattr(record, field)
        if isinstance(text, Text) and len(paragraphs(text.en)) != len(paragraphs(text.ko)):
            yield field, "en and ko have different numbers of paragraphs"
    if record.title is None or record.summary is None:
        yield "summary", "title and summary are the least that a record must have"


def _lengths(record: Record) -> Iterator[tuple[str, str]]:
    for lang in LANGS:
        title = getattr(record.title, lang, None) or ""
        if len(title) > _LONGEST["title"]:
            yield "title", f"{lang}: {len(title)} characters, at most {_LONGEST['title']}"
        for step in record.mechanism:
            label = getattr(step.label, lang) or ""
            if len(label) > _LONGEST["label"]:
                yield (
                    "mechanism",
                    f"{lang}: label of '{step.id}' has {len(label)} characters, at most {_LONGEST['label']}",
                )
    for field, most in _MOST_WORDS.items():
        text = getattr(record, field)
        if text and text.en and len(text.en.split()) > most:
            yield field, f"en: {len(text.en.split())} words, at most {most}"


def _phrases(record: Record) -> Iterator[tuple[str, str]]:
    for lang in LANGS:
        phrases = getattr(record.phrases, lang)
        if not _FEWEST_PHRASES <= len(phrases) <= _MOST_PHRASES:
            yield "phrases", f"{lang}: {len(phrases)} phrases; write {_FEWEST_PHRASES} to {_MOST_PHRASES}"


def _knowledge(record: Record) -> Iterator[tuple[str, str]]:
    said = record.provenance
    if "default" not in said:
        yield "provenance", "needs `default` with its confidence and source"
    looked = {
        "timeline.resolved_after": record.timeline and record.timeline.resolved_after,
        "timeline.detected_after": record.timeline and record.timeline.detected_after,
        "trigger": record.trigger,
        "detection": record.detection,
    }
    for field, value in looked.items():
        state = said[field].state if field in said else None
        if value is None and state != "not_stated":
            yield field, f"is empty; say `provenance: {field}: {{state: not_stated}}` if no source states it"
        if value is not None and state == "not_stated":
            yield field, "has a value although its provenance says that no source states it"
    kinds = {step.kind for step in record.mechanism}
    if not kinds & {"trigger", "propagation"}:
        yield "mechanism", "needs at least a trigger or a step of propagation"
    if not (record.components and record.symptoms and record.domain and record.causes):
        yield "components", "domain, symptoms, components and root cause must all be tagged"


def _words(record: Record) -> Iterator[tuple[str, str]]:
    for field, text in record.texts():
        for wrong in _CAREFUL.findall(text.en or ""):
            yield field, f"en: '{wrong}' judges instead of explaining"
        if _POLITE.search((text.ko or "") + " "):
            yield field, "ko: one register only, the plain ~했다 and ~한다; particles without brackets"
