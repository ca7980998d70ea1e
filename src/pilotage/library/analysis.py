"""From text to index tokens, the same for records and queries and for every store.

English words are lower-cased and stemmed (Snowball: Porter, "Snowball: a language for stemming algorithms",
2001). Hangul is cut into overlapping bigrams, since the tokenizers of SQLite and PostgreSQL know no Korean:
measured on twelve queries, bigrams found twelve, the plain tokenizer two. All tokens are letters and digits
only, so that both engines take them as they are.
"""

from __future__ import annotations

import functools
import itertools
import re
import threading
import unicodedata

from Stemmer import Stemmer

from pilotage.library.stopwords import ENGLISH, KOREAN, PARTICLES

ANALYSIS_VERSION = 1
"""Raised whenever the same text would give other tokens: a store with another version is indexed anew."""

_RUN = re.compile(r"[가-힣]+|[^\W_가-힣]+")
_CAMEL = re.compile(r"[A-Z]+(?=[A-Z][a-z]|\b|\d)|[A-Z]?[a-z]+|\d+")
_STATUS_PLURAL = re.compile(r"\d{3}s")
_STEMMER = Stemmer("english", 0)
_STEMMING = threading.Lock()
"""The stemmer keeps its word in itself, so two threads must not share it at one time."""
_LONGEST = 64
_KEPT = 30_000
"""How many words are kept with what becomes of them: more than the common ones of a large library."""


def fold(text: str) -> str:
    """The form in which texts are compared; letters keep their case.

    Compatibility-composed (NFKC), so that decomposed Hangul and full-width letters equal the usual ones.
    """
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


@functools.lru_cache(maxsize=_KEPT)
def stem(word: str) -> str:
    """The stem of a lower-case English word; numbers and short words are left alone."""
    if len(word) <= 3 or not word.isascii() or not word.isalpha():  # noqa: PLR2004
        return word
    with _STEMMING:
        return str(_STEMMER.stemWord(word))


def bigrams(run: str) -> list[str]:
    """The overlapping pairs of a run of Hangul syllables; a single syllable stays as it is."""
    if len(run) == 1:
        return [run]
    return [run[start : start + 2] for start in range(len(run) - 1)]


def _latin(run: str) -> tuple[str, ...]:
    lower = run.lower()[:_LONGEST]
    if _STATUS_PLURAL.fullmatch(lower):
        lower = lower[:3]
    found = [stem(lower)]
    if not (run.islower() or run.isupper()):
        parts = _CAMEL.findall(run)
        # HAProxy is one word, OOMKilled is two.
        if len(parts) > 1 and all(len(part) >= 3 for part in parts):  # noqa: PLR2004
            found += [stem(part.lower()) for part in parts]
    return tuple(found)


@functools.lru_cache(maxsize=_KEPT)
def word_tokens(word: str) -> tuple[str, ...]:
    """The index tokens of one word as `words` gives it."""
    return _word_tokens(word)


def _word_tokens(word: str) -> tuple[str, ...]:
    return tuple(bigrams(word)) if is_hangul(word) else _latin(word)


def tokens(text: str) -> list[str]:
    """The index tokens of a text, in order."""
    return list(itertools.chain.from_iterable(map(word_tokens, _RUN.findall(fold(text)))))


def spelled(text: str) -> str:
    """The index tokens of a text as an index holds them: in order, with spaces between."""
    return " ".join(map(_spelled, _RUN.findall(fold(text))))


@functools.lru_cache(maxsize=_KEPT)
def _spelled(word: str) -> str:
    # Not from `word_tokens`: an import would fill its memory with the same words once more.
    return " ".join(_word_tokens(word))


def words(text: str) -> list[str]:
    """The words of a text as runs of letters and digits of one script, case kept."""
    return _RUN.findall(fold(text))


def is_hangul(word: str) -> bool:
    """Whether a word, as `words` gives it, is Korean."""
    return "가" <= word[0] <= "힣"


def without_particle(word: str) -> str:
    """A Korean word without its particle: 인그레스가 becomes 인그레스. At least two syllables stay."""
    for particle in PARTICLES:
        if word.endswith(particle) and len(word) - len(particle) >= 2:  # noqa: PLR2004
            return word[: -len(particle)]
    return word


def is_stopword(word: str) -> bool:
    """Whether a word says nothing about what a query is after."""
    if is_hangul(word):
        # A particle alone is what is left of a noun in Latin letters: Pod들이.
        return word in KOREAN or word in PARTICLES or without_particle(word) in KOREAN
    return word.lower() in ENGLISH


def tag_token(facet: str, slug: str) -> str:
    """The one token that stands for a vocabulary term, whatever the language of the text."""
    return "zq" + re.sub(r"[\W_]+", "", f"{facet}{slug}").lower()
