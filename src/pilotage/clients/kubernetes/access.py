"""How to reach an API server and as whom: from a kubeconfig, or from inside of a pod."""

from __future__ import annotations

import base64
import os
import re
import ssl
import tempfile
import urllib.parse
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path

from pilotage.clients.kubernetes.kubeconfig import Cluster, Kubeconfig, User, read_kubeconfig
from pilotage.clients.kubernetes.plugin import credentials_of
from pilotage.core.errors import ConfigError
from pilotage.core.paths import is_absent

_POD = Path("/var/run/secrets/kubernetes.io/serviceaccount")
_HOST, _PORT = "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"
_LOOPBACK = ("localhost", "127.", "[::1]")


@dataclass(frozen=True)
class Access:
    """Everything that a connection needs.

    Attributes:
        server: address of the API server, without a slash at its end.
        tls: what the server must show and what we show; None for plain HTTP.
        headers: the credentials that go along with each request.
        proxy: address of a proxy; empty for none.
        server_name: the name that the server's certificate must bear; empty for that of the address.
        namespace: the namespace of the context; empty where it names none.
        origin: where all of this stands, for messages.
    """

    server: str
    tls: ssl.SSLContext | None
    headers: dict[str, str] = field(default_factory=dict, repr=False)
    proxy: str = ""
    server_name: str = ""
    namespace: str = ""
    origin: str = ""


def read_access(kubeconfig: str | None = None, context: str | None = None) -> Access:
    """The access that the user means.

    Without a file named it is that of `KUBECONFIG` or `~/.kube/config`, and inside of a pod without either
    that of the pod's service account.

    Args:
        kubeconfig: a file, or several as in `KUBECONFIG`.
        context: name of a context instead of the current one.

    Raises:
        NotFound: a file or a context does not exist.
        ConfigError: something in a file cannot be used; the message names the file and the key.
        OutsideError: the credential plugin failed.
    """
    named = kubeconfig or os.environ.get("KUBECONFIG", "")
    usual = Path.home() / ".kube" / "config"
    if not named and not context and is_absent(usual) and os.environ.get(_HOST):
        return _pod_access()
    files = [part for part in named.split(os.pathsep) if part] or [str(usual)]
    return _access(read_kubeconfig(files, explicit=bool(kubeconfig)), context)


def _access(config: Kubeconfig, name: str | None) -> Access:
    context = config.context(name)
    cluster, user = config.cluster(context), config.user(context)
    if user.plugin is not None:
        user = credentials_of(user, cluster)
    server = _address(cluster)
    return Access(
        server=server,
        tls=_tls(cluster, user) if server.startswith("https://") else None,
        headers=_headers(user),
        proxy=_proxy(cluster.proxy or _proxy_of_environment(server), cluster.origin),
        server_name=cluster.server_name,
        namespace=context.namespace,
        origin=f"context {context.name} of {context.origin}",
    )


def _is_host(name: str | None) -> bool:
    return bool(name) and not re.search(r"[\s/?#@]", name or "")


def _address(cluster: Cluster) -> str:
    server = cluster.server.rstrip("/")
    parts = urllib.parse.urlsplit(server if "://" in server else f"http://{server}")
    if parts.scheme not in {"http", "https"} or not _is_host(parts.hostname) or not _has_good_port(parts):
        raise ConfigError(
            f"{cluster.origin}: the server of cluster {cluster.name} is no address: {cluster.server!r}",
            hint="Write it as https://HOST:PORT.",
        )
    return urllib.parse.urlunsplit(parts)


def _has_good_port(parts: urllib.parse.SplitResult) -> bool:
    try:
        return parts.port != 0
    except ValueError:
        return False


def _headers(user: User) -> dict[str, str]:
    if user.token:
        headers = {"Authorization": f"Bearer {user.token}"}
    elif user.username:
        pair = base64.b64encode(f"{user.username}:{user.password}".encode()).decode()
        headers = {"Authorization": f"Basic {pair}"}
    else:
        headers = {}
    for name, value in headers.items():
        if not value.isascii() or not value.isprintable():
            raise ConfigError(
                f"{user.origin}: the {name} of user {user.name} holds a line end or another odd character",
                hint="Write the token as one line.",
            )
    if user.impersonates:
        headers["Impersonate-User"] = user.impersonates
    return headers


def _tls(cluster: Cluster, user: User) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cadata=cluster.ca or None)
    except (ssl.SSLError, ValueError) as error:
        raise ConfigError(
            f"{cluster.origin}: the certificate authority of cluster {cluster.name} is no PEM certificate",
            hint="Check certificate-authority or certificate-authority-data.",
        ) from error
    # Newer Pythons refuse authorities without an extension that many clusters' own authorities lack.
    context.verify_flags &= ~getattr(ssl, "VERIFY_X509_STRICT", 0)
    if cluster.insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if user.certificate:
        _show_certificate(context, user)
    return context


def _show_certificate(context: ssl.SSLContext, user: User) -> None:
    # The standard library reads a key from a file only; it lies there for no longer than the reading takes.
    with tempfile.TemporaryDirectory(prefix="pilotage-") as folder:
        pair = Path(folder) / "pair.pem"
        pair.touch(mode=0o600)
        pair.write_text(f"{user.certificate}\n{user.key}\n", encoding="utf-8")
        try:
            context.load_cert_chain(pair, password=lambda: "")
        except (ssl.SSLError, ValueError) as error:
            raise ConfigError(
                f"{user.origin}: the client certificate and key of user {user.name} cannot be used together",
                hint="Check client-certificate and client-key; a key with a passphrase does not work.",
            ) from error


def _proxy(address: str, origin: str) -> str:
    if address and not address.startswith(("http://", "https://")):
        raise ConfigError(
            f"{origin}: proxy-url {address!r} is not an HTTP proxy",
            hint="Only http:// and https:// proxies are supported; open a tunnel for any other.",
        )
    return address


def _proxy_of_environment(server: str) -> str:
    parts = urllib.parse.urlsplit(server)
    host = parts.netloc.rpartition("@")[2]
    if host.startswith(_LOOPBACK) or urllib.request.proxy_bypass_environment(host):  # type: ignore[attr-defined]
        return ""
    found = urllib.request.getproxies_environment().get(parts.scheme, "")
    return found if "://" in found or not found else f"http://{found}"


def _pod_access() -> Access:
    host, port = os.environ[_HOST], os.environ.get(_PORT, "443")
    origin = f"the service account of this pod ({_POD})"
    try:
        token = (_POD / "token").read_text(encoding="utf-8").strip()
        ca = (_POD / "ca.crt").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"{_HOST} is set, but {origin} cannot be read: {error}",
            hint="Give the pod a service account (automountServiceAccountToken), or name a --kubeconfig.",
        ) from error
    cluster = Cluster("in-cluster", origin, f"https://{f'[{host}]' if ':' in host else host}:{port}", ca=ca)
    user = User("service account", origin, token=token)
    namespace = _POD / "namespace"
    return Access(
        server=_address(cluster),
        tls=_tls(cluster, user),
        headers=_headers(user),
        namespace=namespace.read_text(encoding="utf-8").strip() if namespace.exists() else "",
        origin=origin,
    )
