"""`/mcp` of the whole app: both eras, the token, hosts that are allowed, any replica."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import httpx
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from pilotage.core.settings import LibrarySettings, Settings, WebSettings
from rig.mcp_library import COREDNS_ID, PRIVATE, PRIVATE_ID, PUBLIC, SECRET, answer_of, build, talk
from rig.mcp_server import served

TOKEN = "a-token-of-the-tests"
PLAIN = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def store_url(tmp_path_factory: pytest.TempPathFactory) -> str:
    return build(tmp_path_factory.mktemp("mcp-http") / "both.db", PUBLIC, private=[PRIVATE])


@pytest.fixture(scope="module")
def address(store_url: str) -> Iterator[str]:
    settings = Settings(
        # The command line's flag must not open the door to the network.
        library=LibrarySettings(include_private=True, semantic=False),
        web=WebSettings(
            token=TOKEN,
            allowed_hosts=("incidents.example.com",),
            base_url="https://library.example.org",
        ),
    )
    with served(settings, store_url) as found:
        yield found


def post(address: str, method: str, params: dict[str, Any] | None = None, **headers: str) -> httpx.Response:
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params or {}}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return httpx.post(f"{address}/mcp", json=body, headers={**PLAIN, **named}, timeout=60)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_sdk_client_in_both_eras(address: str, mode: str) -> None:
    async def walk(client: Client) -> None:
        assert client.protocol_version == ("2026-07-28" if mode == "auto" else "2025-11-25")
        assert len((await client.list_tools()).tools) == 9
        found = answer_of(await client.call_tool("search_incidents", {"q": "coredns killed for memory"}))
        assert found["items"][0]["id"] == COREDNS_ID
        pages = answer_of(await client.call_tool("list_incidents", {"limit": 20}))
        more = {"limit": 20, "cursor": pages["next"]}
        assert not answer_of(await client.call_tool("list_incidents", more))["has_more"]
        assert (await client.read_resource(f"incident://{COREDNS_ID}")).contents
        assert (await client.get_prompt("triage_symptom", {"symptom": "p90"})).messages

    talk(f"{address}/mcp", walk, mode)


async def _look(client: Client) -> str:
    found: list[Any] = []
    for tool, arguments in (
        ("search_incidents", {"q": f"{SECRET} zone emptied because of a push"}),
        ("list_incidents", {"facet": ["component=coredns"]}),
        ("get_topic", {"facet": ["component=coredns"], "response_format": "detailed"}),
        ("related_incidents", {"id": COREDNS_ID}),
        ("get_incident", {"id": PRIVATE_ID}),
        ("vocab", {"kind": "components", "q": "coredns"}),
    ):
        found.append((await client.call_tool(tool, arguments)).model_dump_json())
    return json.dumps(found)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_only_the_token_shows_private_records(address: str, mode: str) -> None:
    async def with_header(value: str) -> str:
        async with (
            httpx2.AsyncClient(headers={"authorization": value}, timeout=60) as http,
            Client(streamable_http_client(f"{address}/mcp", http_client=http), mode=mode) as client,
        ):
            return await _look(client)

    without = talk(f"{address}/mcp", _look, mode)
    assert PRIVATE_ID not in without.replace(f"no record '{PRIVATE_ID}'", "")
    assert asyncio.run(with_header(f"Bearer {TOKEN}x")) == without
    assert asyncio.run(with_header(f"Basic {TOKEN}")) == without
    assert PRIVATE_ID in asyncio.run(with_header(f"Bearer {TOKEN}")).replace(f"no record '{PRIVATE_ID}'", "")


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost:1", 200),
        ("127.0.0.1", 200),
        ("incidents.example.com", 200),
        ("incidents.example.com:8443", 200),
        ("library.example.org", 200),
        ("evil.example.com", 421),
        ("incidents.example.com.evil.com", 421),
    ],
)
def test_hosts(address: str, host: str, status: int) -> None:
    assert post(address, "tools/list", host=host).status_code == status


def test_origins(address: str) -> None:
    assert post(address, "tools/list", origin="http://localhost:3000").status_code == 200
    assert post(address, "tools/list", origin="https://incidents.example.com").status_code == 200
    assert post(address, "tools/list", origin="https://evil.example.com").status_code == 403


def test_a_single_request_needs_no_session(address: str) -> None:
    listed = post(address, "tools/list")
    assert listed.headers["content-type"] == "application/json"
    assert "mcp-session-id" not in listed.headers
    call = {"name": "vocab", "arguments": {"q": "thundering herd"}}
    assert not post(address, "tools/call", call).json()["result"]["isError"]


def test_any_replica_goes_on(address: str, store_url: str) -> None:
    def page(where: str, cursor: str | None) -> dict[str, Any]:
        arguments = {"facet": ["component=ingress"], "limit": 10, "cursor": cursor}
        found = post(where, "tools/call", {"name": "get_topic", "arguments": arguments}).json()
        answer: dict[str, Any] = found["result"]["structuredContent"]
        return answer

    with served(Settings(library=LibrarySettings(semantic=False)), store_url) as other:
        first = page(address, None)
        second = page(other, first["next"])
        third = page(address, second["next"])
    seen = [item["id"] for part in (first, second, third) for item in part["items"]]
    assert len(set(seen)) == len(seen) == first["total"]


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"\xff\xfe", b"[]", b"x" * 5_000_000],
    ids=["none", "half", "no-utf-8", "batch", "5MB"],
)
def test_nonsense_is_refused(address: str, body: bytes) -> None:
    answer = httpx.post(f"{address}/mcp", content=body, headers=PLAIN, timeout=60)
    assert 400 <= answer.status_code < 500
    assert "Traceback" not in answer.text


def test_other_methods_are_refused(address: str) -> None:
    for method in ("GET", "PUT", "PATCH", "HEAD", "DELETE"):
        refused = httpx.request(method, f"{address}/mcp", headers=PLAIN)
        assert refused.status_code == 405
        assert refused.headers["allow"] == "OPTIONS, POST"
