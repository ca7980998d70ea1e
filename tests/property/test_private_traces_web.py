"""A private record leaves no trace in any answer of the server unless its token is shown.

Every GET route of the app is walked, pages and feeds included, on two stores that differ in nothing but a
private record. Without the token whole answers must be the same: status, headers (so ETags too), every byte.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import pytest
import structlog
from fastapi import FastAPI
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from pilotage.library.stores.opening import open_store
from rig.rest import (
    DNS,
    PRIVATE_ALIAS,
    PRIVATE_ID,
    SECRET,
    TOKEN,
    UNEVEN,
    client_of,
    fill,
    make_app,
    with_private,
)

VALUES = {
    "id": (DNS["id"], "old-coredns", PRIVATE_ID, PRIVATE_ALIAS, "zanzibar-dns", f"{PRIVATE_ID}x"),
    "kind": ("components", "organisations", "symptoms"),
    "slug": ("coredns", "acme", SECRET, "oom-killed"),
    "number": ("1", "2"),
    "name": ("favicon.svg", SECRET),
}
"""What stands for each parameter of a path."""
QUERIES = (
    "",
    f"q={SECRET}",
    "q=zone+emptied+because+of+a+push+coredns",
    "q=2023",
    f"facet=organisation={SECRET}",
    f"organisation={SECRET}",
    "component=coredns",
    "year=2023",
    "status=reviewed&limit=200",
    "lang=ko",
    "format=csv",
    f"id={PRIVATE_ID}&id={DNS['id']}",
    f"id={UNEVEN['id']}&id={DNS['id']}",
    "extra=facets,terms",
    "extra=related,history,terms",
    "by=organisation&by=year",
)
LIVE = {"/metrics"}
"""Tells of the process itself: request counts differ."""
OTHER_SIDE = {"/mcp"}
"""Is walked with the tools of MCP by its own test."""
IGNORED = {"date", "last-modified"}
"""The moment at which this process saw the store first."""


@dataclass(frozen=True)
class Sides:
    """The app over the public records alone, and with the private one beside them."""

    without: TestClient
    beside: TestClient


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sides]:
    folder = tmp_path_factory.mktemp("traces")
    path = folder / "public.db"
    fill(str(path))
    stores = [
        open_store(str(shutil.copy(path, folder / "copy.db"))),
        open_store(str(with_private(path, folder / "beside.db"))),
    ]
    with (
        structlog.testing.capture_logs(),
        client_of(make_app(stores[0])) as without,
        client_of(make_app(stores[1])) as beside,
    ):
        yield Sides(without, beside)
    for store in stores:
        store.close()


def routes(app: FastAPI) -> list[str]:
    """The path of every route that answers GET, whoever added it."""
    found: list[str] = []

    def walk(listed: list[Any], prefix: str = "") -> None:
        for route in listed:
            if inner := getattr(route, "original_router", None):
                walk(inner.routes, prefix)
            elif "GET" in (getattr(route, "methods", None) or {"GET"}) and getattr(route, "path", ""):
                found.append(prefix + route.path)

    walk(app.router.routes)
    return list(dict.fromkeys(found))


def addresses(path: str) -> list[str]:
    names = [part.partition("}")[0].partition(":")[0] for part in path.split("{")[1:]]
    filled = []
    for values in product(*(VALUES[name] for name in names)):
        address = path.replace(":path}", "}")
        for name, value in zip(names, values, strict=True):
            address = address.replace(f"{{{name}}}", value, 1)
        filled.append(address)
    return filled


def turns(places: list[str], queries: Sequence[str]) -> list[tuple[str, str]]:
    """Each address by itself and with every third query, from another one on each time."""
    if len(places) == 1:
        return [(places[0], query) for query in queries]
    asked = [(place, queries[0]) for place in places]
    for number, place in enumerate(places):
        asked += [(place, query) for query in queries[1 + number % 3 :: 3]]
    return asked


def answer(client: TestClient, address: str, **headers: str) -> tuple[int, dict[str, str], bytes]:
    got = client.get(address, headers=headers)
    told = {name: value for name, value in got.headers.items() if name not in IGNORED}
    return got.status_code, told, got.content


def test_the_walk_covers_the_whole_app(sides: Sides) -> None:
    found = routes(sides.without.app)  # type: ignore[arg-type]
    assert {"/api/v1/incidents/{id}", "/api/v1/changes", "/search.json", "/metrics"} <= set(found)
    assert {"/", "/incidents/{id}", "/search", "/statistics"} <= set(found), "pages belong to the walk"
    assert len(found) > 40


@pytest.mark.slow
@pytest.mark.parametrize("token", ["", "Bearer wrong"])
def test_no_route_shows_a_trace(sides: Sides, token: str) -> None:
    seen = 0
    for path in routes(sides.without.app):  # type: ignore[arg-type]
        if path in LIVE | OTHER_SIDE:
            continue
        program = path.startswith("/api") or path.endswith(".json")
        headers = {"accept": "*/*" if program else "text/html"} | ({"authorization": token} if token else {})
        queries = QUERIES[:2] if token else QUERIES if program else QUERIES[:6]
        for address, query in turns(addresses(path), queries):
            asked = f"{address}?{query}" if query else address
            without = answer(sides.without, asked, **headers)
            assert answer(sides.beside, asked, **headers) == without, asked
            seen += without[0] == 200
    assert seen > 50


def test_metrics_show_no_trace(sides: Sides) -> None:
    def library(client: TestClient) -> list[str]:
        text = client.get("/metrics").text
        assert SECRET not in text
        return [line for line in text.splitlines() if line.startswith(("pilotage_records", "pilotage_data"))]

    assert library(sides.beside) == library(sides.without)


WORDS = st.sampled_from(
    [
        SECRET,
        "coredns",
        "zone",
        "push",
        "emptied",
        "2023",
        "oom",
        "org:acme",
        f"org:{SECRET}",
        "component:coredns",
    ]
)
PATHS = st.sampled_from(["/api/v1/search", "/search.json"])


@given(
    words=st.lists(WORDS, max_size=4),
    facet=st.sampled_from(["", "component=coredns", f"organisation={SECRET}", "symptom=oom-killed"]),
    path=PATHS,
    lang=st.sampled_from(["en", "ko"]),
    limit=st.integers(1, 3),
)
@example(words=[SECRET, "zone"], facet="", path="/api/v1/search", lang="en", limit=1)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_search_shows_a_trace(  # noqa: PLR0913, PLR0917 - the parameters of a search
    sides: Sides, words: list[str], facet: str, path: str, lang: str, limit: int
) -> None:
    asked: dict[str, str | int] = {"q": " ".join(words), "lang": lang, "limit": limit}
    if facet:
        asked["facet"] = facet
    # One part and the next: what a cursor holds tells nothing of private records either.
    for _ in range(2):
        got = [client.get(path, params=asked) for client in (sides.without, sides.beside)]
        assert got[0].status_code == got[1].status_code
        assert got[0].content == got[1].content
        assert got[0].headers["vary"] == got[1].headers["vary"]
        assert got[0].headers.get("etag") == got[1].headers.get("etag")
        following = got[0].json().get("next")
        if not following:
            return
        asked["cursor"] = following


def test_it_is_all_there_with_the_token(sides: Sides) -> None:
    token = {"authorization": f"Bearer {TOKEN}"}

    def get(path: str) -> Any:
        got = sides.beside.get(path, headers=token)
        assert got.status_code == 200, path
        assert got.headers["cache-control"].startswith("private")
        return got.json()

    assert get(f"/api/v1/incidents/{PRIVATE_ID}")["private"]
    assert get("/api/v1/incidents")["total"] == 4
    assert get("/api/v1/statistics")["records"] == 4
    assert PRIVATE_ID in [item["id"] for item in get("/api/v1/changes")["items"]]
    assert get(f"/api/v1/organisations/{SECRET}")["records"] == 1
    assert get("/api/v1/search?q=zone+emptied+push")["hits"][0]["id"] == PRIVATE_ID
    assert SECRET in sides.beside.get("/api/v1/export", headers=token).text
    assert SECRET in sides.beside.get("/api/v1/feed.atom", headers=token).text
    moved = sides.beside.get(f"/api/v1/incidents/{PRIVATE_ALIAS}", headers=token)
    assert moved.headers["location"].endswith(PRIVATE_ID)


def test_answers_that_were_kept_for_the_token_are_not_given_without(sides: Sides) -> None:
    for path in ("/api/v1/search?q=zone+emptied", f"/api/v1/incidents/{PRIVATE_ID}", "/api/v1/feed.atom"):
        with_token = sides.beside.get(path, headers={"authorization": f"Bearer {TOKEN}"})
        assert SECRET in with_token.text
        etag = with_token.headers["etag"]
        without = sides.beside.get(path, headers={"if-none-match": etag})
        assert without.status_code != 304
        assert SECRET not in without.text.replace(PRIVATE_ID, "")
