"""Credential plugins: the `exec` entry of a kubeconfig's user, as client-go runs them."""

from __future__ import annotations

import dataclasses
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pilotage.clients import process
from pilotage.clients.kubernetes.kubeconfig import Cluster, User
from pilotage.core.errors import BadReply, ConfigError, Refused, ToolMissing, Unreachable

PLUGIN_SECONDS = 60.0
"""A plugin may open a browser for somebody to log in; one that hangs shall not hold the run for ever."""
_MOST_ERROR_CHARACTERS = 300
_BY_HAND = "Run it by hand to see what it prints."


def credentials_of(user: User, cluster: Cluster, *, seconds: float = PLUGIN_SECONDS) -> User:
    """The user with what its plugin says.

    Args:
        user: one with a plugin.
        cluster: told to the plugin where it asks for it.
        seconds: how long it may take.

    Raises:
        ConfigError: the entry cannot be used, or the program does not exist.
        Refused: the plugin ended with an error.
        Unreachable: it did not end in time.
        BadReply: what it said is no `ExecCredential`.
    """
    plugin = user.plugin or {}
    command, version = plugin.get("command"), plugin.get("apiVersion")
    where = f"{user.origin}: the credential plugin of user {user.name}"
    if not isinstance(command, str) or not command or not isinstance(version, str):
        raise ConfigError(f"{where} needs a command and an apiVersion")
    if os.sep in command:
        # Absolute, or a path from here would become a name that is looked for on the PATH.
        command = str((user.folder / command).absolute())
    arguments = [str(item) for item in plugin.get("args") or []]
    variables = _variables(plugin) | {"KUBERNETES_EXEC_INFO": _info(plugin, version, cluster)}
    status = _status(_run([command, *arguments], variables, where, seconds, plugin), version, where)
    return dataclasses.replace(
        user,
        token=str(status.get("token") or user.token),
        certificate=str(status.get("clientCertificateData") or user.certificate),
        key=str(status.get("clientKeyData") or user.key),
        plugin=None,
    )


def _variables(plugin: Mapping[str, Any]) -> dict[str, str]:
    return {
        str(item["name"]): str(item.get("value", ""))
        for item in plugin.get("env") or []
        if isinstance(item, dict) and "name" in item
    }


def _interactive(plugin: Mapping[str, Any]) -> bool:
    return plugin.get("interactiveMode") != "Never" and sys.stdin is not None and sys.stdin.isatty()


def _info(plugin: Mapping[str, Any], version: str, cluster: Cluster) -> str:
    spec: dict[str, Any] = {"interactive": _interactive(plugin)}
    if plugin.get("provideClusterInfo"):
        spec["cluster"] = {
            key: cluster.data[key]
            for key in (
                "server",
                "certificate-authority-data",
                "insecure-skip-tls-verify",
                "tls-server-name",
                "proxy-url",
            )
            if key in cluster.data
        }
    return json.dumps({"apiVersion": version, "kind": "ExecCredential", "spec": spec})


def _run(
    command: list[str], variables: Mapping[str, str], where: str, seconds: float, plugin: Mapping[str, Any]
) -> bytes:
    try:
        done = process.run(command, variables=variables, limit_seconds=seconds, terminal=_interactive(plugin))
    except ToolMissing as error:
        hint = str(plugin.get("installHint") or f"Install {Path(command[0]).name}.")
        raise ConfigError(f"{where} is not installed: {command[0]}", hint=hint) from error
    except Refused as error:
        raise ConfigError(
            f"{where} cannot be started: {error.message}", hint="Make it executable, or name another."
        ) from error
    except Unreachable as error:
        raise Unreachable(
            f"{where} did not answer in {seconds:g} s: {command[0]}",
            hint="Log in by hand, then run it again.",
        ) from error
    except BadReply as error:
        raise BadReply(f"{where}: {error.message}", hint=_BY_HAND) from error
    if done.code:
        said = " ".join(done.err.split())[-_MOST_ERROR_CHARACTERS:]
        raise Refused(
            f"{where} ended with code {done.code}: {said or command[0]}",
            hint="Run `kubectl get namespaces` to see whether it works there; perhaps a login has run out.",
        )
    return done.out


def _status(output: bytes, version: str, where: str) -> Mapping[str, Any]:
    try:
        said = json.loads(output)
    except ValueError as error:
        raise BadReply(f"{where} did not print JSON", hint=_BY_HAND) from error
    status = said.get("status") if isinstance(said, dict) else None
    if not isinstance(status, dict):
        raise BadReply(f"{where} printed no ExecCredential with a status", hint=_BY_HAND)
    if said.get("apiVersion") != version:
        raise BadReply(f"{where} answers in {said.get('apiVersion')}, the kubeconfig asks for {version}")
    if not status.get("token") and not (status.get("clientCertificateData") and status.get("clientKeyData")):
        raise BadReply(f"{where} gave neither a token nor a certificate with its key", hint=_BY_HAND)
    return status
