"""Korean sentences made from parts: which form of a particle follows a label.

은/는, 이/가, 을/를, 과/와 and 으로/로 depend on whether the word before ends in a consonant *as it is
read*. For Hangul that is exact (Unicode 15.0, section 3.12: a syllable is 0xAC00 + (lead * 21 + vowel) * 28 +
final). Latin words and numbers go by how they are usually read in Korean: roughly, but well enough for the
names of products.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_FIRST, _LAST = 0xAC00, 0xD7A3
_FINALS = 28
_RIEUL = 8

_DIGIT_FINALS = {"0": "ㅇ", "1": "ㄹ", "3": "ㅁ", "6": "ㄱ", "7": "ㄹ", "8": "ㄹ"}
"""영, 일, 삼, 육, 칠, 팔 end in a consonant; so do 십, 백, 천 and 만, which end in 0 when written."""

_LETTER_FINALS = {"l": "ㄹ", "m": "ㅁ", "n": "ㄴ", "r": "ㄹ"}
"""Names of letters that end in a consonant: 엘, 엠, 엔, 알."""

_PARENTHESES = re.compile(r"\s*\([^()]*\)\s*$")
_TAIL = re.compile(r"[^0-9A-Za-z가-힣]+$")
_LAST_LATIN = re.compile(r"[A-Za-z]+$")
_INITIALS = re.compile(r"[A-Z]{2,}$")
_VOWELS = frozenset("aeiouy")
_SOUNDED = {"l": "ㄹ", "m": "ㅁ", "n": "ㄴ"}
_STOPPED = {"b": "ㅂ", "c": "ㄱ", "k": "ㄱ", "p": "ㅂ", "t": "ㅅ"}
"""After a vowel these close the syllable (웹, 맵, 봇); after a consonant they get a vowel (포스트)."""


def final_consonant(word: str) -> str:
    """The consonant that a word ends in when read in Korean: `""` for none, `"ㄹ"`, or another one.

    A parenthesis at the end is passed over, as readers do: 파드 네트워크(CNI) ends as 네트워크.
    """
    bare = _TAIL.sub("", _PARENTHESES.sub("", word) or word)
    if not bare:
        return ""
    last = bare[-1]
    if _FIRST <= ord(last) <= _LAST:
        final = (ord(last) - _FIRST) % _FINALS
        return "" if not final else "ㄹ" if final == _RIEUL else "ㅁ"
    if last.isdigit():
        return _DIGIT_FINALS.get(last, "")
    return _latin_final(bare)


def _latin_final(word: str) -> str:
    match = _LAST_LATIN.search(word)
    if match is None:
        return ""
    part = match.group()
    lower = part.lower()
    spelt = len(part) == 1 or bool(_INITIALS.search(part)) or not _VOWELS & set(lower)
    if spelt:
        return _LETTER_FINALS.get(lower[-1], "")
    if lower.endswith("ng"):
        return "ㅇ"
    if lower.endswith("e") and len(lower) > 2:  # noqa: PLR2004 - a silent e needs a syllable before it
        return _SOUNDED.get(lower[-2], "")
    if lower[-1] in _SOUNDED:
        return _SOUNDED[lower[-1]]
    closes = lower[-2] in _VOWELS or lower.endswith("ck")
    return _STOPPED.get(lower[-1], "") if closes else ""


def with_particle(word: str, particle: str) -> str:
    """A word with the form of the particle that fits: `with_particle("설정 변경", "이/가")` is 설정 변경이.

    Args:
        word: what the particle follows.
        particle: both forms, that after a consonant first: `은/는`, `이/가`, `을/를`, `과/와`, `으로/로`.
    """
    after_consonant, _, after_vowel = particle.partition("/")
    final = final_consonant(word)
    if after_consonant == "으로" and final == "ㄹ":
        return word + after_vowel
    return word + (after_consonant if final else after_vowel)


def joined(words: Sequence[str]) -> str:
    """Words as a Korean list: `가, 나와 다`."""
    if len(words) < 2:  # noqa: PLR2004 - a list needs two
        return "".join(words)
    return ", ".join([*words[:-2], f"{with_particle(words[-2], '과/와')} {words[-1]}"])
