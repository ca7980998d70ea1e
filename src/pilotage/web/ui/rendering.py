"""From a template to a response: the words of the reader's language, addresses, icons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from pilotage.core.text import printable
from pilotage.library.record import LANGS, Lang, Record
from pilotage.library.stores.protocol import Audience, Tag
from pilotage.library.terms import FACETS
from pilotage.web.doors import THEME_COOKIE, Doors, audience_of, doors_of, language_of
from pilotage.web.ui import text
from pilotage.web.ui.assets import Assets
from pilotage.web.ui.titles import title_of
from pilotage.web.ui.words import Words


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
        """`lang`, when the address and not the cookie decides it: links within the page keep it."""
        asked = self.request.query_params.get("lang", "")
        return {"lang": asked} if asked in LANGS else {}

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


class Renderer:
    """The templates of one app."""

    def __init__(self) -> None:
        self.assets = Assets()
        self.env = Environment(
            loader=PackageLoader("pilotage.web.ui", "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            finalize=_shown,
            auto_reload=False,
        )
        self.env.globals |= {
            "asset": self.assets.address,
            "LANGS": LANGS,
            "title": title_of,
            "record_date": _record_date,
            "term_url": _term_url,
        }
        self.env.filters |= {
            "prose": text.prose,
            "inline": text.inline,
            "humps": text.humps,
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
        return Response(body, status, {"Content-Language": view.lang}, "text/html")


def _shown(value: Any) -> Any:
    """Drops control and direction-override characters from everything that a template prints."""
    if isinstance(value, Markup):
        return value
    return printable(value) if isinstance(value, str) else value


def _record_date(record: Record, lang: Lang) -> tuple[str, str]:
    return (
        text.date_text(record.date, record.date_precision, lang),
        text.date_attribute(record.date, record.date_precision),
    )


def _term_url(view: View, tag: Tag) -> str:
    """Where a term leads: organisations have pages of their own, years are a topic."""
    facet, slug = tag
    if facet == "organisation":
        return view.u(f"/organisations/{quote(slug)}")
    kind = FACETS[facet]
    if kind and slug in view.doors.catalogue.vocabulary.terms.get(kind, {}):
        return view.u(f"/vocabulary/{kind}/{quote(slug)}")
    return view.u("/topics", [("facet", f"{facet}:{slug}")])


def _number(value: float) -> str:
    return f"{value:.1f}".rstrip("0").rstrip(".") or "0"
