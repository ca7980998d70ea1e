"""What a report tells of an incident. Checks know ids only; whoever has the library fills this in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from pilotage.checks.model import Cited
from pilotage.checks.reports.words import Lang, word


class Incident(msgspec.Struct, frozen=True):
    """An incident in one line.

    Attributes:
        id: id of the record.
        organisation: whose it was.
        year: when; empty where it is not known.
        title: what happened.
    """

    id: str
    organisation: str
    year: str
    title: str

    @property
    def line(self) -> str:
        """`Zalando 2018: IAM answered 404 because …`."""
        return f"{self.organisation} {self.year}".strip() + f": {self.title}"


Incidents = Mapping[str, Incident]


def cited_lines(cited: Iterable[Cited], incidents: Incidents, lang: Lang = "en") -> list[str]:
    """A line for each incident; one that only shows the same mechanism says so."""
    lines = []
    for one in cited:
        known = incidents.get(one.id)
        line = known.line if known is not None else one.id
        lines.append(line if one.exact else f"{line} ({word('same mechanism', lang)})")
    return lines
