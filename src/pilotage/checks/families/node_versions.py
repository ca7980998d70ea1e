"""Nodes and versions: labels that an upgrade takes away, parts of a node that no longer fit together."""
# ruff: noqa: D205, D212, D416 - the docstring of a check is its page, in fixed sections

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

from pilotage.checks import components
from pilotage.checks.model import Answers, Confidence, Gap, NotApplicable, Pass, Severity, Unknown, check
from pilotage.checks.nodes import minor_version, on_openshift
from pilotage.checks.objects import KubeObject
from pilotage.checks.scene import Scene
from pilotage.checks.tables import read_table
from pilotage.checks.values import KeyPath, as_list, as_map, as_text, dig
from pilotage.checks.workloads import KINDS, Workload
from pilotage.core.regex import regex

REDDIT = "reddit-2023-03-14-pi-day-calico-route-reflectors"
CIRCLECI = "circleci-2023-03-14-kube-proxy-kubelet-skew"

_NEWEST_OLDER_KUBELET = 3
_FOLDER = regex(r"v?1\.([12]\d)(?:\.(?:\d+|x))?")
_AFFINITY = "DuringSchedulingIgnoredDuringExecution"


@functools.cache
def _table(key: str) -> dict[str, tuple[str, tuple[int, int] | None]]:
    """Name -> what replaces it, and the version from which it is gone."""
    data = read_table("data/node_labels.yaml")
    return {
        as_text(dig(row, "name")): (
            as_text(dig(row, "instead")),
            minor_version(as_text(dig(row, "removed_in"))),
        )
        for row in as_list(as_map(data).get(key))
    }


@check(
    "removed-node-label",
    title="Pods or network peers are picked by a node label that upgrades take away",
    severity=Severity.HIGH,
    breaks=True,
    incidents=(REDDIT,),
    about=(*KINDS, "BGPPeer"),
)
def removed_node_label(scene: Scene) -> Answers:
    """
    What it does
    Looks for node labels that Kubernetes took away or has deprecated (such as
    `node-role.kubernetes.io/master`, gone with 1.24) in `nodeSelector`, in required node affinity without a
    term for the new name, and in the selectors of Calico's BGPPeer. Labels that are only deprecated are of
    low severity. What is for OpenShift, by its images or its namespace, is left out: there the control plane
    keeps its old label. In a folder for an older version (`releases/v1.19/`) the severity is low.

    Why it matters
    The upgrade takes the label off the nodes. Nothing is refused and nothing warns: the selector just
    matches no node any more. New pods stay pending, peers lose each other.

    Incidents
    At Reddit the nodes that reflect Calico's routes were picked by the master label. An upgrade removed it,
    the routes of the whole cluster were dropped, and Reddit was down for more than five hours.

    Fix
    Select by the new label, such as `node-role.kubernetes.io/control-plane`, before the upgrade.

    References
    -
      https://github.com/kubernetes/enhancements/tree/master/keps/sig-cluster-lifecycle/kubeadm/2067-rename-master-label-taint
    - https://kubernetes.io/docs/reference/labels-annotations-taints/
    """
    for peer in scene.of("BGPPeer"):
        yield _label_answer(scene, peer, list(_peer_labels(peer)))
    for workload in scene.workloads:
        if (workload.pod.get("nodeSelector") or workload.pod.get("affinity")) and not on_openshift(workload):
            yield _label_answer(scene, workload.object, list(_pod_labels(workload)))


def _label_answer(scene: Scene, one: KubeObject, found: list[tuple[KeyPath, str]]) -> Gap | Pass:
    known = _table("labels")
    gone = [
        item
        for item in found
        if (since := known[item[1]][1]) is not None
        and since <= scene.version
        and not _lies_by_version(one, since)
    ]
    if not found:
        return Pass(one)
    path, label = (gone or found)[0]
    instead, since = known[label]
    fate = f"no node has since Kubernetes {since[0]}.{since[1]}" if gone and since else "is deprecated"
    return Gap(
        one,
        f"It selects nodes by `{label}`, which {fate}; the new name is `{instead}`",
        path,
        evidence=tuple(f"{label}" for _, label in found),
        fix=f"Select by `{instead}` instead.",
        severity=None if gone else Severity.LOW,
        confidence=Confidence.HIGH if gone else Confidence.MEDIUM,
    )


def _lies_by_version(one: KubeObject, since: tuple[int, int]) -> bool:
    """Whether it lies in a folder for a version that still has the label or the taint: `releases/v1.19/`."""
    versions = (_FOLDER.fullmatch(folder) for folder in one.file.split("/")[:-1])
    return any(found is not None and (1, int(found[1])) < since for found in versions)


def _pod_labels(workload: Workload) -> Iterator[tuple[KeyPath, str]]:
    known = _table("labels")
    selector = (*workload.pod_path, "nodeSelector")
    for key in as_map(workload.pod.get("nodeSelector")):
        if key in known:
            yield (*selector, key), key
    path: KeyPath = (
        *workload.pod_path,
        "affinity",
        "nodeAffinity",
        f"required{_AFFINITY}",
        "nodeSelectorTerms",
    )
    terms = as_list(workload.object.get(*path))
    # Terms are alternatives: one of them with the new name is enough.
    if any(not any(_needs(term)) for term in terms):
        return
    for place, term in enumerate(terms):
        for position, key in _needs(term):
            yield (*path, place, "matchExpressions", position, "key"), key


def _needs(term: Any) -> Iterator[tuple[int, str]]:
    known = _table("labels")
    for position, item in enumerate(as_list(dig(term, "matchExpressions"))):
        key = dig(item, "key")
        if isinstance(key, str) and key in known and as_text(dig(item, "operator")) in {"In", "Exists"}:
            yield position, key


def _peer_labels(peer: KubeObject) -> Iterator[tuple[KeyPath, str]]:
    for key in ("nodeSelector", "peerSelector"):
        text = as_text(peer.spec.get(key))
        for label, (instead, _) in _table("labels").items():
            if label in text and instead not in text:
                yield ("spec", key), label


@check(
    "removed-node-taint",
    title="Agents leave control-plane nodes, since they tolerate only the old taint",
    severity=Severity.MEDIUM,
    breaks=True,
    incidents=(),
    alike=(REDDIT,),
    about=("DaemonSet",),
)
def removed_node_taint(scene: Scene) -> Answers:
    """
    What it does
    Looks for DaemonSets that tolerate the taint `node-role.kubernetes.io/master` (gone with Kubernetes 1.25)
    and not its successor `node-role.kubernetes.io/control-plane`. OpenShift, which keeps the old one, is left
    out, and so is what lies in a folder for an older version (`releases/v1.19/`).

    Why it matters
    Somebody wanted the agent on every node. After the upgrade it is on the workers only: the network, the
    logs or the metrics of the control-plane nodes are missing, and nothing reports it, since the DaemonSet
    counts only the nodes that it tolerates.

    Incidents
    At Reddit an upgrade took the master label off the nodes, and the network of the cluster hung on it. The
    taint of that name went the same way one version later.

    Fix
    Tolerate `node-role.kubernetes.io/control-plane` too, or all taints with `operator: Exists`.

    References
    -
      https://github.com/kubernetes/enhancements/tree/master/keps/sig-cluster-lifecycle/kubeadm/2067-rename-master-label-taint
    """
    for workload in scene.workloads:
        if workload.kind != "DaemonSet" or on_openshift(workload):
            continue
        tolerations = as_list(workload.pod.get("tolerations"))
        keys = {as_text(dig(item, "key")) for item in tolerations}
        for old, (instead, since) in _table("taints").items():
            if old not in keys or "" in keys or instead in keys:
                yield Pass(workload.object)
                continue
            if since is None or since > scene.version or _lies_by_version(workload.object, since):
                yield NotApplicable(workload.object, "the version in mind still has the taint")
                continue
            place = next(n for n, item in enumerate(tolerations) if dig(item, "key") == old)
            yield Gap(
                workload.object,
                f"It tolerates `{old}`, which no node has since Kubernetes {since[0]}.{since[1]}, and not "
                f"`{instead}`",
                (*workload.pod_path, "tolerations", place),
                evidence=(f"tolerations: {', '.join(sorted(keys))}",),
            )


@check(
    "skew-kubelet-proxy",
    title="kube-proxy and kubelet of one node are of different versions",
    severity=Severity.HIGH,
    breaks=True,
    incidents=(CIRCLECI,),
    about=("DaemonSet",),
    needs=("Node",),
)
def skew_kubelet_proxy(scene: Scene) -> Answers:
    """
    What it does
    Compares the version of kube-proxy (the tag of its image in a DaemonSet) with the kubelet's of each Node
    of the scene, by minor version. Files seldom hold Nodes, so this is mostly for a cluster.

    Why it matters
    Both write rules into the same tables of the node's kernel. When their format differs, one spoils what
    the other wrote; a node with spoilt rules looks healthy and routes to pods that are gone.

    Incidents
    At CircleCI an upgrade in steps left kube-proxy and kubelet in different versions. Rules were corrupted,
    Services did not reach each other, and no jobs started until every node had been restarted.

    Fix
    Upgrade kube-proxy together with the kubelet of a node; finish a half-done upgrade before the next step.

    References
    - https://kubernetes.io/releases/version-skew-policy/#kube-proxy
    """
    for workload in scene.workloads:
        if workload.kind != "DaemonSet" or not _runs_proxy(workload):
            continue
        image = next(one.image for one in workload.running if "kube-proxy" in one.image)
        version = minor_version(components.image_tag(image))
        kubelets = [(node, seen) for node in scene.of("Node") if (seen := _kubelet(node)) is not None]
        if version is None:
            yield Unknown(f"the version of `{image}` cannot be read", workload.object)
        elif not kubelets:
            yield NotApplicable(workload.object, "the scene holds no nodes with a version")
        elif all(seen == version for _, seen in kubelets):
            yield Pass(workload.object)
        else:
            other = [(node, seen) for node, seen in kubelets if seen != version]
            node, seen = other[0]
            yield Gap(
                workload.object,
                f"kube-proxy is {version[0]}.{version[1]}, the kubelet of {len(other)} of {len(kubelets)} "
                f"nodes is not: {seen[0]}.{seen[1]} on {node.name}",
                workload.pod_path,
                evidence=(f"image: {image}", f"{node.key}: kubelet {as_text(_info(node))}"),
                related=(node,),
            )


def _runs_proxy(workload: Workload) -> bool:
    return any(
        "kube-proxy" in one.image and "network-agent" in components.container_roles(one)
        for one in workload.running
    )


def _info(node: KubeObject) -> Any:
    return node.get("status", "nodeInfo", "kubeletVersion")


def _kubelet(node: KubeObject) -> tuple[int, int] | None:
    return minor_version(as_text(_info(node)))


@check(
    "skew-kubelet-api-server",
    title="A node's kubelet is too old, or newer than the API server",
    severity=Severity.HIGH,
    breaks=True,
    incidents=(),
    alike=(CIRCLECI,),
    about=("Node",),
)
def skew_kubelet_api_server(scene: Scene) -> Answers:
    """
    What it does
    Compares the kubelet's version of each Node with the Kubernetes version of the cluster (in files: with
    `--kubernetes`). A kubelet may be up to three minor versions older, and never newer.

    Why it matters
    Outside of that range nothing is tested: pods may fail to start or to report, in ways that nobody else
    has. A control plane that was upgraded past its nodes leaves no supported way forward for them.

    Incidents
    At CircleCI versions of parts that must fit together did not, after a half-done upgrade, and jobs stopped
    starting. There it was kube-proxy; the mechanism is the same.

    Fix
    Upgrade the nodes, oldest first, before the control plane goes up again; never nodes before the control
    plane.

    References
    - https://kubernetes.io/releases/version-skew-policy/#kubelet
    """
    for node in scene.of("Node"):
        seen = _kubelet(node)
        if seen is None:
            yield Unknown("the node tells no kubelet version", node)
            continue
        behind = scene.version[1] - seen[1]
        if seen[0] == scene.version[0] and 0 <= behind <= _NEWEST_OLDER_KUBELET:
            yield Pass(node)
            continue
        how = "newer than" if behind < 0 else f"{behind} minor versions behind"
        yield Gap(
            node,
            f"Its kubelet is {how} Kubernetes {scene.version[0]}.{scene.version[1]}",
            ("status", "nodeInfo", "kubeletVersion"),
            evidence=(f"status.nodeInfo.kubeletVersion: {_info(node)}",),
            confidence=Confidence.HIGH if scene.live else Confidence.LOW,
        )


CHECKS = (removed_node_label, removed_node_taint, skew_kubelet_api_server, skew_kubelet_proxy)
