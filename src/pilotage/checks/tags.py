"""Tags without a name (`! 12` is text), which the C parser does not tell from plain words.

Scripts inside of manifests are full of exclamation marks. To find that all of them stand inside of text takes
a tenth of the time of reading a document event by event.
"""

from __future__ import annotations

import bisect
from typing import Any

import yaml

from pilotage.core.regex import regex

_BARE_TAG = regex(r"(?:^|[\s\[{,])!(?=\s)")


def bare_tags(text: str) -> list[int]:
    """Where something stands that may be a tag without a name."""
    return [match.end() - 1 for match in _BARE_TAG.finditer(text)] if "!" in text else []


def any_outside_of_words(places: list[int], node: Any, text: str) -> bool:
    """Whether any of the places is not inside of a scalar, where it is text and no tag.

    Args:
        places: what `bare_tags` found.
        node: the root of the document, from PyYAML's composer.
        text: the document.
    """
    spans = sorted(_spans(node).items())
    for place in places:
        at = bisect.bisect_right(spans, (place, len(text))) - 1
        # A scalar that begins with a tag or an anchor holds the tag in question within its own bounds.
        if at < 0 or place >= spans[at][1] or text[spans[at][0]] in "!&":
            return True
    return False


def _spans(root: Any) -> dict[int, int]:
    """Where each scalar begins and ends."""
    found: dict[int, int] = {}
    waiting, seen = [root], set()
    while waiting:
        node = waiting.pop()
        if isinstance(node, yaml.ScalarNode):
            found[node.start_mark.index] = node.end_mark.index
        elif node is not None and id(node) not in seen:
            seen.add(id(node))
            pairs = node.value if isinstance(node, yaml.MappingNode) else [(item,) for item in node.value]
            waiting.extend(part for pair in pairs for part in pair)
    return found
