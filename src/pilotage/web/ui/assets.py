"""The static files: read once, named by their content, cached by browsers for a year."""

from __future__ import annotations

import gzip
import hashlib
from dataclasses import dataclass
from importlib import resources

from starlette.requests import Request
from starlette.responses import Response

_TYPES = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml", "png": "image/png"}
_PACKED = frozenset({"image/png"})
"""Kinds that are compressed as they are."""
_YEAR = "public, max-age=31536000, immutable"
_SHORT = "public, max-age=3600"


@dataclass(frozen=True)
class Asset:
    """One static file."""

    body: bytes
    packed: bytes
    kind: str
    mark: str


class Assets:
    """The files of `static/`."""

    def __init__(self) -> None:
        self._found: dict[str, Asset] = {}
        for item in (resources.files("pilotage.web.ui") / "static").iterdir():
            kind = _TYPES.get(item.name.rpartition(".")[2])
            if kind:
                body = item.read_bytes()
                mark = hashlib.sha256(body).hexdigest()[:12]
                self._found[item.name] = Asset(body, gzip.compress(body, 9, mtime=0), kind, mark)

    def address(self, name: str) -> str:
        """The address of a file; it changes with the content."""
        return f"/static/{name}?v={self._found[name].mark}"

    def respond(self, request: Request, name: str) -> Response | None:
        """The file, compressed where the browser takes it; None when there is none of that name."""
        asset = self._found.get(name)
        if asset is None:
            return None
        headers = {
            "Cache-Control": _YEAR if request.query_params.get("v") == asset.mark else _SHORT,
            "ETag": f'"{asset.mark}"',
            "Vary": "Accept-Encoding",
            "X-Content-Type-Options": "nosniff",
        }
        if asset.mark in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        body = asset.body
        if asset.kind not in _PACKED and "gzip" in request.headers.get("accept-encoding", ""):
            body, headers["Content-Encoding"] = asset.packed, "gzip"
        return Response(body, media_type=asset.kind, headers=headers)
