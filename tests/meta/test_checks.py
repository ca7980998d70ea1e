"""Every check has its page, its fixtures and an incident that exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from meta.tree import ROOT
from pilotage.checks import families
from pilotage.checks.model import DOCUMENTATION_ONLY, SECTIONS, Check, Severity, check
from pilotage.checks.registry import FAMILIES, all_checks, gather
from pilotage.library.shipped import bundled_files

FIXTURES = ROOT / "tests" / "golden" / "checks"
KNOWN = {path.stem for path in bundled_files()}
CHECKS = list(all_checks().values())
ID = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)+")


def test_every_family_is_listed() -> None:
    folder = Path(next(iter(families.__path__)))
    found = {path.stem for path in folder.glob("*.py")} - {"__init__"}
    assert found == {family.__name__.rpartition(".")[2] for family in FAMILIES}


def test_every_check_of_a_family_is_listed() -> None:
    for family in FAMILIES:
        made = {value.id for value in vars(family).values() if isinstance(value, Check)}
        assert made == {one.id for one in family.CHECKS}, family.__name__


def test_an_id_that_is_taken_is_refused() -> None:
    with pytest.raises(ValueError, match="is in"):
        gather([FAMILIES[0], FAMILIES[0]])


@pytest.mark.parametrize("one", CHECKS, ids=lambda one: one.id)
def test_check_is_complete(one: Check) -> None:
    assert ID.fullmatch(one.id)
    assert not one.title.endswith(".")
    assert len(one.title) <= 90
    assert one.about
    assert tuple(one.page) == SECTIONS
    for section in ("What it does", "Why it matters", "Incidents", "Fix"):
        assert one.page[section].rstrip().endswith((".", ")", "`", ":")), section
    assert one.references, "a reference is an address"
    assert {cited.id for cited in one.cited} <= KNOWN
    assert one.chart_severity is None or one.chart_severity.rank < one.severity.rank


@pytest.mark.parametrize("one", CHECKS, ids=lambda one: one.id)
def test_check_has_fixtures(one: Check) -> None:
    names = [path.name for path in (FIXTURES / one.id).glob("*")]
    assert sum(name.startswith("ok-") for name in names) >= 2
    assert sum(name.startswith("bad-") for name in names) >= 2
    assert any(name.startswith("near-") for name in names)
    assert "expected.json" in names


def test_fixtures_belong_to_checks() -> None:
    assert {path.name for path in FIXTURES.iterdir()} <= {one.id for one in CHECKS}


def test_a_page_without_its_sections_is_refused() -> None:
    @check("some-check", title="x", severity=Severity.LOW, incidents=DOCUMENTATION_ONLY, about=("Pod",))
    def some_check(_: object):
        """Too short."""
        yield from ()

    with pytest.raises(ValueError, match="sections"):
        assert some_check.page


def test_a_check_without_incident_says_so() -> None:
    with pytest.raises(ValueError, match="DOCUMENTATION_ONLY"):
        check("some-check", title="x", severity=Severity.LOW, incidents=(), about=("Pod",))(
            lambda _: iter(())
        )
