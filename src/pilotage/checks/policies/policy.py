"""What an admission policy says, before it takes the form of Kubernetes objects."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from pilotage.checks.own.tree import Node


class NotExpressible(Exception):
    """A check cannot be an admission policy; the text says why."""


class Resource(msgspec.Struct, frozen=True):
    """What a policy is asked about.

    Attributes:
        group: API group; empty for the core.
        version: version of the API.
        name: as in addresses: `cronjobs`.
    """

    group: str
    version: str
    name: str


_ROWS = (
    ("", "v1", "Pod Service ConfigMap Secret Namespace Node ServiceAccount ResourceQuota LimitRange"),
    ("", "v1", "PersistentVolumeClaim PersistentVolume ReplicationController"),
    ("apps", "v1", "Deployment StatefulSet DaemonSet ReplicaSet"),
    ("batch", "v1", "Job CronJob"),
    ("autoscaling", "v2", "HorizontalPodAutoscaler"),
    ("policy", "v1", "PodDisruptionBudget"),
    ("networking.k8s.io", "v1", "Ingress IngressClass NetworkPolicy"),
    ("scheduling.k8s.io", "v1", "PriorityClass"),
    ("storage.k8s.io", "v1", "StorageClass"),
    ("apiregistration.k8s.io", "v1", "APIService"),
    ("admissionregistration.k8s.io", "v1", "ValidatingWebhookConfiguration MutatingWebhookConfiguration"),
    ("rbac.authorization.k8s.io", "v1", "Role RoleBinding ClusterRole ClusterRoleBinding"),
)
_PLURALS = {"Ingress": "ingresses", "IngressClass": "ingressclasses", "NetworkPolicy": "networkpolicies"}
_PLURALS |= {"PriorityClass": "priorityclasses", "StorageClass": "storageclasses"}
RESOURCES: Mapping[str, Resource] = {
    kind: Resource(group, version, _PLURALS.get(kind, f"{kind.lower()}s"))
    for group, version, kinds in _ROWS
    for kind in kinds.split()
}
"""The kinds of Kubernetes itself."""


class Variable(msgspec.Struct, frozen=True):
    """A value with a name.

    Attributes:
        name: for `variables.NAME`.
        text: CEL as it was written.
        expression: its parts.
    """

    name: str
    text: str
    expression: Node


class Condition(msgspec.Struct, frozen=True):
    """Something that must be true.

    Attributes:
        text: CEL as it was written.
        expression: its parts.
        message: what is wrong when it is false, a sentence without its end.
        message_expression: CEL that gives the message; empty for none.
    """

    text: str
    expression: Node
    message: str
    message_expression: str = ""


class Policy(msgspec.Struct, frozen=True):
    """An admission policy.

    Attributes:
        check: id of its check.
        resources: what it is asked about.
        conditions: what must be true.
        variables: values that they share.
        unseen: what the check sees and the policy cannot; empty for nothing.
        unseen_fixtures: bad fixtures of the check that it lets through, with the reason.
        notes: further words about it.
    """

    check: str
    resources: tuple[Resource, ...]
    conditions: tuple[Condition, ...]
    variables: tuple[Variable, ...] = ()
    unseen: str = ""
    unseen_fixtures: Mapping[str, str] = msgspec.field(default_factory=dict)
    notes: str = ""
