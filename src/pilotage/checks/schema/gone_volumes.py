"""Volumes whose fields matter no more, since no kubelet mounts that kind of volume."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from importlib import resources

from pilotage.checks.dialect import load
from pilotage.checks.values import KeyPath, as_int, as_list, as_text, dig


def gone_volume(path: KeyPath, minor: int) -> str:
    """The clause that a place lies in a volume of a kind that a version lacks; empty where it does not.

    Args:
        path: the way to a field.
        minor: the minor version of Kubernetes.
    """
    rows = _rows()
    kind = next((part for part in path if isinstance(part, str) and part in rows), "")
    if not kind or not {"volumes", "spec"} & set(path) or rows[kind] > minor:
        return ""
    return f"No kubelet mounts `{kind}` since 1.{rows[kind]}: take a CSI driver for that storage instead."


@functools.cache
def _rows() -> Mapping[str, int]:
    """Kind of volume -> the minor version in which it went."""
    text = resources.files("pilotage.checks.schema").joinpath("data/gone_volumes.yaml").read_text("utf-8")
    return {as_text(dig(row, "kind")): as_int(dig(row, "gone")) or 0 for row in as_list(load(text))}
