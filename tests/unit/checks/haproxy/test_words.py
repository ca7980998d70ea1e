"""A line is divided as HAProxy divides it."""

from __future__ import annotations

import pytest

from pilotage.checks.haproxy.words import BadLine, split


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("  server  a\t10.0.0.1:80 check", ["server", "a", "10.0.0.1:80", "check"]),
        ("mode http # why", ["mode", "http"]),
        ("mode http#not", ["mode", "http"]),
        (r"a\ b c\#d e\\f \' \"", ["a b", "c#d", "e\\f", "'", '"']),
        ('"a b" c"d e"f', ["a b", "cd ef"]),
        ("'a \"b\" \\n' x", ['a "b" \\n', "x"]),
        (r"\x41\t\q", ["A\t\\q"]),
        ('""', [""]),
        ("plain$HOME 'a$b'", ["plain$HOME", "a$b"]),
        ('"${KNOWN}" "$KNOWN-x"', ["yes", "yes-x"]),
        ('"${UNKNOWN-dflt}"', ["dflt"]),
        (r'"\$KNOWN"', ["$KNOWN"]),
        ("a b\r", ["a", "b"]),
        ("# all of it", []),
    ],
)
def test_words(line: str, words: list[str]) -> None:
    assert list(split(line, {"KNOWN": "yes"})) == words


def test_places_are_those_of_the_line() -> None:
    found = split('  a  "b c"\\ d  e', {})
    assert [(word, word.column) for word in found] == [("a", 3), ("b c d", 6), ("e", 16)]


def test_a_variable_that_is_not_known_leaves_the_word_open() -> None:
    known, unknown = split('"$A" "${B}:80"', {"A": "1"})
    assert (known, known.open) == ("1", False)
    assert (unknown, unknown.open) == ("${B}:80", True)


@pytest.mark.parametrize(
    ("line", "column"),
    [('a "b', 3), ("a 'b", 3), ("\\x4", 1), ('"$1"', 2), ('"${A"', 2), ('"${A:x}"', 2)],
)
def test_what_haproxy_refuses(line: str, column: int) -> None:
    with pytest.raises(BadLine) as caught:
        split(line, {})
    assert caught.value.column == column
