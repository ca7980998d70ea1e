"""Topics: what the incidents that bear some terms together have in common, and whether that is chance.

A topic is any conjunction of facet terms. Its counts always come with their base: how many of how many, how
often the same term stands in the whole library, and how far a share of so few cases can be trusted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pilotage.core.cursors import Part, read_place
from pilotage.core.errors import InvalidInput
from pilotage.library.insight.lessons import SharedLesson, shared_lessons
from pilotage.library.insight.reasons import labels
from pilotage.library.insight.topic_line import Span, summary_line
from pilotage.library.paging import KEY_SIZE, order_key, place_of
from pilotage.library.record import LANGS, Lang, Record, read_record
from pilotage.library.search.lexicon import load_lexicon
from pilotage.library.search.query import facet_value
from pilotage.library.stores.protocol import Audience, Filters, Store, Tag
from pilotage.library.terms import Vocabulary, facet_name

COMPANIONS = ("component", "root_cause", "contributing", "symptom")
"""Facets whose terms are compared with the base rate."""

MOST_TERMS = 12
LESSON_CASES = 200
"""Shared lessons are looked for in the newest cases; more would not be read by anyone."""
DATED_CASES = 500
"""Most cases of the first and of the last year that are read for exact dates; beyond, the year is given."""

Z95 = 1.959963984540054
"""Standard normal quantile of a two-sided interval of 95 %."""


@dataclass(frozen=True)
class TopicTerm:
    """A term among the cases of a topic.

    Attributes:
        facet: its facet.
        slug: its slug.
        label: what readers see, per language.
        n: number of cases that bear it.
        of: number of cases.
        base_n: number of records of the whole library that bear it.
        base_of: number of records of the whole library.
        low: lower end of the 95 % interval of the share.
        high: upper end.
    """

    facet: str
    slug: str
    label: dict[Lang, str]
    n: int
    of: int
    base_n: int
    base_of: int
    low: float
    high: float

    @property
    def share(self) -> float:
        """Share of the cases that bear the term."""
        return self.n / self.of

    @property
    def lift(self) -> float:
        """How many times the base rate that is: (n / of) / (base_n / base_of)."""
        return self.n * self.base_of / (self.of * self.base_n)

    @property
    def score(self) -> float:
        """Lift as far as it can be trusted: the low end of the share over the high end of the base share."""
        return self.low / wilson(self.base_n, self.base_of)[1]

    def to_json(self) -> dict[str, Any]:
        """`{"facet", "slug", "label", "n", "of", "share", "low", "high", "base_n", "base_of", "lift"}`."""
        return {
            "facet": self.facet,
            "slug": self.slug,
            "label": dict(self.label),
            "n": self.n,
            "of": self.of,
            "share": round(self.share, 4),
            "low": round(self.low, 4),
            "high": round(self.high, 4),
            "base_n": self.base_n,
            "base_of": self.base_of,
            "lift": round(self.lift, 3),
        }


@dataclass(frozen=True)
class TopicCase:
    """One incident of a topic."""

    id: str
    title: str
    organisation: str | None
    date: str | None
    date_precision: str | None

    def to_json(self) -> dict[str, Any]:
        """`{"id", "title", "organisation", "date", "date_precision"}`."""
        return {
            "id": self.id,
            "title": self.title,
            "organisation": self.organisation,
            "date": self.date,
            "date_precision": self.date_precision,
        }


@dataclass(frozen=True)
class Topic:
    """The incidents that bear some terms together.

    Attributes:
        terms: the conjunction, slugs in force; empty for the whole library.
        labels: label of each of these terms, per language.
        lang: language of the titles.
        total: number of cases.
        base: number of records of the whole library.
        cases: this page, newest first.
        onward: where the cases go on.
        span: first and last date among the cases.
        companions: facet -> its terms among the cases, the most telling first, those of one case last.
        lessons: what several of the cases teach.
    """

    terms: tuple[Tag, ...]
    labels: tuple[dict[Lang, str], ...]
    lang: Lang
    total: int
    base: int
    cases: tuple[TopicCase, ...]
    onward: Part
    span: Span
    companions: dict[str, tuple[TopicTerm, ...]] = field(default_factory=dict)
    lessons: tuple[SharedLesson, ...] = ()

    @property
    def page(self) -> str:
        """Which cases these are: `1–2 of 2`, `0 of 0`."""
        if not self.cases:
            return f"0 of {self.total}"
        seen = self.onward.seen
        return f"{seen + 1}–{seen + len(self.cases)} of {self.total}"

    def telling(self, *, limit: int = 2) -> list[TopicTerm]:
        """The terms that stand out: in at least two cases and more often than chance allows."""
        every = [
            term for terms in self.companions.values() for term in terms if term.n > 1 and term.score > 1
        ]
        return sorted(every, key=lambda term: (-term.score, term.facet, term.slug))[:limit]

    def summary(self, lang: Lang) -> str:
        """The topic in a sentence or two."""
        named = [(facet, label[lang]) for (facet, _), label in zip(self.terms, self.labels, strict=True)]
        chief = [(term.label[lang], term.n, term.lift) for term in self.telling()]
        return summary_line(named, self.total, self.span, chief, lang)

    def to_json(self) -> dict[str, Any]:
        """The documented shape.

        `{"terms": [{"facet", "slug", "label"}], "summary": {"en", "ko"}, "lang", "total", "base", "next",
        "page", "cases": [{"id", "title", "organisation", "date", "date_precision"}], "span":
        {"first", "first_precision", "last", "last_precision", "dated"}, "companions": {facet: [{"facet",
        "slug", "label", "n", "of", "share", "low", "high", "base_n", "base_of", "lift"}]}, "lessons":
        [{"words", "overlap", "lessons": [{"id", "text"}]}]}`.
        """
        return {
            "terms": [
                {"facet": facet, "slug": slug, "label": dict(label)}
                for (facet, slug), label in zip(self.terms, self.labels, strict=True)
            ],
            "summary": {lang: self.summary(lang) for lang in LANGS},
            "lang": self.lang,
            "total": self.total,
            "base": self.base,
            "next": self.onward.next,
            "page": self.page,
            "cases": [case.to_json() for case in self.cases],
            "span": self.span.to_json(),
            "companions": {
                facet: [term.to_json() for term in terms] for facet, terms in self.companions.items()
            },
            "lessons": [lesson.to_json() for lesson in self.lessons],
        }


def topic(  # noqa: PLR0913 - audience, language and page belong to every question
    store: Store,
    terms: Sequence[tuple[str, str]],
    *,
    audience: Audience,
    lang: Lang,
    limit: int,
    vocabulary: Vocabulary,
    cursor: str | None = None,
) -> Topic:
    """What the incidents that bear all of some terms have in common.

    Args:
        store: where the records are.
        terms: (facet, value) as a user writes them: slug, label or synonym; none means every record.
        audience: `public` sees no trace of private records, neither as cases nor in base rates.
        lang: language of the titles.
        limit: most cases of this page.
        vocabulary: for slugs and labels.
        cursor: where the cases go on.

    Raises:
        UnknownTerm: a facet or a value does not exist; the hint names the nearest ones.
        InvalidInput: `limit` makes no sense, or the cursor is none of this topic.
    """
    if limit < 1:
        raise InvalidInput("limit must be at least 1", hint="Write limit 10.")
    tags = _resolved(store, terms, audience, vocabulary)
    withdrawn = ("status", "withdrawn") in tags
    filters = Filters(all_of=tags, withdrawn=withdrawn)
    whole = Filters(withdrawn=withdrawn)
    total, base = store.count(filters, audience), store.count(whole, audience)
    question = ("topic", sorted(tags), audience)
    place = read_place(cursor, KEY_SIZE, question)
    newest = store.page(filters, audience, limit=max(limit + 1, LESSON_CASES)) if total else []
    page = newest
    if place.key is not None:
        page = store.page(filters, audience, limit=limit + 1, after=place_of(place))
    shown = page[:limit]
    facets = store.facets(filters, audience) if total else {}
    return Topic(
        terms=tags,
        labels=tuple(labels(vocabulary, facet, slug) for facet, slug in tags),
        lang=lang,
        total=total,
        base=base,
        cases=tuple(_case(read_record(stored.document), lang) for stored in shown),
        onward=Part(question, place.seen, tuple(map(order_key, shown)), len(page) > limit),
        span=_span(store, filters, facets.get("year", {}), audience),
        companions=_companions(facets, store.facets(whole, audience), tags, (total, base), vocabulary),
        lessons=shared_lessons([read_record(stored.document) for stored in newest[:LESSON_CASES]]),
    )


def wilson(n: int, of: int) -> tuple[float, float]:
    """The 95 % score interval of a share: honest where `of` is small, and never outside 0 to 1.

    Wilson, "Probable inference, the law of succession, and statistical inference", Journal of the American
    Statistical Association 22 (1927). The usual `p ± z·sqrt(p(1-p)/n)` would call 2 of 2 certain.

    Args:
        n: how many bear the property.
        of: how many were looked at; none say nothing: (0, 1).
    """
    if of == 0:
        return 0.0, 1.0
    share = n / of
    centre = share + Z95**2 / (2 * of)
    half = Z95 * math.sqrt(share * (1 - share) / of + Z95**2 / (4 * of**2))
    scale = 1 + Z95**2 / of
    # At the ends the formula gives the share itself but for rounding.
    low = 0.0 if n == 0 else (centre - half) / scale
    high = 1.0 if n == of else (centre + half) / scale
    return max(0.0, low), min(1.0, high)


def _resolved(
    store: Store, terms: Sequence[tuple[str, str]], audience: Audience, vocabulary: Vocabulary
) -> tuple[Tag, ...]:
    borne = store.facets(Filters(withdrawn=True), audience)
    known = {facet: set(slugs) for facet, slugs in borne.items()}
    lexicon = load_lexicon()
    tags: list[Tag] = []
    for word, value in terms:
        facet = facet_name(word)
        tags.append((facet, facet_value(facet, value, vocabulary, lexicon, known)))
    return tuple(dict.fromkeys(tags))


def _case(record: Record, lang: Lang) -> TopicCase:
    title = record.title.get(lang) if record.title else ""
    return TopicCase(record.id, title or record.id, record.org, record.date, record.date_precision)


def _companions(
    facets: dict[str, dict[str, int]],
    base_facets: dict[str, dict[str, int]],
    tags: Sequence[Tag],
    sizes: tuple[int, int],
    vocabulary: Vocabulary,
) -> dict[str, tuple[TopicTerm, ...]]:
    total, base = sizes
    if not total:
        return dict.fromkeys(COMPANIONS, ())
    found: dict[str, tuple[TopicTerm, ...]] = {}
    for facet in COMPANIONS:
        terms = []
        for slug, counted in facets.get(facet, {}).items():
            if (facet, slug) in tags:
                continue
            # An import may have come between two counts: a part is never more than the whole.
            n = min(counted, total)
            base_n = max(n, base_facets.get(facet, {}).get(slug, 0))
            terms.append(
                TopicTerm(
                    facet=facet,
                    slug=slug,
                    label=labels(vocabulary, facet, slug),
                    n=n,
                    of=total,
                    base_n=base_n,
                    base_of=max(base, base_n),
                    low=wilson(n, total)[0],
                    high=wilson(n, total)[1],
                )
            )
        terms.sort(key=lambda term: (term.n == 1, -term.score, -term.n, term.slug))
        found[facet] = tuple(terms[:MOST_TERMS])
    return found


def _span(store: Store, filters: Filters, years: dict[str, int], audience: Audience) -> Span:
    counted = {year: n for year, n in years.items() if n}
    if not counted:
        return Span()
    first, last = min(counted), max(counted)
    earliest = _dates(store, filters, first, audience) if counted[first] <= DATED_CASES else []
    latest = _dates(store, filters, last, audience) if counted[last] <= DATED_CASES else []
    # A date known to the year only may lie anywhere in it, so it counts as its first and as its last day.
    begin = min(earliest, default=(first, "year"))
    end = max(latest, key=lambda date: (_end(*date), date), default=(last, "year"))
    return Span(*begin, *end, dated=sum(counted.values()))


def _dates(store: Store, filters: Filters, year: str, audience: Audience) -> list[tuple[str, str]]:
    narrowed = Filters((*filters.all_of, ("year", year)), filters.none_of, filters.withdrawn)
    found: list[tuple[str, str]] = []
    for stored in store.page(narrowed, audience, limit=DATED_CASES):
        record = read_record(stored.document)
        precision = record.date_precision or "day"
        length = {"year": 4, "month": 7}.get(precision, 10)
        found.append(((record.date or year)[:length], precision))
    return found


def _end(date: str, precision: str) -> str:
    return {"year": f"{date}-12-31", "month": f"{date}-31"}.get(precision, date)
