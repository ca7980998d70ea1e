"""Get and list, over aiohttp. There is no other verb in here, so none can be sent by mistake."""

from __future__ import annotations

import asyncio
import math
import re
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from types import TracebackType
from typing import Any, Self

import aiohttp
import orjson

from pilotage.clients.kubernetes.access import Access
from pilotage.clients.kubernetes.failures import (
    WRONG_PLACE,
    Failure,
    Reason,
    certificate_failure,
    status_failure,
)

JSON = "application/json"
METADATA_ONLY = f"{JSON};as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,{JSON}"
"""Asks for names, labels and annotations of objects instead of all that they hold."""
DISCOVERY = f"{JSON};g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,{JSON}"
"""Asks for all groups, versions and resources in one answer; older servers give the list of groups alone."""
PAGE_SIZE = 500
MOST_BYTES = 256 * 2**20
"""A page larger than this is none: 500 objects of the largest size that the server keeps are smaller."""
_CHUNK_BYTES = 2**18
_TRIES = 4
MOST_PATIENCE_SECONDS = 30.0
"""All pauses together that a server may ask for before it answers one request."""
_RESTARTS = 2
_TITLE = re.compile(r"<title[^>]*>([^<]{1,80})", re.IGNORECASE)
_GOOD = 200
_REDIRECTS = range(300, 400)

Pause = Callable[[float], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Page:
    """A part of a list.

    Attributes:
        items: the objects.
        api_version: version of the list, which its items may leave out.
        kind: kind of the list.
        first: whether it is the first page; a second first one means that the list began again.
        remaining: how many objects are still to come; None where the server does not say.
    """

    items: list[dict[str, Any]]
    api_version: str
    kind: str
    first: bool
    remaining: int | None


class ReadOnlyApi:
    """An API server that is only read.

    Args:
        access: how to reach it.
        timeout_seconds: how long a silence of the server may last; four times that for a whole answer.
        pause: waits between two tries.
    """

    def __init__(
        self, access: Access, *, timeout_seconds: float = 30.0, pause: Pause = asyncio.sleep
    ) -> None:
        self.access = access
        self._silence_seconds = timeout_seconds
        self._pause = pause
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=16),
            headers={"User-Agent": "pilotage (read-only check)", **self.access.headers},
            timeout=aiohttp.ClientTimeout(
                total=4 * self._silence_seconds,
                sock_connect=min(10.0, self._silence_seconds),
                sock_read=self._silence_seconds,
            ),
            cookie_jar=aiohttp.DummyCookieJar(),
        )
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._session is not None:
            await self._session.close()

    async def get(self, path: str, *, accept: str = JSON, query: Mapping[str, str] | None = None) -> Any:
        """One answer; a server that is busy or breaks off is asked again, after the pause that it wishes.

        Raises:
            Failure: it brought nothing, or wishes for longer pauses than `MOST_PATIENCE_SECONDS`.
        """
        left = MOST_PATIENCE_SECONDS
        for attempt in range(1, _TRIES + 1):
            try:
                return await self._once(path, accept, query or {})
            except Failure as failure:
                again = failure.reason in {Reason.BUSY, Reason.BROKEN_OFF, Reason.UNREACHABLE}
                if not again or attempt == _TRIES:
                    raise
                asked = failure.retry_seconds
                wait = 0.25 * 2**attempt if asked is None else asked
                if wait > left:
                    raise _too_patient(failure, wait) from failure
                left -= wait
            await self._pause(wait)
        raise AssertionError("unreachable")

    async def pages(
        self, path: str, *, metadata_only: bool = False, size: int = PAGE_SIZE
    ) -> AsyncIterator[Page]:
        """A list, page by page.

        When the server has forgotten the state at which the list began, it goes on with what the server
        offers, or from the start; the page then says that it is the first.

        Raises:
            Failure: a page could not be had.
        """
        token, first, restarts = "", True, 0
        accept = METADATA_ONLY if metadata_only else JSON
        while first or token:
            query = {"limit": str(size)} | ({"continue": token} if token else {})
            try:
                value = await self.get(path, accept=accept, query=query)
            except Failure as failure:
                if failure.reason is not Reason.GONE or restarts == _RESTARTS:
                    raise
                restarts += 1
                token, first = failure.token, not failure.token
                continue
            page, token = _page(value, path, first=first)
            first = False
            yield page

    async def _once(self, path: str, accept: str, query: Mapping[str, str]) -> Any:
        if self._session is None:
            raise RuntimeError("the client is not open")
        server = self.access.server
        try:
            async with self._session.get(
                server + path,
                params=query,
                headers={"Accept": accept},
                ssl=self.access.tls if self.access.tls is not None else True,
                server_hostname=self.access.server_name or None,
                proxy=self.access.proxy or None,
                allow_redirects=False,
            ) as response:
                return _value(response, await _body(response, path), path, server)
        except aiohttp.ClientConnectorCertificateError as error:
            raise certificate_failure(server, str(error.certificate_error)) from error
        except (ssl.SSLError, aiohttp.ClientSSLError) as error:
            raise _tls_failure(server, error) from error
        except TimeoutError as error:
            raise self._stalled(error, path) from error
        except aiohttp.ClientHttpProxyError as error:
            message = f"the proxy {self.access.proxy} refuses to connect to {server}: {error.status}"
            raise Failure(Reason.UNREACHABLE, message, "Check proxy-url and HTTPS_PROXY.") from error
        except aiohttp.ClientConnectorError as error:
            raise self._not_reached(error) from error
        except (aiohttp.ClientError, OSError) as error:
            raise _broken_off(server, path, error) from error

    def _stalled(self, error: BaseException, path: str) -> Failure:
        server = self.access.server
        if isinstance(error, aiohttp.ConnectionTimeoutError):
            return Failure(
                Reason.UNREACHABLE,
                f"{server} does not answer: no connection in {min(10.0, self._silence_seconds):g} s",
                "Check the address, the network and the firewall.",
            )
        return Failure(
            Reason.STALLED,
            f"{server} stalls: no answer for {path} in {self._silence_seconds:g} s",
            "Give it longer with --server-timeout.",
        )

    def _not_reached(self, error: aiohttp.ClientConnectorError) -> Failure:
        whom = f"the proxy {self.access.proxy}" if self.access.proxy else self.access.server
        words = error.strerror or str(error.os_error) or "no connection"
        return Failure(
            Reason.UNREACHABLE,
            f"{whom} does not answer: {words}",
            f"Check the address, the network, and whether the server runs ({self.access.origin}).",
        )


def _broken_off(server: str, path: str, error: aiohttp.ClientError | OSError) -> Failure:
    if isinstance(error, aiohttp.ClientResponseError):
        return Failure(Reason.BAD_REPLY, f"{server} does not speak HTTP", WRONG_PLACE)
    if "content-encoding" in str(error):
        message = f"{server} answers with something that cannot be unpacked for {path}"
        return Failure(Reason.BAD_REPLY, message, WRONG_PLACE)
    if isinstance(error, aiohttp.ClientPayloadError):
        words = "the answer is not whole"
    else:
        words = (error.strerror if isinstance(error, OSError) else None) or str(error)
    return Failure(
        Reason.BROKEN_OFF,
        f"{server} broke off in the middle of {path}: {words or type(error).__name__}",
        "Try again.",
    )


def _tls_failure(server: str, error: BaseException) -> Failure:
    text = str(error)
    if "WRONG_VERSION_NUMBER" in text or "HTTP_REQUEST" in text:
        message, hint = f"{server} does not speak TLS", "Perhaps its address begins with http://."
    elif "alert" in text.lower():
        message, hint = (
            f"{server} does not accept our client certificate",
            "It is perhaps expired, or of another cluster.",
        )
    else:
        message, hint = f"no secure connection to {server}: {text}", ""
    return Failure(Reason.CERTIFICATE, message, hint)


async def _body(response: aiohttp.ClientResponse, path: str) -> bytes:
    body = bytearray()
    async for chunk in response.content.iter_chunked(_CHUNK_BYTES):
        body += chunk
        if len(body) > MOST_BYTES:
            raise Failure(Reason.BAD_REPLY, f"the answer for {path} is larger than {MOST_BYTES >> 20} MiB")
    return bytes(body)


def _value(response: aiohttp.ClientResponse, body: bytes, path: str, server: str) -> Any:
    if response.status in _REDIRECTS:
        to = response.headers.get("Location", "elsewhere").partition("?")[0]
        raise Failure(
            Reason.BAD_REPLY,
            f"{server} sends us to {to}: that is a login page or a proxy, no API server",
            "Check the server's address in the kubeconfig.",
        )
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError:
        value = None
    if response.status != _GOOD:
        raise _refused(response, value, path)
    if not isinstance(value, dict):
        raise _no_object(response, body, path, server)
    return value


def _refused(response: aiohttp.ClientResponse, value: object, path: str) -> Failure:
    status = value if isinstance(value, dict) else {}
    failure = status_failure(response.status, str(status.get("message") or ""), path)
    failure.retry_seconds = _pause_asked(response.headers.get("Retry-After", ""))
    metadata = status.get("metadata")
    if isinstance(metadata, dict) and isinstance(token := metadata.get("continue"), str):
        failure.token = token
    return failure


def _pause_asked(text: str) -> float | None:
    """How long a server asks us to wait, in seconds or until a date; None where it says nothing of use."""
    try:
        seconds = float(text)
    except ValueError:
        try:
            then = parsedate_to_datetime(text)
        except ValueError:
            return None
        seconds = then.timestamp() - time.time()
    return max(0.0, seconds) if math.isfinite(seconds) else None


def _too_patient(failure: Failure, seconds: float) -> Failure:
    message = (
        f"{failure.message}; it asks for a pause of {seconds:.0f} s, "
        f"and no more than {MOST_PATIENCE_SECONDS:g} s are waited for one answer"
    )
    return Failure(failure.reason, message, failure.hint, retry_seconds=seconds)


def _no_object(response: aiohttp.ClientResponse, body: bytes, path: str, server: str) -> Failure:
    text = body[:4000].decode("utf-8", "replace")
    if "<html" in text.lower() or "html" in response.headers.get("Content-Type", ""):
        title = _TITLE.search(text)
        named = f" ('{' '.join(title[1].split())}')" if title else ""
        message = f"{server} answers with a web page{named} for {path}: that is no API server"
        return Failure(Reason.BAD_REPLY, message, WRONG_PLACE)
    message = f"{server} answers with something that is no JSON object for {path}"
    return Failure(Reason.BAD_REPLY, message, WRONG_PLACE)


def _page(value: dict[str, Any], path: str, *, first: bool) -> tuple[Page, str]:
    metadata = value.get("metadata")
    items = value.get("items")
    if items is None and str(value.get("kind", "")).endswith("List"):
        items = []
    if not isinstance(items, list) or not isinstance(metadata, dict):
        raise Failure(Reason.BAD_REPLY, f"the answer for {path} is no list of objects")
    remaining = metadata.get("remainingItemCount")
    page = Page(
        items=[item for item in items if isinstance(item, dict)],
        api_version=str(value.get("apiVersion") or ""),
        kind=str(value.get("kind") or ""),
        first=first,
        remaining=remaining if isinstance(remaining, int) else None,
    )
    token = metadata.get("continue")
    return page, token if isinstance(token, str) else ""
