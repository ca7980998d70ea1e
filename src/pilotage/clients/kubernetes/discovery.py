"""What an API server serves: its version, and at which address each resource is listed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pilotage.clients.kubernetes.api import DISCOVERY, ReadOnlyApi
from pilotage.clients.kubernetes.failures import WHOLE_SERVER, Failure

_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Served:
    """A resource that a server serves.

    Attributes:
        group: API group; empty for the core.
        version: the version that the server prefers among those that serve it.
        resource: plural name, as in addresses.
        kind: kind of its objects.
        namespaced: whether its objects live in namespaces.
    """

    group: str
    version: str
    resource: str
    kind: str
    namespaced: bool

    @property
    def api_version(self) -> str:
        """As objects state it."""
        return f"{self.group}/{self.version}" if self.group else self.version

    def path(self, namespace: str = "") -> str:
        """Where it is listed, in one namespace or in all."""
        root = f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"
        inside = f"/namespaces/{namespace}" if namespace and self.namespaced else ""
        return f"{root}{inside}/{self.resource}"


@dataclass
class Discovered:
    """What a server serves.

    Attributes:
        resources: (group, plural) -> where it is served.
        failed: group -> why what it serves could not be learnt (an aggregated API that does not answer).
    """

    resources: dict[tuple[str, str], Served] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)

    def add(self, one: Served) -> None:
        """Adds a resource unless a version that the server prefers already has it."""
        self.resources.setdefault((one.group, one.resource), one)


async def server_version(api: ReadOnlyApi) -> tuple[int, int] | None:
    """(major, minor) of the server; None where it says something else.

    Raises:
        Failure: it does not say.
    """
    said = await api.get("/version")
    numbers = [_NUMBER.match(str(said.get(key, ""))) for key in ("major", "minor")]
    major, minor = numbers
    return (int(major[0]), int(minor[0])) if major is not None and minor is not None else None


async def discover(api: ReadOnlyApi, groups: Iterable[str]) -> Discovered:
    """Where the resources of some groups are served.

    Args:
        api: the server.
        groups: API groups; only these are asked for where the server cannot tell all at once.

    Raises:
        Failure: it does not say.
    """
    wanted = set(groups)
    found = Discovered()
    for root in ("/api", "/apis"):
        answer = await api.get(root, accept=DISCOVERY)
        if answer.get("kind") == "APIGroupDiscoveryList":
            _take_aggregated(answer, wanted, found)
        elif root == "/api":
            await _take_version(api, "", "v1", found)
        else:
            await _take_groups(api, answer, wanted, found)
    return found


def _dicts(value: object) -> list[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _name(item: Mapping[str, Any]) -> str:
    metadata = item.get("metadata")
    return str(metadata.get("name") or "") if isinstance(metadata, dict) else ""


def _take_aggregated(answer: Mapping[str, Any], wanted: set[str], found: Discovered) -> None:
    for group in _dicts(answer.get("items")):
        name = _name(group)
        if name not in wanted:
            continue
        for version in _dicts(group.get("versions")):
            if version.get("freshness") == "Stale":
                found.failed.setdefault(name, "the API server cannot reach what serves this group")
            for resource in _dicts(version.get("resources")):
                kind = resource.get("responseKind")
                found.add(
                    Served(
                        name,
                        str(version.get("version")),
                        str(resource.get("resource")),
                        str(kind.get("kind")) if isinstance(kind, dict) else "",
                        resource.get("scope") == "Namespaced",
                    )
                )


async def _take_groups(
    api: ReadOnlyApi, answer: Mapping[str, Any], wanted: set[str], found: Discovered
) -> None:
    for group in _dicts(answer.get("groups")):
        name = str(group.get("name") or "")
        if name not in wanted:
            continue
        preferred = group.get("preferredVersion")
        first = preferred.get("version") if isinstance(preferred, dict) else None
        versions = [str(one.get("version")) for one in _dicts(group.get("versions"))]
        for version in sorted(versions, key=lambda one: one != first):
            await _take_version(api, name, version, found)


async def _take_version(api: ReadOnlyApi, group: str, version: str, found: Discovered) -> None:
    try:
        answer = await api.get(f"/apis/{group}/{version}" if group else f"/api/{version}")
    except Failure as failure:
        if failure.reason in WHOLE_SERVER:
            raise
        found.failed[group] = failure.message
        return
    for resource in _dicts(answer.get("resources")):
        name = str(resource.get("name") or "")
        if "/" not in name:
            found.add(
                Served(
                    group, version, name, str(resource.get("kind") or ""), resource.get("namespaced") is True
                )
            )
