"""What the library holds, counted: facets by year, pairs of facets, how long things took, what is stated.

Durations are told as distributions and only from the records that state them, with how many do. There is no
mean and there will be none: a few very long incidents decide it, and it predicts nothing (VOID report 2021,
"MTTR is a misleading metric"; Davidovič, "Incident Metrics in SRE", O'Reilly 2021).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from pilotage.core.errors import InvalidInput
from pilotage.library.insight.reasons import labels
from pilotage.library.interval import parse_interval
from pilotage.library.record import LANGS, Lang
from pilotage.library.stores.protocol import Audience, Filters, Store
from pilotage.library.terms import FACETS, Vocabulary, facet_name

INTERVALS = ("detected_after", "mitigated_after", "resolved_after")
"""The intervals of a record, from the start of the impact."""

EDGES = (60, 180, 600, 1_800, 3_600, 10_800, 36_000, 86_400, 259_200, 864_000, 2_592_000)
"""Inner edges of the histogram in seconds, about a third of a decade apart where people think in them:
1m, 3m, 10m, 30m, 1h, 3h, 10h, 1d, 3d, 10d, 30d."""

_EMPTY: tuple[object, ...] = (None, "", "unknown", [], {})


@dataclass(frozen=True)
class TermCount:
    """How many records bear a term, all in all and by year.

    Attributes:
        slug: the term.
        label: what readers see, per language.
        n: number of records.
        by_year: year -> number of records, oldest first; records without a year are in `n` only.
    """

    slug: str
    label: dict[Lang, str]
    n: int
    by_year: dict[str, int]

    def to_json(self) -> dict[str, Any]:
        """`{"slug", "label", "n", "by_year"}`."""
        return {"slug": self.slug, "label": dict(self.label), "n": self.n, "by_year": dict(self.by_year)}


@dataclass(frozen=True)
class Matrix:
    """How often the terms of two facets stand together.

    Attributes:
        first: facet of the rows.
        second: facet of the columns.
        rows: slugs of the rows, the most frequent first.
        columns: slugs of the columns, likewise.
        cells: number of records with both, row by row.
        row_totals: number of records with the row's term. Not the sum of its cells: a record may bear several
            terms of the other facet, or none.
        column_totals: likewise.
        total: number of records looked at.
        labels: slug -> label per language, rows and columns apart.
    """

    first: str
    second: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[tuple[int, ...], ...]
    row_totals: tuple[int, ...]
    column_totals: tuple[int, ...]
    total: int
    labels: tuple[dict[str, dict[Lang, str]], dict[str, dict[Lang, str]]]

    def to_json(self) -> dict[str, Any]:
        """`{"first", "second", "rows": [{"slug", "label", "n"}], "columns", "cells": [[n]], "total"}`."""
        sides = (
            (self.rows, self.row_totals, self.labels[0]),
            (self.columns, self.column_totals, self.labels[1]),
        )
        rows, columns = (
            [
                {"slug": slug, "label": dict(named[slug]), "n": n}
                for slug, n in zip(slugs, totals, strict=True)
            ]
            for slugs, totals, named in sides
        )
        return {
            "first": self.first,
            "second": self.second,
            "rows": rows,
            "columns": columns,
            "cells": [list(row) for row in self.cells],
            "total": self.total,
        }


@dataclass(frozen=True)
class Bucket:
    """One bar of a histogram: at least `low`, less than `high` seconds; null where it is open."""

    low: int
    high: int | None
    n: int

    def to_json(self) -> dict[str, Any]:
        """`{"low", "high", "n"}`, in seconds."""
        return {"low": self.low, "high": self.high, "n": self.n}


@dataclass(frozen=True)
class Distribution:
    """How long something took, in seconds, over the records that state it.

    Attributes:
        interval: `detected_after`, `mitigated_after` or `resolved_after`.
        n: number of records that state it.
        of: number of records looked at.
        unreadable: how many more state it in words that are no interval (`several hours`).
        minimum: shortest; this and the following are null when no record states it.
        q1: a quarter took at most this long.
        median: half did.
        q3: three quarters did.
        maximum: longest.
        buckets: histogram with log-spaced edges (`EDGES`); its counts add up to `n`.
    """

    interval: str
    n: int
    of: int
    unreadable: int
    minimum: float | None
    q1: float | None
    median: float | None
    q3: float | None
    maximum: float | None
    buckets: tuple[Bucket, ...]

    def to_json(self) -> dict[str, Any]:
        """`{"interval", "n", "of", "unreadable", "minimum", "q1", "median", "q3", "maximum", "buckets"}`."""
        return {
            "interval": self.interval,
            "n": self.n,
            "of": self.of,
            "unreadable": self.unreadable,
            "minimum": self.minimum,
            "q1": self.q1,
            "median": self.median,
            "q3": self.q3,
            "maximum": self.maximum,
            "buckets": [bucket.to_json() for bucket in self.buckets],
        }


@dataclass(frozen=True)
class Coverage:
    """How many records state a field.

    Attributes:
        field: name of the field.
        stated: they hold a value.
        not_stated: somebody looked, no source speaks of it.
        open: nobody has looked yet.
    """

    field: str
    stated: int
    not_stated: int
    open: int

    def to_json(self) -> dict[str, Any]:
        """`{"field", "stated", "not_stated", "open"}`."""
        return {"field": self.field, "stated": self.stated, "not_stated": self.not_stated, "open": self.open}


@dataclass(frozen=True)
class Statistics:
    """The library in numbers.

    Attributes:
        records: number of records, withdrawn ones left out unless the filters ask for them.
        organisations: number of organisations.
        bilingual: number of records whose title and summary stand in both languages.
        status: status -> number of records.
        source_kinds: kind of source -> number of records that cite one.
        facets: facet -> terms, the most frequent first.
        durations: one for each of `INTERVALS`.
        coverage: what the records state.
    """

    records: int
    organisations: int
    bilingual: int
    status: dict[str, int]
    source_kinds: dict[str, int]
    facets: dict[str, tuple[TermCount, ...]]
    durations: tuple[Distribution, ...]
    coverage: tuple[Coverage, ...]

    def to_json(self) -> dict[str, Any]:
        """The documented shape.

        `{"records", "organisations", "bilingual", "status": {slug: n}, "source_kinds": {slug: n}, "facets":
        {facet: [{"slug", "label", "n", "by_year": {year: n}}]}, "durations": [{"interval", "n", "of",
        "unreadable", "minimum", "q1", "median", "q3", "maximum", "buckets": [{"low", "high", "n"}]}],
        "coverage": [{"field", "stated", "not_stated", "open"}]}`; durations in seconds.
        """
        return {
            "records": self.records,
            "organisations": self.organisations,
            "bilingual": self.bilingual,
            "status": dict(self.status),
            "source_kinds": dict(self.source_kinds),
            "facets": {facet: [term.to_json() for term in terms] for facet, terms in self.facets.items()},
            "durations": [distribution.to_json() for distribution in self.durations],
            "coverage": [field.to_json() for field in self.coverage],
        }


def statistics(
    store: Store, *, audience: Audience, vocabulary: Vocabulary, filters: Filters | None = None
) -> Statistics:
    """The library, or the part of it that passes the filters, in numbers.

    Args:
        store: where the records are; they are read one by one, in constant memory.
        audience: `public` sees no trace of private records.
        vocabulary: for labels.
        filters: which records; none means all that are not withdrawn.
    """
    chosen = filters or Filters()
    facets = facet_counts(store, audience=audience, vocabulary=vocabulary, filters=chosen)
    reading = _Reading()
    for stored in store.iterate(chosen, audience):
        reading.take(stored.document)
    return Statistics(
        records=reading.records,
        organisations=len(facets["organisation"]),
        bilingual=reading.bilingual,
        status={term.slug: term.n for term in facets["status"]},
        source_kinds={term.slug: term.n for term in facets["source_kind"]},
        facets=facets,
        durations=tuple(
            distribution(name, reading.seconds[name], of=reading.records, unreadable=reading.unreadable[name])
            for name in INTERVALS
        ),
        coverage=tuple(Coverage(name, *reading.covered[name]) for name in COVERED),
    )


def facet_counts(
    store: Store, *, audience: Audience, vocabulary: Vocabulary, filters: Filters | None = None
) -> dict[str, tuple[TermCount, ...]]:
    """Facet -> its terms with their number of records, all in all and by year, the most frequent first."""
    chosen = filters or Filters()
    counted = store.facets(chosen, audience)
    found: dict[str, tuple[TermCount, ...]] = {}
    for facet in FACETS:
        years: dict[str, dict[str, int]] = {}
        if facet == "year":
            years = {year: {year: n} for year, n in counted.get("year", {}).items()}
        elif counted.get(facet):
            for (slug, year), n in sorted(store.pairs(facet, "year", chosen, audience).items()):
                years.setdefault(slug, {})[year] = n
        terms = [
            TermCount(slug, labels(vocabulary, facet, slug), n, years.get(slug, {}))
            for slug, n in counted.get(facet, {}).items()
            if n
        ]
        found[facet] = tuple(sorted(terms, key=lambda term: (-term.n, term.slug)))
    return found


def cooccurrence(  # noqa: PLR0913 - two facets, and what belongs to every question
    store: Store,
    first: str,
    second: str,
    *,
    audience: Audience,
    vocabulary: Vocabulary,
    filters: Filters | None = None,
    limit: int = 20,
) -> Matrix:
    """How often the terms of two facets stand together.

    Args:
        store: where the records are.
        first: facet of the rows, as a user writes it.
        second: facet of the columns.
        audience: `public` sees no trace of private records.
        vocabulary: for labels.
        filters: which records; none means all that are not withdrawn.
        limit: most rows and most columns.

    Raises:
        UnknownTerm: there is no such facet.
        InvalidInput: `limit` makes no sense.
    """
    if limit < 1:
        raise InvalidInput("limit must be at least 1", hint="Write for example limit 20.")
    chosen = filters or Filters()
    names = facet_name(first), facet_name(second)
    counted = store.facets(chosen, audience)
    together = store.pairs(*names, chosen, audience)
    sides = [_most_frequent(counted.get(name, {}), limit) for name in names]
    rows, columns = (tuple(side) for side in sides)
    return Matrix(
        first=names[0],
        second=names[1],
        rows=rows,
        columns=columns,
        cells=tuple(tuple(together.get((row, column), 0) for column in columns) for row in rows),
        row_totals=tuple(sides[0].values()),
        column_totals=tuple(sides[1].values()),
        total=store.count(chosen, audience),
        labels=(
            {slug: labels(vocabulary, names[0], slug) for slug in rows},
            {slug: labels(vocabulary, names[1], slug) for slug in columns},
        ),
    )


def distribution(interval: str, seconds: Iterable[float], *, of: int, unreadable: int = 0) -> Distribution:
    """The distribution of some durations.

    Args:
        interval: what took that long.
        seconds: the durations that are stated.
        of: number of records looked at.
        unreadable: how many more are stated in words that are no interval.
    """
    ordered = sorted(seconds)
    counts = [0] * (len(EDGES) + 1)
    for value in ordered:
        counts[bisect_right(EDGES, value)] += 1
    edges: list[int | None] = [0, *EDGES, None]
    return Distribution(
        interval=interval,
        n=len(ordered),
        of=of,
        unreadable=unreadable,
        minimum=ordered[0] if ordered else None,
        q1=quantile(ordered, 0.25),
        median=quantile(ordered, 0.5),
        q3=quantile(ordered, 0.75),
        maximum=ordered[-1] if ordered else None,
        buckets=tuple(Bucket(edges[place] or 0, edges[place + 1], n) for place, n in enumerate(counts)),
    )


def quantile(ordered: Sequence[float], share: float) -> float | None:
    """A quantile of sorted values by linear interpolation, null when there are none.

    Definition 7 of Hyndman and Fan, "Sample quantiles in statistical packages", The American Statistician 50
    (1996): it never leaves the range of what was observed.
    """
    if not ordered:
        return None
    place = (len(ordered) - 1) * share
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    low, high = ordered[below], ordered[above]
    # Adding a part of the difference could exceed `high` by a rounding error.
    return min(high, low + (high - low) * (place - below))


def _most_frequent(counts: dict[str, int], limit: int) -> dict[str, int]:
    ordered = sorted(((slug, n) for slug, n in counts.items() if n), key=lambda item: (-item[1], item[0]))
    return dict(ordered[:limit])


def _value(document: dict[str, Any], field: str) -> object:
    value: object = document
    for key in field.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _spoken(document: dict[str, Any], field: str) -> bool:
    value = _value(document, field)
    if isinstance(value, dict) and value.keys() <= {*LANGS}:
        return any(value.values())
    return value not in _EMPTY


def _day_known(document: dict[str, Any], field: str) -> bool:
    return _spoken(document, field) and document.get("date_precision") in {None, "day"}


COVERED: dict[str, Callable[[dict[str, Any], str], bool]] = {
    "date": _day_known,
    "severity": _spoken,
    "summary": _spoken,
    "symptoms_text": _spoken,
    "trigger": _spoken,
    "detection": _spoken,
    "root_cause": _spoken,
    "mechanism": _spoken,
    "events": _spoken,
    "remediation": _spoken,
    "action_items": _spoken,
    "lessons": _spoken,
    "impact.users": _spoken,
    "impact.region": _spoken,
    **{f"timeline.{name}": _spoken for name in INTERVALS},
}
"""Field -> whether a document states it. A date counts when its day is known."""


class _Reading:
    """What is gathered while the documents go by.

    They are read as plain JSON: building a `Record` of each would take ten times as long, and what is stored
    has been validated.
    """

    def __init__(self) -> None:
        self.records = 0
        self.bilingual = 0
        self.seconds: dict[str, list[float]] = {name: [] for name in INTERVALS}
        self.unreadable = dict.fromkeys(INTERVALS, 0)
        self.covered = {name: [0, 0, 0] for name in COVERED}

    def take(self, document: dict[str, Any]) -> None:
        self.records += 1
        self.bilingual += all(
            _value(document, f"{field}.{lang}") for field in ("title", "summary") for lang in LANGS
        )
        provenance = document.get("provenance") or {}
        for field, states in COVERED.items():
            looked = (provenance.get(field) or {}).get("state") == "not_stated"
            place = 0 if states(document, field) else 1 if looked else 2
            self.covered[field][place] += 1
        for name in INTERVALS:
            self._interval(name, document)

    def _interval(self, name: str, document: dict[str, Any]) -> None:
        text = _value(document, f"timeline.{name}")
        if not isinstance(text, str) or not text.strip() or text == "unknown":
            return
        try:
            self.seconds[name].append(parse_interval(text))
        except ValueError:
            self.unreadable[name] += 1
