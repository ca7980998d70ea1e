"""Text from records on a page."""

from __future__ import annotations

import pytest

from pilotage.library.search.snippets import Snippet
from pilotage.library.stores.protocol import Revision
from pilotage.web.ui import text
from pilotage.web.ui.incident import changes, duration


@pytest.mark.parametrize(
    "bad",
    [
        "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "[x](javascript:alert(1))",
        "[x](data:text/html,x)", "![x](https://a.example/x.png)", "<svg/onload=alert(1)>", "# heading\n---\n",
        "<style>p{}</style>", "[x]: javascript:alert(1)\n\n[x]",
    ],
)  # fmt: skip
def test_markdown_lets_nothing_through(bad: str) -> None:
    for html in (str(text.prose(bad)), str(text.inline(bad))):
        assert "<script" not in html
        assert "<img" not in html
        assert "<svg" not in html
        assert "<style" not in html
        assert "<h1" not in html
        assert 'href="javascript' not in html
        assert 'href="data' not in html


def test_markdown_keeps_what_records_use() -> None:
    assert (
        str(text.inline("`sort-backends` is **off**")) == "<code>sort-backends</code> is <strong>off</strong>"
    )
    assert str(text.prose("One.\n\nTwo.")) == "<p>One.</p>\n<p>Two.</p>\n"
    assert 'rel="noopener nofollow ugc"' in str(text.prose("[a](https://a.example)"))


def test_marks_are_escaped_and_say_something() -> None:
    found = text.marked(Snippet("summary", "en", "<b> ingress and pods", ((4, 11), (12, 15))))
    assert str(found) == "&lt;b&gt; <mark>ingress</mark> and pods"


@pytest.mark.parametrize(
    ("precision", "english", "korean", "attribute"),
    [
        ("day", "5 April 2017", "2017년 4월 5일", "2017-04-05"),
        ("month", "April 2017", "2017년 4월", "2017-04"),
        ("year", "2017", "2017년", "2017"),
        ("unknown", "", "", ""),
        (None, "5 April 2017", "2017년 4월 5일", "2017-04-05"),
    ],
)
def test_dates_say_what_is_known(precision: str | None, english: str, korean: str, attribute: str) -> None:
    assert text.date_text("2017-04-05", precision, "en") == english
    assert text.date_text("2017-04-05", precision, "ko") == korean
    assert text.date_attribute("2017-04-05", precision) == attribute


@pytest.mark.parametrize(
    ("at", "found"),
    [
        ("2021-08-25T16:00Z", ("2021-08-25", "16:00 UTC", "2021-08-25T16:00Z")),
        ("2019-04-23", ("2019-04-23", "", "2019-04-23")),
        ("about 15:30 GMT", None),
        (None, None),
    ],
)
def test_moments(at: str | None, found: tuple[str, str, str] | None) -> None:
    assert text.moment(at) == found


@pytest.mark.parametrize("url", ["javascript:1", "data:x", "mailto:a@b", "https://", "//x", "http://[", ""])
def test_only_the_web_is_linked(url: str) -> None:
    assert text.href(url) == ""


def test_durations_read_well() -> None:
    assert duration(14_040, "en") == "3\u202fh 54\u202fmin"
    assert duration(14_040, "ko") == "3시간 54분"
    assert duration(None, "en") == ""


def test_changes_tell_leaf_by_leaf() -> None:
    old = Revision(1, {"title": {"en": "a"}, "tags": ["x"], "gone": 1}, "", "", "")
    new = Revision(2, {"title": {"en": "b"}, "tags": ["x"], "steps": [{"id": "s"}]}, "", "", "")
    found = {change.field: (change.before, change.after) for change in changes(old, new)}
    assert found == {"title.en": (("a",), ("b",)), "steps.1.id": ((), ("s",)), "gone": (("1",), ())}


def test_long_names_break_before_a_capital_only() -> None:
    assert text.humps("ValidatingWebhookConfiguration") == "Validating<wbr>Webhook<wbr>Configuration"
    assert text.humps("HTTPRoute") == "HTTPRoute"
    assert text.humps("<b>aB") == "&lt;b&gt;a<wbr>B"
