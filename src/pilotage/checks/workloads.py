"""One view of everything that runs pods: Deployment, StatefulSet, Job, CronJob, Pod and the like."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from functools import cached_property
from typing import Any

import msgspec

from pilotage.checks.objects import KubeObject, Place
from pilotage.checks.values import KeyPath, as_int, as_list, as_map, as_text, dig, quantity

_TEMPLATE_AT: dict[str, KeyPath] = {
    "Deployment": ("spec", "template"),
    "StatefulSet": ("spec", "template"),
    "DaemonSet": ("spec", "template"),
    "ReplicaSet": ("spec", "template"),
    "ReplicationController": ("spec", "template"),
    "Rollout": ("spec", "template"),
    "DeploymentConfig": ("spec", "template"),
    "Job": ("spec", "template"),
    "CronJob": ("spec", "jobTemplate", "spec", "template"),
    "Pod": (),
}
KINDS = tuple(_TEMPLATE_AT)
"""Kinds that run pods."""
SCALED = (
    "Deployment",
    "StatefulSet",
    "ReplicaSet",
    "ReplicationController",
    "Rollout",
    "DeploymentConfig",
)
"""Kinds that have a number of replicas."""
SERVING = (*SCALED, "DaemonSet", "Pod")
"""Kinds whose pods are meant to stay."""

DEFAULT_GRACE_SECONDS = 30
_BESIDE_SERVICE = {"test", "test-success", "test-failure", "pre-install", "pre-delete", "post-delete"}
APPLIED_REPLICAS = "pilotage.dev/applied-replicas"
"""An annotation of a live object as we keep it: the number that the last `kubectl apply` stated, or `absent`.

The text of the last apply is too long to keep for each workload of a cluster.
"""


class Container(msgspec.Struct, frozen=True, eq=False):
    """A container of a workload.

    Attributes:
        workload: whose it is.
        data: the container as it was written.
        path: the way to it inside the object.
        init: whether it stands among the init containers.
    """

    workload: Workload
    data: Mapping[str, Any]
    path: KeyPath
    init: bool

    @property
    def name(self) -> str:
        """Its name."""
        return as_text(self.data.get("name"))

    @property
    def image(self) -> str:
        """Its image."""
        return as_text(self.data.get("image"))

    @property
    def sidecar(self) -> bool:
        """Whether it is an init container that keeps running."""
        return self.init and self.data.get("restartPolicy") == "Always"

    def get(self, *path: str | int) -> Any:
        """The value at the end of a path; None where the way is barred."""
        return dig(self.data, *path)

    def limit(self, resource: str) -> Decimal | None:
        """Its limit of `cpu`, `memory` …; None where there is none."""
        return quantity(self.get("resources", "limits", resource))

    def request(self, resource: str) -> Decimal | None:
        """Its request; that of the limit where only that is given, as the API server has it."""
        stated = quantity(self.get("resources", "requests", resource))
        return stated if stated is not None else self.limit(resource)

    def probe(self, name: str) -> Mapping[str, Any]:
        """Its `liveness`, `readiness` or `startup` probe; empty where there is none."""
        return as_map(self.data.get(f"{name}Probe"))

    @property
    def pre_stop(self) -> Mapping[str, Any]:
        """Its preStop hook; empty where there is none."""
        return as_map(self.get("lifecycle", "preStop"))

    @property
    def ports(self) -> list[Mapping[str, Any]]:
        """The ports that it declares."""
        return [port for port in as_list(self.data.get("ports")) if isinstance(port, dict)]

    @property
    def words(self) -> list[str]:
        """Command and arguments as written."""
        return [str(word) for key in ("command", "args") for word in as_list(self.data.get(key))]

    def env(self, name: str) -> str | None:
        """The value of a variable that is written down; None where it is not."""
        for item in as_list(self.data.get("env")):
            if dig(item, "name") == name:
                value = dig(item, "value")
                return None if value is None else str(value)
        return None

    def place(self, path: KeyPath = ()) -> Place:
        """Where a part of it stands."""
        return self.workload.object.place((*self.path, *path))


class Workload(msgspec.Struct, frozen=True, eq=False, dict=True):
    """Something that runs pods.

    Attributes:
        object: the object.
        template: the way to the pod template inside it; to a pod itself it is empty.
    """

    object: KubeObject
    template: KeyPath

    def __repr__(self) -> str:
        return f"<workload {self.object.key}>"

    @property
    def kind(self) -> str:
        """The object's kind."""
        return self.object.kind

    @property
    def pod_path(self) -> KeyPath:
        """The way to the pod's spec inside the object."""
        return (*self.template, "spec")

    @cached_property
    def pod(self) -> Mapping[str, Any]:
        """The pod's spec."""
        return as_map(self.object.get(*self.pod_path))

    @cached_property
    def pod_labels(self) -> Mapping[str, Any]:
        """The labels that its pods bear."""
        return as_map(self.object.get(*self.template, "metadata", "labels"))

    @cached_property
    def pod_annotations(self) -> Mapping[str, Any]:
        """The annotations that its pods bear."""
        return as_map(self.object.get(*self.template, "metadata", "annotations"))

    @cached_property
    def containers(self) -> tuple[Container, ...]:
        """Its containers, without init containers."""
        return tuple(self._containers("containers", init=False))

    @cached_property
    def init_containers(self) -> tuple[Container, ...]:
        """Its init containers, sidecars among them."""
        return tuple(self._containers("initContainers", init=True))

    @property
    def running(self) -> tuple[Container, ...]:
        """Containers that run beside each other while the pod serves."""
        return (*self.containers, *(one for one in self.init_containers if one.sidecar))

    def _containers(self, key: str, *, init: bool) -> Iterator[Container]:
        for position, data in enumerate(as_list(self.pod.get(key))):
            if isinstance(data, dict):
                yield Container(self, data, (*self.pod_path, key, position), init)

    @property
    def partial(self) -> bool:
        """Whether it is only a piece of an object (a patch): it names no image."""
        return not any(container.image for container in self.containers)

    @property
    def stated_replicas(self) -> int | None:
        """The number of replicas that is written down."""
        return as_int(self.object.spec.get("replicas")) if self.kind in SCALED else None

    @cached_property
    def replicas(self) -> int | None:
        """The number of replicas, 1 where none is written; None for kinds without any."""
        if self.kind == "Pod":
            return 1
        if self.kind not in SCALED:
            return None
        stated = self.stated_replicas
        return 1 if stated is None else stated

    @property
    def strategy(self) -> str:
        """`RollingUpdate`, `Recreate` …; the default where none is written; empty for kinds without."""
        if self.kind == "Deployment":
            return as_text(self.object.get("spec", "strategy", "type")) or "RollingUpdate"
        if self.kind in {"StatefulSet", "DaemonSet"}:
            return as_text(self.object.get("spec", "updateStrategy", "type")) or "RollingUpdate"
        if self.kind == "DeploymentConfig":
            return as_text(self.object.get("spec", "strategy", "type")) or "Rolling"
        if self.kind == "Rollout":
            strategy = as_map(self.object.spec.get("strategy"))
            return "BlueGreen" if "blueGreen" in strategy else "Canary"
        return ""

    @property
    def grace_seconds(self) -> int:
        """How long its pods have between SIGTERM and SIGKILL."""
        stated = as_int(self.pod.get("terminationGracePeriodSeconds"))
        return DEFAULT_GRACE_SECONDS if stated is None else stated

    @property
    def restart_policy(self) -> str:
        """The restart policy of its pods."""
        return as_text(self.pod.get("restartPolicy")) or "Always"

    @property
    def job(self) -> Mapping[str, Any]:
        """The spec of the Job that it is or makes; empty for other kinds."""
        return as_map(self.object.get(*self.job_path)) if self.kind in {"Job", "CronJob"} else {}

    @property
    def job_path(self) -> KeyPath:
        """The way to the spec of the Job."""
        return ("spec", "jobTemplate", "spec") if self.kind == "CronJob" else ("spec",)

    @property
    def is_trial(self) -> bool:
        """Whether it is started for a test, or by Helm while nothing serves (before an install)."""
        if self.kind == "Pod" and self.restart_policy == "Never" and "test" in self.object.name:
            return True
        hooks = {part.strip() for part in as_text(self.object.annotations.get("helm.sh/hook")).split(",")}
        return hooks <= _BESIDE_SERVICE

    def serves(self, service: KubeObject) -> bool:
        """Whether it declares a port of a Service; also where it declares none, so that nobody can tell."""
        ports = [as_map(port) for port in as_list(service.spec.get("ports"))]
        stated = any(one.ports for one in self.running)
        return not stated or any(self.container_port(one.get("targetPort", one.get("port"))) for one in ports)

    def container_port(self, port: int | str | None) -> Container | None:
        """The container that declares a port, by number or by name."""
        for container in self.running:
            for declared in container.ports:
                if port is not None and port in (declared.get("containerPort"), declared.get("name")):
                    return container
        return None


def workload_of(kube_object: KubeObject) -> Workload | None:
    """The view of an object; None where it runs no pods."""
    path = _TEMPLATE_AT.get(kube_object.kind)
    return None if path is None else Workload(kube_object, path)
