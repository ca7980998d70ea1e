"""Probes with their defaults, and which container of a pod gets the requests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pilotage.checks.scene import Exposure, Scene
from pilotage.checks.values import as_int, as_list, as_map
from pilotage.checks.workloads import SERVING, Container, Workload

_DEFAULTS = {"timeoutSeconds": 1, "periodSeconds": 10, "failureThreshold": 3, "initialDelaySeconds": 0}
_WAYS = {
    "edge": "traffic from outside",
    "webhook": "calls of the API server",
    "api": "calls of the API server",
}
_HANDLERS = ("httpGet", "tcpSocket", "grpc", "exec")


def timing(probe: Mapping[str, Any], key: str) -> int:
    """A number of a probe, with the API server's default."""
    stated = as_int(probe.get(key))
    return _DEFAULTS[key] if stated is None else stated


def patience(probe: Mapping[str, Any]) -> int:
    """Seconds for which a container may fail to answer before the probe acts."""
    failures = max(1, timing(probe, "failureThreshold"))
    return (failures - 1) * max(1, timing(probe, "periodSeconds")) + timing(probe, "timeoutSeconds")


def handler(probe: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]] | None:
    """Kind and content of what a probe does; None where it does nothing."""
    return next(((key, as_map(probe[key])) for key in _HANDLERS if isinstance(probe.get(key), dict)), None)


def told(probe: Mapping[str, Any]) -> str:
    """What a probe does, in one line."""
    kind, content = handler(probe) or ("nothing", {})
    if kind == "exec":
        return "exec: " + " ".join(str(word) for word in as_list(content.get("command")))[:200]
    return f"{kind}: " + ", ".join(
        f"{key}: {value}" for key, value in content.items() if key != "httpHeaders"
    )


def served(scene: Scene, *by: str) -> Iterator[tuple[Workload, Exposure]]:
    """Workloads that requests reach (in the given ways), with the first way."""
    for workload in scene.workloads:
        if workload.kind in SERVING and (exposure := scene.exposed(workload, *by)) is not None:
            yield workload, exposure


def serving_container(workload: Workload, exposure: Exposure) -> Container | None:
    """The container that gets the requests: that of the Service's port, else the first."""
    for port in as_list(exposure.service.spec.get("ports")):
        data = as_map(port)
        found = workload.container_port(data.get("targetPort", data.get("port")))
        if found is not None:
            return found
    return workload.containers[0] if workload.containers else None


def way_in(exposure: Exposure) -> str:
    """What reaches a workload and through which object, as a part of a sentence."""
    return f"{_WAYS.get(exposure.by, 'requests from inside')} through {exposure.object.key}"
