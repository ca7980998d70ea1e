"""How a backend asks its servers whether they can serve."""

from __future__ import annotations

import msgspec

from pilotage.checks.haproxy.config import Proxy
from pilotage.checks.haproxy.parts import Settings
from pilotage.checks.haproxy.servers import Server
from pilotage.checks.haproxy.statements import Statement

_KINDS = frozenset(
    "httpchk tcp-check smtpchk mysql-check pgsql-check redis-check ldap-check ssl-hello-chk spop-check "
    "external-check".split()
)
_METHODS = frozenset("GET HEAD OPTIONS POST PUT TRACE DELETE PATCH CONNECT".split())


class HealthCheck(msgspec.Struct, frozen=True, eq=False):
    """The check of a backend.

    Attributes:
        kind: `httpchk`, `tcp-check` …; empty for a mere connection, also one of `tcp-check` without rules.
        statement: the line that chooses it; None where there is none.
        method: the method of an HTTP check.
        uris: what an HTTP check asks for, one a request; each with the line that says so.
        stated: whether somebody wrote down what it asks for.
    """

    kind: str = ""
    statement: Statement | None = None
    method: str = ""
    uris: tuple[tuple[str, Statement], ...] = ()
    stated: bool = False


def health_check(proxy: Settings) -> HealthCheck:
    """The check that holds for a backend."""
    chosen, where = _chosen(proxy)
    if chosen is None or where is None:
        return HealthCheck()
    kind = chosen.word(1)
    if kind == "tcp-check" and not any(where.all("tcp-check expect")):
        return HealthCheck(statement=chosen)
    if kind != "httpchk":
        return HealthCheck(kind, chosen)
    method, uri = _of_option(chosen)
    sends = list(where.all("http-check send")) or list(proxy.all("http-check send"))
    uris = [(found, line) for line in sends if (found := line.after("uri") or line.after("uri-lf"))]
    methods = [found for line in sends if (found := line.after("meth"))]
    stated = bool(uris) or len(chosen.words) > 2  # noqa: PLR2004
    return HealthCheck(
        kind, chosen, methods[0] if methods else method, tuple(uris) or ((uri, chosen),), stated
    )


def _chosen(proxy: Settings) -> tuple[Statement | None, Settings | None]:
    for one in proxy.chain:
        for line in reversed(one.statements):
            if line.keyword == "option" and line.word(1) in _KINDS:
                return (None, None) if line.modifier else (line, one)
    return None, None


def _of_option(line: Statement) -> tuple[str, str]:
    words = line.words[2:]
    if not words:
        return "OPTIONS", "/"
    if len(words) == 1 and words[0] not in _METHODS:
        return "OPTIONS", words[0]
    return words[0], words[1] if len(words) > 1 else "/"


def asks_elsewhere(server: Server) -> bool:
    """Whether its check goes to another port or address, where something made for the purpose answers."""
    port = server.value("port")
    return (bool(port) and port != server.address.port) or server.is_on("addr")


def checked_servers(proxy: Proxy) -> list[Server]:
    """The servers that are asked by the check of the backend itself."""
    return [one for one in proxy.servers if one.is_on("check") and not one.is_on("healthcheck")]
