"""The header that names the next part of a list."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlencode

from starlette.requests import Request


def next_link(request: Request, found: Mapping[str, Any]) -> dict[str, str]:
    """The header `Link` with the address of the next part (RFC 8288), or nothing on the last one."""
    following = found.get("next")
    if following is None:
        return {}
    pairs = [(key, value) for key, value in request.query_params.multi_items() if key != "cursor"]
    return {
        "Link": f'<{quote(request.scope["path"])}?{urlencode([*pairs, ("cursor", following)])}>; rel="next"'
    }
