"""Text from records, made safe for a page: Markdown, marks, dates, links."""

from __future__ import annotations

import datetime as dt
import functools
import re
from urllib.parse import urlsplit

import nh3
from markdown_it import MarkdownIt
from markupsafe import Markup, escape

from pilotage.core.text import printable, shorten
from pilotage.library.analysis import is_stopword
from pilotage.library.record import Lang
from pilotage.library.search.snippets import Snippet

_TAGS = {"p", "ul", "ol", "li", "code", "pre", "em", "strong", "a", "blockquote", "br"}
_INLINE = {"code", "em", "strong", "a"}
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
    "November", "December",
)  # fmt: skip
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_ISO = re.compile(r"(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}:\d{2})(?::\d{2}(?:\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?")


@functools.cache
def _markdown() -> MarkdownIt:
    # Headings would break the outline of the page, images would call other hosts.
    return MarkdownIt("commonmark", {"html": False}).disable(
        ["heading", "lheading", "hr", "image", "html_block", "html_inline", "reference"]
    )


def humps(name: str) -> Markup:
    """A name written as `CamelCase`, which a narrow window may break before a capital, not within a word."""
    return Markup("<wbr>").join(_HUMP.split(name))  # `join` escapes what it joins


def prose(text: str | None) -> Markup:
    """Markdown of a record as paragraphs and lists. HTML in it is shown as text, never obeyed."""
    return _clean(_markdown().render(printable(text or "")), _TAGS)


def inline(text: str | None) -> Markup:
    """One line of Markdown: code, emphasis, links."""
    return _clean(_markdown().renderInline(printable(" ".join((text or "").split()))), _INLINE)


def _clean(html: str, tags: set[str]) -> Markup:
    cleaned = nh3.clean(
        html,
        tags=tags,
        attributes={"a": {"href"}},
        url_schemes={"http", "https"},
        link_rel="noopener nofollow ugc",
    )
    return Markup(cleaned)  # noqa: S704 - nh3 let through only the tags above


def plain(text: str | None, limit: int = 0) -> str:
    """The text in one line without Markdown signs, cut at a word when it is longer than `limit`."""
    bare = " ".join(printable(text or "").replace("`", "").replace("**", "").split())
    return shorten(bare, limit) if limit else bare


def marked(snippet: Snippet) -> Markup:
    """A snippet with its matches in `<mark>`."""
    parts, last = Markup(), 0
    for start, end in snippet.marks:
        # A label such as `Load balancing and ingress` marks its `and` too, which says nothing.
        if is_stopword(snippet.text[start:end].lower()):
            continue
        parts += escape(printable(snippet.text[last:start]))
        parts += Markup("<mark>") + escape(printable(snippet.text[start:end])) + Markup("</mark>")
        last = end
    return parts + escape(printable(snippet.text[last:]))


def href(url: str | None) -> str:
    """The address if a reader may be sent there (http or https), else nothing."""
    try:
        parts = urlsplit(url or "")
    except ValueError:
        return ""
    return (url or "") if parts.scheme in {"http", "https"} and parts.netloc else ""


def host(url: str | None) -> str:
    """The host of an address, for readers."""
    try:
        return (urlsplit(url or "").hostname or "").removeprefix("www.")
    except ValueError:
        return ""


def date_text(date: str | None, precision: str | None, lang: Lang) -> str:
    """A date as far as it is known: `23 April 2019`, `April 2019`, `2019`; nothing when it is not."""
    if not date or precision == "unknown":
        return ""
    try:
        day = dt.date.fromisoformat(date[:10])
    except ValueError:
        return date
    if precision == "year":
        return f"{day.year}년" if lang == "ko" else str(day.year)
    if precision == "month":
        return f"{day.year}년 {day.month}월" if lang == "ko" else f"{_MONTHS[day.month - 1]} {day.year}"
    if lang == "ko":
        return f"{day.year}년 {day.month}월 {day.day}일"
    return f"{day.day} {_MONTHS[day.month - 1]} {day.year}"


def date_attribute(date: str | None, precision: str | None) -> str:
    """The date for `datetime=`: as much of it as is known."""
    if not date or precision == "unknown":
        return ""
    return date[: {"year": 4, "month": 7}.get(precision or "day", 10)]


def moment(at: str | None) -> tuple[str, str, str] | None:
    """(date, time with zone, value for `datetime=`) of an ISO moment; None when it is told in other words."""
    match = _ISO.fullmatch((at or "").strip())
    if match is None:
        return None
    date = f"{match[1]}-{match[2]}-{match[3]}"
    zone = "UTC" if match[5] in {"Z", "+00:00", "+0000"} else (match[5] or "")
    clock = f"{match[4]} {zone}".strip() if match[4] else ""
    return date, clock, f"{date}T{match[4]}{match[5] or ''}" if match[4] else date
