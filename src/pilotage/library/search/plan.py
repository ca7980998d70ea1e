"""From a query that is understood to one that a store can answer, with the weight of every part. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pilotage.library.analysis import is_hangul, tag_token, tokens, word_tokens, words
from pilotage.library.record import LANGS
from pilotage.library.search.elsewhere import is_elsewhere
from pilotage.library.search.lexicon import Lexicon
from pilotage.library.search.query import Query, Word
from pilotage.library.stores.protocol import Frequencies, Match, Phrase
from pilotage.library.terms import FACET_OF, Term

MOST_WORDS_OF_A_PASTE = 24
_MOST_PAIRS = 100
"""How many neighbouring words are looked for in each candidate."""
_COMMON_SHARE = 0.4
"""A word that more than this share of records holds says little; it is left out when rarer ones are there."""
_FEW_RECORDS = 40
"""Below this number of records shares say nothing, and no word is left out."""

# Few distinct weights: each is a query of its own to the store.
_FULL, _HALF, _DOUBLE = 1.0, 0.5, 2.0
_WORD, _BIGRAM, _LABEL, _YEAR, _MONTH = _FULL, _HALF, _HALF, _FULL, _DOUBLE
_CONCEPT = {
    "organisations": _DOUBLE,
    "components": _FULL,
    "symptoms": _FULL,
    "root-causes": _HALF,
    "contributing": _FULL,
    "domains": _HALF,
    "detection": _HALF,
    "remediation": _HALF,
}
_UNSEEN_HANGUL = 0.5
"""A Korean pair that no record holds is more often of a verb ending than of a name, so it weighs less."""
_RARELY_TAGGED = 3
"""A term that fewer records bear is also looked for by its labels: its cases may not be tagged."""


@dataclass(frozen=True)
class Clue:
    """One thing that the query says, and how a record can show that it knows of it.

    Attributes:
        text: the words of the query.
        tokens: tokens of which one is enough (for Korean: half of them).
        concept: (kind, slug) of vocabulary terms that mean the same; one is enough.
        weight: its share in how much of the query a record covers (an inverse document frequency).
        known: share of it that any public record holds, 0 to 1.
        elsewhere: whether it names something that the library's field rarely speaks of.
    """

    text: str
    tokens: tuple[str, ...]
    concepts: tuple[Term, ...]
    weight: float
    known: float
    elsewhere: bool = False


@dataclass(frozen=True)
class Plan:
    """What the store is asked, and what the answer is measured against.

    Attributes:
        match: the question to the store.
        clues: what the query says, part by part.
        used_terms: the words and terms that the answer rests on.
        corrections: (typed word, the name that was understood).
        records: number of public records.
        pairs: neighbouring words of the query that records hold, each as two tokens with a blank between.
        unheard: share of its plain words, by their number, that no public record holds.
    """

    match: Match
    clues: tuple[Clue, ...]
    used_terms: tuple[str, ...]
    corrections: tuple[tuple[str, str], ...] = ()
    records: int = 0
    pairs: tuple[str, ...] = ()
    unheard: float = 0.0


def plan_tokens(query: Query) -> list[str]:
    """The tokens whose frequencies `make_plan` needs."""
    found = [token for word in query.words for token in word.tokens]
    found += [tag_token(FACET_OF[m.term.kind], m.term.slug) for m in query.mentions]
    found += [token for phrase in _demands(query) for token in phrase]
    return list(dict.fromkeys(found))


def idf(records: int, having: int) -> float:
    """Inverse document frequency, never negative: ln(1 + (N - n + 0.5) / (n + 0.5))."""
    return math.log1p((records - having + 0.5) / (having + 0.5))


def make_plan(query: Query, counts: Frequencies, lexicon: Lexicon) -> Plan:
    """The plan of a query that has text.

    Args:
        query: as understood.
        counts: of `plan_tokens(query)`.
        lexicon: for the correction of words that no record holds.
    """
    corrections = list(query.corrections)
    kept = _informing(query, counts)
    groups: dict[float, list[Phrase]] = {}
    covered = _positions(query)
    for word in kept:
        weight = _BIGRAM if is_hangul(word.text) else _WORD
        groups.setdefault(weight, []).extend((token,) for token in word.tokens)
        if _foreign(word, counts) and word.position not in covered and not query.pasted:
            meant = lexicon.correction(word.text)
            if meant:
                corrections.append((word.text, meant))
    terms = _terms(query, corrections, lexicon)
    for term in terms:
        for weight, phrases in _expansion(term, counts):
            groups.setdefault(weight, []).extend(phrases)
    for year, month in query.dates:
        groups.setdefault(_YEAR, []).append((tag_token("year", year),))
        if month:
            groups.setdefault(_MONTH, []).append((tag_token("month", f"{year}-{month:02}"),))
    if not groups:
        # Nothing but demands (`title:stale`, `"up to"`): they are what a record is found by.
        groups[_FULL] = [*query.require, *query.title]
    match = Match(
        groups=tuple((weight, tuple(dict.fromkeys(phrases))) for weight, phrases in sorted(groups.items())),
        require=query.require,
        exclude=query.exclude,
        title=query.title,
    )
    used = [word.text for word in kept] + [term.slug for term in terms]
    used += [as_typed(phrase, query) for phrase in _demands(query)]
    return Plan(
        match,
        tuple(_clues(query, kept, counts, dict(corrections), lexicon)),
        tuple(dict.fromkeys(used)),
        tuple(corrections),
        counts.records,
        _pairs([word for word in query.words if not _unseen(word, counts)]),
        _unheard(query.words, counts),
    )


def _unheard(listed: Sequence[Word], counts: Frequencies) -> float:
    # `AS32934`, `web1`: what somebody named or numbered tells nothing of the field that a log is from.
    plain = [word for word in listed if not any(sign.isdigit() for sign in word.text)]
    return sum(_unseen(word, counts) for word in plain) / max(1, len(plain))


def _pairs(listed: Sequence[Word]) -> tuple[str, ...]:
    """English words that stand side by side: a log quotes what a program says, and so do reports."""
    following = {word.position: word for word in listed if not is_hangul(word.text)}
    both = [(word, following.get(place + 1)) for place, word in following.items()]
    found = dict.fromkeys(f"{one.tokens[-1]} {two.tokens[0]}" for one, two in both if two)
    return tuple(found)[:_MOST_PAIRS]


def _informing(query: Query, counts: Frequencies) -> list[Word]:
    def rarity(word: Word) -> float:
        return max(idf(counts.records, counts.of.get(token, 0)) for token in word.tokens)

    listed = list(query.words)
    if query.pasted:
        listed = [word for word in listed if not _unseen(word, counts)]
        listed.sort(key=rarity, reverse=True)
        listed = listed[:MOST_WORDS_OF_A_PASTE]
    if counts.records < _FEW_RECORDS:
        return listed
    most = _COMMON_SHARE * counts.records
    rare = [word for word in listed if min(counts.of.get(token, 0) for token in word.tokens) <= most]
    return rare or listed


def _demands(query: Query) -> tuple[Phrase, ...]:
    """The phrases that must be there and are not among the words: those of the title, and stop words."""
    return query.title if query.words or query.mentions else (*query.title, *query.require)


def as_typed(phrase: Phrase, query: Query) -> str:
    """A demanded phrase as it stands in the query."""
    typed = [word for word in words(query.raw) if set(word_tokens(word)) <= set(phrase)]
    return " ".join(dict.fromkeys(typed)) or " ".join(phrase)


def _unseen(word: Word, counts: Frequencies) -> bool:
    return not any(counts.of.get(token, 0) for token in word.tokens)


def _known(word: Word, counts: Frequencies) -> float:
    seen = sum(counts.of.get(token, 0) > 0 for token in word.tokens)
    return seen / len(word.tokens) if is_hangul(word.text) else float(seen > 0)


def _weight(word: Word, counts: Frequencies) -> float:
    """How much a word says: for Korean the mean over its pairs, of which some belong to its ending."""
    if not is_hangul(word.text):
        return idf(counts.records, min(counts.of.get(token, 0) for token in word.tokens))
    having = [counts.of.get(token, 0) for token in word.tokens]
    said = [idf(counts.records, n) * (1.0 if n else _UNSEEN_HANGUL) for n in having]
    return sum(said) / len(said)


def _foreign(word: Word, counts: Frequencies) -> bool:
    """Whether a word may be misspelt: no record holds it, or lacks one of its Korean bigrams."""
    if is_hangul(word.text):
        return any(not counts.of.get(token, 0) for token in word.tokens)
    return _unseen(word, counts)


def _positions(query: Query) -> set[int]:
    return {position for m in query.mentions for position in range(m.first, m.last + 1)}


def _terms(query: Query, corrections: list[tuple[str, str]], lexicon: Lexicon) -> list[Term]:
    found = [m.term for m in query.mentions]
    found += [term for _, meant in corrections for term in lexicon.terms_named(meant)]
    return _distinct(found)


def _distinct(terms: Iterable[Term]) -> list[Term]:
    return list({(term.kind, term.slug): term for term in terms if term.kind in _CONCEPT}.values())


def _expansion(term: Term, counts: Frequencies) -> list[tuple[float, list[Phrase]]]:
    tag = tag_token(FACET_OF[term.kind], term.slug)
    found: list[tuple[float, list[Phrase]]] = [(_CONCEPT[term.kind], [(tag,)])]
    if counts.of.get(tag, 0) < _RARELY_TAGGED:
        labels = [tuple(tokens(term.label[lang])) for lang in LANGS if term.label.get(lang)]
        found.append((_LABEL, [label for label in labels if 0 < len(label) <= 8]))  # noqa: PLR2004
    return found


def _clues(
    query: Query, kept: list[Word], counts: Frequencies, corrections: dict[str, str], lexicon: Lexicon
) -> list[Clue]:
    found: list[Clue] = []
    used: set[int] = set()
    spans: dict[tuple[int, int], list[Term]] = {}
    for mention in query.mentions:
        spans.setdefault((mention.first, mention.last), []).append(mention.term)
    by_position = {word.position: word for word in query.words}
    for (first, last), terms in spans.items():
        inside = [by_position[p] for p in range(first, last + 1) if p in by_position]
        tags = [tag_token(FACET_OF[term.kind], term.slug) for term in terms]
        having = max((counts.of.get(tag, 0) for tag in tags), default=0)
        text = " ".join(word.text for word in inside) or terms[0].slug
        every = tuple(dict.fromkeys(token for word in inside for token in word.tokens))
        # An organisation may be called like a product: Elastic, Stripe, Slack.
        product = all(term.kind != "organisations" for term in terms)
        elsewhere = product and is_elsewhere(word.text for word in inside)
        found.append(
            Clue(text, every, tuple(terms), idf(counts.records, having), float(having > 0), elsewhere)
        )
        used |= set(range(first, last + 1))
    for word in kept:
        if word.position in used:
            continue
        meant = corrections.get(word.text)
        named = tuple(lexicon.terms_named(meant)) if meant else ()
        known = 1.0 if named else _known(word, counts)
        found.append(
            Clue(word.text, word.tokens, named, _weight(word, counts), known, is_elsewhere([word.text]))
        )
    for phrase in _demands(query):
        having = min(counts.of.get(token, 0) for token in phrase)
        found.append(
            Clue(as_typed(phrase, query), phrase, (), idf(counts.records, having), float(having > 0))
        )
    distinct = {tuple(term.slug for term in clue.concepts) or clue.text: clue for clue in reversed(found)}
    return list(distinct.values())[::-1]
