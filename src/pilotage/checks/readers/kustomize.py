"""Kustomize folders read as they lie: a patch is a piece of an object and is not checked as one."""

from __future__ import annotations

import os
from collections.abc import Iterator

from pilotage.checks.objects import KubeObject
from pilotage.checks.readers.reading import Reading
from pilotage.checks.values import as_list, as_text, dig

PATCH = "Kustomize patch"
_CONTROL = {"Kustomization", "Component"}


def drop_patches(reading: Reading) -> None:
    """Takes the objects of patch files out, and counts them."""
    controls = [
        one for one in reading.objects if one.kind in _CONTROL and one.group == "kustomize.config.k8s.io"
    ]
    if not controls:
        return
    patches = {path for control in controls for path in _patch_files(control)}
    kept: list[KubeObject] = []
    for one in reading.objects:
        if os.path.normpath(one.file) in patches:
            reading.skipped[PATCH] += 1
        else:
            kept.append(one)
    reading.objects = kept


def _patch_files(control: KubeObject) -> Iterator[str]:
    folder = os.path.dirname(control.file)  # noqa: PTH120 - the name may be no path of this machine
    named = [as_text(item) for item in as_list(control.get("patchesStrategicMerge"))]
    for key in ("patches", "patchesJson6902"):
        named += [as_text(dig(item, "path")) for item in as_list(control.get(key))]
    for name in named:
        if name and "\n" not in name:
            yield os.path.normpath(os.path.join(folder, name))  # noqa: PTH118
