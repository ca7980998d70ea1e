"""The pages and their static files: which address is answered by what."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from http import HTTPStatus

from fastapi import FastAPI
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from pilotage.web.ui import browsing, counting, reading, searching, site
from pilotage.web.ui.rendering import Renderer
from pilotage.web.ui.routing import Page, endpoint, error_page

PAGES: dict[str, Page] = {
    "/": searching.home,
    "/incidents": searching.incidents,
    "/incidents/{id}": reading.incident,
    "/incidents/{id}/history/{number}": reading.revision,
    "/compare": reading.compare,
    "/topics": browsing.topics,
    "/organisations": browsing.organisations,
    "/organisations/{slug}": browsing.organisation,
    "/vocabulary": browsing.vocabulary,
    "/vocabulary/{kind}": browsing.kind,
    "/vocabulary/{kind}/{slug}": browsing.term,
    "/statistics": counting.statistics,
    "/about/api": site.about_api,
}
"""Address -> page. Each is also answered as JSON by the REST API, at the same address with `.json`."""

_PROGRAMS = ("/api/", "/mcp", "/metrics", "/healthz", "/readyz", "/static/")


def install_pages(app: FastAPI) -> None:
    """Adds the pages and their static files to the app."""
    renderer = app.state.renderer = Renderer()
    for path, page in PAGES.items():
        app.add_route(path, endpoint(renderer, page), methods=["GET"], include_in_schema=False)
    app.add_route("/search", searching.endpoint(renderer), methods=["GET", "POST"], include_in_schema=False)
    app.add_route("/preferences", site.preferences, methods=["GET"], include_in_schema=False)
    app.add_route("/robots.txt", site.robots, methods=["GET"], include_in_schema=False)
    app.add_route("/static/{name}", site.static(renderer), methods=["GET"], include_in_schema=False)
    app.add_route("/favicon.ico", site.favicon(renderer), methods=["GET"], include_in_schema=False)
    _install_errors(app, renderer)


def _install_errors(app: FastAPI, renderer: Renderer) -> None:
    """Unknown addresses get a page when a reader asks, else what the rest of the app answers."""
    before = app.exception_handlers.get(HTTPException)

    async def answer(request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 500
        if _for_readers(request) or before is None:
            view = renderer.view(request)
            found = await run_in_threadpool(error_page, renderer, view, HTTPStatus(status))
            if isinstance(error, HTTPException) and error.headers:
                found.headers.update(error.headers)
            return found
        handler: Callable[[Request, Exception], Awaitable[Response]] = before  # type: ignore[assignment]
        return await handler(request, error)

    app.add_exception_handler(HTTPException, answer)


def _for_readers(request: Request) -> bool:
    path = request.url.path
    accepts = request.headers.get("accept", "*/*")
    named = path.startswith(_PROGRAMS) or path.rpartition(".")[2] in {"json", "atom", "xml"}
    return not named and ("html" in accepts or "json" not in accepts)
