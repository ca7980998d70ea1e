"""Which well-known component a workload runs: recognised by its image, a name is never enough."""

from __future__ import annotations

import functools

from pilotage.checks.tables import read_table
from pilotage.checks.values import as_list, as_map, as_text, dig
from pilotage.checks.workloads import Container, Workload
from pilotage.core.regex import regex

_SLEEPS = regex(r"\b(?:sleep\s+(?:infinity|inf|\d+[dh]?)\W*(?:done)?|tail -f /dev/null)\W*$")
"""The end of a command that waits for ever."""


@functools.cache
def _roles() -> dict[str, tuple[str, ...]]:
    """Last parts of an image's name -> roles."""
    found: dict[str, list[str]] = {}
    for row in as_list(as_map(read_table("data/components.yaml")).get("components")):
        for image in as_list(dig(row, "images")):
            found.setdefault(as_text(image), []).append(as_text(dig(row, "role")))
    return {image: tuple(roles) for image, roles in found.items()}


def bare_image(image: str) -> str:
    """The name of an image without its tag and digest."""
    name = image.partition("@")[0]
    head, slash, last = name.rpartition("/")
    return head + slash + last.partition(":")[0]


def image_tag(image: str) -> str:
    """The tag of an image; empty where it has none."""
    return image.partition("@")[0].rpartition("/")[2].partition(":")[2]


def container_roles(container: Container) -> frozenset[str]:
    """The roles of one container: `network-agent`, `cluster-dns` and others of the table."""
    return _roles_of(container.image)


@functools.lru_cache(maxsize=4096)
def _roles_of(image: str) -> frozenset[str]:
    parts = bare_image(image).split("/")
    known = _roles()
    for start in range(max(0, len(parts) - 2), len(parts)):
        found = known.get("/".join(parts[start:]))
        if found is not None:
            return frozenset(found)
    return frozenset()


def roles(workload: Workload) -> frozenset[str]:
    """The roles of all its containers that keep running.

    CoreDNS may answer anybody. The one of a cluster must read its Services, so it has an account of its own.
    """
    found = frozenset(role for container in workload.running for role in container_roles(container))
    account = as_text(workload.pod.get("serviceAccountName") or workload.pod.get("serviceAccount"))
    first = workload.containers[0] if workload.containers else None
    if "cluster-dns" in found and (first is None or "cluster-dns" not in container_roles(first)):
        # Beside another program it answers for that one: the clients of a tunnel.
        found -= {"cluster-dns"}
    if "cluster-dns" in found and account in {"", "default"} and workload.object.namespace != "kube-system":
        return found - {"cluster-dns"}
    return found


def is_agent(workload: Workload) -> bool:
    """Whether other pods of its node, or of the cluster, get their network, names or credentials from it."""
    return bool(roles(workload) & {"network-agent", "node-dns", "cluster-dns", "credential-agent"})


def filled_in_by_mesh(container: Container) -> bool:
    """Whether Istio's injector writes the container: it replaces the image `auto` and adds probes."""
    return container.image == "auto"


def installs_only(container: Container) -> bool:
    """Whether a container puts a plugin on the node and then waits, so that nothing passes through it."""
    image = container.image
    return "multus-cni" in image and "thick" not in image and "multus-daemon" not in " ".join(container.words)


def idle(container: Container) -> bool:
    """Whether a container only holds the pod open."""
    if bare_image(container.image).rpartition("/")[2] == "pause":
        return True
    return _SLEEPS.search(" ".join(container.words)) is not None
