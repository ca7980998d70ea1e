"""Heaps: what a run-time may fill before it collects, against the limit at which the kernel kills."""
# ruff: noqa: D205, D212, D416 - the docstring of a check is its page, in fixed sections

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from pilotage.checks.controllers import controllers_of
from pilotage.checks.model import Answers, Gap, NotApplicable, Pass, Severity, check
from pilotage.checks.scene import Scene
from pilotage.checks.values import KeyPath, as_list, as_text, dig, human_bytes
from pilotage.checks.workloads import SERVING, Container
from pilotage.core.regex import regex

SKIPPER = "zalando-2019-skipper-ingress-oom-alb-502"

_JAVA = regex(r"(?:^|\s|=)-Xmx(\d{1,12})([kKmMgGtT]?)(?=\s|$)")
_NODE = regex(r"--max[-_]old[-_]space[-_]size[= ](\d{1,9})(?=\s|$)")
_GO = regex(r"(\d{1,15})(B|KiB|MiB|GiB|TiB)?")
_UNITS = {"": 1, "b": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}


class _Heap(msgspec.Struct, frozen=True):
    """A bound that a container states for its own run-time.

    Attributes:
        what: the option, as people know it.
        size: bytes.
        path: where it stands, inside of the container.
    """

    what: str
    size: int
    path: KeyPath


@check(
    "heap-over-limit",
    title="A program may fill more memory than its container has",
    severity=Severity.MEDIUM,
    incidents=(),
    alike=(SKIPPER,),
    about=SERVING,
)
def heap_over_limit(scene: Scene) -> Answers:
    """
    What it does
    Compares the memory limit of a container with the heap that it lets its run-time have: `-Xmx` of Java,
    `--max-old-space-size` of Node.js, `GOMEMLIMIT` of Go, in arguments and variables that are written down.
    Of several values of one option the last counts, as the run-time reads them. Proxies have a check of their
    own, `proxy-heap-over-limit`.

    Why it matters
    The run-time sees no reason to collect before its heap is full, and the kernel kills the process before
    that. Nothing is logged by the program, and under the load that filled one pod the next fills sooner.

    Incidents
    At Zalando ingress proxies ran into their memory limit one after another until none was left. There the
    memory was that of waiting requests; the end, killed at the limit, is the same.

    Fix
    Set the heap to about three quarters of the limit (`-XX:MaxRAMPercentage=75` follows the limit by itself),
    since threads, buffers and code need memory beside it, and change both together.

    References
    - https://docs.oracle.com/en/java/javase/21/docs/specs/man/java.html
    - https://nodejs.org/api/cli.html#--max-old-space-sizesize-in-mib
    - https://pkg.go.dev/runtime#hdr-Environment_Variables
    """
    proxies = {
        (id(one.container.workload.object), one.container.path)
        for one in controllers_of(scene, "contour", "envoy", "skipper", "traefik")
    }
    for workload in scene.workloads:
        for container in workload.running if workload.kind in SERVING else ():
            limit = container.limit("memory")
            if limit is None or (id(workload.object), container.path) in proxies:
                continue
            heap = max(_heaps(container), key=_size, default=None)
            if heap is None:
                yield NotApplicable(workload.object, "it states no heap")
            elif heap.size < limit:
                yield Pass(workload.object)
            else:
                yield Gap(
                    workload.object,
                    f"`{container.name}` may fill a heap of {human_bytes(heap.size)} and is killed at "
                    f"{human_bytes(limit)}",
                    (*container.path, *heap.path),
                    evidence=(
                        f"{heap.what}: {human_bytes(heap.size)}",
                        f"resources.limits.memory: {human_bytes(limit)}",
                    ),
                )


def _size(heap: _Heap) -> int:
    return heap.size


def _heaps(container: Container) -> Iterator[_Heap]:
    """What it states by its arguments, else by its variables: arguments come last and win."""
    for key in ("args", "command"):
        words = " ".join(as_text(word) for word in as_list(container.data.get(key)))
        found = list(_in(words, (key,)))
        if found:
            yield from found
            return
    for place, one in enumerate(as_list(container.data.get("env"))):
        name, value = as_text(dig(one, "name")), as_text(dig(one, "value"))
        path = ("env", place, "value")
        yield from _in(value, path)
        match = _GO.fullmatch(value) if name == "GOMEMLIMIT" else None
        if match:
            yield _Heap("GOMEMLIMIT", int(match[1]) * _UNITS[(match[2] or "")[:1].lower()], path)


def _in(text: str, path: KeyPath) -> Iterator[_Heap]:
    """The options within a text, of each the last."""
    for java in list(_JAVA.finditer(text))[-1:]:
        yield _Heap("-Xmx", int(java[1]) * _UNITS[java[2].lower()], path)
    for node in list(_NODE.finditer(text))[-1:]:
        yield _Heap("--max-old-space-size", int(node[1]) * 2**20, path)


CHECKS = (heap_over_limit,)
