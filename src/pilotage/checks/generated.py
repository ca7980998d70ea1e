"""Files that say that a program writes them: to mend one is to mend what it is made from."""

from __future__ import annotations

import itertools
import re

from pilotage.checks.objects import SourceFile
from pilotage.core.regex import regex

_SAYS_SO = regex(
    r"\bauto(?:matically)?[- ]?generated\b|\bgenerated (?:by|file|from|with)\b|"
    r"\bdo not (?:manually |directly )?(?:edit|modify|change)\b",
    re.IGNORECASE,
)
_HEAD = 4000
ELSEWHERE = "This file says that it is generated: change what it is made from."


def says_generated(source: SourceFile | None) -> bool:
    """Whether the comments at the head of a file say that nobody is to edit it by hand."""
    if source is None or source.origin is not None:
        return False
    lines = source.part(0, _HEAD).split("\n")
    head = itertools.takewhile(lambda line: not line.strip() or line.startswith(("#", "---")), lines)
    return any(_SAYS_SO.search(line) for line in head)
