"""Cursors: they come back as they went out, and what is no cursor of this list is refused in one sentence."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pilotage.core.cursors import Part, Walk, cut, read_place, read_rest
from pilotage.core.errors import InvalidInput

QUESTION = ("numbers", "public")
TEXT = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"))


@given(key=st.tuples(TEXT, TEXT), seen=st.integers(0, 1_000_000), question=st.lists(st.text(), max_size=3))
def test_a_place_comes_back(key: tuple[str, str], seen: int, question: list[str]) -> None:
    cursor = Part(tuple(question), seen, (key,), more=True).next
    place = read_place(cursor, 2, tuple(question))
    assert (place.seen, place.key) == (seen + 1, key)


@given(ids=st.lists(TEXT, min_size=2, max_size=30, unique=True), size=st.integers(1, 40))
def test_the_rest_of_a_ranked_list_comes_back_in_order(ids: list[str], size: int) -> None:
    walk = Walk(QUESTION, 3, tuple(ids), size)
    rest = read_rest(walk.next, QUESTION)
    if rest is None:
        assert size >= len(ids)
        return
    assert rest.seen == 3 + size
    assert rest.among(sorted([*ids, "not among them"])) == ids[size:]


def test_the_end_has_no_cursor() -> None:
    assert Part(QUESTION, 0, (("a",),), more=False).next is None
    assert Part().next is None
    assert Walk(QUESTION, 0, ("a", "b"), 2).next is None
    assert Walk(QUESTION, 0, (), 2).next is None
    assert read_place(None, 1, QUESTION).key is read_place("", 1, QUESTION).key is None
    assert read_rest(None, QUESTION) is read_rest("", QUESTION) is None


@given(st.lists(st.integers(0, 99), unique=True), st.integers(1, 5), st.lists(st.integers(0, 99), max_size=5))
def test_a_cut_list_goes_on_while_items_are_added(numbers: list[int], limit: int, later: list[int]) -> None:
    listed, seen, cursor = sorted(numbers), [], None
    while True:
        part = cut(listed, _key, size=1, limit=limit, cursor=cursor, question=QUESTION)
        assert part.total == len(listed)
        assert len(part.items) <= limit
        seen += part.items
        cursor = part.onward.next
        if cursor is None:
            break
        listed = sorted({*listed, *later})
    assert seen == sorted(set(seen))
    assert set(numbers) <= set(seen) <= {*numbers, *later}


def _key(number: int) -> tuple[str]:
    return (f"{number:02}",)


@pytest.mark.parametrize(
    "text", ["WzAsIngiXQ", "é", "[]", "WzEsMl0", "====", "A" * 400, "a b", "-", "AAAAAAAAAAAAAAAA"]
)
def test_what_is_no_cursor_is_refused(text: str) -> None:
    for read in (lambda: read_place(text, 1, QUESTION), lambda: read_rest(text, QUESTION)):
        with pytest.raises(InvalidInput, match="is no cursor") as caught:
            read()
        assert "Pass `next` on" in caught.value.hint


@given(at=st.integers(0, 1_000), letter=st.sampled_from("abcXYZ019-_"))
def test_one_wrong_letter_is_found(at: int, letter: str) -> None:
    cursor = Walk(QUESTION, 0, ("a", "b", "c"), 1).next or ""
    at %= len(cursor)
    wrong = cursor[:at] + letter + cursor[at + 1 :]
    if base64.urlsafe_b64decode(wrong + "=" * (-len(wrong) % 4)) == base64.urlsafe_b64decode(
        cursor + "=" * (-len(cursor) % 4)
    ):
        return
    with pytest.raises(InvalidInput, match="is no cursor"):
        read_rest(wrong, QUESTION)


def test_a_cursor_of_another_question_is_refused() -> None:
    place = Part(("incidents", "dns"), 0, (("a",),), more=True).next
    rest = Walk(("search", "dns"), 0, ("a", "b"), 1).next
    for read in (
        lambda: read_place(place, 1, ("incidents", "etcd")),
        lambda: read_rest(rest, ("search", "etcd")),
    ):
        with pytest.raises(InvalidInput, match="belongs to another question") as caught:
            read()
        assert caught.value.hint


def test_a_key_of_another_shape_is_no_cursor() -> None:
    for keys in ((("a", "b"),), (("a\0",),)):
        with pytest.raises(InvalidInput, match="is no cursor"):
            read_place(Part(QUESTION, 0, keys, more=True).next, 1, QUESTION)
    with pytest.raises(InvalidInput, match="is no cursor"):
        read_rest(Part(QUESTION, 0, (("a",),), more=True).next, QUESTION)
