"""The policies of the checks that are shipped, and why the others have none."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from pilotage.checks.dialect import load
from pilotage.checks.model import Check
from pilotage.checks.own.parser import parse
from pilotage.checks.own.vocabulary import hold
from pilotage.checks.policies.policy import RESOURCES, Condition, Policy, Variable
from pilotage.checks.values import as_list, as_map, as_text

_HERE = "pilotage.checks.policies"
_REASONS = "not_alone.yaml"
_KEYS = {"check", "kinds", "variables", "holds", "unseen", "unseen_fixtures"}


@functools.cache
def shipped_policies() -> Mapping[str, Policy]:
    """Every policy by the id of its check."""
    found = {}
    for file in sorted(files(_HERE).iterdir(), key=lambda one: one.name):
        if file.name.endswith(".yaml") and file.name != _REASONS:
            policy = read_policy(as_map(load(file.read_text("utf-8"))))
            found[policy.check] = policy
    return found


def read_policy(data: Mapping[str, Any]) -> Policy:
    """A policy of its file.

    Raises:
        ValueError: a key is unknown.
        ExpressionFault: an expression is wrong.
    """
    check = as_text(data.get("check"))
    if unknown := set(data) - _KEYS:
        raise ValueError(f"{check}: unknown keys {sorted(unknown)}")
    variables = tuple(
        Variable(as_text(one["name"]), as_text(one["expression"]).strip(), parse(as_text(one["expression"])))
        for one in as_list(data.get("variables"))
    )
    conditions = tuple(
        Condition(
            as_text(one["expression"]).strip(),
            parse(as_text(one["expression"])),
            " ".join(as_text(one["message"]).split()),
        )
        for one in as_list(data.get("holds"))
    )
    for expression in (*(one.expression for one in variables), *(one.expression for one in conditions)):
        hold(expression, ("object", "variables"))
    return Policy(
        check=check,
        resources=tuple(RESOURCES[kind] for kind in as_list(data.get("kinds"))),
        conditions=conditions,
        variables=variables,
        unseen=" ".join(as_text(data.get("unseen")).split()),
        unseen_fixtures=as_map(data.get("unseen_fixtures")),
    )


@functools.cache
def _reasons() -> Mapping[str, str]:
    return as_map(load(files(_HERE).joinpath(_REASONS).read_text("utf-8")))


def stated_reasons() -> Mapping[str, str]:
    """Check -> why it is no policy, where that had to be written down."""
    return _reasons()


def why_not(check: Check) -> str:
    """Why a check has no policy; empty where it has one (and where one is owed, which a test refuses)."""
    if check.id in shipped_policies():
        return ""
    if check.id in _reasons():
        return _reasons()[check.id]
    foreign = [kind for kind in check.about if kind not in RESOURCES]
    if check.needs:
        return f"it looks at other objects, too: {', '.join(check.needs)}"
    if len(foreign) == len(check.about):
        return f"it looks at {', '.join(foreign[:3])}, which the API server does not know by itself"
    return ""
