"""Who asks: whose records a call may see, in which language it is answered."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from starlette.requests import Request

from pilotage.core.settings import Settings
from pilotage.library.catalogue import Catalogue
from pilotage.library.record import Lang
from pilotage.library.stores.protocol import Audience
from pilotage.web.doors import Doors

_AUDIENCE: ContextVar[Audience] = ContextVar("mcp_audience", default="public")
"""Set for the length of one request. Tools, resources and completions all read it here, since the SDK hands
the request to some of them only; whatever forgets to ask sees public records."""


def audience() -> Audience:
    """Whose records the call that is being answered may see."""
    return _AUDIENCE.get()


def default_language(settings: Settings) -> Lang:
    """The language of answers that ask for none."""
    return "ko" if settings.lang == "ko" else "en"


def over_http(settings: Settings, catalogue: Catalogue) -> Callable[[object], Audience]:
    """Over HTTP the Authorization header of each request decides; what is no request sees public records."""
    doors = Doors(settings, catalogue)

    def decide(request: object) -> Audience:
        if not isinstance(request, Request):
            return "public"
        return doors.audience(request.headers.get("authorization"))

    return decide


def over_stdio(settings: Settings) -> Callable[[object], Audience]:
    """Over stdio whoever started the process has decided for all of its life."""
    decided: Audience = "all" if settings.library.include_private else "public"
    return lambda _: decided


class AudienceMiddleware:
    """Sets the audience of every request before anything answers it.

    Args:
        decide: the audience of a transport's request.
    """

    def __init__(self, decide: Callable[[object], Audience]) -> None:
        self._decide = decide

    async def __call__(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        """Answers one request."""
        token = _AUDIENCE.set(self._decide(ctx.request))
        try:
            return await call_next(ctx)
        finally:
            _AUDIENCE.reset(token)
