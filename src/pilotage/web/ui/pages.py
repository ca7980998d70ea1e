"""The pages and their static files: which address is answered by what."""

from __future__ import annotations

from fastapi import FastAPI

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


def install_pages(app: FastAPI) -> None:
    """Adds the pages and their static files to the app."""
    renderer = app.state.renderer = Renderer()
    # Before the pages, of which one would take `try` for the id of a check.
    app.add_route("/checks/try", checks.endpoint(renderer), methods=["GET", "POST"], include_in_schema=False)
    for path, page in PAGES.items():
        app.add_route(path, endpoint(renderer, page), methods=["GET"], include_in_schema=False)
    app.add_route("/search", searching.endpoint(renderer), methods=["GET", "POST"], include_in_schema=False)
    app.add_route("/preferences", site.preferences, methods=["GET"], include_in_schema=False)
    app.add_route("/robots.txt", site.robots, methods=["GET"], include_in_schema=False)
    app.add_route("/static/{name}", site.static(renderer), methods=["GET"], include_in_schema=False)
    app.add_route("/favicon.ico", site.favicon(renderer), methods=["GET"], include_in_schema=False)
    app.state.error_page = error_page(renderer)
