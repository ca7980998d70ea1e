"""Opaque cursors, and the header that names the next part."""

from __future__ import annotations

import base64
import binascii
import json
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request

from pilotage.core.errors import InvalidInput


def write_mark(*parts: str) -> str:
    """A cursor that stands behind an item."""
    return base64.urlsafe_b64encode(json.dumps(parts).encode()).decode().rstrip("=")


def read_mark(text: str, size: int) -> tuple[str, ...]:
    """The parts of a cursor.

    Raises:
        InvalidInput: it is none of ours.
    """
    try:
        value: Any = json.loads(base64.urlsafe_b64decode(text.encode() + b"=" * (-len(text) % 4)))
    except (binascii.Error, ValueError, RecursionError):
        value = None
    if not (isinstance(value, list) and len(value) == size and all(isinstance(part, str) for part in value)):
        raise InvalidInput(f"'{text[:40]}' is no cursor", hint="Pass on `next` as it came.")
    return tuple(value)


def next_link(request: Request, found: dict[str, Any], name: str = "cursor") -> dict[str, str]:
    """The header `Link` with the address of the next part (RFC 8288), or nothing on the last one."""
    following = found.get("next_offset" if name == "offset" else "next")
    if following is None:
        return {}
    pairs = [(key, value) for key, value in request.query_params.multi_items() if key != name]
    return {"Link": f'<{request.url.path}?{urlencode([*pairs, (name, following)])}>; rel="next"'}
