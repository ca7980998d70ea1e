"""Environments in which people try things, by names of files and folders."""

from __future__ import annotations

import pytest

from pilotage.checks.environments import for_development


@pytest.mark.parametrize(
    "name",
    [
        "overlays/dev/web.yaml",
        "deploy/web-dev.yaml",
        "dev.yaml",
        "hack/kind/web.yaml",
        "Local/web.yml",
        "a\\dev\\b.yaml",
    ],
)
def test_for_development(name: str) -> None:
    assert for_development(name)


@pytest.mark.parametrize(
    "name",
    [
        "overlays/prod/web.yaml",
        "devices/web.yaml",
        "deploy/local-path.yaml",
        "kinds.yaml",
        "web.dev",
        "/srv/dev/shop/web.yaml",
        "C:/dev/web.yaml",
        "-",
        "",
    ],
)
def test_for_use(name: str) -> None:
    assert not for_development(name)
