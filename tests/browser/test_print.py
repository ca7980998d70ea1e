"""Pages on paper: what is only for the screen is gone, what a screen folds away is there."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

ID = "skyscanner-2019-04-23-haproxy-ingress-hot-podding"
OTHER = "zalando-2019-skipper-ingress-oom-alb-502"
PAPER = {"width": 680, "height": 960}
"""A4 without its margins, in CSS pixels."""

pytestmark = [pytest.mark.real, pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.fixture
def paper(chromium: Browser) -> Iterator[Page]:
    context = chromium.new_context(viewport=PAPER, locale="ko", color_scheme="dark")
    context.set_default_timeout(60_000)
    page = context.new_page()
    page.emulate_media(media="print")
    yield page
    context.close()


@pytest.mark.parametrize(
    "path", [f"/incidents/{ID}", f"/compare?id={ID}&id={OTHER}", "/statistics", "/search?q=ingress"]
)
def test_a_page_on_paper(paper: Page, site: str, path: str) -> None:
    paper.goto(f"{site}{path}")
    expect(paper.locator(".site-header, .site-footer").first).to_be_hidden()
    expect(paper.locator(".site-print")).to_contain_text(path.partition("?")[0])
    assert paper.locator("main .btn:visible, main .prov:visible, main .pop:visible").count() == 0
    assert paper.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert paper.evaluate("getComputedStyle(document.body).color") != "rgb(255, 255, 255)"


def test_the_mechanism_is_drawn_and_told(paper: Page, site: str) -> None:
    paper.goto(f"{site}/incidents/{ID}")
    expect(paper.locator(".chain__wide")).to_be_visible()
    expect(paper.locator(".chain__tall")).to_be_hidden()
    expect(paper.locator(".chain__text li").last).to_be_visible()
