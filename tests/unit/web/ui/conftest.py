"""A site over the bundled records, without a server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest
from starlette.testclient import TestClient

from pilotage.core.settings import Settings
from pilotage.library.catalogue import Catalogue
from pilotage.library.stores.opening import open_store
from pilotage.web.app import create_app
from rig.browser import bundled_documents, fill


@pytest.fixture(scope="session")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    url = f"sqlite:///{tmp_path_factory.mktemp('pages') / 'library.db'}"
    fill(url, bundled_documents())
    with closing(open_store(url)) as store:
        app = create_app(Settings(), Catalogue(store))
        with TestClient(app, follow_redirects=False) as running:
            yield running
