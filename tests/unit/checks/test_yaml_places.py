"""Places found by columns alone are those of the parser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pilotage.checks.dialect import compose, load_any, position_of
from pilotage.checks.objects import SourceFile
from pilotage.checks.readers.manifests import documents
from pilotage.checks.values import KeyPath
from pilotage.checks.yaml_places import place_of, simple_rows

GOLDEN = Path(__file__).parents[2] / "golden" / "checks"

TEXT = """\
# why
kind: X
a:
  # deeper
  'b': |
    kind: Y
   \x20
    a:
  c: x
    y
list:
- name: one
  deep:

    - - 1
      - 2
    -
      e: 'x

        y'
    - {}
-   name: two
empty: []
given: [a, b]
below:
  "text"
last:
"""

PLACES: dict[KeyPath, tuple[int, int]] = {
    (): (2, 1),
    ("kind",): (2, 1),
    ("a", "b"): (5, 3),
    ("a", "c"): (9, 3),
    ("a", "kind"): (3, 1),
    ("list",): (11, 1),
    ("list", 0): (12, 3),
    ("list", 0, "deep", 0, 1): (16, 9),
    ("list", 0, "deep", 1, "e"): (18, 7),
    ("list", 0, "deep", 2): (21, 7),
    ("list", 1, "name"): (22, 5),
    ("list", 2): (11, 1),
    ("list", -1): (11, 1),
    ("list", "name"): (11, 1),
    ("below", "x"): (25, 1),
    ("last", "x", 0): (27, 1),
    ("absent",): (2, 1),
}


@pytest.mark.parametrize("path", PLACES)
def test_place_of_a_path(path: KeyPath) -> None:
    assert place_of(rows(TEXT), path) == PLACES[path] == position_of(compose(TEXT), path)
    assert place_of(rows(TEXT.replace("\n", "\r\n")), path) == PLACES[path]


@pytest.mark.parametrize("path", [("given", 1), ("empty", 0)])
def test_within_brackets_the_parser_must_tell(path: KeyPath) -> None:
    assert place_of(rows(TEXT), path) is None


def test_an_item_that_says_nothing_is_left_to_the_parser() -> None:
    assert place_of(rows("a:\n- \nb: 1\n"), ("a", 0)) is None


def test_a_document_of_another_form_has_no_simple_rows() -> None:
    assert simple_rows("a: &b 1\nc: *b\n") is None


def test_every_place_of_our_manifests_is_that_of_the_parser() -> None:
    different = []
    for file in sorted(GOLDEN.glob("[a-f]*/*.yaml")):
        for document in documents(SourceFile(file.name, file.read_text("utf-8", "surrogateescape"))):
            found = simple_rows(document.text)
            if found is None:
                continue
            node = compose(document.text)
            for path in paths(load_any(document.text)):
                place = place_of(found, path)
                if place is not None and place != position_of(node, path):
                    different.append((file.name, document.line, path, place))
    assert different == []


def rows(text: str) -> list[str]:
    found = simple_rows(text)
    assert found is not None
    return found


def paths(value: Any, path: KeyPath = ()) -> Iterator[KeyPath]:
    yield path
    yield (*path, "absent")
    yield (*path, 99)
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for part, one in inner:
        yield from paths(one, (*path, part))
