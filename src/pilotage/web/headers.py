"""Headers of every answer: what browsers may do with it, who may read it, what it varies by; and HEAD."""

from __future__ import annotations

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

SECURITY = {
    "Content-Security-Policy": (
        "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # Queries may tell of trouble that is nobody's business: linked sources see no address of ours.
    "Referrer-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=(), browsing-topics=()",
    "Cross-Origin-Opener-Policy": "same-origin",
}
VARY = "Accept-Encoding, Accept-Language, Authorization, Cookie"
"""Said of every answer, also of those too small to be compressed: an answer and its 304 say the same."""
_READERS = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Expose-Headers": "ETag, Last-Modified, Link, Retry-After, Content-Disposition",
}
_PREFLIGHT = {
    "Access-Control-Allow-Methods": "GET, HEAD",
    "Access-Control-Allow-Headers": "Authorization, If-None-Match, If-Modified-Since",
    "Access-Control-Max-Age": "86400",
}
_NOT_SHARED = ("/mcp", "/metrics")
"""Read by no page of another origin; MCP checks origins itself."""


class Headers:
    """Adds the headers, answers preflights of other origins, and answers HEAD as GET without its body."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves a request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        shared = not scope["path"].startswith(_NOT_SHARED)
        asked = {name for name, _ in scope["headers"]}
        if shared and scope["method"] == "OPTIONS" and b"access-control-request-method" in asked:
            await send(
                {
                    "type": "http.response.start",
                    "status": 204,
                    "headers": _encoded(_PREFLIGHT | _READERS | SECURITY),
                }
            )
            await send({"type": "http.response.body", "body": b""})
            return
        head = scope["method"] == "HEAD" and shared
        if head:
            scope["method"] = "GET"
        ended = False

        async def decorated(message: Message) -> None:
            nonlocal ended
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in (SECURITY | (_READERS if shared else {})).items():
                    headers.setdefault(name, value)
                if shared:
                    headers["Vary"] = VARY
            elif head and message["type"] == "http.response.body":
                # A HEAD ends with its headers; what a stream still gives is thrown away.
                if ended:
                    return
                ended = True
                message = {"type": "http.response.body", "body": b""}
            await send(message)

        await self.app(scope, receive, decorated)


def _encoded(headers: dict[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.lower().encode(), value.encode()) for name, value in headers.items()]
