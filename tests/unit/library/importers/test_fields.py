from __future__ import annotations

import re
import unicodedata

import pytest

from pilotage.core.errors import InvalidInput
from pilotage.library.importers.fields import (
    Fields,
    aliases_of,
    day_of,
    from_epoch,
    interval_between,
    make_id,
    moment,
    text_of,
)
from pilotage.library.importers.headings import label_for, section_for
from pilotage.library.importers.markdown_record import date_in
from pilotage.library.record import ID_PATTERN


def test_texts_go_under_their_language():
    assert text_of("Pods are full")["ko"] is None
    assert text_of("파드의 CPU와 memory가 가득 찼다")["en"] is None
    nfd = unicodedata.normalize("NFD", "인그레스 장애")
    assert text_of(nfd) == {"en": None, "ko": nfd}


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        (("Google Cloud", "2017-04-05", "Xy_9"), "google-cloud-2017-04-05-xy-9"),
        (("Zürich", None, "a"), None),
        ((None, None, "인그레스 장애"), None),
        (("", None), "incident"),
        (("a" * 300,), None),
        (("Org", "2020-01-01", "12345"), "org-2020-01-01-12345"),
    ],
)
def test_ids_are_stable_and_of_the_allowed_form(parts, expected):
    made = make_id(*parts)
    assert re.fullmatch(ID_PATTERN, made)
    assert made == make_id(*parts)
    assert expected in (None, made)


def test_decomposed_titles_give_the_same_id_and_other_titles_another():
    title = "인그레스 장애"
    assert make_id(title) == make_id(unicodedata.normalize("NFD", title))
    assert make_id(title) != make_id("로드 밸런서 장애")


def test_times():
    assert moment("0001-01-01T00:00:00Z") is None
    assert moment("soon") is None
    assert day_of("2024-03-05T23:00:00-08:00") == "2024-03-05"
    assert from_epoch("1709625600") == "2024-03-05T08:00:00Z"
    assert from_epoch(1709625600000) == "2024-03-05T08:00:00Z"
    assert from_epoch("x") is from_epoch(None) is from_epoch(1e300) is from_epoch([]) is None
    assert interval_between("2024-01-01T00:00:00Z", "2024-01-01T03:54:00Z") == ("3h 54m", "")
    assert "negative" in interval_between("2024-01-01T01:00:00Z", "2024-01-01T00:00:00Z")[1]
    assert "zone" in interval_between("2024-01-01T01:00:00Z", "2024-01-01T02:00:00")[1]


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2015-10-21", "2015-10-21"),
        ("2023년 4월 5일", "2023-04-05"),
        ("Wednesday, October 21st, 2015", "2015-10-21"),
        ("21 Oct 2015", "2015-10-21"),
        ("2015.10.21", "2015-10-21"),
        ("2015-13-41", None),
        ("3/4/2020", None),
        ("Foo 3, 2020", None),
    ],
)
def test_dates_in_words(text, day):
    assert date_in(text) == day


@pytest.mark.parametrize(
    ("heading", "target"),
    [
        ("## 🔥 Impact"[3:], "impact"),
        ("3. Root Cause(s):", "cause"),
        ("**Lessons learned**", "lessons"),
        ("What went well?", "lessons"),
        ("Timeline (all times in UTC)", "events"),
        ("Mitigation & Resolution", "remediation"),
        ("재발 방지 대책", "action_items"),
        (unicodedata.normalize("NFD", "근본 원인"), "cause"),
        ("Weather", None),
        ("", None),
    ],
)
def test_headings(heading, target):
    assert section_for(heading) == target


def test_labels():
    assert label_for("Incident Date") == label_for("발생일") == "incident_date"
    assert label_for("whatever") is None


def test_wrong_types_are_noted_not_guessed():
    fields = Fields({"a": 5, "b": "x", "c": {}, "d": [1, {}], "e": None, "f": ""}, "f.json, incident 1")
    assert fields.text("a") is None
    assert fields.objects("b") == []
    assert fields.objects("d") == [{}]
    assert {(n.source, n.why) for n in fields.notes()} == {
        ("a", "expected a text, found a number"),
        ("b", "expected a list, found a text"),
        ("c", "empty"),
        ("d", "1 items are no objects"),
        ("e", "empty"),
        ("f", "empty"),
    }
    with pytest.raises(InvalidInput, match="expected an object, found a list"):
        Fields([], "f.json")


def test_only_possible_aliases_are_kept():
    assert aliases_of("abc123", "x") == ["abc123"]
    assert aliases_of("a/b", "x") == aliases_of("x", "x") == aliases_of("", "x") == []
