"""One view of admission webhooks, validating and mutating."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from pilotage.checks.objects import KubeObject
from pilotage.checks.values import KeyPath, as_int, as_list, as_map, as_text, dig

KINDS = ("ValidatingWebhookConfiguration", "MutatingWebhookConfiguration")
DEFAULT_TIMEOUT_SECONDS = 10
_SETTINGS = frozenset({"configmaps", "secrets"})
NAMESPACE_NAME = "kubernetes.io/metadata.name"
"""The label that the API server gives every namespace: its name."""


class Webhook(msgspec.Struct, frozen=True, eq=False):
    """One webhook of a configuration.

    Attributes:
        object: the configuration.
        path: the way to the webhook inside it.
        data: the webhook as it was written.
    """

    object: KubeObject
    path: KeyPath
    data: Mapping[str, Any]

    @property
    def name(self) -> str:
        """Its name."""
        return as_text(self.data.get("name"))

    @property
    def fails_closed(self) -> bool:
        """Whether a call that fails refuses the request; in `v1` the default."""
        default = "Ignore" if self.object.api_version.endswith("v1beta1") else "Fail"
        return (as_text(self.data.get("failurePolicy")) or default) == "Fail"

    @property
    def timeout_seconds(self) -> int:
        """How long the API server waits for it."""
        stated = as_int(self.data.get("timeoutSeconds"))
        if stated is not None:
            return stated
        return 30 if self.object.api_version.endswith("v1beta1") else DEFAULT_TIMEOUT_SECONDS

    @property
    def service(self) -> tuple[str, str] | None:
        """Namespace and name of the Service behind it; None where it has an address."""
        service = as_map(dig(self.data, "clientConfig", "service"))
        return (as_text(service.get("namespace")), as_text(service.get("name"))) if service else None

    @property
    def rules(self) -> list[Mapping[str, Any]]:
        """What it is asked about."""
        return [rule for rule in as_list(self.data.get("rules")) if isinstance(rule, dict)]

    @property
    def namespace_selector(self) -> Mapping[str, Any]:
        """Which namespaces it is asked about; empty for all."""
        return as_map(self.data.get("namespaceSelector"))

    @property
    def object_selector(self) -> Mapping[str, Any]:
        """Which objects it is asked about, by their labels; empty for all."""
        return as_map(self.data.get("objectSelector"))

    @property
    def narrowed(self) -> bool:
        """Whether labels of objects or CEL narrow what its rules cover."""
        return bool(
            self.object_selector.get("matchLabels")
            or self.object_selector.get("matchExpressions")
            or self.data.get("matchConditions")
        )

    @property
    def opts_in(self) -> bool:
        """Whether it is asked only about what bears a label, or about namespaces that are named."""
        return opts_in(self.namespace_selector) or opts_in(self.object_selector)

    @property
    def about_own_kinds(self) -> bool:
        """Whether it is asked about no kind of Kubernetes itself, but of its own operator or of another."""
        labelled = opts_in(self.object_selector)
        asked = [
            rule
            for rule in self.rules
            # What it keeps of its own is labelled: its settings.
            if not (labelled and set(map(as_text, as_list(rule.get("resources")))) <= _SETTINGS)
        ]
        groups = [as_text(one) for rule in asked for one in as_list(rule.get("apiGroups"))]
        return bool(self.rules) and not any(_of_kubernetes(one) for one in groups)

    def rule_for(self, group: str, resource: str) -> KeyPath | None:
        """The way to the first rule that covers creating or updating a resource (`pods`, `nodes/status`)."""
        for position, rule in enumerate(self.rules):
            operations = {as_text(item) for item in as_list(rule.get("operations"))}
            if not operations & {"*", "CREATE", "UPDATE"}:
                continue
            groups = as_list(rule.get("apiGroups"))
            if ("*" in groups or group in groups) and _covers(as_list(rule.get("resources")), resource):
                return (*self.path, "rules", position)
        return None


def _of_kubernetes(group: str) -> bool:
    return "." not in group or (group.endswith(".k8s.io") and not group.endswith(".x-k8s.io"))


def _covers(resources: list[Any], resource: str) -> bool:
    name, _, sub = resource.partition("/")
    if sub:
        return bool({resource, f"{name}/*", f"*/{sub}", "*/*"} & {as_text(one) for one in resources})
    return bool({name, "*", "*/*"} & {as_text(one) for one in resources})


def opts_in(selector: Mapping[str, Any]) -> bool:
    """Whether a selector takes only objects that bear a label, so that nothing is covered by accident."""
    if selector.get("matchLabels"):
        return True
    expressions = [item for item in as_list(selector.get("matchExpressions")) if isinstance(item, dict)]
    return any(as_text(item.get("operator")) in {"In", "Exists"} for item in expressions)


def webhooks_of(configuration: KubeObject) -> Iterator[Webhook]:
    """The webhooks of a configuration."""
    for position, data in enumerate(as_list(configuration.data.get("webhooks"))):
        if isinstance(data, dict):
            yield Webhook(configuration, ("webhooks", position), data)
