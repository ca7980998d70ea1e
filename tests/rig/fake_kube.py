"""An API server of our own that answers get and list as the real one does, and breaks on demand.

It passes the contract tests of `tests/contract/test_kube_api.py`, which the real one passes too. It keeps objects as
bytes, so that it can hold hundreds of thousands of them, and runs in a thread of the test.
"""

from __future__ import annotations

import base64
import bisect
import json
import re
import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from pilotage.checks.readers.kinds import known_kinds

Fault = Callable[["_Handler"], bool]
"""Answers in place of the server; False lets the request go on."""
_PATH = re.compile(
    r"/(?:api|apis/(?P<group>[^/]+))/(?P<version>v[^/]+)"
    r"(?:/namespaces/(?P<namespace>[^/]+))?/(?P<resource>[a-z]+)(?:/(?P<name>[^/]+))?"
)
_PARTIAL = "PartialObjectMetadataList"


@dataclass(frozen=True)
class Kind:
    """A kind that the server serves."""

    group: str
    version: str
    resource: str
    kind: str
    namespaced: bool

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version


def _versions() -> dict[str, str]:
    return {"autoscaling": "v2", "argoproj.io": "v1alpha1", "keda.sh": "v1alpha1"}


def usual_kinds() -> list[Kind]:
    """All kinds that checks may ask for, in versions that are in use."""
    versions = _versions()
    return [
        Kind(one.group, versions.get(one.group, "v1"), one.resource, kind.partition(".")[0], one.namespaced)
        for kind, places in known_kinds().items()
        for one in places
    ]


@dataclass
class _Table:
    """The objects of a kind, in the order of their names, as bytes."""

    keys: list[str] = field(default_factory=list)
    values: dict[str, bytes] = field(default_factory=dict)


class FakeKube:
    """The server.

    Args:
        kinds: what it serves; None means everything that checks may ask for.
        aggregated: whether it tells all that it serves in one answer, as servers since 1.27 do.
        token: the only token that it accepts; empty for any.
        tls: to serve HTTPS.
    """

    def __init__(
        self,
        kinds: Iterable[Kind] | None = None,
        *,
        aggregated: bool = True,
        token: str = "",
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.kinds = {(one.group, one.resource): one for one in (usual_kinds() if kinds is None else kinds)}
        self.aggregated = aggregated
        self.token = token
        self.minor = "36"
        self.forbidden: set[str] = set()
        self.faults: dict[str, Fault] = {}
        self.requests: list[tuple[str, str]] = []
        self._tables = {key: _Table() for key in self.kinds}
        self._by_kind = {(one.api_version, one.kind): key for key, one in self.kinds.items()}
        self._revision = 1
        self._snapshots: dict[tuple[int, str, str, str], list[str]] = {}
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._server.daemon_threads = True
        self._server.fake = self  # type: ignore[attr-defined]
        if tls is not None:
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True)
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{self._server.server_port}"
        self.released = threading.Event()
        """Lets requests end that hang on purpose."""

    # What it holds

    def create(self, value: Mapping[str, Any]) -> None:
        """Adds an object."""
        key = self._by_kind[value["apiVersion"], value["kind"]]
        metadata = value["metadata"]
        self.create_bytes(key, metadata.get("namespace", ""), metadata["name"], json.dumps(value).encode())

    def create_bytes(self, key: tuple[str, str], namespace: str, name: str, content: bytes) -> None:
        """Adds an object as it will be sent."""
        with self._lock:
            self._revision += 1
            table = self._tables[key]
            full = f"{namespace}/{name}"
            if full not in table.values:
                if table.keys and full < table.keys[-1]:
                    bisect.insort(table.keys, full)
                else:
                    table.keys.append(full)
            table.values[full] = content

    def delete(self, api_version: str, kind: str, namespace: str, name: str) -> None:
        """Takes an object away."""
        with self._lock:
            self._revision += 1
            self._tables[self._by_kind[api_version, kind]].keys.remove(f"{namespace}/{name}")

    def compact(self) -> None:
        """Forgets every state but the newest, so that older lists cannot go on."""
        with self._lock:
            self._snapshots.clear()

    # Its life

    @contextmanager
    def running(self) -> Iterator[FakeKube]:
        """Serves until the end of the block."""
        thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )
        thread.start()
        try:
            yield self
        finally:
            self.released.set()
            self._server.shutdown()
            self._server.server_close()
            thread.join()

    def kubeconfig(self, folder: Path, token: str | None = None, **cluster: Any) -> Path:
        """A kubeconfig for it."""
        path = folder / "kubeconfig.json"
        user = {"token": self.token if token is None else token} if self.token or token else {}
        path.write_text(
            json.dumps(
                {
                    "apiVersion": "v1",
                    "kind": "Config",
                    "current-context": "fake",
                    "clusters": [{"name": "fake", "cluster": {"server": self.url, **cluster}}],
                    "users": [{"name": "me", "user": user}],
                    "contexts": [{"name": "fake", "context": {"cluster": "fake", "user": "me"}}],
                }
            )
        )
        return path

    # Its answers

    def discovery(self, *, core: bool) -> dict[str, Any]:
        """All groups with their resources."""
        groups: dict[str, dict[str, list[Any]]] = {}
        for one in self.kinds.values():
            if bool(one.group) is not core:
                resource = {
                    "resource": one.resource,
                    "responseKind": {"group": one.group, "version": one.version, "kind": one.kind},
                    "scope": "Namespaced" if one.namespaced else "Cluster",
                    "verbs": ["get", "list"],
                }
                groups.setdefault(one.group, {}).setdefault(one.version, []).append(resource)
        return {
            "kind": "APIGroupDiscoveryList",
            "apiVersion": "apidiscovery.k8s.io/v2",
            "metadata": {},
            "items": [
                {
                    "metadata": {"name": group},
                    "versions": [
                        {"version": version, "resources": found, "freshness": "Current"}
                        for version, found in versions.items()
                    ],
                }
                for group, versions in groups.items()
            ],
        }

    def groups(self) -> dict[str, Any]:
        """The groups alone, as older servers tell them."""
        names = dict.fromkeys((one.group, one.version) for one in self.kinds.values() if one.group)
        return {
            "kind": "APIGroupList",
            "apiVersion": "v1",
            "groups": [
                {
                    "name": group,
                    "versions": [{"groupVersion": f"{group}/{version}", "version": version}],
                    "preferredVersion": {"groupVersion": f"{group}/{version}", "version": version},
                }
                for group, version in names
            ],
        }

    def resources(self, group: str, version: str) -> dict[str, Any] | None:
        """What a group serves in a version."""
        found = [one for one in self.kinds.values() if (one.group, one.version) == (group, version)]
        if not found:
            return None
        resources = [{"name": one.resource, "kind": one.kind, "namespaced": one.namespaced} for one in found]
        return {"kind": "APIResourceList", "groupVersion": found[0].api_version, "resources": resources}

    def one(self, key: tuple[str, str], namespace: str, name: str) -> bytes | None:
        """An object."""
        with self._lock:
            return self._tables[key].values.get(f"{namespace}/{name}")

    def page(
        self, key: tuple[str, str], namespace: str, query: Mapping[str, str], *, partial: bool
    ) -> bytes | dict[str, Any]:
        """A page of a list; a status where its token is too old."""
        size = int(query.get("limit") or 0)
        kind = self.kinds[key]
        with self._lock:
            names = self._names(key, namespace)
            at, revision = 0, self._revision
            if token := query.get("continue", ""):
                state = json.loads(base64.b64decode(token))
                at, revision = state["at"], state["rv"]
                if revision == -1:
                    at, revision = bisect.bisect_right(names, state["after"]), self._revision
                elif (kept := self._snapshots.get((revision, *key, namespace))) is not None:
                    names = kept
                else:
                    return self._expired(state["after"])
            elif size and len(names) > size:
                self._snapshots[(revision, *key, namespace)] = names
            end = min(len(names), at + size) if size else len(names)
            values = self._tables[key].values
            contents = [values[name] for name in names[at:end]]
        if end < len(names) and (revision, *key, namespace) not in self._snapshots:
            self._snapshots[(revision, *key, namespace)] = names
        head: dict[str, Any] = {"resourceVersion": str(revision)}
        if end < len(names):
            head["continue"] = _token(end, revision, names[end - 1])
            head["remainingItemCount"] = len(names) - end
        if partial:
            return _partial(contents, head)
        start = {"kind": f"{kind.kind}List", "apiVersion": kind.api_version, "metadata": head}
        return json.dumps(start).encode()[:-1] + b',"items":[' + b",".join(contents) + b"]}"

    def _names(self, key: tuple[str, str], namespace: str) -> list[str]:
        keys = self._tables[key].keys
        if not namespace:
            return list(keys)
        return keys[bisect.bisect_left(keys, f"{namespace}/") : bisect.bisect_left(keys, f"{namespace}0")]

    def _expired(self, after: str) -> dict[str, Any]:
        token = _token(0, -1, after)
        message = "The provided continue parameter is too old to display a consistent list result."
        return status(410, "Expired", message, {"continue": token})


def _token(at: int, revision: int, after: str) -> str:
    return base64.b64encode(json.dumps({"at": at, "rv": revision, "after": after}).encode()).decode()


def _partial(contents: list[bytes], head: dict[str, Any]) -> bytes:
    items = [
        {
            "kind": "PartialObjectMetadata",
            "apiVersion": "meta.k8s.io/v1",
            "metadata": json.loads(content)["metadata"],
        }
        for content in contents
    ]
    start = {"kind": _PARTIAL, "apiVersion": "meta.k8s.io/v1", "metadata": head, "items": items}
    return json.dumps(start).encode()


def status(code: int, reason: str, message: str, metadata: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """An error as the API server words it."""
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": dict(metadata or {}),
        "status": "Failure",
        "message": message,
        "reason": reason,
        "code": code,
    }


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Head and body in one packet: two would wait for each other's acknowledgement.
    wbufsize = 2**16
    disable_nagle_algorithm = True

    @property
    def fake(self) -> FakeKube:
        return self.server.fake  # type: ignore[attr-defined,no-any-return]

    def log_message(self, *_: Any) -> None:
        """Silence: what was asked stands in `requests`."""

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        self.fake.requests.append(("GET", self.path))
        fault = self.fake.faults.get(parts.path) or self.fake.faults.get("*")
        if fault is not None and fault(self):
            return
        if self.fake.token and self.headers.get("Authorization") != f"Bearer {self.fake.token}":
            self.send(401, status(401, "Unauthorized", "Unauthorized"))
            return
        self._answer(parts.path, dict(parse_qsl(parts.query)))

    def _other(self) -> None:
        self.fake.requests.append((self.command, self.path))
        self.send(405, status(405, "MethodNotAllowed", "this server is only read"))

    do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = _other  # noqa: N815 - names of the base class

    def _answer(self, path: str, query: dict[str, str]) -> None:
        fixed = self._fixed(path)
        if fixed is not None:
            self.send(200, fixed)
            return
        match = _PATH.fullmatch(path)
        key = (match["group"] or "", match["resource"]) if match else ("", "")
        if match is not None and match["name"]:
            key = ("", "")
        kind = self.fake.kinds.get(key)
        if match is None or kind is None or kind.version != match["version"]:
            self._namespace_or_nothing(path)
        elif kind.resource in self.fake.forbidden:
            message = (
                f'{kind.resource}.{kind.group} is forbidden: User "me" cannot list resource "{kind.resource}"'
            )
            self.send(403, status(403, "Forbidden", message))
        else:
            self._page(key, match["namespace"] or "", query)

    def _fixed(self, path: str) -> dict[str, Any] | None:
        fake = self.fake
        if path == "/version":
            return {"major": "1", "minor": fake.minor, "gitVersion": f"v1.{fake.minor}.0"}
        whole = fake.aggregated and "APIGroupDiscoveryList" in self.headers.get("Accept", "")
        if path == "/api":
            return fake.discovery(core=True) if whole else {"kind": "APIVersions", "versions": ["v1"]}
        if path == "/apis":
            return fake.discovery(core=False) if whole else fake.groups()
        if path == "/api/v1":
            return fake.resources("", "v1")
        parts = path.split("/")
        return fake.resources(parts[2], parts[3]) if parts[1] == "apis" and len(parts) == 4 else None

    def _namespace_or_nothing(self, path: str) -> None:
        name = path.removeprefix("/api/v1/namespaces/")
        if name != path and "namespaces" in self.fake.forbidden:
            self.send(403, status(403, "Forbidden", f'namespaces "{name}" is forbidden'))
            return
        found = self.fake.one(("", "namespaces"), "", name) if name != path else None
        if found is None:
            self.send(404, status(404, "NotFound", "the server could not find the requested resource"))
        else:
            self.send(200, found)

    def _page(self, key: tuple[str, str], namespace: str, query: dict[str, str]) -> None:
        partial = _PARTIAL in self.headers.get("Accept", "")
        answer = self.fake.page(key, namespace, query, partial=partial)
        self.send(410 if isinstance(answer, dict) else 200, answer)

    def send(self, code: int, value: bytes | Mapping[str, Any], **headers: str) -> None:
        """An answer."""
        body = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        for name, content in headers.items():
            self.send_header(name.replace("_", "-"), content)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


# Ways to fail


def busy(times: int, retry_after: str = "1") -> Fault:
    """Refuses with 429 for some requests."""
    left = [times]

    def answer(handler: _Handler) -> bool:
        if left[0] <= 0:
            return False
        left[0] -= 1
        said = status(429, "TooManyRequests", "too many requests, please try again later")
        handler.send(429, said, Retry_After=retry_after)
        return True

    return answer


def stalling(handler: _Handler) -> bool:
    """Says nothing until the end of the test."""
    handler.fake.released.wait(60)
    handler.close_connection = True
    return True


def dying(handler: _Handler) -> bool:
    """Breaks off in the middle of an answer."""
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", "100000")
    handler.end_headers()
    handler.wfile.write(b'{"kind": "ServiceList", "items": [')
    handler.wfile.flush()
    # A reset instead of an orderly end, as of a process that was killed.
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.connection.close()
    handler.close_connection = True
    return True


def halved(handler: _Handler) -> bool:
    """Ends in good order, with less than was promised."""
    handler.send_response(200)
    handler.send_header("Content-Length", "100000")
    handler.end_headers()
    handler.wfile.write(b'{"kind"')
    handler.close_connection = True
    return True


def no_http(handler: _Handler) -> bool:
    """Speaks another protocol."""
    handler.wfile.write(b"SSH-2.0-OpenSSH_9\r\n")
    handler.close_connection = True
    return True


def saying(code: int, body: bytes, content_type: str = "text/html", **headers: str) -> Fault:
    """Always answers the same."""

    def answer(handler: _Handler) -> bool:
        handler.send_response(code)
        handler.send_header("Content-Type", content_type)
        handler.send_header("Content-Length", str(len(body)))
        for name, content in headers.items():
            handler.send_header(name, content)
        handler.end_headers()
        handler.wfile.write(body)
        return True

    return answer
