"""Lists whose items are documents of their own: same objects, same places, and whole where items need it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pilotage.checks.objects import KubeObject
from pilotage.checks.readers.files import read_paths, read_text
from pilotage.checks.readers.lists import divided
from pilotage.checks.readers.manifests import documents
from pilotage.checks.repeating import repeated_keys

HEAD = "apiVersion: v1\nkind: List\n"
ITEMS = """items:
# two of them
- apiVersion: v1
  kind: Pod
  metadata:
    name: a
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: b}
  data:
    list: |
      - apiVersion: v1
      items:
      - x
"""
TAIL = "metadata:\n  resourceVersion: ''\n"


def lines(one: KubeObject, *path: str) -> tuple[int, int]:
    place = one.place(path)
    return place.line, place.column


@pytest.mark.parametrize("indent", [0, 2])
@pytest.mark.parametrize("order", [(HEAD, ITEMS, TAIL), (ITEMS, TAIL, HEAD)])
def test_items_have_the_places_of_the_whole(indent: int, order: tuple[str, ...]) -> None:
    items = ITEMS.replace("\n", "\n" + " " * indent).rstrip(" ")
    text = "".join(items if part is ITEMS else part for part in order)
    pod, config = read_text(text, "x.yaml").objects
    first = 5 if order[0] is HEAD else 3
    assert (pod.key, config.key) == ("Pod a", "ConfigMap b")
    assert config.get("data", "list") == "- apiVersion: v1\nitems:\n- x\n"
    assert lines(pod) == (first, 3 + indent)
    assert lines(pod, "metadata", "name") == (first + 3, 5 + indent)
    assert lines(config, "metadata", "name") == (first + 6, 14 + indent)
    assert pod.document is not None
    assert "ConfigMap" not in pod.document.text


def test_what_is_no_list_in_block_form_is_not_divided() -> None:
    def parts(text: str) -> object:
        (document,) = documents(read_text(text, "x.yaml").objects[0].source)  # type: ignore[arg-type]
        return divided(document)

    assert parts("apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: Pod, metadata: {}}]\n") is None
    assert parts("apiVersion: v1\nkind: Pod\nmetadata: {}\nspec:\n  items:\n  - a\n") is None


def test_items_that_need_one_another_are_read_together() -> None:
    text = (
        f"{HEAD}items:\n- &pod\n  apiVersion: v1\n  kind: Pod\n  metadata: {{name: a}}\n"
        "- <<: *pod\n  metadata: {name: b}\n"
    )
    reading = read_text(text, "x.yaml")
    assert [one.key for one in reading.objects] == ["Pod a", "Pod b"]
    assert not reading.problems
    assert lines(reading.objects[1], "metadata", "name") == (9, 14)


def test_an_anchor_of_an_item_may_be_used_in_it() -> None:
    item = "- apiVersion: v1\n  kind: Pod\n  metadata: {name: &name a, labels: {app: *name}}\n"
    reading = read_text(f"{HEAD}items:\n{item}{item.replace(' a,', ' b,')}", "x.yaml")
    assert [one.labels["app"] for one in reading.objects] == ["a", "b"]


def test_a_broken_item_is_told_once_with_its_line() -> None:
    # kubectl reads none of it, since it is one document.
    reading = read_text(f"{HEAD}{ITEMS}- apiVersion: v1\n  kind: Pod\n  metadata: {{name: c\n", "x.yaml")
    (problem,) = reading.problems
    assert reading.objects == []
    assert problem.place.line >= 16


def test_a_word_that_goes_on_at_the_column_of_the_dashes_makes_no_item() -> None:
    text = f'{HEAD}items:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata: {{name: a}}\n  data: {{x: "1\n- 2"}}\n'
    (one,) = read_text(text, "x.yaml").objects
    assert one.get("data", "x") == "1 - 2"


def test_keys_that_stand_twice_in_an_item_are_known() -> None:
    text = f"{HEAD}{ITEMS}- apiVersion: v1\n  kind: Pod\n  metadata: {{name: c}}\n  spec: {{a: 1, a: 2}}\n"
    *_, last = read_text(text, "x.yaml").objects
    assert list(repeated_keys(last.data)) == [("spec", "a")]
    assert last.document is not None
    assert last.document.lines_of_key((*last.prefix, "spec", "a")) == [20, 20]


def test_a_list_in_a_list_keeps_its_places() -> None:
    inner = "- apiVersion: v1\n  kind: List\n  items:\n  - apiVersion: v1\n    kind: Pod\n    metadata: {name: a}\n"
    (pod,) = read_text(f"{HEAD}items:\n{inner}", "x.yaml").objects
    assert lines(pod, "metadata", "name") == (9, 16)


def test_items_of_a_list_of_a_kind_get_that_kind() -> None:
    yaml_list = "apiVersion: v1\nkind: PodList\nitems:\n- metadata: {name: a}\n- metadata: {name: b}\n"
    json_list = {"kind": "PodList", "items": [{"metadata": {"name": "a"}}], "apiVersion": "v1"}
    assert [one.key for one in read_text(yaml_list, "x.yaml").objects] == ["Pod a", "Pod b"]
    assert [one.key for one in read_text(json.dumps(json_list), "x.json").objects] == ["Pod a"]


def test_a_large_list_is_shared_among_processes_and_read_alike(tmp_path: Path) -> None:
    item = "- apiVersion: v1\n  kind: ConfigMap\n  metadata: {{name: n{0}}}\n  data: {{x: '{1}'}}\n"
    many = "".join(item.format(number, "y" * 500) for number in range(800))
    (tmp_path / "x.yaml").write_text(f"{HEAD}items:\n{many}")
    objects = read_paths([str(tmp_path / "x.yaml")]).objects
    assert [one.name for one in objects] == [f"n{number}" for number in range(800)]
    assert lines(objects[799], "data", "x") == (4 * 800 + 3, 10)
