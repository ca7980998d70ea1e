"""The MCP server: tools, resources and prompts over one catalogue."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version
from typing import Any

from mcp.server.mcpserver import MCPServer

from pilotage.core.settings import Settings
from pilotage.library.catalogue import Catalogue
from pilotage.library.stores.protocol import Audience
from pilotage.web.checking import Offer
from pilotage.web.mcp.asking import AudienceMiddleware, over_stdio
from pilotage.web.mcp.checks import CheckTools
from pilotage.web.mcp.completions import add_completions
from pilotage.web.mcp.descriptions import INSTRUCTIONS
from pilotage.web.mcp.finding import FindingTools
from pilotage.web.mcp.looking import LookingTools
from pilotage.web.mcp.own_words import OwnWords
from pilotage.web.mcp.prompts import add_prompts
from pilotage.web.mcp.resources import add_resources
from pilotage.web.mcp.tooling import library_tool


def make_server(
    settings: Settings,
    catalogue: Catalogue,
    offer: Offer | None = None,
    *,
    decide: Callable[[object], Audience] | None = None,
) -> MCPServer[Any]:
    """The server over a catalogue whose store is open.

    Args:
        settings: the settings in force.
        catalogue: the answers.
        offer: the checks; without it, those that the settings name.
        decide: whose records a request may see; without it, what `settings.library.include_private` says, as
            fits a process that serves one user over stdio.

    Raises:
        NotFound, InvalidInput, MissingExtra: see `Offer.of`.
    """
    offer = offer or Offer.of(settings.web)
    finding, looking = FindingTools(settings, catalogue), LookingTools(settings, catalogue)
    checks = CheckTools(settings, catalogue, offer)
    server = OwnWords(
        "pilotage",
        title="Pilotage incident library",
        description="Public incident reports as reviewed, bilingual records: search, read, compare; and "
        "checks that look for what such incidents came of.",
        instructions=INSTRUCTIONS,
        version=version("pilotage"),
        log_level="WARNING",
        subscriptions=False,
        tools=[
            library_tool(finding.search_incidents),
            library_tool(looking.get_incident),
            library_tool(finding.list_incidents),
            library_tool(looking.related_incidents),
            library_tool(finding.get_topic),
            library_tool(looking.vocab),
            library_tool(checks.list_checks),
            library_tool(checks.explain_check),
            checks.manifests_tool(),
            *([library_tool(checks.check_cluster)] if settings.web.allow_cluster else []),
        ],
        middleware=[AudienceMiddleware(decide or over_stdio(settings))],
    )
    add_resources(server, catalogue, offer)
    add_prompts(server, settings)
    add_completions(server, catalogue, offer)
    return server


def serve_stdio(settings: Settings, catalogue: Catalogue) -> None:
    """Serves one client over standard input and output until it closes them."""
    make_server(settings, catalogue).run("stdio")
