"""What a word without quotes means to kubectl, as a value and as a key.

`on`, `yes` and `y` are booleans, `0777` is octal, `22:30` is text, dates are text.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal
from typing import Any

_TRUE = frozenset("y Y yes Yes YES true True TRUE on On ON".split())
_FALSE = frozenset("n N no No NO false False FALSE off Off OFF".split())
_NULL = frozenset(["", "~", "null", "Null", "NULL"])
NO_TEXT = _TRUE | _FALSE | _NULL - {""}
"""Words of letters that mean something else than themselves."""
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_INTEGER = re.compile(r"[-+]?(?:0[xX][0-9a-fA-F]+|0[oO]?[0-7]+|0[bB][01]+|0|[1-9][0-9]*)")
_LARGEST = 2**64
_LONGEST_NUMBER = 400
_SMALL_EXPONENT, _LARGE_EXPONENT = 4, 6
"""Between these powers of ten Go writes a number without an exponent."""


def plain_value(word: str) -> Any:
    """The value of a word that stands without quotes."""
    if word in _NULL:
        return None
    if word[0] in "+-.0123456789" and len(word) <= _LONGEST_NUMBER:
        return _number_or_word(word)
    return True if word in _TRUE else False if word in _FALSE else word


def _number_or_word(word: str) -> Any:
    digits = word.replace("_", "") if word[0] != "." else word
    if _INTEGER.fullmatch(digits):
        number = _integer(digits)
        if -_LARGEST // 2 <= number < _LARGEST:
            return number
    if _FLOAT.fullmatch(digits):
        value = float(digits)
        return value if math.isfinite(value) else word
    return word


def _integer(digits: str) -> int:
    sign = -1 if digits[0] == "-" else 1
    body = digits.lstrip("+-").lower()
    if body.startswith(("0x", "0b", "0o")):
        return sign * int(body, 0)
    return sign * int(body, 8 if len(body) > 1 and body[0] == "0" else 10)


MERGE = ("<<",)
"""The value of the word that takes over what stands elsewhere."""
NO_JSON = "no JSON"
"""In place of a value: kubectl reads a number and then cannot write it as JSON."""
NOT_FINITE = {
    f"{sign}.{word}": f"{sign.strip('+')}.{word.lower()}"
    for sign in ("", "+", "-")
    for word in ("inf", "Inf", "INF", "nan", "NaN", "NAN")
    if not sign or word.lower() == "inf"
}
"""Numbers that JSON does not know, with the form that they take as keys."""


class _Words(dict[str, Any]):
    """Words already seen; a manifest has few different ones."""

    def __missing__(self, word: str) -> Any:
        value = MERGE if word == "<<" else NO_JSON if word in NOT_FINITE else (plain_value(word),)
        if len(self) < 50_000:  # noqa: PLR2004
            self[word] = value
        return value


WORDS = _Words()


def key_text(key: object) -> str:
    """A key that is no text, as kubectl writes it in JSON.

    Raises:
        ValueError: kubectl refuses it as a key.
    """
    if key is None:
        raise ValueError("a key must not be null")
    if isinstance(key, bool):
        return "true" if key else "false"
    if isinstance(key, float):
        return _float_text(key)
    if isinstance(key, int) and key >= _LARGEST // 2:
        raise ValueError(f"{key} is too large a number for a key")
    return str(key)


def _float_text(number: float) -> str:
    """The shortest form, with an exponent from a million on, as Go writes it."""
    if not number:
        return "-0" if math.copysign(1, number) < 0 else "0"
    exact = Decimal(repr(abs(number))).normalize()
    text = "".join(map(str, exact.as_tuple().digits))
    exponent = exact.adjusted()
    if -_SMALL_EXPONENT <= exponent < _LARGE_EXPONENT:
        body = format(exact, "f")
    else:
        tail = f".{text[1:]}" if len(text) > 1 else ""
        body = f"{text[0]}{tail}e{'-' if exponent < 0 else '+'}{abs(exponent):02}"
    return f"-{body}" if number < 0 else body
