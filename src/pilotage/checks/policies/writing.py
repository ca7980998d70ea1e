"""Writes policies as Kubernetes objects: a ValidatingAdmissionPolicy and its binding.

An update of an object that had the gap before is let through: otherwise a policy would hold up whoever
changes something else about it, a controller among them, and be an outage of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import msgspec
import yaml

from pilotage.checks.own.tree import Name, Node, Select, free_names, rewritten, text_of
from pilotage.checks.own.vocabulary import needed_version
from pilotage.checks.policies.policy import Condition, Policy

Action = Literal["Deny", "Warn", "Audit"]
_API = "admissionregistration.k8s.io/v1"
_BEFORE = "Before"
_FIRST_VERSION = (1, 30)
"""From which on policies are part of Kubernetes."""
_NAMESPACE = "kubernetes.io/metadata.name"


class Telling(msgspec.Struct, frozen=True):
    """What a policy tells of its check.

    Attributes:
        title: the check's.
        severity: the check's.
        fix: the check's.
        incidents: a line for each incident.
    """

    title: str
    severity: str
    fix: str
    incidents: tuple[str, ...] = ()


class Binding(msgspec.Struct, frozen=True):
    """How policies come into force.

    Attributes:
        action: what happens to an object that has the gap.
        except_namespaces: where they do not apply.
    """

    action: Action = "Warn"
    except_namespaces: tuple[str, ...] = ("kube-system",)


def name_of(policy: Policy) -> str:
    """Its name in a cluster."""
    return f"pilotage-{policy.check}"


def objects_of(policy: Policy, telling: Telling, binding: Binding) -> tuple[dict[str, Any], dict[str, Any]]:
    """The policy and its binding."""
    name = name_of(policy)
    labels = {"app.kubernetes.io/managed-by": "pilotage", "pilotage.dev/check": policy.check}
    spec: dict[str, Any] = {
        "failurePolicy": "Ignore",
        "matchConstraints": {"resourceRules": _rules(policy)},
    }
    if policy.variables:
        spec["variables"] = list(_variables(policy))
    spec["validations"] = [_validation(one, policy, telling) for one in policy.conditions]
    head = {"name": name, "labels": labels}
    return (
        {
            "apiVersion": _API,
            "kind": "ValidatingAdmissionPolicy",
            "metadata": {**head, "annotations": _annotations(policy, telling)},
            "spec": spec,
        },
        {
            "apiVersion": _API,
            "kind": "ValidatingAdmissionPolicyBinding",
            "metadata": head,
            "spec": {"policyName": name, "validationActions": [binding.action], **_where(binding)},
        },
    )


def _where(binding: Binding) -> dict[str, Any]:
    if not binding.except_namespaces:
        return {}
    names = {"key": _NAMESPACE, "operator": "NotIn", "values": list(binding.except_namespaces)}
    return {"matchResources": {"namespaceSelector": {"matchExpressions": [names]}}}


def _rules(policy: Policy) -> list[dict[str, Any]]:
    grouped: dict[tuple[str, str], list[str]] = {}
    for one in policy.resources:
        grouped.setdefault((one.group, one.version), []).append(one.name)
    return [
        {
            "apiGroups": [group],
            "apiVersions": [version],
            "operations": ["CREATE", "UPDATE"],
            "resources": names,
        }
        for (group, version), names in grouped.items()
    ]


def _annotations(policy: Policy, telling: Telling) -> dict[str, str]:
    expressions = [
        *(one.expression for one in policy.variables),
        *(one.expression for one in policy.conditions),
    ]
    version = max((needed_version(one) for one in expressions), default=_FIRST_VERSION)
    found = {
        "pilotage.dev/title": telling.title,
        "pilotage.dev/severity": telling.severity,
        "pilotage.dev/incidents": "\n".join(telling.incidents),
        "pilotage.dev/fix": telling.fix,
        "pilotage.dev/not-seen": policy.unseen,
        "pilotage.dev/note": policy.notes,
        "pilotage.dev/needs-kubernetes": "{}.{}".format(*max(version, _FIRST_VERSION)),
    }
    return {key: value for key, value in found.items() if value}


def _before(node: Node, names: frozenset[str]) -> Node:
    """The same about the object as it was."""

    def change(one: Node) -> Node | None:
        if isinstance(one, Name) and one.name == "object":
            return Name("oldObject", at=one.at)
        if (
            isinstance(one, Select)
            and one.operand == Name("variables", at=one.operand.at)
            and one.field in names
        ):
            return Select(one.operand, one.field + _BEFORE, at=one.at)
        return None

    return rewritten(node, change)


def _changing(policy: Policy) -> frozenset[str]:
    """The variables that depend on the object, directly or through others."""
    found: set[str] = set()
    for one in policy.variables:
        if any(name.name == "object" for name in free_names(one.expression)) or _uses(one.expression, found):
            found.add(one.name)
    return frozenset(found)


def _uses(node: Node, names: Iterable[str]) -> bool:
    return node != _before(node, frozenset(names))


def _variables(policy: Policy) -> Iterable[dict[str, str]]:
    changing = _changing(policy)
    for one in policy.variables:
        yield {"name": one.name, "expression": one.text}
        if one.name in changing:
            yield {"name": one.name + _BEFORE, "expression": text_of(_before(one.expression, changing))}


def _validation(one: Condition, policy: Policy, telling: Telling) -> dict[str, str]:
    before = text_of(_before(one.expression, _changing(policy)))
    sentence = one.message[:1].upper() + one.message[1:].rstrip(".")
    parts = [f"{sentence}.", *(f"{line.rstrip('.')}." for line in telling.incidents[:1]), f"[{policy.check}]"]
    made = {
        "expression": f"({one.text})\n|| (oldObject != null && !({before}))",
        "message": " ".join(" ".join(parts).split()),
    }
    if one.message_expression:
        made["messageExpression"] = one.message_expression
    return made


class _Dumper(yaml.SafeDumper):
    """Writes texts of several lines as they are, and never an alias."""

    def ignore_aliases(self, data: Any) -> bool:
        """Always: an alias saves nothing here and is harder to read."""
        return data is not None


def _text(dumper: yaml.SafeDumper, data: str) -> yaml.ScalarNode:
    style = "|" if "\n" in data else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", data, style=style)


_Dumper.add_representer(str, _text)


def as_yaml(objects: Sequence[Mapping[str, Any]], head: str = "") -> str:
    """The objects as one stream of documents."""
    texts = [
        yaml.dump(dict(one), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)
        for one in objects
    ]
    return head + "---\n".join(texts)
