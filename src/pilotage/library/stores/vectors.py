"""Vectors of passages, the same on both stores."""

from __future__ import annotations

from collections.abc import Iterator

from pilotage.clients.db.session import Session
from pilotage.library.stores import filtering
from pilotage.library.stores.protocol import Audience, VectorRow


def vectors(session: Session, model: str, audience: Audience) -> Iterator[VectorRow]:
    """See `Store.vectors`."""
    shown = filtering.state_list(audience, withdrawn=True)
    for id_, part, lang, data in session.stream(
        "SELECT r.id, v.part, v.lang, v.data FROM record r JOIN vector v ON v.num = r.num"
        f" WHERE v.model = ? AND r.state IN {shown} ORDER BY r.id, v.position",
        (model,),
    ):
        yield VectorRow(id_, part, lang, bytes(data))


def without_vectors(session: Session, model: str) -> list[str]:
    """See `Store.without_vectors`."""
    rows = session.rows(
        "SELECT r.id FROM record r WHERE NOT EXISTS"
        " (SELECT 1 FROM vector v WHERE v.model = ? AND v.num = r.num) ORDER BY r.id",
        (model,),
    )
    return [row[0] for row in rows]
