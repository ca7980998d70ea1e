"""The client against two servers: the real API server and our fake one give the same answers."""

from __future__ import annotations

import asyncio
import json
import urllib.error
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

import pytest

from pilotage.clients.kubernetes.access import read_access
from pilotage.clients.kubernetes.api import Page, ReadOnlyApi
from pilotage.clients.kubernetes.discovery import discover, server_version
from pilotage.clients.kubernetes.failures import Failure, Reason
from rig.fake_kube import FakeKube, busy
from rig.kube_control_plane import ControlPlane, control_plane, wait_until

MAPS = "/api/v1/namespaces/{}/configmaps"
RANGES = "/api/v1/limitranges"
NUMBER = 25


class Server(Protocol):
    """A server of either kind, as the tests use it."""

    def kubeconfig(self, *, right: bool = True, user: str = "admin") -> Path: ...
    def create(self, value: dict[str, Any]) -> None: ...
    def compact(self) -> None: ...
    def overload(self) -> Callable[[], None]: ...
    def verbs(self) -> set[str]: ...


class Fake:
    def __init__(self, fake: FakeKube, folder: Path) -> None:
        self.fake = fake
        self.folder = folder
        self.create, self.compact = fake.create, fake.compact

    def kubeconfig(self, *, right: bool = True, user: str = "admin") -> Path:
        self.fake.forbidden = {"configmaps"} if user == "nobody" else set()
        return self.fake.kubeconfig(self.folder, None if right else "wrong")

    def overload(self) -> Callable[[], None]:
        self.fake.faults[RANGES] = busy(3)
        return lambda: None

    def verbs(self) -> set[str]:
        return {method for method, _ in self.fake.requests}


class Real:
    def __init__(self, plane: ControlPlane) -> None:
        self.plane = plane
        self.compact = plane.compact

    def kubeconfig(self, *, right: bool = True, user: str = "admin") -> Path:
        return self.plane.kubeconfig(user, token=None if right else "wrong")

    def create(self, value: dict[str, Any]) -> None:
        metadata = value["metadata"]
        plural = {"Namespace": "namespaces", "ConfigMap": "configmaps", "Secret": "secrets"}[value["kind"]]
        inside = f"/namespaces/{metadata['namespace']}" if "namespace" in metadata else ""
        self.plane.call("POST", f"/api/v1{inside}/{plural}", value)

    def overload(self) -> Callable[[], None]:
        base = "/apis/flowcontrol.apiserver.k8s.io/v1"
        level = {
            "type": "Limited",
            "limited": {
                "nominalConcurrencyShares": 0,
                "lendablePercent": 0,
                "borrowingLimitPercent": 0,
                "limitResponse": {"type": "Reject"},
            },
        }
        rule = {"verbs": ["list"], "apiGroups": [""], "resources": ["limitranges"], "namespaces": ["*"]}
        schema = {
            "priorityLevelConfiguration": {"name": "closed"},
            "matchingPrecedence": 2,
            "rules": [
                {
                    "subjects": [{"kind": "User", "user": {"name": "viewer"}}],
                    "resourceRules": [{**rule, "clusterScope": True}],
                }
            ],
        }
        self.plane.call(
            "POST", f"{base}/prioritylevelconfigurations", {"metadata": {"name": "closed"}, "spec": level}
        )
        self.plane.call("POST", f"{base}/flowschemas", {"metadata": {"name": "closed"}, "spec": schema})

        wait_until(self._overloaded, within=90, what="requests refused")

        def lift() -> None:
            self.plane.call("DELETE", f"{base}/flowschemas/closed")

        return lift

    def _overloaded(self) -> bool:
        # One request alone is always let through, so that a level without seats does not hang for ever.
        with ThreadPoolExecutor(20) as pool:
            return any(pool.map(self._refused, range(40)))

    def _refused(self, _: int) -> bool:
        try:
            self.plane.call("GET", RANGES, user="viewer")
        except urllib.error.HTTPError as error:
            return error.code == 429
        return False

    def verbs(self) -> set[str]:
        lines = [json.loads(line) for line in self.plane.audit_log.read_text().splitlines()]
        ours = [one for one in lines if one.get("userAgent", "").startswith("pilotage")]
        return {"GET" if one["verb"] in {"get", "list"} else one["verb"] for one in ours}


@pytest.fixture(scope="module")
def plane() -> Iterator[ControlPlane]:
    # Without a cache in front of etcd, a compaction makes an old token useless at once.
    with control_plane(api_args=["--watch-cache-sizes=configmaps#0"]) as running:
        running.call(
            "POST",
            "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
            {
                "metadata": {"name": "viewer"},
                "roleRef": {
                    "apiGroup": "rbac.authorization.k8s.io",
                    "kind": "ClusterRole",
                    "name": "cluster-admin",
                },
                "subjects": [{"kind": "User", "name": "viewer"}],
            },
        )
        yield running


@pytest.fixture(params=["fake", pytest.param("real", marks=pytest.mark.real)])
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Server]:
    if request.param == "real":
        yield Real(request.getfixturevalue("plane"))
        return
    with FakeKube(token="right").running() as fake:
        yield Fake(fake, tmp_path)


@pytest.fixture
def namespace(server: Server, request: pytest.FixtureRequest) -> str:
    """A namespace of this test with 25 ConfigMaps, and a neighbour with one."""
    name = request.node.originalname.replace("test_", "").replace("_", "-")[:50]
    for one in (name, f"{name}-too"):
        server.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": one}})
    for number in range(NUMBER):
        server.create(config_map(name, f"m-{number:02}"))
    server.create(config_map(f"{name}-too", "other"))
    return name


def config_map(namespace: str, name: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": namespace, "labels": {"number": name}},
        "data": {"key": "value"},
    }


@asynccontextmanager
async def client(
    server: Server, *, right: bool = True, user: str = "admin", pause: Any = None
) -> AsyncIterator[ReadOnlyApi]:
    access = read_access(str(server.kubeconfig(right=right, user=user)))
    async with ReadOnlyApi(access, timeout_seconds=20, pause=pause or nothing) as api:
        yield api


async def nothing(_: float) -> None:
    await asyncio.sleep(0)


def run(test: Callable[[], Awaitable[Any]]) -> Any:
    async def inner() -> Any:
        return await test()

    return asyncio.run(inner())


async def collect(api: ReadOnlyApi, path: str, *, size: int = 500, **options: Any) -> list[Page]:
    return [page async for page in api.pages(path, size=size, **options)]


def names(pages: list[Page]) -> list[str]:
    return [item["metadata"]["name"] for page in pages for item in page.items]


def test_it_tells_its_version(server: Server) -> None:
    async def look() -> Any:
        async with client(server) as api:
            return await server_version(api)

    assert run(look) == (1, 36)


def test_it_tells_where_each_kind_is_listed(server: Server) -> None:
    async def look() -> Any:
        async with client(server) as api:
            return await discover(api, {"", "apps", "autoscaling"})

    found = run(look)
    assert found.resources["apps", "deployments"].path() == "/apis/apps/v1/deployments"
    assert found.resources["apps", "deployments"].path("shop") == "/apis/apps/v1/namespaces/shop/deployments"
    assert found.resources["", "nodes"].path("shop") == "/api/v1/nodes"
    assert found.resources["autoscaling", "horizontalpodautoscalers"].version == "v2"
    assert not [key for key in found.resources if key[0] == "batch"]
    assert not found.failed


def test_a_list_comes_in_pages(server: Server, namespace: str) -> None:
    async def look() -> Any:
        async with client(server) as api:
            return await collect(api, MAPS.format(namespace), size=10)

    pages = run(look)
    assert [len(page.items) for page in pages] == [10, 10, 5]
    assert [page.remaining for page in pages] == [15, 5, None]
    assert [page.first for page in pages] == [True, False, False]
    assert (pages[0].kind, pages[0].api_version) == ("ConfigMapList", "v1")
    assert names(pages) == [f"m-{number:02}" for number in range(NUMBER)]


def test_a_list_of_all_namespaces_has_each_once(server: Server, namespace: str) -> None:
    async def look() -> Any:
        async with client(server) as api:
            return await collect(api, "/api/v1/configmaps", size=7)

    found = [
        item["metadata"]["name"]
        for page in run(look)
        for item in page.items
        if item["metadata"]["namespace"] in {namespace, f"{namespace}-too"}
    ]
    assert sorted(found) == [*(f"m-{number:02}" for number in range(NUMBER)), "other"]


def test_later_pages_show_the_state_of_the_first(server: Server, namespace: str) -> None:
    async def look() -> Any:
        async with client(server) as api:
            pages = []
            async for page in api.pages(MAPS.format(namespace), size=10):
                pages.append(page)
                if page.first:
                    server.create(config_map(namespace, "m-99"))
            return pages, await collect(api, MAPS.format(namespace))

    pages, again = run(look)
    assert "m-99" not in names(pages)
    assert "m-99" in names(again)


def test_an_expired_token_is_refused_with_another_one(server: Server, namespace: str) -> None:
    async def look() -> Any:
        path = MAPS.format(namespace)
        async with client(server) as api:
            first = await api.get(path, query={"limit": "10"})
            server.create(config_map(namespace, "m-98"))
            server.compact()
            query = {"limit": "10", "continue": first["metadata"]["continue"]}
            with pytest.raises(Failure) as caught:
                await api.get(path, query=query)
            return caught.value

    failure = run(look)
    assert failure.reason is Reason.GONE
    assert failure.token


def test_a_list_survives_a_compaction(server: Server, namespace: str) -> None:
    async def look() -> Any:
        async with client(server) as api:
            pages = []
            async for page in api.pages(MAPS.format(namespace), size=10):
                pages.append(page)
                if page.first:
                    server.create(config_map(namespace, "m-97"))
                    server.compact()
            return pages

    pages = run(look)
    assert names(pages) == [*(f"m-{number:02}" for number in range(NUMBER)), "m-97"]
    assert [page.first for page in pages].count(True) == 1


def test_busy_is_waited_for_as_long_as_the_server_wishes(server: Server) -> None:
    waits: list[float] = []
    lift = server.overload()

    async def pause(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 1:
            lift()
        await asyncio.sleep(seconds)

    async def look() -> Any:
        async with client(server, user="viewer", pause=pause) as api:
            return await asyncio.gather(*(collect(api, RANGES) for _ in range(40)))

    assert [names(pages) for pages in run(look)] == [[]] * 40
    assert set(waits) in ({1.0}, {2.0}, {1.0, 2.0})


def test_what_is_forbidden_is_said(server: Server, namespace: str) -> None:
    async def look() -> Any:
        async with client(server, user="nobody") as api:
            with pytest.raises(Failure) as caught:
                await collect(api, MAPS.format(namespace))
            return caught.value

    failure = run(look)
    assert failure.reason is Reason.FORBIDDEN
    assert "configmaps" in failure.message
    assert "cannot list" in failure.message


def test_a_wrong_token_is_not_known(server: Server) -> None:
    async def look() -> Any:
        async with client(server, right=False) as api:
            with pytest.raises(Failure) as caught:
                await collect(api, "/api/v1/configmaps")
            return caught.value

    failure = run(look)
    assert failure.reason is Reason.UNAUTHORIZED
    assert "does not know who we are" in failure.message


def test_an_absent_kind_is_told_from_a_forbidden_one(server: Server) -> None:
    async def look() -> Any:
        async with client(server) as api:
            with pytest.raises(Failure) as caught:
                await collect(api, "/apis/absent.example/v1/things")
            return caught.value

    assert run(look).reason is Reason.ABSENT


def test_secrets_can_be_had_without_what_they_hold(server: Server, namespace: str) -> None:
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "hidden", "namespace": namespace},
        "data": {"password": "aHVudGVyMg=="},
    }
    server.create(secret)

    async def look() -> Any:
        async with client(server) as api:
            return await collect(api, f"/api/v1/namespaces/{namespace}/secrets", metadata_only=True)

    pages = run(look)
    assert names(pages) == ["hidden"]
    assert "data" not in pages[0].items[0]


def test_nothing_was_sent_but_get_and_list(server: Server, namespace: str) -> None:
    async def look() -> Any:
        async with client(server) as api:
            await discover(api, {"", "apps"})
            await collect(api, MAPS.format(namespace), size=5)

    run(look)
    assert server.verbs() == {"GET"}
