"""Makes policies of users' own checks, where an API server can evaluate them."""

from __future__ import annotations

from pilotage.checks.own.model import Held, KindOf, OwnCheck
from pilotage.checks.own.parser import parse
from pilotage.checks.own.tree import (
    Binary,
    Call,
    Index,
    Literal,
    Name,
    Node,
    Select,
    Unary,
    free_names,
    text_of,
)
from pilotage.checks.policies.policy import RESOURCES, Condition, NotExpressible, Policy, Resource
from pilotage.checks.values import KeyPath

_KNOWN = {"object", "item", "namespaceObject"}


def policy_of(own: OwnCheck) -> Policy:
    """The policy of a check.

    Raises:
        NotExpressible: it uses what an API server does not have.
    """
    if foreign := sorted(own.uses - _KNOWN):
        raise NotExpressible(f"it uses '{foreign[0]}', which only a whole scene can tell")
    return Policy(
        check=own.stated.id,
        resources=tuple(_resource(one) for one in own.stated.kinds),
        conditions=tuple(_condition(own, one) for one in own.held),
    )


def _resource(kind: KindOf) -> Resource:
    known = RESOURCES.get(kind.kind)
    if known is not None and kind.group in {None, known.group}:
        return known
    if kind.group is None or kind.resource is None:
        raise NotExpressible(f"its kind {kind.kind} has no 'group' and 'resource'")
    return Resource(kind.group, "*", kind.resource)


def _condition(own: OwnCheck, held: Held) -> Condition:
    whole = held.expression
    if own.each is not None:
        whole = _for_each(own.each, whole)
    if own.when is not None:
        whole = Binary("||", Unary("!", own.when), whole)
    return Condition(
        text=text_of(whole),
        expression=whole,
        message=" ".join((held.stated.message or own.stated.title).split()),
        message_expression=_message(own, held),
    )


def _message(own: OwnCheck, held: Held) -> str:
    """The expression of the message, where it is about the object and not about one of its items."""
    text = held.stated.message_expression
    if text is None or own.stated.variables:
        return ""
    node = parse(text)
    return text_of(node) if all(name.name in _KNOWN - {"item"} for name in free_names(node)) else ""


def _for_each(path: KeyPath, expression: Node) -> Node:
    """The same for all items of a list that may be absent."""
    node: Node = Name("object")
    for part in path:
        if isinstance(part, int):
            node = Index(node, Literal(str(part)), optional=True)
        else:
            node = Select(node, part, optional=True)
    items = Call("orValue", node, (parse("[]"),))
    return Call("all", items, (Name("item"), expression))
