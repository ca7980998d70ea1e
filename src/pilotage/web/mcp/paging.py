"""What every list says about itself, and how it is made to fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from pilotage.core.cursors import Onward
from pilotage.web.mcp.answers import Paged

_Item = TypeVar("_Item")


def paged(answer: Paged, offered: int, onward: Onward) -> None:
    """Fills in what a list says about itself: `omitted`, `has_more`, `next` and the note.

    Args:
        answer: the list with the items that fit.
        offered: items that the page would have without a budget.
        onward: where the list goes on.
    """
    answer.omitted = offered - answer.shown
    answer.next = onward.after(answer.shown) if answer.omitted else onward.next
    answer.has_more = answer.next is not None
    if answer.omitted:
        answer.note = (
            f"{answer.omitted} of the {offered} items of this page were left out whole to keep within "
            "max_tokens; pass next as cursor to get them, raise max_tokens, or ask for response_format "
            "concise."
        )


def whole_items(items: Sequence[_Item], count: int, reduced: Callable[[_Item], _Item]) -> list[_Item]:
    """The first so many items; where not even one fits, the first as no more than its id."""
    return list(items[:count]) if count or not items else [reduced(items[0])]
