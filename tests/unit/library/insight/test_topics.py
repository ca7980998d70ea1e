from __future__ import annotations

import pytest

from pilotage.core.errors import InvalidInput, UnknownTerm
from pilotage.library.insight.topic_line import Span, summary_line
from pilotage.library.insight.topics import topic, wilson
from unit.library.small_library import VOCABULARY, fillers, library, record

CASES = [
    record(
        f"c{number}",
        date=f"20{17 + number}-05-01",
        components=["ingress", "haproxy"],
        root_cause="configuration-change",
    )
    for number in range(4)
]


def ask(store, *terms, **options):
    return topic(
        store, terms, **{"audience": "public", "lang": "en", "limit": 2, "vocabulary": VOCABULARY, **options}
    )


def test_a_conjunction_with_its_cases_and_companions():
    odd = record("odd", date="2019-01-01", components=["ingress", "etcd"], root_cause="configuration-change")
    with library(*CASES, odd, *fillers(20)) as store:
        answer = ask(store, ("component", "Ingress controller"), ("cause", "configuration-change"))
        more = ask(store, ("component", "ingress"), limit=4)
        more = ask(store, ("component", "ingress"), cursor=more.onward.next)
    assert answer.terms == (("component", "ingress"), ("root_cause", "configuration-change"))
    assert (answer.total, answer.base, answer.page, answer.onward.more) == (5, 25, "1–2 of 5", True)
    assert [case.id for case in answer.cases] == ["c3", "c2"]
    assert (more.page, more.onward.next) == ("5–5 of 5", None)
    haproxy, etcd = answer.companions["component"]
    assert (haproxy.slug, haproxy.n, haproxy.of, haproxy.base_n, haproxy.base_of) == ("haproxy", 4, 5, 4, 25)
    assert haproxy.lift == 5.0
    assert haproxy.low < haproxy.share < haproxy.high
    assert etcd.n == 1
    assert answer.companions["root_cause"] == ()
    assert answer.summary("en") == (
        "5 incidents from 2017 to 2020 involve Ingress controller and Configuration change; "
        "most often together: HAProxy (4 of 5, 5.0 times the base rate)."
    )
    assert answer.summary("ko") == (
        "2017년부터 2020년까지 인그레스 컨트롤러와 설정 변경이 관련된 사례는 5건이다. "
        "가장 자주 함께 나타난 것은 HAProxy(5건 중 4건, 기준 비율의 5.0배)이다."
    )
    assert answer.to_json()["span"]["first"] == "2017-05-01"


def test_an_import_between_two_counts_does_no_harm(monkeypatch):
    with library(*CASES, *fillers(5)) as store:
        whole = store.facets

        def facets(filters, audience, ids=None):
            found = whole(filters, audience, ids)
            if not filters.all_of:
                # The cases have lost a term and a new one has come since they were counted.
                found["component"].pop("haproxy")
            return found

        monkeypatch.setattr(store, "facets", facets)
        monkeypatch.setattr(store, "count", lambda *_: 3)
        answer = ask(store, ("component", "ingress"))
    (haproxy,) = answer.companions["component"]
    assert (haproxy.n, haproxy.of, haproxy.base_n, haproxy.base_of, haproxy.lift) == (3, 3, 3, 3, 1.0)


def test_dates_keep_their_precision():
    documents = [
        record("a", date="2018-01-01", date_precision="year"),
        record("b", date="2018-03-02", date_precision="day"),
        record("c", date="2020-04-01", date_precision="month"),
        record("d", date="2020-04-09", date_precision="day"),
        record("e", date="1999-01-01", date_precision="unknown"),
    ]
    with library(*documents) as store:
        span = ask(store).span
    assert span == Span("2018", "year", "2020-04", "month", 4)


def test_nothing_is_an_honest_answer():
    with library(*CASES) as store:
        answer = ask(store, ("component", "ingress"), ("symptom", "oom-killed"))
        nobody = ask(store, ("year", "2031"))
    assert (answer.total, answer.cases, answer.page, answer.lessons) == (0, (), "0 of 0", ())
    assert answer.summary("en") == "No incident involves Ingress controller and OOM kill together."
    assert answer.summary("ko") == "인그레스 컨트롤러와 OOM 강제 종료가 함께 관련된 사례는 없다."
    assert nobody.summary("en") == "No incident in 2031 is known here."
    assert nobody.summary("ko") == "2031년에 일어난 사례는 없다."


def test_the_whole_library_has_lift_one():
    with library(*CASES, *fillers(3)) as store:
        answer = ask(store)
    assert answer.total == answer.base == 7
    assert {term.lift for terms in answer.companions.values() for term in terms} == {1.0}
    assert answer.summary("en") == "7 incidents from 2017 to 2020 are in the library."


def test_unknown_words_name_the_nearest():
    with library(*CASES) as store:
        with pytest.raises(UnknownTerm) as facet:
            ask(store, ("componnt", "ingress"))
        with pytest.raises(UnknownTerm) as slug:
            ask(store, ("component", "ingres"))
        with pytest.raises(InvalidInput):
            ask(store, limit=0)
    assert "component" in facet.value.hint
    assert "ingress" in slug.value.hint


def test_lessons_that_say_the_same():
    lesson = "Push configuration in stages and stop when error rates rise."
    same = "Push every configuration in stages; stop at once when error rates rise."
    documents = [
        record(
            "a",
            components=["ingress"],
            lessons={"en": f"Name an owner.\n\n{lesson}", "ko": "담당자를 정한다.\n\n단계적으로 배포한다."},
        ),
        record("b", components=["ingress"], lessons={"en": same}),
        record("c", components=["ingress"], lessons={"en": "Rotate certificates early."}),
    ]
    with library(*documents) as store:
        (shared,) = ask(store, ("component", "ingress")).lessons
    assert [item.id for item in shared.lessons] == ["a", "b"]
    assert shared.lessons[0].text == {"en": lesson, "ko": "단계적으로 배포한다."}
    assert "stages" in shared.words


def test_private_records_leave_no_trace():
    private = record(
        "p", visibility="private", org_slug="hidden-org", components=["ingress"], date="2031-01-01"
    )
    with library(*CASES, private) as store:
        public = ask(store, ("component", "ingress"))
        every = ask(store, ("component", "ingress"), audience="all")
        with pytest.raises(UnknownTerm):
            ask(store, ("org", "hidden-org"))
    assert (public.total, public.base, every.total, every.base) == (4, 4, 5, 5)
    assert public.span.last == "2020-05-01"


@pytest.mark.parametrize(
    ("n", "of", "low", "high"), [(0, 0, 0, 1), (0, 10, 0, 0.278), (5, 10, 0.237, 0.763), (2, 2, 0.342, 1)]
)
def test_wilson_interval(n, of, low, high):
    assert wilson(n, of) == pytest.approx((low, high), abs=0.001)


def test_one_case_and_organisations_in_sentences():
    span = Span("2019-04-23", "day", "2019-04-23", "day", 1)
    named = [("organisation", "Zalando"), ("symptom", "OOM kill")]
    assert summary_line(named, 1, span, [], "en") == "1 incident at Zalando in 2019 involves OOM kill."
    assert summary_line([("organisation", "잘란도"), ("symptom", "OOM 강제 종료")], 1, span, [], "ko") == (
        "잘란도에서 2019년에 OOM 강제 종료가 관련된 사례는 1건이다."
    )
    assert summary_line([], 0, Span(), [], "en") == "No incident is in the library."
    assert summary_line([], 0, Span(), [], "ko") == "라이브러리에 사례가 없다."
    assert summary_line([], 2, Span(), [], "ko") == "라이브러리에 있는 사례는 2건이다."
