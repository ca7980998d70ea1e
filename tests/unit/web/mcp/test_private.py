"""Private records leave no trace for whoever may not see them; whoever may sees all."""

from __future__ import annotations

from typing import Any

import pytest
from mcp import Client
from mcp.server.mcpserver import MCPServer
from mcp.types import PromptReference, ResourceTemplateReference

from pilotage.core.settings import LibrarySettings, Settings
from pilotage.library.catalogue import Catalogue
from pilotage.web.mcp.asking import over_http
from pilotage.web.mcp.server import make_server
from rig.mcp_library import COREDNS_ID, PRIVATE_ID, SECRET, talk

SEES_ALL = Settings(library=LibrarySettings(include_private=True))


async def everything(client: Client) -> list[Any]:
    """The answers to every kind of call, the private record's words among the questions."""
    calls: list[tuple[str, dict[str, Any]]] = [
        *(
            ("search_incidents", {"q": query, "response_format": "detailed"})
            for query in (
                SECRET,
                "zone emptied because of a push",
                f"org:{SECRET}",
                "component:coredns",
                "2023",
            )
        ),
        *(
            ("list_incidents", {"facet": facet, "limit": 50, "response_format": "detailed"})
            for facet in ([], ["component=coredns"], [f"org={SECRET}"], ["year=2023"])
        ),
        ("get_incident", {"id": PRIVATE_ID}),
        ("get_incident", {"id": PRIVATE_ID[:-1]}),
        ("get_incident", {"id": f"{SECRET}"}),
        ("get_incident", {"id": COREDNS_ID, "response_format": "detailed"}),
        ("related_incidents", {"id": PRIVATE_ID}),
        ("related_incidents", {"id": COREDNS_ID, "response_format": "detailed"}),
        ("get_topic", {"facet": ["component=coredns"], "response_format": "detailed"}),
        ("get_topic", {"facet": ["contributing=retry-storm"], "response_format": "detailed", "limit": 50}),
        ("get_topic", {"facet": [f"org={SECRET}"]}),
        ("vocab", {}),
        ("vocab", {"kind": "components", "limit": 50}),
        ("vocab", {"q": SECRET}),
    ]
    found: list[Any] = [
        (await client.call_tool(tool, arguments)).content[0].text for tool, arguments in calls
    ]
    for uri in (f"incident://{PRIVATE_ID}", "vocab://components", "vocab://components/coredns"):
        try:
            found.append((await client.read_resource(uri)).contents[0].text)
        except Exception as error:  # noqa: BLE001 - whatever it is must say the same
            found.append(str(error))
    for typed in ("", "acme-2023", SECRET):
        ref = ResourceTemplateReference(type="ref/resource", uri="incident://{id}")
        found.append((await client.complete(ref, {"name": "id", "value": typed})).completion.values)
    ref = PromptReference(type="ref/prompt", name="triage_symptom")
    found.append((await client.complete(ref, {"name": "lang", "value": ""})).completion.values)
    return found


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_no_answer_shows_a_trace(server: MCPServer, both: Catalogue, mode: str) -> None:
    without = talk(server, everything, mode)
    beside = talk(make_server(Settings(), both), everything, mode)
    assert beside == without


def test_it_is_all_there_for_whoever_may_see_it(both: Catalogue) -> None:
    found = str(talk(make_server(SEES_ALL, both), everything))
    assert PRIVATE_ID in found
    assert '"private":true' in found


def test_over_http_the_flag_of_the_command_line_counts_for_nothing(
    server: MCPServer, both: Catalogue
) -> None:
    guarded = make_server(SEES_ALL, both, decide=over_http(SEES_ALL, both))
    assert talk(guarded, everything) == talk(server, everything)
