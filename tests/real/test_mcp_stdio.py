"""`pilotage mcp` as a process of its own, asked by the SDK's client and line by line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from rig.mcp_library import COREDNS_ID, PRIVATE, PRIVATE_ID, PUBLIC, answer_of, build, talk, text_of

PROGRAM = str(Path(sys.executable).with_name("pilotage"))
pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def store_url(tmp_path_factory: pytest.TempPathFactory) -> str:
    return build(tmp_path_factory.mktemp("mcp-stdio") / "both.db", PUBLIC, private=[PRIVATE])


def command(store_url: str, *options: str) -> StdioServerParameters:
    environment = {"PILOTAGE_LIBRARY__SEMANTIC": "false", "PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}
    return StdioServerParameters(
        command=PROGRAM, args=["mcp", "--store", store_url, *options], env=environment
    )


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_sdk_client_in_both_eras(store_url: str, mode: str) -> None:
    async def walk(client: Client) -> None:
        assert client.protocol_version == ("2026-07-28" if mode == "auto" else "2025-11-25")
        assert len((await client.list_tools()).tools) == 9
        found = answer_of(await client.call_tool("search_incidents", {"q": "coredns killed for memory"}))
        assert found["items"][0]["id"] == COREDNS_ID
        wrong = await client.call_tool("get_incident", {"id": PRIVATE_ID})
        assert wrong.is_error
        assert "no record" in text_of(wrong)
        assert (await client.read_resource(f"incident://{COREDNS_ID}")).contents

    talk(command(store_url), walk, mode)


def test_flags(store_url: str) -> None:
    async def read(client: Client) -> dict[str, Any]:
        return answer_of(await client.call_tool("get_incident", {"id": PRIVATE_ID}))

    found = talk(command(store_url, "--include-private", "--lang", "ko"), read)
    assert found["private"] is True
    assert found["report"]["overview"]["title"].endswith("비워짐")


def test_standard_output_carries_the_protocol_and_nothing_else(store_url: str) -> None:
    calls: list[dict[str, Any]] = [
        {
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": "test", "version": "1"},
            },
        },
        {"method": "tools/list"},
        {
            "method": "tools/call",
            "params": {"name": "search_incidents", "arguments": {"q": "인그레스 oom"}},
        },
        {"method": "tools/call", "params": {"name": "get_incident", "arguments": {"id": "nope"}}},
        {"method": "tools/call", "params": {"name": "nope", "arguments": {}}},
        {"method": "resources/read", "params": {"uri": "incident://nope"}},
        {"method": "no/such/method"},
    ]
    sent = [{"jsonrpc": "2.0", "id": number, **call} for number, call in enumerate(calls)]
    sent.insert(1, {"jsonrpc": "2.0", "method": "notifications/initialized"})
    process = subprocess.Popen(
        [PROGRAM, "mcp", "--store", store_url],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PILOTAGE_LIBRARY__SEMANTIC": "false"},
    )
    assert process.stdin
    assert process.stdout
    process.stdin.write(b"this is no JSON\n")
    answers: dict[int, Any] = {}
    for message in sent:
        process.stdin.write(json.dumps(message, ensure_ascii=False).encode() + b"\n")
        process.stdin.flush()
        while "id" in message and message["id"] not in answers:
            line = process.stdout.readline()
            assert line, "the server ended"
            spoken = json.loads(line)
            assert spoken["jsonrpc"] == "2.0"
            if spoken.get("id") is not None:
                answers[spoken["id"]] = spoken
    rest, errors = process.communicate(timeout=30)
    assert [json.loads(line)["jsonrpc"] for line in rest.splitlines()] == ["2.0"] * len(rest.splitlines())
    assert process.returncode == 0
    assert b"Traceback" not in errors
    assert answers[2]["result"]["isError"] is False
    assert answers[3]["result"]["isError"] is True
    assert "error" in answers[5]
    assert "error" in answers[6]


def test_a_missing_store_is_told_on_standard_error(tmp_path: Path) -> None:
    done = subprocess.run(
        [PROGRAM, "mcp", "--store", str(tmp_path / "none.db")],
        input=b"",
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert done.stdout == b""
    assert b"none.db" in done.stderr
    assert b"library import --bundled" in done.stderr
