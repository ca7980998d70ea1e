"""Ports for real programs that must be told theirs before they start."""

from __future__ import annotations

import socket

_HELD: list[socket.socket] = []


def held_port() -> int:
    """A TCP port of loopback that stays ours until this process ends.

    A port that is merely looked up and let go may be another's before the program listens, or while it is down.
    This one is bound and never listened on: nobody else is given it, connections are refused, and a program that
    asks for `SO_REUSEADDR`, as servers do, can listen on it, as often as it is started.
    """
    holder = socket.socket()
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    holder.bind(("127.0.0.1", 0))
    _HELD.append(holder)
    return int(holder.getsockname()[1])
