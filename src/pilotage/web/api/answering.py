"""From a request to who asks, from an object to an answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse

from pilotage.web.api.answers import Reader
from pilotage.web.doors import audience_of, doors_of, language_of


def reader_of(request: Request) -> Reader:
    """Who asks."""
    doors = doors_of(request)
    return Reader(doors.catalogue, audience_of(request), language_of(request), doors.offer)


def answer(
    request: Request, found: Mapping[str, Any], headers: Mapping[str, str] | None = None
) -> JSONResponse:
    """The answer of an object."""
    return JSONResponse(found, headers={"Content-Language": language_of(request), **(headers or {})})


def moved(request: Request, path: str) -> RedirectResponse:
    """The way to the address in force, for a former id; the query goes along."""
    query = request.scope["query_string"].decode("latin-1")
    return RedirectResponse(quote(path, safe="/") + (f"?{query}" if query else ""), status_code=308)
