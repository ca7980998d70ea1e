"""Which containers do not stop on SIGTERM, so that they serve until their grace period is over.

The kernel gives no signal to the first process of a container that it has not asked for. Shells do not ask,
nor do some programs: such a pod serves on while the balancers learn that it goes.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping

import msgspec

from pilotage.checks import components
from pilotage.checks.controllers import Version, version_of
from pilotage.checks.tables import read_table
from pilotage.checks.values import as_list, as_map, as_text, dig
from pilotage.checks.workloads import Container
from pilotage.core.regex import regex

_SHELLS = {"sh", "ash", "dash"}
"""Not bash, which may run the last command of several in its own place."""
_FORWARDS = {"tini", "tini-static", "dumb-init", "catatonit", "docker-init", "s6-svscan", "supervisord"}
"""First processes that hand signals on to the program, which then ends by them as any other does."""
_SCRIPT_FLAG = regex("-[a-z]*c")
_SEVERAL = regex(r"&&|[;\n]")
_OWN_WAY = regex(r"\b(?:exec|trap)\b")


class _Program(msgspec.Struct, frozen=True):
    """A row of `data/serves_on.yaml`.

    Attributes:
        why: what it does with the signal.
        before: the first version that stops; empty for none.
        by_image: whether only the image's own start is like that.
    """

    why: str
    before: Version
    by_image: bool


@functools.cache
def _programs() -> Mapping[str, _Program]:
    """Last parts of an image's name -> its row."""
    found: dict[str, _Program] = {}
    for row in as_list(as_map(read_table("data/serves_on.yaml")).get("programs")):
        before = version_of(as_text(dig(row, "before")))
        program = _Program(as_text(dig(row, "why")), before, dig(row, "start") == "image")
        found |= {as_text(image): program for image in as_list(dig(row, "images"))}
    return found


def why_it_serves_on(container: Container) -> str:
    """Why a container serves until it is killed, whatever it is told; empty where it may stop before."""
    pod = container.workload.pod
    if pod.get("shareProcessNamespace") is True or pod.get("hostPID") is True:
        return ""
    if _behind_a_shell(container):
        return "a shell is its first process, which hands no SIGTERM on: it serves until it is killed"
    program = _program(container)
    return f"{program.why}: it serves until it is killed" if program is not None else ""


def _program(container: Container) -> _Program | None:
    parts = components.bare_image(container.image).split("/")
    found = _programs().get("/".join(parts[-2:]))
    command = [str(word) for word in as_list(container.data.get("command"))]
    if found is None or (command and (found.by_image or _last_part(command[0]) in _FORWARDS)):
        return None
    version = version_of(components.image_tag(container.image))
    surely_older = bool(version) and version < found.before[: len(version)]
    return found if surely_older or not found.before else None


def _behind_a_shell(container: Container) -> bool:
    """Whether `sh -c` runs several commands, none in its own place: as first process it ignores SIGTERM."""
    shell, flag, script = [*container.words, "", "", ""][:3]
    plain = _last_part(shell) in _SHELLS and _SCRIPT_FLAG.fullmatch(flag) is not None
    return plain and _SEVERAL.search(script.strip()) is not None and _OWN_WAY.search(script) is None


def _last_part(path: str) -> str:
    return path.rpartition("/")[2]
