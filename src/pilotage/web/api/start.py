"""`/api/v1` itself: where everything for programs is, so that the address that `serve` prints answers."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from pilotage.web.api.answering import answer
from pilotage.web.api.models import Shape
from pilotage.web.api.queries import Asked


class Addresses(Shape):
    """Paths on this server."""

    api: str = Field(examples=["/api/v1"])
    description: str = Field(examples=["/api/v1/openapi.json"])
    """OpenAPI 3.1, with every address and parameter."""
    incidents: str
    search: str
    topics: str
    vocabulary: str
    organisations: str
    statistics: str
    checks: str
    changes: str
    """The delta feed."""
    feed: str
    """The Atom feed."""
    export: str
    schema_: str = Field(alias="schema")
    """JSON Schema of a record."""
    mcp: str
    """For agents."""


def add_routes(router: APIRouter) -> None:
    """Adds the route."""
    router.add_api_route(
        "", addresses, response_model=Addresses, summary="Where everything is", tags=["Start"]
    )


def addresses(request: Request, asked: Annotated[Asked, Query()]) -> Response:  # noqa: ARG001 - checked by being read
    """The addresses of this API, of its description and of MCP."""
    base = "/api/v1"
    under = ("incidents", "search", "topics", "vocabulary", "organisations", "statistics", "checks")
    return answer(
        request,
        {
            "api": base,
            "description": request.app.openapi_url,
            **{name: f"{base}/{name}" for name in (*under, "changes", "export", "schema")},
            "feed": f"{base}/feed.atom",
            "mcp": "/mcp",
        },
    )
