"""Nodes: which of them may take the pods of a workload."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pilotage.checks.objects import KubeObject
from pilotage.checks.scene import Scene
from pilotage.checks.values import as_list, as_map, as_text, dig
from pilotage.checks.workloads import Workload
from pilotage.core.regex import regex

_OF_THIS_MINUTE = {
    *(f"node.kubernetes.io/{word}" for word in ("not-ready", "unreachable", "network-unavailable")),
    *(f"node.kubernetes.io/{word}-pressure" for word in ("memory", "disk", "pid")),
    "node.cloudprovider.kubernetes.io/uninitialized",
}
"""Taints that the control plane sets and takes away: a node that just starts bears one."""
_VERSION = regex(r"v?(\d+)\.(\d+)")


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


_CONTROL_PLANE = {"node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master"}


def on_control_plane_only(workload: Workload) -> bool:
    """Whether its pods run on nodes of the control plane only, of which there are a few."""
    if _CONTROL_PLANE & set(as_map(workload.pod.get("nodeSelector"))):
        return True
    terms = _node_terms(workload)
    return bool(terms) and all(
        any(
            dig(item, "key") in _CONTROL_PLANE and dig(item, "operator") in {"Exists", "In"}
            for item in as_list(dig(term, "matchExpressions"))
        )
        for term in terms
    )


def on_openshift(workload: Workload) -> bool:
    """Whether its pods are for OpenShift, whose control plane keeps its old label and taint."""
    images = (one.image for one in (*workload.containers, *workload.init_containers))
    return workload.object.namespace.startswith("openshift") or any(
        "openshift" in image or image.startswith("registry.redhat.io/") for image in images
    )


def which_nodes(workload: Workload) -> str:
    """The nodes that an agent runs on, as a part of a sentence."""
    if on_control_plane_only(workload):
        return "every node of the control plane"
    wanted = [key for key in as_map(workload.pod.get("nodeSelector")) if not key.endswith(("/os", "/arch"))]
    return "every node that it is for" if wanted or _node_terms(workload) else "every node"


def _node_terms(workload: Workload) -> list[Any]:
    strength = "requiredDuringSchedulingIgnoredDuringExecution"
    return as_list(dig(workload.pod, "affinity", "nodeAffinity", strength, "nodeSelectorTerms"))


class Room:
    """How many nodes of a scene take the pods of a workload; files seldom hold any node.

    In files a node counts for the workloads that it may belong to: one that is shown beside a chart tells
    nothing of the cluster that the chart goes to.

    Args:
        scene: where the nodes are.
    """

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._nodes = list(scene.of("Node"))
        self._known: dict[str, int] = {}

    def number(self, workload: Workload) -> int | None:
        """The number of nodes that take its pods; None where the scene holds none of its nodes."""
        # Most workloads ask for the same nodes, and there are many of both.
        wish = repr((workload.pod.get("nodeSelector"), workload.pod.get("tolerations"), _apart(workload)))
        if wish not in self._known:
            nodes = [node for node in self._nodes if self._scene.index.belong(workload.object, node)]
            self._known[wish] = sum(1 for node in nodes if may_take(node, workload)) if nodes else -1
        return None if self._known[wish] < 0 else self._known[wish]


def _apart(workload: Workload) -> tuple[str, str]:
    """What tells apart, in files, the workloads that nodes belong to."""
    one = workload.object
    return ("", "") if one.live else (one.file, one.application)
