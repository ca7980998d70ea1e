"""Why a record matched, in its own words: the passages that hold the words of the query, marked. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from pilotage.library.analysis import is_hangul, word_tokens
from pilotage.library.entry import paragraphs
from pilotage.library.record import LANGS, Lang, Record

_RUN = re.compile(r"[가-힣]+|[^\W_가-힣]+")
_WIDTH = 180
_MARK_SHARE = 0.5


@dataclass(frozen=True)
class Snippet:
    """A piece of a record with the words that matched.

    Attributes:
        field: the field that it stands in.
        lang: language of the text.
        text: at most about 180 characters, with `…` where it was cut.
        marks: (start, end) of every matched word within `text`, in characters.
    """

    field: str
    lang: Lang
    text: str
    marks: tuple[tuple[int, int], ...]

    def marked(self, before: str, after: str) -> str:
        """The text with every match between two strings."""
        parts, last = [], 0
        for start, end in self.marks:
            parts += [self.text[last:start], before, self.text[start:end], after]
            last = end
        return "".join([*parts, self.text[last:]])


def snippets(record: Record, weights: Mapping[str, float], lang: Lang, *, most: int = 3) -> list[Snippet]:
    """The best passages of a record.

    Args:
        record: what matched.
        weights: token of the query -> how much it says.
        lang: preferred language; the other one is shown where only it matched.
        most: number of snippets; each from another field.
    """
    found: list[tuple[float, int, Snippet]] = []
    for order, (field, tongue, text) in enumerate(_texts(record, lang)):
        marks, score = _marks(text, weights)
        if marks:
            near = score * (1.0 if tongue == lang else 0.6)
            found.append((-near, order, _cut(field, tongue, text, marks)))
    chosen: dict[str, Snippet] = {}
    for _, _, snippet in sorted(found, key=lambda item: item[:2]):
        chosen.setdefault(snippet.field, snippet)
    return list(chosen.values())[:most]


def fields_with(record: Record, wanted: AbstractSet[str]) -> list[str]:
    """The fields of a record that hold any of these tokens, in the order of the record."""
    found: dict[str, None] = {}
    for field, text in record.texts():
        if field not in found and any(
            not wanted.isdisjoint(word_tokens(run))
            for part in (text.en, text.ko)
            if part
            for run in _RUN.findall(part)
        ):
            found[field] = None
    return list(found)


def _texts(record: Record, lang: Lang) -> Iterable[tuple[str, Lang, str]]:
    ordered: list[Lang] = [lang, *(other for other in LANGS if other != lang)]
    for tongue in ordered:
        for field, text in record.texts():
            for paragraph in paragraphs(getattr(text, tongue)):
                yield field, tongue, unicodedata.normalize("NFC", " ".join(paragraph.split()))


def _marks(text: str, weights: Mapping[str, float]) -> tuple[list[tuple[int, int]], float]:
    marks: list[tuple[int, int]] = []
    seen: set[str] = set()
    for run in _RUN.finditer(text):
        own = word_tokens(run.group())
        hits = [token for token in own if token in weights]
        if not hits:
            continue
        if is_hangul(run.group()) and len(hits) < _MARK_SHARE * min(len(own), 3):
            continue
        seen.update(hits)
        marks.append(run.span())
    return marks, sum(weights[token] for token in seen)


def _cut(field: str, lang: Lang, text: str, marks: list[tuple[int, int]]) -> Snippet:
    if len(text) <= _WIDTH:
        return Snippet(field, lang, text, tuple(marks))
    # The window that holds most marks; of equal ones the first.
    start, _ = max(
        marks, key=lambda mark: (sum(mark[0] <= s < mark[0] + _WIDTH - 30 for s, _ in marks), -mark[0])
    )
    begin = max(0, start - 30)
    if begin:
        begin = text.find(" ", begin, start) + 1 or begin
    end = min(len(text), begin + _WIDTH)
    if end < len(text):
        end = text.rfind(" ", begin, end) if text.rfind(" ", begin, end) > start else end
    head, tail = ("… " if begin else ""), (" …" if end < len(text) else "")
    moved = tuple((s - begin + len(head), e - begin + len(head)) for s, e in marks if begin <= s and e <= end)
    return Snippet(field, lang, head + text[begin:end] + tail, moved)
