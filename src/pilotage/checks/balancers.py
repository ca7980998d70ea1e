"""Which Services get a balancer that the internet reaches."""

from __future__ import annotations

import ipaddress

from pilotage.checks.objects import KubeObject
from pilotage.checks.values import as_list, as_text

_AWS = "service.beta.kubernetes.io/aws-load-balancer-"
_INNER = (
    f"{_AWS}internal",
    f"{_AWS}scheme",
    "service.beta.kubernetes.io/azure-load-balancer-internal",
    "networking.gke.io/load-balancer-type",
    "cloud.google.com/load-balancer-type",
    "service.beta.kubernetes.io/openstack-internal-load-balancer",
    "service.beta.kubernetes.io/oci-load-balancer-internal",
    "service.kubernetes.io/ibm-load-balancer-cloud-provider-ip-type",
    "load-balancer.hetzner.cloud/disable-public-network",
)
_OPEN = {"", "false", "internet-facing", "external", "public"}
_OWN_NETWORKS = {"tailscale", "netbird"}
"""Classes of balancers that only members of a private network reach."""
_ADDRESSES = ("metallb.universe.tf/loadBalancerIPs", "metallb.io/loadBalancerIPs", "lbipam.cilium.io/ips")
_EVERYBODY = {"0.0.0.0/0", "::/0"}


def open_to_everybody(service: KubeObject) -> bool:
    """Whether a Service asks for a balancer and nothing in it keeps the internet out."""
    if service.spec.get("type") != "LoadBalancer":
        return False
    if service.spec.get("loadBalancerClass") in _OWN_NETWORKS:
        return False
    if any(str(service.annotations.get(key, "")).lower() not in _OPEN for key in _INNER):
        return False
    ranges = {as_text(one) for one in as_list(service.spec.get("loadBalancerSourceRanges"))}
    return (not ranges or bool(ranges & _EVERYBODY)) and not _asks_for_a_private_address(service)


def _asks_for_a_private_address(service: KubeObject) -> bool:
    stated = as_text(service.spec.get("loadBalancerIP")) or next(
        (as_text(service.annotations[key]) for key in _ADDRESSES if key in service.annotations), ""
    )
    try:
        return bool(stated) and all(ipaddress.ip_address(one.strip()).is_private for one in stated.split(","))
    except ValueError:
        return False
