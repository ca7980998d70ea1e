"""What users' expressions see of an object and of what belongs to it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pilotage.checks.objects import KubeObject
from pilotage.checks.own.reading import RELATIONS
from pilotage.checks.routes import KINDS as ROUTES
from pilotage.checks.scene import Scene
from pilotage.checks.workloads import Workload, workload_of


class Unseen(Exception):
    """A variable cannot be told; the text says why."""


def without_nulls(value: Any) -> Any:
    """The value without keys that hold null: the API server takes these for absent."""
    if isinstance(value, dict):
        return {key: without_nulls(one) for key, one in value.items() if one is not None}
    if isinstance(value, list):
        return [without_nulls(one) for one in value]
    return value


def workload_view(view: Workload) -> dict[str, Any]:
    """The variable `workload`: one form of all kinds that run pods, defaults put in."""
    seen: dict[str, Any] = {
        "kind": view.kind,
        "containers": [one.data for one in view.containers],
        "initContainers": [one.data for one in view.init_containers],
        "podSpec": view.pod,
        "podLabels": view.pod_labels,
        "podAnnotations": view.pod_annotations,
        "graceSeconds": view.grace_seconds,
        "restartPolicy": view.restart_policy,
    }
    if view.replicas is not None:
        seen["replicas"] = view.replicas
    if view.strategy:
        seen["strategy"] = view.strategy
    return seen


def variables_of(one: KubeObject, scene: Scene, uses: frozenset[str]) -> dict[str, Any]:
    """The variables that a check uses, for one object.

    Raises:
        Unseen: one cannot be told from this scene.
    """
    found: dict[str, Any] = {"object": one.data}
    view = scene.workload(one) or workload_of(one)
    if "workload" in uses and view is not None:
        found["workload"] = workload_view(view)
    for name in sorted(uses & set(RELATIONS)):
        value = _namespace(one, scene) if name == "namespaceObject" else _related(name, one, view, scene)
        if not value and not scene.live and not any(scene.has(kind, one) for kind in _SIGNS[name]):
            kinds = " and no ".join(_SIGNS[name][:2])
            raise Unseen(f"'{name}' cannot be told: no {kinds} is in what was read")
        found[name] = value
    return {name: without_nulls(value) for name, value in found.items()}


_SIGNS: Mapping[str, tuple[str, ...]] = {
    **RELATIONS,
    "routes": ROUTES,
    "autoscalers": ("HorizontalPodAutoscaler", "ScaledObject"),
}
"""Kinds of which one must be there for an empty answer to mean something in files."""


def _namespace(one: KubeObject, scene: Scene) -> Any:
    found = scene.index.named("Namespace", one.namespace) if one.namespace else []
    if not found and one.namespace:
        raise Unseen(
            f"'namespaceObject' cannot be told: the Namespace {one.namespace} is not in what was read"
        )
    if not found:
        raise Unseen("'namespaceObject' cannot be told: the object states no namespace")
    return found[0].data


def _related(name: str, one: KubeObject, view: Workload | None, scene: Scene) -> list[Any]:
    services = [one] if one.kind == "Service" else scene.services_of(view) if view is not None else []
    if name == "services":
        return _data(services)
    if name == "routes":
        return _data(backend.route for service in services for backend in scene.routes_to(service))
    if view is None:
        return []
    of: Callable[[Workload], list[KubeObject]] = (
        scene.budgets_of if name == "budgets" else scene.autoscalers_of
    )
    return _data(of(view))


def _data(objects: Iterable[KubeObject]) -> list[Any]:
    return [one.data for one in {id(one): one for one in objects}.values()]
