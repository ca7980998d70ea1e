"""What is wrong with a value, in our words: pydantic's speak of inputs, parsing and validation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

_WORDS: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "missing": lambda _: "is missing",
    "greater_than_equal": lambda told: f"must be at least {told['ge']}",
    "less_than_equal": lambda told: f"must be at most {told['le']}",
    "literal_error": lambda told: f"must be {told['expected']}",
    "string_too_long": lambda told: f"may have at most {told['max_length']} characters",
    "string_too_short": lambda _: "must not be empty",
    "too_long": lambda told: f"may have at most {told['max_length']} items, not {told['actual_length']}",
    "too_short": lambda _: "must not be empty",
    **dict.fromkeys(
        ("int_type", "int_parsing", "int_from_float", "int_parsing_size"), lambda _: "must be a whole number"
    ),
    **dict.fromkeys(("bool_type", "bool_parsing"), lambda _: "must be true or false"),
    "string_type": lambda _: "must be text",
    "list_type": lambda _: "must be a list",
}


def wrong(error: Mapping[str, Any]) -> str:
    """The predicate of a sentence about a value: `must be at most 50`.

    Args:
        error: one of a `ValidationError`, as `errors()` gives it.
    """
    say = _WORDS.get(error["type"])
    return say(error.get("ctx", {})) if say is not None else "has a value that cannot be used"
