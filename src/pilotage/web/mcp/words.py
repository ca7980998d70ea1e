"""Terms of the vocabulary that are like a word, with a cut-off: nothing is better than something unlike."""

from __future__ import annotations

from dataclasses import dataclass

from rapidfuzz import distance, fuzz, process

from pilotage.core.errors import UnknownTerm
from pilotage.core.text import did_you_mean, normalise
from pilotage.library.analysis import words
from pilotage.library.search.lexicon import Lexicon
from pilotage.library.terms import FACET_OF, KINDS, Term, Vocabulary

CUT_OFF = 0.8
"""Below this, words that mean different things begin to look alike."""
_SPOKEN = 0.95
_PART = 0.9
_LEAST_PART = 3
_LIKE_IDS = 75
_LONGEST_ID = 120


@dataclass(frozen=True)
class Likeness:
    """A term that is like a word.

    Attributes:
        term: the term.
        score: 1 for its very name, at least `CUT_OFF`.
        name: the name of the term that is like it.
    """

    term: Term
    score: float
    name: str


def kind_named(name: str) -> str:
    """The kind of vocabulary that a word names; names of facets are understood.

    Raises:
        UnknownTerm: there is none; the hint names the nearest ones.
    """
    word = normalise(name).strip().lower().replace("_", "-")
    for kind in KINDS:
        if word in {kind, kind.removesuffix("s"), FACET_OF[kind].replace("_", "-")}:
            return kind
    raise UnknownTerm(
        f"'{name[:60]}' is no kind of vocabulary",
        hint=did_you_mean(word, KINDS) or f"Kinds: {', '.join(KINDS)}.",
    )


def terms_in_force(vocabulary: Vocabulary, kind: str | None) -> list[Term]:
    """The terms of a kind, or of all, without deprecated ones."""
    return [term for term in vocabulary if not term.replaced_by and kind in {None, term.kind}]


def terms_like(query: str, terms: list[Term], lexicon: Lexicon) -> list[Likeness]:
    """The terms whose names are like a query, best first; empty when none is.

    Args:
        query: a word or a few, in any language.
        terms: which terms are looked at.
        lexicon: knows the grammatical forms of their names.
    """
    wanted = normalise(query).strip().lower()
    if not wanted:
        return []
    spoken = {(mention.term.kind, mention.term.slug) for mention in lexicon.mentions(words(wanted))}
    found = [like for term in terms if (like := _likeness(wanted, term, (term.kind, term.slug) in spoken))]
    return sorted(found, key=lambda like: (-like.score, like.term.kind, like.term.slug))


def like_ids(name: str, ids: list[str]) -> list[str]:
    """The ids that share most of their words with a wrong one, best first; empty when none does."""
    wanted = normalise(name)[:_LONGEST_ID].lower().replace("-", " ")
    spaced = {known: known.lower().replace("-", " ") for known in ids}
    found = process.extract(wanted, spaced, scorer=fuzz.token_set_ratio, limit=3, score_cutoff=_LIKE_IDS)
    return [known for _, _, known in found]


def _likeness(wanted: str, term: Term, spoken: bool) -> Likeness | None:
    scored = [(_score(wanted, name.lower()), name) for name in dict.fromkeys(term.names())]
    score, name = max(scored, key=lambda pair: pair[0])
    if spoken and score < _SPOKEN:
        score = _SPOKEN
        name = max(term.names(), key=lambda one: fuzz.partial_ratio(wanted, one.lower()))
    return Likeness(term, round(score, 2), name) if score >= CUT_OFF else None


def _score(wanted: str, name: str) -> float:
    plain = name.replace("-", " ")
    asked = wanted.replace("-", " ")
    if asked == plain:
        return 1.0
    short = min(len(asked), len(plain))
    if short >= _LEAST_PART and (f" {asked} " in f" {plain} " or f" {plain} " in f" {asked} "):
        return _PART
    return float(distance.OSA.normalized_similarity(asked, plain))
