"""A real Kubernetes control plane of our own: etcd and an API server on loopback, from one binary.

`make rig` builds the binary once for the machine. Each process is a child of ours that dies with us; ports are
free ones, files lie in a throw-away folder, logs are kept until the end.
"""

from __future__ import annotations

import base64
import ctypes
import http.client
import json
import os
import secrets
import signal
import ssl
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rig.ports import held_port
from rig.postgres import REQUIRED, missing

HERE = Path(__file__).parent / "kube"
USERS = {
    "admin": "system:masters",
    "viewer": "auditors",
    "nobody": "",
    "system:kube-controller-manager": "",
    "system:kube-scheduler": "",
}
"""Users with a token, and their groups."""
_PARENT_DEATH = 1
_READY_SECONDS = 90.0
_AUDIT_POLICY = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [{"level": "Metadata"}],
}


def binary() -> Path:
    """The program; skips the test where it is not built, builds it where real components are required."""
    required = os.environ.get(REQUIRED) == "1"
    done = subprocess.run(
        [HERE / "build.sh", *([] if required else ["--find"])],
        stdout=subprocess.PIPE,
        stderr=None if required else subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode:
        missing(f"no Kubernetes control plane: {(done.stderr or 'its build failed').strip()}")
    return Path(done.stdout.strip())


def wait_until(ready: Callable[[], bool], *, within: float, what: str) -> None:
    """Asks again and again until it is so."""
    end = time.monotonic() + within
    while time.monotonic() < end:
        try:
            if ready():
                return
        except (OSError, urllib.error.URLError):
            pass
        time.sleep(0.05)
    raise TimeoutError(f"{what}: not within {within:g} s")


def _refusal(status: int, said: bytes) -> str:
    """The server's words against a request; what it does not serve it answers without JSON."""
    if status < 400:
        return ""
    try:
        return str(json.loads(said)["message"])
    except (ValueError, KeyError):
        return f"{status} {said.decode(errors='replace')}"


def _die_with_parent() -> None:
    ctypes.CDLL(None).prctl(_PARENT_DEATH, signal.SIGKILL)


class Program:
    """A running program of the control plane.

    Args:
        name: what it is.
        command: how to start it.
        log: where its words go.
    """

    def __init__(self, name: str, command: Sequence[str], log: Path) -> None:
        self.name = name
        self.log = log
        with log.open("ab") as out:
            self._process = subprocess.Popen(
                command,
                stdout=out,
                stderr=out,
                stdin=subprocess.DEVNULL,
                preexec_fn=_die_with_parent,  # noqa: PLW1509 - nothing else runs in between
            )

    @property
    def alive(self) -> bool:
        """Whether it still runs."""
        return self._process.poll() is None

    def wait(self, ready: Callable[[], bool]) -> None:
        """Until it is ready, or has ended, which is an error."""

        def looked() -> bool:
            if not self.alive:
                raise RuntimeError(f"{self.name} ended with {self._process.returncode}:\n{self.tail()}")
            return ready()

        try:
            wait_until(looked, within=_READY_SECONDS, what=f"{self.name} ready")
        except TimeoutError as error:
            raise TimeoutError(f"{error}\n{self.tail()}") from error

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        """Ends it."""
        if not self.alive:
            return
        self._process.send_signal(how)
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def tail(self, lines: int = 15) -> str:
        """Its last words."""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])


class ControlPlane:
    """etcd and an API server; a controller manager and a scheduler on demand.

    Args:
        folder: for its files.
        api_args: further flags of the API server.
    """

    def __init__(self, folder: Path, api_args: Sequence[str] = ()) -> None:
        self.folder = folder
        self.api_args = list(api_args)
        self.binary = binary()
        self._etcd_port, self._peer_port, self.port = held_port(), held_port(), held_port()
        self.url = f"https://127.0.0.1:{self.port}"
        self.etcd_url = f"http://127.0.0.1:{self._etcd_port}"
        self.tokens = {user: secrets.token_hex(16) for user in USERS}
        self.ca_file = folder / "ca.crt"
        self.audit_log = folder / "audit.log"
        self._programs: dict[str, Program] = {}
        self._make_certificates()
        self._write_users()
        (folder / "audit.json").write_text(json.dumps(_AUDIT_POLICY))

    # Files

    def _openssl(self, *arguments: str) -> None:
        subprocess.run(["openssl", *arguments], check=True, capture_output=True, cwd=self.folder)

    def _make_certificates(self) -> None:
        curve = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
        self._openssl(
            "req",
            "-x509",
            *curve,
            "-days",
            "30",
            "-subj",
            "/CN=rig-ca",
            "-keyout",
            "ca.key",
            "-out",
            "ca.crt",
        )
        self.certificate("apiserver", "/CN=kube-apiserver", server=True)
        self._openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", "sa.key")

    def certificate(self, name: str, subject: str, *, server: bool = False) -> tuple[Path, Path]:
        """A certificate of our authority, and its key."""
        curve = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
        self._openssl("req", *curve, "-subj", subject, "-keyout", f"{name}.key", "-out", f"{name}.csr")
        names = "subjectAltName=IP:127.0.0.1,DNS:localhost,DNS:kubernetes.default.svc\n" if server else ""
        use = "serverAuth" if server else "clientAuth"
        (self.folder / f"{name}.cnf").write_text(f"{names}extendedKeyUsage={use}\n")
        self._openssl(
            *("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial"),
            *("-days", "30", "-extfile", f"{name}.cnf", "-out", f"{name}.crt"),
        )
        return self.folder / f"{name}.crt", self.folder / f"{name}.key"

    def _write_users(self) -> None:
        path = self.folder / "tokens.csv"
        path.touch(mode=0o600)
        rows = []
        for number, (user, group) in enumerate(USERS.items()):
            rows.append(f"{self.tokens[user]},{user},{number}" + (f',"{group}"' if group else ""))
        path.write_text("\n".join(rows) + "\n")

    def kubeconfig(self, user: str = "admin", *, token: str | None = None) -> Path:
        """A kubeconfig for a user, or for anybody whose token it is."""
        path = self.folder / f"kubeconfig-{user.replace(':', '_')}.json"
        path.write_text(
            json.dumps(
                {
                    "apiVersion": "v1",
                    "kind": "Config",
                    "current-context": "rig",
                    "clusters": [
                        {
                            "name": "rig",
                            "cluster": {"server": self.url, "certificate-authority": str(self.ca_file)},
                        }
                    ],
                    "users": [{"name": user, "user": {"token": token or self.tokens[user]}}],
                    "contexts": [{"name": "rig", "context": {"cluster": "rig", "user": user}}],
                }
            )
        )
        path.chmod(0o600)
        return path

    # Programs

    def _start(self, name: str, *arguments: str) -> Program:
        command = [str(self.binary), name, *arguments]
        self._programs[name] = Program(name, command, self.folder / f"{name}.log")
        return self._programs[name]

    def start(self) -> ControlPlane:
        """Starts etcd and the API server."""
        peer = f"http://127.0.0.1:{self._peer_port}"
        etcd = self._start(
            "etcd",
            *("--name=rig", f"--data-dir={self.folder}/etcd", "--unsafe-no-fsync", "--log-level=warn"),
            *(f"--listen-client-urls={self.etcd_url}", f"--advertise-client-urls={self.etcd_url}"),
            *(f"--listen-peer-urls={peer}", f"--initial-advertise-peer-urls={peer}"),
            f"--initial-cluster=rig={peer}",
        )
        etcd.wait(lambda: '"health":"true"' in self._text("GET", self.etcd_url + "/health"))
        self.start_api_server()
        return self

    def start_api_server(self) -> Program:
        """Starts the API server, again on the same port and the same etcd."""
        at = self.folder
        api = self._start(
            "apiserver",
            *(f"--etcd-servers={self.etcd_url}", f"--secure-port={self.port}", f"--cert-dir={at}"),
            *("--bind-address=127.0.0.1", "--advertise-address=127.0.0.1"),
            # Loopback is refused as an address of an Endpoints object.
            "--endpoint-reconciler-type=none",
            *(f"--tls-cert-file={at}/apiserver.crt", f"--tls-private-key-file={at}/apiserver.key"),
            *(f"--client-ca-file={at}/ca.crt", f"--token-auth-file={at}/tokens.csv"),
            *("--authorization-mode=RBAC", "--anonymous-auth=true"),
            "--service-account-issuer=https://kubernetes.default.svc",
            *(f"--service-account-key-file={at}/sa.key", f"--service-account-signing-key-file={at}/sa.key"),
            *("--service-cluster-ip-range=10.0.0.0/16", "--allow-privileged=true"),
            *(f"--audit-policy-file={at}/audit.json", f"--audit-log-path={self.audit_log}"),
            # Otherwise SIGTERM waits for a minute for every open watch.
            "--shutdown-watch-termination-grace-period=1s",
            *self.api_args,
        )
        api.wait(lambda: self._text("GET", self.url + "/readyz", token=self.tokens["admin"]) == "ok")
        return api

    def start_controller_manager(self, *arguments: str) -> Program:
        """Starts the controllers, those that need nodes or a cloud left out."""
        port = held_port()
        manager = self._start(
            "controller-manager",
            f"--kubeconfig={self.kubeconfig('system:kube-controller-manager')}",
            *("--bind-address=127.0.0.1", f"--secure-port={port}", f"--cert-dir={self.folder}/kcm"),
            *("--leader-elect=false", "--use-service-account-credentials=true"),
            *(f"--service-account-private-key-file={self.folder}/sa.key", f"--root-ca-file={self.ca_file}"),
            "--controllers=*,-node-ipam-controller,-node-route-controller,-cloud-node-lifecycle-controller",
            *arguments,
        )
        address = f"https://127.0.0.1:{port}/healthz"
        manager.wait(lambda: self._text("GET", address, trusted=False) == "ok")
        return manager

    def start_scheduler(self) -> Program:
        """Starts the scheduler."""
        port = held_port()
        config = self.kubeconfig("system:kube-scheduler")
        scheduler = self._start(
            "scheduler",
            *(f"--kubeconfig={config}", f"--authentication-kubeconfig={config}"),
            *(f"--authorization-kubeconfig={config}", "--bind-address=127.0.0.1", f"--secure-port={port}"),
            *(f"--cert-dir={self.folder}/scheduler", "--leader-elect=false"),
        )
        address = f"https://127.0.0.1:{port}/healthz"
        scheduler.wait(lambda: self._text("GET", address, trusted=False) == "ok")
        return scheduler

    def program(self, name: str) -> Program:
        """A program that was started."""
        return self._programs[name]

    def stop(self) -> None:
        """Ends everything, the clients of others first."""
        for name in ("scheduler", "controller-manager", "apiserver", "etcd"):
            if name in self._programs:
                self._programs[name].stop()

    # Requests of the tests

    def _text(
        self, method: str, url: str, body: bytes | None = None, token: str = "", *, trusted: bool = True
    ) -> str:
        headers = {"Content-Type": "application/json"}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        handlers: list[urllib.request.BaseHandler] = [urllib.request.ProxyHandler({})]
        if url.startswith("https"):
            context = ssl.create_default_context(cafile=str(self.ca_file))
            if not trusted:
                context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            handlers.append(urllib.request.HTTPSHandler(context=context))
        request = urllib.request.Request(url, method=method, data=body, headers=headers)
        with urllib.request.build_opener(*handlers).open(request, timeout=20) as answer:
            return str(answer.read().decode())

    def call(self, method: str, path: str, body: object = None, *, user: str = "admin") -> Any:
        """A request of a user; an answer of 400 and above is an HTTPError."""
        data = None if body is None else json.dumps(body).encode()
        return json.loads(self._text(method, self.url + path, data, self.tokens[user]))

    def send_all(self, method: str, requests: Sequence[tuple[str, object]], *, threads: int = 4) -> list[str]:
        """Sends many requests as the administrator; gives for each the server's refusal, or nothing."""

        def send(part: Sequence[tuple[str, object]]) -> list[str]:
            context = ssl.create_default_context(cafile=str(self.ca_file))
            connection = http.client.HTTPSConnection("127.0.0.1", self.port, context=context, timeout=30)
            refusals = []
            for path, body in part:
                headers = {
                    "Authorization": f"Bearer {self.tokens['admin']}",
                    "Content-Type": "application/json",
                }
                data = None if body is None else json.dumps(body)
                connection.request(method, path, data, headers)
                answer = connection.getresponse()
                said = answer.read()
                refusals.append(_refusal(answer.status, said))
            connection.close()
            return refusals

        parts = [requests[start::threads] for start in range(threads)]
        with ThreadPoolExecutor(threads) as pool:
            answers = list(pool.map(send, parts))
        return [answers[number % threads][number // threads] for number in range(len(requests))]

    def kubectl(self, *arguments: str, text: str | None = None) -> subprocess.CompletedProcess[bytes]:
        """The rig's kubectl, as the administrator."""
        environment = {**os.environ, "KUBECONFIG": str(self.kubeconfig()), "NO_PROXY": "127.0.0.1"}
        return subprocess.run(
            [str(self.binary), "kubectl", f"--cache-dir={self.folder}/kubectl", *arguments],
            input=None if text is None else text.encode("utf-8", "surrogateescape"),
            env=environment,
            capture_output=True,
            check=False,
            timeout=60,
        )

    def account_token(self, namespace: str, name: str) -> str:
        """A token of a service account."""
        answer = self.call(
            "POST",
            f"/api/v1/namespaces/{namespace}/serviceaccounts/{name}/token",
            {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}},
        )
        return str(answer["status"]["token"])

    def compact(self) -> None:
        """Makes etcd forget all but the newest state, so that older lists cannot go on."""
        key = base64.b64encode(b"\0").decode()
        whole = json.dumps({"key": key, "range_end": key, "count_only": True}).encode()
        header = json.loads(self._text("POST", self.etcd_url + "/v3/kv/range", whole))["header"]
        order = json.dumps({"revision": header["revision"], "physical": True}).encode()
        self._text("POST", self.etcd_url + "/v3/kv/compaction", order)

    def audit(self, user: str) -> list[Mapping[str, Any]]:
        """What the API server noted of a user's requests."""
        lines = self.audit_log.read_text().splitlines() if self.audit_log.exists() else []
        return [one for line in lines if (one := json.loads(line))["user"].get("username") == user]


@contextmanager
def control_plane(*, api_args: Sequence[str] = ()) -> Iterator[ControlPlane]:
    """A running control plane, removed at the end."""
    binary()
    with tempfile.TemporaryDirectory(prefix="pilotage-kube-", ignore_cleanup_errors=True) as folder:
        plane = ControlPlane(Path(folder), api_args)
        try:
            yield plane.start()
        finally:
            plane.stop()
