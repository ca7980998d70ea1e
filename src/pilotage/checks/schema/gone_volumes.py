"""Kinds of volumes that the API still knows and that no kubelet mounts any more."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping

import msgspec

from pilotage.checks.tables import read_table
from pilotage.checks.values import KeyPath, as_int, as_list, as_text, dig


class GoneVolume(msgspec.Struct, frozen=True):
    """A row of `data/gone_volumes.yaml`.

    Attributes:
        kind: the field that holds such a volume.
        gone: the minor version in which it went.
        driver: the CSI driver for that storage; empty where there is none.
    """

    kind: str
    gone: int
    driver: str


def gone_volume(keys: Iterable[object], minor: int) -> GoneVolume | None:
    """The kind of volume among some fields that a version lacks; None for none.

    Args:
        keys: fields of a volume, or the way to one of its fields.
        minor: the minor version of Kubernetes.
    """
    found = (row for key in keys if isinstance(key, str) and (row := _rows().get(key)) is not None)
    return next((row for row in found if row.gone <= minor), None)


def gone_provisioner(name: str, minor: int) -> GoneVolume | None:
    """The same for the provisioner that a StorageClass names."""
    inside = name.removeprefix("kubernetes.io/")
    return next(
        (row for row in _rows().values() if row.kind.lower() == inside != name and row.gone <= minor), None
    )


def in_gone_volume(path: KeyPath, minor: int) -> bool:
    """Whether a place lies in a volume of a kind that a version lacks."""
    return bool({"volumes", "spec"} & set(path)) and gone_volume(path, minor) is not None


@functools.cache
def _rows() -> Mapping[str, GoneVolume]:
    """Kind of volume -> its row."""
    return {
        (kind := as_text(dig(row, "kind"))): GoneVolume(
            kind, as_int(dig(row, "gone")) or 0, as_text(dig(row, "driver"))
        )
        for row in as_list(read_table("schema/data/gone_volumes.yaml"))
    }
