"""Exclamation marks in scripts are no tags; those that are ones are seen."""

from __future__ import annotations

import pytest

from pilotage.checks import dialect
from pilotage.checks.dialect import compose, load
from pilotage.checks.tags import any_outside_of_words, bare_tags


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: ! 12\n", {"a": "12"}),
        ("a: [ ! 1, 2]\n", {"a": ["1", 2]}),
        ("! yes: ! no\n", {"yes": "no"}),
        (
            "a: |\n  if ! true; then\n    [[ ! -f x ]]\nb: ! 1\n",
            {"a": "if ! true; then\n  [[ ! -f x ]]\n", "b": "1"},
        ),
    ],
)
def test_a_tag_makes_text(text: str, value: object) -> None:
    assert any_outside_of_words(bare_tags(text), compose(text), text)
    assert load(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "a: |\n  if ! true; then\n    [[ ! -f x ]]\n",
        "a: 'x ! y'\nb: x ! y\n",
        'a: ["! x", " ! "]\n',
        "é: |\n  ééé ! x\n",
    ],
)
def test_text_is_read_the_fast_way(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = dialect._compose_slowly(text)
    monkeypatch.setattr(dialect, "_compose_slowly", None)
    assert bare_tags(text)
    assert dialect._Builder().build(compose(text)) == dialect._Builder().build(slow)
