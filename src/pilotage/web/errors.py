"""Errors as HTTP answers: the one map of the tree to a status, and problem documents (RFC 9457)."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import structlog
from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pilotage.core.errors import (
    Busy,
    Conflict,
    InvalidInput,
    NotFound,
    PilotageError,
    StoreError,
    TooLarge,
    Unreachable,
    UserError,
)
from pilotage.core.text import did_you_mean
from pilotage.web.wrong_values import wrong

PROBLEM_TYPE = "application/problem+json"
RETRY_SECONDS = 3
"""What an answer of 503 tells a client to wait; a restarted database server is back by then."""

_STATUS: tuple[tuple[type[PilotageError], int], ...] = (
    (NotFound, 404),
    (Conflict, 409),
    (TooLarge, 413),
    (UserError, 400),
    (StoreError, 503),
    (Unreachable, 503),
    (Busy, 503),
)
_TITLES = {
    400: "The request cannot be answered as asked",
    404: "Nothing is there",
    405: "The method does not fit the address",
    409: "The request clashes with what is there",
    413: "The request is too large",
    414: "The address is too long",
    421: "The server does not answer for this host",
    500: "A fault of Pilotage",
    503: "The server cannot answer now",
}
_LONGEST_TOLD = 300
_LOG = structlog.get_logger()


@dataclass(frozen=True)
class Problem:
    """What went wrong, as every door tells it.

    Attributes:
        status: HTTP status.
        code: stable code, the same as on the command line.
        detail: what went wrong, one sentence.
        hint: what the reader can do about it; may be empty.
    """

    status: int
    code: str
    detail: str
    hint: str = ""

    @property
    def title(self) -> str:
        """The kind of problem in words; the same for every problem of a status."""
        return _TITLES.get(self.status, "The request failed")

    def to_json(self) -> dict[str, Any]:
        """The problem document of RFC 9457 with the members `hint` and `code`."""
        return {
            "type": f"urn:pilotage:error:{self.code}",
            "title": self.title,
            "status": self.status,
            "detail": self.detail,
            "hint": self.hint,
            "code": self.code,
        }

    def headers(self) -> dict[str, str]:
        """Headers that belong to the status."""
        retry = {"Retry-After": str(RETRY_SECONDS)} if self.status == 503 else {}  # noqa: PLR2004
        return {"Cache-Control": "no-store", **retry}


def status_of(error: PilotageError) -> int:
    """The HTTP status of an error: the one mapping of the tree."""
    return next((status for kind, status in _STATUS if isinstance(error, kind)), 500)


def problem_of(error: PilotageError) -> Problem:
    """The problem of an error.

    What is the server's own trouble is told in general words: paths and addresses of the store are nobody's
    business outside.
    """
    status = status_of(error)
    if status >= 500:  # noqa: PLR2004
        return Problem(
            status, error.code, error.summary, "Try again in a few seconds; the server's log says more."
        )
    return Problem(status, error.code, _short(error.message), _short(error.hint))


def bug() -> Problem:
    """The problem of a fault of ours."""
    return Problem(
        500, "bug", "The server failed to answer.", "This is a fault of Pilotage; please report it."
    )


def answer_of(request: Request, problem: Problem, headers: Mapping[str, str] | None = None) -> Response:
    """The answer that tells a problem: a page to a browser on an address of the pages, else a document.

    The pages put a function `(request, problem) -> Response` into `app.state.error_page`.
    """
    page: Callable[[Request, Problem], Response] | None = getattr(request.app.state, "error_page", None)
    told = problem.headers() | dict(headers or {})
    if page is not None and wants_page(request):
        response = page(request, problem)
        response.status_code = problem.status
        response.headers.update(told)
        return response
    return JSONResponse(problem.to_json(), problem.status, told, PROBLEM_TYPE)


def wants_page(request: Request) -> bool:
    """Whether a browser asks, on an address of the pages."""
    path = request.url.path
    machine = path.startswith(("/api/", "/mcp", "/healthz", "/readyz", "/metrics")) or path.endswith(".json")
    return not machine and "text/html" in request.headers.get("accept", "")


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_TOLD else text[: _LONGEST_TOLD - 1] + "…"


def install_errors(app: FastAPI) -> None:
    """Makes every foreseen error of a route a problem."""
    app.add_exception_handler(PilotageError, _foreseen)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _refused)


async def _foreseen(request: Request, error: Exception) -> Response:
    if not isinstance(error, PilotageError):
        raise error
    problem = problem_of(error)
    if problem.status >= 500:  # noqa: PLR2004
        _LOG.warning("request_failed", code=error.code, error=error.message)
    return answer_of(request, problem)


async def _invalid(request: Request, error: Exception) -> Response:
    """A parameter that is unknown, missing or out of its range."""
    if not isinstance(error, RequestValidationError):
        raise error
    first = error.errors()[0]
    name = str(first["loc"][1]) if len(first["loc"]) > 1 else ""
    if first["type"] == "extra_forbidden":
        hint = did_you_mean(name, _parameters(request)) or f"Known are: {', '.join(_parameters(request))}."
        return answer_of(
            request, Problem(400, "unknown-term", f"'{_short(name)}' is no parameter here", _short(hint))
        )
    hint = "The description of the API lists every parameter: /api/v1/openapi.json."
    return answer_of(
        request, Problem(400, InvalidInput.code, f"parameter '{_short(name)}' {_short(wrong(first))}", hint)
    )


def _parameters(request: Request) -> list[str]:
    dependant = getattr(request.scope.get("route"), "dependant", None)
    found: list[str] = []
    for parameter in getattr(dependant, "query_params", ()):
        fields = getattr(parameter.field_info.annotation, "model_fields", None)
        found += list(fields) if fields else [parameter.alias]
    return found


async def _refused(request: Request, error: Exception) -> Response:
    """What the router refuses: no such address, a method that does not fit."""
    if not isinstance(error, HTTPException):
        raise error
    if error.status_code == 404:  # noqa: PLR2004
        hint = "The description of the API lists every address: /api/v1/openapi.json."
        return answer_of(request, Problem(404, NotFound.code, "nothing is at this address", hint))
    if error.status_code == 405:  # noqa: PLR2004
        return _other_method(request, (error.headers or {}).get("Allow", ""))
    code = "usage" if error.status_code < 500 else "bug"  # noqa: PLR2004
    return answer_of(request, Problem(error.status_code, code, _short(str(error.detail))), error.headers)


def _other_method(request: Request, allowed: str) -> Response:
    """What an address takes: an answer to OPTIONS, an error for other methods."""
    methods = {name.strip() for name in allowed.split(",") if name.strip()}
    # HEAD is answered as GET before any route is looked for.
    every = ", ".join(sorted(methods | ({"HEAD"} if "GET" in methods else set()) | {"OPTIONS"}))
    if request.method == "OPTIONS":
        return Response(status_code=204, headers={"Allow": every})
    problem = Problem(
        405, "usage", f"this address does not take {_short(request.method)}", f"This address takes {every}."
    )
    return answer_of(request, problem, {"Allow": every})


class Boundary:
    """The outermost middleware that makes an error an answer: what no handler foresaw is a fault of ours.

    It tells nothing of the fault to the outside; the log has the trace.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves a request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        begun = False

        async def watched(message: Message) -> None:
            nonlocal begun
            begun = begun or message["type"] == "http.response.start"
            await send(message)

        try:
            await self.app(scope, receive, watched)
        except PilotageError as error:
            if begun:
                raise
            response = await _foreseen(Request(scope), error)
            await response(scope, receive, send)
        except ClientDisconnect:
            # Whoever asked has gone before the question was whole: nobody is left to be answered.
            return
        except Exception as error:
            # The boundary: a fault of ours must still end in one clear answer.
            _LOG.error(
                "request_broke", error=f"{type(error).__name__}: {error}", trace=traceback.format_exc()
            )
            if begun:
                # Half an answer is out: the connection must break, so that nobody takes it for a whole one.
                raise
            await answer_of(Request(scope), bug())(scope, receive, send)
