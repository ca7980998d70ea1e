"""What every request needs: the catalogue, and whose records the one who asks may see."""

from __future__ import annotations

import hmac
import re
from dataclasses import dataclass, field

from starlette.requests import HTTPConnection

from pilotage.core.settings import Settings
from pilotage.library.catalogue import Catalogue
from pilotage.library.record import LANGS, Lang
from pilotage.library.stores.protocol import Audience
from pilotage.web.checking import Offer, shipped

LANG_COOKIE = "lang"
THEME_COOKIE = "theme"
_WEIGHT = re.compile(r";\s*q=([01](?:\.\d{0,3})?)\s*$", re.ASCII)


@dataclass(frozen=True)
class Doors:
    """The state of the app; in `app.state.doors`.

    Attributes:
        settings: the settings in force.
        catalogue: the answers.
        offer: the checks.
    """

    settings: Settings
    catalogue: Catalogue
    offer: Offer = field(default_factory=shipped)

    def audience(self, authorization: str | None) -> Audience:
        """Whose records a request may see: `all` with the right token, else `public`."""
        # A token that comes from a file often ends in a line break.
        token = self.settings.web.token.strip().encode("utf-8", "surrogateescape")
        if not token or not authorization:
            return "public"
        scheme, _, given = authorization.partition(" ")
        # Compared in constant time, so that the token cannot be guessed byte by byte.
        right = hmac.compare_digest(given.strip().encode("latin-1", "replace"), token)
        return "all" if scheme.lower() == "bearer" and right else "public"


def doors_of(connection: HTTPConnection) -> Doors:
    """The doors of the app that serves a request."""
    doors = connection.app.state.doors
    if not isinstance(doors, Doors):
        raise TypeError("the app was made without doors")
    return doors


def audience_of(connection: HTTPConnection) -> Audience:
    """Whose records a request may see."""
    return doors_of(connection).audience(connection.headers.get("authorization"))


def language_of(connection: HTTPConnection) -> Lang:
    """The language of an answer: `lang=` in the address, else the cookie, else what the browser prefers."""
    asked = connection.query_params.get("lang") or connection.cookies.get(LANG_COOKIE) or ""
    if asked in LANGS:
        return "ko" if asked == "ko" else "en"
    listed = connection.headers.get("accept-language", "").lower().split(",")
    for part in sorted(filter(_weight, listed), key=_weight, reverse=True):
        tag = part.strip()
        if tag.startswith("ko"):
            return "ko"
        if tag.startswith("en"):
            return "en"
    return "en"


def _weight(part: str) -> float:
    """How much a language of `Accept-Language` is wanted (RFC 9110, section 12.4.2); 0: not at all."""
    found = _WEIGHT.search(part)
    return float(found[1]) if found else 1.0
