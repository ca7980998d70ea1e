"""Related incidents, each with the reasons why.

Every hit says what it shares with the incident that was asked for, how much each shared thing weighs and
where a reader can check it; the score is the sum of the weights and nothing else. Candidates come from the
indexes of the store, so that the cost does not grow with the number of records; then they are compared
exactly.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pilotage.core.cursors import Walk, read_rest
from pilotage.core.errors import InvalidInput
from pilotage.library.analysis import tag_token, tokens
from pilotage.library.insight.likeness import Weighed, Words, common_lang, cosine, record_texts, shared_words
from pilotage.library.insight.mechanism import Mechanism, mechanism_likeness
from pilotage.library.insight.rarity import LEAST, Rarity
from pilotage.library.insight.reasons import (
    DAMPING,
    TAG_KINDS,
    WEIGHTS,
    LinkEvidence,
    Reason,
    ReasonKind,
    StepEvidence,
    TermEvidence,
    WordEvidence,
    in_order,
    labels,
    one_line,
    total,
    weigh,
)
from pilotage.library.missing import no_record
from pilotage.library.record import LANGS, Lang, Record, read_record
from pilotage.library.shelf import Shelf
from pilotage.library.stores.protocol import Audience, Filters, Match, Store, Tag
from pilotage.library.terms import Vocabulary, tags_of

THRESHOLD = 1.2
"""Incidents of a lower score are not called related, unless an author linked them. Of the pairs just above it
about half are judged related in `tests/graded/related.jsonl`, of those just below it less than a quarter."""

MECHANISM_FLOOR = 0.08
"""Two mechanisms of this cosine share no more than the words of the trade (pods, requests, restart)."""

TEXT_FLOOR = 0.12
"""Likewise for two whole reports."""

ENOUGH_WORDS = 12
"""Likeness counts in full when this many words are shared: two drafts of one title are no evidence yet."""

ENOUGH_STEP_WORDS = 6
"""Likewise for mechanisms, which are shorter."""

VECTOR_FLOOR = 0.5
"""Cosine of the meaning of two unlike mechanisms; what lies above it counts."""

MOST_SHARING = 60
MOST_MATCHING = 30
"""How many candidates come from shared terms and from shared words; each is then compared exactly."""
MATCH_TOKENS = 32
"""How many of the record's most telling words look for candidates."""

_MOST_SIDES = 256

MeaningLikeness = Callable[[str, Sequence[str]], dict[str, float]]
"""(id, other ids) -> cosine of their mechanism passages, for those that have vectors. Must be symmetric."""


@dataclass(frozen=True)
class RelatedHit:
    """One related incident.

    Attributes:
        id: its id.
        title: in the language asked for, else in the other one.
        organisation: its name, null when unknown.
        date: ISO date, null when unknown.
        date_precision: how much of the date is known.
        score: exact sum of the weights of the reasons.
        reasons: hand-made links first, then the heaviest.
    """

    id: str
    title: str
    organisation: str | None
    date: str | None
    date_precision: str | None
    score: float
    reasons: tuple[Reason, ...]

    @property
    def hand_made(self) -> bool:
        """Whether an author made the link."""
        return any(reason.hand_made for reason in self.reasons)

    @property
    def good(self) -> bool:
        """Whether it is called related."""
        telling = any(reason.kind != "same-organisation" for reason in self.reasons)
        return self.hand_made or (telling and self.score >= THRESHOLD)

    def why(self, lang: Lang) -> str:
        """The chief reasons in one line: `same root cause · shared Ingress controller`."""
        return one_line(self.reasons, lang)

    def to_json(self) -> dict[str, Any]:
        """The hit as documented in `RelatedAnswer.to_json`."""
        return {
            "id": self.id,
            "title": self.title,
            "organisation": self.organisation,
            "date": self.date,
            "date_precision": self.date_precision,
            "score": self.score,
            "hand_made": self.hand_made,
            "why": {lang: self.why(lang) for lang in LANGS},
            "reasons": [reason.to_json() for reason in self.reasons],
        }


@dataclass(frozen=True)
class RelatedAnswer:
    """The incidents related to one.

    Attributes:
        id: the incident that was asked for, its alias resolved.
        lang: language of the titles.
        total: number of related incidents found.
        threshold: score below which nothing is called related.
        hits: this page, hand-made links first, then by score.
        onward: where the answer goes on.
    """

    id: str
    lang: Lang
    total: int
    threshold: float
    hits: tuple[RelatedHit, ...]
    onward: Walk

    def to_json(self) -> dict[str, Any]:
        """The documented shape.

        `{"id", "lang", "total", "next", "threshold", "hits": [{"id", "title",
        "organisation", "date", "date_precision", "score", "hand_made", "why": {"en", "ko"}, "reasons":
        [{"kind", "weight", "hand_made", "text": {"en", "ko"}, "evidence"}]}]}`; the form of `evidence`
        follows from `kind`: see
        `LinkEvidence`, `TermEvidence`, `StepEvidence`, `WordEvidence`.
        """
        return {
            "id": self.id,
            "lang": self.lang,
            "total": self.total,
            "next": self.onward.next,
            "threshold": self.threshold,
            "hits": [hit.to_json() for hit in self.hits],
        }


@dataclass(frozen=True)
class _Side:
    """A record, made ready for comparison."""

    record: Record
    names: frozenset[str]
    tags: frozenset[Tag]
    mechanism: Mechanism
    words: Words


class Sides:
    """Records made ready for comparison, kept until the public records of the store change.

    Args:
        store: where the records are.
        vocabulary: for tags and labels.
    """

    def __init__(self, store: Store, vocabulary: Vocabulary) -> None:
        self.store = store
        self.vocabulary = vocabulary
        self._held: tuple[int, Rarity, Shelf[_Side]] | None = None

    def now(self) -> tuple[Rarity, Shelf[_Side]]:
        """How rare things are now, and the records weighed by it."""
        # Only public records are counted, so private ones that come and go change no weight.
        version = self.store.data_version("public")
        held = self._held
        if held is None or held[0] != version:
            rarity = Rarity(self.store)
            shelf = Shelf(self.store, functools.partial(self._made, rarity), most=_MOST_SIDES)
            held = self._held = (version, rarity, shelf)
        return held[1], held[2]

    def _made(self, rarity: Rarity, ids: list[str]) -> dict[str, _Side]:
        read = self.store.get(ids, "all")
        return {
            id_: _side(read_record(stored.document), self.vocabulary, rarity) for id_, stored in read.items()
        }


@dataclass(frozen=True)
class _Scale:
    """What two records are compared by."""

    rarity: Rarity
    vocabulary: Vocabulary
    meaning: dict[str, float]


def related(  # noqa: PLR0913 - audience, language and page belong to every question
    sides: Sides,
    id: str,  # noqa: A002 - the field's word
    *,
    audience: Audience,
    lang: Lang,
    limit: int,
    cursor: str | None = None,
    vectors: MeaningLikeness | None = None,
) -> RelatedAnswer:
    """The incidents that are related to one, and why.

    Args:
        sides: the records.
        id: id or alias of the incident.
        audience: `public` sees no trace of private records, neither as hits nor in weights.
        lang: language of the titles.
        limit: most hits of this page.
        cursor: where the answer goes on.
        vectors: cosine of the meaning of mechanisms; without it words alone decide.

    Raises:
        NotFound: there is no such record for this audience.
        InvalidInput: `limit` makes no sense, or the cursor is none of this incident.
    """
    if limit < 1:
        raise InvalidInput("limit must be at least 1", hint="Write limit 10.")
    store = sides.store
    rarity, shelf = sides.now()
    stamps = store.stamps([id], audience)
    own = next(iter(shelf.of(stamps.values()).values()), None)
    if own is None:
        raise no_record(store, id, audience)

    def compared(names: Sequence[str]) -> dict[str, RelatedHit]:
        found = shelf.of(store.stamps(names, audience).values())
        found.pop(own.record.id, None)
        others = [found[key] for key in sorted(found) if found[key].record.status != "withdrawn"]
        meaning = vectors(own.record.id, [other.record.id for other in others]) if vectors else {}
        scale = _Scale(rarity, sides.vocabulary, meaning)
        return {other.record.id: _hit(own, other, scale, lang) for other in others}

    question = ("related", own.record.id, audience)
    rest = read_rest(cursor, question)
    hits = compared(_candidates(store, own, rarity, audience))
    if rest is None:
        good = [hit for hit in hits.values() if hit.good]
        good.sort(key=lambda hit: (not hit.hand_made, -hit.score, hit.id))
        walk = Walk(question, 0, tuple(hit.id for hit in good), limit)
    else:
        left = rest.among(hits)
        if len(left) < len(rest.digests):
            # Others came, and have displaced them even as candidates; or they are gone.
            hits |= compared(rest.among(store.ids(audience)))
            left = rest.among(hits)
        walk = Walk(question, rest.seen, tuple(left), limit)
    page = tuple(hits[id_] for id_ in walk.ids[:limit])
    return RelatedAnswer(own.record.id, lang, walk.seen + len(walk.ids), THRESHOLD, page, walk)


def _candidates(store: Store, own: _Side, rarity: Rarity, audience: Audience) -> list[str]:
    found: list[str] = list(_targets(own.record))
    # Records that link here bear this token in their index entry.
    found += _matching(store, [tag_token("link", name) for name in sorted(own.names)], audience)
    weights = {
        tag: WEIGHTS[TAG_KINDS[tag[0]]] * rarity.of_tag(tag)
        for tag in sorted(own.tags)
        if tag[0] in TAG_KINDS and tag[0] != "organisation" and rarity.of_tag(tag) > LEAST
    }
    if weights:
        found += [hit for hit, _ in store.sharing(weights, audience, limit=MOST_SHARING)]
    found += _matching(store, _telling_tokens(store, own, audience), audience)
    return list(dict.fromkeys(found))


def _matching(store: Store, wanted: Sequence[str], audience: Audience) -> list[str]:
    if not wanted:
        return []
    query = Match(((1.0, tuple((token,) for token in wanted)),))
    return [hit for hit, _ in store.match(query, Filters(), audience, limit=MOST_MATCHING)]


def _telling_tokens(store: Store, own: _Side, audience: Audience) -> list[str]:
    words = _first(own.words)
    known = store.frequencies(sorted(words.weights)).of
    # A token that only this record bears finds nothing; private records are not counted, so `all` keeps it.
    least = 2 if audience == "public" else 0
    usable = [token for token in words.weights if known.get(token, 0) >= least]
    usable.sort(key=lambda token: (-words.rarity[token] * words.bag.counts[token] ** 0.5, token))
    return usable[:MATCH_TOKENS]


def _first(words: Words) -> Weighed:
    """The words in English, else in Korean."""
    return next((words[lang] for lang in LANGS if words[lang]), words[LANGS[0]])


def _side(record: Record, vocabulary: Vocabulary, rarity: Rarity) -> _Side:
    return _Side(
        record=record,
        names=frozenset({record.id, *record.aliases}),
        tags=frozenset(tags_of(record, vocabulary)),
        mechanism=Mechanism(record, rarity.of_tokens),
        words=Words(
            functools.partial(record_texts, record), rarity.of_tokens, _organisation(record, vocabulary)
        ),
    )


def _organisation(record: Record, vocabulary: Vocabulary) -> set[str]:
    # Two reports of one organisation share its name, which says nothing about the incidents.
    names = [record.org or "", (record.org_slug or "").replace("-", " ")]
    term = vocabulary.terms.get("organisations", {}).get(record.org_slug or "")
    return {token for name in [*names, *(term.names() if term else ())] for token in tokens(name)}


def _hit(own: _Side, other: _Side, scale: _Scale, lang: Lang) -> RelatedHit:
    reasons = in_order(
        [
            *_links(own, other),
            *_shared_terms(own, other, scale),
            *_mechanism(own, other, scale),
            *_words(own, other),
        ]
    )
    record = other.record
    return RelatedHit(
        id=record.id,
        title=(record.title.get(lang) if record.title else "") or record.id,
        organisation=record.org,
        date=record.date,
        date_precision=record.date_precision,
        score=total(reasons),
        reasons=reasons,
    )


def _targets(record: Record) -> list[str]:
    return [*([record.recurrence_of] if record.recurrence_of else []), *(record.related or [])]


def _links(own: _Side, other: _Side) -> list[Reason]:
    found: list[Reason] = []
    both = ((own.record, other.record, other.names), (other.record, own.record, own.names))
    for kind in ("recurrence", "linked"):
        made = [
            LinkEvidence(source.id, target.id, _note(source, names))
            for source, target, names in both
            if names & (set(source.related or []) if kind == "linked" else {source.recurrence_of or ""})
        ]
        if made:
            # Linked from both sides is one reason; the side that says why speaks.
            best = next((link for link in made if link.note), made[0])
            found.append(Reason(kind, weigh(kind, 1.0), best))
    return found


def _note(source: Record, names: frozenset[str]) -> dict[Lang, str]:
    for name in sorted(names):
        text = source.related_reasons.get(name)
        if text is not None and (text.en or text.ko):
            return {lang: text.get(lang) for lang in LANGS}
    return {}


def _shared_terms(own: _Side, other: _Side, scale: _Scale) -> list[Reason]:
    rarity = scale.rarity
    found: list[Reason] = []
    for facet, kind in TAG_KINDS.items():
        shared = [tag for tag in own.tags & other.tags if tag[0] == facet and not _says_nothing(tag)]
        shared.sort(key=lambda tag: (-rarity.of_tag(tag), tag))
        for place, tag in enumerate(shared):
            strength = 1.0 if facet == "organisation" else rarity.of_tag(tag)
            evidence = TermEvidence(*tag, labels(scale.vocabulary, *tag), rarity.count(tag), rarity.records)
            found.append(Reason(kind, weigh(kind, strength * DAMPING**place), evidence))
    return [reason for reason in found if reason.weight > 0]


def _says_nothing(tag: Tag) -> bool:
    return tag in {("root_cause", "unknown"), ("symptom", "none-visible")}


def _mechanism(own: _Side, other: _Side, scale: _Scale) -> list[Reason]:
    first, second = own.mechanism, other.mechanism
    lang = common_lang(first.whole, second.whole)
    if lang is None:
        return []
    likeness, pairs = mechanism_likeness(first, second, lang)
    enough = _enough(first.whole[lang], second.whole[lang], ENOUGH_STEP_WORDS)
    by_words = _above(likeness, MECHANISM_FLOOR) * enough
    by_meaning = _above(scale.meaning.get(other.record.id, 0.0), VECTOR_FLOOR)
    # A likeness that no step bears out is not shown: nobody could check it.
    strength = max(by_words, by_meaning) if pairs else 0.0
    return _reason("same-mechanism", strength, StepEvidence(round(likeness, 3), pairs))


def _words(own: _Side, other: _Side) -> list[Reason]:
    lang = common_lang(own.words, other.words)
    if lang is None:
        return []
    mine, theirs = own.words[lang], other.words[lang]
    likeness = cosine(mine, theirs)
    evidence = WordEvidence(round(likeness, 3), shared_words(mine, theirs))
    strength = _above(likeness, TEXT_FLOOR) * _enough(mine, theirs, ENOUGH_WORDS)
    return _reason("text-likeness", strength, evidence)


def _reason(kind: ReasonKind, strength: float, evidence: StepEvidence | WordEvidence) -> list[Reason]:
    weight = weigh(kind, strength)
    return [Reason(kind, weight, evidence)] if weight > 0 else []


def _enough(mine: Weighed, theirs: Weighed, wanted: int) -> float:
    return min(1.0, len(mine.shared(theirs)) / wanted)


def _above(value: float, floor: float) -> float:
    return max(0.0, value - floor) / (1 - floor)
