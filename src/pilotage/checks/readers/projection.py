"""What is kept of an object of a cluster: the parts that checks read, so that memory stays in bounds.

The projection is lossless for every check: `tests/unit/checks/test_projection.py` runs all of them on their
fixtures with and without it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from typing import Any

import orjson

from pilotage.checks.readers.embedded import may_be_configuration
from pilotage.checks.values import as_int, as_list, as_map, as_text
from pilotage.checks.workloads import APPLIED_REPLICAS, SCALED
from pilotage.core.regex import regex

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"

_METADATA = (
    "name",
    "generateName",
    "namespace",
    "labels",
    "annotations",
    "creationTimestamp",
    "deletionTimestamp",
    "finalizers",
)
_OWNER = ("apiVersion", "kind", "name", "controller")
_NOBODY_ASKS = frozenset(
    {
        "deployment.kubernetes.io/revision",
        "kubectl.kubernetes.io/restartedAt",
        "control-plane.alpha.kubernetes.io/leader",
        "pv.kubernetes.io/bind-completed",
        "pv.kubernetes.io/bound-by-controller",
    }
)
"""Annotations that controllers write for themselves."""

_STATUS: dict[str, tuple[str, ...]] = {
    "APIService": ("conditions",),
    "Application": ("health", "sync"),
    "Certificate": ("conditions", "notAfter"),
    "CronJob": ("lastScheduleTime", "lastSuccessfulTime"),
    "CustomResourceDefinition": ("storedVersions",),
    "DaemonSet": ("desiredNumberScheduled", "numberReady"),
    "Deployment": ("replicas", "readyReplicas"),
    "HorizontalPodAutoscaler": ("currentReplicas", "desiredReplicas"),
    "Job": ("active", "succeeded", "failed", "startTime", "completionTime"),
    "Namespace": ("phase",),
    "Node": ("nodeInfo", "allocatable", "capacity"),
    "Pod": ("phase", "reason"),
    "PodDisruptionBudget": ("disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"),
    "ResourceQuota": ("hard", "used"),
    "Service": ("loadBalancer",),
    "StatefulSet": ("replicas", "readyReplicas"),
}
"""The parts of a status that say something about settings; the rest is the state of this minute."""

_LARGE = frozenset({"ConfigMap", "Secret"})
_TOLD_APART = frozenset({"CronJob", "NetworkPolicy"})
"""Kinds of which a check tells what the server filled in or left out from what somebody wrote."""
_BODY = ("kind", "apiVersion", "metadata", "status", "data", "binaryData", "stringData")
_SMALL_CHARACTERS = 4096
_LARGE_CHARACTERS = 2**20
_CONFIG_KEY = regex(r"(?i)(^traefik\.|\.(cfg|conf|tmpl|server|override)$|snippet|^config-)")
_CONFIG_WORD = regex("DeschedulerPolicy|KubeletConfiguration|max_heap_size_bytes")
_CONFIG = regex(
    r"^\s*(global|defaults|frontend \S+|backend \S+|listen \S+|(http|server|upstream \S+|\S+:53) *\{)\s*$",
    re.MULTILINE,
)

_interned: dict[str, str] = {}
_MOST_INTERNED = 20_000
_LONGEST_INTERNED = 120


def projected(data: Mapping[str, Any], kind: str, api_version: str) -> dict[str, Any]:
    """The parts of an object that checks read.

    Args:
        data: the object as the server gave it.
        kind: its kind, which items of a list leave out.
        api_version: likewise.
    """
    kept: dict[str, Any] = {"apiVersion": api_version, "kind": kind}
    kept["metadata"] = _metadata(as_map(data.get("metadata")))
    for key, value in data.items():
        if key not in _BODY:
            kept[key] = _shared(value)
    status = as_map(data.get("status"))
    if parts := {key: _shared(status[key]) for key in _STATUS.get(kind, ()) if key in status}:
        kept["status"] = parts
    if kind == "ConfigMap":
        kept |= _config_map(data)
    elif kind != "Secret":
        kept |= {key: _shared(data[key]) for key in ("data", "binaryData") if key in data}
    _annotations(kept, data)
    return kept


def _metadata(metadata: Mapping[str, Any]) -> dict[str, Any]:
    kept = {key: _shared(metadata[key]) for key in _METADATA if key in metadata and key != "annotations"}
    owners = [
        {key: _shared(owner[key]) for key in _OWNER if key in owner}
        for owner in as_list(metadata.get("ownerReferences"))
        if isinstance(owner, dict)
    ]
    if owners:
        kept["ownerReferences"] = owners
    return kept


def _annotations(kept: dict[str, Any], data: Mapping[str, Any]) -> None:
    annotations = as_map(as_map(data.get("metadata")).get("annotations"))
    found = {
        sys.intern(key): _shared(value)
        for key, value in annotations.items()
        if key not in _NOBODY_ASKS and key != LAST_APPLIED
    }
    text = annotations.get(LAST_APPLIED)
    if isinstance(text, str) and kept["kind"] in SCALED:
        found |= _applied_replicas(text)
    if (
        isinstance(text, str)
        and kept["kind"] not in _LARGE
        and (kept["kind"] in _TOLD_APART or _lost(text, data))
    ):
        found[LAST_APPLIED] = text
    if found:
        kept["metadata"]["annotations"] = found


def _applied_replicas(text: str) -> dict[str, str]:
    """Whether the manifest states the number of replicas: all that is wanted of a text that may be long."""
    try:
        applied = orjson.loads(text)
    except orjson.JSONDecodeError:
        return {}
    number = as_int(as_map(as_map(applied).get("spec")).get("replicas"))
    return {APPLIED_REPLICAS: "absent" if number is None else str(number)}


def _lost(text: str, data: Mapping[str, Any]) -> bool:
    """Whether the server dropped something that was applied: only then does the old text tell more."""
    try:
        applied = orjson.loads(text)
    except orjson.JSONDecodeError:
        return False
    if isinstance(applied, dict):
        applied.pop("status", None)
        as_map(applied.get("metadata")).pop("annotations", None)  # type: ignore[attr-defined]
    return not _within(applied, data)


def _within(applied: Any, live: Any) -> bool:
    """Whether every key that was written is there; values may differ, empty ones go without trace."""
    if isinstance(applied, dict):
        held = as_map(live)
        return all(
            _within(value, held[key]) if key in held else value in (None, "", [], {})
            for key, value in applied.items()
        )
    if isinstance(applied, list):
        items = as_list(live)
        # Items that another hand added or took away: what was lost can then not be told by position.
        return len(items) != len(applied) or all(map(_within, applied, items))
    return True


def _config_map(data: Mapping[str, Any]) -> dict[str, Any]:
    values = as_map(data.get("data"))
    found: dict[str, Any] = {}
    if "data" in data:
        found["data"] = {key: _config_value(key, value) for key, value in values.items()}
    if "binaryData" in data:
        found["binaryData"] = dict.fromkeys(as_map(data.get("binaryData")), "")
    return found


def _config_value(key: str, value: Any) -> Any:
    text = as_text(value)
    if len(text) <= _SMALL_CHARACTERS:
        return _shared(value)
    if len(text) <= _LARGE_CHARACTERS and _is_read(key, text):
        return text
    return f"({len(text)} characters that no check reads)"


def _is_read(key: str, text: str) -> bool:
    if _CONFIG_KEY.search(key) or _CONFIG_WORD.search(text) or _CONFIG.search(text):
        return True
    return text[:1] not in "{[" and may_be_configuration(key, text)


def _shared(value: Any) -> Any:
    """The same value, with one copy of every word that comes again and again."""
    if isinstance(value, str):
        return _shared_text(value)
    if isinstance(value, dict):
        return {_shared_text(key): _shared(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_shared(item) for item in value]
    return value


def _shared_text(text: str) -> str:
    if len(text) > _LONGEST_INTERNED:
        return text
    known = _interned.get(text)
    if known is not None:
        return known
    if len(_interned) < _MOST_INTERNED:
        _interned[text] = text
    return text
