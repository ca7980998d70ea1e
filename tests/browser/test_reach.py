"""Pages by keyboard and thumb: the list is two steps from the search box, and what is small is easy to hit."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

ID = "skyscanner-2019-04-23-haproxy-ingress-hot-podding"
LEAST_PIXELS = 24
"""Least side of what is touched (WCAG 2.2, target size)."""

pytestmark = [pytest.mark.real, pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    context = chromium.new_context(viewport={"width": 1280, "height": 900}, locale="en")
    context.set_default_timeout(60_000)
    yield context.new_page()
    context.close()


@pytest.mark.parametrize(
    ("path", "target"),
    [("/search?q=ingress", "h-results"), ("/incidents", "h-list"), ("/checks", "h-list")],
)
def test_the_filters_can_be_skipped(page: Page, site: str, path: str, target: str) -> None:
    page.goto(f"{site}{path}")
    link = page.get_by_role("link", name="Skip to the list")
    assert (link.bounding_box() or {"width": 0})["width"] <= 1
    link.focus()
    assert (link.bounding_box() or {"height": 0})["height"] >= LEAST_PIXELS
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(f"#{target}$"))
    page.keyboard.press("Tab")
    assert page.evaluate("document.querySelector('#facets').contains(document.activeElement)") is False


def test_the_first_stop_is_the_way_past_the_header(page: Page, site: str) -> None:
    page.goto(f"{site}/search?q=ingress")
    page.keyboard.press("Tab")
    expect(page.locator(".skip").first).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.locator("#q")).to_be_focused()


def test_marks_of_provenance_are_easy_to_hit(page: Page, site: str) -> None:
    page.set_viewport_size({"width": 360, "height": 780})
    page.goto(f"{site}/incidents/{ID}")
    mark = page.locator("#lessons .prov")
    mark.scroll_into_view_if_needed()
    box = mark.bounding_box()
    assert box
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2 + LEAST_PIXELS / 2 - 1)
    expect(page.locator("#p-lessons")).to_be_visible()


def test_filters_and_long_kinds_fit_a_phone(page: Page, site: str) -> None:
    page.set_viewport_size({"width": 360, "height": 780})
    page.goto(f"{site}/checks")
    page.get_by_role("button", name="Filters").click()
    page.locator("#facets summary").click()
    assert page.evaluate(
        "[...document.querySelectorAll('#facets *')].every(one => one.getBoundingClientRect().right <= 360)"
    )
    page.goto(f"{site}/checks/webhook-fail-catch-all")
    rows = page.evaluate(
        """() => {
            const range = document.createRange(), rows = {};
            const texts = document.createTreeWalker(document.querySelector('.facts dd'), NodeFilter.SHOW_TEXT);
            for (let text = texts.nextNode(); text; text = texts.nextNode())
                for (let at = 0; at < text.length; at++) {
                    range.setStart(text, at); range.setEnd(text, at + 1);
                    const top = Math.round(range.getBoundingClientRect().top);
                    rows[top] = (rows[top] || '') + text.data[at];
                }
            return Object.values(rows).map(row => row.trim()).filter(Boolean);
        }"""
    )
    assert len(rows) > 1
    assert all(row[0].isupper() for row in rows), rows
