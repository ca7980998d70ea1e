from __future__ import annotations

from typing import Any

import pytest

from pilotage.library.authoring.editorial import editorial_problems, numbers_of
from pilotage.library.authoring.known import known_slugs
from pilotage.library.record import read_record
from pilotage.library.terms import load_vocabulary

GOOD: dict[str, Any] = {
    "id": "a",
    "date": "2019-04-23",
    "title": {"en": "Pods were killed", "ko": "파드가 종료됐다"},
    "summary": {"en": "It took 9 minutes.\n\nThen it ended.", "ko": "9분이 걸렸다.\n\n그 뒤 끝났다."},
    "domain": ["kubernetes"],
    "symptoms": ["oom-killed"],
    "components": ["ingress"],
    "root_cause": "software-bug",
    "mechanism": [
        {
            "id": "start",
            "kind": "trigger",
            "label": {"en": "A start", "ko": "시작"},
            "text": {"en": "It began.", "ko": "시작됐다."},
        }
    ],
    "phrases": {"en": ["one", "two", "three", "four"], "ko": ["하나", "둘", "셋", "넷"]},
    "facts": ["9 minutes", "1,500 pods", "14:00"],
    "timeline": {"resolved_after": "9m"},
    "provenance": {
        "default": {"confidence": "high", "source": 1},
        "timeline.detected_after": {"state": "not_stated"},
        "trigger": {"state": "not_stated"},
        "detection": {"state": "not_stated"},
    },
}


def problems(**changes: Any) -> list[str]:
    return [f"{field}: {message}" for field, message in editorial_problems(read_record(GOOD | changes))]


def test_a_good_record_has_none() -> None:
    assert problems() == []


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"summary": {"en": "It took 8 minutes.", "ko": "걸렸다."}},
            "summary: en: the number 8 stands in no fact",
        ),
        ({"summary": {"en": "One.", "ko": "1,501개"}}, "summary: ko: the number 1501 stands in no fact"),
        ({"title": {"en": "Only English"}}, "title: the ko text is missing"),
        ({"title": {"en": "A title", "ko": "still some english words"}}, "title: ko: no Hangul in it"),
        ({"summary": {"en": "One.\n\nTwo.", "ko": "하나."}}, "summary: en and ko have different numbers"),
        ({"summary": None}, "summary: title and summary are the least"),
        ({"title": {"en": "x" * 121, "ko": "제목"}}, "title: en: 121 characters, at most 120"),
        ({"trigger": {"en": "word " * 61, "ko": "말"}}, "trigger: en: 61 words, at most 60"),
        ({"phrases": {"en": ["one"] * 9, "ko": ["하나"] * 4}}, "phrases: en: 9 phrases; write 4 to 8"),
        ({"phrases": {"en": ["one"] * 4}}, "phrases: ko: 0 phrases"),
        ({"provenance": {}}, "provenance: needs `default`"),
        ({"timeline": None}, "timeline.resolved_after: is empty; say"),
        ({"trigger": {"en": "A push.", "ko": "배포."}}, "trigger: has a value although"),
        ({"mechanism": []}, "mechanism: needs at least a trigger"),
        ({"components": []}, "components: domain, symptoms, components and root cause"),
        ({"title": {"en": "A careless push", "ko": "배포"}}, "title: en: 'careless' judges"),
        ({"title": {"en": "A push", "ko": "배포했습니다."}}, "title: ko: one register only"),
        ({"title": {"en": "A push", "ko": "서버은(는) 멈췄다"}}, "title: ko: one register only"),
    ],
)
def test_each_rule(changes: dict[str, Any], message: str) -> None:
    assert any(found.startswith(message) for found in problems(**changes)), problems(**changes)


@pytest.mark.parametrize(
    "text", ["At 14:00 it began.", "On 2019-04-23.", "1500 pods", "1,500 pods", "p90 of EC2", "09 minutes"]
)
def test_numbers_that_a_fact_states(text: str) -> None:
    assert problems(summary={"en": text, "ko": "말."}) == []


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("", set()),
        ("p90 and EC2 and x86_64", set()),
        ("1,500 or 1500", {"1500"}),
        ("007", {"7"}),
        ("0 and 00", {"0"}),
        ("v0.6.1", {"0.6.1".lstrip("0")}),
        ("3.5 GB, 40%", {"3.5", "40"}),
        ("10억 명", {"10"}),
    ],
)
def test_numbers_have_one_form(text: str, numbers: set[str]) -> None:
    assert numbers_of(text) == numbers


def test_the_slugs_of_every_field_are_known() -> None:
    known = known_slugs(load_vocabulary())
    assert "ingress" in known["components"]
    assert "software-bug" in known["root_cause"]
    assert all(known.values())
