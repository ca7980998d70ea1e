"""An expression that is compiled late is the same as one that is compiled at once."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from pilotage.core.regex import regex

SOURCE, TEXT = r"(?P<letter>[a-c])(\d)?", "a1 B2 c"


@pytest.mark.parametrize(
    "ask",
    [
        lambda one: [match.span() for match in one.finditer(TEXT)],
        lambda one: one.findall(TEXT),
        lambda one: one.fullmatch("b3").groupdict(),
        lambda one: one.match(TEXT, 1),
        lambda one: one.search(TEXT, 2).groups(),
        lambda one: one.split(TEXT),
        lambda one: one.sub(r"<\g<letter>>", TEXT, 1),
        lambda one: (one.pattern, one.flags),
    ],
)
def test_it_answers_like_one_that_is_compiled(ask: Callable[[Any], Any]) -> None:
    for flags in (0, re.IGNORECASE):
        late = regex(SOURCE, flags)
        assert ask(late) == ask(re.compile(SOURCE, flags))
        assert ask(late) == ask(late)


def test_a_mistake_in_it_is_told_on_first_use() -> None:
    late = regex("(")
    with pytest.raises(re.error, match="unterminated"):
        late.search("")


def test_it_has_nothing_else() -> None:
    with pytest.raises(AttributeError, match="scanner"):
        regex("a").scanner  # noqa: B018 - to ask is the test
