"""The SDK's server with our words where a client asks for what there is not."""

from __future__ import annotations

from typing import Any

from mcp import MCPError
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ResourceNotFoundError, ToolError
from mcp.types import INVALID_PARAMS

from pilotage.core.text import did_you_mean
from pilotage.web.mcp.reading import clean

_LONGEST_NAME = 80


class OwnWords(MCPServer[Any]):
    """A server whose errors say what to do: those of the SDK name no nearest tool and no argument."""

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> Any:
        """Calls a tool.

        Raises:
            ToolError: there is none of that name, or it cannot answer as asked.
        """
        known = [tool.name for tool in await self.list_tools()]
        if name not in known:
            raise ToolError(_nothing("tool", name, known))
        return await super().call_tool(name, arguments, context)

    async def get_prompt(
        self, name: str, arguments: dict[str, Any] | None = None, context: Context[Any, Any] | None = None
    ) -> Any:
        """Fills a prompt in.

        Raises:
            MCPError: there is none of that name, or it takes other arguments.
        """
        prompts = {prompt.name: prompt for prompt in await self.list_prompts()}
        if name not in prompts:
            raise MCPError(INVALID_PARAMS, _nothing("prompt", name, list(prompts)))
        taken = {one.name: one for one in prompts[name].arguments or []}
        for given in arguments or {}:
            if given not in taken:
                raise MCPError(INVALID_PARAMS, f"{name}: {_nothing('argument', given, list(taken))}")
        for one in taken.values():
            if one.required and one.name not in (arguments or {}):
                raise MCPError(INVALID_PARAMS, f"{name}: the argument '{one.name}' is missing.")
        return await super().get_prompt(name, arguments, context)

    async def read_resource(self, uri: Any, context: Context[Any, Any] | None = None) -> Any:
        """Reads a resource.

        Raises:
            ResourceNotFoundError: nothing is at the address, or no address is like it.
        """
        templates = [template.uri_template for template in await self.list_resource_templates()]
        scheme, sign, _ = str(uri).partition("://")
        if not sign or not any(template.startswith(f"{scheme}://") for template in templates):
            told = clean(str(uri))[:_LONGEST_NAME]
            raise ResourceNotFoundError(f"nothing is at '{told}'. Addresses are {', '.join(templates)}.")
        return await super().read_resource(uri, context)


def _nothing(what: str, name: str, known: list[str]) -> str:
    return f"there is no {what} '{clean(name)[:_LONGEST_NAME]}'. {did_you_mean(name, known)}".strip()
