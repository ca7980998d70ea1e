"""Patterns of paths as people write them in ignore files."""

from __future__ import annotations

import functools
import re

from pilotage.core.regex import regex

_PIECE = regex(r"\*\*/|/\*\*\Z|\*\*|\*|\?|\[[^\]]+\]|.", re.DOTALL)
_MEANING = {
    "**/": "(?:[^/]+/)*",
    "/**": "/.+",
    "**": ".*",
    "*": "[^/]*",
    "?": "[^/]",
}


@functools.lru_cache(maxsize=1024)
def path_pattern(glob: str) -> re.Pattern[str]:
    """The pattern as a regular expression for a path with slashes.

    `*` stays within a folder, `**` does not. What has no slash is meant at any depth. What names a folder
    covers all that is in it.
    """
    text = glob.removeprefix("./").rstrip("/")
    if "/" not in text:
        text = f"**/{text}"
    text = text.removeprefix("/")
    pieces = (_meaning(match[0]) for match in _PIECE.finditer(text))
    return re.compile("".join(pieces) + "(?:/.*)?", re.DOTALL)


def _meaning(piece: str) -> str:
    if piece.startswith("[") and len(piece) > 1:
        inner = piece[1:-1]
        # A bracket is a set of characters; `!` at its head means all others.
        negated = inner.startswith(("!", "^"))
        escaped = re.sub(r"[\\\[\]^]", r"\\\g<0>", inner[1:] if negated else inner)
        return f"[{'^' if negated else ''}{escaped}]" if escaped else re.escape(piece)
    return _MEANING.get(piece) or re.escape(piece)


def path_matches(path: str, glob: str) -> bool:
    """Whether a path (with slashes, relative) is meant by a pattern."""
    try:
        return path_pattern(glob).fullmatch(path) is not None
    except re.error:
        return False
