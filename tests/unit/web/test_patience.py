"""A connection on which no whole request arrives is closed; one that asks in time is not."""

from __future__ import annotations

import asyncio

import uvicorn

from pilotage.web.patience import PatientProtocol


class Hurried(PatientProtocol):
    patience_seconds = 0.3


async def app(_scope, receive, send):
    body, more = b"", True
    while more:
        message = await receive()
        body, more = body + message.get("body", b""), message.get("more_body", False)
    # Longer than the patience: only the request must arrive in time.
    await asyncio.sleep(0.5)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


def answer_to(*parts, pause=0.0):
    """What comes back until the server closes or two seconds are over."""

    async def talk():
        config = uvicorn.Config(app, http=Hurried, log_config=None, lifespan="off", port=0)
        server = uvicorn.Server(config)
        task = asyncio.create_task(server.serve())
        while not server.started:  # noqa: ASYNC110 - uvicorn has no event for it
            await asyncio.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            for part in parts:
                writer.write(part)
                await asyncio.sleep(pause)
            return await asyncio.wait_for(reader.read(), 4)
        except ConnectionError:
            return b""
        finally:
            writer.close()
            server.should_exit = True
            await task

    return asyncio.run(talk())


WHOLE = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
POST = b"POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 4\r\n\r\n"


def test_a_whole_request_may_take_long_to_answer():
    assert answer_to(WHOLE).endswith(b"ok")
    assert answer_to(POST, b"body").endswith(b"ok")


def test_nothing_said_ends_the_connection():
    assert answer_to() == b""


def test_a_head_that_trickles_in_ends_the_connection():
    assert answer_to(b"GET / HTTP/1.1\r\n", b"Host: x\r\n", b"A: b\r\n", b"C: d\r\n\r\n", pause=0.15) == b""


def test_a_body_that_never_ends_ends_the_connection():
    assert answer_to(POST, b"bo", pause=0.1) == b""
