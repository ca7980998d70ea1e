"""What the transport refuses, in our words: a foreign host, a foreign origin, a body that is no message."""

from __future__ import annotations

import json
from typing import Any

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pilotage.web.errors import Problem, answer_of

_SETTING = "Name it in PILOTAGE_WEB__ALLOWED_HOSTS, a JSON list; docs/howto/connect-an-agent.md says why."
_FOREIGN = {
    421: "this server does not answer MCP for the host '{}'",
    403: "this server does not answer MCP for pages of '{}'",
}
_NAMED_BY = {421: "host", 403: "origin"}
_NO_MESSAGE = "the body is no JSON-RPC message"


class Told:
    """The transport, with its refusals put into words."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves a request."""
        start: Message | None = None

        async def heard(message: Message) -> None:
            nonlocal start
            if message["type"] == "http.response.start" and message["status"] in {400, *_FOREIGN}:
                start = message
                return
            if start is None:
                await send(message)
                return
            await _refused(scope, receive, send, start, message)

        await self.app(scope, receive, heard)


async def _refused(scope: Scope, receive: Receive, send: Send, start: Message, body: Message) -> None:
    status = start["status"]
    if status in _FOREIGN:
        request = Request(scope)
        name = request.headers.get(_NAMED_BY[status], "")[:100]
        problem = Problem(status, "refused", _FOREIGN[status].format(name), _SETTING)
        await answer_of(request, problem)(scope, receive, send)
        return
    told = _without_their_words(body.get("body", b""))
    start["headers"] = [
        (key, str(len(told)).encode() if key == b"content-length" else value)
        for key, value in start["headers"]
    ]
    await send(start)
    await send({**body, "body": told})


def _without_their_words(body: bytes) -> bytes:
    try:
        found: Any = json.loads(body)
        if found["error"]["message"].startswith("Validation error"):
            found["error"]["message"] = _NO_MESSAGE
            return json.dumps(found).encode()
    except (ValueError, KeyError, TypeError, AttributeError):
        pass
    return body
