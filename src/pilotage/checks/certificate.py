"""What a certificate says of itself: until when it holds and for which names.

Only these few fields are read, by hand: importing a whole cryptography library would cost every run a
quarter of a second for something that most scenes do not hold.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from datetime import UTC, datetime

import msgspec

from pilotage.core.regex import regex

_PEM = regex(r"-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]{1,200000})-----END CERTIFICATE-----")
_SEQUENCE, _UTC_TIME, _GENERALIZED_TIME, _OID, _OCTETS = 0x30, 0x17, 0x18, 0x06, 0x04
_VERSION, _EXTENSIONS, _DNS_NAME, _IP_ADDRESS = 0xA0, 0xA3, 0x82, 0x87
_ALTERNATIVE_NAMES, _COMMON_NAME = b"\x55\x1d\x11", b"\x55\x04\x03"
_LONG_FORM = 0x80
_MOST_LENGTH_BYTES = 4


class NotACertificate(ValueError):
    """The bytes are no X.509 certificate."""


class Certificate(msgspec.Struct, frozen=True):
    """A certificate.

    Attributes:
        begins: from when it holds.
        ends: until when.
        names: DNS names that it is for; the common name where it has no others.
        addresses: whether it is for IP addresses, too.
    """

    begins: datetime
    ends: datetime
    names: tuple[str, ...]
    addresses: bool

    def covers(self, host: str) -> bool:
        """Whether it is for a host name; a wildcard stands for one label."""
        wanted = host.lower().rstrip(".")
        _, _, parent = wanted.partition(".")
        return any(name.lower() in {wanted, f"*.{parent}" if parent else wanted} for name in self.names)


def first_in_pem(text: str) -> Certificate:
    """The first certificate of a PEM text, which is the server's own.

    Raises:
        NotACertificate: there is none, or it cannot be read.
    """
    match = _PEM.search(text)
    if match is None:
        raise NotACertificate("no PEM block of a certificate")
    try:
        return _read(base64.b64decode("".join(match[1].split()), validate=True))
    except (binascii.Error, IndexError, ValueError, UnicodeDecodeError) as error:
        raise NotACertificate(str(error)) from error


class _Item(msgspec.Struct, frozen=True):
    tag: int
    body: bytes


def _items(data: bytes) -> Iterator[_Item]:
    at = 0
    while at < len(data):
        tag, length, at = data[at], data[at + 1], at + 2
        if length & _LONG_FORM:
            size = length & 0x7F
            if not 0 < size <= _MOST_LENGTH_BYTES:
                raise NotACertificate("a length that DER does not have")
            length, at = int.from_bytes(data[at : at + size]), at + size
        if at + length > len(data):
            raise NotACertificate("it is cut short")
        yield _Item(tag, data[at : at + length])
        at += length


def _inside(item: _Item, tag: int = _SEQUENCE) -> list[_Item]:
    if item.tag != tag:
        raise NotACertificate("not the structure of a certificate")
    return list(_items(item.body))


def _read(data: bytes) -> Certificate:
    fields = _inside(_inside(_first(data))[0])
    if fields and fields[0].tag == _VERSION:
        fields = fields[1:]
    validity, subject = fields[3], fields[4]
    begins, ends = (_time(item) for item in _inside(validity)[:2])
    names, addresses = _alternative_names(fields)
    return Certificate(begins, ends, names or _common_names(subject), addresses)


def _time(item: _Item) -> datetime:
    text = item.body.decode("ascii").rstrip("Z")
    if item.tag == _UTC_TIME:
        # Two digits of a year, as RFC 5280 has them: 50 to 99 are of the last century.
        text = ("19" if int(text[:2]) >= 50 else "20") + text  # noqa: PLR2004
    elif item.tag != _GENERALIZED_TIME:
        raise NotACertificate("its dates are no dates")
    return datetime.strptime(text, "%Y%m%d%H%M%S").replace(tzinfo=UTC)


def _alternative_names(fields: list[_Item]) -> tuple[tuple[str, ...], bool]:
    for field in fields:
        if field.tag != _EXTENSIONS:
            continue
        for extension in _inside(_first(field.body)):
            parts = _inside(extension)
            if parts[0].tag == _OID and parts[0].body == _ALTERNATIVE_NAMES and parts[-1].tag == _OCTETS:
                found = _inside(_first(parts[-1].body))
                names = tuple(one.body.decode("ascii") for one in found if one.tag == _DNS_NAME)
                return names, any(one.tag == _IP_ADDRESS for one in found)
    return (), False


def _first(data: bytes) -> _Item:
    found = next(_items(data), None)
    if found is None:
        raise NotACertificate("it is empty")
    return found


def _common_names(subject: _Item) -> tuple[str, ...]:
    found = []
    for group in _inside(subject):
        for pair in _items(group.body):
            parts = _inside(pair)
            if parts[0].body == _COMMON_NAME:
                found.append(parts[1].body.decode("utf-8"))
    return tuple(found)
