from __future__ import annotations

from pilotage.cli.main import exit_code
from pilotage.core.errors import ConfigError, NotFound, SafetyStop, StoreBusy, Unreachable, all_errors


def test_every_error_has_a_code_of_its_own_and_a_summary() -> None:
    codes = [error.code for error in all_errors()]
    assert len(codes) == len(set(codes))
    assert all(error.summary.endswith(".") for error in all_errors())


def test_the_tree_maps_to_the_documented_exit_codes() -> None:
    expected = {ConfigError: 2, NotFound: 2, Unreachable: 3, StoreBusy: 3, SafetyStop: 4}
    assert {kind: exit_code(kind("x")) for kind in expected} == expected
