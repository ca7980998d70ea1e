"""The HTML report in a real browser: no script, both languages, day and night, on paper."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from pilotage.checks.reports import as_html
from rig import axe
from rig.reports import full_report, incidents

pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("reports")
    report = full_report()
    for lang in ("en", "ko"):
        text = as_html.render(report, incidents(report, lang), lang="ko" if lang == "ko" else "en")
        (folder / f"{lang}.html").write_text(text, encoding="utf-8")
    return {lang: (folder / f"{lang}.html").as_uri() for lang in ("en", "ko")}


@pytest.fixture
def page(chromium: Browser, files: dict[str, str]) -> Iterator[Page]:
    context = chromium.new_context(java_script_enabled=False)
    made = context.new_page()
    asked: list[str] = []
    made.on("request", lambda request: asked.append(request.url))
    made.goto(files["en"])
    yield made
    assert asked == [files["en"]], "a report fetches nothing"
    context.close()


# Every pair of language, colours and width.
@pytest.mark.parametrize(
    ("lang", "scheme", "width"),
    [("en", "light", 1280), ("en", "dark", 360), ("ko", "light", 360), ("ko", "dark", 1280)],
)
def test_accessible_and_never_wider_than_the_window(
    chromium: Browser, files: dict[str, str], lang: str, scheme: str, width: int
) -> None:
    context = chromium.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=True  # type: ignore[arg-type]
    )  # fmt: skip
    page = context.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.goto(files[lang])
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    assert axe.grave(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert complaints == []
    context.close()


def shown(page: Page, what: str) -> int:
    return page.locator(f"{what}:visible").count()


def test_severities_are_chosen_without_a_script(page: Page) -> None:
    everything = shown(page, ".finding")
    critical = shown(page, ".finding--critical")
    assert 0 < critical < everything
    others = page.locator("[id^=sev-]:not(#sev-critical)").all()
    assert others
    for box in others:
        box.uncheck()
    assert shown(page, ".finding") == critical
    groups = shown(page, ".group")
    assert groups == page.locator('.group[data-severities~="critical"]').count()
    page.locator("#sev-critical").uncheck()
    assert (shown(page, ".finding"), shown(page, ".group")) == (0, 0)
    page.locator("#sev-low").check()
    assert shown(page, ".finding") == page.locator(".finding--low").count()


def test_a_file_is_chosen_without_a_script(page: Page) -> None:
    everything = shown(page, ".finding")
    page.locator(".filters__files summary").click()
    page.locator("#file-1").check()
    chosen = shown(page, ".finding")
    assert chosen == page.locator(".finding.in-1").count()
    assert 0 < chosen < everything
    page.locator("#file-0").check()
    assert shown(page, ".finding") == everything


def test_the_keyboard_reaches_the_findings_first(page: Page) -> None:
    page.keyboard.press("Tab")
    assert page.locator(".skip:focus").count() == 1
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("#findings$"))


def test_on_paper_everything_is_there_but_the_controls(page: Page) -> None:
    page.emulate_media(media="print")
    assert shown(page, ".filters") == 0
    assert shown(page, ".finding") > 0
    assert len(page.pdf()) > 10_000


def test_what_a_manifest_says_stays_text(page: Page) -> None:
    assert page.locator("script").count() == 0
    assert page.get_by_text("<script>alert(1)</script>").first.is_visible()


def test_the_file_stands_alone(files: dict[str, str]) -> None:
    for uri in files.values():
        text = Path(uri.removeprefix("file://")).read_text("utf-8")
        assert "http-equiv" in text
        assert "src=" not in text
