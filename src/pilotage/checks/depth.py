"""Whether a text may be nested so deep that a parser which calls itself would end the process."""

from __future__ import annotations

import re

from pilotage.core.regex import regex

_BRACKETS = regex(r"[\[\]{}]")
_LADDER = regex(r"(?:[-?] +){50}|^ {800}", re.MULTILINE)
_RUNGS = ("- -", "- ?", "? -", "? ?", "-  ", "?  ")


def _may_hold_ladder(text: str) -> bool:
    # Counting is ten times as fast as the pattern. Every second rung is counted at least: rungs overlap.
    return " " * 800 in text or sum(text.count(rung) for rung in _RUNGS) > 20  # noqa: PLR2004 - of 50


def may_be_deep(text: str, deepest: int) -> bool:
    """Whether it is worth counting levels: brackets in quotes and comments are taken for real ones.

    Args:
        text: what is to be parsed.
        deepest: the number of levels that is still allowed.
    """
    if _may_hold_ladder(text) and _LADDER.search(text):
        return True
    if text.count("[") + text.count("{") <= deepest:
        return False
    depth = 0
    for match in _BRACKETS.finditer(text):
        depth = depth + 1 if match[0] in "[{" else max(0, depth - 1)
        if depth > deepest:
            return True
    return False
