"""Whom an nginx directive hands requests to."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator

import msgspec

from pilotage.checks.nginx.model import Directive, NginxConfig
from pilotage.core.regex import regex

_SCHEME = regex(r"^(?:https?|grpcs?|fastcgi|uwsgi|scgi)://", re.IGNORECASE)
_VARIABLE = regex(r"\$\{?([A-Za-z0-9_]+)\}?")
_NAME = regex(r"[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?\.?", re.IGNORECASE)
_PATH = regex(r"\$\{?(?:request_uri|uri|document_uri|is_args|args)\b")
_PORT = regex(r":\d+$")


class Target(msgspec.Struct, frozen=True):
    """A host to which requests go.

    Attributes:
        by: the directive that names it, `proxy_pass` or the `server` of an `upstream`.
        host: the name or address; empty where variables decide.
        variables: names of the variables that decide.
        at_run_time: whether the name is looked up for each request: so it is when any variable stands in the
            address, be it behind the host.
    """

    by: Directive
    host: str
    variables: tuple[str, ...] = ()
    at_run_time: bool = False

    @property
    def is_name(self) -> bool:
        """Whether it is a name that must be looked up."""
        return _NAME.fullmatch(self.host) is not None and not is_address(self.host)


def is_address(host: str) -> bool:
    """Whether a host needs no look-up: an address, this machine, a socket."""
    if host in {"localhost", ""} or host.startswith("unix:") or host.endswith(".localhost"):
        return True
    try:
        ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True


def host_of(word: str) -> str:
    """The host of an address as nginx writes it: without scheme, port and path."""
    bare = _SCHEME.sub("", word)
    if bare.startswith("unix:"):
        return bare
    authority = bare.partition("/")[0]
    if authority.startswith("["):
        return authority.partition("]")[0] + "]"
    return _PORT.sub("", authority).lower()


def target_of(one: Directive) -> Target:
    """The target of a directive that hands requests on, or of the `server` of an `upstream`."""
    authority = _SCHEME.sub("", one.arg).partition("/")[0]
    # What begins with the request's path decides nothing about the host.
    behind = _PATH.search(authority)
    if behind is not None and behind.start() > 0:
        authority = authority[: behind.start()]
    variables = tuple(match[1] for match in _VARIABLE.finditer(authority))
    host = "" if variables else host_of(authority)
    return Target(one, host, variables, at_run_time=_VARIABLE.search(one.arg) is not None)


def targets(config: NginxConfig) -> Iterator[Target]:
    """Everything that a configuration hands HTTP requests to, names of `upstream` blocks left out."""
    for one in config.passes:
        target = target_of(one)
        if target.host not in config.upstreams:
            yield target


def upstream_of(config: NginxConfig, one: Directive) -> Directive | None:
    """The `upstream` block that a directive hands requests to; None where it names a host."""
    target = target_of(one)
    return config.upstreams.get(target.host) if target.host else None


def servers(upstream: Directive) -> list[Directive]:
    """The servers of an `upstream` block that take requests, spare and disabled ones left out."""
    return [one for one in upstream.all("server") if not {"backup", "down"} & set(one.args)]


def parameter(one: Directive, name: str) -> str | None:
    """The value of a parameter `name=value` among the arguments; None where it is absent."""
    return next((arg.partition("=")[2] for arg in one.args if arg.startswith(f"{name}=")), None)


_TIME = regex(r"(\d+)(ms|y|M|w|d|h|m|s)?")
_SECONDS = {
    "ms": 0.001, "s": 1, "": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800, "M": 2592000, "y": 31536000,
}  # fmt: skip


def seconds(text: str) -> float | None:
    """A time as nginx writes it (`90s`, `1h 30m`, `60`) in seconds; None where it is none."""
    parts = text.replace(" ", "")
    found = _TIME.findall(parts)
    if not found or "".join(number + unit for number, unit in found) != parts:
        return None
    return sum(int(number) * _SECONDS[unit] for number, unit in found if len(number) < 15)  # noqa: PLR2004
