"""The functions of Kubernetes CEL that the library lacks.

The library hands over plain values and takes plain values back, so a quantity, a version, an address or a
URL is a map of one key while an expression works with it; its text is in one form only, so that equal
things are equal.
"""

from __future__ import annotations

import ipaddress
import itertools
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

from pilotage.checks.own.lowering import LENGTH, OPTIONAL_FIELD
from pilotage.checks.values import quantity as read_quantity

_Value = dict[str, Any]
_LARGEST = 2**63


def _length(value: Any) -> int:
    if not isinstance(value, str | bytes | list | dict):
        raise TypeError("size() takes a text, a list or a map")
    return len(value)


# Quantities and versions: both are compared by the same functions


def _number(value: Any) -> Decimal:
    if isinstance(value, int) and not isinstance(value, bool):
        return Decimal(value)
    return Decimal(_held(value, "quantity"))


def _held(value: Any, kind: str) -> str:
    if isinstance(value, dict) and list(value) == [kind]:
        return str(value[kind])
    raise TypeError(f"write {kind}(…) around it")


def _quantity(text: Any) -> _Value:
    number = read_quantity(text)
    if number is None:
        raise ValueError(f"'{text}' is no quantity")
    return _as_quantity(number)


def _as_quantity(number: Decimal) -> _Value:
    return {"quantity": format(number.normalize(), "f") if number else "0"}


_SEMVER = re.compile(
    r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+[0-9A-Za-z.-]+)?"
)


def _semver(text: Any, normalize: bool = False) -> _Value:
    given = str(text)
    if normalize:
        head, sign, tail = given.removeprefix("v").partition("-")
        numbers = [part.lstrip("0") or "0" for part in head.split(".")]
        given = ".".join([*numbers, "0", "0"][: max(3, len(numbers))]) + sign + tail
    if _SEMVER.fullmatch(given) is None:
        raise ValueError(f"'{text}' is no semantic version")
    return {"semver": given.partition("+")[0]}


def _rank(value: Any) -> tuple[Any, ...]:
    match = _SEMVER.fullmatch(_held(value, "semver"))
    if match is None:
        raise ValueError("no semantic version")
    before = match[4].split(".") if match[4] else []
    parts = tuple((0, int(one), "") if one.isdigit() else (1, 0, one) for one in before)
    return int(match[1]), int(match[2]), int(match[3]), not before, parts


def _compared(one: Any, other: Any) -> int:
    if isinstance(one, dict) and "semver" in one:
        first, second = _rank(one), _rank(other)
        return (first > second) - (first < second)
    left, right = _number(one), _number(other)
    return (left > right) - (left < right)


def _as_integer(value: Any) -> int:
    number = _number(value)
    if number != number.to_integral_value() or not -_LARGEST <= number < _LARGEST:
        raise ValueError(f"{number} is no integer of 64 bits")
    return int(number)


def _sign(value: Any) -> int:
    number = _number(value)
    return (number > 0) - (number < 0)


# Addresses


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    address = ipaddress.ip_address(text)
    if isinstance(address, ipaddress.IPv6Address) and (address.ipv4_mapped or address.scope_id):
        raise ValueError(f"'{text}' is no address that Kubernetes takes")
    return address


def _ip(value: Any) -> _Value:
    if isinstance(value, dict):
        return {"ip": _held(value, "cidr").partition("/")[0]}
    return {"ip": str(_address(str(value)))}


def _of_ip(value: Any) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    return _address(_held(value, "ip"))


def _global(value: Any) -> bool:
    one = _of_ip(value)
    barred = one.is_unspecified or one.is_loopback or one.is_multicast or one.is_link_local
    return not barred and str(one) != "255.255.255.255"


def _link_local_multicast(value: Any) -> bool:
    one = _of_ip(value)
    return (
        str(one).startswith("224.0.0.")
        if isinstance(one, ipaddress.IPv4Address)
        else one.exploded[:2] == "ff" and one.exploded[3] == "2"
    )


def _cidr(text: Any) -> _Value:
    address, sign, length = str(text).partition("/")
    if not sign or not length.isdigit():
        raise ValueError(f"'{text}' is no CIDR")
    ipaddress.ip_network(f"{_address(address)}/{length}", strict=False)
    return {"cidr": f"{_address(address)}/{int(length)}"}


def _network(value: Any) -> ipaddress.IPv4Network | ipaddress.IPv6Network:
    text = value if isinstance(value, str) else _held(value, "cidr")
    return ipaddress.ip_network(_cidr(text)["cidr"], strict=False)


def _contains_ip(value: Any, ip: Any) -> bool:
    return _address(ip if isinstance(ip, str) else _held(ip, "ip")) in _network(value)


def _contains_cidr(value: Any, other: Any) -> bool:
    outer, inner = _network(value), _network(other)
    return outer.version == inner.version and inner.subnet_of(outer)  # type: ignore[arg-type]


def _url(text: Any) -> _Value:
    given = str(text)
    parts = urlsplit(given)
    if not (parts.scheme and (parts.netloc or parts.path)) and not given.startswith("/"):
        raise ValueError(f"'{given}' is no absolute URL and no absolute path")
    if parts.port is None and parts.netloc.rpartition("@")[2].rstrip("]").count(":") == 1:
        raise ValueError(f"'{given}' has a port that is none")
    return {"url": given}


def _of_url(value: Any) -> Any:
    return urlsplit(_held(value, "url"))


# Texts and lists


def _index(value: Any, part: Any, start: int | None = None) -> int:
    if isinstance(value, str):
        return value.find(part, start or 0)
    return value.index(part) if part in value else -1


def _last_index(value: Any, part: Any, start: int | None = None) -> int:
    if isinstance(value, str):
        return value.rfind(part) if start is None else value.rfind(part, 0, start + len(part))
    return len(value) - 1 - value[::-1].index(part) if part in value else -1


def _substring(text: str, start: int, end: int | None = None) -> str:
    stop = len(text) if end is None else end
    if not 0 <= start <= stop <= len(text):
        raise IndexError(f"{start} to {stop} is not within a text of {len(text)} characters")
    return text[start:stop]


def _char(text: str, position: int) -> str:
    if not 0 <= position <= len(text):
        raise IndexError(f"{position} is not within a text of {len(text)} characters")
    return text[position : position + 1]


def _split(text: str, divider: str, limit: int = -1) -> list[str]:
    if limit == 0:
        return []
    parts = text.split(divider, limit - 1 if limit > 0 else -1) if divider else list(text)
    return parts if divider or limit < 0 else [*parts[: limit - 1], "".join(parts[limit - 1 :])]


def _lower(text: str) -> str:
    return "".join(one.lower() if one.isascii() else one for one in text)


def _upper(text: str) -> str:
    return "".join(one.upper() if one.isascii() else one for one in text)


def _find(text: str, pattern: str) -> str:
    match = re.search(pattern, text)
    return match[0] if match is not None else ""


def _find_all(text: str, pattern: str, limit: int = -1) -> list[str]:
    found = [match[0] for match in re.finditer(pattern, text)]
    return found if limit < 0 else found[:limit]


def _distinct(items: list[Any]) -> list[Any]:
    found: list[Any] = []
    for item in items:
        if item not in found:
            found.append(item)
    return found


def _flatten(items: list[Any], depth: int = 1) -> list[Any]:
    found: list[Any] = []
    for item in items:
        found += _flatten(item, depth - 1) if isinstance(item, list) and depth > 0 else [item]
    return found


def _slice(items: list[Any], start: int, end: int) -> list[Any]:
    if not 0 <= start <= end <= len(items):
        raise IndexError(f"{start} to {end} is not within a list of {len(items)}")
    return items[start:end]


def _does(make: Callable[..., Any]) -> Callable[..., bool]:
    def test(*values: Any) -> bool:
        try:
            make(*values)
        except (ValueError, TypeError, ArithmeticError):
            return False
        return True

    return test


def _boolean(value: Any) -> bool:
    words = {"true": True, "True": True, "TRUE": True, "t": True, "1": True}
    words |= {"false": False, "False": False, "FALSE": False, "f": False, "0": False}
    if isinstance(value, bool):
        return value
    if str(value) not in words:
        raise ValueError(f"'{value}' is neither true nor false")
    return words[str(value)]


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict) and len(value) == 1:
        return str(next(iter(value.values())))
    raise TypeError("no text can be made of it")


_OF_QUANTITIES: Mapping[str, Callable[..., Any]] = {
    "quantity": _quantity,
    "isQuantity": _does(_quantity),
    "isGreaterThan": lambda one, other: _compared(one, other) > 0,
    "isLessThan": lambda one, other: _compared(one, other) < 0,
    "compareTo": _compared,
    "isInteger": _does(_as_integer),
    "asInteger": _as_integer,
    "asApproximateFloat": lambda one: float(_number(one)),
    "sign": _sign,
    "add": lambda one, other: _as_quantity(_number(one) + _number(other)),
    "sub": lambda one, other: _as_quantity(_number(one) - _number(other)),
    "semver": _semver,
    "isSemver": _does(_semver),
    "major": lambda one: _rank(one)[0],
    "minor": lambda one: _rank(one)[1],
    "patch": lambda one: _rank(one)[2],
}
_OF_ADDRESSES: Mapping[str, Callable[..., Any]] = {
    "url": _url,
    "isURL": _does(_url),
    "getScheme": lambda one: _of_url(one).scheme,
    "getHost": lambda one: _of_url(one).netloc.rpartition("@")[2],
    "getHostname": lambda one: _of_url(one).hostname or "",
    "getPort": lambda one: str(_of_url(one).port or ""),
    "getEscapedPath": lambda one: quote(_of_url(one).path, safe="/%:@!$&'()*+,;=~"),
    "getQuery": lambda one: parse_qs(_of_url(one).query, keep_blank_values=True),
    "ip": _ip,
    "isIP": _does(_address),
    "ip.isCanonical": lambda text: str(_address(text)) == text,
    "family": lambda one: _of_ip(one).version,
    "isUnspecified": lambda one: _of_ip(one).is_unspecified,
    "isLoopback": lambda one: _of_ip(one).is_loopback,
    "isLinkLocalMulticast": _link_local_multicast,
    "isLinkLocalUnicast": lambda one: _of_ip(one).is_link_local,
    "isGlobalUnicast": _global,
    "cidr": _cidr,
    "isCIDR": _does(_cidr),
    "containsIP": _contains_ip,
    "containsCIDR": _contains_cidr,
    "masked": lambda one: {"cidr": str(_network(one))},
    "prefixLength": lambda one: _network(one).prefixlen,
}
_OF_TEXTS_AND_LISTS: Mapping[str, Callable[..., Any]] = {
    LENGTH: _length,
    "bool": _boolean,
    "string": _text,
    "charAt": _char,
    "lowerAscii": _lower,
    "upperAscii": _upper,
    "trim": str.strip,
    "replace": lambda text, old, new, limit=-1: text.replace(old, new, limit),
    "split": _split,
    "substring": _substring,
    "join": lambda items, divider="": divider.join(items),
    "indexOf": _index,
    "lastIndexOf": _last_index,
    "find": _find,
    "findAll": _find_all,
    "isSorted": lambda items: all(one <= other for one, other in itertools.pairwise(items)),
    "sum": lambda items: sum(items[1:], items[0]) if items else 0,
    "min": min,
    "max": max,
    "distinct": _distinct,
    "flatten": _flatten,
    "reverse": lambda items: items[::-1],
    "slice": _slice,
    "sort": sorted,
    "sets.contains": lambda one, other: all(item in one for item in other),
    "sets.equivalent": lambda one, other: all(i in other for i in one) and all(i in one for i in other),
    "sets.intersects": lambda one, other: any(item in one for item in other),
}


def provided(optional: Any) -> dict[str, Callable[..., Any]]:
    """Every function that is added to the library, by name.

    Args:
        optional: the library's class of optional values.
    """

    def field(operand: Any, key: Any) -> Any:
        if isinstance(operand, optional):
            if not operand.has_value():
                return operand
            operand = operand.value()
        if isinstance(operand, dict):
            return optional.of(operand[key]) if key in operand else optional.none()
        if isinstance(operand, list) and isinstance(key, int) and 0 <= key < len(operand):
            return optional.of(operand[key])
        return optional.none()

    return {**_OF_QUANTITIES, **_OF_ADDRESSES, **_OF_TEXTS_AND_LISTS, OPTIONAL_FIELD: field}
