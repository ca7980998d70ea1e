"""Every page, in both languages, by day and by night, on a desk and on a phone."""

from __future__ import annotations

import gzip
import urllib.request
from typing import Literal
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page

from rig.axe import grave
from rig.browser import bundled_documents

ID = "skyscanner-2019-04-23-haproxy-ingress-hot-podding"
OTHER = "zalando-2019-skipper-ingress-oom-alb-502"
MOST_BYTES = 60_000
PAGES = {
    "home": "/",
    "search": "/search?q=p90+is+up,+some+pods+are+full,+the+ingress+gets+OOM-killed",
    "search-filtered": "/search?q=ingress&facet=component:ingress&facet=symptom:oom-killed",
    "search-none": "/search?q=kafka+partition+reassignment+never+finishes&facet=year:2019",
    "search-refused": "/search?q=componnt:ingress",
    "incidents": "/incidents?facet=component:ingress",
    "incident": f"/incidents/{ID}",
    "incident-many-steps": "/incidents/aws-2025-10-20-us-east-1-dynamodb-dns-race",
    "incident-withdrawn": "/incidents/{withdrawn}",
    "revision": "/incidents/{revised}/history/2",
    "topics": "/topics",
    "topic": "/topics?facet=component:ingress&facet=symptom:oom-killed",
    "organisations": "/organisations",
    "organisation": "/organisations/dfds",
    "vocabulary": "/vocabulary",
    "kind": "/vocabulary/components",
    "term": "/vocabulary/components/ingress",
    "statistics": "/statistics",
    "compare-empty": "/compare",
    "compare-one": f"/compare?id={ID}",
    "compare": f"/compare?id={ID}&id={OTHER}",
    "checks": "/checks?severity=critical&family=webhooks",
    "check": "/checks/webhook-fail-catch-all",
    "check-try": "/checks/try?sample",
    "incident-with-checks": "/incidents/jetstack-2019-09-05-opa-webhook-gke-master-upgrade",
    "api": "/about/api",
    "missing": "/incidents/skyscaner-2019",
}

pytestmark = [pytest.mark.real, pytest.mark.slow, pytest.mark.timeout(900)]


def address(path: str) -> str:
    documents = bundled_documents()
    return path.format(revised=documents[0]["id"], withdrawn=documents[1]["id"])


def watched(page: Page, site: str) -> list[str]:
    """Everything that a page must not do while it is open."""
    wrong: list[str] = []

    def said(message: ConsoleMessage) -> None:
        # A page of an error is one on purpose.
        if (
            message.type in {"error", "warning"}
            and "the server responded with a status of 4" not in message.text
        ):
            wrong.append(f"console {message.type}: {message.text}")

    page.on("console", said)
    page.on("pageerror", lambda error: wrong.append(f"script: {error}"))
    page.on(
        "request",
        lambda request: (
            None
            if urlsplit(request.url).netloc == urlsplit(site).netloc
            else wrong.append(f"asks {request.url}")
        ),
    )
    return wrong


LOOKS: list[tuple[Literal["light", "dark"], int]] = [
    ("light", 1280),
    ("dark", 360),
    ("light", 360),
    ("dark", 1280),
]


def other_look(look: tuple[Literal["light", "dark"], int]) -> tuple[Literal["light", "dark"], int]:
    """By night for by day, on a phone for on a desk."""
    return next(one for one in LOOKS if one[0] != look[0] and one[1] != look[1])


# Each page is examined twice: once in English, and in Korean with the other colours at the other width. The looks go
# round, so that all pages together have each of them in both languages.
@pytest.mark.parametrize("lang", ["en", "ko"])
def test_every_page_is_sound(chromium: Browser, site: str, lang: str) -> None:
    # Without motion, a change of colours is done at once and axe sees the new ones.
    context = chromium.new_context(locale=lang, reduced_motion="reduce")
    context.set_default_timeout(60_000)
    page = context.new_page()
    wrong = watched(page, site)
    problems: list[str] = []
    for number, (name, path) in enumerate(PAGES.items()):
        look = LOOKS[number % len(LOOKS)]
        theme, width = look if lang == "en" else other_look(look)
        page.emulate_media(color_scheme=theme)
        page.goto(site + address(path))
        assert page.locator("html").get_attribute("lang") == lang
        if page.locator("h1").count() != 1:
            problems.append(f"{name}: {page.locator('h1').count()} headings of the first level")
        for pixels in (360 + 1280 - width, width):
            page.set_viewport_size({"width": pixels, "height": 900})
            if page.evaluate("document.documentElement.scrollWidth") > pixels:
                problems.append(f"{name}, {pixels}: scrolls sideways")
        problems += [f"{name}, {theme}, {width}: {line}" for line in grave(page)]
    context.close()
    assert not wrong
    assert not problems, "\n".join(problems)


def packed(address: str) -> int:
    request = urllib.request.Request(address, headers={"Accept-Encoding": "gzip", "Accept": "text/html"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        body = answer.read()
        return len(body) if answer.headers.get("Content-Encoding") == "gzip" else len(gzip.compress(body))


def test_an_incident_weighs_little(chromium: Browser, site: str) -> None:
    page = chromium.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    heaviest = 0
    for name in (
        ID,
        "aws-2025-10-20-us-east-1-dynamodb-dns-race",
        "slack-2022-02-22-consul-rollout-cache-metastable",
    ):
        asked.clear()
        page.goto(f"{site}/incidents/{name}")
        page.wait_for_load_state("networkidle")
        heaviest = max(heaviest, sum(packed(url) for url in set(asked)))
    page.close()
    assert heaviest <= MOST_BYTES


def test_static_files_are_kept_for_long(site: str, chromium: Browser) -> None:
    page = chromium.new_page()
    page.goto(site)
    sheet = page.locator("link[rel=stylesheet]").get_attribute("href")
    page.close()
    with urllib.request.urlopen(site + str(sheet), timeout=60) as answer:
        assert "immutable" in answer.headers["Cache-Control"]
