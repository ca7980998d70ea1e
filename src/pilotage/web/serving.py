"""The server: one process, or several behind one socket."""

from __future__ import annotations

import errno
import functools
import os
import signal
import socket
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

import uvicorn
from fastapi import FastAPI
from uvicorn.supervisors import Multiprocess

from pilotage.core.errors import OutsideError, Refused, UserError
from pilotage.core.settings import Settings
from pilotage.library.catalogue import Catalogue
from pilotage.library.embedding import installed, load_embedder
from pilotage.library.search.engine import Request
from pilotage.library.stores.opening import open_store
from pilotage.library.stores.protocol import Store
from pilotage.web.app import create_app
from pilotage.web.checking import Offer
from pilotage.web.limits import MOST_QUERY_BYTES
from pilotage.web.metrics import MULTIPROCESS
from pilotage.web.patience import PatientProtocol
from pilotage.web.starting import Starting

LONGEST_WAIT_SECONDS = 5.0
"""How long a request waits for a store that somebody has locked; then it is told to come back."""
GRACE_SECONDS = 30
"""How long open requests may take to end after SIGTERM."""
_BACKLOG = 2048
_HEADER_ROOM_BYTES = 28_000
"""Beside the longest address, for all headers together; more is refused with 400 before we see it."""
_START_SECONDS = 120
"""A worker answers to its supervisor once its modules are loaded, which takes long on a busy machine; one
that was taken for dead would be started again and again."""
_LOOPBACK = ("127.0.0.1", "::1", "localhost")
_EVERYWHERE = ("0.0.0.0", "::", "")  # noqa: S104 - compared, not bound


@dataclass(frozen=True)
class Listening:
    """Where the server listens.

    Attributes:
        socket: the open socket; every worker takes requests from it.
        address: what to type into a browser.
        open_to_others: whether other machines reach it.
    """

    socket: socket.socket
    address: str
    open_to_others: bool


def listen(settings: Settings) -> Listening:
    """Takes the port, before anything else is done.

    Raises:
        OutsideError: somebody listens there already.
        UserError: the address is not one of this machine.
        Refused: the system does not allow it.
    """
    host, port = settings.web.host, settings.web.port
    try:
        found = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, _, _, _, place = found[0]
        taken = socket.create_server((str(place[0]), port), family=family, backlog=_BACKLOG)
    except PermissionError as error:
        raise Refused(f"may not listen on port {port}", hint="Ports below 1024 need more rights.") from error
    except (OSError, UnicodeError) as error:
        if isinstance(error, OSError) and error.errno == errno.EADDRINUSE:
            hint = "Name another one with --port, or --port 0 for a free one."
            raise OutsideError(f"port {port} of {host} is in use", hint=hint) from error
        raise UserError(f"cannot listen on '{host}'", hint="Name an address of this machine.") from error
    number = taken.getsockname()[1]
    shown = "localhost" if host in _EVERYWHERE else f"[{host}]" if ":" in host else host
    return Listening(taken, f"http://{shown}:{number}", host not in _LOOPBACK)


def serve(settings: Settings, started: Callable[[Listening], None], configure: Callable[[], None]) -> None:
    """Serves until SIGTERM or SIGINT, then lets open requests end.

    Args:
        settings: the settings in force.
        started: is told where, once the port is taken and the store is open.
        configure: sets up the log; called once in every process, so it must be a plain function of a module.

    Raises:
        NotFound, StoreError, Unreachable: the store cannot be opened.
        OutsideError, UserError: see `listen`.
    """
    configure()
    listening = listen(settings)
    with listening.socket:
        # What is wrong with them ends the command; a worker would be started again and again.
        Offer.of(settings.web)
        _open(settings).close()
        started(listening)
        if settings.web.workers == 1:
            app = Starting(functools.partial(loaded_app, settings))
            _run(uvicorn.Server(_config(app)), listening.socket)
            if app.failure is not None:
                raise app.failure
            return
        with tempfile.TemporaryDirectory(prefix="pilotage-metrics-") as folder:
            os.environ[MULTIPROCESS] = folder
            factory = functools.partial(configured_app, settings, configure)
            config = _config(factory, factory=True)
            config.workers = settings.web.workers
            Multiprocess(config, sockets=[listening.socket]).run()


def configured_app(settings: Settings, configure: Callable[[], None]) -> Starting:
    """The app of a worker process."""
    configure()
    # The folder that the workers share.
    return Starting(functools.partial(loaded_app, settings), shared=Path(os.environ[MULTIPROCESS]) / "ready")


def loaded_app(settings: Settings) -> FastAPI:
    """An app with a store of its own, which it closes at its end.

    Raises:
        NotFound, StoreError, Unreachable: the store cannot be opened.
    """
    store = _open(settings)
    try:
        semantic = settings.library.semantic and installed()
        catalogue = Catalogue(store, load_embedder() if semantic else None)
        app = create_app(settings, catalogue)
        # What the first search would load is loaded now: the model, the vectors, the words of the vocabulary.
        catalogue.search(Request("start", limit=1))
    except BaseException:
        store.close()
        raise
    # Entered first, so left last: whatever else ends with the app may still ask the store.
    app.state.on_start.insert(0, functools.partial(_closed_at_the_end, store))
    return app


def _closed_at_the_end(store: Store) -> AbstractAsyncContextManager[None]:
    @asynccontextmanager
    async def lasting() -> AsyncIterator[None]:
        try:
            yield
        finally:
            store.close()

    return lasting()


def _open(settings: Settings) -> Store:
    patience = min(settings.store.busy_seconds, LONGEST_WAIT_SECONDS)
    return open_store(settings.store.url, busy_seconds=patience)


def _config(app: Starting | Callable[[], Starting], *, factory: bool = False) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        factory=factory,
        # h11 is the one parser whose limits can be set.
        http=PatientProtocol,
        h11_max_incomplete_event_size=MOST_QUERY_BYTES + _HEADER_ROOM_BYTES,
        lifespan="on",
        access_log=False,
        log_config=None,
        server_header=False,
        timeout_graceful_shutdown=GRACE_SECONDS,
        timeout_worker_healthcheck=_START_SECONDS,
    )


def _run(server: uvicorn.Server, taken: socket.socket) -> None:
    # uvicorn raises the signal that stopped it once more when it has ended; by then all is done.
    before = signal.signal(signal.SIGTERM, _ended)
    try:
        server.run(sockets=[taken])
    except KeyboardInterrupt:
        pass
    finally:
        signal.signal(signal.SIGTERM, before)


def _ended(number: int, frame: FrameType | None) -> None:
    """Does nothing: the server has ended already."""
