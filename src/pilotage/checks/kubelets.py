"""Configurations of kubelets: files of their own, or in the ConfigMap from which kubeadm hands them out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from pilotage.checks.dialect import DialectError, load
from pilotage.checks.objects import KubeObject
from pilotage.checks.scene import Scene
from pilotage.checks.values import KeyPath, as_map, as_text

_KIND = "KubeletConfiguration"
_LONGEST = 100_000


class KubeletConfiguration(msgspec.Struct, frozen=True):
    """What kubelets are told.

    Attributes:
        holder: the object that it is, or that holds its text.
        path: the way to it inside of the holder.
        settings: what is set.
    """

    holder: KubeObject
    path: KeyPath
    settings: Mapping[str, Any]

    def place(self, key: str) -> KeyPath:
        """The way to a setting, as far as the holder has parts."""
        return self.path or (key,)


def kubelet_configurations(scene: Scene) -> Iterator[KubeletConfiguration]:
    """All of them in a scene."""
    for one in scene.of(_KIND):
        yield KubeletConfiguration(one, (), one.data)
    for one in scene.of("ConfigMap"):
        for key, value in as_map(one.get("data")).items():
            settings = _read(as_text(value))
            if settings.get("kind") == _KIND:
                yield KubeletConfiguration(one, ("data", key), settings)


def _read(text: str) -> Mapping[str, Any]:
    if f"kind: {_KIND}" not in text or len(text) > _LONGEST:
        return {}
    try:
        return as_map(load(text))
    except DialectError:
        return {}
