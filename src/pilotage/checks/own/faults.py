"""What is wrong with a file of users' checks: each fault with its line, its column and its place in CEL."""

from __future__ import annotations

from pilotage.checks.dialect import MappingNode, ScalarNode, SequenceNode
from pilotage.checks.dialect import Node as YamlNode
from pilotage.checks.objects import Place
from pilotage.checks.own.tree import ExpressionFault
from pilotage.checks.values import KeyPath


class Faults:
    """What is wrong with a file, with places.

    Args:
        name: the file.
        text: all of it.
        node: its YAML.
    """

    def __init__(self, name: str, text: str, node: YamlNode) -> None:
        self._name = name
        self._lines = text.split("\n")
        self._node = node
        self.found: list[tuple[int, int, str]] = []

    def place(self, path: KeyPath) -> Place:
        """Where the deepest part of a path that is there stands."""
        line, column, _ = _value_at(self._node, path)
        return Place(self._name, line, column)

    def add(self, path: KeyPath, message: str, fault: ExpressionFault | None = None, text: str = "") -> None:
        """Notes a fault at a path; for an expression also where in its text."""
        line, column, value = _value_at(self._node, path)
        if fault is not None:
            before = text[: fault.offset]
            row, place = before.count("\n"), len(before) - (before.rfind("\n") + 1)
            message = f"{message} (at {row + 1}:{place + 1} of the expression)"
            line, column = self._inside(value, row, place, line, column)
        self.found.append((line, column, message))

    def lines(self) -> list[str]:
        """`file:line:column: message`, in the order of the file."""
        return [
            f"{self._name}:{line}:{column}: {message}" for line, column, message in sorted(set(self.found))
        ]

    def _inside(self, node: YamlNode, row: int, place: int, line: int, column: int) -> tuple[int, int]:
        """The place in the file of a place in an expression, where it stands there as it is read."""
        if node.__class__ is not ScalarNode:
            return line, column
        start = node.start_mark
        if node.style == "|":
            # The text begins on the next line; all of it is moved by the same number of blanks.
            return start.line + 2 + row, place + 1 + self._indent(start.line + 1)
        if node.style == ">" or row:
            return start.line + 1, start.column + 1
        return start.line + 1, start.column + 1 + place + (1 if node.style in {"'", '"'} else 0)

    def _indent(self, first: int) -> int:
        written = next((line for line in self._lines[first:] if line.strip()), "")
        return len(written) - len(written.lstrip(" "))


def _value_at(node: YamlNode, path: KeyPath) -> tuple[int, int, YamlNode]:
    """Line and column of the deepest part of a path that is there, and its node."""
    key = node
    for part in path:
        found = None
        if isinstance(part, int) and node.__class__ is SequenceNode and part < len(node.value):
            found = node.value[part], node.value[part]
        elif isinstance(part, str) and node.__class__ is MappingNode:
            found = next(((one, value) for one, value in node.value if one.value == part), None)
        if found is None:
            break
        key, node = found
    return key.start_mark.line + 1, key.start_mark.column + 1, node
