"""The checks that a command knows: those that are shipped, and those of the user's files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import click

from pilotage.checks.model import Check
from pilotage.checks.readers.kinds import known_kinds
from pilotage.checks.registry import all_checks

FAMILY = "own"
"""The family of users' checks."""
_KEPT = "pilotage.checks"

checks_option = click.option(
    "--checks",
    "own",
    multiple=True,
    type=click.Path(path_type=Path),
    help="File or folder of checks of your own; repeatable.",
)


def known_checks(paths: Sequence[Path] = ()) -> Mapping[str, Check]:
    """All checks by id; with files of own checks theirs, too, until the command ends.

    Raises:
        InvalidInput: a file is wrong.
    """
    if not paths:
        return all_checks()
    from pilotage.checks.own.checks import own_checks  # noqa: PLC0415 - most runs have none and need not pay

    context = click.get_current_context()
    kept = context.meta.setdefault(_KEPT, {})
    asked = tuple(paths)
    if asked not in kept:
        own = context.with_resource(own_checks(asked, all_checks()))
        kept[asked] = dict(sorted({**all_checks(), **own}.items()))
    found: Mapping[str, Check] = kept[asked]
    return found


def unlisted(checks: Iterable[Check]) -> dict[str, str]:
    """The kinds of own checks that we do not know where to list in a cluster, with the reason to tell."""
    known = known_kinds()
    return {
        kind: "where it is listed is not known to us, so it was not asked for"
        for one in checks
        if one.family == FAMILY
        for kind in one.about
        if kind not in known and "." not in kind
    }
