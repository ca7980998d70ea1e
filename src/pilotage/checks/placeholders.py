"""Values that are not meant: templates, texts that somebody is to replace, addresses for show.

A check that judges what a text says asks here first. Whoever wrote such a value knows that it is not
the right one yet, so that a finding would tell nothing.
"""

from __future__ import annotations

import ipaddress
import re
from typing import Any

from pilotage.checks.objects import KubeObject
from pilotage.checks.values import KeyPath, as_text, dig
from pilotage.core.regex import regex

_TO_REPLACE = regex(
    r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|\.{3}.*|.*\.{3}|[xX]{3,}|\$[A-Za-z_]\w*|__\w+__|"
    r"<[^<>]*[A-Za-z][^<>]*>|\[[^\[\]:]*[A-Za-z][^\[\]:]*\]"
)
"""For a script or a reader to replace: a name in capitals or in brackets, a variable, dots: `DISK_SIZE`."""
_INSIDE = regex(r"@@?[A-Za-z][\w.-]*@@?(?![\w.-])|%%?[A-Za-z_]\w*%%?|<[A-Za-z][\w .-]*>")
"""The same in the midst of a text: `app:@tag@`, `%REPLICAS%`, `registry/<name>`."""
_WORDS = (
    r"place-?holder|(?:change|replace)[-_ ]?(?:me|this)|fill[-_ ]?(?:me|this|in)|to be (?:filled|replaced)|"
    r"fix[-_ ]?me|tbd|auto(?:matic(?:ally)?)?[-_ ]replaced?"
)
_SAYS_SO = regex(rf"(?:^|[^a-z])(?:{_WORDS})(?:$|[^a-z])", re.IGNORECASE)
_REMARK = regex(
    rf"{_SAYS_SO.pattern}|\b(?:replace|substitute)\b.*\bwith\b|\b(?:insert|enter|put)\b.*\bhere\b",
    re.IGNORECASE,
)
_LONGEST = 200
_FOR_SHOW = tuple(
    ipaddress.ip_network(one)
    for one in ("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "1.2.3.4/32", "2001:db8::/32")
)
"""The ranges that are kept for documentation, and the address that everybody makes up."""


_NO_PROGRAM = regex(r"(?:^|/)<[^<>]+>(?::[^/]*)?$")
"""The end of an image's name that a reader is to write. Scripts fill in others, which then run."""
_ENCRYPTED = "ENC["
"""How a value begins that SOPS has encrypted."""


def unrendered(value: object) -> bool:
    """Whether a text is still a template, whose value is not known here."""
    text = as_text(value)
    return "{{" in text or "${" in text or "<%" in text


def no_program(image: str) -> bool:
    """Whether a reader is still to choose which program an image holds, so that nothing is known of it."""
    return _NO_PROGRAM.search(image) is not None


def to_fill_in(value: object) -> bool:
    """Whether something else stands in the place of a text when it is applied."""
    if isinstance(value, list | dict):
        return _in_brackets(value)
    text = as_text(value)
    if (
        unrendered(text)
        or "$(" in text
        or text.startswith(_ENCRYPTED)
        or _TO_REPLACE.fullmatch(text) is not None
    ):
        return True
    return len(text) <= _LONGEST and (_SAYS_SO.search(text) or _INSIDE.search(text)) is not None


def _in_brackets(value: list[Any] | dict[str, Any]) -> bool:
    """Whether a list of one, or a mapping of one without a value, is such a text: `[REGION]`, `{REGION}`."""
    inner = next(iter(value)) if len(value) == 1 else None
    if not isinstance(inner, str) or (isinstance(value, dict) and value[inner] is not None):
        return False
    return inner.isupper() or to_fill_in(inner)


def address_for_show(value: object) -> bool:
    """Whether an address stands there to be looked at: nothing answers at it."""
    try:
        found = ipaddress.ip_address(as_text(value))
    except ValueError:
        return False
    return any(found in network for network in _FOR_SHOW)


def is_encrypted(one: KubeObject) -> bool:
    """Whether SOPS has encrypted an object: what it says of that in `sops` is gone when it is applied."""
    return as_text(dig(one.data, "sops", "mac")).startswith(_ENCRYPTED)


_UNWRITTEN = regex(
    r"#.*\badd fields here\b|(?:^|[\s:-])#@|^ *(?:- |[\w./-]+: ).*?(?<=[:-] )#\{[\w.-]+\}",
    re.IGNORECASE | re.MULTILINE,
)


def is_unwritten(one: KubeObject) -> bool:
    """Whether an object is a form that somebody or something is to fill in.

    A generator of operators leaves such (`# Add fields here`), and templates whose values stand where YAML
    sees a comment: of ytt (`hosts: #@ data.values.hosts`), of programs that replace `name: #{NAME}`.
    """
    return one.document is not None and _UNWRITTEN.search(one.document.text) is not None


def left_open(one: KubeObject, path: KeyPath, value: object) -> bool:
    """Whether a value is to be filled in, by what it says or by what a comment beside it says.

    A key without a value is, where a comment stands below it in the place of the value.

    Args:
        one: the object that was read.
        path: the way to the value.
        value: what stands there; None for nothing.
    """
    if to_fill_in(value):
        return True
    if one.document is None or one.get(*path[:-1]) is None:
        return False
    beside = one.get(*path[:-1])
    if not isinstance(beside, dict) or path[-1] not in beside:
        return False
    rows = one.document.text.split("\n")
    at = one.document.position((*one.prefix, *path)).line - one.document.line
    if value is None and _is_comment(rows, at + 1):
        return True
    above = at
    while _is_comment(rows, above - 1):
        above -= 1
    _, mark, behind = rows[at].partition(" #") if at < len(rows) else ("", "", "")
    return any(_REMARK.search(row) for row in (*rows[above:at], behind if mark else ""))


def _is_comment(rows: list[str], at: int) -> bool:
    return 0 <= at < len(rows) and rows[at].lstrip().startswith("#")
