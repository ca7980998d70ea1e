"""Kinds of volumes that a version of Kubernetes no longer mounts."""

from __future__ import annotations

from importlib.resources import files

import pytest
import yaml

from pilotage.checks.schema.gone_volumes import gone_provisioner, gone_volume, in_gone_volume
from pilotage.checks.values import KeyPath

IN_A_POD: KeyPath = ("spec", "volumes", 0, "rbd", "imageformat")


@pytest.mark.parametrize(("minor", "gone"), [(30, False), (31, True), (36, True)])
def test_a_volume_is_gone_from_a_version_on(minor: int, *, gone: bool) -> None:
    assert in_gone_volume(IN_A_POD, minor) is gone
    assert (gone_volume({"name": "data", "rbd": {}}, minor) is not None) is gone


@pytest.mark.parametrize(
    "path", [("spec", "storageos", "secretName"), ("spec", "template", "spec", "volumes", 1, "scaleIO", "a")]
)
def test_it_is_found_wherever_it_stands(path: KeyPath) -> None:
    found = gone_volume(path, 36)
    assert found is not None
    assert found.kind == path[-2]


@pytest.mark.parametrize(
    "path", [("metadata", "labels", "rbd"), ("spec", "volumes", 0, "nfs", "a"), ("data", "rbd")]
)
def test_another_place_tells_nothing(path: KeyPath) -> None:
    assert not in_gone_volume(path, 36)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("kubernetes.io/scaleio", "scaleIO"),
        ("kubernetes.io/rbd", "rbd"),
        ("kubernetes.io/aws-ebs", ""),
        ("rbd", ""),
        ("ceph.com/rbd", ""),
        ("", ""),
    ],
)
def test_a_provisioner_of_its_own_goes_with_it(name: str, kind: str) -> None:
    found = gone_provisioner(name, 36)
    assert (found.kind if found is not None else "") == kind


def test_a_provisioner_is_there_before_it_goes() -> None:
    assert gone_provisioner("kubernetes.io/rbd", 30) is None


@pytest.mark.parametrize("table", ["gone_volumes", "provisioners"])
def test_each_row_has_a_source(table: str) -> None:
    text = files("pilotage.checks.schema").joinpath(f"data/{table}.yaml").read_text("utf-8")
    rows = yaml.safe_load(text)
    assert rows
    assert all(row["source"].startswith("https://") for row in rows)
