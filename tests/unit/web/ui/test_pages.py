"""The pages as they leave the server: every record in both languages, forms, choices, errors."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import pytest
from starlette.requests import Request
from starlette.testclient import TestClient

from pilotage.core.cursors import Walk
from pilotage.library.insight.related import RelatedAnswer
from pilotage.library.stores.protocol import Filters
from pilotage.web.errors import bug
from pilotage.web.ui import reading
from pilotage.web.ui.rendering import Renderer

PAGE = {"accept": "text/html"}
VOID = {"meta", "link", "input", "br", "hr", "img"}
LOST = re.compile(r"(?<![A-Za-z])(None|undefined|Undefined|Markup\(|\{\{|\}\}|&lt;pilotage)(?![A-Za-z])")


class Outline(HTMLParser):
    """Balanced tags, unique ids, and the words that a reader sees."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.targets: set[str] = set()
        self.words: list[str] = []
        self.wrong: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if given.get("id"):
            self.ids.append(str(given["id"]))
        for key in ("popovertarget", "aria-labelledby", "aria-describedby", "for", "form"):
            self.targets |= set((given.get(key) or "").split())
        self.wrong += [name for name in given if name == "style" or name.startswith("on")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def check(html: str, *, of: str, record: str = "") -> None:
    outline = Outline()
    outline.feed(html)
    seen = re.sub(r"\{\{ ?\}\}", "", " ".join(outline.words))
    assert not outline.open, of
    assert not outline.wrong, of
    assert len(set(outline.ids)) == len(outline.ids), of
    assert outline.targets <= set(outline.ids), (of, outline.targets - set(outline.ids))
    # A record may speak of `None` itself, and `None of` begins many an English sentence.
    lost = LOST.search(re.sub(r"None (of|is|was|had|has|were)\b", "", seen))
    assert lost is None or lost[0] in record, (of, lost)


def asked(path: str, lang: str, app: object) -> dict[str, object]:
    """A request as the server hands it on."""
    headers = [(b"host", b"test"), (b"accept-language", lang.encode())]
    return {
        "type": "http",
        "method": "GET",
        "path": path,
        "query_string": b"",
        "app": app,
        "headers": headers,
        "server": ("test", 80),
        "scheme": "http",
    }


@pytest.fixture(autouse=True)
def _no_choices(client: TestClient) -> None:
    client.cookies.clear()


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_every_record_is_rendered(client: TestClient, lang: str) -> None:
    app = client.app
    renderer: Renderer = app.state.renderer  # type: ignore[attr-defined]
    store = app.state.doors.catalogue.store  # type: ignore[attr-defined]
    names = [stored.id for stored in store.iterate(Filters(), "public")]
    assert len(names) > 100
    for name in names:
        view = renderer.view(Request(asked("/incidents/x", lang, app)))
        nothing = RelatedAnswer(name, view.lang, 0, 0.0, (), Walk((), 0, (), 5))
        stored = store.get([name], "public")[name]
        context = reading.context_of(view, stored, nothing)
        html = renderer.html(view, "incident.html", context)
        check(html, of=name, record=json.dumps(stored.document, ensure_ascii=False))
        assert f'lang="{lang}"' in html


@pytest.mark.parametrize("lang", ["en", "ko"])
@pytest.mark.parametrize(
    "path",
    [
        "/", "/search?q=ingress", "/search?q=nothing+like+kafka+rebalance+xyzzy&facet=year:2019",
        "/search?q=-",
        "/search?facet=component:ingress", "/search?q=%22round+robin%22+-dns+component:haproxy+2019",
        "/incidents", "/incidents?facet=year:2019&facet=component:ingress", "/topics",
        "/topics?facet=component:ingress",
        "/topics?component=ingress&symptom=oom-killed", "/topics?facet=year:2019", "/organisations",
        "/organisations/dfds", "/vocabulary", "/vocabulary/organisations", "/vocabulary/severities",
        "/vocabulary/components/ingress", "/statistics", "/compare", "/about/api",
        "/incidents/zalando-2019-skipper-ingress-oom-alb-502",
        "/incidents/zalando-2019-skipper-ingress-oom-alb-502/history/1",
    ],
)  # fmt: skip
def test_every_page_is_whole(client: TestClient, path: str, lang: str) -> None:
    answer = client.get(path, headers={**PAGE, "accept-language": lang})
    assert answer.status_code == 200
    assert f'<html lang="{lang}"' in answer.text
    check(answer.text, of=path)
    assert 'rel="canonical"' in answer.text
    assert answer.text.count('rel="alternate" hreflang=') == 3


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/nope", 404), ("/incidents/no-such", 404), ("/vocabulary/nope", 404), ("/organisations/nope", 404),
        ("/vocabulary/components/ingres", 404), ("/topics?facet=nope:x", 400), ("/search?q=x&cursor=-1", 400),
        ("/search?q=componnt:ingress", 400), ("/incidents?cursor=%25", 400),
        ("/incidents/zalando-2019-skipper-ingress-oom-alb-502/history/99", 404),
        ("/incidents/zalando-2019-skipper-ingress-oom-alb-502/history/x", 400),
        ("/compare?id=a&id=b&id=c&id=d&id=e", 400), ("/search?" + "facet=component:ingress&" * 60, 400),
    ],
)  # fmt: skip
def test_errors_are_pages_that_help(client: TestClient, path: str, status: int) -> None:
    answer = client.get(path, headers=PAGE)
    assert answer.status_code == status
    assert "text/html" in answer.headers["content-type"]
    assert 'id="q"' in answer.text
    check(answer.text, of=path)


def test_a_form_becomes_an_address_while_it_is_short(client: TestClient) -> None:
    answer = client.post("/search", data={"q": "인그레스 OOM", "facet": "component:ingress"}, headers=PAGE)
    assert answer.status_code == 303
    assert answer.headers["location"].startswith("/search?q=%EC%9D%B8")
    long = client.post("/search", data={"q": "ingress OOMKilled " * 400}, headers=PAGE)
    assert long.status_code == 200
    assert 'class="hit"' in long.text


def test_a_form_that_is_too_long_is_refused(client: TestClient) -> None:
    answer = client.post("/search", data={"q": "x" * 1_100_000}, headers=PAGE)
    assert answer.status_code == 413


def test_a_form_with_too_many_fields_is_refused_in_words(client: TestClient) -> None:
    form = "&".join(f"a{number}=1" for number in range(201))
    for lang, said in (("en", "more than 200 fields"), ("ko", "200개보다 많다")):
        answer = client.post("/search", content=form, headers=PAGE | {"accept-language": lang})
        assert answer.status_code == 400
        assert said in answer.text


def test_a_fragment_is_the_list_alone(client: TestClient) -> None:
    answer = client.get("/search?q=ingress&fragment=1", headers=PAGE)
    assert "<html" not in answer.text
    assert 'class="hit"' in answer.text
    assert "fragment" not in re.sub(r"<svg.*?</svg>", "", answer.text, flags=re.DOTALL)


@pytest.mark.parametrize(
    "back", ["//evil.example/", "/\\evil.example", "https://evil.example", "javascript:1", ""]
)
def test_a_choice_never_leads_elsewhere(client: TestClient, back: str) -> None:
    answer = client.get("/preferences", params={"lang": "ko", "back": back})
    assert answer.status_code == 303
    assert answer.headers["location"] == "/"
    assert "lang=ko" in answer.headers["set-cookie"]


def test_choices_are_kept_and_taken_back(client: TestClient) -> None:
    dark = client.get("/preferences", params={"theme": "dark", "back": "/topics?facet=component:ingress"})
    assert dark.headers["location"] == "/topics?facet=component:ingress"
    assert "theme=dark" in dark.headers["set-cookie"]
    assert "Max-Age=0" in client.get("/preferences", params={"theme": "system"}).headers["set-cookie"]
    assert "set-cookie" not in client.get("/preferences", params={"theme": "pink"}).headers


def test_the_page_of_a_failing_store_promises_nothing(client: TestClient) -> None:
    app = client.app
    request = Request(asked("/", "en", app))
    answer = app.state.error_page(request, bug())  # type: ignore[attr-defined]
    check(bytes(answer.body).decode(), of="500")
    assert "We ran aground" in bytes(answer.body).decode()


def test_what_none_of_the_compared_states_is_one_line(client: TestClient) -> None:
    chosen = (
        "id=skyscanner-2019-04-23-haproxy-ingress-hot-podding&id=zalando-2019-skipper-ingress-oom-alb-502"
    )
    shown = client.get(f"/compare?{chosen}").text
    line = re.search(r"Stated for none of these: ([^<]*)", shown)
    assert line
    assert "Severity" in line[1]
    assert 'id="c-severity"' not in shown
    assert 'id="c-mechanism"' in shown


@pytest.mark.parametrize(
    "path", ["/", "/incidents/skyscanner-2019-04-23-haproxy-ingress-hot-podding", "/nothing-here"]
)
def test_a_preview_shows_a_picture_of_the_right_size(client: TestClient, path: str) -> None:
    page = client.get(path, headers={"accept": "text/html", "host": "incidents.example.com"}).text
    told = dict(re.findall(r'<meta property="og:image([a-z:]*)" content="([^"]*)">', page))
    assert told[""].startswith("http://incidents.example.com/static/preview.png?v=")
    assert told[":alt"]
    picture = client.get(told[""].removeprefix("http://incidents.example.com"))
    assert picture.headers["content-type"] == told[":type"] == "image/png"
    assert "content-encoding" not in picture.headers
    size = (int.from_bytes(picture.content[16:20], "big"), int.from_bytes(picture.content[20:24], "big"))
    assert size == (int(told[":width"]), int(told[":height"])) == (1200, 630)
    assert len(picture.content) < 40_000


def test_statistics_are_narrowed_as_their_twin_is(client: TestClient) -> None:
    page = client.get("/statistics?component=coredns", headers={"accept": "text/html"}).text
    twin = client.get("/statistics.json?component=coredns").json()
    assert f'<dd class="num">{twin["records"]}</dd>' in page
    assert 'href="/statistics"' in page
    assert "/topics?facet=component%3Acoredns&amp;facet=" in page
    assert client.get("/statistics?component=corends", headers={"accept": "text/html"}).status_code == 400
    nothing = client.get("/statistics?component=coredns&year=1999", headers={"accept": "text/html"})
    assert nothing.status_code in {200, 400}


def test_a_page_with_a_wrong_cursor_leads_back_to_the_start(client: TestClient) -> None:
    for path, start in (("/search?q=etcd&cursor=zz", "/search?q=etcd"), ("/incidents?cursor=zz", "/")):
        page = client.get(path, headers={"accept": "text/html"})
        assert page.status_code == 400
        assert f'href="{start}"' in page.text


@pytest.mark.parametrize(
    "begin", ["/search?q=dns", "/incidents?facet=domain:kubernetes", "/topics?facet=symptom:http-5xx"]
)
def test_a_list_is_walked_by_its_links(client: TestClient, begin: str) -> None:
    seen: list[str] = []
    total = client.get(begin.replace("?", ".json?")).json()["total"]
    path = begin
    while path:
        page = client.get(path, headers={"accept": "text/html"}).text
        seen += re.findall(r'<h3 class="hit__title"><a href="(/incidents/[^"]+)"', page)
        following = re.search(r'rel="next" href="([^"]+)"', page)
        path = following[1].replace("&amp;", "&") if following else ""
    assert len(seen) == len(set(seen)) == total > 10


def test_a_long_paste_goes_on_by_a_button(client: TestClient) -> None:
    log = "\r\n".join(
        f"10:00:{n % 60:02} ingress 502 upstream timed out, pod OOMKilled, retry" for n in range(60)
    )
    first = client.post("/search", data={"q": log}).text
    total = int(re.findall(r"data-count>(\d+)<", first)[0])
    cursor = re.search(r'form="facets" name="cursor" value="([^"]+)"', first)
    assert total > 10
    assert cursor is not None
    second = client.post("/search", data={"q": log.replace("\r\n", "\n"), "cursor": cursor[1]}).text
    hits = r'<h3 class="hit__title"><a href="(/incidents/[^"]+)"'
    assert not {*re.findall(hits, first)} & {*re.findall(hits, second)}
    assert f"11–{min(20, total)} of {total}" in second
