"""Servers of a proxy, with what `default-server` lines before them say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

import msgspec

from pilotage.checks.haproxy.addresses import Address, address_of
from pilotage.checks.haproxy.statements import Statement
from pilotage.checks.haproxy.times import milliseconds
from pilotage.checks.haproxy.words import Word
from pilotage.checks.values import KeyPath

if TYPE_CHECKING:
    from pilotage.checks.haproxy.parts import Settings

_WITH_VALUE = frozenset(
    # As `server` lines of 1.8 to 3.4 have them; every other word is a switch.
    "addr agent-addr agent-inter agent-port agent-send alpn ca-file cc check-alpn check-pool-conn-name "
    "check-proto check-sni ciphers ciphersuites client-sigalgs cookie crl-file crt curves downinter "
    "error-limit fall fastinter guid hash-key healthcheck id idle-ping init-addr init-state inter interface "
    "ktls log-bufsize log-proto max-reuse maxconn maxqueue minconn namespace npn observe on-error "
    "on-marked-down on-marked-up pool-conn-name pool-low-conn pool-max-conn pool-purge-delay port proto "
    "proxy-v2-options redir resolve-net resolve-opts resolve-prefer resolvers rise shard sigalgs slowstart "
    "sni socks4 source ssl-max-ver ssl-min-ver tcp-md5sig tcp-ut track usesrc verify verifyhost weight ws "
    "set-proxy-v2-tlv-fmt".split()
)
_NOT_A_NEGATION = frozenset({"non-stick"})


class Server(msgspec.Struct, frozen=True, eq=False, dict=True):
    """A `server` or `server-template` line.

    Attributes:
        proxy: the section that it stands in.
        statement: the line.
        options: option -> value; True for a switch that is on, False for one that is off.
    """

    proxy: Settings
    statement: Statement
    options: Mapping[str, str | bool]

    @property
    def is_template(self) -> bool:
        """Whether it makes several servers (`server-template`)."""
        return self.statement.keyword == "server-template"

    @property
    def name(self) -> str:
        """Its name; of a template the prefix."""
        return self.statement.word(1)

    @property
    def path(self) -> KeyPath:
        """The way to it in its section."""
        return (self.statement.keyword, self.name)

    @cached_property
    def slots(self) -> int:
        """How many servers it makes: `5` or `1-5` of a template; 0 where that is not a number."""
        if not self.is_template:
            return 1
        first, _, last = self.statement.word(2).rpartition("-")
        if not last.isdecimal() or (first and not first.isdecimal()) or len(last) > 7:  # noqa: PLR2004
            return 0
        return max(0, int(last) - int(first) + 1) if first else int(last)

    @cached_property
    def address(self) -> Address:
        """Where it is."""
        return address_of(self.statement.words[self._address_at])

    @property
    def _address_at(self) -> int:
        return 3 if self.is_template else 2

    def value(self, option: str) -> str:
        """The value of an option; empty where it has none."""
        value = self.options.get(option)
        return value if isinstance(value, str) else ""

    def is_on(self, option: str) -> bool:
        """Whether a switch is on, or an option has a value."""
        return bool(self.options.get(option))

    def time(self, option: str) -> float | None:
        """The value of an option as milliseconds; None where it has none that is known."""
        return milliseconds(self.value(option)) if self.value(option) else None

    def number(self, option: str) -> int | None:
        """The value of an option as a number; None where it has none that is known."""
        value = self.value(option)
        return int(value) if value.isdecimal() and len(value) < 10 else None  # noqa: PLR2004

    @property
    def checked(self) -> bool:
        """Whether HAProxy learns of its death: by checks of its own or of a server that it follows."""
        return self.is_on("check") or self.is_on("track") or self.is_on("agent-check")

    @property
    def disabled(self) -> bool:
        """Whether it starts in maintenance."""
        return self.is_on("disabled")

    @property
    def backup(self) -> bool:
        """Whether it serves only when all others are down."""
        return self.is_on("backup")


def servers_of(proxy: Settings) -> Iterator[Server]:
    """The servers of a section, in order."""
    options = dict(inherited_options(proxy.base)) if proxy.base is not None else {}
    for line in proxy.statements:
        if line.modifier:
            continue
        if line.keyword == "default-server":
            options.update(read_options(line.words[1:]))
        elif line.keyword in {"server", "server-template"}:
            at = 4 if line.keyword == "server-template" else 3
            if len(line.words) >= at:
                own = read_options(line.words[at:])
                if "enabled" in own:
                    own["disabled"] = False
                yield Server(proxy, line, {**options, **own})


def inherited_options(base: Settings) -> dict[str, str | bool]:
    """What the `default-server` lines of a `defaults` section and of those below it say."""
    options = dict(inherited_options(base.base)) if base.base is not None else {}
    for line in base.all("default-server"):
        options.update(read_options(line.words[1:]))
    return options


def read_options(words: tuple[Word, ...]) -> dict[str, str | bool]:
    """Options of a server line: words with a value, switches, switches turned off by `no-`."""
    found: dict[str, str | bool] = {}
    at = 0
    while at < len(words):
        word = str(words[at])
        at += 1
        if word in _WITH_VALUE:
            found[word] = words[at] if at < len(words) else ""
            at += 1
        elif word.startswith("no-"):
            found[word.removeprefix("no-")] = False
        elif word.startswith("proto:"):
            continue
        else:
            found[word] = True
    return found
