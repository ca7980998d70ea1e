"""Every check that is shipped, by family. A new family is one line here."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from types import ModuleType

from pilotage.checks.families import (
    api_versions,
    autoscaling,
    budgets,
    certificates,
    client_addresses,
    cloud_balancers,
    configuration,
    control_plane,
    controller_settings,
    coredns,
    coredns_files,
    cronjobs,
    delivery,
    dns,
    dns_records,
    edge_config,
    edge_memory,
    edge_shutdown,
    google_balancers,
    haproxy_balancing,
    haproxy_health,
    haproxy_leads,
    haproxy_limits,
    haproxy_names,
    haproxy_process,
    haproxy_requests,
    heaps,
    images,
    ingress_classes,
    ingress_nginx,
    ingress_paths,
    jobs,
    limits,
    network,
    nginx_files,
    nginx_files_limits,
    nginx_files_retries,
    node_settings,
    node_versions,
    placement,
    priorities,
    probes,
    quotas,
    readiness,
    repeated_keys,
    rollouts,
    route_references,
    routes_to_backends,
    scaling,
    schema,
    selectors,
    services,
    shutdown,
    stores,
    traffic_policies,
    webhook_backends,
    webhooks,
    withdrawn,
)
from pilotage.checks.model import Check

FAMILIES: tuple[ModuleType, ...] = (
    api_versions,
    autoscaling,
    budgets,
    certificates,
    client_addresses,
    cloud_balancers,
    configuration,
    control_plane,
    controller_settings,
    coredns,
    coredns_files,
    cronjobs,
    delivery,
    dns,
    dns_records,
    edge_config,
    edge_memory,
    edge_shutdown,
    google_balancers,
    haproxy_balancing,
    haproxy_health,
    haproxy_leads,
    haproxy_limits,
    haproxy_names,
    haproxy_process,
    haproxy_requests,
    heaps,
    images,
    ingress_classes,
    ingress_nginx,
    ingress_paths,
    jobs,
    limits,
    network,
    nginx_files,
    nginx_files_limits,
    nginx_files_retries,
    node_settings,
    node_versions,
    placement,
    priorities,
    probes,
    quotas,
    readiness,
    repeated_keys,
    rollouts,
    route_references,
    routes_to_backends,
    scaling,
    schema,
    selectors,
    services,
    shutdown,
    stores,
    traffic_policies,
    webhook_backends,
    webhooks,
    withdrawn,
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
