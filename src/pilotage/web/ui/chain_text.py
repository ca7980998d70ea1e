"""Breaking the short texts of a drawing into lines, by an estimate of their width. Pure."""

from __future__ import annotations

_NARROW = frozenset("iljtfr.,;:!'|()[]{}- ")


def width(text: str, size: float) -> float:
    """About how wide a text is, in the units of `size`; tried with four fonts."""
    return size * sum(_em(sign) for sign in text)


def _em(sign: str) -> float:
    if "가" <= sign <= "힣" or ord(sign) > 0x2E80:  # noqa: PLR2004 - from there on characters are full-width
        return 0.93
    if sign.isupper():
        return 0.69
    return 0.31 if sign in _NARROW else 0.57


def lines(text: str, room: float, size: float) -> list[str]:
    """The text in lines no wider than `room`; a word that is wider than a line is cut."""
    found: list[str] = []
    current = ""
    for word in text.split():
        for piece in _pieces(word, room, size):
            joined = f"{current} {piece}" if current else piece
            if width(joined, size) <= room:
                current = joined
            else:
                found.append(current)
                current = piece
    return [line for line in [*found, current] if line]


def _pieces(word: str, room: float, size: float) -> list[str]:
    if width(word, size) <= room:
        return [word]
    pieces, current = [], ""
    for sign in word:
        if current and width(current + sign, size) > room:
            pieces.append(current)
            current = ""
        current += sign
    return [*pieces, current]
