"""Patterns of paths, as in ignore files."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pilotage.checks.rules.patterns import path_matches


@pytest.mark.parametrize(
    ("glob", "path"),
    [
        ("*.yaml", "a.yaml"),
        ("*.yaml", "deep/er/a.yaml"),
        ("vendor", "vendor/x/a.yaml"),
        ("vendor/", "deploy/vendor/a.yaml"),
        ("deploy/*", "deploy/a.yaml"),
        ("deploy/*", "deploy/sub/a.yaml"),
        ("deploy/**", "deploy/sub/a.yaml"),
        ("deploy/**/a.yaml", "deploy/a.yaml"),
        ("**/ci/**", "charts/shop/ci/a.yaml"),
        ("./deploy/a.yaml", "deploy/a.yaml"),
        ("/deploy/a.yaml", "deploy/a.yaml"),
        ("a?.yaml", "ab.yaml"),
        ("[ab].yaml", "b.yaml"),
        ("[!ab].yaml", "c.yaml"),
        ("../shared/*.yaml", "../shared/a.yaml"),
        ("[", "["),
        ("a[b", "a[b"),
    ],
)
def test_matches(glob: str, path: str) -> None:
    assert path_matches(path, glob)


@pytest.mark.parametrize(
    ("glob", "path"),
    [
        ("deploy/*.yaml", "deploy/sub/a.yaml"),
        ("deploy/*.yaml", "other/deploy/a.yaml"),
        ("vendor", "vendors/a.yaml"),
        ("*.yaml", "a.yml"),
        ("[!ab].yaml", "a.yaml"),
        ("a?.yaml", "a/.yaml"),
        ("deploy/**", "deploy"),
    ],
)
def test_matches_not(glob: str, path: str) -> None:
    assert not path_matches(path, glob)


@given(st.text(max_size=30), st.text(max_size=30))
def test_any_text_is_a_pattern(glob: str, path: str) -> None:
    assert path_matches(path, glob) in {True, False}
