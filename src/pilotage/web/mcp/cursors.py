"""Opaque cursors of ranked lists: where to go on, and of which question."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from typing import Any

from pilotage.core.errors import InvalidInput

_MOST = 1_000_000


def write_cursor(offset: int, *question: object) -> str:
    """The cursor of the items behind the first so many of a question's answer."""
    text = json.dumps([offset, _mark(question)], separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def read_cursor(cursor: str | None, *question: object) -> int:
    """The offset that a cursor stands for; 0 without one. Any replica can read it.

    Raises:
        InvalidInput: it is none of ours, or it belongs to another question.
    """
    if not cursor:
        return 0
    try:
        value: Any = json.loads(base64.urlsafe_b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4)))
    except (binascii.Error, ValueError):
        value = None
    match value:
        case [int(offset), str(mark)] if 0 < offset <= _MOST:
            if mark == _mark(question):
                return offset
            raise InvalidInput(
                "this cursor belongs to a call with other arguments",
                hint="Repeat the call that gave it, or leave cursor out to start anew.",
            )
    raise InvalidInput(
        f"'{cursor[:40]}' is no cursor", hint="Pass next_cursor on as it came, or leave it out."
    )


def _mark(question: tuple[object, ...]) -> str:
    return hashlib.sha256(json.dumps(question, ensure_ascii=True, default=str).encode()).hexdigest()[:12]
