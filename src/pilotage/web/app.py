"""The ASGI app: pages, REST and MCP over one catalogue."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from importlib.metadata import version

from anyio.to_thread import current_default_thread_limiter
from fastapi import FastAPI
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware

from pilotage.core.settings import Settings
from pilotage.library.catalogue import Catalogue
from pilotage.web.api.library import install_api
from pilotage.web.caching import Caching
from pilotage.web.checking import Offer
from pilotage.web.doors import Doors
from pilotage.web.errors import Boundary, install_errors
from pilotage.web.headers import Headers
from pilotage.web.health import install_health
from pilotage.web.limits import Limits
from pilotage.web.mcp.mount import install_mcp
from pilotage.web.metrics import Meters, Watching, install_metrics
from pilotage.web.ui.pages import install_pages

THREADS = 8
"""How many requests are worked on at once, per process. More would only wait for one another (the interpreter
runs one thread at a time) and would need more connections to the store than it keeps open."""
_WORTH_COMPRESSING_BYTES = 1_000
_GZIP_LEVEL = 6


def create_app(settings: Settings, catalogue: Catalogue) -> FastAPI:
    """The app over a catalogue whose store is open; the caller closes the store.

    Raises:
        NotFound, InvalidInput, MissingExtra: see `Offer.of`.
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        current_default_thread_limiter().total_tokens = THREADS
        async with AsyncExitStack() as stack:
            for enter in app.state.on_start:
                await stack.enter_async_context(enter())
            yield

    meters = Meters()
    app = FastAPI(
        title="Pilotage",
        version=version("pilotage"),
        openapi_url="/api/v1/openapi.json",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        # From the outside in. Errors become answers inside of what counts them and gives them their headers.
        middleware=[
            Middleware(Watching, meters=meters),
            Middleware(Headers),
            Middleware(Boundary),
            Middleware(Limits),
            Middleware(Caching),
            Middleware(GZipMiddleware, minimum_size=_WORTH_COMPRESSING_BYTES, compresslevel=_GZIP_LEVEL),
        ],
    )
    app.state.doors = Doors(settings, catalogue, Offer.of(settings.web))
    app.state.meters = meters
    app.state.on_start = []
    install_errors(app)
    install_health(app)
    install_metrics(app)
    install_api(app)
    install_mcp(app)
    install_pages(app)
    return app
