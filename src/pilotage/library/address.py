"""Addresses of sources, in one form, so that the same report is recognised under its many spellings."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, urlencode, urlsplit

_ARCHIVE = re.compile(
    r"^https?://(?:web\.archive\.org/web/[^/]+/|archive\.(?:ph|is|today)/(?:[^/]+/)?)(https?:.*)$"
)
_TRACKING = re.compile(
    r"^(?:utm_.*|fbclid|gclid|mc_cid|mc_eid|ref|ref_src|source|sk|gi|s|share|igshid|trk|_hsenc|_hsmi)$"
)
_INDEX_PAGE = re.compile(r"/(?:index|default)\.(?:html?|php|aspx?)$")


def canonical_url(url: str) -> str:
    """The address in one form.

    That is: https, lower-case host without `www.`, no fragment, no tracking parameters, no index page, no
    slash at the end; and of an archived copy its original.
    """
    text = url.strip()
    archived = _ARCHIVE.match(text)
    if archived:
        text = archived.group(1)
    try:
        parts = urlsplit(text)
        host = (parts.hostname or "").removeprefix("www.").removeprefix("m.").removeprefix("amp.")
        port = f":{parts.port}" if parts.port not in {None, 80, 443} else ""
    except ValueError:
        return text
    if not host:
        return text
    path = _INDEX_PAGE.sub("", re.sub(r"//+", "/", parts.path)).rstrip("/")
    query = urlencode(
        sorted(
            pair for pair in parse_qsl(parts.query, keep_blank_values=True) if not _TRACKING.match(pair[0])
        )
    )
    scheme = "https" if parts.scheme in {"http", "https"} else parts.scheme
    return f"{scheme}://{host}{port}{path}" + (f"?{query}" if query else "")
