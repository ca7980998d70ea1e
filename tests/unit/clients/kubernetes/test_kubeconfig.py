"""Kubeconfig files: every way to say who we are, and one clear message for each thing that can be wrong."""

from __future__ import annotations

import base64
import json
import stat
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from pilotage.clients import process
from pilotage.clients.kubernetes.access import Access, read_access
from pilotage.clients.kubernetes.kubeconfig import read_kubeconfig
from pilotage.clients.kubernetes.plugin import credentials_of
from pilotage.core.errors import BadReply, ConfigError, NotFound, PilotageError, Refused, Unreachable
from rig.certificates import Authority


@pytest.fixture(autouse=True)
def nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in (
        "KUBECONFIG",
        "KUBERNETES_SERVICE_HOST",
        "HTTPS_PROXY",
        "https_proxy",
        "NO_PROXY",
        "no_proxy",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


def config(**parts: Any) -> dict[str, Any]:
    """A kubeconfig of one context, with parts of its cluster, user and context replaced."""
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "one",
        "clusters": [
            {"name": "c", "cluster": {"server": "https://k.example:6443", **parts.get("cluster", {})}}
        ],
        "users": [{"name": "u", "user": parts.get("user", {"token": "t0"})}],
        "contexts": [{"name": "one", "context": {"cluster": "c", "user": "u", **parts.get("context", {})}}],
        **parts.get("top", {}),
    }


def write(folder: Path, value: Any, name: str = "config") -> str:
    path = folder / name
    path.write_text(value if isinstance(value, str) else yaml.safe_dump(value))
    return str(path)


def access(folder: Path, context: str | None = None, **parts: Any) -> Access:
    return read_access(write(folder, config(**parts)), context)


def test_a_token_goes_along_as_bearer(tmp_path: Path) -> None:
    found = access(tmp_path)
    assert found.server == "https://k.example:6443"
    assert found.headers == {"Authorization": "Bearer t0"}
    assert "t0" not in repr(found)


def test_a_token_file_beats_the_token(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("from-file\n")
    assert (
        access(tmp_path, user={"tokenFile": "token", "token": "old"}).headers["Authorization"]
        == "Bearer from-file"
    )


def test_a_name_and_password_are_sent_as_basic(tmp_path: Path) -> None:
    header = access(tmp_path, user={"username": "me", "password": "pw"}).headers["Authorization"]
    assert header == "Basic " + base64.b64encode(b"me:pw").decode()


def test_a_user_may_act_as_another(tmp_path: Path) -> None:
    assert access(tmp_path, user={"token": "t", "as": "ops"}).headers["Impersonate-User"] == "ops"


def test_an_old_provider_still_gives_its_token(tmp_path: Path) -> None:
    user = {"auth-provider": {"name": "oidc", "config": {"id-token": "idt"}}}
    assert access(tmp_path, user=user).headers == {"Authorization": "Bearer idt"}


def test_a_context_without_a_user_comes_with_nothing(tmp_path: Path) -> None:
    assert (
        access(
            tmp_path, context=None, top={"contexts": [{"name": "one", "context": {"cluster": "c"}}]}
        ).headers
        == {}
    )


def test_certificates_are_taken_as_data_and_as_files(tmp_path: Path) -> None:
    authority = Authority()
    certificate, key = authority.client("me")
    as_data = {
        "client-certificate-data": base64.b64encode(certificate.encode()).decode(),
        "client-key-data": base64.b64encode(key.encode()).decode(),
    }
    ca = {"certificate-authority-data": base64.b64encode(authority.pem.encode()).decode()}
    found = access(tmp_path, user=as_data, cluster=ca)
    assert found.tls is not None
    assert len(found.tls.get_ca_certs()) == 1
    for name, text in (("ca.crt", authority.pem), ("me.crt", certificate), ("me.key", key)):
        (tmp_path / name).write_text(text)
    as_files = {"client-certificate": "me.crt", "client-key": "me.key"}
    again = access(tmp_path, user=as_files, cluster={"certificate-authority": "ca.crt"})
    assert again.tls is not None
    assert len(again.tls.get_ca_certs()) == 1


def test_insecure_takes_any_certificate(tmp_path: Path) -> None:
    tls = access(tmp_path, cluster={"insecure-skip-tls-verify": True, "certificate-authority": "absent"}).tls
    assert tls is not None
    assert not tls.check_hostname


def test_plain_http_needs_no_certificates(tmp_path: Path) -> None:
    assert access(tmp_path, cluster={"server": "http://localhost:8001/"}).tls is None


def test_proxy_namespace_and_server_name_are_kept(tmp_path: Path) -> None:
    cluster = {"proxy-url": "http://proxy.example:3128", "tls-server-name": "kubernetes"}
    found = access(tmp_path, cluster=cluster)
    assert (found.proxy, found.server_name) == ("http://proxy.example:3128", "kubernetes")


def test_the_proxy_of_the_environment_is_used_but_not_for_loopback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "proxy.example:3128")
    assert access(tmp_path).proxy == "http://proxy.example:3128"
    assert access(tmp_path, cluster={"server": "https://127.0.0.1:6443"}).proxy == ""
    monkeypatch.setenv("NO_PROXY", "k.example")
    assert access(tmp_path).proxy == ""


def test_several_files_are_merged_and_the_first_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = write(
        tmp_path, {"current-context": "two", "users": [{"name": "u", "user": {"token": "first"}}]}, "a"
    )
    second = config(user={"token": "second"})
    second["contexts"].append({"name": "two", "context": {"cluster": "c", "user": "u", "namespace": "ns"}})
    monkeypatch.setenv("KUBECONFIG", f"{first}:{tmp_path / 'absent'}:{write(tmp_path, second, 'b')}")
    found = read_access()
    assert found.headers["Authorization"] == "Bearer first"
    assert found.namespace == "ns"
    assert "context two" in found.origin


def test_inside_of_a_pod_its_account_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pilotage.clients.kubernetes.access._POD", tmp_path)
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "fd00::1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "443")
    with pytest.raises(ConfigError, match="cannot be read"):
        read_access()
    (tmp_path / "token").write_text("pod-token\n")
    (tmp_path / "ca.crt").write_text(Authority().pem)
    (tmp_path / "namespace").write_text("audit")
    found = read_access()
    assert found.server == "https://[fd00::1]:443"
    assert found.headers == {"Authorization": "Bearer pod-token"}
    assert found.namespace == "audit"


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("a: [", "cannot be read"),
        ("- a\n", "holds no kubeconfig"),
        ("", "holds no kubeconfig"),
        ({"contexts": {"a": 1}}, "contexts must be a list"),
        ({"users": [{"user": {}}]}, "an item of users has no name"),
        ({"contexts": []}, "no context is current"),
        (
            {"current-context": "gone", "contexts": [{"name": "gome", "context": {}}]},
            "there is no context 'gone'",
        ),
        (config(context={"cluster": "x"}), "there is no cluster 'x' (of context one)"),
        (config(context={"user": "x"}), "there is no user 'x' (of context one)"),
        (config(cluster={"server": "ftp://x"}), "is no address"),
        (config(cluster={"server": ""}), "is no address"),
        (config(cluster={"server": "https://h:99999"}), "is no address"),
        (config(cluster={"server": 6443}), "server must be text"),
        (config(cluster={"certificate-authority-data": "bm8="}), "no PEM certificate"),
        (config(cluster={"certificate-authority-data": "AAA"}), "is not base64"),
        (config(cluster={"certificate-authority": "absent.crt"}), "which cannot be read"),
        (config(cluster={"proxy-url": "socks5://p:1"}), "is not an HTTP proxy"),
        (config(user={"tokenFile": "absent"}), "tokenFile names"),
        (config(user={"token": "a\nb"}), "holds a line end"),
        (
            config(user={"client-certificate-data": base64.b64encode(b"no").decode()}),
            "cannot be used together",
        ),
        (config(user={"exec": {"command": "x"}}), "needs a command and an apiVersion"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(tmp_path: Path, value: Any, words: str) -> None:
    path = write(tmp_path, value)
    with pytest.raises(PilotageError) as caught:
        read_access(path)
    assert words in caught.value.message
    assert path in caught.value.message
    assert isinstance(caught.value, ConfigError | NotFound)


def test_a_file_that_was_named_must_exist(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="does not exist"):
        read_access(str(tmp_path / "absent"))
    with pytest.raises(NotFound, match="there is no kubeconfig"):
        read_access()


def test_a_mistyped_context_is_answered_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(NotFound) as caught:
        access(tmp_path, context="onne")
    assert "one" in caught.value.hint


# Credential plugins

API = "client.authentication.k8s.io/v1"


def plugin(folder: Path, body: str, **entry: Any) -> dict[str, Any]:
    """A user whose plugin is a Python program."""
    path = folder / "plugin"
    path.write_text(f"#!{sys.executable}\nimport json, os, sys, time\n{body}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return {"exec": {"apiVersion": API, "command": "./plugin", **entry}}


SAYS = """print(json.dumps({"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential",
    "status": {"token": "-".join([os.environ["EXTRA"], *sys.argv[1:],
    json.loads(os.environ["KUBERNETES_EXEC_INFO"])["spec"]["cluster"]["server"]])}}))"""


def test_a_plugin_is_asked_with_its_arguments_variables_and_the_cluster(tmp_path: Path) -> None:
    entry = {"args": ["a", "b"], "env": [{"name": "EXTRA", "value": "x"}], "provideClusterInfo": True}
    found = access(tmp_path, user=plugin(tmp_path, SAYS, **entry))
    assert found.headers == {"Authorization": "Bearer x-a-b-https://k.example:6443"}


def test_a_plugin_may_give_a_certificate(tmp_path: Path) -> None:
    certificate, key = Authority().client("me")
    status = json.dumps(
        {"apiVersion": API, "status": {"clientCertificateData": certificate, "clientKeyData": key}}
    )
    found = access(tmp_path, user=plugin(tmp_path, f"print({status!r})"))
    assert found.tls is not None
    assert found.headers == {}


@pytest.mark.parametrize(
    ("body", "error", "words"),
    [
        ("sys.exit('please log in')", Refused, "please log in"),
        ("print('hello')", BadReply, "did not print JSON"),
        ("print('{}')", BadReply, "no ExecCredential"),
        (
            "print(json.dumps({'apiVersion': 'other/v1', 'status': {'token': 'x'}}))",
            BadReply,
            "answers in other/v1",
        ),
        (f"print(json.dumps({{'apiVersion': '{API}', 'status': {{}}}}))", BadReply, "neither a token nor"),
    ],
)
def test_a_plugin_that_fails_is_named(
    tmp_path: Path, body: str, error: type[PilotageError], words: str
) -> None:
    with pytest.raises(error) as caught:
        access(tmp_path, user=plugin(tmp_path, body))
    assert words in caught.value.message
    assert "credential plugin of user u" in caught.value.message


def test_a_plugin_that_is_not_installed_is_named_with_its_hint(tmp_path: Path) -> None:
    user = {"exec": {"apiVersion": API, "command": "no-such-login", "installHint": "Get it from us."}}
    with pytest.raises(ConfigError) as caught:
        access(tmp_path, user=user)
    assert "is not installed: no-such-login" in caught.value.message
    assert caught.value.hint == "Get it from us."


def test_a_plugin_that_hangs_is_given_up(tmp_path: Path) -> None:
    path = write(tmp_path, config(user=plugin(tmp_path, "time.sleep(600)")))
    parsed = read_kubeconfig([path])
    context = parsed.context(None)
    with pytest.raises(Unreachable, match=r"did not answer in 0\.2 s"):
        credentials_of(parsed.user(context), parsed.cluster(context), seconds=0.2)


def test_a_plugin_beside_a_kubeconfig_that_is_named_without_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(
        tmp_path,
        config(user=plugin(tmp_path, SAYS, env=[{"name": "EXTRA", "value": "x"}], provideClusterInfo=True)),
    )
    monkeypatch.chdir(tmp_path)
    assert read_access("config").headers


def test_what_a_plugin_says_is_one_line_and_has_an_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(Refused, match="ended with code 3: one two$"):
        access(tmp_path, user=plugin(tmp_path, "sys.stderr.write('one\\n  two\\n'); sys.exit(3)"))
    monkeypatch.setattr(process, "MOST_BYTES", 2**20)
    with pytest.raises(BadReply, match="credential plugin of user u: plugin writes more than 1 MiB"):
        access(tmp_path, user=plugin(tmp_path, "print('x' * 2**21)"))
