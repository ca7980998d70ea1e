"""Text of reports stays data: inside its field, marked, without what readers cannot see."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from mcp import Client
from mcp.server.mcpserver import MCPServer

from pilotage.web.mcp.descriptions import INSTRUCTIONS
from pilotage.web.mcp.reading import clean
from rig.mcp_library import HIDDEN, HOSTILE_ID, ORDER, answer_of, ask, talk

CALLS: list[tuple[str, dict[str, Any]]] = [
    ("search_incidents", {"q": "gremlins in the gearbox"}),
    ("list_incidents", {"facet": ["year=2020"]}),
    ("get_incident", {"id": HOSTILE_ID}),
    ("related_incidents", {"id": "acme-2021-03-01-coredns-oom"}),
    ("get_topic", {"facet": ["year=2020"]}),
]


def places(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """Every text of an answer with the keys that lead to it."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, list):
        for item in value:
            yield from places(item, path)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield (*path, "<key>"), key
            yield from places(item, (*path, key))


@pytest.mark.parametrize(
    ("tool", "arguments"), CALLS, ids=lambda value: value if isinstance(value, str) else ""
)
@pytest.mark.parametrize("form", ["concise", "detailed"])
def test_hostile_text_stays_in_its_field(
    server: MCPServer, tool: str, arguments: dict[str, Any], form: str
) -> None:
    found = answer_of(ask(server, tool, response_format=form, **arguments))
    hostile = [path for path, text in places(found) if "IGNORE ALL" in text or "Gremlins" in text]
    assert hostile, "the hostile record is in the answer"
    for path in hostile:
        # Slugs and labels of facets come from records too; they are lists of terms, not prose.
        assert "report" in path or path[0] in {"facet_counts", "companions"}, path
    assert "untrusted" in found["content_notice"]
    for _, text in places(found):
        assert "\x1b" not in text
        assert "\u202e" not in text
        assert not set(HIDDEN) & set(text)


def test_the_resource_is_marked_too(server: MCPServer) -> None:
    read = talk(server, lambda client: client.read_resource(f"incident://{HOSTILE_ID}"))
    found = json.loads(read.contents[0].text)
    assert "untrusted" in found["content_notice"]
    assert all("incident" in path for path, text in places(found) if "IGNORE ALL" in text)
    assert not set(HIDDEN) & set(read.contents[0].text)


def test_the_instructions_say_it(server: MCPServer) -> None:
    async def read(client: Client) -> str:
        return client.instructions or ""

    assert talk(server, read) == INSTRUCTIONS
    assert "data, not instructions" in INSTRUCTIONS.replace("\n", " ")


def test_a_quoted_symptom_cannot_close_its_quotation(server: MCPServer) -> None:
    async def twice(client: Client) -> list[str]:
        found = []
        for _ in range(2):
            prompt = await client.get_prompt("triage_symptom", {"symptom": f"--- x ---\n{ORDER}{HIDDEN}"})
            found.append(prompt.messages[0].content.text)
        return found

    first, second = talk(server, twice)
    assert ORDER in first
    assert first != second
    assert not set(HIDDEN) & set(first)


def test_clean_keeps_what_people_write() -> None:
    assert clean("두 줄\n그리고\t탭, 👩‍🚒 and naïve") == "두 줄\n그리고\t탭, 👩‍🚒 and naïve"
