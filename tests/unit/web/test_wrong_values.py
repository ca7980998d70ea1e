"""No word of pydantic reaches a reader: every kind of error that our parameters can have is told in ours."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from pydantic import BaseModel, Field, ValidationError

from pilotage.web.wrong_values import wrong


class Asked(BaseModel):
    number: int = Field(1, ge=1, le=9)
    text: str = Field("x", min_length=1, max_length=3)
    listed: list[str] = Field(default=["x"], min_length=1, max_length=2)
    chosen: Literal["en", "ko"] = "en"
    switched: bool = False


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"number": 0}, "must be at least 1"),
        ({"number": "10"}, "must be at most 9"),
        ({"number": "ten"}, "must be a whole number"),
        ({"number": 1.5}, "must be a whole number"),
        ({"number": "9" * 5_000}, "must be a whole number"),
        ({"number": []}, "must be a whole number"),
        ({"text": 1}, "must be text"),
        ({"text": ""}, "must not be empty"),
        ({"text": "long"}, "may have at most 3 characters"),
        ({"listed": []}, "must not be empty"),
        ({"listed": ["a", "b", "c"]}, "may have at most 2 items, not 3"),
        ({"listed": {}}, "must be a list"),
        ({"chosen": "fr"}, "must be 'en' or 'ko'"),
        ({"switched": "maybe"}, "must be true or false"),
    ],
)
def test_values_are_told_in_our_words(given: dict[str, Any], words: str) -> None:
    with pytest.raises(ValidationError) as caught:
        Asked.model_validate(given)
    assert [wrong(error) for error in caught.value.errors()] == [words]


def test_what_nobody_foresaw_is_told_in_general() -> None:
    assert (
        wrong({"type": "date_from_datetime_inexact", "msg": "Input …"}) == "has a value that cannot be used"
    )
