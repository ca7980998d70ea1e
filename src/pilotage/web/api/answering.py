"""From a request to who asks, from an object to an answer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from pilotage.web.api.answers import Reader
from pilotage.web.doors import audience_of, doors_of, language_of


def reader_of(request: Request) -> Reader:
    """Who asks."""
    return Reader(doors_of(request).catalogue, audience_of(request), language_of(request))


class Json(Response):
    """A JSON answer in UTF-8."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """The bytes; half a surrogate pair, which UTF-8 has no form for, is escaped."""
        text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        try:
            return text.encode()
        except UnicodeEncodeError:
            return json.dumps(content, allow_nan=False, separators=(",", ":")).encode()


def answer(request: Request, found: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> Json:
    """The answer of an object."""
    return Json(found, headers={"Content-Language": language_of(request), **(headers or {})})


def moved(request: Request, path: str) -> RedirectResponse:
    """The way to the address in force, for a former id; the query goes along."""
    query = request.scope["query_string"].decode("latin-1")
    return RedirectResponse(quote(path, safe="/") + (f"?{query}" if query else ""), status_code=308)
