"""The MCP server over a small real store, asked in memory."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from mcp.server.mcpserver import MCPServer

from pilotage.core.settings import Settings
from pilotage.library.catalogue import Catalogue
from pilotage.library.stores.opening import open_store
from pilotage.web.mcp.server import make_server
from rig.mcp_library import PRIVATE, PUBLIC, build


@pytest.fixture(scope="session")
def mcp_stores(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Two stores, made once: with public records only, and with the private one beside them."""
    folder = tmp_path_factory.mktemp("mcp")
    return {
        "public": build(folder / "public.db", PUBLIC),
        "both": build(folder / "both.db", PUBLIC, private=[PRIVATE]),
    }


@pytest.fixture(autouse=True)
def quiet_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No settings of this machine."""
    for name in list(os.environ):
        if name.startswith("PILOTAGE_") and name != "PILOTAGE_REQUIRE_REAL":
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="session")
def catalogue(mcp_stores: dict[str, str]) -> Iterator[Catalogue]:
    """The answers over public records."""
    store = open_store(mcp_stores["public"])
    yield Catalogue(store)
    store.close()


@pytest.fixture(scope="session")
def both(mcp_stores: dict[str, str]) -> Iterator[Catalogue]:
    """The answers over public and private records."""
    store = open_store(mcp_stores["both"])
    yield Catalogue(store)
    store.close()


@pytest.fixture(scope="session")
def server(catalogue: Catalogue) -> MCPServer:
    """The server over public records."""
    return make_server(Settings(), catalogue)
