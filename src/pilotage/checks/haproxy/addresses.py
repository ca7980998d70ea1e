"""Addresses of HAProxy: where a server is, where a proxy or a socket listens."""

from __future__ import annotations

import enum
import ipaddress

import msgspec

from pilotage.core.regex import regex

_PREFIX = regex(
    r"(?:(?:stream|dgram|tcp|tcp4|tcp6|udp|udp4|udp6|quic4|quic6|mptcp4?6?|proto)\+)?([a-z0-9]+)@"
)
_VARIABLE = regex(r"\$\{?[A-Za-z_.]|%\[")
_LOCAL = {"unix", "abns", "abnsz", "fd", "sockpair", "rhttp", "rev"}
_NAME = regex(r"[A-Za-z0-9_*-]+(\.[A-Za-z0-9_-]+)*\.?")


class Kind(enum.StrEnum):
    """What an address is."""

    IP = "ip"
    NAME = "name"
    LOCAL = "local"
    ANY = "any"
    OPEN = "open"


class Address(msgspec.Struct, frozen=True):
    """An address.

    Attributes:
        kind: an IP address, a name, something that stays on the machine, any address, or one that is not
            known here (it holds a variable).
        host: the address or the name.
        port: the port as written; empty where there is none.
    """

    kind: Kind
    host: str
    port: str = ""

    @property
    def loopback(self) -> bool:
        """Whether only this machine can reach it."""
        if self.kind is Kind.LOCAL or self.host == "localhost":
            return True
        return self.kind is Kind.IP and ipaddress.ip_address(self.host).is_loopback


def address_of(word: str) -> Address:
    """The address that a word means."""
    if _VARIABLE.search(word):
        host, _, port = word.rpartition(":")
        if not host or _VARIABLE.search(host):
            return Address(Kind.OPEN, word)
        return msgspec.structs.replace(address_of(f"{host}:1"), port=port)
    prefix = _PREFIX.match(word)
    if prefix is not None:
        word = word[prefix.end() :]
        if prefix[1] in _LOCAL:
            return Address(Kind.LOCAL, word)
    if word.startswith("/"):
        return Address(Kind.LOCAL, word)
    return _inet(word)


def _inet(word: str) -> Address:
    host, colon, port = word.rpartition(":")
    if not colon:
        host, port = word, ""
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    if host in {"", "*", "0.0.0.0", "::"}:  # noqa: S104 - an address that is read
        return Address(Kind.ANY, host or "*", port)
    for candidate, rest in ((host, port), (word, "")):
        try:
            return Address(Kind.IP, str(ipaddress.ip_address(candidate)), rest)
        except ValueError:
            continue
    return Address(Kind.NAME if _NAME.fullmatch(host) else Kind.OPEN, host, port)
