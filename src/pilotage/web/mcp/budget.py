"""The token budget of one answer: fewer whole items, never cut text."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeVar

from pydantic import BaseModel

DEFAULT_TOKENS = 6000
"""Well under the 10,000 tokens of one tool result at which coding agents begin to warn."""
LEAST_TOKENS = 1000
MOST_TOKENS = 25_000
"""Agents cut a tool result that is longer than this, in the midst of a text."""

_ASCII_A_TOKEN = 3.0
"""Characters of English JSON in a token; common tokenizers take more, so this errs on the long side."""
_TOKENS_A_LETTER = 1.5
"""Tokens of any other character; older tokenizers split many Hangul syllables in two, new ones few."""

Answer = TypeVar("Answer", bound=BaseModel)


def tokens_of(text: str) -> int:
    """An estimate of the number of tokens, rather too high than too low."""
    plain = len(text.encode("ascii", "ignore"))
    return math.ceil(plain / _ASCII_A_TOKEN + (len(text) - plain) * _TOKENS_A_LETTER)


def wire(answer: BaseModel) -> str:
    """The answer as the client gets it: compact JSON, fields without a value left out."""
    return answer.model_dump_json(exclude_none=True)


def size_of(answer: BaseModel) -> int:
    """The estimated number of tokens of an answer."""
    return tokens_of(wire(answer))


def fitted(build: Callable[[int], Answer], count: int, max_tokens: int) -> Answer:
    """The answer with as many whole items as the budget holds.

    Args:
        build: the answer with the first so many items.
        count: how many items there are.
        max_tokens: the budget.
    """
    whole = build(count)
    if not count or size_of(whole) <= max_tokens:
        return whole
    fits, too_many = 0, count
    while too_many - fits > 1:
        middle = (fits + too_many) // 2
        if size_of(build(middle)) <= max_tokens:
            fits = middle
        else:
            too_many = middle
    return build(fits)
