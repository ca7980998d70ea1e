"""A live cluster as a reading: what the checks need is listed, projected, and what cannot be read is told.

One kind that fails harms no other. Pods, ReplicaSets and Jobs that another object controls are counted and
not kept, as long as that object is in the reading: checks look at owners.
"""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from pilotage.checks.index import indexed_kind
from pilotage.checks.model import Check
from pilotage.checks.objects import KubeObject, Place
from pilotage.checks.readers.kinds import CONFIGURATIONS_IN, Listed, configurations, listed_for
from pilotage.checks.readers.live import ClusterQuestion, ClusterReading, Progress
from pilotage.checks.readers.projection import projected
from pilotage.checks.readers.reading import Problem, Trouble
from pilotage.checks.values import as_map
from pilotage.clients.kubernetes.access import read_access
from pilotage.clients.kubernetes.api import Page, ReadOnlyApi
from pilotage.clients.kubernetes.discovery import Discovered, Served, discover, server_version
from pilotage.clients.kubernetes.failures import WHOLE_SERVER, Failure, Reason
from pilotage.core.errors import InvalidInput, NotFound
from pilotage.core.regex import regex

_AT_ONCE = 4
_MOST_STALLS = 3
"""After more stalls than these with no answer between, or pauses asked for, the rest is not waited for."""
_CONTROLLED = ("ReplicaSet", "ReplicationController", "Job", "Pod")
"""Kinds that are made by others, in the order in which they may make each other."""
_NAMESPACE = regex(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")

NOT_KEPT = "controlled by an object that was read"


def read(question: ClusterQuestion, checks: Sequence[Check], progress: Progress | None) -> ClusterReading:
    """See `live.read_cluster`."""
    for name in question.namespaces:
        if not _NAMESPACE.fullmatch(name):
            raise InvalidInput(f"'{name}' is no name of a namespace", hint="See: kubectl get namespaces.")
    access = read_access(question.kubeconfig, question.context)
    api = ReadOnlyApi(access, timeout_seconds=question.timeout_seconds)
    return asyncio.run(_read(api, question, checks, progress))


async def _read(
    api: ReadOnlyApi, question: ClusterQuestion, checks: Sequence[Check], progress: Progress | None
) -> ClusterReading:
    async with api:
        wanted = listed_for(checks)
        reader = _ClusterReader(api, question.namespaces, progress)
        try:
            reader.into.version = await server_version(api) or reader.into.version
            discovered = await discover(api, {one.group for one in wanted})
            await reader.see_namespaces()
        except Failure as failure:
            raise failure.as_error() from failure
        await reader.take(wanted, discovered)
        reader.blind_configurations(configurations(checks))
    return reader.into


class _ClusterReader:
    """One reading of one cluster.

    Args:
        api: the server.
        namespaces: only these; none means all.
        progress: is told how far it is.
    """

    def __init__(self, api: ReadOnlyApi, namespaces: Sequence[str], progress: Progress | None) -> None:
        self.api = api
        self.namespaces = tuple(dict.fromkeys(namespaces))
        self.progress = progress
        self.into = ClusterReading(whole=not self.namespaces)
        self.counts: dict[str, Counter[str]] = defaultdict(Counter)
        self.read: set[tuple[str, str]] = set()
        self.gone: Failure | None = None
        self.forbidden = 0
        self.stalls = 0
        self.done = 0
        self.total = 0

    async def see_namespaces(self) -> None:
        """Makes sure that the namespaces exist, and keeps them.

        Raises:
            NotFound: one does not.
            Failure: the server does not answer.
        """
        for name in self.namespaces:
            try:
                found = await self.api.get(f"/api/v1/namespaces/{name}")
            except Failure as failure:
                if failure.reason is Reason.ABSENT:
                    raise NotFound(
                        f"there is no namespace '{name}' in {self.api.access.server}",
                        hint="See: kubectl get namespaces.",
                    ) from failure
                if failure.reason is not Reason.FORBIDDEN:
                    raise
                self.into.blind["Namespace"] = failure.message
                continue
            self.into.reading.objects.append(KubeObject(projected(found, "Namespace", "v1")))
            self.counts["Namespace"][""] += 1

    async def take(self, wanted: Sequence[Listed], discovered: Discovered) -> None:
        """Lists every kind; those that others control come last, when it is known what was read.

        Raises:
            PilotageError: not one kind could be read.
        """
        free = [one for one in wanted if one.kind not in _CONTROLLED]
        if self.namespaces:
            free = [one for one in free if one.kind != "Namespace"]
        made = [[one for one in wanted if one.kind == kind] for kind in _CONTROLLED]
        self.total = len(free) + sum(map(len, made))
        gate = asyncio.Semaphore(_AT_ONCE)
        for batch in (free, *made):
            await asyncio.gather(*(self._take_kind(one, discovered, gate) for one in batch))
        if self.gone is not None and not self.read:
            raise self.gone.as_error() from self.gone
        if self.forbidden and not self.read:
            raise Failure(
                Reason.FORBIDDEN,
                f"{self.api.access.server} permits us to list nothing of what the checks need "
                f"({self.api.access.origin})",
                "Name the namespaces that you may read with --namespace, or see: pilotage check role.",
            ).as_error()
        self.into.counts = dict(self.counts)
        self.into.reading.objects.sort(key=_order)

    def blind_configurations(self, classes: Iterable[str]) -> None:
        """Where ConfigMaps could not be read, the configurations inside of them were not either."""
        why = self.into.blind.get(CONFIGURATIONS_IN)
        if why is not None:
            self.into.blind |= dict.fromkeys(classes, f"{CONFIGURATIONS_IN}: {why}")

    async def _take_kind(self, one: Listed, discovered: Discovered, gate: asyncio.Semaphore) -> None:
        async with gate:
            served = discovered.resources.get((one.group, one.resource))
            if served is None and one.group in discovered.failed:
                self._blind(one, discovered.failed[one.group], grave=False)
            elif served is not None:
                await self._list(one, served)
            self.done += 1
            if self.progress is not None:
                self.progress(one.kind, self.done, self.total)

    async def _list(self, one: Listed, served: Served) -> None:
        places = self.namespaces if served.namespaced and self.namespaces else ("",)
        for namespace in places:
            if self.gone is not None:
                self._blind(one, self.gone.message, grave=False)
                return
            try:
                await self._pages(one, served, namespace)
            except Failure as failure:
                self._failed(one, failure, namespace)

    async def _pages(self, one: Listed, served: Served, namespace: str) -> None:
        keep = self._keeper(one)
        kept: list[KubeObject] = []
        count: Counter[str] = Counter()
        async for page in self.api.pages(served.path(namespace), metadata_only=one.names_only):
            if page.first:
                kept, count = [], Counter()
            count.update(str(as_map(item.get("metadata")).get("namespace") or "") for item in page.items)
            kept += _objects(page, served, keep)
        self.into.reading.objects += kept
        self.into.reading.documents += len(kept)
        self.counts[one.kind] += count
        if count.total() > len(kept):
            self.into.reading.skipped[NOT_KEPT] += count.total() - len(kept)
        self.stalls = 0
        self.read.add((served.kind, one.group))

    def _keeper(self, one: Listed) -> Callable[[Mapping[str, Any]], bool]:
        if one.kind not in _CONTROLLED:
            return lambda _: True
        owners = self.read - {(name, group) for name, group in self.read if name in self.into.blind}

        def keep(metadata: Mapping[str, Any]) -> bool:
            for owner in metadata.get("ownerReferences") or ():
                if owner.get("controller"):
                    group = str(owner.get("apiVersion") or "").rpartition("/")[0]
                    return (str(owner.get("kind")), group) not in owners
            return True

        return keep

    def _failed(self, one: Listed, failure: Failure, namespace: str) -> None:
        if failure.reason is Reason.ABSENT:
            # Served a moment ago: the definition of the kind was just taken away.
            return
        self.stalls += failure.reason is Reason.STALLED or failure.retry_seconds is not None
        told = self.gone is not None
        if not told and (failure.reason in WHOLE_SERVER or self.stalls > _MOST_STALLS):
            self.gone = failure
        forbidden = failure.reason is Reason.FORBIDDEN
        self.forbidden += forbidden
        where = f"in namespace {namespace}: " if namespace else ""
        self._blind(one, where + failure.message, grave=not forbidden and not told)

    def _blind(self, one: Listed, why: str, *, grave: bool) -> None:
        self.into.blind.setdefault(one.kind, why)
        if grave:
            self.into.reading.problems.append(Problem(Place(object=one.kind), why, Trouble.UNREADABLE))


def _objects(page: Page, served: Served, keep: Callable[[Mapping[str, Any]], bool]) -> list[KubeObject]:
    return [
        KubeObject(projected(item, served.kind, served.api_version))
        for item in page.items
        if isinstance(metadata := item.get("metadata"), dict) and keep(metadata)
    ]


def _order(one: KubeObject) -> tuple[str, str, str]:
    return (indexed_kind(one), one.namespace, one.name)
