"""Filters and audiences as SQL conditions. Every value is a parameter."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from pilotage.clients.db.session import Session
from pilotage.library.canonical import key_of
from pilotage.library.stores.protocol import Audience, Filters, Tag

PRIVATE = 1
WITHDRAWN = 2
"""Bits of the column `state`."""
WITHDRAWN_TAG: Tag = ("status", "withdrawn")


@dataclass(frozen=True)
class Condition:
    """A conjunction in SQL.

    Attributes:
        sql: ` AND …` for each of its parts, or nothing.
        params: the values of its marks, in order.
        never: whether nothing can meet it.
    """

    sql: str = ""
    params: tuple[Any, ...] = ()
    never: bool = False


def states(audience: Audience, *, withdrawn: bool) -> tuple[int, ...]:
    """The states of the records that an audience sees."""
    return tuple(
        state
        for state in range(4)
        if (audience == "all" or not state & PRIVATE) and (withdrawn or not state & WITHDRAWN)
    )


def shows_withdrawn(filters: Filters) -> bool:
    """Whether withdrawn records may be among the answers."""
    return filters.withdrawn or WITHDRAWN_TAG in filters.all_of


def state_list(audience: Audience, *, withdrawn: bool) -> str:
    """The states as SQL, without anything of a user's in it."""
    return f"({', '.join(str(state) for state in states(audience, withdrawn=withdrawn))})"


def term_numbers(session: Session, tags: Iterable[Tag]) -> dict[Tag, int]:
    """The numbers of the terms that are known to the store."""
    keys = {key_of(*tag): tag for tag in tags}
    if not keys:
        return {}
    rows = session.rows(f"SELECT key, term FROM term WHERE key IN {session.texts}", (session.listed(keys),))
    return {keys[key]: term for key, term in rows}


def of_records(session: Session, filters: Filters, audience: Audience) -> Condition:
    """The condition on the table `record` (called `r`)."""
    tags = _of_tags(session, filters, "r.num", correlated=False)
    shown = state_list(audience, withdrawn=shows_withdrawn(filters))
    return Condition(f" AND r.state IN {shown}{tags.sql}", tags.params, tags.never)


def of_index(session: Session, filters: Filters, num: str) -> Condition:
    """The condition on rows of a search index; `num` is its number column.

    Tags are looked up row by row, which costs less than a list of all their records when few rows match;
    withdrawn records are few.
    """
    tags = _of_tags(session, filters, num, correlated=True)
    if shows_withdrawn(filters):
        return tags
    hidden = f" AND {num} NOT IN (SELECT record.num FROM record WHERE record.state >= {WITHDRAWN})"
    return Condition(hidden + tags.sql, tags.params, tags.never)


def _of_tags(session: Session, filters: Filters, num: str, *, correlated: bool) -> Condition:
    known = term_numbers(session, [*filters.all_of, *filters.none_of])
    if any(tag not in known for tag in filters.all_of):
        return Condition(never=True)
    sql = ""
    params: list[Any] = []
    for tag in filters.all_of:
        if correlated:
            sql += f" AND EXISTS (SELECT 1 FROM tag WHERE tag.term = ? AND tag.num = {num})"
        else:
            sql += f" AND {num} IN (SELECT tag.num FROM tag WHERE tag.term = ?)"
        params.append(known[tag])
    for tag in filters.none_of:
        if tag in known:
            sql += f" AND NOT EXISTS (SELECT 1 FROM tag WHERE tag.term = ? AND tag.num = {num})"
            params.append(known[tag])
    return Condition(sql, tuple(params))
