"""What the server offers besides tools, and how well agents can choose by what it says."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from mcp import Client, MCPError
from mcp.server.mcpserver import MCPServer
from mcp.types import PromptReference, ResourceTemplateReference

from pilotage.core.settings import Settings, WebSettings
from pilotage.library.catalogue import Catalogue
from pilotage.web.mcp.descriptions import DESCRIPTIONS, INSTRUCTIONS
from pilotage.web.mcp.server import make_server
from rig.mcp_library import COREDNS_ID, talk

MOST_CHARACTERS = 1024
"""Some hosts refuse longer descriptions of functions."""
MOST_IN_ALL = 30_000
"""Every agent reads the whole listing before it asks anything: about 7,500 tokens."""


@pytest.fixture
def listing(catalogue: Catalogue) -> dict[str, Any]:
    allowed = make_server(Settings(web=WebSettings(allow_cluster=True)), catalogue)

    async def read(client: Client) -> dict[str, Any]:
        return (await client.list_tools()).model_dump(mode="json", by_alias=True, exclude_none=True)

    return talk(allowed, read)


def test_a_cluster_is_checked_only_when_that_was_allowed(server: MCPServer) -> None:
    async def read(client: Client) -> list[str]:
        return [tool.name for tool in (await client.list_tools()).tools]

    names = talk(server, read)
    assert "check_manifests" in names
    assert "check_cluster" not in names


def test_every_tool_says_what_it_is(listing: dict[str, Any]) -> None:
    assert len(listing["tools"]) == 10
    for tool in listing["tools"]:
        assert tool["annotations"] == {
            "readOnlyHint": True,
            "destructiveHint": False,
            "openWorldHint": False,
        }
        assert len(tool["description"]) <= MOST_CHARACTERS, tool["name"]
        assert "use " in tool["description"]
        for name, parameter in tool["inputSchema"]["properties"].items():
            assert "enum" in parameter or "Example: " in parameter["description"], (tool["name"], name)
        assert tool["inputSchema"]["additionalProperties"] is False
        jsonschema.Draft202012Validator.check_schema(tool["inputSchema"])
        jsonschema.Draft202012Validator.check_schema(tool["outputSchema"])
    assert set(DESCRIPTIONS) == {tool["name"] for tool in listing["tools"]}
    assert len(INSTRUCTIONS.encode()) <= 2048
    sent = json.dumps(listing["tools"], ensure_ascii=False, separators=(",", ":"))
    assert len(sent) <= MOST_IN_ALL


@pytest.mark.parametrize("threshold", ["warning"])
def test_tdqs_finds_nothing(listing: dict[str, Any], tmp_path: Path, threshold: str) -> None:
    (tmp_path / "tools.json").write_text(json.dumps(listing), encoding="utf-8")
    done = subprocess.run(
        [
            str(Path(sys.executable).with_name("tdqs")),
            "lint",
            "--file",
            "tools.json",
            "--fail-on",
            threshold,
            "--format",
            "json",
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(done.stdout)
    assert report["findings"] == []
    assert all(tool["contextSignals"]["schemaDescriptionCoverage"] == 100 for tool in report["tools"])


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_resources(server: MCPServer, mode: str) -> None:
    async def read(client: Client) -> list[Any]:
        templates = (await client.list_resource_templates()).resource_templates
        uris = [
            f"incident://{COREDNS_ID}",
            "incident://OLD-COREDNS",
            "vocab://components",
            "vocab://component/coredns",
            "check://webhook-fail-catch-all",
        ]
        found = [json.loads((await client.read_resource(uri)).contents[0].text) for uri in uris]
        return [[template.uri_template for template in templates], *found]

    templates, whole, alias, kind, term, check = talk(server, read, mode)
    assert templates == ["incident://{id}", "vocab://{kind}", "vocab://{kind}/{slug}", "check://{id}"]
    assert whole["incident"]["title"]["ko"].startswith("CoreDNS")
    assert alias == whole
    assert kind["total"] == len(kind["terms"]) > 10
    assert term["slug"] == "coredns"
    assert term["incidents"] == 1
    assert check["severity"] == "critical"
    assert list(check["page"])[0] == "What it does"


@pytest.mark.parametrize(
    ("uri", "words"),
    [
        ("incident://acme-2021-03-01-coredns-oon", COREDNS_ID),
        ("vocab://colours", "components"),
        ("vocab://components/corends", "coredns"),
        ("incident://..%2Fsecret", "secret"),
        ("check://webhook-fail-catch-al", "webhook-fail-catch-all"),
    ],
)
def test_unknown_resources_name_the_nearest(server: MCPServer, uri: str, words: str) -> None:
    async def read(client: Client) -> None:
        with pytest.raises(MCPError, match=words):
            await client.read_resource(uri)

    talk(server, read)


@pytest.mark.parametrize(("name", "argument"), [("triage_symptom", "symptom"), ("review_change", "change")])
def test_prompts_in_both_languages(server: MCPServer, name: str, argument: str) -> None:
    async def read(client: Client) -> list[str]:
        listed = {prompt.name: prompt for prompt in (await client.list_prompts()).prompts}
        assert [one.required for one in listed[name].arguments or []] == [True, False]
        return [
            (await client.get_prompt(name, {argument: "p90 {text} is up", "lang": lang}))
            .messages[0]
            .content.text
            for lang in ("en", "ko")
        ]

    english, korean = talk(server, read)
    for text in (english, korean):
        assert "p90 {text} is up" in text
        assert "{mark}" not in text
        assert "search_incidents" in text
    assert "한국어로 답한다" in korean


def test_completions(server: MCPServer) -> None:
    async def complete(client: Client) -> list[list[str]]:
        asked: list[tuple[Any, dict[str, str], dict[str, str] | None]] = [
            (
                ResourceTemplateReference(type="ref/resource", uri="incident://{id}"),
                {"name": "id", "value": "coredns"},
                None,
            ),
            (
                ResourceTemplateReference(type="ref/resource", uri="vocab://{kind}"),
                {"name": "kind", "value": "s"},
                None,
            ),
            (
                ResourceTemplateReference(type="ref/resource", uri="vocab://{kind}/{slug}"),
                {"name": "slug", "value": "core"},
                {"kind": "component"},
            ),
            (
                ResourceTemplateReference(type="ref/resource", uri="vocab://{kind}/{slug}"),
                {"name": "slug", "value": "core"},
                {"kind": "colours"},
            ),
            (
                ResourceTemplateReference(type="ref/resource", uri="check://{id}"),
                {"name": "id", "value": "webhook-f"},
                None,
            ),
            (PromptReference(type="ref/prompt", name="review_change"), {"name": "lang", "value": "k"}, None),
            (
                PromptReference(type="ref/prompt", name="review_change"),
                {"name": "change", "value": "k"},
                None,
            ),
        ]
        return [
            (await client.complete(ref, argument, context)).completion.values
            for ref, argument, context in asked
        ]

    ids, kinds, slugs, none, checks, langs, free = talk(server, complete)
    assert COREDNS_ID in ids
    assert "old-coredns" in ids
    assert kinds[:3] == ["severities", "source-kinds", "symptoms"]
    assert slugs[0] == "coredns"
    assert none == free == []
    assert "webhook-fail-catch-all" in checks
    assert langs == ["ko"]
