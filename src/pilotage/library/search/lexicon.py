"""Which vocabulary terms a text speaks of, whatever the language, the spacing or the grammatical ending."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from rapidfuzz import distance, process

from pilotage.library.analysis import is_hangul, stem, without_particle, words
from pilotage.library.terms import Term, Vocabulary, load_vocabulary

_MOST_WORDS = 6
_CLOSE_LATIN = ((8, 2), (5, 1))
_CLOSE_HANGUL = ((6, 2), (3, 1))


@dataclass(frozen=True)
class Mention:
    """A place in a text that means a term.

    Attributes:
        term: the vocabulary term.
        first: number of its first word in the text.
        last: number of its last word.
    """

    term: Term
    first: int
    last: int


class Lexicon:
    """The names of all terms, ready for look-up.

    Args:
        vocabulary: whose terms are looked for.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._terms: dict[str, list[Term]] = defaultdict(list)
        self._spelling: dict[str, str] = {}
        for term in vocabulary:
            if term.replaced_by:
                continue
            for name in term.names():
                key = _key([_form(word) for word in words(name)])
                if key and term not in self._terms[key]:
                    self._terms[key].append(term)
                    self._spelling.setdefault(key, name)

    @cached_property
    def _hangul(self) -> list[str]:
        return [key for key in self._terms if " " not in key and is_hangul(key)]

    @cached_property
    def _latin(self) -> list[str]:
        return [key for key in self._terms if " " not in key and not is_hangul(key)]

    def mentions(self, text_words: Sequence[str]) -> list[Mention]:
        """The terms that a text speaks of; the longest name wins where names overlap.

        Args:
            text_words: as `analysis.words` gives them.
        """
        forms = [_form(word) for word in text_words]
        bare = [
            without_particle(word) if is_hangul(word) else form
            for word, form in zip(text_words, forms, strict=True)
        ]
        found: list[Mention] = []
        start = 0
        while start < len(forms):
            length = 0
            for last, terms in self._from(forms, bare, start):
                found += [Mention(term, start, last) for term in terms]
                length = last - start + 1
                break
            start += length or 1
        return found

    def _from(self, forms: list[str], bare: list[str], start: int) -> Iterator[tuple[int, list[Term]]]:
        for last in range(min(start + _MOST_WORDS, len(forms)) - 1, start - 1, -1):
            head = forms[start:last]
            for tail in dict.fromkeys((forms[last], bare[last])):
                terms = self._terms.get(_key([*head, tail]))
                if terms:
                    yield last, terms

    def correction(self, word: str) -> str | None:
        """The name nearest to a word that nothing knows, or None when none is near enough."""
        if is_hangul(word):
            forms, pool, steps = {without_particle(word)}, self._hangul, _CLOSE_HANGUL
        else:
            # The stem of a mistyped word may be nearer to a name than the word itself, or further off.
            forms, pool, steps = {word.lower(), stem(word.lower())}, self._latin, _CLOSE_LATIN
        near = [found for form in sorted(forms) if (found := _nearest(form, pool, steps)) is not None]
        return self._spelling[min(near)[1]] if near else None

    def terms_named(self, name: str) -> list[Term]:
        """The terms that a name means, as a whole."""
        return list(self._terms.get(_key([_form(word) for word in words(name)]), []))

    def nearest_terms(self, text_words: Sequence[str], *, limit: int = 5) -> list[Term]:
        """The terms whose names are most like the words of a text that matched nothing."""
        scored: dict[tuple[str, str], tuple[float, Term]] = {}
        for word in text_words:
            form = _form(word)
            if len(form) < 2:  # noqa: PLR2004
                continue
            for key, score, _ in process.extract(
                form, list(self._terms), scorer=distance.JaroWinkler.similarity, limit=3, score_cutoff=0.91
            ):
                for term in self._terms[key]:
                    old = scored.get((term.kind, term.slug), (0.0, term))[0]
                    scored[term.kind, term.slug] = (max(old, score), term)
        ordered = sorted(scored.values(), key=lambda pair: (-pair[0], pair[1].slug))
        return [term for _, term in ordered[:limit]]


def _nearest(form: str, pool: list[str], steps: tuple[tuple[int, int], ...]) -> tuple[int, str] | None:
    """(edits, key) of the nearest key with the same first letter."""
    allowed = next((edits for length, edits in steps if len(form) >= length), 0)
    if not allowed:
        return None
    found = process.extract(form, pool, scorer=distance.OSA.distance, score_cutoff=allowed, limit=5)
    near = [(int(edits), key) for key, edits, _ in found if key[0] == form[0]]
    if near:
        return min(near)
    # Letters in another order (`heruko`) are two edits in a short word, and yet one slip of the fingers.
    letters = sorted(form)
    return next(((allowed, key) for key in pool if key[0] == form[0] and sorted(key) == letters), None)


def _form(word: str) -> str:
    return word if is_hangul(word) else stem(word.lower())


def _key(forms: Sequence[str]) -> str:
    # Spacing is free in Korean, so Hangul words are joined: 로드 밸런서 equals 로드밸런서.
    key = ""
    for form in forms:
        glue = "" if not key or (is_hangul(form) and is_hangul(key[-1])) else " "
        key += glue + form
    return key


@functools.cache
def load_lexicon() -> Lexicon:
    """The lexicon of the shipped vocabulary."""
    return Lexicon(load_vocabulary())
