"""Text that may come from anywhere: normal form, what a terminal may show, nearest words."""

from __future__ import annotations

import functools
import importlib
import re
import unicodedata
from collections.abc import Iterable
from typing import Any

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def normalise(text: str) -> str:
    """NFC form, so that decomposed Hangul (as macOS writes it) equals composed Hangul."""
    return unicodedata.normalize("NFC", text)


def printable(text: str) -> str:
    """The text without control and direction-override characters, so that no report can drive a terminal."""
    return _CONTROLS.sub("", text)


def kind_of(value: object) -> str:
    """What a decoded JSON or YAML value is, in the words of whoever wrote the file."""
    names = {str: "a text", bool: "true or false", list: "a list", dict: "an object", type(None): "null"}
    return names.get(type(value), "a number" if isinstance(value, int | float) else "something else")


def shorten(text: str, limit: int) -> str:
    """The text cut at a word boundary to at most `limit` characters, with an ellipsis where it was cut."""
    if len(text) <= limit:
        return text
    cut = text[: limit - 1]
    head, _, _ = cut.rpartition(" ")
    return (head if len(head) > limit // 2 else cut).rstrip() + "…"


def kebab(text: str) -> str:
    """The slug of a name: `Parse.ly` becomes `parse-ly`, `엘라스틱` stays."""
    return re.sub(r"[^0-9a-z가-힣]+", "-", normalise(text).lower()).strip("-")


def nearest(word: str, known: Iterable[str], *, limit: int = 3) -> list[str]:
    """The known words that are nearest to a mistyped one, best first; empty when none is near.

    The distance is optimal string alignment (insert, delete, replace, swap of neighbours), as typing errors
    are: Damerau, "A technique for computer detection and correction of spelling errors", CACM 7 (1964).
    A word that contains the mistyped one, or all of its parts between dashes, also counts as near.
    """
    wanted = normalise(word).lower()
    names = list(dict.fromkeys(known))
    found = _rapidfuzz().process.extract(
        wanted,
        names,
        scorer=_rapidfuzz().distance.OSA.normalized_similarity,
        processor=str.lower,
        limit=limit,
        score_cutoff=0.6,
    )
    near = [name for name, _, _ in found]
    parts = [name for name in names if _within(wanted, name.lower()) and name not in near]
    return (near + sorted(parts, key=len))[:limit]


def edits(one: str, other: str) -> int:
    """How many typing errors (see `nearest`) make one word of another."""
    found: int = _rapidfuzz().distance.OSA.distance(one, other)
    return found


def likeness(one: str, other: str) -> float:
    """1 for equal words, 0 for words that have nothing in common; by typing errors and length."""
    found: float = _rapidfuzz().distance.OSA.normalized_similarity(one, other)
    return found


@functools.cache
def _rapidfuzz() -> Any:
    # Only whoever mistyped something pays for its import.
    return importlib.import_module("rapidfuzz")


def _within(wanted: str, name: str) -> bool:
    words = wanted.split("-")
    return (len(wanted) >= 3 and wanted in name) or (len(words) > 1 and set(words) <= set(name.split("-")))  # noqa: PLR2004


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A hint that names the nearest known words, or all of them when they are few, or nothing."""
    names = list(dict.fromkeys(known))
    near = nearest(word, names)
    if near:
        return "Did you mean " + " or ".join(f"'{name}'" for name in near) + "?"
    if 0 < len(names) <= 12:  # noqa: PLR2004
        return "Known are: " + ", ".join(sorted(names)) + "."
    return ""
