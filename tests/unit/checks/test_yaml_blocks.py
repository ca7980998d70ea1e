"""The quick reader of YAML: what it reads, what it leaves to the parser, and that the two never differ."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import pytest

from pilotage.checks.dialect import DialectError, load, load_any
from pilotage.checks.objects import SourceFile
from pilotage.checks.readers.manifests import documents
from pilotage.checks.yaml_blocks import Unsure, read_blocks
from rig.tricky_yaml import DOCUMENTS, HEAD, VALUES, WORDS

GOLDEN = Path(__file__).parents[2] / "golden" / "checks"

READ: dict[str, Any] = {
    "a: 1\nb: x y\n": {"a": 1, "b": "x y"},
    "\n# first\na: yes # why\n\n  # deep\nb:\n": {"a": True, "b": None},
    "a:\n  b:\n    c: 1\nd: 2\n": {"a": {"b": {"c": 1}}, "d": 2},
    "a:\n- b\n- c: 1\n  d: 2\n-\n- - e\n  - f\ng: 3\n": {
        "a": ["b", {"c": 1, "d": 2}, None, ["e", "f"]],
        "g": 3,
    },
    "a:\n  -\n    b: 1\n  - # none\n  - {}\n": {"a": [{"b": 1}, None, {}]},
    "- a: |\n    x\n\n     y\n\n- b: |-\n    z\n- |+\n  w\n\n": [{"a": "x\n\n y\n"}, {"b": "z"}, "w\n\n"],
    "a: |\n  # no comment\n  \tb: 1\n# a comment\nc: |-\n": {"a": "# no comment\n\tb: 1\n", "c": ""},
    "a: x\n  - y\n\n  z\nb: 1\n": {"a": "x - y\nz", "b": 1},
    "- a: 1\n    2\n- 3\n  4\n": [{"a": "1 2"}, "3 4"],
    "a: 'it''s'\nb: \"on\\t\\\"\" # why\n'c': \"\"\n\"d e\": ''\n": {
        "a": "it's",
        "b": 'on\t"',
        "c": "",
        "d e": "",
    },
    "a: 'x\n  y\n\n  z'\nb: \"x #\n  y\"\n": {"a": "x y\nz", "b": "x # y"},
    "a: []\nb: [ \"x, y\" , 'z',w, 1 ] # why\nc: {}\n": {"a": [], "b": ["x, y", "z", "w", 1], "c": {}},
    "a:\n  {}\nb:\n  - |\n    x\nc:\n  'd'\n": {"a": {}, "b": ["x\n"], "c": "d"},
    "8080: a\n1.5: b\n.c: d\ne/f.g: h\n": {"8080": "a", "1.5": "b", ".c": "d", "e/f.g": "h"},
    "a: b:c\nd: -1\ne: --x\nf: :80\ng: a#b\n": {"a": "b:c", "d": -1, "e": "--x", "f": ":80", "g": "a#b"},
    "a: 1\r\nb: |\r\n  x\r\n": {"a": 1, "b": "x\n"},
    "a: 한글\nb: '–'\n": {"a": "한글", "b": "–"},
}

LEFT = (
    "a: 1",
    "",
    "# nothing\n",
    "word\n",
    "'word'\n",
    "{}\n",
    "|\n  a\n",
    "|+\n",
    "a: &x 1\nb: *x\n",
    "a: !!str 1\n",
    "a: {b: 1}\n",
    "a: [b: 1]\n",
    "a: [b\n  c]\n",
    "a: >\n  b\n",
    "a: |2\n   b\n",
    "a: |\n    b\n   c\n",
    "a: |\n     \n  b\n",
    "a: |\n  \n",
    "a: |\n\tb\n",
    "<<: {a: 1}\n",
    "? a\n: b\n",
    "a : b\n",
    "a: b: c\n",
    "a: b:\n",
    "a: b\n  c: d\n",
    "a: b # c\n  d\n",
    "a: b\n  # c\n  d\n",
    "a: b\n c: d\n",
    "a: 1\na: 2\n",
    "a: 1\n'a': 2\n",
    "a: 1\n- b\n",
    "- a\nb: 1\n",
    " a: 1\nb: 2\n",
    "a:\n    b: 1\n  c: 2\n",
    "a:\n\tb: 1\n",
    "a: b\tc\n",
    "a: 'b\n",
    "a: 'b\nc'\n",
    "a: 'b'c\n",
    "a: 'b\n  c' # it's\n  d: 'e\n",
    'a: "\\u00e9"\n',
    'a: "b\\\n  c"\n',
    "a: .inf\n",
    "a: [.nan]\n",
    "a: [y, .inf]\n",
    ".inf: a\n",
    "null: a\n",
    "--- a\n",
    "---\na: 1\n",
    "a: 1\n...\n",
    "%YAML 1.1\n",
    "a: @b\n",
    "a: %b\n",
    "a: ? b\n",
    "a: - b\n",
    "a: 1\rb: 2\n",
    "a: \x07\n",
    "a: \u2028\n",
    "\ufeffa: 1\n",
    "a: \ud800\n",
    "- - - - a\n",
    "".join(f"{' ' * depth}a:\n" for depth in range(200)),
)


@pytest.mark.parametrize("text", READ)
def test_the_simple_form_is_read_as_the_parser_reads_it(text: str) -> None:
    assert exact(read_blocks(text)) == exact(READ[text]) == exact(load_any(text))


@pytest.mark.parametrize("text", LEFT)
def test_everything_else_is_left_to_the_parser(text: str) -> None:
    with pytest.raises(Unsure):
        read_blocks(text)
    assert outcome(load, text) == outcome(load_any, text)


def test_lists_and_mappings_are_not_shared_between_documents() -> None:
    first, second = read_blocks("a: {}\nb: [x]\n"), read_blocks("a: {}\nb: [x]\n")
    first["a"]["c"] = 1
    first["b"].append("y")
    assert second == {"a": {}, "b": ["x"]}


def test_tricky_documents_are_read_as_the_parser_reads_them() -> None:
    texts = [f"{HEAD}spec:\n  value: {word}\n  {word}: value\n  values: [{word}]\n" for word in WORDS]
    texts += [f"{HEAD}spec: {value}\n" for value in VALUES]
    texts += [one.text + "\n" for text in DOCUMENTS.values() for one in documents(SourceFile("a.yaml", text))]
    assert [text for text in texts if outcome(load, text) != outcome(load_any, text)] == []


def test_nearly_all_of_our_manifests_are_in_the_simple_form() -> None:
    texts = [
        document.text
        for file in sorted(GOLDEN.rglob("*.yaml"))
        for document in documents(SourceFile(file.name, file.read_text("utf-8", "surrogateescape")))
    ]
    quick = [text for text in texts if outcome(read_blocks, text) != "unsure"]
    assert len(quick) > len(texts) * 0.8
    common: dict[int, Any] = {}
    assert [text for text in quick if outcome(read_blocks, text) != outcome(load_any, text)] == []
    assert [
        text
        for text in quick
        if outcome(functools.partial(read_blocks, common=common), text) != outcome(load_any, text)
    ] == []
    assert common


def exact(value: Any) -> Any:
    """A value with the classes and the order that `==` passes over."""
    if isinstance(value, dict):
        return type(value), [(key, exact(inner)) for key, inner in value.items()]
    if isinstance(value, list):
        return [exact(item) for item in value]
    return type(value), repr(value)


def outcome(read: Any, text: str) -> Any:
    try:
        return exact(read(text))
    except DialectError as error:
        return error.message, error.line, error.column
    except Unsure:
        return "unsure"
