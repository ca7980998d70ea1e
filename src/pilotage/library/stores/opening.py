"""Opening a store by its address."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path

from pilotage.core.errors import ConfigError, MissingExtra
from pilotage.core.paths import at_home
from pilotage.library.stores.protocol import Store
from pilotage.library.stores.sqlite import open_sqlite
from pilotage.library.terms import Vocabulary, load_vocabulary

_SQLITE = "sqlite:///"
_POSTGRES = ("postgresql://", "postgres://")


def open_store(
    url: str,
    *,
    busy_seconds: float = 60,
    create: bool = False,
    vocabulary: Callable[[], Vocabulary] = load_vocabulary,
) -> Store:
    """Opens a store, which brings it to today's form.

    One that is to be made is made by its first transaction, together with what this one writes, or by the
    first look into it: an import that fails leaves nothing behind.

    Args:
        url: `sqlite:///PATH`, a bare path, `postgresql://…` or `postgres://…`.
        busy_seconds: how long a writer waits for another one.
        create: make the store when there is none yet.
        vocabulary: what index entries are made with.

    Raises:
        ConfigError: the address has a scheme that we do not know, or names no file.
        MissingExtra: it is a PostgreSQL address and the driver is not installed.
        NotFound: there is no store and `create` is false.
        StoreError, Unreachable, Refused: it cannot be opened; see the message.
    """
    if url.startswith(_POSTGRES):
        return _open_postgres(url, busy_seconds=busy_seconds, create=create, vocabulary=vocabulary)
    path = _path(url)
    return open_sqlite(path, vocabulary=vocabulary(), busy_seconds=busy_seconds, create=create)


def _path(url: str) -> Path:
    scheme, mark, _ = url.partition("://")
    if mark and scheme != "sqlite":
        raise ConfigError(
            f"'{scheme}' is no kind of store",
            hint="Write sqlite:///PATH (or just a path) for a file, postgresql://… for a server.",
        )
    # As SQLAlchemy has it: what follows the third slash is the path, so an absolute one brings a fourth.
    text = url.removeprefix(_SQLITE)
    if text in {"", "/", ":memory:"} or text.startswith("sqlite:"):
        raise ConfigError(f"'{url}' names no file", hint="Write sqlite:///PATH, or just a path.")
    return at_home(text)


def _open_postgres(
    url: str, *, busy_seconds: float, create: bool, vocabulary: Callable[[], Vocabulary]
) -> Store:
    try:
        # The driver is an optional extra and costs 0.4 s to import: only a PostgreSQL address pays for it.
        module = importlib.import_module("pilotage.library.stores.postgres")
    except ModuleNotFoundError as error:
        if error.name is None or not error.name.startswith("psycopg"):
            raise
        raise MissingExtra(
            "a PostgreSQL store needs the driver psycopg, which is not installed",
            hint="`pip install 'pilotage[postgres]'`",
        ) from error
    store: Store = module.open_postgres(
        url, vocabulary=vocabulary(), busy_seconds=busy_seconds, create=create
    )
    return store
