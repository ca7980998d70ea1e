"""The ASGI app: pages, REST and MCP over one catalogue."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from importlib.metadata import version

from fastapi import FastAPI

from pilotage.core.settings import Settings
from pilotage.library.catalogue import Catalogue
from pilotage.web.api.library import install_api
from pilotage.web.doors import Doors
from pilotage.web.mcp.mount import install_mcp
from pilotage.web.ui.pages import install_pages


def create_app(settings: Settings, catalogue: Catalogue) -> FastAPI:
    """The app over a catalogue whose store is open; the caller closes the store."""
    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for enter in app.state.on_start:
                await stack.enter_async_context(enter())
            yield

    app = FastAPI(
        title="Pilotage",
        version=version("pilotage"),
        openapi_url="/api/v1/openapi.json",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
    )
    app.state.doors = Doors(settings, catalogue)
    app.state.on_start = []
    install_api(app)
    install_mcp(app)
    install_pages(app)
    return app
