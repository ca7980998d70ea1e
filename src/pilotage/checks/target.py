"""The Kubernetes version that manifests are meant for, as people write it."""

from __future__ import annotations

from pilotage.core.regex import regex

EXAMPLE = "1.34"
_VERSION = regex(r"v?(\d{1,3})\.(\d{1,3})(?:\.\d{1,3})?")


def read_target(text: str) -> tuple[int, int] | None:
    """Major and minor of `1.34`, `v1.34` or `1.34.2`; None for anything else."""
    match = _VERSION.fullmatch(text)
    return (int(match[1]), int(match[2])) if match is not None else None
