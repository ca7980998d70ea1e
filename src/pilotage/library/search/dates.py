"""Dates in a query, in the forms that people write in English and Korean. Pure."""

from __future__ import annotations

import re

_MONTHS = {
    name: number
    for number, names in enumerate(
        ("jan january", "feb february", "mar march", "apr april", "may", "jun june", "jul july", "aug august",
         "sep sept september", "oct october", "nov november", "dec december"),
        start=1,
    )
    for name in names.split()
}  # fmt: skip
_NAME = "|".join(sorted(_MONTHS, key=len, reverse=True))
_YEAR = r"(?:19|20)\d{2}"
_MONTH = r"(?:1[0-2]|0?[1-9])(?!\d)"
_DAY = r"(?:3[01]|[12]\d|0?[1-9])(?!\d)"
_NTH = rf"{_DAY}(?:st|nd|rd|th)?\b"
_DATE = re.compile(
    rf"""
      (?<![\d.])(?P<y1>{_YEAR})\s?[-/.]\s?(?P<m1>{_MONTH})(?:\s?[-/.]\s?{_DAY}\b\.?)? # 2019-01-18
    | (?<![\d/.])(?P<m2>{_MONTH})/(?:{_DAY}/)?(?P<y2>{_YEAR})\b                       # 1/18/2019, 1/2019
    | (?<![\d/.]){_DAY}[/.](?P<m3>{_MONTH})[/.](?P<y3>{_YEAR})\b                      # 18/1/2019, 18.1.2019
    | (?:\b{_NTH}\s+(?:of\s+)?)?\b(?P<m4>{_NAME})\b\.?,?\s+(?:of\s+)?(?:{_NTH},?\s+)?(?P<y4>{_YEAR})\b
    | \b(?P<y5>{_YEAR}),?\s+(?P<m5>{_NAME})\b(?:\.?\s+{_NTH})?                        # 2019 January 18
    | (?<!\d)(?P<y6>{_YEAR}|[0-3]\d)년도?(?!간|째|만|차|\s*(?:전|동안|만에|가까이|넘게))
      (?:\s*(?P<m6>{_MONTH})월(?:\s*{_DAY}일)?)?(?:에|의|도)?                              # 2019년 1월 18일
    | \b(?P<y7>{_YEAR})\s+(?P<m7>{_MONTH})월(?:\s*{_DAY}일)?(?:에|의|도)?                  # 2019 1월
    | (?<![\d.])(?P<y8>(?:19[89]|20[0-3])\d)(?!\d|\.\d)                               # 2019
    | \b\d{{1,2}}:\d{{2}}(?::\d{{2}})?\b                                              # 10:30 says nothing
    """,
    re.VERBOSE | re.IGNORECASE,
)

Dates = tuple[tuple[str, int | None], ...]
"""(year, month or None) of each."""


def take_dates(text: str) -> tuple[Dates, str]:
    """The dates that a text names, and the text without them and without times of day."""
    found: dict[tuple[str, int | None], None] = {}
    for match in _DATE.finditer(text):
        said = {name[0]: value for name, value in match.groupdict().items() if value}
        if "y" in said:
            month = said.get("m", "").lower()
            found[f"20{said['y']}"[-4:], _MONTHS.get(month) or int(month or 0) or None] = None
    return tuple(found), _DATE.sub(" ", text)
