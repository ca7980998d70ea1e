"""Whether the process lives and whether it can answer."""

from __future__ import annotations

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import JSONResponse

from pilotage.web.doors import doors_of

_FRESH = {"Cache-Control": "no-store"}


def install_health(app: FastAPI) -> None:
    """Adds `/healthz` and `/readyz`."""
    app.add_api_route("/healthz", _alive, include_in_schema=False)
    app.add_api_route("/readyz", _ready, include_in_schema=False)


def alive() -> JSONResponse:
    """What a process that lives says."""
    return JSONResponse({"status": "alive"}, headers=_FRESH)


async def _alive() -> JSONResponse:
    return alive()


def _ready(request: Request) -> JSONResponse:
    """The store is asked each time; when it does not answer, the error becomes 503 with Retry-After."""
    version = doors_of(request).catalogue.store.data_version("public")
    return JSONResponse({"status": "ready", "data_version": version}, headers=_FRESH)
