"""Answers that need not be made again: ETag and Last-Modified, 304, and a small store of whole answers.

Everything rests on the data version of the store, which grows whenever something changed that the audience
can see. It is asked for on every request, so that an answer is never older than the store, on any replica.
"""

from __future__ import annotations

import asyncio
import hashlib
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from email.utils import formatdate, parsedate_to_datetime
from importlib.metadata import version

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers as ReadHeaders
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pilotage.library.stores.protocol import Audience, Store
from pilotage.web.doors import THEME_COOKIE, audience_of, doors_of, language_of

_OWN_WAY = ("/mcp", "/healthz", "/readyz", "/metrics", "/static/")
"""Addresses whose answers do not rest on the store alone."""
MOST_KEPT_BYTES = 32 * 1024 * 1024
"""Room for whole answers, per process."""
MOST_ONE_BYTES = 512 * 1024
_RELEASE = version("pilotage")
_OVERHEAD_BYTES = 1024


class FirstSeen:
    """When this process first saw the present data version.

    Args:
        clock: seconds since 1970.
    """

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._seen: dict[Audience, tuple[int, int]] = {}

    def at(self, audience: Audience, number: int) -> int:
        """The moment, in whole seconds, rounded up."""
        with self._lock:
            held = self._seen.get(audience)
            if held is None or held[0] != number:
                held = self._seen[audience] = (number, int(self._clock()) + 1)
            return held[1]

    def told(self, at: int) -> int:
        """A moment as `Last-Modified` tells it: never one to come.

        Of two versions of one second both have the same moment. As long as that second lasts its beginning is
        told, so that nobody who has the first takes it for the second.
        """
        return min(at, int(self._clock()))


class Versions:
    """The data version, at most one question to the store at a time for each audience.

    Requests that come while a question is under way share the next one: each gets an answer that was asked
    for after it came, and under load one question answers many.
    """

    def __init__(self) -> None:
        self._asking: dict[Audience, asyncio.Task[int]] = {}
        self._next: dict[Audience, asyncio.Task[int]] = {}

    async def now(self, store: Store, audience: Audience) -> int:
        """The version of this moment.

        Raises:
            StoreError, Unreachable: the store does not answer.
        """
        waiting = self._next.get(audience)
        if waiting is None:
            waiting = asyncio.create_task(self._ask(store, audience, self._asking.get(audience)))
            if audience in self._asking:
                self._next[audience] = waiting
            else:
                self._asking[audience] = waiting
        # A client that goes away must not take the answer from the others.
        return await asyncio.shield(waiting)

    async def _ask(self, store: Store, audience: Audience, before: asyncio.Task[int] | None) -> int:
        own = asyncio.current_task()
        if before is not None:
            await asyncio.wait([before])
            if own is not None:
                self._asking[audience] = own
            self._next.pop(audience, None)
        try:
            return await run_in_threadpool(store.data_version, audience)
        finally:
            if self._asking.get(audience) is own:
                del self._asking[audience]


@dataclass(frozen=True)
class Kept:
    """A whole answer."""

    headers: list[tuple[bytes, bytes]]
    body: bytes
    route: object


class Answers:
    """The whole answers that were asked for last, up to a number of bytes."""

    def __init__(self, room: int = MOST_KEPT_BYTES) -> None:
        self._room = room
        self._used = 0
        self._kept: OrderedDict[str, Kept] = OrderedDict()

    def get(self, key: str) -> Kept | None:
        """An answer that was kept."""
        found = self._kept.get(key)
        if found is not None:
            self._kept.move_to_end(key)
        return found

    def put(self, key: str, kept: Kept) -> None:
        """Keeps an answer, and lets go of those that were not asked for longest."""
        if key in self._kept:
            return
        self._kept[key] = kept
        self._used += len(kept.body) + _OVERHEAD_BYTES
        while self._used > self._room:
            _, gone = self._kept.popitem(last=False)
            self._used -= len(gone.body) + _OVERHEAD_BYTES


class Caching:
    """Gives answers their validators, answers 304, and answers again what it has kept.

    Everything an answer depends on is in its ETag: data version, audience, address, language, theme, host,
    release, and with what the server was started. The tag is weak: the same answer may be compressed or not.

    Args:
        app: what makes the answers.
        patience_seconds: how long a request waits for another one that is making the same answer.
    """

    def __init__(self, app: ASGIApp, patience_seconds: float = 10.0) -> None:
        self.app = app
        self._patience_seconds = patience_seconds
        self._answers = Answers()
        self._first = FirstSeen()
        self._versions = Versions()
        self._being_made: dict[str, asyncio.Event] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves a request."""
        if scope["type"] != "http" or scope["method"] != "GET" or scope["path"].startswith(_OWN_WAY):
            await self.app(scope, receive, send)
            return
        request = Request(scope)
        audience = audience_of(request)
        store = doors_of(request).catalogue.store
        number = await self._versions.now(store, audience)
        etag = _etag(request, audience, number)
        changed = self._first.at(audience, number)
        marks = {
            "ETag": etag,
            "Last-Modified": formatdate(self._first.told(changed), usegmt=True),
            "Cache-Control": "no-cache" if audience == "public" else "private, no-cache",
        }
        key = f"{etag} {'gzip' in request.headers.get('accept-encoding', '')}"
        if _tag_known(request.headers, etag):
            known = self._answers.get(key)
            if known is not None:
                # Only to be counted under its route, which nobody looked for.
                scope["route"] = known.route
            await _not_modified(send, marks)
            return
        sender = _Sender(send, marks, lambda: _unchanged(request.headers, changed))
        kept = await self._kept(key)
        if kept is not None:
            scope["route"] = kept.route
            await sender({"type": "http.response.start", "status": 200, "headers": list(kept.headers)})
            await sender({"type": "http.response.body", "body": kept.body})
            return
        made = self._being_made[key] = asyncio.Event()

        def whole(body: bytes) -> None:
            # Those who wait for this answer need not wait for the one who reads it.
            self._answers.put(key, Kept(sender.headers, body, scope.get("route")))
            made.set()

        sender.whole = whole
        try:
            await self.app(scope, receive, sender)
        finally:
            made.set()
            if self._being_made.get(key) is made:
                del self._being_made[key]

    async def _kept(self, key: str) -> Kept | None:
        """An answer that was kept, once the one who is making it has it."""
        found = self._answers.get(key)
        making = self._being_made.get(key)
        if found is None and making is not None:
            # One that comes in many parts is as slow as its first reader: for that nobody waits long.
            with suppress(TimeoutError):
                await asyncio.wait_for(making.wait(), self._patience_seconds)
            found = self._answers.get(key)
        return found


class _Sender:
    """Sends an answer on with its validators.

    Attributes:
        headers: as they were before.
        whole: is told the body when all of it came and it is small, before the last of it is sent.
    """

    def __init__(self, send: Send, marks: dict[str, str], unchanged: Callable[[], bool]) -> None:
        self._send = send
        self._marks = marks
        self._unchanged = unchanged
        self._parts: list[bytes] | None = None
        self._size = 0
        self._silent = False
        self.headers: list[tuple[bytes, bytes]] = []
        self.whole: Callable[[bytes], None] = lambda _: None

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            # A page with a tag of its own looks after itself.
            if message["status"] == 200 and b"etag" not in dict(message["headers"]):  # noqa: PLR2004
                self.headers = list(message["headers"])
                self._parts = []
                if self._unchanged():
                    self._silent = True
                    await _not_modified(self._send, self._marks)
                    return
                headers = MutableHeaders(scope=message)
                for name, value in self._marks.items():
                    headers.setdefault(name, value)
        elif message["type"] == "http.response.body":
            self._collect(message)
        if not self._silent:
            await self._send(message)

    def _collect(self, message: Message) -> None:
        if self._parts is None:
            return
        body = message.get("body", b"")
        self._size += len(body)
        if self._size > MOST_ONE_BYTES:
            self._parts = None
            return
        self._parts.append(body)
        if not message.get("more_body", False):
            self.whole(b"".join(self._parts))


def _etag(request: Request, audience: Audience, number: int) -> str:
    doors = doors_of(request)
    semantic = doors.catalogue.searcher.semantic
    parts = (
        _RELEASE,
        audience,
        str(number),
        request.scope["path"],
        request.scope["query_string"].decode("latin-1"),
        language_of(request),
        request.cookies.get(THEME_COOKIE, ""),
        request.headers.get("host", ""),
        request.scope.get("scheme", ""),
        semantic.embedder.name if semantic else "",
        doors.settings.web.base_url,
        doors.offer.mark,
    )
    digest = hashlib.sha256("\n".join(parts).encode("utf-8", "replace")).hexdigest()
    return f'W/"{digest[:24]}"'


def _tag_known(headers: ReadHeaders, etag: str) -> bool:
    bare = etag.removeprefix("W/")
    return any(tag.strip().removeprefix("W/") == bare for tag in headers.get("if-none-match", "").split(","))


def _unchanged(headers: ReadHeaders, changed: int) -> bool:
    """Whether a client that gave no tag of ours has the answer (RFC 9110, section 13.2.2)."""
    tags = headers.get("if-none-match")
    if tags is not None:
        return tags.strip() == "*"
    since = headers.get("if-modified-since")
    if since is None:
        return False
    try:
        return parsedate_to_datetime(since).timestamp() >= changed
    except (ValueError, TypeError, OverflowError):
        return False


async def _not_modified(send: Send, marks: dict[str, str]) -> None:
    headers = [(name.lower().encode(), value.encode()) for name, value in marks.items()]
    await send({"type": "http.response.start", "status": 304, "headers": headers})
    await send({"type": "http.response.body", "body": b""})
