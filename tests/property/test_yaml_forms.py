"""Whatever lines stand below each other, the quick reader of YAML gives the parser's value or none."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from pilotage.checks.dialect import DialectError, load, load_any

WORDS = (
    *(
        "a",
        "b",
        "'c'",
        '"d"',
        "x y",
        "1",
        "0777",
        "yes",
        "~",
        "<<",
        ".inf",
        "''",
        '""',
        "{}",
        "[]",
        "[a, 'b']",
        '[1,""]',
    ),
    *(
        "|",
        "|-",
        "|+",
        ">",
        "|2",
        "'e",
        'f"',
        "g'",
        '"h',
        "'i' # j",
        "k # l'",
        "#m",
        "n: o",
        "p:",
        "q #r",
        "s#t",
        ":u",
        "-v",
    ),
    *(
        "?",
        "-",
        "- w",
        "&x",
        "*x",
        "!y",
        "%z",
        "@",
        "`",
        "{a",
        "b}",
        "[c",
        "d]",
        "e,",
        "é",
        "\t",
        "f\tg",
        '"f\tg h"',
        '"\\n"',
        '"\\',
        "'''",
    ),
    *("---", "...", "--- h", "\\", "{{ i }}", "http://j:80", "12:30", "-1", "+.5", "null", ": k"),
)
KEYS = (
    "a:",
    "b:",
    "c.d/e:",
    "'f':",
    '"g":',
    "1:",
    "yes:",
    "null:",
    ".inf:",
    "<<:",
    "h :",
    "? i",
    "-j:",
    "é:",
    "{k}:",
)
LINES = st.one_of(
    st.just(""),
    st.sampled_from(["# x", "#", " ", "   ", "\t", "---", "...", "\r"]),
    st.builds(
        "{}{}{}{}{}".format,
        st.sampled_from(["", "", " ", "  ", "  ", "   ", "    ", "      ", "\t"]),
        st.sampled_from(["", "", "", "- ", "-  ", "- - ", "-"]),
        st.sampled_from(["", *(f"{key} " for key in KEYS)]),
        st.sampled_from(["", *WORDS]),
        st.sampled_from(["", "", "", " ", " # z", "\r"]),
    ),
)


@given(st.lists(LINES, max_size=8))
@settings(max_examples=500)
def test_the_quick_reader_and_the_parser_agree(lines: list[str]) -> None:
    text = "\n".join([*lines, ""])
    assert outcome(load, text) == outcome(load_any, text)


def outcome(read: Any, text: str) -> Any:
    try:
        return exact(read(text))
    except DialectError as error:
        return error.message, error.line, error.column


def exact(value: Any) -> Any:
    """A value with the classes and the order that `==` passes over."""
    if isinstance(value, dict):
        return type(value), [(key, exact(inner)) for key, inner in value.items()]
    if isinstance(value, list):
        return [exact(item) for item in value]
    return type(value), repr(value)
