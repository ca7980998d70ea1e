"""The parts of a CEL expression, each with its place in the text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class ExpressionFault(Exception):
    """Something is wrong with an expression.

    Attributes:
        message: what, one sentence.
        offset: where in its text, in characters from 0.
    """

    def __init__(self, message: str, offset: int = 0) -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A part of an expression.

    Attributes:
        at: its place in the text, in characters from 0.
    """

    at: int = 0


@dataclass(frozen=True, slots=True)
class Literal(Node):
    """A number, a text, `true`, `false` or `null`, as it is written."""

    text: str


@dataclass(frozen=True, slots=True)
class Name(Node):
    """A variable."""

    name: str


@dataclass(frozen=True, slots=True)
class Select(Node):
    """`operand.field`, or `operand.?field`."""

    operand: Node
    field: str
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Index(Node):
    """`operand[key]`, or `operand[?key]`."""

    operand: Node
    key: Node
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Call(Node):
    """`function(arguments)` or `target.function(arguments)`."""

    function: str
    target: Node | None
    arguments: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class ListOf(Node):
    """`[a, b]`."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class MapOf(Node):
    """`{a: b}`."""

    entries: tuple[tuple[Node, Node], ...]


@dataclass(frozen=True, slots=True)
class Unary(Node):
    """`!a` or `-a`."""

    operator: str
    operand: Node


@dataclass(frozen=True, slots=True)
class Binary(Node):
    """Two parts with an operator between them: `a && b`, `a in b`."""

    operator: str
    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class Choice(Node):
    """`a ? b : c`."""

    condition: Node
    then: Node
    otherwise: Node


MACROS = {
    "all": (2,),
    "exists": (2,),
    "exists_one": (2,),
    "filter": (2,),
    "map": (2, 3),
    "optMap": (2,),
    "optFlatMap": (2,),
}
"""Calls whose first argument is a new name, with the numbers of their arguments."""


def bound_name(node: Node) -> str:
    """The name that a macro binds for its other arguments; empty for anything else."""
    if isinstance(node, Call) and node.target is not None and node.function in MACROS and node.arguments:
        first = node.arguments[0]
        return first.name if isinstance(first, Name) else ""
    return ""


def children(node: Node) -> Iterator[Node]:
    """The parts right below a part."""
    match node:
        case Select(operand=operand) | Unary(operand=operand):
            yield operand
        case Index(operand=operand, key=key):
            yield from (operand, key)
        case Call(target=target, arguments=arguments):
            if target is not None:
                yield target
            yield from arguments
        case ListOf(items=items):
            yield from items
        case MapOf(entries=entries):
            for pair in entries:
                yield from pair
        case Binary(left=left, right=right):
            yield from (left, right)
        case Choice(condition=condition, then=then, otherwise=otherwise):
            yield from (condition, then, otherwise)


def walk(node: Node) -> Iterator[Node]:
    """A part and all below it."""
    queue = [node]
    while queue:
        one = queue.pop()
        yield one
        queue.extend(children(one))


def size(node: Node) -> int:
    """How many parts an expression has."""
    return sum(1 for _ in walk(node))


def free_names(node: Node, bound: frozenset[str] = frozenset()) -> Iterator[Name]:
    """The variables that no macro of the expression itself binds."""
    if isinstance(node, Name):
        if node.name not in bound:
            yield node
        return
    name = bound_name(node)
    if name and isinstance(node, Call) and node.target is not None:
        yield from free_names(node.target, bound)
        for argument in node.arguments[1:]:
            yield from free_names(argument, bound | {name})
        return
    for one in children(node):
        yield from free_names(one, bound)


Change = Callable[[Node], Node | None]
"""Gives what stands in place of a part; None leaves it and looks below it."""


def rewritten(node: Node, change: Change) -> Node:  # noqa: PLR0911 - one for each kind of part
    """The expression with parts replaced, from the outside in."""
    new = change(node)
    if new is not None:
        return new

    def inner(one: Node) -> Node:
        return rewritten(one, change)

    match node:
        case Select(operand=operand) | Unary(operand=operand):
            return replace(node, operand=inner(operand))
        case Index(operand=operand, key=key):
            return replace(node, operand=inner(operand), key=inner(key))
        case Call(target=target, arguments=arguments):
            below = tuple(inner(one) for one in arguments)
            return replace(node, target=None if target is None else inner(target), arguments=below)
        case ListOf(items=items):
            return replace(node, items=tuple(inner(one) for one in items))
        case MapOf(entries=entries):
            return replace(node, entries=tuple((inner(key), inner(value)) for key, value in entries))
        case Binary(left=left, right=right):
            return replace(node, left=inner(left), right=inner(right))
        case Choice(condition=condition, then=then, otherwise=otherwise):
            return replace(node, condition=inner(condition), then=inner(then), otherwise=inner(otherwise))
    return node


# As text

_LEVEL = {"||": 1, "&&": 2, "+": 4, "-": 4, "*": 5, "/": 5, "%": 5}
_LEVEL.update(dict.fromkeys(("<", "<=", ">", ">=", "==", "!=", "in"), 3))
_CHOICE, _UNARY, _MEMBER = 0, 6, 7


def text_of(node: Node) -> str:
    """The expression as text, with no more parentheses than it needs."""
    return _text(node, _CHOICE)


def _text(node: Node, least: int) -> str:
    level, text = _plain(node)
    return f"({text})" if level < least else text


def _plain(node: Node) -> tuple[int, str]:
    match node:
        case Binary(operator=operator, left=left, right=right):
            level = _LEVEL[operator]
            return level, f"{_text(left, level)} {operator} {_text(right, level + 1)}"
        case Choice(condition=condition, then=then, otherwise=otherwise):
            parts = _text(condition, 1), _text(then, 1), _text(otherwise, _CHOICE)
            return _CHOICE, "{} ? {} : {}".format(*parts)
        case Unary(operator=operator, operand=operand):
            inner = _text(operand, _UNARY if operator == "!" else _MEMBER)
            return _UNARY, f"{operator}{inner}"
    return _MEMBER, _member(node)


def _member(node: Node) -> str:  # noqa: PLR0911 - one for each kind of part
    match node:
        case Literal(text=text):
            return text
        case Name(name=name):
            return name
        case Select(operand=operand, field=field, optional=optional):
            mark = "?" if optional else ""
            if _PLAIN_KEY.fullmatch(field):
                return f"{_text(operand, _MEMBER)}.{mark}{field}"
            return f"{_text(operand, _MEMBER)}[{mark}{quoted(field)}]"
        case Index(operand=operand, key=key, optional=optional):
            return f"{_text(operand, _MEMBER)}[{'?' if optional else ''}{text_of(key)}]"
        case Call(function=function, target=target, arguments=arguments):
            before = "" if target is None else f"{_text(target, _MEMBER)}."
            return f"{before}{function}({', '.join(text_of(one) for one in arguments)})"
        case ListOf(items=items):
            return f"[{', '.join(text_of(one) for one in items)}]"
        case MapOf(entries=entries):
            pairs = (f"{text_of(key)}: {text_of(value)}" for key, value in entries)
            return f"{{{', '.join(pairs)}}}"
    raise TypeError(f"no part of an expression: {node!r}")


_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def quoted(text: str) -> str:
    """A text as CEL writes it."""
    return '"' + "".join(_ESCAPES.get(one, one) for one in text) + '"'
