"""The scene: everything that is checked together, with the relations between its objects as lookups."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, TypeVar

import msgspec

from pilotage.checks import routes, webhooks, workloads
from pilotage.checks.index import SHARED, Index, Labelled, nearest
from pilotage.checks.objects import KubeObject, Subject, Unbuilt
from pilotage.checks.routes import Backend
from pilotage.checks.values import as_int, as_list, as_map, as_text, dig
from pilotage.checks.webhooks import Webhook
from pilotage.checks.workloads import Workload, workload_of

_Config = TypeVar("_Config")
_OUTER_TYPES = {"LoadBalancer", "NodePort"}
LATEST = (1, 36)
"""The Kubernetes version that is assumed when none is named."""
_WAYS_IN = (*routes.KINDS, *webhooks.KINDS, "APIService")
_AUTOSCALERS = ("HorizontalPodAutoscaler", "ScaledObject")


class Exposure(msgspec.Struct, frozen=True):
    """A way by which requests reach a workload.

    Attributes:
        by: `edge` (from outside: a route, a Service with a port on nodes or a balancer), `webhook`, `api` (an
            aggregated API) or `service` (a Service inside of the cluster).
        object: the outermost object of the way.
        service: the Service.
    """

    by: str
    object: KubeObject
    service: KubeObject


class Scale(msgspec.Struct, frozen=True):
    """How many pods a workload may have.

    Attributes:
        least: the lowest number that is kept up.
        most: the highest; None where nothing bounds it.
        autoscaler: who decides; None when the number is written in the workload.
    """

    least: int
    most: int | None
    autoscaler: KubeObject | None = None


class Scene:
    """What is checked together: all files that were named, or one cluster.

    Args:
        objects: Kubernetes objects.
        configs: parsed configurations of other kinds, each of a class of its own.
        live: whether it is a cluster, so that what is not there does not exist.
        blind: kind -> why its objects could not be read.
        version: (major, minor) of the Kubernetes that it is meant for.
        counts: kind -> namespace -> number of objects, where more were read than kept.
        definitions: CustomResourceDefinitions that only tell what others may hold and are not checked.
        unbuilt: what Kustomize makes of the objects, which it did not do here.
    """

    def __init__(  # noqa: PLR0913 - as many as a scene has parts
        self,
        objects: Iterable[KubeObject] = (),
        configs: Iterable[Any] = (),
        *,
        live: bool = False,
        blind: Mapping[str, str] | None = None,
        version: tuple[int, int] = LATEST,
        counts: Mapping[str, Mapping[str, int]] | None = None,
        definitions: Iterable[KubeObject] = (),
        unbuilt: Unbuilt | None = None,
    ) -> None:
        self.definitions = tuple(definitions)
        self.unbuilt = unbuilt or Unbuilt()
        self.objects = list(objects)
        self.live = live
        self.blind = dict(blind or {})
        self.version = version
        self.index = Index(self.objects)
        self._counts = dict(counts or {})
        self.asked: set[str] = set()
        """Kinds that somebody asked about: where one of them could not be read, the answer was a guess."""
        self._homes: dict[str, dict[str, list[KubeObject]]] = {}
        self._exposures: dict[int, list[Exposure]] = {}
        self._configs: dict[type, list[Any]] = defaultdict(list)
        for config in configs:
            self._configs[type(config)].append(config)

    # Objects

    def of(self, *kinds: str) -> Iterator[KubeObject]:
        """The objects of some kinds (`Service` is the core's, Knative's is `Service.serving.knative.dev`)."""
        self.asked.update(kinds)
        return self.index.of(*kinds)

    def find(self, kind: str, name: str, origin: KubeObject, namespace: str = "") -> KubeObject | None:
        """The object that `origin` means by a name; None where the scene has none."""
        self.asked.add(kind)
        return self.index.find(kind, name, origin, namespace)

    def has(self, kind: str, origin: KubeObject | None = None) -> bool:
        """Whether it holds any object of a kind (in a namespace that `origin` may be in).

        In files this tells whether an object that is not found may simply be kept elsewhere.
        """
        self.asked.add(kind)
        namespaces = self.index.namespaces(kind)
        if origin is None or not origin.namespace:
            return bool(namespaces)
        return not namespaces.isdisjoint((origin.namespace, ""))

    def beside(self, one: KubeObject, *kinds: str) -> Iterator[KubeObject]:
        """The objects of some kinds that certainly end up in the namespace of `one`."""
        self.asked.update(kinds)
        for kind in kinds:
            if kind not in self._homes:
                homes: dict[str, list[KubeObject]] = defaultdict(list)
                for other in self.index.of(kind):
                    homes[_home(other)].append(other)
                self._homes[kind] = homes
            yield from self._homes[kind].get(_home(one), ())

    def workloads_beside(self, one: KubeObject) -> list[Workload]:
        """The workloads that certainly end up in the namespace of `one`."""
        return self._workloads_at.get(_home(one), [])

    @cached_property
    def _workloads_at(self) -> dict[str, list[Workload]]:
        found: dict[str, list[Workload]] = defaultdict(list)
        for workload in self.workloads:
            found[_home(workload.object)].append(workload)
        return found

    def numbers(self, kind: str) -> Counter[str]:
        """How many objects of a kind there are in each namespace.

        Of a cluster that may be more than `of` gives: pods, ReplicaSets and Jobs that another object controls
        are counted and not kept.
        """
        self.asked.add(kind)
        if kind in self._counts:
            return Counter(self._counts[kind])
        return Counter(one.namespace for one in self.index.of(kind))

    def configs(self, kind: type[_Config]) -> list[_Config]:
        """The parsed configurations of a class."""
        return self._configs.get(kind, [])

    def subjects(self) -> Iterator[Subject]:
        """Everything in it that a check can speak about by itself."""
        yield from self.objects
        for found in self._configs.values():
            yield from found

    def kinds(self) -> set[str]:
        """The kinds that it holds, classes of configurations by their names among them."""
        return {*self.index.by_kind, *(kind.__name__ for kind in self._configs)}

    def owner(self, one: KubeObject) -> KubeObject:
        """The outermost object that controls an object, itself where none does or it is not there."""
        for _ in range(8):
            controller = one.controller()
            if controller is None:
                break
            found = self.index.find(controller[0], controller[1], one)
            if found is None or found is one:
                break
            one = found
        return one

    # Workloads

    @cached_property
    def workloads(self) -> tuple[Workload, ...]:
        """Everything that runs pods and is controlled by nothing in the scene, pieces of objects left out."""
        found = (
            view
            for one in self.index.of(*workloads.KINDS)
            if (one.controller() is None or self.owner(one) is one) and (view := workload_of(one)) is not None
        )
        return tuple(view for view in found if not view.partial)

    @cached_property
    def _workload_of(self) -> dict[int, Workload]:
        return {id(one.object): one for one in self.workloads}

    def workload(self, one: KubeObject) -> Workload | None:
        """The workload of an object; of a pod that something controls, that of its controller."""
        return self._workload_of.get(id(self.owner(one)))

    @cached_property
    def _selectable(self) -> list[Workload]:
        return [
            one
            for one in self.workloads
            if (one.kind in workloads.SERVING or one.kind == "Job") and not one.is_trial
        ]

    @cached_property
    def _labelled(self) -> Labelled[Workload]:
        return Labelled((one, one.pod_labels) for one in self._selectable)

    @cached_property
    def _labelled_in(self) -> dict[str, Labelled[Workload]]:
        # Apart by namespace, since the same labels stand in a thousand of them.
        apart: dict[str, list[tuple[Workload, Mapping[str, Any]]]] = defaultdict(list)
        for one in self._selectable:
            apart[one.object.namespace].append((one, one.pod_labels))
        return {namespace: Labelled(items) for namespace, items in apart.items()}

    def selected_by(self, one: KubeObject, selector: Mapping[str, Any]) -> list[Workload]:
        """The workloads whose pods a selector of `one` selects: in its namespace, the nearest of equals."""
        self.asked.update(workloads.SERVING)
        return self._selected_by(one, selector)

    def _selected_by(self, one: KubeObject, selector: Mapping[str, Any]) -> list[Workload]:
        if one.namespace:
            places = [self._labelled_in[name] for name in (one.namespace, "") if name in self._labelled_in]
        else:
            places = [self._labelled]
        found = [w for labelled in places for w in labelled.selected(selector)]
        found = [w for w in found if self.index.belong(one, w.object, named=any(selector.values()))]
        near = {id(item) for item in nearest(one, [w.object for w in found])}
        return [w for w in found if id(w.object) in near]

    # Services and what leads to them

    def workloads_of(self, service: KubeObject) -> list[Workload]:
        """The workloads that a Service sends requests to."""
        self.asked.update(workloads.SERVING)
        return self._behind.get(id(service), [])

    @cached_property
    def _behind(self) -> dict[int, list[Workload]]:
        return {
            id(service): self._selected_by(service, {"matchLabels": selector})
            for service in self.index.of("Service")
            if (selector := as_map(service.spec.get("selector")))
        }

    @cached_property
    def _services(self) -> dict[int, list[KubeObject]]:
        found: dict[int, list[KubeObject]] = defaultdict(list)
        for service in self.index.of("Service"):
            for one in self._behind.get(id(service), ()):
                found[id(one.object)].append(service)
        return found

    def services_of(self, workload: Workload) -> list[KubeObject]:
        """The Services that send requests to a workload."""
        self.asked.add("Service")
        return self._services.get(id(workload.object), [])

    @cached_property
    def backends(self) -> tuple[Backend, ...]:
        """Every Service that an Ingress or another route names."""
        return tuple(backend for route in self.index.of(*routes.KINDS) for backend in routes.backends(route))

    def service_of(self, backend: Backend) -> KubeObject | None:
        """The Service that a route means; None where the scene has none."""
        if id(backend) in self._meant:
            return self._meant[id(backend)]
        return self.find("Service", backend.service, backend.route, backend.namespace)

    @cached_property
    def _meant(self) -> dict[int, KubeObject | None]:
        # Many checks follow the same routes, and of many equal Services the nearest costs time to find.
        find = self.index.find
        return {id(one): find("Service", one.service, one.route, one.namespace) for one in self.backends}

    @cached_property
    def _routes(self) -> dict[int, list[Backend]]:
        found: dict[int, list[Backend]] = defaultdict(list)
        for backend in self.backends:
            service = self.service_of(backend)
            if service is not None:
                found[id(service)].append(backend)
        return found

    def routes_to(self, service: KubeObject) -> list[Backend]:
        """The routes that lead to a Service."""
        self.asked.update(routes.KINDS)
        return self._routes.get(id(service), [])

    @cached_property
    def webhooks(self) -> tuple[Webhook, ...]:
        """Every admission webhook."""
        return tuple(hook for one in self.index.of(*webhooks.KINDS) for hook in webhooks.webhooks_of(one))

    def webhook_service(self, hook: Webhook) -> KubeObject | None:
        """The Service behind a webhook; None where it has an address or the scene has no such Service."""
        if hook.service is None:
            return None
        namespace, name = hook.service
        return self.find("Service", name, hook.object, namespace)

    @cached_property
    def _called(self) -> dict[int, tuple[str, KubeObject]]:
        """Services that the API server itself calls."""
        found: dict[int, tuple[str, KubeObject]] = {}
        for one in self.index.of("APIService"):
            name, namespace = (
                as_text(one.get("spec", "service", "name")),
                as_text(one.get("spec", "service", "namespace")),
            )
            service = self.find("Service", name, one, namespace) if name else None
            if service is not None:
                found[id(service)] = ("api", one)
        for hook in self.webhooks:
            service = self.webhook_service(hook)
            if service is not None:
                found[id(service)] = ("webhook", hook.object)
        return found

    def edge_of(self, service: KubeObject) -> KubeObject | None:
        """What brings requests from outside to a Service: a route, or its own port outside; else None."""
        for backend in self.routes_to(service):
            if _from_outside(backend.route):
                return backend.route
        return service if as_text(service.spec.get("type")) in _OUTER_TYPES else None

    def exposures(self, workload: Workload) -> list[Exposure]:
        """Every way by which requests reach a workload: from outside first, and of those in its own file."""
        self.asked.update(_WAYS_IN)
        known = self._exposures.get(id(workload.object))
        if known is None:
            order = ("edge", "webhook", "api", "service").index
            home = workload.object.file
            known = sorted(
                self._find_exposures(workload), key=lambda one: (order(one.by), one.object.file != home)
            )
            self._exposures[id(workload.object)] = known
        return known

    def _find_exposures(self, workload: Workload) -> Iterator[Exposure]:
        for service in self.services_of(workload):
            if not workload.serves(service) and any(
                one.serves(service) for one in self.workloads_of(service)
            ):
                continue
            for backend in self.routes_to(service):
                by = "edge" if _from_outside(backend.route) else "service"
                yield Exposure(by, backend.route, service)
            if as_text(service.spec.get("type")) in _OUTER_TYPES:
                yield Exposure("edge", service, service)
            if id(service) in self._called:
                by, caller = self._called[id(service)]
                yield Exposure(by, caller, service)
            yield Exposure("service", service, service)

    def exposed(self, workload: Workload, *by: str) -> Exposure | None:
        """The first way by which requests reach a workload (of the given kinds); None where none does."""
        return next((one for one in self.exposures(workload) if not by or one.by in by), None)

    # Scale and disruption

    @cached_property
    def _autoscalers(self) -> dict[int, list[KubeObject]]:
        found: dict[int, list[KubeObject]] = defaultdict(list)
        for one in self.index.of(*_AUTOSCALERS):
            target = as_map(one.spec.get("scaleTargetRef"))
            kind = as_text(target.get("kind")) or "Deployment"
            workload = self.index.find(kind, as_text(target.get("name")), one)
            if workload is not None:
                found[id(workload)].append(one)
        return found

    def autoscalers_of(self, workload: Workload) -> list[KubeObject]:
        """The autoscalers (HorizontalPodAutoscaler, KEDA's ScaledObject) of a workload."""
        self.asked.update(_AUTOSCALERS)
        return self._autoscalers.get(id(workload.object), [])

    def scale(self, workload: Workload) -> Scale | None:
        """How many pods a workload may have; None for kinds that are not scaled."""
        if workload.replicas is None:
            return None
        for one in self.autoscalers_of(workload):
            keda = one.kind == "ScaledObject"
            least = as_int(one.spec.get("minReplicaCount" if keda else "minReplicas"))
            most = as_int(one.spec.get("maxReplicaCount" if keda else "maxReplicas"))
            return Scale((0 if keda else 1) if least is None else least, most, one)
        return Scale(workload.replicas, workload.replicas)

    @cached_property
    def _budgets(self) -> dict[int, list[KubeObject]]:
        found: dict[int, list[KubeObject]] = defaultdict(list)
        for budget in self.index.of("PodDisruptionBudget"):
            selector = budget.spec.get("selector")
            # In `policy/v1` an empty selector selects all pods of the namespace, in `v1beta1` none.
            if not isinstance(selector, dict) or (not selector and budget.api_version.endswith("v1beta1")):
                continue
            for workload in self._selected_by(budget, selector):
                found[id(workload.object)].append(budget)
        return found

    def budgets_of(self, workload: Workload) -> list[KubeObject]:
        """The PodDisruptionBudgets that cover a workload."""
        self.asked.add("PodDisruptionBudget")
        return self._budgets.get(id(workload.object), [])

    # What a workload refers to

    def namespace_labels(self, namespace: str) -> Mapping[str, Any] | None:
        """The labels of a namespace; None where the scene does not hold it. Its name is always among them."""
        self.asked.add("Namespace")
        for one in self.index.named("Namespace", namespace):
            return {webhooks.NAMESPACE_NAME: namespace, **one.labels}
        return None

    def references(self, workload: Workload) -> Iterator[Reference]:
        """The ConfigMaps, Secrets, claims and accounts that the pods of a workload name."""
        yield from _volume_references(workload)
        yield from _env_references(workload)
        account = as_text(workload.pod.get("serviceAccountName"))
        if account:
            yield Reference("ServiceAccount", account, (*workload.pod_path, "serviceAccountName"))
        for position, item in enumerate(as_list(workload.pod.get("imagePullSecrets"))):
            yield Reference(
                "Secret", as_text(dig(item, "name")), (*workload.pod_path, "imagePullSecrets", position)
            )


def _home(one: KubeObject) -> str:
    """The namespace of an object; where it states none or `default`, what it is applied with as well."""
    if one.live or one.namespace not in SHARED:
        return one.namespace
    return f"{one.namespace} in {one.application or one.file.rpartition('/')[0]}"


def _from_outside(route: KubeObject) -> bool:
    """Whether a route takes requests from outside of the cluster, not only those between its services."""
    if route.kind == "VirtualService":
        # Without gateways it is meant for the proxies of the mesh.
        return any(one != "mesh" for one in as_list(route.spec.get("gateways")))
    parents = as_list(route.spec.get("parentRefs"))
    return not parents or any(as_text(dig(one, "kind")) != "Service" for one in parents)


class Reference(msgspec.Struct, frozen=True):
    """An object that a pod names.

    Attributes:
        kind: its kind.
        name: its name.
        path: where it is named.
        optional: whether the pod starts without it.
    """

    kind: str
    name: str
    path: tuple[str | int, ...]
    optional: bool = False


_VOLUMES = (
    ("configMap", "ConfigMap", "name"),
    ("secret", "Secret", "secretName"),
    ("persistentVolumeClaim", "PersistentVolumeClaim", "claimName"),
)


def _volume_references(workload: Workload) -> Iterator[Reference]:
    for position, volume in enumerate(as_list(workload.pod.get("volumes"))):
        path = (*workload.pod_path, "volumes", position)
        for key, kind, name in _VOLUMES:
            if isinstance(source := dig(volume, key), dict):
                yield Reference(kind, as_text(source.get(name)), (*path, key), bool(source.get("optional")))
        for place, source in enumerate(as_list(dig(volume, "projected", "sources"))):
            for key, kind in (("configMap", "ConfigMap"), ("secret", "Secret")):
                if isinstance(item := dig(source, key), dict):
                    inner = (*path, "projected", "sources", place, key)
                    yield Reference(kind, as_text(item.get("name")), inner, bool(item.get("optional")))


def _env_references(workload: Workload) -> Iterator[Reference]:
    for container in (*workload.init_containers, *workload.containers):
        for position, item in enumerate(as_list(container.data.get("env"))):
            for key, kind in (("configMapKeyRef", "ConfigMap"), ("secretKeyRef", "Secret")):
                if isinstance(source := dig(item, "valueFrom", key), dict):
                    path = (*container.path, "env", position, "valueFrom", key)
                    yield Reference(kind, as_text(source.get("name")), path, bool(source.get("optional")))
        for position, item in enumerate(as_list(container.data.get("envFrom"))):
            for key, kind in (("configMapRef", "ConfigMap"), ("secretRef", "Secret")):
                if isinstance(source := dig(item, key), dict):
                    path = (*container.path, "envFrom", position, key)
                    yield Reference(kind, as_text(source.get("name")), path, bool(source.get("optional")))
