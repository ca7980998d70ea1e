"""Our tools as the SDK's: unknown arguments are refused, foreseen errors reach the model with their hint."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import structlog
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp.server.mcpserver.tools import Tool
from mcp.types import CallToolResult, TextContent, ToolAnnotations
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from pilotage.core.errors import PilotageError, UserError
from pilotage.core.text import did_you_mean, nearest
from pilotage.web.mcp.budget import wire
from pilotage.web.mcp.descriptions import DESCRIPTIONS, TITLES
from pilotage.web.mcp.reading import clean
from pilotage.web.mcp.schemas import for_answers, for_arguments
from pilotage.web.wrong_values import wrong

_LOG = structlog.get_logger()
_READS = ToolAnnotations(read_only_hint=True, destructive_hint=False, open_world_hint=False)
_LONGEST_TOLD = 1500
_QUOTED = re.compile(r"'([^']*)'")


class LibraryTool(Tool):
    """A tool that answers in compact JSON and fails in words."""

    async def run(
        self, arguments: dict[str, Any], context: Context[Any, Any], convert_result: bool = False
    ) -> Any:
        """Runs the tool.

        Raises:
            ToolError: the call cannot be answered as asked; the message says what to do.
        """
        known = list(self.parameters.get("properties", {}))
        for name in arguments:
            if name not in known:
                raise ToolError(
                    _told(f"{self.name} has no argument '{name[:60]}'. {did_you_mean(name, known)}")
                )
        try:
            answer = await super().run(arguments, context)
        except UnexpectedToolError as error:
            if isinstance(error.__cause__, PilotageError):
                raise ToolError(message_of(error.__cause__)) from error
            raise
        except ToolError as error:
            if isinstance(error.__cause__, ValidationError):
                raise ToolError(_told(_wrong_arguments(self.name, error.__cause__))) from error
            raise
        return self._converted(answer) if convert_result and isinstance(answer, BaseModel) else answer

    def _converted(self, answer: BaseModel) -> CallToolResult:
        # The SDK would send every null and indent the text, which costs a model a third more tokens.
        return CallToolResult(
            content=[TextContent(type="text", text=wire(answer))],
            structured_content=answer.model_dump(mode="json", exclude_none=True),
        )


def library_tool(fn: Callable[..., BaseModel]) -> Tool:
    """The tool of a function whose name has a title and a description."""
    name = fn.__name__
    tool = LibraryTool.from_function(
        fn, name=name, title=TITLES[name], description=DESCRIPTIONS[name], annotations=_READS
    )
    tool.parameters = for_arguments(tool.parameters)
    tool.fn_metadata.output_schema = for_answers(tool.fn_metadata.output_schema or {})
    return tool


def message_of(error: PilotageError) -> str:
    """A foreseen error in words. What concerns the server's own store stays in the server's log."""
    if isinstance(error, UserError):
        return _told(f"{error.message}. {error.hint}".strip())
    _LOG.warning("mcp.store_failed", code=error.code, message=error.message)
    return f"The library cannot answer at the moment ({error.code}). Try again in a few seconds."


def _wrong_arguments(name: str, error: ValidationError) -> str:
    found = [
        f"{'.'.join(str(part) for part in item['loc'])} {_wrong_argument(item)}"
        for item in error.errors(include_url=False)
    ]
    return f"{name} cannot take these arguments: {'; '.join(found)}."


def _wrong_argument(item: ErrorDetails) -> str:
    said = wrong(item)
    if item["type"] != "literal_error":
        return said
    near = nearest(str(item["input"])[:60], _QUOTED.findall(item["ctx"]["expected"]))
    return f"{said}; nearest: {', '.join(near)}" if near else said


def _told(text: str) -> str:
    return clean(text).strip()[:_LONGEST_TOLD]
