"""Reads CEL: what the library that evaluates it does not tell before it runs, with places and bounds.

The library knows neither optional fields nor the functions of Kubernetes, tells of an unknown name only when
it meets it, and can be brought down by nesting. So every expression is read here first.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from pilotage.checks.own.tree import (
    Binary,
    Call,
    Choice,
    ExpressionFault,
    Index,
    ListOf,
    Literal,
    MapOf,
    Name,
    Node,
    Select,
    Unary,
    children,
)

LONGEST = 8_000
"""Characters of one expression."""
DEEPEST = 40
"""Levels of nesting; the library's own parser gives up below 300."""
MOST_PARTS = 1_500
HIGHEST = 150
"""Levels of the parts: a chain of operators is as high as it is long."""

_TOKEN = re.compile(
    r"""
    (?P<blank>[ \t\r\n\f]+|//[^\n]*)
  | (?P<raw>(?:[rR][bB]?|[bB][rR])(?:\"{3}.*?\"{3}|'{3}.*?'{3}|"[^"\n]*"|'[^'\n]*'))
  | (?P<text>[bB]?(?:\"{3}(?:\\.|(?!\"{3})[^\\])*\"{3}|'{3}(?:\\.|(?!'{3})[^\\])*'{3}
      |"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'))
  | (?P<number>0[xX][0-9a-fA-F]+[uU]?|(?:\d+\.\d+|\.\d+|\d+)(?:[eE][+-]?\d+)?[uU]?)
  | (?P<word>[A-Za-z_][A-Za-z0-9_]*)
  | (?P<sign>&&|\|\||[=!<>]=|[-+*/%<>!?:.,()\[\]{}])
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(?:[abfnrtv\\?\"'`]|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7]{2})")
_RESERVED = frozenset(
    "as break const continue else for function if import".split()
    + "let loop package namespace return var void while".split()
)
_CONSTANTS = ("true", "false", "null")
_TYPES = ("bool", "bytes", "double", "int", "list", "map", "null_type", "string", "type", "uint")
"""Names of types, for `type(x) == string`."""
_SPACES = ("sets", "optional", "ip", "cidr", "lists", "math", "strings", "base64", "format", "cel")
"""First words of names of functions with a dot in them."""


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    at: int


def parse(text: str) -> Node:
    """The parts of an expression.

    Raises:
        ExpressionFault: it is none, too long, too deep or has too many parts.
    """
    if len(text) > LONGEST:
        raise ExpressionFault(f"an expression has at most {LONGEST:,} characters, this one has {len(text):,}")
    node = _Parser(_tokens(text), len(text)).whole()
    bound(node)
    return node


def bound(node: Node) -> None:
    """Refuses an expression that is too large.

    Raises:
        ExpressionFault: it has too many parts or levels.
    """
    parts = 0
    queue = [(node, 1)]
    while queue:
        one, level = queue.pop()
        parts += 1
        if level > HIGHEST:
            raise ExpressionFault(f"too long a chain: more than {HIGHEST} parts hang on each other", one.at)
        if parts > MOST_PARTS:
            raise ExpressionFault(f"an expression has at most {MOST_PARTS:,} parts", one.at)
        queue.extend((child, level + 1) for child in children(one))


def _tokens(text: str) -> list[_Token]:
    found: list[_Token] = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise ExpressionFault(_strange(text, at), at)
        kind = match.lastgroup or ""
        if kind == "text":
            _refuse_escapes(match[0], at)
        if kind != "blank":
            found.append(_Token("text" if kind == "raw" else kind, match[0], at))
        at = match.end()
    if len(found) > 2 * MOST_PARTS:
        raise ExpressionFault(f"an expression has at most {MOST_PARTS:,} parts")
    return found


def _refuse_escapes(text: str, at: int) -> None:
    place = text.find("\\")
    while place >= 0:
        escape = _ESCAPE.match(text, place)
        if escape is None:
            raise ExpressionFault(
                f"'{text[place : place + 2]}' is no escape; a text in which a backslash stands for itself "
                "begins with r",
                at + place,
            )
        place = text.find("\\", escape.end())


def _strange(text: str, at: int) -> str:
    sign = text[at]
    if sign in "\"'":
        return "a text that is not closed"
    if sign in "=&|":
        return f"'{sign}' alone is no operator: write '{sign}{sign}'"
    if sign == "`":
        return "a field in backquotes is not known here: write object['the-field']"
    return f"'{sign}' has no meaning in CEL"


_LEVELS: tuple[tuple[str, ...], ...] = (
    ("||",),
    ("&&",),
    ("<", "<=", ">", ">=", "==", "!=", "in"),
    ("+", "-"),
    ("*", "/", "%"),
)


class _Parser:
    """A parser by descent; one function per level of the grammar."""

    def __init__(self, tokens: list[_Token], end: int) -> None:
        self._tokens = tokens
        self._end = _Token("end", "", end)
        self._next = 0
        self._depth = 0
        self._parts = 0

    def whole(self) -> Node:
        node = self._expression()
        if self._here.kind != "end":
            raise ExpressionFault(f"'{self._here.text}' is not expected here", self._here.at)
        return node

    @property
    def _here(self) -> _Token:
        return self._tokens[self._next] if self._next < len(self._tokens) else self._end

    def _take(self) -> _Token:
        token = self._here
        self._next += 1
        return token

    def _took(self, *signs: str) -> _Token | None:
        token = self._here
        if token.text in signs and token.kind in {"sign", "word"}:
            self._next += 1
            return token
        return None

    def _need(self, sign: str) -> _Token:
        token = self._took(sign)
        if token is None:
            found = f"'{self._here.text}'" if self._here.kind != "end" else "the end"
            raise ExpressionFault(f"'{sign}' is expected instead of {found}", self._here.at)
        return token

    def _counted(self, node: Node) -> Node:
        self._parts += 1
        if self._parts > MOST_PARTS:
            raise ExpressionFault(f"an expression has at most {MOST_PARTS:,} parts", node.at)
        return node

    def _deeper(self, read: Callable[[], Node]) -> Node:
        self._depth += 1
        if self._depth > DEEPEST:
            raise ExpressionFault(f"nested more than {DEEPEST} levels deep", self._here.at)
        node = read()
        self._depth -= 1
        return node

    def _expression(self) -> Node:
        return self._deeper(self._choice)

    def _choice(self) -> Node:
        condition = self._binary(0)
        mark = self._took("?")
        if mark is None:
            return condition
        then = self._deeper(lambda: self._binary(0))
        self._need(":")
        return self._counted(Choice(condition, then, self._expression(), at=mark.at))

    def _binary(self, level: int) -> Node:
        if level == len(_LEVELS):
            return self._unary()
        left = self._binary(level + 1)
        while (operator := self._took(*_LEVELS[level])) is not None:
            right = self._binary(level + 1)
            left = self._counted(Binary(operator.text, left, right, at=operator.at))
        return left

    def _unary(self) -> Node:
        operator = self._took("!", "-")
        if operator is None:
            return self._member()
        operand = self._deeper(self._unary)
        return self._counted(Unary(operator.text, operand, at=operator.at))

    def _member(self) -> Node:
        node = self._primary()
        while True:
            if self._took(".") is not None:
                node = self._counted(self._dotted(node))
            elif (bracket := self._took("[")) is not None:
                optional = self._took("?") is not None
                key = self._expression()
                self._need("]")
                node = self._counted(Index(node, key, optional, at=bracket.at))
            elif self._here.text == "{" and isinstance(node, Name | Select):
                raise ExpressionFault(
                    "messages are not known here, only maps such as {'a': 1}", self._here.at
                )
            else:
                return node

    def _dotted(self, operand: Node) -> Node:
        optional = self._took("?") is not None
        word = self._take()
        if word.kind != "word" or word.text == "in" or word.text in _CONSTANTS:
            what = f"'{word.text}' is no name of a field" if word.text else "the name of a field is missing"
            hint = f": write ['{word.text}']" if word.kind == "word" else ""
            raise ExpressionFault(what + hint, word.at)
        if self._here.text != "(":
            return Select(operand, word.text, optional, at=word.at)
        if optional:
            raise ExpressionFault("'.?' stands before a field, not before a function", word.at)
        arguments = self._arguments()
        if isinstance(operand, Name) and operand.name in _SPACES:
            return Call(f"{operand.name}.{word.text}", None, arguments, at=operand.at)
        return Call(word.text, operand, arguments, at=word.at)

    def _arguments(self) -> tuple[Node, ...]:
        self._need("(")
        return self._until(")")

    def _until(self, end: str) -> tuple[Node, ...]:
        found: list[Node] = []
        while self._took(end) is None:
            if end == "]" and self._here.text == "?":
                raise ExpressionFault("optional items of a list are not known here", self._here.at)
            found.append(self._expression())
            if self._took(",") is None:
                self._need(end)
                break
        return tuple(found)

    def _primary(self) -> Node:
        token = self._take()
        if token.kind in {"text", "number"}:
            return self._counted(Literal(token.text, at=token.at))
        if token.kind == "word":
            return self._counted(self._named(token))
        if token.text == "(":
            node = self._expression()
            self._need(")")
            return node
        if token.text == "[":
            return self._counted(ListOf(self._until("]"), at=token.at))
        if token.text == "{":
            return self._counted(self._map(token))
        what = f"'{token.text}' is not expected here" if token.text else "the expression ends too early"
        raise ExpressionFault(what, token.at)

    def _named(self, token: _Token) -> Node:
        if token.text in _CONSTANTS:
            return Literal(token.text, at=token.at)
        if token.text == "in" or token.text in _RESERVED:
            hint = ": write object.metadata.namespace" if token.text == "namespace" else ""
            raise ExpressionFault(f"'{token.text}' is a word of the language and no name{hint}", token.at)
        if self._here.text == "(":
            return Call(token.text, None, self._arguments(), at=token.at)
        if token.text in _TYPES:
            return Literal(token.text, at=token.at)
        return Name(token.text, at=token.at)

    def _map(self, brace: _Token) -> Node:
        entries: list[tuple[Node, Node]] = []
        while self._took("}") is None:
            if self._here.text == "?":
                raise ExpressionFault("optional entries of a map are not known here", self._here.at)
            key = self._expression()
            self._need(":")
            entries.append((key, self._expression()))
            if self._took(",") is None:
                self._need("}")
                break
        return MapOf(tuple(entries), at=brace.at)
