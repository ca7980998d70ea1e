"""How the server answers: errors, headers, validators, limits, counts, logs."""

from __future__ import annotations

import asyncio
import re
import time
from email.utils import formatdate
from typing import Any

import httpx
import pytest
import structlog
from fastapi import FastAPI
from fastapi.testclient import TestClient

from pilotage.core.errors import NotFound, PilotageError, all_errors
from pilotage.library.stores.protocol import Store
from pilotage.web.caching import Answers, FirstSeen, Kept
from pilotage.web.errors import problem_of, status_of
from rig.rest import DNS, TOKEN, client_of, make_app, put, record

API = "/api/v1"


def problem(client: TestClient, path: str, status: int, method: str = "GET") -> Any:
    answer = client.request(method, path)
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.headers["cache-control"] == "no-store"
    found = answer.json()
    assert set(found) == {"type", "title", "status", "detail", "hint", "code"}
    assert found["status"] == status
    assert found["type"] == f"urn:pilotage:error:{found['code']}"
    return found


@pytest.mark.parametrize(
    ("path", "status", "code", "hint"),
    [
        ("/nothing", 404, "not-found", "openapi.json"),
        (f"/incidents/{DNS['id']}x", 404, "not-found", DNS["id"]),
        ("/incidents?componnt=coredns", 400, "unknown-term", "component"),
        ("/incidents?component=cordns", 400, "unknown-term", "coredns"),
        ("/incidents?facet=componnt=x", 400, "unknown-term", "component"),
        ("/incidents?fields=titel", 400, "unknown-term", "title"),
        ("/incidents?extra=relatd", 400, "unknown-term", "facets"),
        (f"/incidents/{DNS['id']}?extra=relatd", 400, "unknown-term", "related"),
        ("/incidents?limit=0", 400, "invalid-input", "openapi.json"),
        ("/incidents?limit=201", 400, "invalid-input", "openapi.json"),
        ("/incidents?limit=ten", 400, "invalid-input", "openapi.json"),
        ("/incidents?cursor=bad", 400, "invalid-input", "next"),
        ("/incidents?lang=fr", 400, "invalid-input", "openapi.json"),
        ("/search?offset=2", 400, "unknown-term", "cursor"),
        ("/search?cursor=" + "A" * 6_000, 400, "invalid-input", "openapi.json"),
        ("/search?facets=true", 400, "unknown-term", "facet"),
        ("/search?extra=facts", 400, "unknown-term", "facets"),
        ("/statistics/matrix?by=component", 400, "invalid-input", "by=component&by=root_cause"),
        ("/search?q=component:cordns", 400, "unknown-term", "coredns"),
        ("/changes?since=WzFd", 400, "invalid-input", "next"),
        ("/organisations/qqqqqqq", 404, "not-found", "list of organisations"),
        ("/organisations?cursor=W10", 400, "invalid-input", "next"),
        ("/topics?facet=nonsense", 400, "invalid-input", "facet=value"),
        ("/statistics/matrix?by=componnt&by=year", 400, "unknown-term", "component"),
        ("/search?" + "&".join(f"year={1950 + n}" for n in range(51)), 400, "invalid-input", "50"),
        ("/search?q=%ff%fe", 400, "invalid-input", "UTF-8"),
        ("/incidents/%c3%28", 400, "invalid-input", "UTF-8"),
        ("/incidents/" + "x" * 5_000, 414, "invalid-input", "bytes"),
        ("/incidents/" + "x" * 1_000, 400, "invalid-input", "openapi.json"),
    ],
)
def test_wrong_requests_are_told_what_is_wrong(
    reader: TestClient, path: str, status: int, code: str, hint: str
) -> None:
    found = problem(reader, API + path, status)
    assert found["code"] == code
    assert hint in found["hint"], found


def test_a_hint_lists_what_is_known_once(reader: TestClient) -> None:
    hint = problem(reader, f"{API}/incidents?extra=foo", 400)["hint"]
    assert hint == "Known are: facets, terms."
    hint = problem(reader, f"{API}/incidents?fields=foo", 400)["hint"]
    assert hint.startswith("Known are: ")


def test_wrong_methods(client: TestClient) -> None:
    for method in ("POST", "PUT", "DELETE", "PATCH"):
        assert problem(client, f"{API}/search", 405, method)["code"] == "usage"
        assert client.request(method, f"{API}/search").headers["allow"] == "GET, HEAD, OPTIONS"
    assert client.request("BREW", f"{API}/search").status_code == 405


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        (f"{API}/search", "GET, HEAD, OPTIONS"),
        (f"{API}/checks/run", "OPTIONS, POST"),
        ("/search", "GET, HEAD, OPTIONS, POST"),
        ("/incidents", "GET, HEAD, OPTIONS"),
    ],
)
def test_an_address_tells_what_it_takes(reader: TestClient, path: str, allowed: str) -> None:
    told = reader.options(path)
    assert (told.status_code, told.headers["allow"], told.content) == (204, allowed, b"")
    assert reader.options(f"{API}/nothing").status_code == 404


def test_a_long_paste_is_clipped_not_refused(client: TestClient) -> None:
    found = client.get(f"{API}/search", params={"q": "out of memory " * 2_000})
    assert found.status_code == 200
    assert found.json()["clipped"]


@pytest.mark.parametrize("error", all_errors(), ids=lambda error: error.code)
def test_every_error_has_a_status_and_keeps_its_code(error: type[PilotageError]) -> None:
    told = problem_of(error("what /srv/library.db said", hint="do this"))
    assert told.code == error.code
    assert told.status in {400, 404, 409, 413, 500, 503}
    if told.status >= 500:
        assert "/srv" not in told.detail
    assert ("Retry-After" in told.headers()) == (told.status == 503)


def test_statuses() -> None:
    found = {error.code: status_of(error("x")) for error in all_errors()}
    assert found["not-found"] == 404
    assert found["conflict"] == 409
    assert found["unknown-term"] == found["invalid-input"] == found["user-error"] == 400
    assert found["store-busy"] == found["unreachable"] == found["store-error"] == 503
    assert found["refused"] == found["safety-stop"] == 500


def test_a_fault_of_ours_tells_nothing(app: FastAPI) -> None:
    @app.get("/broken")
    def broken() -> None:
        raise RuntimeError("secret of the house")

    @app.get("/foreseen")
    def foreseen() -> None:
        raise NotFound("no such thing", hint="Look elsewhere.")

    with structlog.testing.capture_logs() as logs, client_of(app) as client:
        assert problem(client, "/broken", 500)["code"] == "bug"
        assert "secret" not in client.get("/broken").text
        assert problem(client, "/foreseen", 404)["hint"] == "Look elsewhere."
    assert any(entry["event"] == "request_broke" for entry in logs)


def test_security_headers_are_on_every_answer(client: TestClient) -> None:
    for path in (f"{API}/search", f"{API}/nothing", "/healthz", "/metrics", f"{API}/incidents/old-coredns"):
        headers = client.get(path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["referrer-policy"]
        assert headers["permissions-policy"]
        assert "server" not in headers


def test_other_origins_may_read(client: TestClient) -> None:
    answer = client.get(f"{API}/search", headers={"origin": "https://example.org"})
    assert answer.headers["access-control-allow-origin"] == "*"
    assert "access-control-allow-credentials" not in answer.headers
    asked = {"origin": "https://example.org", "access-control-request-method": "GET"}
    preflight = client.options(f"{API}/search", headers=asked)
    assert preflight.status_code == 204
    assert preflight.headers["access-control-allow-methods"] == "GET, HEAD"


def test_validators(client: TestClient, store: Store) -> None:
    for path in (f"{API}/search?q=dns", f"{API}/incidents/{DNS['id']}", f"{API}/export", f"{API}/feed.atom"):
        first = client.get(path)
        etag = first.headers["etag"]
        assert {"authorization", "accept-language", "cookie"} <= {
            name.strip().lower() for name in first.headers["vary"].split(",")
        }
        for given in (etag, f'"other", {etag}', etag.removeprefix("W/"), "*"):
            again = client.get(path, headers={"if-none-match": given})
            assert again.status_code == 304, given
            assert again.content == b""
            assert again.headers["etag"] == etag
            assert set(again.headers["vary"].split(", ")) == set(first.headers["vary"].split(", "))
        since = {"if-modified-since": formatdate(time.time() + 2, usegmt=True)}
        assert client.get(path, headers=since).status_code == 304
        assert client.get(path, headers=since | {"if-none-match": '"other"'}).status_code == 200
        assert client.get(path, headers={"if-modified-since": "yesterday"}).status_code == 200
        old = {"if-modified-since": "Mon, 01 Jan 2001 00:00:00 GMT"}
        assert client.get(path, headers=old).status_code == 200
        assert client.get(path, headers={"host": "127.0.0.1:9"}).headers["etag"] != etag
        put(store, [record(f"acme-2024-01-01-{len(path)}-{etag[3:8]}", "Newer", "새것", date="2024-01-01")])
        changed = client.get(path, headers={"if-none-match": etag})
        assert changed.status_code == 200
        assert changed.headers["etag"] != etag


def test_what_is_not_there_is_never_not_modified(client: TestClient) -> None:
    assert client.get(f"{API}/incidents/nope", headers={"if-none-match": "*"}).status_code == 404


def test_kept_answers_are_the_same_as_fresh_ones(client: TestClient, store: Store) -> None:
    path = f"{API}/search?q=coredns&extra=facets"
    fresh = client.get(path)
    kept = client.get(path)
    assert kept.content == fresh.content
    # While the second lasts in which a version was seen first, its beginning is told.
    told = [{**answer.headers, "last-modified": ""} for answer in (kept, fresh)]
    assert told[0] == told[1]
    bare = client.get(path, headers={"accept-encoding": "identity"})
    assert "content-encoding" not in bare.headers
    assert fresh.headers["content-encoding"] == "gzip"
    assert bare.content == fresh.content
    put(store, [DNS | {"title": {"en": "CoreDNS again", "ko": "또"}}])
    assert client.get(path).json()["hits"][0]["title"] == "CoreDNS again"


def test_head_has_the_headers_and_no_body(client: TestClient) -> None:
    for path in (f"{API}/search?q=dns", f"{API}/export", "/healthz", f"{API}/nothing"):
        whole = client.get(path)
        head = client.head(path)
        assert head.status_code == whole.status_code
        assert head.content == b""
        assert head.headers.get("etag") == whole.headers.get("etag")
        assert head.headers["content-type"] == whole.headers["content-type"]


def test_answers_with_a_token_are_for_one_reader(client: TestClient) -> None:
    private = client.get(f"{API}/search", headers={"authorization": f"Bearer {TOKEN}"})
    assert private.headers["cache-control"] == "private, no-cache"
    assert private.headers["etag"] != client.get(f"{API}/search").headers["etag"]


def test_kept_answers_have_bounded_room() -> None:
    answers = Answers(room=10_000)
    for number in range(100):
        answers.put(str(number), Kept([], b"x" * 1_000, None))
    assert answers.get("99") is not None
    assert answers.get("0") is None
    assert sum(answers.get(str(number)) is not None for number in range(100)) == 4


def test_last_modified_is_never_too_early_nor_to_come() -> None:
    now = 1_000.9
    seen = FirstSeen(lambda: now)
    first = seen.at("public", 1)
    assert first > now
    now = 2_000.0
    assert seen.at("public", 1) == first
    assert seen.at("public", 2) > first
    assert seen.at("all", 1) == seen.at("public", 2)
    told = seen.told(seen.at("public", 2))
    assert told <= now
    # A second change within the same second: who has the first is not told that nothing changed.
    assert told < seen.at("public", 3)
    now = 2_001.0
    assert seen.told(seen.at("public", 3)) == seen.at("public", 3)


def test_the_same_answer_is_made_once_for_many(app: FastAPI) -> None:
    calls = 0

    @app.get("/slow")
    async def slow() -> dict[str, int]:
        nonlocal calls
        calls += 1
        await asyncio.sleep(0.2)
        return {"calls": calls}

    async def ask() -> list[int]:
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            found = await asyncio.gather(*(client.get("/slow") for _ in range(10)))
        return [answer.json()["calls"] for answer in found]

    with structlog.testing.capture_logs():
        assert asyncio.run(ask()) == [1] * 10


def test_a_client_that_goes_away_is_no_fault_of_ours(app: FastAPI) -> None:
    async def leave(path: str) -> list[Any]:
        sent: list[Any] = []
        told = iter(
            [{"type": "http.request", "body": b"q=dns", "more_body": True}, {"type": "http.disconnect"}]
        )

        async def receive() -> Any:
            return next(told)

        async def send(message: Any) -> None:
            sent.append(message)

        scope = {"type": "http", "method": "POST", "path": path, "query_string": b"", "headers": []}
        await app(scope, receive, send)
        return sent

    with structlog.testing.capture_logs() as logs:
        for path in (f"{API}/checks/run", "/search", "/checks/try"):
            assert asyncio.run(leave(path)) == []
    assert [entry["event"] for entry in logs] == ["request"] * 3


def test_the_address_of_the_next_part_may_have_any_name_in_it(client: TestClient, store: Store) -> None:
    put(
        store,
        [record(f"x-2024-01-0{n}-a", "A", "가", date=f"2024-01-0{n}", org_slug="엘라스틱") for n in (1, 2)],
    )
    for path in (f"{API}/organisations/엘라스틱", "/organisations/엘라스틱.json"):
        first = client.get(f"{path}?limit=1")
        assert first.status_code == 200
        second = client.get(first.links["next"]["url"])
        shown = [answer.json()["incidents"]["items"][0]["id"] for answer in (first, second)]
        assert shown == ["x-2024-01-02-a", "x-2024-01-01-a"]


@pytest.mark.parametrize(
    ("accepted", "lang"),
    [
        ("ko", "ko"),
        ("ko-KR,ko;q=0.9,en;q=0.8", "ko"),
        ("en;q=0.5,ko", "ko"),
        ("ko;q=0.2, en;q=0.7", "en"),
        ("ko;q=0, fr", "en"),
        ("fr", "en"),
        ("ko;q=x", "ko"),
        (";;,q=,ko", "ko"),
    ],
)
def test_the_language_that_is_wanted_most(reader: TestClient, accepted: str, lang: str) -> None:
    told = reader.get(f"{API}/vocabulary", headers={"accept-language": accepted})
    assert told.headers["content-language"] == lang


def test_nobody_waits_for_a_slow_reader_of_the_same_answer(app: FastAPI) -> None:
    class Slow(httpx.AsyncBaseTransport):
        """The app, with a client that reads nothing until somebody else has the answer."""

        def __init__(self) -> None:
            self.sent = asyncio.Event()
            self.others = asyncio.Event()

        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            async def patient(scope: Any, receive: Any, send: Any) -> None:
                async def slowly(message: Any) -> None:
                    if message["type"] == "http.response.body":
                        self.sent.set()
                        await asyncio.wait_for(self.others.wait(), 30)
                    await send(message)

                await app(scope, receive, slowly)

            return await httpx.ASGITransport(patient).handle_async_request(request)

    async def ask() -> tuple[bytes, bytes]:
        slow = Slow()
        async with (
            httpx.AsyncClient(transport=slow, base_url="http://127.0.0.1") as one,
            httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1") as other,
        ):
            first = asyncio.create_task(one.get(f"{API}/vocabulary"))
            await asyncio.wait_for(slow.sent.wait(), 30)
            second = await asyncio.wait_for(other.get(f"{API}/vocabulary"), 30)
            slow.others.set()
            return (await first).content, second.content

    with structlog.testing.capture_logs():
        first, second = asyncio.run(ask())
    assert first == second


def test_health(client: TestClient, store: Store) -> None:
    assert client.get("/healthz").json() == {"status": "alive"}
    ready = client.get("/readyz").json()
    assert ready == {"status": "ready", "data_version": store.data_version("public")}


def test_metrics_count_by_template(client: TestClient) -> None:
    client.get(f"{API}/incidents/{DNS['id']}")
    client.get(f"{API}/incidents/{DNS['id']}")
    client.get(f"{API}/incidents/nope-nope")
    page = client.get(f"/incidents/{DNS['id']}")
    client.get(f"/incidents/{DNS['id']}", headers={"if-none-match": page.headers["etag"]})
    client.get("/static/favicon.svg")
    client.get("/no/such/page.json")
    client.request("BREW", f"{API}/search")
    client.post("/mcp", json={})
    text = client.get("/metrics").text
    one = 'pilotage_http_requests_total{method="GET",route="/api/v1/incidents/{id}",status="200"} 2.0'
    assert one in text
    for route, status in (("/incidents/{id}", 200), ("/incidents/{id}", 304), ("/static/{name}", 200)):
        assert f'requests_total{{method="GET",route="{route}",status="{status}"}} 1.0' in text
    assert re.search(r'requests_total\{method="POST",route="/mcp",status="4\d\d"\} 1.0', text)
    assert 'method="other"' in text
    assert "BREW" not in text
    assert "pilotage_records 3.0" in text
    assert "pilotage_data_version" in text
    assert "pilotage_records_with_vectors 0.0" in text
    assert re.search(r'pilotage_http_request_seconds_bucket\{le="0.005",route="', text)
    for hidden in ("nope-nope", DNS["id"], "no/such"):
        assert hidden not in text


def test_the_log_holds_no_query_no_id_and_no_token(app: FastAPI) -> None:
    with structlog.testing.capture_logs() as logs, client_of(app) as client:
        client.get(f"{API}/search?q=gremlins", headers={"authorization": f"Bearer {TOKEN}"})
        client.get(f"{API}/incidents/{DNS['id']}")
        client.get(f"{API}/incidents/gremlin-id", headers={"authorization": "Bearer wrong-token"})
        client.get(f"/gremlins?token={TOKEN}", headers={"accept": "application/json"})
    requests = [entry for entry in logs if entry["event"] == "request"]
    assert [entry["status"] for entry in requests] == [200, 200, 404, 404]
    assert requests[0]["route"] == f"{API}/search"
    said = repr(logs)
    for hidden in ("gremlin", TOKEN, "wrong-token", DNS["id"]):
        assert hidden not in said


def test_a_wrong_or_missing_token_is_public(store: Store) -> None:
    for token, header in (
        (TOKEN, "Bearer nope"),
        (TOKEN, f"Basic {TOKEN}"),
        ("", "Bearer "),
        ("", "Bearer x"),
        (" \n", "Bearer "),
        (" \n", "Bearer  \n"),
    ):
        with structlog.testing.capture_logs(), client_of(make_app(store, token=token)) as client:
            answer = client.get(f"{API}/search", headers={"authorization": header})
            assert answer.status_code == 200
            assert answer.headers["cache-control"] == "no-cache"


@pytest.mark.parametrize("token", ["from-a-file\n", " spaced ", "열려라 참깨"])
def test_a_token_may_be_any_text(store: Store, token: str) -> None:
    header = b"Bearer " + token.strip().encode()
    with structlog.testing.capture_logs(), client_of(make_app(store, token=token)) as client:
        answer = client.get(f"{API}/vocabulary", headers={b"authorization": header})
        assert answer.headers["cache-control"] == "private, no-cache"
        assert client.get(f"{API}/vocabulary").headers["cache-control"] == "no-cache"


def test_mcp_refuses_in_our_words(client: TestClient) -> None:
    asked = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
    for headers, status, word in (
        ({"host": "evil.example"}, 421, "the host 'evil.example'"),
        ({"origin": "https://evil.example"}, 403, "pages of 'https://evil.example'"),
    ):
        told = client.post("/mcp", json={}, headers=asked | headers)
        assert (told.status_code, told.headers["content-type"]) == (status, "application/problem+json")
        assert word in told.json()["detail"]
        assert "ALLOWED_HOSTS" in told.json()["hint"]
    wrong = client.post("/mcp", json={"jsonrpc": "2.0"}, headers=asked)
    assert (wrong.status_code, wrong.json()["error"]["message"]) == (400, "the body is no JSON-RPC message")
    ping = client.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, headers=asked)
    assert len(ping.json()["result"]["tools"]) == 9
