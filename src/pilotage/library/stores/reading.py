"""Reading records, the same on both stores: by id, page by page, one by one, their revisions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pilotage.clients.db.session import Row, Session
from pilotage.library.canonical import decode, storable
from pilotage.library.stores import filtering
from pilotage.library.stores.protocol import Audience, Filters, Revision, Stamp, Stored

_STORED = "r.id, v.document, r.revision, r.digest, r.stored_at, r.state"
_STAMP = "r.id, r.revision, r.digest, r.stored_at, r.state"
_FROM = "FROM record r JOIN revision v ON v.num = r.num AND v.number = r.revision"


def stored(row: Row) -> Stored:
    """The record of a row of `_STORED`."""
    id_, document, revision, digest, stored_at, state = row
    return Stored(id_, decode(document), revision, digest, stored_at, bool(state & filtering.PRIVATE))


def stamp(row: Row) -> Stamp:
    """The stamp of a row of `_STAMP`."""
    id_, revision, digest, stored_at, state = row
    return Stamp(
        id_,
        revision,
        digest,
        stored_at,
        bool(state & filtering.PRIVATE),
        bool(state & filtering.WITHDRAWN),
    )


def numbers(session: Session, ids: Sequence[str], audience: Audience) -> dict[str, int]:
    """Number of each record by the id or alias asked for; an id wins over an alias."""
    wanted = session.listed(list(dict.fromkeys(storable(asked) for asked in ids)))
    shown = filtering.state_list(audience, withdrawn=True)
    aliases = session.rows(
        "SELECT a.alias, a.num FROM alias a JOIN record r ON r.num = a.num"
        f" WHERE a.alias IN {session.texts} AND r.state IN {shown}",
        (wanted,),
    )
    direct = session.rows(
        f"SELECT r.id, r.num FROM record r WHERE r.id IN {session.texts} AND r.state IN {shown}", (wanted,)
    )
    return dict(aliases) | dict(direct)


def get(session: Session, ids: Sequence[str], audience: Audience) -> dict[str, Stored]:
    """See `Store.get`."""
    known = numbers(session, ids, audience)
    rows = session.rows(
        f"SELECT r.num, {_STORED} {_FROM} WHERE r.num IN {session.numbers}",
        (session.listed(set(known.values())),),
    )
    by_number = {row[0]: stored(row[1:]) for row in rows}
    return {asked: by_number[known[asked]] for asked in ids if asked in known}


def stamps(session: Session, ids: Sequence[str], audience: Audience) -> dict[str, Stamp]:
    """See `Store.stamps`."""
    wanted = session.listed(list(dict.fromkeys(storable(asked) for asked in ids)))
    shown = filtering.state_list(audience, withdrawn=True)
    aliases = session.rows(
        f"SELECT a.alias, {_STAMP} FROM alias a JOIN record r ON r.num = a.num"
        f" WHERE a.alias IN {session.texts} AND r.state IN {shown}",
        (wanted,),
    )
    direct = session.rows(
        f"SELECT r.id, {_STAMP} FROM record r WHERE r.id IN {session.texts} AND r.state IN {shown}", (wanted,)
    )
    found = {asked: stamp(tuple(row)) for asked, *row in [*aliases, *direct]}
    return {asked: found[asked] for asked in ids if asked in found}


def changes(
    session: Session, audience: Audience, *, limit: int, after: tuple[str, str], latest: bool
) -> list[Stamp]:
    """See `Store.changes`."""
    shown = filtering.state_list(audience, withdrawn=True)
    way = "DESC" if latest else "ASC"
    rows = session.rows(
        f"SELECT {_STAMP} FROM record r WHERE r.state IN {shown} AND (r.stored_at, r.id) > (?, ?)"
        f" ORDER BY r.stored_at {way}, r.id {way} LIMIT ?",
        (storable(after[0]), storable(after[1]), limit),
    )
    return [stamp(row) for row in rows]


def all_ids(session: Session, audience: Audience) -> list[str]:
    """See `Store.ids`."""
    shown = filtering.state_list(audience, withdrawn=True)
    rows = session.rows(
        f"SELECT r.id FROM record r WHERE r.state IN {shown}"
        f" UNION SELECT a.alias FROM alias a JOIN record r ON r.num = a.num WHERE r.state IN {shown}"
    )
    return sorted(row[0] for row in rows)


def page(
    session: Session, filters: Filters, audience: Audience, *, limit: int, after: tuple[str, str] | None
) -> list[Stored]:
    """See `Store.page`."""
    condition = filtering.of_records(session, filters, audience)
    if condition.never:
        return []
    sql, params = condition.sql, list(condition.params)
    if after is not None:
        sql += " AND r.order_date <= ? AND (r.order_date < ? OR r.id > ?)"
        params += [after[0], after[0], after[1]]
    rows = session.rows(
        f"SELECT {_STORED} FROM"
        f" (SELECT r.* FROM record r WHERE 1 = 1{sql} ORDER BY r.order_date DESC, r.id LIMIT ?) r"
        " JOIN revision v ON v.num = r.num AND v.number = r.revision ORDER BY r.order_date DESC, r.id",
        [*params, limit],
    )
    return [stored(row) for row in rows]


def iterate(session: Session, filters: Filters, audience: Audience) -> Iterator[Stored]:
    """See `Store.iterate`."""
    condition = filtering.of_records(session, filters, audience)
    if condition.never:
        return
    for row in session.stream(
        f"SELECT {_STORED} {_FROM} WHERE 1 = 1{condition.sql} ORDER BY r.id", condition.params
    ):
        yield stored(row)


def revisions(session: Session, id_: str, audience: Audience) -> list[Revision]:
    """See `Store.revisions`."""
    num = numbers(session, [id_], audience).get(id_)
    if num is None:
        return []
    rows = session.rows(
        "SELECT number, document, digest, stored_at, origin FROM revision WHERE num = ? ORDER BY number DESC",
        (num,),
    )
    return [Revision(number, decode(document), *rest) for number, document, *rest in rows]


def names(session: Session, nums: Sequence[int]) -> dict[int, str]:
    """Number -> id."""
    return dict(
        session.rows(f"SELECT num, id FROM record WHERE num IN {session.numbers}", (session.listed(nums),))
    )
