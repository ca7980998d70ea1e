"""What a namespace allows its pods and what they ask for: ResourceQuota, LimitRange, requests and limits."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

import msgspec

from pilotage.checks.index import SHARED
from pilotage.checks.objects import KubeObject
from pilotage.checks.scene import Scene
from pilotage.checks.values import as_list, as_map, as_text, dig, percent_or_count, quantity
from pilotage.checks.workloads import Container, Workload

RESOURCES = {
    "pods": ("pods", ""),
    "count/pods": ("pods", ""),
    "cpu": ("requests", "cpu"),
    "requests.cpu": ("requests", "cpu"),
    "memory": ("requests", "memory"),
    "requests.memory": ("requests", "memory"),
    "limits.cpu": ("limits", "cpu"),
    "limits.memory": ("limits", "memory"),
}
"""Keys of `spec.hard` that pods use up, as (requests | limits | pods, resource)."""


class Quota(msgspec.Struct, frozen=True):
    """One bound of a ResourceQuota.

    Attributes:
        object: the ResourceQuota.
        key: the key in `spec.hard`.
        hard: how much there is.
    """

    object: KubeObject
    key: str
    hard: Decimal

    def per_pod(self, scene: Scene, workload: Workload) -> Decimal | None:
        """What one pod of a workload uses up of it; None where that is not written down."""
        side, resource = RESOURCES[self.key]
        if side == "pods":
            return Decimal(1)
        return pod_amount(scene, workload, side, resource)


def quotas_over(scene: Scene, workload: Workload) -> Iterator[Quota]:
    """The bounds that every pod of a workload's namespace falls under; quotas with a scope are left out."""
    for one in scene.beside(workload.object, "ResourceQuota"):
        if surely_applied(scene, one):
            yield from bounds_of(one)


def surely_applied(scene: Scene, one: KubeObject) -> bool:
    """Whether an object goes with what lies beside it: not where files of one folder show one thing each."""
    if one.live or one.namespace not in SHARED or one.application:
        return True
    return one.file.rpartition("/")[0] not in scene.index.choices


def bounds_of(one: KubeObject) -> Iterator[Quota]:
    """The bounds of a ResourceQuota that pods use up; none where it has a scope."""
    if one.spec.get("scopes") or one.spec.get("scopeSelector"):
        return
    for key, value in as_map(one.spec.get("hard")).items():
        hard = quantity(value)
        if key in RESOURCES and hard is not None:
            yield Quota(one, key, hard)


def limit_default(scene: Scene, one: KubeObject, side: str, resource: str) -> Decimal | None:
    """What a LimitRange of the namespace writes into containers without a value of their own.

    Args:
        scene: where to look.
        one: an object of the namespace.
        side: `requests` or `limits`.
        resource: `cpu`, `memory` ….
    """
    keys = ("default",) if side == "limits" else ("defaultRequest", "default")
    for ranges in scene.beside(one, "LimitRange"):
        for item in as_list(ranges.spec.get("limits")):
            if as_text(dig(item, "type")) != "Container":
                continue
            for key in keys:
                if (found := quantity(dig(item, key, resource))) is not None:
                    return found
    return None


def container_amount(scene: Scene, container: Container, side: str, resource: str) -> Decimal | None:
    """The request or limit that a container gets in the end; None where it gets none."""
    stated = container.request(resource) if side == "requests" else container.limit(resource)
    return stated if stated is not None else limit_default(scene, container.workload.object, side, resource)


def pod_amount(scene: Scene, workload: Workload, side: str, resource: str) -> Decimal | None:
    """The sum over the containers that run beside each other; None where one has no value.

    Init containers that end are smaller nearly always, so they are not counted: the sum is a lower bound.
    """
    total = Decimal(0)
    for container in workload.running:
        amount = container_amount(scene, container, side, resource)
        if amount is None:
            return None
        total += amount
    return total


def surge_and_unavailable(workload: Workload, replicas: int) -> tuple[int, int] | None:
    """How many pods a rolling update of a Deployment adds and takes away; None where it does neither."""
    if workload.kind != "Deployment" or workload.strategy != "RollingUpdate":
        return None
    rolling = as_map(workload.object.get("spec", "strategy", "rollingUpdate"))
    surge = percent_or_count(rolling.get("maxSurge", "25%"), replicas, round_up=True)
    away = percent_or_count(rolling.get("maxUnavailable", "25%"), replicas, round_up=False)
    if surge is None or away is None:
        return None
    # The controller lets one go where both come out as nothing, else it could not move.
    return (surge, 1) if surge == 0 and away == 0 else (surge, away)
