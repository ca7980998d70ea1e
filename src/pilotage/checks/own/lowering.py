"""Writes an expression the way that the library which evaluates it can read it.

It knows no optional fields, so `a.?b` becomes a call; and its `size()` of a text counts bytes, so that
becomes a call of ours, too.
"""

from __future__ import annotations

from collections.abc import Mapping

from pilotage.checks.own.parser import bound
from pilotage.checks.own.tree import (
    Call,
    Choice,
    ExpressionFault,
    Index,
    Literal,
    Name,
    Node,
    Select,
    bound_name,
    free_names,
    quoted,
    rewritten,
    text_of,
    walk,
)

OPTIONAL_FIELD = "opt_"
LENGTH = "len_"
_RENAMED = {"size": LENGTH}
_MADE_OPTIONAL = {"optional.of", "optional.none", "optional.ofNonZeroValue", "or", "optMap", "optFlatMap"}


def lowered(expression: Node) -> str:
    """The expression as text for the library."""
    return text_of(_lower(expression))


def functions_of(expression: Node) -> set[str]:
    """The functions that an expression calls, as the library knows them."""
    found = {
        _RENAMED.get(node.function, node.function) for node in walk(expression) if isinstance(node, Call)
    }
    if any(_optional(node) for node in walk(expression)):
        found.add(OPTIONAL_FIELD)
    return found


def _optional(node: Node) -> bool:
    """Whether its value is an optional, as far as can be seen without running it."""
    while True:
        if isinstance(node, Select | Index):
            if node.optional:
                return True
            node = node.operand
        elif isinstance(node, Choice):
            node = node.then
        else:
            return isinstance(node, Call) and node.function in _MADE_OPTIONAL


def _lower(node: Node) -> Node:
    return rewritten(node, _change)


def _change(node: Node) -> Node | None:
    if isinstance(node, Select) and (node.optional or _optional(node.operand)):
        return _field(node.operand, Literal(quoted(node.field), at=node.at), node.at)
    if isinstance(node, Index) and (node.optional or _optional(node.operand)):
        return _field(node.operand, _lower(node.key), node.at)
    if isinstance(node, Call):
        return _call(node)
    return None


def _field(operand: Node, key: Node, at: int) -> Node:
    return Call(OPTIONAL_FIELD, None, (_lower(operand), key), at=at)


def _call(node: Call) -> Node | None:
    if node.function == "has" and _optional(node.arguments[0]):
        return Call("hasValue", _lower(node.arguments[0]), (), at=node.at)
    if node.function in {"optMap", "optFlatMap"} and node.target is not None:
        return _mapped(node, _lower(node.target))
    if node.function in _RENAMED:
        target = None if node.target is None else _lower(node.target)
        arguments = tuple(_lower(one) for one in node.arguments)
        return Call(_RENAMED[node.function], target, arguments, at=node.at)
    return None


def _mapped(node: Call, target: Node) -> Node:
    value = Call("value", target, (), at=node.at)
    inner = _lower(substituted(node.arguments[1], {bound_name(node): value}))
    then = inner if node.function == "optFlatMap" else Call("optional.of", None, (inner,), at=node.at)
    return Choice(Call("hasValue", target, (), at=node.at), then, Call("optional.none", None, ()), at=node.at)


def substituted(node: Node, values: Mapping[str, Node]) -> Node:
    """The expression with other parts in place of free variables.

    Raises:
        ExpressionFault: a macro would take a name of a part for its own.
    """
    taken = {name.name for value in values.values() for name in free_names(value)}

    def change(one: Node) -> Node | None:
        if isinstance(one, Name):
            return values.get(one.name)
        name = bound_name(one)
        if name in values:
            raise ExpressionFault(f"'{name}' is used twice: give the items another name", one.at)
        if name and name in taken:
            raise ExpressionFault(f"'{name}' is a variable already: give the items another name", one.at)
        return None

    return rewritten(node, change)


def unfolded(node: Node, variables: Mapping[str, Node]) -> Node:
    """The expression with `variables.NAME` replaced by what the variable stands for.

    Args:
        node: the expression.
        variables: name -> expression, itself unfolded already.

    Raises:
        ExpressionFault: there is no such variable, or the whole grows too large.
    """

    def change(one: Node) -> Node | None:
        if isinstance(one, Select) and isinstance(one.operand, Name) and one.operand.name == "variables":
            if one.field not in variables:
                known = ", ".join(variables) or "none"
                raise ExpressionFault(f"there is no variable '{one.field}' above; known are: {known}", one.at)
            return variables[one.field]
        if isinstance(one, Name) and one.name == "variables":
            raise ExpressionFault("'variables' is followed by a name: variables.NAME", one.at)
        return None

    whole = rewritten(node, change)
    bound(whole)
    return whole
