"""Picks checks by what they are about: the same on the command line, for programs and for agents."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from pilotage.checks.model import Check, Severity
from pilotage.core.errors import UnknownTerm
from pilotage.core.text import did_you_mean


def chosen(
    checks: Collection[Check],
    *,
    severities: Sequence[str] = (),
    families: Sequence[str] = (),
    incident: str = "",
    words: str = "",
) -> list[Check]:
    """The checks that fit, worst first, then by family and id.

    Args:
        checks: those that there are.
        severities: any of these.
        families: any of these.
        incident: one that they cite.
        words: each must stand in the id, the title, the family, or what the check does.

    Raises:
        UnknownTerm: a severity or a family does not exist.
    """
    _refuse_unknown(severities, [one.value for one in Severity], "severity")
    _refuse_unknown(families, sorted({one.family for one in checks}), "family of checks")
    wanted = words.lower().split()
    found = [
        one
        for one in checks
        if (not severities or one.severity.value in severities)
        and (not families or one.family in families)
        and (not incident or any(cited.id == incident for cited in one.cited))
        and _holds(one, wanted)
    ]
    return sorted(found, key=lambda one: (-one.severity.rank, one.family, one.id))


def _refuse_unknown(given: Iterable[str], known: Sequence[str], what: str) -> None:
    for word in given:
        if word not in known:
            hint = did_you_mean(word, known) or f"Known are: {', '.join(known)}."
            raise UnknownTerm(f"'{word[:60]}' is no {what}", hint=hint)


def _holds(one: Check, wanted: Sequence[str]) -> bool:
    if not wanted:
        return True
    text = f"{one.id} {one.title} {one.family} {one.page['What it does']}".lower()
    return all(word in text for word in wanted)
