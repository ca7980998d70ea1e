"""A small pool of database connections, so that any number of threads may read at once.

A connection belongs to one call at a time and goes back afterwards. Idle ones beyond `keep` are closed.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

C = TypeVar("C")


class Pool(Generic[C]):
    """Connections that nobody uses at the moment.

    Args:
        connect: opens a connection.
        disconnect: closes one.
        keep: how many idle ones stay open.
    """

    def __init__(self, connect: Callable[[], C], disconnect: Callable[[C], None], *, keep: int = 8) -> None:
        self._connect = connect
        self._disconnect = disconnect
        self._keep = keep
        self._idle: list[C] = []
        self._lock = threading.Lock()
        self._closed = False

    def take(self) -> C:
        """An idle connection, or a new one."""
        with self._lock:
            if self._idle:
                return self._idle.pop()
        return self._connect()

    def fresh(self) -> C:
        """A new connection, whatever lies idle."""
        return self._connect()

    def give(self, connection: C) -> None:
        """Takes a sound connection back."""
        with self._lock:
            if not self._closed and len(self._idle) < self._keep:
                self._idle.append(connection)
                return
        self._disconnect(connection)

    def drop(self, connection: C) -> None:
        """Closes a connection that is not to be used again."""
        self._disconnect(connection)

    def close(self) -> None:
        """Closes the idle connections, and those in use as they come back."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for connection in idle:
            self._disconnect(connection)
