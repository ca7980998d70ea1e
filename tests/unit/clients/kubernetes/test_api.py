"""The client against a server that breaks in every way: one clear message each."""

from __future__ import annotations

import ast
import asyncio
import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pilotage.clients.kubernetes import api as api_module
from pilotage.clients.kubernetes.access import Access, read_access
from pilotage.clients.kubernetes.api import ReadOnlyApi
from pilotage.clients.kubernetes.discovery import discover, server_version
from pilotage.clients.kubernetes.failures import Failure, Reason
from pilotage.core.errors import OutsideError
from rig.certificates import Authority
from rig.fake_kube import FakeKube, Kind, busy, dying, halved, no_http, saying, stalling

PODS = "/api/v1/pods"
HTML = b"<html><head><title>Sign in</title></head><body>Please sign in</body></html>"


@pytest.fixture
def fake() -> Any:
    with FakeKube().running() as running:
        yield running


def ask(access: Access, path: str = PODS, *, timeout: float = 5.0, waits: list[float] | None = None) -> Any:
    """The items of a list, or the failure."""
    heard: list[float] = [] if waits is None else waits

    async def pause(seconds: float) -> None:
        heard.append(seconds)
        await asyncio.sleep(0)

    async def inner() -> Any:
        async with ReadOnlyApi(access, timeout_seconds=timeout, pause=pause) as api:
            try:
                return [item async for page in api.pages(path) for item in page.items]
            except Failure as failure:
                return failure

    return asyncio.run(inner())


def at(fake: FakeKube) -> Access:
    return Access(fake.url, None, origin="context fake of kubeconfig")


@pytest.mark.parametrize(
    ("fault", "reason", "words"),
    [
        (saying(200, HTML), Reason.BAD_REPLY, "answers with a web page ('Sign in')"),
        (saying(403, HTML), Reason.FORBIDDEN, "not permitted"),
        (
            saying(302, b"", Location="https://login.example/?next=x"),
            Reason.BAD_REPLY,
            "sends us to https://login.example/:",
        ),
        (saying(200, b"hello", "text/plain"), Reason.BAD_REPLY, "no JSON object"),
        (saying(200, b"[]", "application/json"), Reason.BAD_REPLY, "no JSON object"),
        (saying(200, b"{}", "application/json"), Reason.BAD_REPLY, "no list of objects"),
        (
            saying(200, b'{"items": 1, "metadata": {}}', "application/json"),
            Reason.BAD_REPLY,
            "no list of objects",
        ),
        (
            saying(418, b'{"message": "short and stout"}', "application/json"),
            Reason.BAD_REPLY,
            "short and stout",
        ),
        (
            saying(500, b'{"message": "etcdserver: leader changed"}', "application/json"),
            Reason.BUSY,
            "leader changed",
        ),
        (saying(401, b"{}", "application/json"), Reason.UNAUTHORIZED, "does not know who we are"),
        (dying, Reason.BROKEN_OFF, "broke off in the middle of /api/v1/pods"),
        (halved, Reason.BROKEN_OFF, "in the middle of /api/v1/pods: the answer is not whole"),
        (no_http, Reason.BAD_REPLY, "does not speak HTTP"),
        (
            saying(200, b"{}", "application/json", **{"Content-Encoding": "gzip"}),
            Reason.BAD_REPLY,
            "cannot be unpacked",
        ),
    ],
)
def test_each_way_to_answer_badly_has_its_message(
    fake: FakeKube, fault: Any, reason: Reason, words: str
) -> None:
    fake.faults[PODS] = fault
    failure = ask(at(fake))
    assert failure.reason is reason
    assert words in failure.message
    assert "\n" not in failure.message
    assert isinstance(failure.as_error(), OutsideError)


def test_a_server_that_stalls_is_given_up(fake: FakeKube) -> None:
    fake.faults[PODS] = stalling
    failure = ask(at(fake), timeout=0.3)
    assert failure.reason is Reason.STALLED
    assert "no answer for /api/v1/pods in 0.3 s" in failure.message
    assert "--server-timeout" in failure.hint


def test_a_server_that_died_once_is_asked_again(fake: FakeKube) -> None:
    died: list[bool] = []

    def once(handler: Any) -> bool:
        if died:
            return False
        died.append(True)
        return dying(handler)

    fake.faults[PODS] = once
    assert ask(at(fake)) == []
    assert len(fake.requests) == 2


def test_the_wait_is_the_servers(fake: FakeKube) -> None:
    waits: list[float] = []
    for said in ("3", "soon", "nan", "Tue, 01 Jan 2019 00:00:00 GMT"):
        fake.faults[PODS] = busy(1, said)
        assert ask(at(fake), waits=waits) == []
    assert waits == [3.0, 0.5, 0.5, 0.0]


@pytest.mark.parametrize(
    ("said", "waited"), [("86400", []), ("20", [20.0]), ("Fri, 01 Jan 2988 00:00:00 GMT", [])]
)
def test_a_server_that_wishes_to_be_left_alone_for_long_is_not_waited_for(
    fake: FakeKube, said: str, waited: list[float]
) -> None:
    waits: list[float] = []
    fake.faults[PODS] = busy(100, said)
    failure = ask(at(fake), waits=waits)
    assert waits == waited
    assert failure.reason is Reason.BUSY
    asked = said if said.isdigit() else r"\d{11}"
    assert re.search(
        rf"429 for .* it asks for a pause of {asked} s, and no more than 30 s are waited", failure.message
    )


def test_one_that_stays_busy_is_given_up(fake: FakeKube) -> None:
    fake.faults[PODS] = busy(100)
    failure = ask(at(fake))
    assert failure.reason is Reason.BUSY
    assert len(fake.requests) == 4


def test_nobody_there() -> None:
    failure = ask(Access("http://127.0.0.1:9", None, origin="context x of y"))
    assert failure.reason is Reason.UNREACHABLE
    assert "http://127.0.0.1:9 does not answer" in failure.message
    assert "context x of y" in failure.hint
    failure = ask(Access("http://no-such-host.invalid", None))
    assert failure.reason is Reason.UNREACHABLE


def test_a_proxy_that_is_not_there_is_named(fake: FakeKube) -> None:
    failure = ask(Access(fake.url, None, proxy="http://127.0.0.1:9"))
    assert failure.reason is Reason.UNREACHABLE
    assert "the proxy http://127.0.0.1:9 does not answer" in failure.message


@pytest.mark.parametrize(
    ("days", "host", "trusted", "words"),
    [
        ((-10, -1), "127.0.0.1", True, "has expired"),
        ((1, 10), "127.0.0.1", True, "is not valid yet"),
        ((-1, 1), "10.0.0.1", True, "is made out for another name"),
        ((-1, 1), "127.0.0.1", False, "is signed by an authority that is not trusted here"),
    ],
)
def test_a_certificate_that_is_not_to_be_trusted(
    tmp_path: Path, days: tuple[int, int], host: str, trusted: bool, words: str
) -> None:
    authority = Authority()
    known = authority if trusted else Authority()
    (tmp_path / "ca.crt").write_text(known.pem)
    with FakeKube(tls=authority.server(tmp_path, days=days, host=host)).running() as fake:
        config = fake.kubeconfig(tmp_path, **{"certificate-authority": "ca.crt"})
        failure = ask(read_access(str(config)))
        insecure = fake.kubeconfig(tmp_path, **{"insecure-skip-tls-verify": True})
        assert ask(read_access(str(insecure))) == []
    assert failure.reason is Reason.CERTIFICATE
    assert f"the certificate of {fake.url} {words}" in failure.message
    assert failure.hint


def test_a_good_certificate_is_taken_also_under_another_name(tmp_path: Path) -> None:
    authority = Authority()
    (tmp_path / "ca.crt").write_text(authority.pem)
    with FakeKube(tls=authority.server(tmp_path, host="10.0.0.1")).running() as fake:
        parts = {"certificate-authority": "ca.crt", "tls-server-name": "localhost"}
        assert ask(read_access(str(fake.kubeconfig(tmp_path, **parts)))) == []


def test_a_server_that_does_not_speak_tls(fake: FakeKube, tmp_path: Path) -> None:
    config = fake.kubeconfig(tmp_path, server=fake.url.replace("http:", "https:"))
    failure = ask(read_access(str(config)))
    assert failure.reason is Reason.CERTIFICATE
    assert "does not speak TLS" in failure.message


def run(fake: FakeKube, look: Callable[[ReadOnlyApi], Any]) -> Any:
    async def inner() -> Any:
        async with ReadOnlyApi(at(fake), timeout_seconds=5) as api:
            return await look(api)

    return asyncio.run(inner())


def test_an_older_server_tells_group_by_group() -> None:
    with FakeKube(aggregated=False).running() as fake:
        found = run(fake, lambda api: discover(api, {"", "apps", "gateway.networking.k8s.io"}))
        asked = [path for _, path in fake.requests]
    with FakeKube().running() as fake:
        assert run(fake, lambda api: discover(api, {"", "apps", "gateway.networking.k8s.io"})) == found
    assert "/apis/apps/v1" in asked
    assert "/apis/batch/v1" not in asked


def test_a_group_that_does_not_answer_hides_no_other() -> None:
    with FakeKube(aggregated=False).running() as fake:
        fake.faults["/apis/keda.sh/v1alpha1"] = saying(404, b"{}", "application/json")
        found = run(fake, lambda api: discover(api, {"apps", "keda.sh"}))
    assert ("apps", "deployments") in found.resources
    assert set(found.failed) == {"keda.sh"}


def test_the_preferred_version_is_taken() -> None:
    kinds = [Kind("x.example", version, "things", "Thing", True) for version in ("v2", "v1")]

    class Two(FakeKube):
        def discovery(self, *, core: bool) -> dict[str, Any]:
            found = super().discovery(core=core)
            for item in found["items"]:
                resources = item["versions"][0]["resources"]
                item["versions"] = [{"version": one.version, "resources": resources} for one in kinds]
            return found

    with Two(kinds[:1]).running() as fake:
        found = run(fake, lambda api: discover(api, {"x.example"}))
    assert found.resources["x.example", "things"].version == "v2"


@pytest.mark.parametrize(("minor", "version"), [("36", (1, 36)), ("30+", (1, 30)), ("", None)])
def test_versions_of_all_vendors_are_read(fake: FakeKube, minor: str, version: Any) -> None:
    fake.minor = minor
    assert run(fake, server_version) == version


def test_there_is_no_verb_in_the_client_but_get() -> None:
    called = {
        node.func.attr
        for node in ast.walk(ast.parse(inspect.getsource(api_module)))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Attribute)
        and node.func.value.attr == "_session"
    }
    assert called == {"get", "close"}
    folder = Path(api_module.__file__).parent
    senders = [path.name for path in folder.glob("*.py") if "aiohttp" in path.read_text()]
    assert senders == ["api.py"]
