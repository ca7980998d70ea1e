from __future__ import annotations

from pilotage.library.decoding.json_places import line_column, lined, places


def test_every_key_and_item_has_its_place() -> None:
    text = '{"a": [1, {"b": 2}], "a": 3}'
    found = [(place.path, text[place.offset], place.duplicate) for place in places(text)]
    assert found == [
        (("a",), '"', False),
        (("a", 0), "1", False),
        (("a", 1), "{", False),
        (("a", 1, "b"), '"', False),
        (("a",), '"', True),
    ]


def test_lines_and_columns_are_those_of_looking_each_up() -> None:
    text = '{"a": [1,\n\n  {"b": 2}, 3],\n "c": "x\\n",   "d":\n[\n{}]}'
    found = list(lined(text))
    assert [(line, column) for _, line, column in found] == [
        line_column(text, place.offset) for place, _, _ in found
    ]
    assert [place for place, _, _ in found] == list(places(text))


def test_what_is_no_json_ends_quietly() -> None:
    assert [place.path for place in places('{"a": 1, oops')] == [("a",)]
    assert list(places("")) == []


def test_a_text_that_nobody_reads_is_not_followed_into_its_depth() -> None:
    found = list(places('{"a": ' + "[" * 100_000))
    assert 200 < len(found) < 300
