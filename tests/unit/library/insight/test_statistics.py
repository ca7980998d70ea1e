from __future__ import annotations

import pytest

from pilotage.core.errors import InvalidInput, UnknownTerm
from pilotage.library.insight.statistics import cooccurrence, distribution, quantile, statistics
from unit.library.small_library import VOCABULARY, library, record

BOTH = {"en": "Text.", "ko": "글."}
DOCUMENTS = [
    record(
        "a",
        date="2020-01-01",
        summary=BOTH,
        components=["ingress", "haproxy"],
        root_cause="software-bug",
        timeline={"detected_after": "9m", "resolved_after": "3h 54m"},
        trigger=BOTH,
    ),
    record(
        "b",
        date="2021-01-01",
        date_precision="year",
        components=["ingress"],
        root_cause="software-bug",
        org_slug="other",
        timeline={"detected_after": None, "resolved_after": "several hours"},
        provenance={"trigger": {"state": "not_stated"}},
    ),
    record(
        "c",
        visibility="private",
        date="2021-06-01",
        components=["ingress"],
        timeline={"resolved_after": "2d"},
    ),
]


def test_the_library_in_numbers():
    with library(*DOCUMENTS) as store:
        answer = statistics(store, audience="public", vocabulary=VOCABULARY)
        every = statistics(store, audience="all", vocabulary=VOCABULARY)
    assert (answer.records, answer.organisations, answer.bilingual, answer.status) == (
        2,
        2,
        1,
        {"reviewed": 2},
    )
    ingress = answer.facets["component"][0]
    assert (ingress.slug, ingress.n, ingress.by_year) == ("ingress", 2, {"2020": 1, "2021": 1})
    detected, mitigated, resolved = answer.durations
    assert (detected.n, detected.of, detected.median) == (1, 2, 540.0)
    assert (mitigated.n, mitigated.median) == (0, None)
    assert (resolved.n, resolved.unreadable, resolved.minimum) == (1, 1, 14_040.0)
    covered = {item.field: (item.stated, item.not_stated, item.open) for item in answer.coverage}
    assert covered["trigger"] == (1, 1, 0)
    assert covered["date"] == (1, 0, 1)
    assert covered["mechanism"] == (0, 0, 2)
    assert (every.records, every.durations[2].n) == (3, 2)
    assert list(answer.to_json()) == [
        "records", "organisations", "bilingual", "status", "source_kinds", "facets", "durations", "coverage",
    ]  # fmt: skip


def test_two_facets_side_by_side():
    with library(*DOCUMENTS) as store:
        matrix = cooccurrence(store, "cause", "component", audience="public", vocabulary=VOCABULARY)
        short = cooccurrence(store, "component", "cause", audience="public", vocabulary=VOCABULARY, limit=1)
        with pytest.raises(UnknownTerm):
            cooccurrence(store, "colour", "component", audience="public", vocabulary=VOCABULARY)
        with pytest.raises(InvalidInput):
            cooccurrence(store, "cause", "component", audience="public", vocabulary=VOCABULARY, limit=0)
    assert (matrix.rows, matrix.columns) == (("software-bug",), ("ingress", "haproxy"))
    assert (matrix.cells, matrix.row_totals, matrix.column_totals, matrix.total) == (
        ((2, 1),),
        (2,),
        (2, 1),
        2,
    )
    assert (short.rows, short.cells) == (("ingress",), ((2,),))
    assert matrix.to_json()["rows"] == [
        {"slug": "software-bug", "label": {"en": "Software defect", "ko": "소프트웨어 결함"}, "n": 2}
    ]


def test_a_distribution_has_quartiles_and_no_mean():
    found = distribution("resolved_after", [60, 30, 7200, 600], of=9)
    assert (found.minimum, found.q1, found.median, found.q3, found.maximum) == (30, 52.5, 330, 2250, 7200)
    assert [(bucket.low, bucket.high, bucket.n) for bucket in found.buckets if bucket.n] == [
        (0, 60, 1), (60, 180, 1), (600, 1800, 1), (3600, 10_800, 1),
    ]  # fmt: skip
    assert "mean" not in found.to_json()
    assert quantile([], 0.5) is None
