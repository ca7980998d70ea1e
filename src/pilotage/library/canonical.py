"""JSON documents as text and their digest: the same value always gives the same digest. Pure."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any

from pilotage.core.errors import InvalidInput

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def encode(document: dict[str, Any]) -> str:
    """The document as ASCII JSON text; keys keep their order, numbers their form.

    Raises:
        InvalidInput: it holds NaN, an infinity or something that JSON has no form for, or is nested too deep.
    """
    return _dump(document, sort_keys=False)


def decode(text: str) -> dict[str, Any]:
    """The document of a text that `encode` made."""
    document: dict[str, Any] = json.loads(text)
    return document


def digest(document: dict[str, Any]) -> str:
    """SHA-256 of the canonical JSON (sorted keys, no spaces, ASCII), hexadecimal.

    Raises:
        InvalidInput: as `encode`.
    """
    return hashlib.sha256(_dump(document, sort_keys=True).encode("ascii")).hexdigest()


def storable(text: str) -> str:
    """The text with NUL and lone surrogates replaced, which no database takes in a plain text column."""
    return _UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", text)


def key_of(*parts: str) -> str:
    """A short fixed-length key of texts of any length, for indexes that bound the length of their entries."""
    return hashlib.sha256(json.dumps(parts).encode("ascii")).hexdigest()[:32]


def _dump(document: dict[str, Any], *, sort_keys: bool) -> str:
    try:
        return json.dumps(document, allow_nan=False, separators=(",", ":"), sort_keys=sort_keys)
    except (ValueError, TypeError, RecursionError) as error:
        raise InvalidInput(
            f"the record cannot be written as JSON: {error}",
            hint="Only objects, lists, texts, finite numbers, true, false and null have a place in a record.",
        ) from error
