"""Nodes: which of them may take the pods of a workload."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pilotage.checks.objects import KubeObject
from pilotage.checks.scene import Scene
from pilotage.checks.values import as_list, as_map, as_text, dig
from pilotage.checks.workloads import Workload

_OF_THIS_MINUTE = {
    *(f"node.kubernetes.io/{word}" for word in ("not-ready", "unreachable", "network-unavailable")),
    *(f"node.kubernetes.io/{word}-pressure" for word in ("memory", "disk", "pid")),
    "node.cloudprovider.kubernetes.io/uninitialized",
}
"""Taints that the control plane sets and takes away: a node that just starts bears one."""
_VERSION = re.compile(r"v?(\d+)\.(\d+)")


def minor_version(text: str) -> tuple[int, int] | None:
    """(major, minor) of `v1.34.2`, of an image's tag or of a kubelet; None where it is none."""
    match = _VERSION.match(text)
    return (int(match[1]), int(match[2])) if match is not None else None


def tolerates(workload: Workload, taint: Mapping[str, Any]) -> bool:
    """Whether the pods of a workload may go where a taint is."""
    for item in as_list(workload.pod.get("tolerations")):
        key, operator = as_text(dig(item, "key")), as_text(dig(item, "operator")) or "Equal"
        effect = as_text(dig(item, "effect"))
        if effect and effect != as_text(taint.get("effect")):
            continue
        if operator == "Exists" and key in {"", as_text(taint.get("key"))}:
            return True
        if key == as_text(taint.get("key")) and dig(item, "value") == taint.get("value"):
            return True
    return False


def may_take(node: KubeObject, workload: Workload) -> bool:
    """Whether a node takes pods of a workload, by its cordon, its taints and the pods' `nodeSelector`."""
    if node.spec.get("unschedulable") is True:
        return False
    for taint in as_list(node.spec.get("taints")):
        hard = as_text(dig(taint, "effect")) in {"NoSchedule", "NoExecute"}
        if (
            hard
            and as_text(dig(taint, "key")) not in _OF_THIS_MINUTE
            and not tolerates(workload, as_map(taint))
        ):
            return False
    wanted = as_map(workload.pod.get("nodeSelector"))
    return all(str(node.labels.get(key)) == str(value) for key, value in wanted.items())


class Room:
    """How many nodes of a scene take the pods of a workload; files seldom hold any node.

    Args:
        scene: where the nodes are.
    """

    def __init__(self, scene: Scene) -> None:
        self._nodes = list(scene.of("Node"))
        self._known: dict[str, int] = {}

    @property
    def known(self) -> bool:
        """Whether the scene holds nodes at all."""
        return bool(self._nodes)

    def number(self, workload: Workload) -> int:
        """The number of nodes that take its pods."""
        # Most workloads ask for the same nodes, and there are many of both.
        wish = repr((workload.pod.get("nodeSelector"), workload.pod.get("tolerations")))
        if wish not in self._known:
            self._known[wish] = sum(1 for node in self._nodes if may_take(node, workload))
        return self._known[wish]
