"""What else changes with an API version: the whole of a move to one that is served."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec

from pilotage.checks.model import Operation, Patch
from pilotage.checks.objects import KubeObject
from pilotage.checks.plain_words import plain_value
from pilotage.checks.tables import read_table
from pilotage.checks.values import KeyPath, as_list, as_map, as_text, dig
from pilotage.core.regex import regex


class Migration(msgspec.Struct, frozen=True):
    """What to do about an object of a version that goes.

    Attributes:
        fix: what to write, whole.
        patch: the change, where nobody has to think about it.
    """

    fix: str
    patch: Patch = ()


class _Change(msgspec.Struct, frozen=True):
    """What changes beside the version.

    Attributes:
        told: what is to be done, clauses that follow `Write X`.
        steps: the same as operations; None where somebody has to decide.
    """

    told: tuple[str, ...] = ()
    steps: Patch | None = ()


def migration(one: KubeObject, instead: str) -> Migration:
    """How an object gets to a version that is served.

    Args:
        one: the object.
        instead: the version to write, with the kind where that is another one; empty for none.
    """
    if not instead:
        return Migration(
            _WITHOUT_SUCCESSOR.get(one.kind, "Do without it: nothing replaces it under this name.")
        )
    if " " in instead:
        version, _, kind = instead.partition(" ")
        return Migration(f"Write `kind: {kind}` of `{version}`, and see what its fields are called there.")
    change = _CHANGES.get(one.kind, _unknown)(one)
    fix = f"Write `{instead}`" + "".join(f"; {clause}" for clause in change.told) + "."
    if change.steps is None:
        return Migration(fix)
    return Migration(fix, (Operation("replace", ("apiVersion",), instead), *change.steps))


_WITHOUT_SUCCESSOR = {
    "PodSecurityPolicy": "It has no successor: label each namespace with "
    "`pod-security.kubernetes.io/enforce` and the level that lets its pods in (`restricted`, `baseline`, or "
    "`privileged` where they need that), which the API server itself holds to; a ValidatingAdmissionPolicy "
    "can demand what no level does. Then drop the policy and the roles that `use` it.",
    "PodPreset": "It has no successor: write the variables and volumes in the pods, or have a "
    "MutatingWebhookConfiguration add them.",
    "InitializerConfiguration": "It has no successor: a MutatingWebhookConfiguration does now what "
    "initializers did. Where a cloud's controller came with it, see what its present release installs.",
}


def _same(_: KubeObject) -> _Change:
    """The fields of the old version are those of the new one."""
    return _Change()


def _unknown(_: KubeObject) -> _Change:
    return _Change(("compare its fields with those of the new version, since some may have changed",), None)


def _workload(one: KubeObject) -> _Change:
    told: list[str] = []
    steps: list[Operation] = []
    thinks = False
    if not as_map(one.spec.get("selector")):
        labels = as_map(dig(one.spec, "template", "metadata", "labels"))
        if labels:
            told.append(
                f"it demands `spec.selector`: `matchLabels: {_flow(labels)}`, as its pods are labelled"
            )
            steps.append(Operation("add", ("spec", "selector"), {"matchLabels": dict(labels)}))
        else:
            told.append("it demands `spec.selector`, and labels of the pod template that it matches")
            thinks = True
    for key in ("rollbackTo", "templateGeneration"):
        if key in one.spec:
            told.append(f"`spec.{key}` goes")
            steps.append(Operation("remove", ("spec", key)))
    if (one.api_version, one.kind) in _ON_DELETE and not one.spec.get("updateStrategy"):
        told.append(
            "without `spec.updateStrategy` it then replaces its pods at every change (`RollingUpdate`), "
            "where before each had to be deleted (`OnDelete`)"
        )
        thinks = True
    return _Change(tuple(told), None if thinks else tuple(steps))


_ON_DELETE = {("extensions/v1beta1", "DaemonSet"), ("apps/v1beta1", "StatefulSet")}


def _ingress(one: KubeObject) -> _Change:
    told: list[str] = []
    steps: list[Operation] = []
    backends = list(_backends(one.spec))
    if backends:
        first = _flow(_service(backends[0][1]))
        told.append(f"a backend is then `service: {first}`, without `serviceName` and `servicePort`")
    for path, backend in backends:
        steps.append(Operation("add", (*path, "service"), _service(backend)))
        steps.extend(
            Operation("remove", (*path, key)) for key in ("serviceName", "servicePort") if key in backend
        )
    untyped = [path for path, item in _paths(one.spec) if not item.get("pathType")]
    if untyped:
        told.append("each path needs a `pathType` (`ImplementationSpecific` is what it had)")
        steps.extend(Operation("add", (*path, "pathType"), "ImplementationSpecific") for path in untyped)
    if "backend" in one.spec:
        told.append("`spec.backend` is called `spec.defaultBackend`")
        steps.append(Operation("move", ("spec", "defaultBackend"), source=("spec", "backend")))
    return _Change(tuple(told), tuple(steps))


def _paths(spec: Mapping[str, Any]) -> Iterator[tuple[KeyPath, Mapping[str, Any]]]:
    for number, rule in enumerate(as_list(spec.get("rules"))):
        for at, item in enumerate(as_list(dig(rule, "http", "paths"))):
            yield ("spec", "rules", number, "http", "paths", at), as_map(item)


def _backends(spec: Mapping[str, Any]) -> Iterator[tuple[KeyPath, Mapping[str, Any]]]:
    for path, item in _paths(spec):
        if "serviceName" in as_map(item.get("backend")):
            yield (*path, "backend"), as_map(item["backend"])
    if "serviceName" in as_map(spec.get("backend")):
        yield ("spec", "backend"), as_map(spec["backend"])


def _service(backend: Mapping[str, Any]) -> dict[str, Any]:
    port = str(backend.get("servicePort", ""))
    by = {"number": int(port)} if port.isascii() and port.isdigit() else {"name": port}
    return {"name": as_text(backend.get("serviceName")), "port": by}


def _flow(value: Mapping[str, Any]) -> str:
    """A mapping in one line of YAML: `{name: web, port: {number: 80}}`."""
    inner = ", ".join(f"{key}: {_word(item)}" for key, item in value.items())
    return "{" + inner + "}"


def _word(item: Any) -> str:
    if isinstance(item, dict):
        return _flow(item)
    plain = isinstance(item, str) and _PLAIN.fullmatch(item) and plain_value(item) == item
    return item if plain else json.dumps(item, ensure_ascii=False)


_PLAIN = regex(r"[A-Za-z][\w.-]*", re.ASCII)


def _definition(one: KubeObject) -> _Change:
    spec = one.spec
    told: list[str] = []
    if not spec.get("versions"):
        told.append(
            "`spec.version` becomes an item of `spec.versions` with `served: true` and `storage: true`"
        )
    if "validation" in spec:
        told.append("`spec.validation` becomes `schema` of each version, with a `type` for each part of it")
    elif not all("schema" in as_map(item) for item in as_list(spec.get("versions")) or [{}]):
        told.append(
            "each version needs `schema.openAPIV3Schema`, with a `type` for each part and "
            "`x-kubernetes-preserve-unknown-fields: true` where the fields are not known"
        )
    for key, renamed in _OF_EACH_VERSION.items():
        if key in spec:
            told.append(f"`spec.{key}` goes into each version{renamed}")
    if spec.get("preserveUnknownFields", True) is True:
        told.append("what the schema does not name is then dropped")
    if "webhookClientConfig" in as_map(spec.get("conversion")):
        told.append("`spec.conversion.webhookClientConfig` becomes `webhook.clientConfig` there")
    group = as_text(spec.get("group"))
    if f".{group}".endswith((".k8s.io", ".kubernetes.io")) and _APPROVED not in one.annotations:
        told.append(f"a group of that name needs the annotation `{_APPROVED}`")
    if any(key.startswith("controller-gen") for key in one.annotations):
        told.append("a present controller-gen writes all of this by itself")
    return _Change(tuple(told), None)


_APPROVED = "api-approved.kubernetes.io"
_OF_EACH_VERSION = {"subresources": "", "additionalPrinterColumns": " (`JSONPath` is `jsonPath` there)"}


def _webhooks(one: KubeObject) -> _Change:
    hooks = [as_map(item) for item in as_list(one.get("webhooks"))]
    told: list[str] = []
    if any(as_text(hook.get("sideEffects")) not in _NO_EFFECTS for hook in hooks):
        told.append("each webhook needs `sideEffects: None` (or `NoneOnDryRun`), which must be true of it")
    if any(not hook.get("admissionReviewVersions") for hook in hooks):
        told.append("each webhook needs `admissionReviewVersions` (`[v1beta1]` is what it had)")
    changed = [
        f"`{key}` becomes {after} (it was {before})"
        for key, before, after in _WEBHOOK_DEFAULTS
        if any(key not in hook for hook in hooks)
    ]
    if changed:
        told.append(f"where it is not written, {' and '.join(changed)}")
    return _Change(tuple(told), None if told else ())


_NO_EFFECTS = {"None", "NoneOnDryRun"}
_WEBHOOK_DEFAULTS = (("failurePolicy", "`Ignore`", "`Fail`"), ("timeoutSeconds", "30", "10"))


def _autoscaler(one: KubeObject) -> _Change:
    if one.api_version != "autoscaling/v2beta1":
        return _Change()
    metrics = as_list(one.spec.get("metrics"))
    if not metrics:
        return _Change()
    steps: list[Operation] = []
    for number, metric in enumerate(metrics):
        resource = as_map(dig(metric, "resource"))
        old = next((key for key in _TARGETS if key in resource), "")
        if not old:
            return _Change((_TARGET_TOLD,), None)
        kind, new = _TARGETS[old]
        path: KeyPath = ("spec", "metrics", number, "resource")
        steps.append(Operation("add", (*path, "target"), {"type": kind, new: resource[old]}))
        steps.append(Operation("remove", (*path, old)))
    return _Change((_TARGET_TOLD,), tuple(steps))


_TARGETS = {
    "targetAverageUtilization": ("Utilization", "averageUtilization"),
    "targetAverageValue": ("AverageValue", "averageValue"),
}
_TARGET_TOLD = (
    "what a metric aims at stands in its `target`: `targetAverageUtilization: 80` is "
    "`target: {type: Utilization, averageUtilization: 80}`"
)


def _budget(one: KubeObject) -> _Change:
    if one.spec.get("selector") != {}:
        return _Change()
    return _Change(("an empty selector, which chose no pod, then chooses all of the namespace",), None)


def _signing(one: KubeObject) -> _Change:
    wanted = [key for key in ("signerName", "usages") if not one.spec.get(key)]
    return _Change(tuple(f"it demands `spec.{key}`" for key in wanted), None if wanted else ())


def _slice(one: KubeObject) -> _Change:
    if not any("topology" in as_map(item) for item in as_list(one.get("endpoints"))):
        return _Change()
    return _Change(("`topology` of an endpoint becomes its `nodeName` and `zone`",), None)


def _level(one: KubeObject) -> _Change:
    if dig(one.spec, "limited", "assuredConcurrencyShares") is None:
        return _Change()
    path: KeyPath = ("spec", "limited")
    return _Change(
        ("`assuredConcurrencyShares` is called `nominalConcurrencyShares`",),
        (Operation("move", (*path, "nominalConcurrencyShares"), source=(*path, "assuredConcurrencyShares")),),
    )


def _storage_class(one: KubeObject) -> _Change:
    row = _drivers().get(as_text(one.get("provisioner")))
    if row is None:
        return _Change()
    told = f"its volumes come from the CSI driver `{row['driver']}` now, which has to be installed"
    only = as_map(row.get("only"))
    parameters = as_map(one.get("parameters"))
    changed = [
        f"`{key}: {value}` becomes `{key}: {only[key.lower()]}`, the only one that it makes"
        for key, value in parameters.items()
        if as_text(value).lower() != as_text(only.get(key.lower(), value)).lower()
    ]
    refused = [
        f"`parameters.{key}` goes, since it refuses that"
        for key in parameters
        if key.lower() in as_list(row.get("refused"))
    ]
    return _Change((told, *changed, *refused), None if changed or refused else ())


@functools.cache
def _drivers() -> Mapping[str, Mapping[str, Any]]:
    """Provisioner -> its row of `data/provisioners.yaml`."""
    return {
        as_text(dig(row, "provisioner")): as_map(row)
        for row in as_list(read_table("schema/data/provisioners.yaml"))
    }


_CHANGES: dict[str, Callable[[KubeObject], _Change]] = {
    **dict.fromkeys(("DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"), _workload),
    **dict.fromkeys(("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"), _webhooks),
    **dict.fromkeys(
        (
            "APIService ClusterRole ClusterRoleBinding Role RoleBinding CronJob CSIDriver CSINode "
            "CSIStorageCapacity ControllerRevision DeviceClass FlowSchema IngressClass IPAddress Lease "
            "NetworkPolicy PriorityClass RuntimeClass ServiceCIDR VolumeAttachment "
            "ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding VolumeAttributesClass"
        ).split(),
        _same,
    ),
    "CertificateSigningRequest": _signing,
    "CustomResourceDefinition": _definition,
    "EndpointSlice": _slice,
    "HorizontalPodAutoscaler": _autoscaler,
    "Ingress": _ingress,
    "PodDisruptionBudget": _budget,
    "PriorityLevelConfiguration": _level,
    "StorageClass": _storage_class,
}
"""What changes between any version that was taken away and the one that replaces it, by kind."""
