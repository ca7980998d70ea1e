"""Numbers with the word for what they count, as English has it."""

from __future__ import annotations


def counted(number: int, what: str) -> str:
    """`1 retry`, `2 retries`.

    Args:
        number: how many.
        what: the word for one of them.
    """
    if number == 1:
        return f"1 {what}"
    ends_in_y = what.endswith("y") and what[-2:-1] not in "aeiou"
    return f"{number} {what[:-1]}ies" if ends_in_y else f"{number} {what}s"


def times(number: int) -> str:
    """`once`, `twice`, `3 times`."""
    return {1: "once", 2: "twice"}.get(number, f"{number} times")
