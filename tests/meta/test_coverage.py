"""Every incident of the library has a check, or a reason why it has none."""

from __future__ import annotations

from pilotage.checks.coverage import reasons
from pilotage.checks.registry import all_checks
from pilotage.library.shipped import bundled_files

INCIDENTS = {path.stem for path in bundled_files()}
CITED = {cited.id for one in all_checks().values() for cited in one.cited}


def test_every_incident_has_a_check_or_a_reason() -> None:
    assert not INCIDENTS - CITED - set(reasons())


def test_reasons_are_of_incidents_that_have_no_check() -> None:
    assert set(reasons()) <= INCIDENTS
    assert not set(reasons()) & CITED


def test_reasons_are_sentences() -> None:
    for id_, reason in reasons().items():
        assert reason.why.endswith("."), id_
        assert 30 < len(reason.why) < 160, id_
        assert reason.kind_means.endswith(".")
