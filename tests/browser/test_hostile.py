"""Records that attack their readers: everything in them is shown, nothing of it is obeyed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from rig import browser as rig

ATTACKS = (
    "<script>window.hit = 1</script>",
    "<img src=x onerror='window.hit = 2'>",
    "<svg onload='window.hit = 3'><style>* { display: none }</style></svg>",
    "[click](javascript:window.hit=4) [data](data:text/html,<script>window.hit=5</script>)",
    "![picture](https://elsewhere.example/tracker.png)",
    "<style>@import url(https://elsewhere.example/a.css); body { display: none }</style>",
    "\"><iframe src='https://elsewhere.example/'></iframe>",
    "</textarea></title></svg><script>window.hit = 6</script>",
    "{{ 7 * 7 }} {% raw %} ${7 * 7}",
    "\u202egnp.exe\u2066 a\u0000b\u001b[31m",
    "<a href='javascript:window.hit=7' style='position:fixed;inset:0'>over all</a>",
    "```html\n<script>window.hit = 8</script>\n```",
)

pytestmark = [pytest.mark.real, pytest.mark.slow, pytest.mark.timeout(600)]


def hostile(number: int) -> dict[str, Any]:
    bad = ATTACKS[number]
    text = {"en": f"{bad} english", "ko": f"{bad} 한국어"}
    step = {"kind": "propagation", "label": text, "text": text}
    return {
        "id": f"hostile-{number}",
        "status": "reviewed",
        "org": bad,
        "org_slug": f"org-{number}",
        "date": "2020-01-01",
        "date_kind": "incident",
        "title": text,
        "summary": {lang: f"{said}\n\n{said}" for lang, said in text.items()},
        "symptoms_text": text,
        "trigger": text,
        "detection": text,
        "lessons": text,
        "disagreement": text,
        "times": text,
        "components": ["ingress", f"made-up-{number}"],
        "symptoms": ["oom-killed", bad[:70]],
        "impact": {"scope": bad, "users": bad, "region": bad, "text": text},
        "timeline": {"detected_after": bad, "resolved_after": "9m"},
        "events": [{"at": bad, "text": text}, {"at": "2020-01-01T10:00Z", "text": text}],
        "mechanism": [
            {**step, "id": "one", "leads_to": ["two"]},
            {**step, "id": "two", "leads_to": ["one"]},
        ],
        "remediation": [{"text": text, "kind": bad[:70]}],
        "action_items": [{"text": text, "status": bad}],
        "contributing_notes": [{"kind": bad[:70], "text": text}],
        "sources": [
            {
                "url": "javascript:window.hit=9",
                "kind": "blog",
                "title": bad,
                "archived": "javascript:window.hit=10",
            },
            {
                "url": "https://elsewhere.example/\"onmouseover='window.hit=11'",
                "kind": bad[:70],
                "license": bad,
            },
        ],
        "docs": ["javascript:window.hit=12", bad],
        "provenance": {
            "default": {"state": "stated", "confidence": "high", "source": 1, "note": bad, "where": bad},
            bad: {"state": "editorial"},
        },
    }


def test_hostile_records_run_nothing(chromium: Browser, tmp_path: Path) -> None:
    documents = [hostile(number) for number in range(len(ATTACKS))]
    with rig.site(tmp_path, documents) as site:
        context = chromium.new_context(locale="en")
        context.set_default_timeout(60_000)
        page = context.new_page()
        wrong: list[str] = []
        page.on(
            "console", lambda said: wrong.append(said.text) if said.type in {"error", "warning"} else None
        )
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("request", lambda asked: None if asked.url.startswith(site) else wrong.append(asked.url))
        page.on("dialog", lambda dialog: wrong.append(dialog.message))
        names = [str(document["id"]) for document in documents]
        paths = [f"/incidents/{name}" for name in names]
        paths += [f"/incidents/{name}/history/1" for name in names[:3]]
        paths += ["/", "/incidents", "/search?q=english", "/organisations", "/statistics", "/topics"]
        paths += [f"/compare?id={names[0]}&id={names[1]}", "/topics?facet=component:ingress"]
        paths += [f"{path}{'&' if '?' in path else '?'}lang=ko" for path in paths]
        for path in paths:
            page.goto(site + path)
            assert page.evaluate("window.hit") is None, path
            assert page.locator("main").is_visible(), path
            assert page.locator("main iframe, main img, main script, main style").count() == 0, path
            assert (
                page.locator("a[href^='javascript:'], a[href^='data:'], [style], [onerror]").count() == 0
            ), path
            assert "\u202e" not in page.locator("main").inner_text(), path
        context.close()
    assert not wrong
