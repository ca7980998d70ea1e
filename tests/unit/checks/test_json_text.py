"""JSON: values, places of what it holds, and one copy of what is the same."""

from __future__ import annotations

import json

import pytest

from pilotage.checks.json_text import place_of, read_json
from pilotage.checks.readers.files import read_text
from pilotage.checks.yaml_blocks import Common

POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {"containers": [{"name": "c"}]}}


@pytest.mark.parametrize(
    "text",
    ['{"a": 1,}', '{"a" 1}', "{1: 2}", '{"a": }', '{"a": 1', '{"items": [1 2]}', '{"items": [1', "{", '{"a'],
)
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="."):
        read_json(text, 0)


@pytest.mark.parametrize("text", ["[1]", '"x"', "5", "{}", '{"items": [ ], "a": {"items": [1]}}'])
def test_a_value_ends_where_it_ends(text: str) -> None:
    found = read_json(f" {text} ...", 1)
    assert (found.value, found.end) == (json.loads(text), 1 + len(text))


def test_of_a_key_that_stands_twice_the_last_one_counts() -> None:
    text = '{"items": [1], "a": 1, "items": [2, 3], "a": {"b": 4}}'
    found = read_json(text, 0)
    assert found.value == {"items": [2, 3], "a": {"b": 4}}
    assert [one.value for one in found.items] == [2, 3]
    assert text[place_of(text, ("a", "b")) :].startswith('"b"')


def test_the_deepest_part_that_is_written_down_is_the_place() -> None:
    text = json.dumps(POD)
    assert text[place_of(text, ("spec", "containers", 0, "image")) :].startswith('{"name": "c"')
    assert text[place_of(text, ("spec", "containers", 7)) :].startswith('"containers"')
    assert text[place_of(text, ("metadata", "name", "x")) :].startswith('"name"')
    assert place_of(text, ()) == 0


@pytest.mark.parametrize("text", ["\U0001f600", "\ud83d", "a/b", "\x7f\t"])
def test_words_that_only_json_writes_so_have_places(text: str) -> None:
    # PyYAML reads no pair of surrogates, as other programs write it.
    pod = POD | {"metadata": {"annotations": {"x": text}, "name": "a"}}
    written = json.dumps({"apiVersion": "v1", "kind": "List", "items": [POD, pod]}).replace("/", "\\/")
    one = read_text(written, "x.json").objects[1]
    assert one.annotations == {"x": text}
    assert one.place(("metadata", "name")).column == written.rindex('"name": "a"') + 1


def test_places_of_items_in_one_line_and_in_many() -> None:
    for indent in (None, 2):
        written = json.dumps({"kind": "List", "items": [POD] * 3, "apiVersion": "v1"}, indent=indent)
        lines = written.split("\n")
        for number, one in enumerate(read_text(written, "x.json").objects):
            place = one.place(("spec", "containers", 0, "name"))
            assert lines[place.line - 1][place.column - 1 :].startswith('"name": "c"')
            assert one.place().line == (1 if indent is None else 4 + number * 14)


def test_flat_mappings_are_shared_and_numbers_are_no_booleans() -> None:
    common: Common = {}
    text = '[{"a": {"x": 1}}, {"a": {"x": true}}, {"a": {"x": 1}}, {"a": {"x": 1.0}}]'
    first, second, third, fourth = read_json(text, 0, common).value
    assert first["a"] is third["a"]
    assert [repr(one["a"]["x"]) for one in (first, second, third, fourth)] == ["1", "True", "1", "1.0"]
