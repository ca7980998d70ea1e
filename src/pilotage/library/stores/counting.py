"""Counting tags and records, the same on both stores."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from pilotage.clients.db.session import Row, Session
from pilotage.library.stores import filtering, reading
from pilotage.library.stores.protocol import Audience, Filters, Tag

_WEIGHT_UNIT = 1_000_000_000
"""Weights are summed as integers, so that the order of summing cannot break ties differently."""


def count(session: Session, filters: Filters, audience: Audience) -> int:
    """See `Store.count`."""
    condition = filtering.of_records(session, filters, audience)
    if condition.never:
        return 0
    row = session.one(f"SELECT count(*) FROM record r WHERE 1 = 1{condition.sql}", condition.params)
    return int(row[0]) if row else 0


def facets(
    session: Session, filters: Filters, audience: Audience, ids: Sequence[str] | None
) -> dict[str, dict[str, int]]:
    """See `Store.facets`."""
    if ids is not None:
        rows = _counted_ids(session, audience, ids)
    elif filters.all_of or filters.none_of:
        rows = _counted_filtered(session, filters, audience)
    else:
        shown = filtering.state_list(audience, withdrawn=filters.withdrawn)
        rows = session.rows(f"SELECT term, sum(records) FROM tally WHERE state IN {shown} GROUP BY term")
    return _named(session, rows)


def pairs(
    session: Session, first: str, second: str, filters: Filters, audience: Audience
) -> dict[tuple[str, str], int]:
    """See `Store.pairs`."""
    condition = filtering.of_records(session, filters, audience)
    if condition.never:
        return {}
    rows = session.rows(
        "SELECT s.slug, t.slug, c.records FROM (SELECT a.term AS one, b.term AS two, count(*) AS records"
        " FROM tag a JOIN tag b ON b.num = a.num JOIN record r ON r.num = a.num"
        " WHERE a.term IN (SELECT term FROM term WHERE facet = ?)"
        f" AND b.term IN (SELECT term FROM term WHERE facet = ?){condition.sql} GROUP BY a.term, b.term) c"
        " JOIN term s ON s.term = c.one JOIN term t ON t.term = c.two",
        [first, second, *condition.params],
    )
    return {(one, two): int(records) for one, two, records in rows}


def tags(session: Session, ids: Sequence[str], audience: Audience) -> dict[str, list[Tag]]:
    """See `Store.tags`; tags in alphabetical order."""
    known = reading.numbers(session, ids, audience)
    rows = session.rows(
        "SELECT g.num, t.facet, t.slug FROM tag g JOIN term t ON t.term = g.term"
        f" WHERE g.num IN {session.numbers}",
        (session.listed(set(known.values())),),
    )
    found: dict[int, list[Tag]] = defaultdict(list)
    for num, facet, slug in rows:
        found[num].append((facet, slug))
    return {asked: sorted(found[known[asked]]) for asked in ids if asked in known}


def sharing(
    session: Session, weights: dict[Tag, float], audience: Audience, *, limit: int
) -> list[tuple[str, float]]:
    """See `Store.sharing`."""
    known = filtering.term_numbers(session, weights)
    if not known:
        return []
    shown = filtering.state_list(audience, withdrawn=False)
    cases = " ".join("WHEN ? THEN CAST(? AS bigint)" for _ in known)
    params: list[Any] = [
        part for tag, term in known.items() for part in (term, round(weights[tag] * _WEIGHT_UNIT))
    ]
    rows = session.rows(
        f"SELECT r.id, s.units FROM (SELECT num, sum(CASE term {cases} END) AS units FROM tag"
        f" WHERE term IN {session.numbers} AND state IN {shown} GROUP BY num) s"
        " JOIN record r ON r.num = s.num ORDER BY s.units DESC, r.id LIMIT ?",
        [*params, session.listed(known.values()), limit],
    )
    return [(id_, int(units) / _WEIGHT_UNIT) for id_, units in rows]


def _counted_ids(session: Session, audience: Audience, ids: Sequence[str]) -> list[Row]:
    known = set(reading.numbers(session, ids, audience).values())
    return session.rows(
        f"SELECT term, count(*) FROM tag WHERE num IN {session.numbers} GROUP BY term",
        (session.listed(known),),
    )


def _counted_filtered(session: Session, filters: Filters, audience: Audience) -> list[Row]:
    condition = filtering.of_records(session, filters, audience)
    if condition.never:
        return []
    return session.rows(
        "SELECT g.term, count(*) FROM tag g WHERE g.num IN"
        f" (SELECT r.num FROM record r WHERE 1 = 1{condition.sql}) GROUP BY g.term",
        condition.params,
    )


def _named(session: Session, rows: list[Row]) -> dict[str, dict[str, int]]:
    counts = {term: int(records) for term, records in rows if records}
    found: dict[str, dict[str, int]] = defaultdict(dict)
    terms = session.rows(
        f"SELECT facet, slug, term FROM term WHERE term IN {session.numbers}", (session.listed(counts),)
    )
    for facet, slug, term in sorted(terms):
        found[facet][slug] = counts[term]
    return dict(found)
