"""The frame of every page: the cache around it, and what a reader sees when it fails."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Any

import structlog
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from pilotage.core.errors import (
    Conflict,
    InvalidInput,
    NotFound,
    OutsideError,
    PilotageError,
    StoreError,
    Unreachable,
    UserError,
)
from pilotage.web.ui.rendering import Renderer, View, tag_of

Found = tuple[str, dict[str, Any]]
"""Template and context."""
Page = Callable[[View], Found | Response]

_STATUS: tuple[tuple[type[PilotageError], HTTPStatus], ...] = (
    (NotFound, HTTPStatus.NOT_FOUND),
    (Conflict, HTTPStatus.CONFLICT),
    (InvalidInput, HTTPStatus.BAD_REQUEST),
    (UserError, HTTPStatus.BAD_REQUEST),
    (StoreError, HTTPStatus.SERVICE_UNAVAILABLE),
    (Unreachable, HTTPStatus.SERVICE_UNAVAILABLE),
    (OutsideError, HTTPStatus.BAD_GATEWAY),
)
_log = structlog.get_logger(__name__)


def endpoint(renderer: Renderer, page: Page, *, keep: bool = True) -> Callable[[Request], Awaitable[Response]]:
    """The endpoint of a page.

    Args:
        renderer: of the app.
        page: finds template and context.
        keep: whether the rendered page may be kept until the store changes.
    """

    async def answer(request: Request) -> Response:
        return await run_in_threadpool(_guarded, renderer, renderer.view(request), page, keep=keep)

    return answer


def _guarded(renderer: Renderer, view: View, page: Page, *, keep: bool) -> Response:
    try:
        return _answer(renderer, view, page, keep=keep)
    except PilotageError as error:
        return error_page(renderer, view, status_of(error), error)
    except Exception:  # boundary: a page that fails answers with one that helps
        _log.exception("page_failed", path=view.request.url.path)
        return error_page(renderer, view, HTTPStatus.INTERNAL_SERVER_ERROR)


def _answer(renderer: Renderer, view: View, page: Page, *, keep: bool) -> Response:
    key: tuple[object, ...] | None = None
    if keep and view.audience == "public":
        version = view.doors.catalogue.store.data_version("public")
        url = view.request.url
        cookie = bool(view.carried)
        key = (version, view.base, url.path, url.query, view.lang, view.theme, cookie)
        kept = renderer.kept.get(key)
        if kept is not None:
            return renderer.answer(view, *kept)
    found = page(view)
    if isinstance(found, Response):
        return found
    body = renderer.html(view, *found).encode("utf-8", "replace")
    tag = tag_of(body)
    if key is not None:
        renderer.kept.put(key, (body, tag))
    return renderer.answer(view, body, tag)


def status_of(error: PilotageError) -> HTTPStatus:
    """The HTTP status of an error."""
    return next((status for kind, status in _STATUS if isinstance(error, kind)), HTTPStatus.INTERNAL_SERVER_ERROR)


def error_page(
    renderer: Renderer, view: View, status: HTTPStatus, error: PilotageError | None = None
) -> Response:
    """The page of an error. It asks the store for nothing: the store may be what failed."""
    path = view.request.url.path
    words = " ".join(part for part in path.replace("-", " ").replace("/", " ").split() if part != "incidents")
    context = {
        "status": int(status),
        "error": error,
        "wanted": words if status == HTTPStatus.NOT_FOUND else "",
        "title": view.t(f"error_{_kind(status)}"),
    }
    response = renderer.respond(view, "error.html", context, status=int(status))
    if status == HTTPStatus.SERVICE_UNAVAILABLE:
        response.headers["Retry-After"] = "5"
    return response


def _kind(status: HTTPStatus) -> str:
    if status in {HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED, HTTPStatus.SERVICE_UNAVAILABLE}:
        return str(int(status))
    return "400" if status < HTTPStatus.INTERNAL_SERVER_ERROR else "500"
