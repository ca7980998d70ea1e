"""What a probe or a health check asks: the process itself, something else, or more than it should."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pilotage.checks.components import bare_image
from pilotage.checks.scene import Scene
from pilotage.checks.serving import handler
from pilotage.checks.values import as_list, as_map, as_text
from pilotage.checks.workloads import Container, Workload
from pilotage.core.regex import regex

_HOST_FLAG = regex(r"(?:^|\s)(?:-h|--host|--hostname|-H)[ =]+([A-Za-z0-9.$({})_-]+)")
_URL_HOST = regex(r"\b(?:https?|redis|postgres(?:ql)?|mysql|amqp|mongodb)://(?:[^/@\s]*@)?([A-Za-z0-9.-]+)")
_NETCAT = regex(r"\bnc\s+(?:-\w+\s+(?:\d+\s+)?)*([A-Za-z0-9.-]+)\s+\d+")
_OWN = {"localhost", "127.0.0.1", "0.0.0.0", "::1"}  # noqa: S104 - a name to compare with, nothing listens
_DEEP = regex(
    r"/actuator/health/?$|/(?:\w+[-_.])?(?:deep|full|all|db|database|dependenc\w+|postgres|mysql|redis)(?:[-_.]?"
    r"(?:health|check|status)\w*)?/?$",
    re.IGNORECASE,
)
_FILE = regex(r"\.(?:html?|css|js|txt|ico|png|svg|gif)$")
_PAGE = regex(r"(?:^|/)(?:log-?in|sign-?in|hello(?:[-_]?world)?|index)/?$", re.IGNORECASE)
"""Pages for somebody who is not known yet, and greetings."""
_ECHOES = ("httpbin", "echoserver", "http-echo", "echo-server", "hello-app", "whoami")
"""Images of programs that answer by themselves and have nothing behind them."""
_SELENIUM = regex(r"(?:^|/)selenium/(?:hub|router|standalone-)")
_HEALTHY_NAME = regex(r"health|status|check|ready|alive|ping", re.IGNORECASE)


def other_host(probe: Mapping[str, Any], workload: Workload) -> str:
    """The host that a probe asks, where it is surely not the pod; else empty."""
    kind, content = handler(probe) or ("", {})
    if kind == "exec":
        words = " ".join(str(word) for word in as_list(content.get("command")))
        found = (match[1] for one in (_HOST_FLAG, _URL_HOST, _NETCAT) for match in one.finditer(words))
        return next((host for host in found if not _is_own(host, workload)), "")
    host = as_text(content.get("host"))
    # With the node's network an address of the node is the pod's own.
    own = not host or _is_own(host, workload) or workload.pod.get("hostNetwork")
    return "" if own else host


def _is_own(host: str, workload: Workload) -> bool:
    bare = host.strip("\"'").lower()
    return (
        bare in _OWN
        or "$" in bare
        or not re.search("[a-z]|\\d+\\.\\d+\\.", bare)
        or bare.startswith("127.")
        or bare == as_text(workload.pod.get("hostname")).lower()
    )


def asks_nothing(path: str, container: Container) -> bool:
    """Whether a path only shows that the server itself answers: a file, a greeting, an echo of a test.

    The status of a Selenium server is another such path: it answers 200 whatever its nodes do.
    """
    bare = path.split("?", 1)[0]
    if _FILE.search(bare) is not None or _PAGE.search(bare) is not None:
        return True
    image = bare_image(container.image)
    return image.endswith(_ECHOES) or (_SELENIUM.search(image) is not None and bare.endswith("/status"))


def answered_by_nginx(scene: Scene, path: str, workload: Workload) -> bool:
    """Whether a configuration that the pod mounts answers a path with a fixed text, whatever lies behind."""
    fixed = re.compile(rf"location\s+(?:=\s+)?{re.escape(path)}\s*\{{[^}}]*\breturn\s+20[04]\b")
    for reference in scene.references(workload):
        if reference.kind != "ConfigMap":
            continue
        one = scene.find("ConfigMap", reference.name, workload.object)
        texts = as_map(one.data.get("data")).values() if one is not None else ()
        if any(fixed.search(as_text(text)) for text in texts):
            return True
    return False


def looks_deep(uri: str) -> bool:
    """Whether a path says of itself that it looks deeper than the server that answers."""
    path = uri.split("?", 1)[0]
    return _DEEP.search(path) is not None and _HEALTHY_NAME.search(path) is not None
