"""Texts to check that came in a wrapper: JSON around a manifest, a form, a manifest without its line ends."""

from __future__ import annotations

import json
import re
from typing import Any

from pilotage.core.errors import InvalidInput

_BARE = (
    "Send the manifests or the configuration by themselves, as they would stand in a file "
    "(curl --data-binary @deploy.yaml), or as the part `text` of a multipart form."
)
_FORM = re.compile(r"\w{1,40}=[^\n]{0,200}(?:%[0-9A-Fa-f]{2}|apiVersion)")
_NO_LINES = re.compile(r"\bapiVersion: ?[\w./]+?(?:kind|metadata|spec):")
_NAMES = (
    "text",
    "manifest",
    "manifests",
    "content",
    "contents",
    "yaml",
    "body",
    "data",
    "files",
    "resources",
)


def refuse_wrapped(text: str) -> None:
    """Tells what to send instead of a wrapper; says nothing of any other text.

    Raises:
        InvalidInput: the text is a wrapper.
    """
    if said := _said(text.strip().removeprefix("\ufeff")):
        raise InvalidInput(said, hint=_BARE)


def _said(text: str) -> str:
    if text[:1] in {"{", "[", '"'}:
        try:
            return _of_json(json.loads(text))
        except (ValueError, RecursionError):
            return ""
    if _FORM.match(text):
        return f"this is a form whose field `{text.partition('=')[0]}` may hold what is to be checked"
    if "\n" not in text and _NO_LINES.search(text):
        return "this is a manifest without its line ends, which `curl --data @FILE` takes out"
    return ""


def _of_json(value: Any) -> str:
    if isinstance(value, str):
        return "this is a JSON string: what stands in it is not read"
    if isinstance(value, list):
        return "this is a JSON list: what stands in it is not read, other than in the `items` of a `List`"
    if not isinstance(value, dict) or isinstance(value.get("kind"), str):
        return ""
    name = next((key for key in (*_NAMES, *value) if _may_hold(value.get(key))), "")
    within = f": what stands in its `{name[:60]}` is not read" if name else ""
    return f"this is a JSON object without `kind`, no Kubernetes object{within}"


def _may_hold(value: object) -> bool:
    """Whether a value may be a manifest or a configuration, or several."""
    if isinstance(value, list):
        return any(_may_hold(one) for one in value)
    return isinstance(value, dict) or (isinstance(value, str) and "\n" in value.strip())
