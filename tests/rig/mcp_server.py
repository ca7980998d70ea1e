"""The whole app on a free port of loopback, in this process."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn

from pilotage.core.settings import Settings
from pilotage.library.catalogue import Catalogue
from pilotage.library.stores.opening import open_store
from pilotage.web.app import create_app


@contextmanager
def served(settings: Settings, store_url: str) -> Iterator[str]:
    """The address of a running app over a store, without a slash at its end."""
    store = open_store(store_url)
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        port = listening.getsockname()[1]
        app = create_app(settings, Catalogue(store))
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", ws="none"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        try:
            deadline = time.monotonic() + 30
            while not server.started:
                assert thread.is_alive(), "the app did not start"
                assert time.monotonic() < deadline, "the app did not start in time"
                time.sleep(0.02)
            yield f"http://127.0.0.1:{port}"
        finally:
            server.should_exit = True
            thread.join(20)
            store.close()
