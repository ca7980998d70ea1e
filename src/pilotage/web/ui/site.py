"""What belongs to the site rather than to a record: set-up, choices, robots, static files."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from http.cookies import SimpleCookie

from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response

from pilotage.library.record import LANGS
from pilotage.web.doors import LANG_COOKIE, THEME_COOKIE, doors_of
from pilotage.web.ui.rendering import Renderer, View
from pilotage.web.ui.routing import Found

_YEAR = 31_536_000
_CHOICES: dict[str, tuple[str, tuple[str, ...]]] = {
    "lang": (LANG_COOKIE, LANGS),
    "theme": (THEME_COOKIE, ("light", "dark", "system")),
}


def about_api(_: View) -> Found:
    """How programs and agents ask: REST, MCP, command line."""
    return "about_api.html", {"example": "p90 up, ingress OOM-killed"}


async def preferences(request: Request) -> Response:
    """Keeps a choice of language or colours in a cookie and goes back to where it was made."""
    response = RedirectResponse(_back(request.query_params.get("back", "/")), 303)
    for name, (cookie, known) in _CHOICES.items():
        value = request.query_params.get(name)
        if value in known:
            response.headers.append(
                "Set-Cookie", _cookie(cookie, value, secure=request.url.scheme == "https")
            )
    response.headers["Cache-Control"] = "no-store"
    return response


def _back(address: str) -> str:
    """The address if it lies on this site, else the home page: two slashes of either kind lead elsewhere."""
    safe = address.startswith("/") and not address.startswith("//") and "\\" not in address
    return address if safe and address.isprintable() else "/"


def _cookie(name: str, value: str, *, secure: bool) -> str:
    cookie = SimpleCookie({name: value})
    cookie[name]["path"] = "/"
    cookie[name]["max-age"] = 0 if value == "system" else _YEAR
    cookie[name]["samesite"] = "Lax"
    if secure:
        cookie[name]["secure"] = True
    return cookie.output(header="").strip()


async def robots(request: Request) -> Response:
    """What crawlers may read: every record once, no search pages."""
    base = (doors_of(request).settings.web.base_url or str(request.base_url)).rstrip("/")
    lines = [
        "User-agent: *",
        "Disallow: /search",
        "Disallow: /preferences",
        "Disallow: /compare",
        f"# {base}/incidents",
    ]
    return PlainTextResponse("\n".join(lines) + "\n", headers={"Cache-Control": "public, max-age=3600"})


def static(renderer: Renderer) -> Callable[[Request], Awaitable[Response]]:
    """The endpoint of the static files."""

    async def answer(request: Request) -> Response:
        found = renderer.assets.respond(request, request.path_params["name"])
        return found or PlainTextResponse("no such file", 404)

    return answer


def favicon(renderer: Renderer) -> Callable[[Request], Awaitable[Response]]:
    """The endpoint for browsers that ask for an icon unbidden."""

    async def answer(request: Request) -> Response:
        return renderer.assets.respond(request, "favicon.svg") or PlainTextResponse("no such file", 404)

    return answer
