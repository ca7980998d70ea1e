"""What a version that goes is replaced by: fixes that are whole, patches that the new definition takes."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from pilotage.checks.model import Patch
from pilotage.checks.objects import KubeObject
from pilotage.checks.schema.migration import Migration, migration
from pilotage.checks.schema.published import definitions
from pilotage.checks.values import KeyPath

LABELS = {"app": "web", "tier": "1"}
TEMPLATE = {
    "metadata": {"labels": LABELS},
    "spec": {"containers": [{"name": "a", "image": "registry.example/a:1"}]},
}
HOOK = {"name": "a.example", "clientConfig": {"url": "https://a.example"}, "rules": []}


def moved(version: str, kind: str, instead: str, **parts: Any) -> tuple[Migration, dict[str, Any]]:
    data = {"apiVersion": version, "kind": kind, "metadata": {"name": "old"}, **parts}
    return migration(KubeObject(data), instead), data


def patched(data: dict[str, Any], patch: Patch) -> dict[str, Any]:
    new = copy.deepcopy(data)

    def level(path: KeyPath) -> Any:
        found: Any = new
        for part in path[:-1]:
            found = found[part]
        return found

    for step in patch:
        if step.op in {"add", "replace"}:
            level(step.path)[step.path[-1]] = step.value
        else:
            value = level(step.source or step.path).pop((step.source or step.path)[-1])
            if step.op == "move":
                level(step.path)[step.path[-1]] = value
    return new


def fits(data: dict[str, Any]) -> bool:
    shape = definitions(36).of(data["apiVersion"], data["kind"])
    return shape is not None and shape.fits(data)


PATHS = [
    {"path": "/", "backend": {"serviceName": "web", "servicePort": 80}},
    {"path": "/b", "pathType": "Exact", "backend": {"serviceName": "on", "servicePort": "http"}},
]


@pytest.mark.parametrize(
    ("version", "kind", "instead", "parts"),
    [
        ("extensions/v1beta1", "Deployment", "apps/v1", {"spec": {"rollbackTo": {}, "template": TEMPLATE}}),
        (
            "apps/v1beta2",
            "DaemonSet",
            "apps/v1",
            {"spec": {"template": TEMPLATE, "selector": {"matchLabels": LABELS}}},
        ),
        (
            "extensions/v1beta1",
            "Ingress",
            "networking.k8s.io/v1",
            {
                "spec": {
                    "backend": {"serviceName": "a", "servicePort": "8080"},
                    "rules": [{"http": {"paths": PATHS}}],
                }
            },
        ),
        (
            "batch/v1beta1",
            "CronJob",
            "batch/v1",
            {"spec": {"schedule": "* * * * *", "jobTemplate": {"spec": {"template": TEMPLATE}}}},
        ),
        (
            "autoscaling/v2beta1",
            "HorizontalPodAutoscaler",
            "autoscaling/v2",
            {
                "spec": {
                    "maxReplicas": 3,
                    "scaleTargetRef": {"kind": "Deployment", "name": "a"},
                    "metrics": [
                        {"type": "Resource", "resource": {"name": "cpu", "targetAverageUtilization": 80}},
                        {"type": "Resource", "resource": {"name": "memory", "targetAverageValue": "1Gi"}},
                    ],
                }
            },
        ),
        (
            "flowcontrol.apiserver.k8s.io/v1beta1",
            "PriorityLevelConfiguration",
            "flowcontrol.apiserver.k8s.io/v1",
            {"spec": {"type": "Limited", "limited": {"assuredConcurrencyShares": 5}}},
        ),
        (
            "policy/v1beta1",
            "PodDisruptionBudget",
            "policy/v1",
            {"spec": {"minAvailable": 1, "selector": {"matchLabels": LABELS}}},
        ),
        (
            "storage.k8s.io/v1beta1",
            "StorageClass",
            "storage.k8s.io/v1",
            {"provisioner": "kubernetes.io/azure-disk", "parameters": {"kind": "Managed"}},
        ),
        (
            "admissionregistration.k8s.io/v1beta1",
            "ValidatingWebhookConfiguration",
            "admissionregistration.k8s.io/v1",
            {
                "webhooks": [
                    {
                        **HOOK,
                        "sideEffects": "None",
                        "admissionReviewVersions": ["v1"],
                        "failurePolicy": "Ignore",
                        "timeoutSeconds": 5,
                    }
                ]
            },
        ),
    ],
)
def test_a_patch_makes_what_the_new_version_takes(
    version: str, kind: str, instead: str, parts: dict[str, Any]
) -> None:
    move, data = moved(version, kind, instead, **parts)
    assert move.patch
    new = patched(data, move.patch)
    assert new["apiVersion"] == instead
    assert fits(new)


@pytest.mark.parametrize(
    ("version", "kind", "instead", "parts", "told"),
    [
        (
            "extensions/v1beta1",
            "DaemonSet",
            "apps/v1",
            {"spec": {"template": TEMPLATE}},
            ('`matchLabels: {app: web, tier: "1"}`', "`OnDelete`"),
        ),
        (
            "extensions/v1beta1",
            "Deployment",
            "apps/v1",
            {"spec": {"template": {}}},
            ("labels of the pod template",),
        ),
        (
            "apiextensions.k8s.io/v1beta1",
            "CustomResourceDefinition",
            "apiextensions.k8s.io/v1",
            {
                "spec": {
                    "group": "a.k8s.io",
                    "version": "v1",
                    "subresources": {},
                    "conversion": {"webhookClientConfig": {}},
                }
            },
            (
                "item of `spec.versions`",
                "`schema.openAPIV3Schema`",
                "`spec.subresources` goes into",
                "api-approved",
                "`webhook.clientConfig`",
                "is then dropped",
            ),
        ),
        (
            "apiextensions.k8s.io/v1beta1",
            "CustomResourceDefinition",
            "apiextensions.k8s.io/v1",
            {
                "metadata": {"name": "x", "annotations": {"controller-gen.kubebuilder.io/version": "v0.2.5"}},
                "spec": {
                    "group": "a.example",
                    "versions": [{"name": "v1"}],
                    "validation": {},
                    "preserveUnknownFields": False,
                },
            },
            ("`spec.validation` becomes `schema`", "controller-gen"),
        ),
        (
            "admissionregistration.k8s.io/v1beta1",
            "MutatingWebhookConfiguration",
            "admissionregistration.k8s.io/v1",
            {"webhooks": [HOOK]},
            (
                "`sideEffects: None`",
                "`admissionReviewVersions`",
                "`failurePolicy` becomes `Fail` (it was `Ignore`)",
                "10 (it was 30)",
            ),
        ),
        (
            "autoscaling/v2beta1",
            "HorizontalPodAutoscaler",
            "autoscaling/v2",
            {"spec": {"metrics": [{"type": "Pods", "pods": {"metricName": "a", "targetAverageValue": 1}}]}},
            ("`target`",),
        ),
        ("policy/v1beta1", "PodDisruptionBudget", "policy/v1", {"spec": {"selector": {}}}, ("chose no pod",)),
        (
            "certificates.k8s.io/v1beta1",
            "CertificateSigningRequest",
            "certificates.k8s.io/v1",
            {"spec": {}},
            ("`spec.signerName`", "`spec.usages`"),
        ),
        (
            "discovery.k8s.io/v1beta1",
            "EndpointSlice",
            "discovery.k8s.io/v1",
            {"endpoints": [{"topology": {}}]},
            ("`zone`",),
        ),
        ("policy/v1beta1", "PodSecurityPolicy", "", {}, ("pod-security.kubernetes.io/enforce",)),
        (
            "storage.k8s.io/v1beta1",
            "StorageClass",
            "storage.k8s.io/v1",
            {
                "provisioner": "kubernetes.io/azure-disk",
                "parameters": {"kind": "Shared", "storageAccount": "a"},
            },
            (
                "`disk.csi.azure.com` now, which has to be installed",
                "`kind: Shared` becomes `kind: managed`",
                "`parameters.storageAccount` goes",
            ),
        ),
        ("extensions/v1beta1", "Scale", "", {}, ("Do without it",)),
        ("apps/v1alpha1", "PetSet", "apps/v1 StatefulSet", {}, ("`kind: StatefulSet` of `apps/v1`",)),
        ("resource.k8s.io/v1beta1", "ResourceClaim", "resource.k8s.io/v1", {}, ("compare its fields",)),
    ],
)
def test_where_somebody_has_to_think_the_fix_says_about_what(
    version: str, kind: str, instead: str, parts: dict[str, Any], told: tuple[str, ...]
) -> None:
    move, _ = moved(version, kind, instead, **parts)
    assert not move.patch
    for words in told:
        assert words in move.fix


def test_ports_of_an_ingress_keep_their_form() -> None:
    move, data = moved(
        "extensions/v1beta1", "Ingress", "networking.k8s.io/v1", spec={"rules": [{"http": {"paths": PATHS}}]}
    )
    assert "`service: {name: web, port: {number: 80}}`" in move.fix
    paths = patched(data, move.patch)["spec"]["rules"][0]["http"]["paths"]
    assert [one["backend"]["service"]["port"] for one in paths] == [{"number": 80}, {"name": "http"}]
    assert [one["pathType"] for one in paths] == ["ImplementationSpecific", "Exact"]


def test_what_is_there_already_is_not_asked_for() -> None:
    move, _ = moved(
        "apps/v1beta1",
        "StatefulSet",
        "apps/v1",
        spec={"selector": {"matchLabels": LABELS}, "updateStrategy": {"type": "OnDelete"}},
    )
    assert move.fix == "Write `apps/v1`."
    assert len(move.patch) == 1


def test_a_class_of_a_driver_that_was_never_inside_only_gets_its_version() -> None:
    move, _ = moved(
        "storage.k8s.io/v1beta1", "StorageClass", "storage.k8s.io/v1", provisioner="example.org/nfs"
    )
    assert move.fix == "Write `storage.k8s.io/v1`."
