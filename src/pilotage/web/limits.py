"""Requests that no route need see: addresses that are too long or no text."""

from __future__ import annotations

from urllib.parse import unquote_to_bytes

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from pilotage.core.errors import InvalidInput
from pilotage.web.errors import Problem, answer_of

MOST_QUERY_BYTES = 100_000
"""Longest query of an address: 20 kB of text, each byte written as three, and the facets."""
MOST_PATH_BYTES = 2_000
NOT_TEXT = {
    "path": "the path of the address is not text",
    "query": "the query of the address is not text",
}


class Limits:
    """Refuses what is too long (414) or not UTF-8 (400)."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves a request."""
        problem = _problem(scope) if scope["type"] == "http" else None
        if problem is None:
            await self.app(scope, receive, send)
            return
        await answer_of(Request(scope), problem)(scope, receive, send)


def _problem(scope: Scope) -> Problem | None:
    query: bytes = scope["query_string"]
    path: bytes = scope.get("raw_path") or scope["path"].encode("utf-8", "surrogatepass")
    if len(query) > MOST_QUERY_BYTES or len(path) > MOST_PATH_BYTES:
        hint = f"A query may have {MOST_QUERY_BYTES} bytes; a search reads the first 20 kB of a text."
        return Problem(414, InvalidInput.code, "the address is too long", hint)
    for name, part in (("path", path), ("query", query)):
        try:
            unquote_to_bytes(part).decode()
        except UnicodeDecodeError:
            return Problem(400, InvalidInput.code, NOT_TEXT[name], "Send it as UTF-8.")
    return None
