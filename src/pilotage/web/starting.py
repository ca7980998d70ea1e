"""The time between taking the port and being able to answer: what is asked meanwhile is told to come back."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path

import structlog
from fastapi import FastAPI
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from pilotage.core.errors import Busy
from pilotage.web.doors import language_of
from pilotage.web.errors import PROBLEM_TYPE, RETRY_SECONDS, Problem, wants_page
from pilotage.web.headers import Headers
from pilotage.web.health import alive

LOADING = Problem(503, Busy.code, "the server is loading", "Try again in a few seconds.")
_TOLD = {
    "en": "Pilotage is loading. This page asks again by itself.\n",
    "ko": "Pilotage를 불러오는 중이다. 이 페이지는 스스로 다시 묻는다.\n",
}
_LOG = structlog.get_logger()


def _end_the_server() -> None:
    signal.raise_signal(signal.SIGTERM)


class Starting:
    """An app that is being made: 503 until it is there, then the app itself.

    Loading the model, the vectors and the vocabulary takes seconds. A probe that waits for them in silence
    cannot tell a server that loads from one that hangs.

    Args:
        make: makes the app; called on a thread.
        end: ends the server when it could not be made.
        shared: a file that tells the workers of a server that one of them can answer. From then on a request
            that comes to one that loads waits for it: the server as a whole has said that it is ready.

    Attributes:
        failure: why it could not be made; the server then ends.
    """

    def __init__(
        self,
        make: Callable[[], FastAPI],
        end: Callable[[], None] = _end_the_server,
        shared: Path | None = None,
    ) -> None:
        self._make = make
        self._end = end
        self._shared = shared
        self._tried = asyncio.Event()
        self._app: FastAPI | None = None
        self._waiting: ASGIApp = Headers(_come_back)
        self.failure: BaseException | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves a request, or the life of the server."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
            return
        if self._app is None and scope.get("path") != "/healthz" and self._others_answer():
            await self._tried.wait()
        await (self._app or self._waiting)(scope, receive, send)

    def _others_answer(self) -> bool:
        return self._shared is not None and self._shared.exists()

    async def _live(self, receive: Receive, send: Send) -> None:
        ending = asyncio.Event()
        await receive()
        # One task from beginning to end: what the app enters must be left by whoever entered it.
        life = asyncio.create_task(self._load_and_last(ending))
        await send({"type": "lifespan.startup.complete"})
        await receive()
        ending.set()
        await life
        await send({"type": "lifespan.shutdown.complete"})

    async def _load_and_last(self, ending: asyncio.Event) -> None:
        async with AsyncExitStack() as life:
            try:
                app = await run_in_threadpool(self._make)
                await life.enter_async_context(app.router.lifespan_context(app))
            except BaseException as error:  # noqa: BLE001 - a boundary: told by whoever started the server
                self.failure = error
                _LOG.error("loading_failed", error=f"{type(error).__name__}: {error}")
                self._tried.set()
                self._end()
                return
            self._app = app
            self._tried.set()
            if self._shared is not None:
                self._shared.touch()
            await ending.wait()


async def _come_back(scope: Scope, receive: Receive, send: Send) -> None:
    request = Request(scope)
    await _answer(request)(scope, receive, send)


def _answer(request: Request) -> Response:
    if request.url.path == "/healthz":
        return alive()
    if wants_page(request):
        again = {**LOADING.headers(), "Refresh": str(RETRY_SECONDS)}
        return PlainTextResponse(_TOLD[language_of(request)], LOADING.status, again)
    return JSONResponse(LOADING.to_json(), LOADING.status, LOADING.headers(), PROBLEM_TYPE)
