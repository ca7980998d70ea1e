"""What a run of a Job does, by its command: next to nothing, a change to a database, or work on much data."""

from __future__ import annotations

import re
from decimal import Decimal

from pilotage.checks.components import bare_image
from pilotage.checks.workloads import Container, Workload
from pilotage.core.regex import regex

_SHELLS = {"sh", "bash", "ash", "dash"}
_SMALL = frozenset(
    "[ [[ : base64 basename break cat chmod chown command cp curl cut date dig dirname do done echo elif "
    "else env esac exit export expr false fi for function grep head helm hostname id if jq kill kubectl ln "
    "local ls mkdir mktemp mv nc nslookup oc ping printenv printf pwd read return rm sed seq set sleep sort "
    "tail tee test then timeout touch tr true uname unset until wait wget whoami while xargs".split()
)
"""Programs whose memory does not grow with what they are given, and the words that join them."""
_SMALL_IMAGES = frozenset(
    "aws-cli cli cloud-sdk curl curl-jq descheduler hello-world helm kube-bench kube-hunter kubectl mc "
    "origin-cli ose-cli vault whalesay".split()
)
"""Last parts of names of images: tools that ask an API and end."""
_ONE_LINER = regex(r"\bbpi\(|^\s*(?:import \w+;\s*)?print\(")
"""The Job of Kubernetes' own documentation, which works out pi, and programs that print a line."""
_SPLIT = regex(r"\s*(?:[;\n]|&&?|\|\|?|\bdo\b|\bthen\b|\$\(|`)\s*")
_QUOTED = regex(r"'[^']*'")
_VARIABLES = regex(r"^(?:[A-Za-z_]\w*=(?:\"[^\"]*\"|'[^']*'|\S*)\s*|!\s+)+")
_MIGRATES = regex(
    r"(?<![a-z])(?:migrat(?:e|es|ion|ions|or)|db[:_-](?:init|setup|seed|create)|init[-_]?db|alembic|flyway|"
    r"liquibase|syncdb|create[-_](?:db|database|users?|topics?|buckets?))(?![a-z])",
    re.IGNORECASE,
)
_ON_MUCH = regex(
    r"(?<![a-z])(?:re-?)?(?:aggregat|archiv|back-?up|batch|build|compact|compress|convert|crawl|dump|encod|etl|"
    r"export|import|index|ingest|load|process|render|report|restor|scan|snapshot|spark|sync|train|transcod)",
    re.IGNORECASE,
)
_HEAP = regex(r"-Xmx|max-old-space-size")
_LARGE_BYTES = Decimal(512 * 2**20)


def does_little(workload: Workload, container: Container) -> bool:
    """Whether memory is no danger in it: it prints, waits, asks something once, or changes a database."""
    words = container.words
    tool = bare_image(container.image).rpartition("/")[2] in _SMALL_IMAGES
    if tool and not on_much_data(workload, container):
        return True
    if any(_MIGRATES.search(text) for text in (workload.object.name, container.name, *words)):
        return True
    return bool(words) and (_ONE_LINER.search(words[-1]) is not None or _only_small(words))


def _only_small(words: list[str]) -> bool:
    if words[0].rpartition("/")[2] not in _SHELLS:
        return words[0].rpartition("/")[2] in _SMALL
    # What stands in quotes is data: a filter of jq, a text to print.
    script = _QUOTED.sub("''", words[-1]) if len(words) > 1 else ""
    parts = [_VARIABLES.sub("", part) for part in _SPLIT.split(script)]
    begins = [part.split()[0].strip("\"'()").rpartition("/")[2] for part in parts if part.strip("\"'() \\{}")]
    return len(words) > 1 and all(one in _SMALL or not re.match(r"[A-Za-z[:]", one) for one in begins)


def on_much_data(workload: Workload, container: Container) -> bool:
    """Whether it holds much at a time, by what it asks for, by its names or by its arguments."""
    asked = container.request("memory")
    if asked is not None and asked >= _LARGE_BYTES:
        return True
    # A script has words of every kind; a name or an argument tells what it is about.
    names = (word for word in container.words if not re.search(r"\s", word))
    return any(_ON_MUCH.search(text) for text in (workload.object.name, container.name, *names)) or any(
        _HEAP.search(text) for text in container.words
    )
