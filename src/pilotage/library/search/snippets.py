"""Why a record matched, in its own words: the passages that hold the words of the query, marked. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property

from pilotage.library.analysis import is_hangul, word_tokens
from pilotage.library.entry import paragraphs
from pilotage.library.record import LANGS, Lang, Record

_RUN = re.compile(r"[가-힣]+|[^\W_가-힣]+")
_WIDTH = 180
_MARK_SHARE = 0.5
_OTHER_LANGUAGE = 0.6
"""How much a match in the language that was not asked for counts."""


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


@dataclass(frozen=True)
class Piece:
    """A paragraph of a record, which many queries look through.

    Attributes:
        field: the field that it stands in.
        lang: its language.
        text: its text in one line.
        tokens: all index tokens of its words.
    """

    field: str
    lang: Lang
    text: str
    tokens: frozenset[str]

    @cached_property
    def words(self) -> tuple[tuple[int, int, tuple[str, ...], bool], ...]:
        """(start, end, index tokens, whether it is Korean) of every word; few paragraphs are asked."""
        return tuple(
            (*run.span(), word_tokens(run.group()), is_hangul(run.group()))
            for run in _RUN.finditer(self.text)
        )


class Pieces:
    """The paragraphs of a record and which of them hold a token.

    Args:
        items: the paragraphs, in the order of the record.
    """

    def __init__(self, items: Iterable[Piece]) -> None:
        self.items = tuple(items)
        self._holding: dict[str, list[int]] = defaultdict(list)
        for place, piece in enumerate(self.items):
            for token in piece.tokens:
                self._holding[token].append(place)

    def holding(self, token: str) -> Sequence[int]:
        """Places of the paragraphs that hold a token."""
        return self._holding.get(token, ())


def pieces_of(record: Record) -> Pieces:
    """The paragraphs of a record in both languages, in the order of its fields."""
    return Pieces(
        _piece(field, tongue, paragraph)
        for tongue in LANGS
        for field, text in record.texts()
        for paragraph in paragraphs(getattr(text, tongue))
    )


def _piece(field: str, lang: Lang, paragraph: str) -> Piece:
    text = unicodedata.normalize("NFC", " ".join(paragraph.split()))
    return Piece(field, lang, text, frozenset().union(*map(word_tokens, _RUN.findall(text))))


def snippets(pieces: Pieces, weights: Mapping[str, float], lang: Lang, *, most: int = 3) -> list[Snippet]:
    """The best paragraphs of a record.

    Args:
        pieces: of what matched.
        weights: token of the query -> how much it says.
        lang: preferred language; of a field, the other one is shown where only that matched.
        most: number of snippets; each from another field.
    """
    scores: dict[int, float] = defaultdict(float)
    for token, weight in weights.items():
        for place in pieces.holding(token):
            scores[place] += weight
    found = [
        (-score if pieces.items[place].lang == lang else -_OTHER_LANGUAGE * score, place)
        for place, score in scores.items()
        if score
    ]
    found.sort()
    preferred: dict[str, Piece] = {}
    for _, place in found:
        if pieces.items[place].lang == lang:
            preferred.setdefault(pieces.items[place].field, pieces.items[place])
    chosen: dict[str, Snippet] = {}
    for _, place in found:
        field = pieces.items[place].field
        if field in chosen:
            continue
        piece = preferred.get(field, pieces.items[place])
        marks = _marks(piece, weights)
        if marks:
            chosen[piece.field] = _cut(piece.field, piece.lang, piece.text, marks)
            if len(chosen) == most:
                break
    return list(chosen.values())


def fields_with(pieces: Pieces, wanted: AbstractSet[str]) -> list[str]:
    """The fields of a record that hold any of these tokens, in the order of the record."""
    places = sorted({place for token in wanted for place in pieces.holding(token)})
    return list(dict.fromkeys(pieces.items[place].field for place in places))


def _marks(piece: Piece, weights: Mapping[str, float]) -> list[tuple[int, int]]:
    marks: list[tuple[int, int]] = []
    known = frozenset(weights)
    for start, end, own, korean in piece.words:
        if known.isdisjoint(own):
            continue
        hits = sum(token in known for token in own)
        if not (korean and hits < _MARK_SHARE * min(len(own), 3)):
            marks.append((start, end))
    return marks


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
