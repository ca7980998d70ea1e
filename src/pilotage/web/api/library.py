"""The REST API of the library and of the checks."""

from __future__ import annotations

from fastapi import APIRouter, FastAPI

from pilotage.web.api import checks, feeds, incidents, numbers, page_data, search, start, words
from pilotage.web.api.describing import describe

BASE = "/api/v1"


def install_api(app: FastAPI) -> None:
    """Adds the routes of the library to the app, and the addresses of the pages with `.json` behind them."""
    router = APIRouter(prefix=BASE)
    for part in (start, incidents, search, words, numbers, feeds, checks):
        part.add_routes(router)
    app.include_router(router)
    page_data.add_routes(app)
    describe(app, BASE)
