"""Every check that is shipped, by family. A new family is one line here."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from types import ModuleType

from pilotage.checks.families import (
    api_versions,
    autoscaling,
    configuration,
    control_plane,
    cronjobs,
    delivery,
    images,
    jobs,
    limits,
    network,
    node_versions,
    placement,
    priorities,
    probes,
    quotas,
    readiness,
    repeated_keys,
    rollouts,
    scaling,
    schema,
    services,
    shutdown,
    stores,
    webhook_backends,
    webhooks,
)
from pilotage.checks.model import Check

FAMILIES: tuple[ModuleType, ...] = (
    api_versions,
    autoscaling,
    configuration,
    control_plane,
    cronjobs,
    delivery,
    images,
    jobs,
    limits,
    network,
    node_versions,
    placement,
    priorities,
    probes,
    quotas,
    readiness,
    repeated_keys,
    rollouts,
    scaling,
    schema,
    services,
    shutdown,
    stores,
    webhook_backends,
    webhooks,
)


def gather(families: Iterable[ModuleType]) -> dict[str, Check]:
    """The checks of some families by id.

    Raises:
        ValueError: two checks have one id.
    """
    found: dict[str, Check] = {}
    for family in families:
        for one in family.CHECKS:
            if one.id in found:
                raise ValueError(f"check {one.id} is in {found[one.id].family} and in {one.family}")
            found[one.id] = one
    return dict(sorted(found.items()))


@functools.cache
def all_checks() -> Mapping[str, Check]:
    """Every check by id."""
    return gather(FAMILIES)
