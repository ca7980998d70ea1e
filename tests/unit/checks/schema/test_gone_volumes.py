"""Kinds of volumes that a version of Kubernetes no longer mounts."""

from __future__ import annotations

from importlib.resources import files

import pytest
import yaml

from pilotage.checks.schema.gone_volumes import gone_volume
from pilotage.checks.values import KeyPath

IN_A_POD: KeyPath = ("spec", "volumes", 0, "rbd", "imageformat")


@pytest.mark.parametrize(("minor", "gone"), [(30, False), (31, True), (36, True)])
def test_a_volume_is_gone_from_a_version_on(minor: int, *, gone: bool) -> None:
    assert bool(gone_volume(IN_A_POD, minor)) is gone


@pytest.mark.parametrize(
    "path", [("spec", "storageos", "secretName"), ("spec", "template", "spec", "volumes", 1, "scaleIO", "a")]
)
def test_it_is_found_wherever_it_stands(path: KeyPath) -> None:
    assert gone_volume(path, 36).startswith(f"No kubelet mounts `{path[-2]}`")


@pytest.mark.parametrize(
    "path", [("metadata", "labels", "rbd"), ("spec", "volumes", 0, "nfs", "a"), ("data", "rbd")]
)
def test_another_place_tells_nothing(path: KeyPath) -> None:
    assert gone_volume(path, 36) == ""


@pytest.mark.parametrize("table", ["gone_volumes", "provisioners"])
def test_each_row_has_a_source(table: str) -> None:
    text = files("pilotage.checks.schema").joinpath(f"data/{table}.yaml").read_text("utf-8")
    rows = yaml.safe_load(text)
    assert rows
    assert all(row["source"].startswith("https://") for row in rows)
