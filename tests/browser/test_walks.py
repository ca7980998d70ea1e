"""What readers do, done in a real browser."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from rig.browser import bundled_documents

ID = "skyscanner-2019-04-23-haproxy-ingress-hot-podding"
OTHER = "zalando-2019-skipper-ingress-oom-alb-502"
LOG = "\n".join(
    f"2026-11-30T04:{minute:02}:01Z W1130 10.0.{minute}.7:8443 controller.go:{minute}] ingress pod "
    f"ingress-nginx-controller-7d4b9c6f5d-x{minute:04} OOMKilled exit code 137, upstream 502"
    for minute in range(60)
)

pytestmark = [pytest.mark.real, pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    context = chromium.new_context(viewport={"width": 1280, "height": 900}, locale="en")
    context.set_default_timeout(60_000)
    expect.set_options(timeout=60_000)
    yield context.new_page()
    context.close()


@pytest.fixture
def plain(chromium: Browser) -> Iterator[Page]:
    """A browser without JavaScript."""
    context = chromium.new_context(
        viewport={"width": 1280, "height": 900}, locale="en", java_script_enabled=False
    )
    context.set_default_timeout(60_000)
    yield context.new_page()
    context.close()


def titles(page: Page) -> list[str]:
    return page.locator(".hit__title").all_inner_texts()


def test_results_come_as_one_types(page: Page, site: str) -> None:
    page.goto(site)
    page.locator("#q").press_sequentially("ingress OOM", delay=5)
    expect(page).to_have_url(re.compile(r"q=ingress\+OOM$"))
    expect(page.locator(".hit").first).to_be_visible()
    expect(page.locator("#ways")).to_be_hidden()
    before = titles(page)
    page.reload()
    assert titles(page) == before


def test_a_server_that_cannot_answer_takes_no_results_away(page: Page, site: str) -> None:
    page.goto(f"{site}/search?q=ingress")
    before = titles(page)
    busy = '{"detail": "the server is loading"}'
    page.route(
        "**/search?*", lambda route: route.fulfill(status=503, body=busy, content_type="application/json")
    )
    page.locator("#q").fill("ingress OOM")
    expect(page.locator("#results")).to_have_attribute("data-off", re.compile("does not answer"))
    assert titles(page) == before
    page.unroute("**/search?*")
    page.locator("#q").fill("ingress OOM pods")
    expect(page).to_have_url(re.compile(r"q=ingress\+OOM\+pods$"))
    expect(page.locator("#results")).not_to_have_attribute("data-off", re.compile("."))


def test_facets_and_chips(page: Page, site: str) -> None:
    page.goto(f"{site}/search?q=ingress")
    all_of_them = int(page.locator("[data-count]").inner_text())
    page.locator('#facets input[value="component:ingress"]').check()
    expect(page.locator(".chip--on")).to_contain_text("Ingress controller")
    narrowed = int(page.locator("[data-count]").inner_text())
    assert 0 < narrowed < all_of_them
    expect(page).to_have_url(re.compile("facet=component"))
    page.reload()
    assert int(page.locator("[data-count]").inner_text()) == narrowed
    page.locator(".chip--on").click()
    expect(page.locator("[data-count]")).to_have_text(str(all_of_them))


def test_an_honest_empty_answer_leads_on(page: Page, site: str) -> None:
    page.goto(f"{site}/search?q=kafka+partition+reassignment+never+finishes")
    expect(page.get_by_role("heading", name="No good match in these waters")).to_be_visible()
    assert not titles(page)
    page.locator(".tbl a").first.click()
    expect(page).to_have_url(re.compile("/vocabulary/"))


def test_the_language_is_kept(page: Page, site: str) -> None:
    page.goto(f"{site}/incidents/{ID}")
    page.locator(".seg--lang a").click()
    expect(page).to_have_url(f"{site}/incidents/{ID}")
    expect(page.locator("html")).to_have_attribute("lang", "ko")
    page.locator(".site-nav a").first.click()
    expect(page.locator("html")).to_have_attribute("lang", "ko")


def test_a_language_in_the_address_is_carried_on(page: Page, site: str) -> None:
    page.goto(f"{site}/incidents/{ID}?lang=ko")
    page.locator(".site-nav a").first.click()
    expect(page.locator("html")).to_have_attribute("lang", "ko")
    page.goto(f"{site}/incidents")
    expect(page.locator("html")).to_have_attribute("lang", "en")


def test_colours_are_switched_and_kept(page: Page, site: str) -> None:
    page.goto(site)
    day = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.locator('[popovertarget="theme"]').click()
    with page.expect_response(lambda answer: "/preferences" in answer.url):
        page.locator('[data-theme-choice="dark"]').click()
    chosen = page.locator("[data-theme-choice][aria-current]")
    assert chosen.evaluate_all("all => all.map(x => [x.dataset.themeChoice, x.ariaCurrent])") == [
        ["dark", "true"]
    ]
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != day
    page.goto(f"{site}/topics")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")


def test_compare_from_an_incident(page: Page, site: str) -> None:
    page.goto(f"{site}/incidents/{ID}")
    page.get_by_role("link", name="Compare with…").click()
    page.locator("#c-id").fill(OTHER)
    page.get_by_role("button", name="Add").click()
    expect(page.locator(".compare__heads > li")).to_have_count(2)
    expect(page.locator(".chip--over", has_text="Ingress controller").first).to_be_visible()


def test_a_pasted_log_has_no_address_but_an_answer(page: Page, site: str) -> None:
    assert len(LOG) > 6_000
    page.goto(site)
    page.locator("#q").fill(LOG)
    page.get_by_role("button", name="Search").click()
    expect(page.locator(".hit").first).to_be_visible()
    expect(page.locator(".results__read")).to_contain_text("a paste")
    assert len(page.url) < 200


def test_keyboard(page: Page, site: str) -> None:
    page.goto(f"{site}/search?q=ingress")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    expect(page.locator(".hit").first).to_have_class("hit is-current")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
    wanted = page.locator(".hit__title a").first.get_attribute("href")
    page.keyboard.press("Enter")
    page.wait_for_url(f"{site}{wanted}")
    page.keyboard.press("/")
    page.wait_for_url(f"{site}/#q")
    page.keyboard.press("/")
    expect(page.locator("#q")).to_be_focused()


def test_what_a_field_rests_on_opens(page: Page, site: str) -> None:
    page.goto(f"{site}/incidents/{ID}")
    page.locator("#lessons .prov").click()
    expect(page.locator("#p-lessons")).to_contain_text("Our own reading")
    page.keyboard.press("Escape")
    expect(page.locator("#p-lessons")).to_be_hidden()
    page.get_by_role("button", name="Cite").click()
    expect(page.locator("#cite-text")).to_contain_text(ID)


def test_an_alias_leads_to_the_record_and_a_withdrawn_one_says_so(page: Page, site: str) -> None:
    documents = bundled_documents()
    page.goto(f"{site}/incidents/known-before")
    expect(page).to_have_url(f"{site}/incidents/{documents[0]['id']}")
    expect(page.locator(".revs > li")).to_have_count(2)
    page.locator(".revs a").first.click()
    expect(page.locator(".diff")).to_contain_text("known-before")
    page.goto(f"{site}/incidents/{documents[1]['id']}")
    expect(page.locator(".alert--caution")).to_contain_text("Twice in here.")


def test_without_javascript(plain: Page, site: str) -> None:
    plain.goto(site)
    plain.locator("#q").fill("p90 up, ingress OOM-killed")
    plain.get_by_role("button", name="Search").click()
    plain.wait_for_url("**/search?q=p90*")
    expect(plain.locator(".hit").first).to_be_visible()
    plain.locator('#facets input[value="component:ingress"]').check()
    plain.get_by_role("button", name="Apply").click()
    plain.wait_for_url("**facet=component*")
    plain.locator(".seg--lang a").click()
    expect(plain.locator("html")).to_have_attribute("lang", "ko")
    expect(plain).to_have_url(re.compile("facet=component"))
    plain.locator(".hit__title a").first.click()
    expect(plain.locator(".chain svg").first).to_be_visible()
    assert plain.locator("[data-copy]:visible").count() == 0


def test_a_pasted_log_without_javascript(plain: Page, site: str) -> None:
    plain.goto(site)
    plain.locator("#q").fill(LOG)
    plain.get_by_role("button", name="Search").click()
    expect(plain.locator(".hit").first).to_be_visible()
    plain.locator("#facets input[type=checkbox]").first.check()
    plain.get_by_role("button", name="Apply").click()
    expect(plain.locator(".chip--on")).to_have_count(1)
    plain.locator("button.chip--on").click()
    expect(plain.locator(".chip--on")).to_have_count(0)
    expect(plain.locator(".hit").first).to_be_visible()
