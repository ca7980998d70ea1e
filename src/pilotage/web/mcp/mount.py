"""The MCP server within the app: streamable HTTP at `/mcp`."""

from __future__ import annotations

from urllib.parse import urlsplit

from fastapi import FastAPI
from mcp.server.transport_security import TransportSecuritySettings
from starlette.routing import Route

from pilotage.core.settings import Settings
from pilotage.web.mcp.asking import over_http
from pilotage.web.mcp.refusals import Told
from pilotage.web.mcp.server import make_server

PATH = "/mcp"
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


def install_mcp(app: FastAPI) -> None:
    """Adds `/mcp` to the app; its session manager runs as long as the app does.

    Every request stands for itself and is answered with one JSON body, so that any replica can answer it.
    """
    doors = app.state.doors
    decide = over_http(doors.settings, doors.catalogue)
    server = make_server(doors.settings, doors.catalogue, doors.offer, decide=decide)
    served = server.streamable_http_app(
        streamable_http_path=PATH,
        stateless_http=True,
        json_response=True,
        transport_security=transport_security(doors.settings),
    )
    # A route of the app itself, since a mounted app would answer /mcp with a redirect to /mcp/. POST only:
    # the stream that a GET opens stays silent without sessions, and would hold a connection for every client.
    for route in served.routes:
        if isinstance(route, Route):
            told = Told(route.app)
            app.router.routes.append(Route(route.path, told, methods=["POST"], name="mcp"))
    app.state.on_start.append(server.session_manager.run)


def transport_security(settings: Settings) -> TransportSecuritySettings:
    """Which Host and Origin headers are answered: loopback and the names that the settings allow.

    Others get 421 and 403. Without this any web page that a user opens could, by letting its own name resolve
    to loopback, read the library of that user (DNS rebinding).
    """
    names = [*_LOOPBACK, *(name.strip() for name in settings.web.allowed_hosts if name.strip())]
    if settings.web.base_url:
        names.append(urlsplit(settings.web.base_url).netloc.rpartition("@")[2])
    hosts = [host for name in dict.fromkeys(filter(None, names)) for host in (name, f"{name}:*")]
    return TransportSecuritySettings(
        allowed_hosts=hosts,
        allowed_origins=[f"{scheme}://{host}" for host in hosts for scheme in ("http", "https")],
    )
