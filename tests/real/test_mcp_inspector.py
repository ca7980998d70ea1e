"""A client that we did not write: the MCP inspector's command line, over both transports."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pilotage.core.settings import LibrarySettings, Settings, WebSettings
from rig.inspector import Inspector, inspector
from rig.mcp_library import COREDNS_ID, PRIVATE, PRIVATE_ID, PUBLIC, build
from rig.mcp_server import served

TOKEN = "a-token-of-the-tests"
pytestmark = [pytest.mark.real, pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def tool(tmp_path_factory: pytest.TempPathFactory) -> Inspector:
    return inspector(tmp_path_factory.mktemp("inspector-home"))


@pytest.fixture(scope="module")
def store_url(tmp_path_factory: pytest.TempPathFactory) -> str:
    return build(tmp_path_factory.mktemp("mcp-inspector") / "both.db", PUBLIC, private=[PRIVATE])


@pytest.fixture(scope="module", params=["stdio", "http"])
def target(request: pytest.FixtureRequest, store_url: str) -> Iterator[list[str]]:
    """How the inspector is told where the server is."""
    if request.param == "stdio":
        program = str(Path(sys.executable).with_name("pilotage"))
        yield [program, "mcp", "--store", store_url, "-e", "PILOTAGE_LIBRARY__SEMANTIC=false"]
        return
    settings = Settings(library=LibrarySettings(semantic=False), web=WebSettings(token=TOKEN))
    with served(settings, store_url) as address:
        yield [f"{address}/mcp", "--transport", "http"]


def called(tool: Inspector, target: list[str], name: str, arguments: dict[str, Any], *more: str) -> Any:
    asked = ["--method", "tools/call", "--tool-name", name, "--tool-args-json", json.dumps(arguments)]
    return tool.ask(*target, *asked, *more)["structuredContent"]


def test_tools_are_listed_and_their_schemas_are_portable(tool: Inspector, target: list[str]) -> None:
    listed = tool.ask(*target, "--method", "tools/list", "--strict")
    assert len(listed["tools"]) == 9


def test_two_tools_answer(tool: Inspector, target: list[str]) -> None:
    found = called(tool, target, "search_incidents", {"q": "coredns killed for memory", "limit": 2})
    assert found["items"][0]["id"] == COREDNS_ID
    read = called(tool, target, "get_incident", {"id": COREDNS_ID, "lang": "ko", "sections": ["lessons"]})
    assert read["report"] == {"lessons": "DNS에 여유를 두고 확인한다."}


def test_a_resource_and_a_prompt(tool: Inspector, target: list[str]) -> None:
    read = tool.ask(*target, "--method", "resources/read", "--uri", "vocab://components/coredns")
    assert json.loads(read["contents"][0]["text"])["slug"] == "coredns"
    asked = ["--method", "prompts/get", "--prompt-name", "triage_symptom", "--prompt-args", "symptom=p90"]
    assert "p90" in tool.ask(*target, *asked)["messages"][0]["content"]["text"]


def test_an_error_is_told(tool: Inspector, target: list[str]) -> None:
    done = tool.run(
        *target, "--method", "tools/call", "--tool-name", "get_incident", "--tool-arg", "id=acme-coredns-oom"
    )
    assert "Did you mean" in done.stdout + done.stderr


def test_the_token_goes_in_a_header(tool: Inspector, store_url: str) -> None:
    settings = Settings(library=LibrarySettings(semantic=False), web=WebSettings(token=TOKEN))
    with served(settings, store_url) as address:
        target = [f"{address}/mcp", "--transport", "http"]
        header = ["--header", f"Authorization: Bearer {TOKEN}"]
        assert called(tool, target, "get_incident", {"id": PRIVATE_ID}, *header)["private"] is True
