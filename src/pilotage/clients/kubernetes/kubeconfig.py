"""Kubeconfig files: read, merged as kubectl merges them, never written."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from pilotage.core.errors import ConfigError, NotFound
from pilotage.core.paths import at_home, is_absent
from pilotage.core.text import did_you_mean

_LARGEST_BYTES = 16 * 2**20
_ANOTHER = "Mend it, or name another file with --kubeconfig."


@dataclass(frozen=True)
class Context:
    """A context: a cluster, a user and a namespace under one name."""

    name: str
    origin: str
    cluster: str
    user: str = ""
    namespace: str = ""


@dataclass(frozen=True)
class Cluster:
    """How to reach a cluster.

    Attributes:
        name: its name in the file.
        origin: the file.
        server: the address.
        ca: certificates, PEM; empty for those of the system.
        insecure: whether any certificate will do.
        server_name: the name that the certificate must bear, where it is not that of the address.
        proxy: address of a proxy.
        data: the entry as it stands, for credential plugins.
    """

    name: str
    origin: str
    server: str
    ca: str = ""
    insecure: bool = False
    server_name: str = ""
    proxy: str = ""
    data: Mapping[str, Any] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class User:
    """As whom to come.

    Attributes:
        name: its name in the file.
        origin: the file.
        token: a bearer token.
        username: for basic authentication.
        password: for basic authentication.
        certificate: client certificate, PEM.
        key: its key, PEM.
        plugin: the `exec` entry of a credential plugin; None where there is none.
        impersonates: the user whom to act as.
        folder: where relative paths of the entry begin.
    """

    name: str
    origin: str
    token: str = field(default="", repr=False)
    username: str = ""
    password: str = field(default="", repr=False)
    certificate: str = field(default="", repr=False)
    key: str = field(default="", repr=False)
    plugin: Mapping[str, Any] | None = field(default=None, repr=False)
    impersonates: str = ""
    folder: Path = Path()


@dataclass(frozen=True)
class _Entry:
    """A named entry and the file that it stands in."""

    file: Path
    data: Mapping[str, Any]

    def text(self, key: str) -> str:
        """A value that must be text; empty where there is none."""
        value = self.data.get(key)
        if value is None:
            return ""
        if not isinstance(value, str):
            raise ConfigError(f"{self.file}: {key} must be text, not {type(value).__name__}")
        return value

    def pem(self, key: str) -> str:
        """The text of `KEY-data`, which is base64, or of the file that `KEY` names."""
        if data := self.text(f"{key}-data"):
            try:
                return base64.b64decode(data, validate=True).decode("utf-8")
            except ValueError as error:
                raise ConfigError(f"{self.file}: {key}-data is not base64 of a PEM text") from error
        return self.content(key)

    def content(self, key: str) -> str:
        """The text of the file that a key names; empty where it names none."""
        name = self.text(key)
        if not name:
            return ""
        path = self.file.parent / name
        try:
            return path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            why = error.strerror if isinstance(error, OSError) else "it is no text"
            raise ConfigError(
                f"{self.file}: {key} names {path}, which cannot be read: {why}",
                hint="Correct the path; on another machine than the one it was written on, log in again.",
            ) from error


class Kubeconfig:
    """The entries of all files together; of two of one name the first counts, as for kubectl.

    Args:
        files: the files with what they hold.
    """

    def __init__(self, files: Sequence[tuple[Path, Mapping[str, Any]]]) -> None:
        self.files = [str(path) for path, _ in files]
        self.current = next(
            (value for _, data in files if isinstance(value := data.get("current-context"), str) and value),
            "",
        )
        self._entries: dict[str, dict[str, _Entry]] = {}
        for plural, singular in (("contexts", "context"), ("clusters", "cluster"), ("users", "user")):
            self._entries[singular] = {}
            for path, data in files:
                for name, value in _named(path, data, plural, singular):
                    self._entries[singular].setdefault(name, _Entry(path, value))

    def context(self, name: str | None) -> Context:
        """The context of a name, without one the current one.

        Raises:
            NotFound: there is none.
        """
        wanted = name or self.current
        if not wanted:
            raise NotFound(
                f"{self._where()}: no context is current",
                hint=f"Name one with --context: {self._known('context')}."
                if self._entries["context"]
                else "It holds none: name another file with --kubeconfig, or log in to the cluster.",
            )
        entry = self._entry("context", wanted, "")
        return Context(
            wanted, str(entry.file), entry.text("cluster"), entry.text("user"), entry.text("namespace")
        )

    def cluster(self, context: Context) -> Cluster:
        """The cluster of a context.

        Raises:
            NotFound: there is none.
            ConfigError: it cannot be used.
        """
        entry = self._entry("cluster", context.cluster, f" (of context {context.name})")
        insecure = entry.data.get("insecure-skip-tls-verify") is True
        return Cluster(
            context.cluster,
            str(entry.file),
            entry.text("server"),
            ca="" if insecure else entry.pem("certificate-authority"),
            insecure=insecure,
            server_name=entry.text("tls-server-name"),
            proxy=entry.text("proxy-url"),
            data=entry.data,
        )

    def user(self, context: Context) -> User:
        """The user of a context; one without any credentials where it names none.

        Raises:
            NotFound: it names one that does not exist.
            ConfigError: it cannot be used.
        """
        if not context.user:
            return User("anonymous", context.origin)
        entry = self._entry("user", context.user, f" (of context {context.name})")
        plugin = entry.data.get("exec")
        certificate = entry.pem("client-certificate")
        return User(
            context.user,
            str(entry.file),
            token=(entry.content("tokenFile") or entry.text("token")).strip() or _provider_token(entry),
            username=entry.text("username"),
            password=entry.text("password"),
            certificate=certificate,
            key=entry.pem("client-key") if certificate else "",
            plugin=plugin if isinstance(plugin, dict) else None,
            impersonates=entry.text("as"),
            folder=entry.file.parent,
        )

    def _entry(self, singular: str, name: str, of: str) -> _Entry:
        found = self._entries[singular].get(name)
        if found is None:
            hint = did_you_mean(name, self._entries[singular]) or f"There are: {self._known(singular)}."
            raise NotFound(f"{self._where()}: there is no {singular} '{name}'{of}", hint=hint)
        return found

    def _known(self, singular: str) -> str:
        return ", ".join(sorted(self._entries[singular])[:20]) or "none at all"

    def _where(self) -> str:
        return ", ".join(self.files)


def _named(
    path: Path, data: Mapping[str, Any], plural: str, singular: str
) -> list[tuple[str, Mapping[str, Any]]]:
    items = data.get(plural)
    if items is None:
        return []
    if not isinstance(items, list):
        raise ConfigError(f"{path}: {plural} must be a list")
    found: list[tuple[str, Mapping[str, Any]]] = []
    for item in items:
        name = item.get("name") if isinstance(item, dict) else None
        if not isinstance(name, str):
            raise ConfigError(f"{path}: an item of {plural} has no name")
        value = item.get(singular)
        found.append((name, value if isinstance(value, dict) else {}))
    return found


def _provider_token(entry: _Entry) -> str:
    """The token that an `auth-provider` of old kept in the file; nobody renews it any more."""
    provider = entry.data.get("auth-provider")
    config = provider.get("config") if isinstance(provider, dict) else None
    if not isinstance(config, dict):
        return ""
    return str(config.get("id-token") or config.get("access-token") or "")


def read_kubeconfig(files: Sequence[str], *, explicit: bool = False) -> Kubeconfig:
    """Reads and merges files; those of a list that do not exist are passed over, as kubectl does.

    Args:
        files: their names.
        explicit: whether the user named them for this very run, so that each must exist.

    Raises:
        NotFound: none of them exists, or one that was named.
        ConfigError: one cannot be read.
    """
    found: list[tuple[Path, Mapping[str, Any]]] = []
    for name in files:
        path = at_home(name)
        if not is_absent(path):
            found.append((path, _content(path)))
        elif explicit:
            raise NotFound(f"kubeconfig {path} does not exist", hint="Name another one with --kubeconfig.")
    if not found:
        raise NotFound(
            f"there is no kubeconfig: {', '.join(files)}",
            hint="Name one with --kubeconfig, or set KUBECONFIG.",
        )
    return Kubeconfig(found)


def _content(path: Path) -> Mapping[str, Any]:
    try:
        with path.open("rb") as file:
            content = file.read(_LARGEST_BYTES + 1)
    except OSError as error:
        raise ConfigError(f"kubeconfig {path} cannot be read: {error.strerror}", hint=_ANOTHER) from error
    if len(content) > _LARGEST_BYTES:
        raise ConfigError(f"kubeconfig {path} is larger than 16 MiB: that is no kubeconfig", hint=_ANOTHER)
    try:
        data = yaml.load(content, Loader=yaml.CSafeLoader)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        at = f":{mark.line + 1}:{mark.column + 1}" if mark is not None else ""
        problem = getattr(error, "problem", None) or "it is no YAML"
        raise ConfigError(f"kubeconfig {path}{at} cannot be read: {problem}", hint=_ANOTHER) from error
    if not isinstance(data, dict):
        raise ConfigError(f"kubeconfig {path} holds no kubeconfig", hint="Its top level must be a mapping.")
    return data
