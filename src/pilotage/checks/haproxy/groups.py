"""One finding per cause: proxies that share a line, or the lack of one, are told together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from pilotage.checks.haproxy.config import HaproxyConfig, Proxy
from pilotage.checks.haproxy.parts import Settings
from pilotage.checks.haproxy.statements import Statement
from pilotage.checks.scene import Scene


class Group(msgspec.Struct, frozen=True, eq=False):
    """Proxies with one cause.

    Attributes:
        subject: the section that holds the cause, or should.
        proxies: the proxies concerned.
        statement: the line that they share; None where one is absent.
    """

    subject: Settings
    proxies: tuple[Proxy, ...]
    statement: Statement | None = None

    @property
    def names(self) -> str:
        """`backend a, backend b and 3 more`."""
        return names_of(self.proxies)

    @property
    def inherited(self) -> bool:
        """Whether the cause lies in a `defaults` section."""
        return self.subject.kind == "defaults"


def names_of(proxies: Sequence[Settings], most: int = 4) -> str:
    """`backend a, backend b and 3 more`."""
    shown = ", ".join(f"`{one.title}`" for one in proxies[:most])
    more = len(proxies) - most
    return f"{shown} and {more} more" if more > 0 else shown


def with_servers(scene: Scene) -> Iterator[Proxy]:
    """The proxies of a scene that hand requests or connections to servers which are written down."""
    for config in scene.configs(HaproxyConfig):
        for proxy in config.upstream:
            if proxy.servers and proxy.mode in {"http", "tcp"}:
                yield proxy


def by_line(pairs: Iterable[tuple[Proxy, Statement]]) -> Iterator[Group]:
    """Groups proxies by the line that causes it."""
    found: dict[int, tuple[Statement, list[Proxy]]] = {}
    for proxy, line in pairs:
        found.setdefault(id(line), (line, []))[1].append(proxy)
    for line, proxies in found.values():
        yield Group(proxies[0].owner_of(line), tuple(proxies), line)


def by_base(proxies: Iterable[Proxy]) -> Iterator[Group]:
    """Groups proxies that lack something by the `defaults` section that could give it to them."""
    found: dict[int, list[Proxy]] = {}
    for proxy in proxies:
        found.setdefault(id(proxy.base or proxy), []).append(proxy)
    for group in found.values():
        base = group[0].base
        yield Group(base if base is not None and len(group) > 1 else group[0], tuple(group))
