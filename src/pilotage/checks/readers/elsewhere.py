"""What Kustomize folders build upon that lies in other repositories: fetched as long as that goes well."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from pilotage.core.regex import regex

MOST_SECONDS = 120.0
"""All that is fetched for one run together."""
_HOST = regex(r"(?:(?:git::)?[a-z+]+://(?:[^/@]*@)?|[\w.-]+@|(?=github\.com[/:]))([\w.-]+)")
_NO_WAY = regex(
    r"could not resolve|timed? ?out|timeout running|connection (?:refused|reset|closed)|unreachable"
    r"|failed to connect|no such host|could not read username|permission denied \(publickey",
    re.IGNORECASE,
)


def host_of(name: str) -> str:
    """The host of a base that lies elsewhere; empty for a path."""
    match = _HOST.match(name)
    return match[1].lower() if match is not None else ""


@dataclass
class Elsewhere:
    """What was fetched so far.

    Attributes:
        seconds: how long it took.
        closed: hosts from which nothing can be had.
        left_out: files of Kustomize folders that were not rendered on that account.
    """

    seconds: float = 0.0
    closed: set[str] = field(default_factory=set)
    left_out: list[str] = field(default_factory=list)

    @property
    def left(self) -> float:
        """The seconds that are left."""
        return MOST_SECONDS - self.seconds

    def leaves_out(self, file: str, hosts: set[str]) -> bool:
        """Whether a folder is not to be rendered; it is then remembered."""
        if not hosts or (self.left > 0 and hosts.isdisjoint(self.closed)):
            return False
        self.left_out.append(file)
        return True

    @contextmanager
    def counting(self) -> Iterator[None]:
        """Counts the time of one fetch."""
        begin = time.monotonic()
        try:
            yield
        finally:
            self.seconds += time.monotonic() - begin

    def failed(self, hosts: set[str], said: str) -> None:
        """Takes note of what a tool said when it failed."""
        if _NO_WAY.search(said):
            named = {host for host in hosts if host in said}
            self.closed |= named or hosts

    def summary(self) -> str:
        """What was left out, in a sentence; empty where nothing was."""
        number = len(self.left_out)
        if not number:
            return ""
        if self.left <= 0:
            why = f"what lies elsewhere is waited for no longer than {MOST_SECONDS:g} s"
        else:
            why = f"{', '.join(sorted(self.closed))} cannot be reached"
        more = "" if number == 1 else f", like {number - 1} more of them"
        return f"a Kustomize folder that is not rendered{more}: {why} (--rendered takes all as it lies)"
