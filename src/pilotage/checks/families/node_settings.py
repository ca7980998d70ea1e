"""Nodes as they are set up: images that change by themselves, limits of the agent that runs the pods."""
# ruff: noqa: D205, D212, D416 - the docstring of a check is its page, in fixed sections

from __future__ import annotations

from collections.abc import Iterator

from pilotage.checks.kubelets import kubelet_configurations
from pilotage.checks.model import Answers, Confidence, Gap, Pass, Severity, check
from pilotage.checks.objects import KubeObject
from pilotage.checks.scene import Scene
from pilotage.checks.values import KeyPath, as_int, as_list, as_text, dig

KUBE2IAM = "zalando-2019-06-11-kubelet-qps-iam-credentials"
DFDS_AMI = "dfds-2022-10-31-bad-eks-ami-pleg"
HEROKU = "heroku-2025-06-10-unattended-upgrade-lost-routes"
DATADOG = "datadog-2023-03-08-systemd-update-removed-cilium-routes"

_FEW_A_SECOND = 10
_USUAL = ((1, 27), 50, 5)
"""The version from which a kubelet that is told nothing may ask more, how much, and how much before."""


@check(
    "kubelet-api-qps-low",
    title="A kubelet may tell the API server of few changes a second",
    severity=Severity.MEDIUM,
    incidents=(KUBE2IAM,),
    about=("KubeletConfiguration", "ConfigMap"),
)
def kubelet_api_qps_low(scene: Scene) -> Answers:
    """
    What it does
    Reads `kubeAPIQPS` of KubeletConfigurations, files of their own or in the ConfigMap of kubeadm, and speaks
    up at 10 a second or less. Where nothing is written the default counts: 50, and 5 before Kubernetes 1.27.

    Why it matters
    The kubelet holds its own requests back. Where many pods come and go on one node, the status of pods, and
    with it their address and their readiness, reaches the API server minutes late: Services send requests to
    pods that are gone and none to those that are ready, and whatever waits for an address waits.

    Incidents
    At Zalando all build pods met on one node after a change of size. Its kubelet could make 5 requests a
    second, told their addresses minutes late, and without an address they got no credentials: builds failed
    for almost an hour. Raising the limit to 50 was the remedy.

    Fix
    Set `kubeAPIQPS: 50` and `kubeAPIBurst: 100`, or leave both out from Kubernetes 1.27 on.

    References
    - https://kubernetes.io/docs/reference/config-api/kubelet-config.v1beta1/
    """
    since, now, before = _USUAL
    for one in kubelet_configurations(scene):
        stated = as_int(one.settings.get("kubeAPIQPS"))
        usual = now if scene.version >= since else before
        allowed = usual if stated is None else stated
        if allowed > _FEW_A_SECOND:
            yield Pass(one.holder)
            continue
        default = " by default" if stated is None else ""
        yield Gap(
            one.holder,
            f"The kubelet may make {allowed} requests a second{default}",
            one.place("kubeAPIQPS"),
            evidence=(f"kubeAPIQPS: {stated if stated is not None else 'absent'}",),
        )


@check(
    "node-image-moves",
    title="Nodes take up whichever image is newest, and nobody decides when",
    severity=Severity.MEDIUM,
    incidents=(DFDS_AMI,),
    alike=(HEROKU, DATADOG),
    about=("EC2NodeClass",),
)
def node_image_moves(scene: Scene) -> Answers:
    """
    What it does
    Looks for EC2NodeClasses of Karpenter that name their machine image by an alias at `@latest`, by a name
    with `*`, or not at all but by a family (which meant the latest before Karpenter 1.0).

    Why it matters
    A new image counts as drift. As soon as the vendor publishes one, Karpenter replaces node after node with
    it, in every cluster at the same time; a fault in it is on all of them before anybody has seen it, and
    going back needs a change, while the old image is known to nobody.

    Incidents
    At DFDS nodes were replaced daily from the newest image. One had a fault in its kernel, nodes turned
    NotReady and sockets piled up; modules could not name another image, so the way back began with new code.
    At Heroku and Datadog updates of the system that nobody had released took the network of all hosts.

    Fix
    Pin the version in the alias (`al2023@v20250505`) or the image by its id, and raise it in one cluster
    first, days before the others.

    References
    - https://karpenter.sh/docs/tasks/managing-amis/
    """
    for one in scene.of("EC2NodeClass"):
        moving = list(_moving(one))
        if not moving:
            yield Pass(one)
            continue
        path, what = moving[0]
        yield Gap(
            one,
            f"Its nodes get the newest image: {what}",
            path,
            evidence=tuple(text for _, text in moving),
            confidence=Confidence.HIGH if "@latest" in what else Confidence.MEDIUM,
        )


def _moving(one: KubeObject) -> Iterator[tuple[KeyPath, str]]:
    terms = as_list(one.spec.get("amiSelectorTerms"))
    family = as_text(one.spec.get("amiFamily"))
    if not terms and family not in {"", "Custom"}:
        yield ("spec", "amiFamily"), f"amiFamily: {family}, no amiSelectorTerms"
    for position, term in enumerate(terms):
        alias, name = as_text(dig(term, "alias")), as_text(dig(term, "name"))
        if alias.endswith("@latest"):
            yield ("spec", "amiSelectorTerms", position, "alias"), f"alias: {alias}"
        elif "*" in name:
            yield ("spec", "amiSelectorTerms", position, "name"), f"name: {name}"


CHECKS = (kubelet_api_qps_low, node_image_moves)
