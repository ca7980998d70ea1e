"""The editorial promises of the bundled corpus."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from pilotage.library.address import canonical_url
from pilotage.library.authoring.editorial import editorial_problems
from pilotage.library.authoring.known import known_slugs
from pilotage.library.authoring.validation import validate_paths
from pilotage.library.bundled import bundled_candidates
from pilotage.library.record import Record, read_record
from pilotage.library.shipped import bundled_files
from pilotage.library.terms import load_vocabulary, tags_of

FLAGSHIPS = (
    "skyscanner-2019-04-23-haproxy-ingress-hot-podding",
    "google-cloud-2017-04-05-https-load-balancer-stale-config",
    "elastic-2019-01-18-zookeeper-treecache-proxy-oom",
    "zalando-2018-09-07-iam-404-cronjob-api-server-oom",
)


@pytest.fixture(scope="module")
def records() -> dict[str, Record]:
    return {record.id: record for record in (read_record(one.document) for one in bundled_candidates())}


def test_the_corpus_is_clean() -> None:
    problems = validate_paths(
        bundled_files(), known_slugs(load_vocabulary()), check_links=True, editorial=True
    )
    assert [str(problem) for problem in problems] == []


def test_there_are_more_than_a_hundred_records_in_two_languages(records: dict[str, Record]) -> None:
    bilingual = [
        r for r in records.values() if r.title and r.summary and r.title.en and r.title.ko and r.summary.ko
    ]
    assert len(bilingual) == len(records) >= 104


def test_every_listed_report_has_its_record(records: dict[str, Record]) -> None:
    listed = Path(__file__).with_name("reported_incidents.txt").read_text().splitlines()
    wanted = {canonical_url(line) for line in listed if line and not line.startswith("#")}
    cited = {canonical_url(source.url) for record in records.values() for source in record.sources or []}
    assert wanted - cited == set()
    assert len(wanted) >= 90


def test_a_record_is_named_by_its_file(records: dict[str, Record]) -> None:
    assert sorted(records) == [path.stem for path in bundled_files()]


def test_a_number_that_no_fact_states_is_found(records: dict[str, Record]) -> None:
    record = records[FLAGSHIPS[0]]
    title = record.title
    assert title is not None
    wrong = record.model_copy(
        update={"title": title.model_copy(update={"en": "It took 4711 minutes", "ko": "4711분"})}
    )
    assert any("4711" in message for _, message in editorial_problems(wrong))
    assert editorial_problems(record) == []


def test_links_point_both_ways(records: dict[str, Record]) -> None:
    one_way = [
        (record.id, other)
        for record in records.values()
        for other in record.related or []
        if record.id not in (records[other].related or [])
    ]
    assert one_way == []


def test_every_link_made_by_hand_says_why(records: dict[str, Record]) -> None:
    silent = [
        (record.id, other)
        for record in records.values()
        for other in {*(record.related or []), *filter(None, [record.recurrence_of])}
        if other not in record.related_reasons
    ]
    assert silent == []


def test_no_term_but_a_domain_covers_more_than_a_third(records: dict[str, Record]) -> None:
    vocabulary = load_vocabulary()
    counts = Counter(tag for record in records.values() for tag in set(tags_of(record, vocabulary)))
    judged = {"component", "symptom", "root_cause", "contributing"}
    wide = {tag: n for tag, n in counts.items() if tag[0] in judged and 3 * n > len(records)}
    assert wide == {}


@pytest.mark.parametrize("name", FLAGSHIPS)
def test_a_flagship_record_is_told_in_depth(records: dict[str, Record], name: str) -> None:
    record = records[name]
    assert len(record.mechanism) >= 8
    assert record.summary is not None
    assert (record.summary.en or "").count("\n\n") >= 3
    assert len((record.lessons.en or "").split("\n\n")) >= 3 if record.lessons else False
    kinds = {step.kind for step in record.mechanism}
    assert {"trigger", "propagation", "containment"} <= kinds
