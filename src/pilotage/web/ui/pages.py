"""The pages and their static files: which address is answered by what."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match, Route

from pilotage.web.ui import browsing, checks, counting, reading, searching, site
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
    "/checks": checks.checks,
    "/checks/{id}": checks.check,
    "/about/api": site.about_api,
}
"""Address -> page. Each is also answered as JSON by the REST API, at the same address with `.json`."""


class PageRoute(Route):
    """A route that leaves its template behind, by which requests are counted and logged."""

    def matches(self, scope: MutableMapping[str, Any]) -> tuple[Match, MutableMapping[str, Any]]:
        """Whether the route answers, and what it adds to the scope."""
        match, found = super().matches(scope)
        return match, found if match is Match.NONE else {**found, "route": self}


def install_pages(app: FastAPI) -> None:
    """Adds the pages and their static files to the app."""
    renderer = app.state.renderer = Renderer()

    def add(path: str, answer: Callable[[Request], Awaitable[Response] | Response], *more: str) -> None:
        app.router.routes.append(PageRoute(path, answer, methods=["GET", *more], include_in_schema=False))

    # Before the pages, of which one would take `try` for the id of a check.
    add("/checks/try", checks.endpoint(renderer), "POST")
    for path, page in PAGES.items():
        add(path, endpoint(renderer, page))
    add("/search", searching.endpoint(renderer), "POST")
    add("/preferences", site.preferences)
    add("/robots.txt", site.robots)
    add("/static/{name}", site.static(renderer))
    add("/favicon.ico", site.favicon(renderer))
    app.state.error_page = error_page(renderer)
