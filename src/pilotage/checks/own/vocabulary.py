"""The functions and variables that expressions may use: those of Kubernetes CEL that are provided here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pilotage.checks.own.tree import (
    MACROS,
    Call,
    ExpressionFault,
    Literal,
    Name,
    Node,
    Select,
    bound_name,
    children,
)
from pilotage.core.text import did_you_mean

Version = tuple[int, int]


@dataclass(frozen=True)
class Function:
    """A function.

    Attributes:
        alone: numbers of arguments of `f(a)`.
        on: numbers of arguments of `x.f(a)`, without `x`.
        since: the Kubernetes from which on its API server knows it.
    """

    alone: tuple[int, ...] = ()
    on: tuple[int, ...] = ()
    since: Version = (1, 25)


_QUANTITY, _OPTIONAL, _SETS, _ADDRESS, _SEMVER, _LISTS = (1, 28), (1, 28), (1, 29), (1, 30), (1, 33), (1, 34)

_OF_TIMES = (
    *("getDate", "getDayOfMonth", "getDayOfWeek", "getDayOfYear", "getFullYear", "getMonth"),
    *("getHours", "getMinutes", "getSeconds", "getMilliseconds"),
)
_STANDARD = {
    "has": Function(alone=(1,)),
    "size": Function(alone=(1,), on=(0,)),
    **dict.fromkeys(
        ("bool", "bytes", "double", "duration", "dyn", "int", "string", "timestamp", "type", "uint"),
        Function(alone=(1,)),
    ),
    "matches": Function(alone=(2,), on=(1,)),
    **dict.fromkeys(("contains", "endsWith", "startsWith"), Function(on=(1,))),
    **dict.fromkeys(
        _OF_TIMES,
        Function(on=(0, 1)),
    ),
}
_OPTIONALS = {
    "optional.of": Function(alone=(1,), since=_OPTIONAL),
    "optional.none": Function(alone=(0,), since=_OPTIONAL),
    "optional.ofNonZeroValue": Function(alone=(1,), since=_OPTIONAL),
    "orValue": Function(on=(1,), since=_OPTIONAL),
    "or": Function(on=(1,), since=_OPTIONAL),
    "hasValue": Function(on=(0,), since=_OPTIONAL),
    "value": Function(on=(0,), since=_OPTIONAL),
    "optMap": Function(on=(2,), since=_OPTIONAL),
    "optFlatMap": Function(on=(2,), since=_OPTIONAL),
}
_STRINGS = {
    "charAt": Function(on=(1,)),
    "lowerAscii": Function(on=(0,)),
    "upperAscii": Function(on=(0,)),
    "trim": Function(on=(0,)),
    "replace": Function(on=(2, 3)),
    "split": Function(on=(1, 2)),
    "substring": Function(on=(1, 2)),
    "join": Function(on=(0, 1)),
    "indexOf": Function(on=(1, 2)),
    "lastIndexOf": Function(on=(1, 2)),
    "find": Function(on=(1,)),
    "findAll": Function(on=(1, 2)),
}
_OF_LISTS = {
    "isSorted": Function(on=(0,)),
    "sum": Function(on=(0,)),
    "min": Function(on=(0,)),
    "max": Function(on=(0,)),
    "distinct": Function(on=(0,), since=_LISTS),
    "flatten": Function(on=(0, 1), since=_LISTS),
    "reverse": Function(on=(0,), since=_LISTS),
    "slice": Function(on=(2,), since=_LISTS),
    "sort": Function(on=(0,), since=_LISTS),
}
_SETS_OF = {
    name: Function(alone=(2,), since=_SETS)
    for name in ("sets.contains", "sets.equivalent", "sets.intersects")
}
_QUANTITIES = {
    "quantity": Function(alone=(1,), since=_QUANTITY),
    "isQuantity": Function(alone=(1,), since=_QUANTITY),
    "isGreaterThan": Function(on=(1,), since=_QUANTITY),
    "isLessThan": Function(on=(1,), since=_QUANTITY),
    "compareTo": Function(on=(1,), since=_QUANTITY),
    "isInteger": Function(on=(0,), since=_QUANTITY),
    "asInteger": Function(on=(0,), since=_QUANTITY),
    "asApproximateFloat": Function(on=(0,), since=_QUANTITY),
    "sign": Function(on=(0,), since=_QUANTITY),
    "add": Function(on=(1,), since=_QUANTITY),
    "sub": Function(on=(1,), since=_QUANTITY),
    "semver": Function(alone=(1, 2), since=_SEMVER),
    "isSemver": Function(alone=(1, 2), since=_SEMVER),
    "major": Function(on=(0,), since=_SEMVER),
    "minor": Function(on=(0,), since=_SEMVER),
    "patch": Function(on=(0,), since=_SEMVER),
}
_ADDRESSES = {
    "url": Function(alone=(1,)),
    "isURL": Function(alone=(1,)),
    **dict.fromkeys(
        ("getScheme", "getHost", "getHostname", "getPort", "getEscapedPath", "getQuery"), Function(on=(0,))
    ),
    "ip": Function(alone=(1,), on=(0,), since=_ADDRESS),
    "isIP": Function(alone=(1,), since=_ADDRESS),
    "ip.isCanonical": Function(alone=(1,), since=_ADDRESS),
    "family": Function(on=(0,), since=_ADDRESS),
    "isUnspecified": Function(on=(0,), since=_ADDRESS),
    "isLoopback": Function(on=(0,), since=_ADDRESS),
    "isLinkLocalMulticast": Function(on=(0,), since=_ADDRESS),
    "isLinkLocalUnicast": Function(on=(0,), since=_ADDRESS),
    "isGlobalUnicast": Function(on=(0,), since=_ADDRESS),
    "cidr": Function(alone=(1,), since=_ADDRESS),
    "isCIDR": Function(alone=(1,), since=_ADDRESS),
    "containsIP": Function(on=(1,), since=_ADDRESS),
    "containsCIDR": Function(on=(1,), since=_ADDRESS),
    "masked": Function(on=(0,), since=_ADDRESS),
    "prefixLength": Function(on=(0,), since=_ADDRESS),
}
FUNCTIONS: Mapping[str, Function] = {
    **_STANDARD,
    **_OPTIONALS,
    **_STRINGS,
    **_OF_LISTS,
    **_SETS_OF,
    **_QUANTITIES,
    **_ADDRESSES,
}
"""Every function that may be called; macros stand in `tree.MACROS`."""

_ELSEWHERE = {
    "authorizer": "who sends a request is not known here",
    "request": "there is no request here, only the object",
    "oldObject": "there is no request here, only the object as it is",
    "params": "parameters are not known here; write the value into the check",
    "format": "'format' is not provided; add texts with +",
    "format.named": "the named formats are not provided; use matches()",
    "transformList": "macros with two variables are not provided; use map()",
    "transformMap": "macros with two variables are not provided",
    "transformMapEntry": "macros with two variables are not provided",
    "sortBy": "'sortBy' is not provided; use sort()",
    "cel.bind": "'cel.bind' is not known to Kubernetes; put the value under 'variables'",
}
"""What Kubernetes or other CEL knows and is not provided, with what to do instead."""


def hold(expression: Node, variables: Iterable[str]) -> None:
    """Refuses names, functions and numbers of arguments that do not exist, before anything runs.

    Args:
        expression: the parts.
        variables: the names that it may use.

    Raises:
        ExpressionFault: with the place of the first.
    """
    known = frozenset(variables)
    _hold(expression, known, known)


def _hold(node: Node, known: frozenset[str], roots: frozenset[str]) -> None:
    if isinstance(node, Name):
        if node.name not in known:
            raise ExpressionFault(_no_variable(node.name, known), node.at)
        return
    if not isinstance(node, Call):
        for one in children(node):
            _hold(one, known, roots)
        return
    if node.target is not None:
        _hold(node.target, known, roots)
    arguments: tuple[Node, ...] = node.arguments
    name = ""
    if node.target is not None and node.function in MACROS:
        name = _macro(node, roots)
        arguments = arguments[1:]
    else:
        _function(node)
    for one in arguments:
        _hold(one, known | {name} if name else known, roots)


def _macro(node: Call, roots: frozenset[str]) -> str:
    allowed = MACROS[node.function]
    if len(node.arguments) not in allowed:
        counts = " or ".join(map(str, allowed))
        more = "; macros with two variables are not provided" if len(node.arguments) > max(allowed) else ""
        raise ExpressionFault(f"'{node.function}' takes {counts} arguments{more}", node.at)
    name = bound_name(node)
    if not name:
        raise ExpressionFault(f"the first argument of '{node.function}' must be a new name", node.at)
    if name in roots:
        raise ExpressionFault(
            f"'{name}' is a variable already: give the items another name", node.arguments[0].at
        )
    return name


def _function(node: Call) -> None:
    if node.function in _ELSEWHERE:
        raise ExpressionFault(_ELSEWHERE[node.function], node.at)
    known = FUNCTIONS.get(node.function)
    if known is None:
        hint = did_you_mean(node.function, [*FUNCTIONS, *MACROS])
        raise ExpressionFault(f"there is no function '{node.function}'. {hint}".strip(), node.at)
    allowed = known.alone if node.target is None else known.on
    if not allowed:
        form = f"x.{node.function}()" if node.target is None else f"{node.function}(x)"
        raise ExpressionFault(f"'{node.function}' is called as {form}", node.at)
    if len(node.arguments) not in allowed:
        counts = " or ".join(map(str, allowed))
        raise ExpressionFault(
            f"'{node.function}' takes {counts} arguments, not {len(node.arguments)}", node.at
        )
    if node.function == "has" and not isinstance(node.arguments[0], Select):
        raise ExpressionFault("has() asks for a field: has(object.spec)", node.at)
    if node.function == "matches" and isinstance(node.arguments[-1], Literal):
        _pattern(node.arguments[-1])


def _pattern(literal: Literal) -> None:
    for sign in ("(?=", "(?!", "(?<=", "(?<!"):
        if sign in literal.text:
            raise ExpressionFault(f"a pattern cannot look around ('{sign}')", literal.at)


def _no_variable(name: str, known: frozenset[str]) -> str:
    if name in _ELSEWHERE:
        return f"'{name}': {_ELSEWHERE[name]}"
    return f"there is no variable '{name}'. {did_you_mean(name, known)}".strip()


def needed_version(expression: Node) -> Version:
    """The least Kubernetes whose API server knows all that an expression uses."""
    least = (1, 25)
    queue = [expression]
    while queue:
        node = queue.pop()
        if getattr(node, "optional", False):
            least = max(least, _OPTIONAL)
        if isinstance(node, Call) and node.function in FUNCTIONS:
            least = max(least, FUNCTIONS[node.function].since)
        queue.extend(children(node))
    return least
