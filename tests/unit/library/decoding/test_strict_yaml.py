from __future__ import annotations

import pytest

from pilotage.core.errors import InvalidInput
from pilotage.library.decoding.strict_yaml import Duplicate, load, load_all, parse_all


def value(text: str) -> object:
    return load(text.encode(), "r.yaml")


def test_plain_scalars_are_jsons_and_nothing_else():
    text = """
    date: 2019-01-18
    at: 2019-01-18T10:00:00Z
    time: 12:30
    answer: [yes, No, on, OFF, y]
    truth: [true, False]
    nothing: [null, ~, '']
    numbers: [1, -2, 1.5, 1e3, 0]
    texts: ["1", '2', 0011, 0x1F, 1_000, +1, .5, "true"]
    """
    assert value(text) == {
        "date": "2019-01-18",
        "at": "2019-01-18T10:00:00Z",
        "time": "12:30",
        "answer": ["yes", "No", "on", "OFF", "y"],
        "truth": [True, False],
        "nothing": [None, None, ""],
        "numbers": [1, -2, 1.5, 1000.0, 0],
        "texts": ["1", "2", "0011", "0x1F", "1_000", "+1", ".5", "true"],
    }


def test_keys_are_texts():
    assert value("2019: a\nno: b\ntrue: c\n") == {"2019": "a", "no": "b", "true": "c"}


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("a: 1\nb:\n  c: 1\n  c: 2\n", "r.yaml:4:3: duplicate key 'c'"),
        ("a: 1\n\tb: 2\n", "r.yaml:2:1: not YAML: found a tab"),
        ("a:\n  b: 1\n c: 2\n", "r.yaml:3:2: not YAML: did not find expected key"),
        ("a: b: c\n", "r.yaml:1:5: not YAML: mapping values"),
        ("a: 'x\n", "not YAML: found unexpected end of stream"),
        ("a: !!python/object:os.system x\n", "r.yaml:1:4: tag"),
        ("a: !mine {b: 1}\n", "r.yaml:1:4: tag '!mine'"),
        ("a: !!timestamp 2019-01-01\n", "r.yaml:1:4: tag"),
        ("a: !!int x\n", "r.yaml:1:4: 'x' is no int"),
        ("a: .nan\n", "r.yaml:1:4: '.nan' is no JSON number"),
        ("a: 1e999\n", "is no JSON number"),
        ("? [a]\n: b\n", "r.yaml:1:3: a key must be a text"),
        ("a: &x [1, *x]\n", "r.yaml:1:11: alias '*x' names nothing"),
        ("a: *nothing\n", "alias '*nothing'"),
        ("a: &x {b: 1}\nc:\n  <<: *x\n", "merge keys"),
        ("한글: 값\n가: [\n", "r.yaml:3:1: not YAML"),
        ("a: \x07\n", "r.yaml:1:4: control character U+0007"),
        ('a: "\\0"\n', "a NUL character"),
        ('a: "\\ud800"\n', "not YAML"),
        ("[" * 300, "levels deep"),
        ("- " * 300, "levels deep"),
        ("a: 1\n--- \nb: 2\n", "expected one document, found 2"),
        ("", "expected one document, found 0"),
    ],
)
def test_mistakes_are_named_with_line_and_column(text, where):
    with pytest.raises(InvalidInput) as caught:
        value(text)
    assert where in caught.value.message
    assert caught.value.hint


def test_a_billion_laughs_are_refused_and_a_few_aliases_are_not():
    laughs = "a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n" + "".join(
        f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12)
    )
    with pytest.raises(InvalidInput, match="too many values"):
        value(laughs)
    assert value("a: &x {b: 1}\nc: *x\nd: &t text\ne: *t\n") == {
        "a": {"b": 1},
        "c": {"b": 1},
        "d": "text",
        "e": "text",
    }


def test_documents_know_where_their_keys_stand():
    text = "\ufeff# note\nid: a\nlist:\n- x\n- en: y\n  ko: z\n---\nid: b\n---\n"
    documents = list(load_all(text.encode(), "r.yaml"))
    assert [d.value["id"] for d in documents] == ["a", "b"]
    assert documents[0].places[("list", 1, "ko")] == (6, 3)
    assert documents[0].places[("list", 0)] == (4, 3)
    assert documents[1].places[("id",)] == (8, 1)


def test_duplicates_can_be_collected():
    found: list[Duplicate] = []
    (document,) = parse_all("a: 1\na: 2\nb: {c: 1, c: 2}\n", "r", duplicates=found)
    assert document.value == {"a": 2, "b": {"c": 2}}
    assert found == [Duplicate(("a",), 2, 1), Duplicate(("b", "c"), 3, 11)]


def test_core_tags_are_read():
    assert value("a: !!str 2019\nb: !!map {}\nc: !!seq []\nd: !!int '3'\ne: ! 5\n") == {
        "a": "2019",
        "b": {},
        "c": [],
        "d": 3,
        "e": "5",
    }
