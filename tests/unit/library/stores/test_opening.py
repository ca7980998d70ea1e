"""Opening a store imports only what its address needs."""

from __future__ import annotations

import subprocess
import sys

import pytest

from pilotage.core.errors import MissingExtra
from pilotage.library.stores import opening


def test_a_file_store_imports_no_driver():
    code = "import sys, pilotage.library.stores.opening; print('psycopg' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_without_the_driver_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    for name in ("pilotage.library.stores.postgres", "pilotage.clients.db.postgres"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    with pytest.raises(MissingExtra) as caught:
        opening.open_store("postgresql://localhost/x")
    assert "pilotage[postgres]" in caught.value.hint


@pytest.mark.parametrize(
    ("url", "path"),
    [("sqlite:////data/x.db", "/data/x.db"), ("sqlite:///x.db", "x.db"), ("a/b.db", "a/b.db")],
)
def test_addresses_of_files(url, path):
    assert str(opening._path(url)) == path
