from __future__ import annotations

import pytest

from pilotage.library.bundled import ORIGIN, bundled_candidates, bundled_files
from pilotage.library.record import read_record


@pytest.fixture(scope="module")
def candidates():
    return list(bundled_candidates())


def test_each_file_is_one_record_of_its_name(candidates) -> None:
    assert len(candidates) == len(bundled_files()) >= 100
    for path, candidate in zip(bundled_files(), candidates, strict=True):
        assert path.stem == candidate.document["id"]
        assert candidate.place == path.name
        assert candidate.format == ORIGIN


def test_every_record_is_public_and_speaks_both_languages(candidates) -> None:
    for candidate in candidates:
        record = read_record(candidate.document, where=candidate.place)
        assert record.visibility == "public", record.id
        assert record.title is not None
        assert record.title.en, record.id
        assert record.title.ko, record.id


def test_links_lead_to_records_that_are_there(candidates) -> None:
    records = [read_record(candidate.document) for candidate in candidates]
    known = {name for record in records for name in (record.id, *record.aliases)}
    assert len(known) == len(records) + sum(len(record.aliases) for record in records)
    for record in records:
        linked = {*(record.related or []), *record.related_reasons, record.recurrence_of} - {None}
        assert linked <= known, record.id


def test_progress_sums_up_to_the_size_of_the_files() -> None:
    told: list[int] = []
    assert list(bundled_candidates(told.append))
    assert sum(told) == sum(path.stat().st_size for path in bundled_files())
