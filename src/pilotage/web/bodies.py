"""The body of a request, as far as it is allowed to be long."""

from __future__ import annotations

from starlette.requests import Request


async def read_body(request: Request, most_bytes: int) -> bytes | None:
    """The body; None when it is longer, which is found before all of it has come."""
    found = bytearray()
    async for part in request.stream():
        found += part
        if len(found) > most_bytes:
            return None
    return bytes(found)
