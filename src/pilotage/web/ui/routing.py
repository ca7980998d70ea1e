"""The frame of every page, and the page of an error."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from pilotage.web.errors import Problem
from pilotage.web.ui.problems import meant, said
from pilotage.web.ui.rendering import Renderer, View
from pilotage.web.ui.state import State

Found = tuple[str, dict[str, Any]]
"""Template and context."""
Page = Callable[[View], Found | Response]
_OWN_WORDS = {404, 405, 413, 414, 503}
_SAID_ALREADY = "nothing is at this address"
"""What the words of the page say themselves."""


def endpoint(renderer: Renderer, page: Page) -> Callable[[Request], Awaitable[Response]]:
    """The endpoint of a page: found and rendered on a thread, since the store is waited for."""

    def work(view: View) -> Response:
        found = page(view)
        return found if isinstance(found, Response) else renderer.respond(view, *found)

    async def answer(request: Request) -> Response:
        return await run_in_threadpool(work, renderer.view(request))

    return answer


def error_page(renderer: Renderer) -> Callable[[Request, Problem], Response]:
    """What a reader sees of an error. It asks the store for nothing: the store may be what failed."""

    def page(request: Request, problem: Problem) -> Response:
        view = renderer.view(request)
        words = request.url.path.replace("-", " ").replace("/", " ").split()
        wanted = " ".join(word for word in words if word not in {"incidents", "vocabulary", "organisations"})
        ours = problem.status >= HTTPStatus.INTERNAL_SERVER_ERROR
        kind = str(problem.status) if problem.status in _OWN_WORDS else "500" if ours else "400"
        context = {
            "status": problem.status,
            "said": None if ours or problem.detail == _SAID_ALREADY else said(problem, view.lang),
            "meant": [] if ours else meant(request.url.path, problem),
            "kind": kind,
            "state": State(wanted[:120] if problem.status == HTTPStatus.NOT_FOUND else ""),
            "title_word": view.t(f"error_{kind}"),
        }
        return renderer.respond(view, "error.html", context, status=problem.status)

    return page
