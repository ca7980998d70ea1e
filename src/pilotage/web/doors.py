"""What every request needs: the catalogue, and whose records the one who asks may see."""

from __future__ import annotations

import hmac
from dataclasses import dataclass, field

from starlette.requests import HTTPConnection

from pilotage.core.settings import Settings
from pilotage.library.catalogue import Catalogue
from pilotage.library.record import LANGS, Lang
from pilotage.library.stores.protocol import Audience
from pilotage.web.checking import Offer, shipped

LANG_COOKIE = "lang"
THEME_COOKIE = "theme"


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
        token = self.settings.web.token
        if not token or not authorization:
            return "public"
        scheme, _, given = authorization.partition(" ")
        # Compared in constant time, so that the token cannot be guessed byte by byte.
        right = hmac.compare_digest(given.strip().encode("utf-8", "replace"), token.encode())
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
    for part in connection.headers.get("accept-language", "").split(","):
        tag = part.split(";")[0].strip().lower()
        if tag.startswith("ko"):
            return "ko"
        if tag.startswith("en"):
            return "en"
    return "en"
