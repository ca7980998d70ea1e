"""From a template to a response: the words of the reader's language, addresses, headers, a small cache."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from pilotage.core.text import printable
from pilotage.library.record import LANGS, Lang
from pilotage.library.stores.protocol import Audience
from pilotage.web.doors import LANG_COOKIE, THEME_COOKIE, Doors, audience_of, doors_of, language_of
from pilotage.web.ui import text
from pilotage.web.ui.assets import Assets
from pilotage.web.ui.words import Words

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "strict-origin-when-cross-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
    "Cross-Origin-Opener-Policy": "same-origin",
}
_VARY = "Accept-Encoding, Accept-Language, Authorization, Cookie"
_MOST_KEPT = 256
_LONGEST_KEPT = 400_000


@dataclass
class View:
    """What every template knows of the request.

    Attributes:
        request: the request.
        doors: the catalogue and the settings.
        lang: language of the page.
        theme: the reader's choice of colours, or nothing for that of the system.
        audience: whose records may be shown.
        icons: names of the icons that the page used; they are drawn once, at its end.
    """

    request: Request
    doors: Doors
    lang: Lang
    theme: str
    audience: Audience
    icons: dict[str, None] = field(default_factory=dict)

    @property
    def t(self) -> Words:
        """The words of the page's language."""
        return Words(self.lang)

    @property
    def path(self) -> str:
        """The path of this page, quoted."""
        return quote(self.request.url.path)

    @property
    def base(self) -> str:
        """Address of the site without a slash at its end."""
        return (self.doors.settings.web.base_url or str(self.request.base_url)).rstrip("/")

    @property
    def carried(self) -> dict[str, str]:
        """`lang`, as long as the address and not the cookie decides it."""
        asked = self.request.query_params.get("lang", "")
        return {"lang": asked} if asked in LANGS and self.request.cookies.get(LANG_COOKIE) != asked else {}

    def u(self, path: str, pairs: Sequence[tuple[str, str]] = (), **params: Any) -> str:
        """The address of a page of ours."""
        path, sign, anchor = path.partition("#")
        query = [*pairs, *((key, str(value)) for key, value in params.items() if value not in (None, ""))]
        query += list(self.carried.items())
        return path + (f"?{urlencode(query)}" if query else "") + sign + anchor

    def here(self, lang: str = "", *, twin: bool = False) -> str:
        """The address of this page in a language, or of its JSON twin."""
        kept = [
            (key, value)
            for key, value in self.request.query_params.multi_items()
            if key not in {"lang", "fragment"}
        ]
        kept += [("lang", lang)] if lang else []
        path = (self.path.rstrip("/") or "/index") + ".json" if twin else self.path
        return path + (f"?{urlencode(kept)}" if kept else "")

    def choose(self, **choice: str) -> str:
        """The address that sets a choice of the reader and comes back here."""
        return "/preferences?" + urlencode({**choice, "back": self.here()})

    def icon(self, name: str, cls: str = "icon") -> Markup:
        """An icon."""
        self.icons[name] = None
        return Markup('<svg class="{}" aria-hidden="true"><use href="#i-{}"/></svg>').format(cls, name)

    def need(self, *names: str) -> str:
        """Has icons drawn that a drawing or a later fragment refers to."""
        self.icons.update(dict.fromkeys(names))
        return ""

    def facet(self, facet: str, slug: str) -> str:
        """What a reader sees for a value of a facet."""
        return self.doors.catalogue.vocabulary.facet_label(facet, slug, self.lang)


class Kept:
    """Rendered pages, as long as the store stays as it is. Bounded, shared between threads."""

    def __init__(self) -> None:
        self._pages: OrderedDict[tuple[object, ...], tuple[bytes, str]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: tuple[object, ...]) -> tuple[bytes, str] | None:
        """A page and its tag."""
        with self._lock:
            if key in self._pages:
                self._pages.move_to_end(key)
            return self._pages.get(key)

    def put(self, key: tuple[object, ...], page: tuple[bytes, str]) -> None:
        """Keeps a page; the one that was not asked for longest goes."""
        if len(page[0]) > _LONGEST_KEPT:
            return
        with self._lock:
            self._pages[key] = page
            while len(self._pages) > _MOST_KEPT:
                self._pages.popitem(last=False)


class Renderer:
    """The templates of one app."""

    def __init__(self) -> None:
        self.assets = Assets()
        self.kept = Kept()
        self.env = Environment(
            loader=PackageLoader("pilotage.web.ui", "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            finalize=_shown,
            auto_reload=False,
        )
        self.env.globals |= {"asset": self.assets.address, "LANGS": LANGS}
        self.env.filters |= {
            "prose": text.prose,
            "inline": text.inline,
            "plain": text.plain,
            "marked": text.marked,
            "href": text.href,
            "host": text.host,
            "n": _number,
        }

    def view(self, request: Request) -> View:
        """What templates know of a request."""
        theme = request.cookies.get(THEME_COOKIE, "")
        return View(
            request=request,
            doors=doors_of(request),
            lang=language_of(request),
            theme=theme if theme in {"light", "dark"} else "",
            audience=audience_of(request),
        )

    def html(self, view: View, template: str, context: Mapping[str, Any]) -> str:
        """A template, filled in."""
        return self.env.get_template(template).render(v=view, t=view.t, u=view.u, icon=view.icon, **context)

    def respond(
        self, view: View, template: str, context: Mapping[str, Any], *, status: int = 200
    ) -> Response:
        """A page."""
        body = self.html(view, template, context).encode("utf-8", "replace")
        return self.answer(view, body, tag_of(body), status=status)

    def answer(self, view: View, body: bytes, tag: str, *, status: int = 200) -> Response:
        """A page that is rendered already; 304 where the reader has it."""
        headers = {**HEADERS, "Vary": _VARY, "Content-Language": view.lang}
        # A page with private records must not lie in any cache.
        headers["Cache-Control"] = "no-cache" if view.audience == "public" else "private, no-store"
        if status == 200 and view.audience == "public":  # noqa: PLR2004
            headers["ETag"] = tag
            if tag in view.request.headers.get("if-none-match", ""):
                return Response(status_code=304, headers=headers)
        return Response(body, status, headers, "text/html")


def tag_of(body: bytes) -> str:
    """The weak ETag of a page: weak, since it may be compressed on its way."""
    return f'W/"{hashlib.sha256(body).hexdigest()[:20]}"'


def _shown(value: Any) -> Any:
    """Drops control and direction-override characters from everything that a template prints."""
    if isinstance(value, Markup):
        return value
    return printable(value) if isinstance(value, str) else value


def _number(value: float) -> str:
    return f"{value:.1f}".rstrip("0").rstrip(".") or "0"
