"""A real browser before a real server, for the tests of the pages."""

from __future__ import annotations

import functools
import os
import shutil
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from playwright.sync_api import Browser, sync_playwright

from pilotage.core.settings import Settings
from pilotage.library.bundled import bundled_candidates
from pilotage.library.catalogue import Catalogue
from pilotage.library.stores.opening import open_store
from pilotage.web.app import create_app
from rig.stores import put

UP_SECONDS = 60
# First the one without a window's frame: it renders the same in half of the processor time.
_CHROMIUMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


def needed(reason: str) -> None:
    """Skips the test with a reason; under PILOTAGE_REQUIRE_REAL=1 fails it."""
    if os.environ.get("PILOTAGE_REQUIRE_REAL") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


@contextmanager
def browser() -> Iterator[Browser]:
    """Chromium as the machine has it."""
    path = next(filter(None, map(shutil.which, _CHROMIUMS)), None)
    if path is None:
        needed("no Chromium on the PATH (Debian: apt install chromium-headless-shell)")
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=path)
        yield found
        found.close()


@functools.cache
def bundled_documents() -> tuple[dict[str, Any], ...]:
    """The documents of the records that are shipped; read once, for that takes most of a second."""
    return tuple(candidate.document for candidate in bundled_candidates())


def fill(url: str, documents: Sequence[dict[str, Any]]) -> None:
    """A store with these records, as an import leaves it; several states of one record become revisions."""
    with closing(open_store(url, create=True)) as store:
        for document in documents:
            put(store, [document])


@contextmanager
def site(folder: Path, documents: Sequence[dict[str, Any]]) -> Iterator[str]:
    """The pages of a library with these records on a free port of loopback; the address of the site."""
    url = f"sqlite:///{folder / 'library.db'}"
    fill(url, documents)
    with closing(open_store(url)) as store, closing(socket.socket()) as listening:
        listening.bind(("127.0.0.1", 0))
        app = create_app(Settings(), Catalogue(store))
        server = uvicorn.Server(uvicorn.Config(app, log_level="error", access_log=False))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        _wait(server)
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(20)


def _wait(server: uvicorn.Server) -> None:
    end = time.monotonic() + UP_SECONDS
    while not server.started:
        if time.monotonic() > end:
            pytest.fail(f"the server was not up within {UP_SECONDS} s")
        time.sleep(0.05)
