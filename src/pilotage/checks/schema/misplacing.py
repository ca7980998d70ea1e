"""Fields at a level where nobody reads them: those of one slip together, and how to move them."""

from __future__ import annotations

from collections.abc import Iterable

from pilotage.checks.model import Gap, Operation, Patch, Severity
from pilotage.checks.schema import words
from pilotage.checks.schema.guards import is_guard
from pilotage.checks.schema.survey import Look
from pilotage.checks.values import as_map, dig


def together(look: Look, moved: Iterable[words.Found]) -> list[list[words.Found]]:
    """Misplaced fields by their cause: several of one level that belong to one other are one slip.

    Args:
        look: the object in which they stand.
        moved: the fields, each with the levels that know it.
    """
    groups: dict[object, list[words.Found]] = {}
    for same in words.grouped(moved):
        fault, hint = same[0]
        level = tuple("*" if isinstance(part, int) else part for part in fault.path[:-1])
        groups.setdefault(
            (level, hint.places, len(same), _taken(look, fault.path[-1], hint.places)), []
        ).extend(same)
    return list(groups.values())


def misplaced_gap(look: Look, same: list[words.Found]) -> Gap:
    """The gap for fields of one cause."""
    fault, hint = same[0]
    keys = list(dict.fromkeys(str(one.path[-1]) for one, _ in same))
    taken = any(_taken(look, key, hint.places) for key in keys)
    weighty = any(is_guard(key) for key in keys) or any(
        is_guard(part) for one, _ in same for part in as_map(one.value)
    )
    severity = Severity.HIGH if weighty else Severity.MEDIUM
    it, its = ("it", "its") if len(keys) == 1 else ("them", "their")
    return Gap(
        look.object,
        words.misplaced(keys, fault.path[:-1], hint, len(same) // len(keys)),
        fault.path,
        evidence=words.evidence([one for one, _ in same]),
        fix=f"Take {it} out: {words.level(hint.places[0])} has {its} own."
        if taken
        else f"Move {it} to {words.either(hint.places)}.",
        patch=_move(look, same) if not taken and len(same) == len(keys) else (),
        severity=Severity.LOW if taken else severity,
    )


def _taken(look: Look, key: object, places: Iterable[tuple[str | int, ...]]) -> bool:
    return any(key in as_map(dig(look.data, *one)) for one in places)


def _move(look: Look, same: list[words.Found]) -> Patch:
    places = same[0][1].places
    if look.object.live or len(places) != 1:
        return ()
    place = places[0]
    steps = [
        Operation("add", place[:end], {})
        for end in range(1, len(place) + 1)
        if dig(look.data, *place[:end]) is None
    ]
    moves = [Operation("move", (*place, str(one.path[-1])), source=one.path) for one, _ in same]
    return (*steps, *moves)
