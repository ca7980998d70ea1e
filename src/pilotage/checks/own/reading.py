"""Reads files of users' checks; everything that is wrong with one is told at once, with its place."""

from __future__ import annotations

import errno
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from pilotage.checks import workloads
from pilotage.checks.dialect import DialectError, MappingNode, SequenceNode, compose, load
from pilotage.checks.dialect import Node as YamlNode
from pilotage.checks.model import Severity
from pilotage.checks.objects import Place
from pilotage.checks.own.evaluation import Question
from pilotage.checks.own.faults import Faults
from pilotage.checks.own.files import all_files
from pilotage.checks.own.lowering import functions_of, lowered, unfolded
from pilotage.checks.own.model import Case, CheckFile, CheckOf, Held, KindOf, OwnCheck, Validation, VariableOf
from pilotage.checks.own.parser import parse
from pilotage.checks.own.tree import ExpressionFault, Index, Literal, Name, Node, Select, free_names, walk
from pilotage.checks.own.vocabulary import hold
from pilotage.checks.values import KeyPath
from pilotage.core.errors import InvalidInput
from pilotage.core.paths import read_bytes
from pilotage.core.text import did_you_mean

RELATIONS: Mapping[str, tuple[str, ...]] = {
    "services": ("Service",),
    "routes": ("Service", "Ingress"),
    "budgets": ("PodDisruptionBudget",),
    "autoscalers": ("HorizontalPodAutoscaler",),
    "namespaceObject": ("Namespace",),
}
"""Variables that hold other objects, with the kinds without which they cannot be told."""
_OF_WORKLOADS = {"workload", "services", "budgets", "autoscalers"}
VARIABLES = ("object", "item", "variables", "workload", *RELATIONS)
_MOST_BYTES = 2_000_000

_PATH = re.compile(r"""\.?([A-Za-z_][\w-]*)|\[(\d{1,4})\]|\[(?:"([^"]+)"|'([^']+)')\]""")


def read_path(text: str) -> KeyPath:
    """The parts of `spec.template.spec.containers[0]`.

    Raises:
        ValueError: it is no path.
    """
    parts: list[str | int] = []
    at = 0
    while at < len(text):
        match = _PATH.match(text, at)
        if match is None or (at and match[1] and text[at] != ".") or (not at and text[0] == "."):
            raise ValueError(
                f"'{text}' is no path: write spec.template.spec.containers, or [0] or ['a.key'] in it"
            )
        key = match[1] or match[3] or match[4]
        parts.append(key or int(match[2]))
        at = match.end()
    return tuple(parts)


def read_files(paths: Sequence[Path], taken: Collection[str] = ()) -> list[OwnCheck]:
    """The checks of files and folders.

    Args:
        paths: files, folders and globs; see `files_of`.
        taken: ids that they may not have.

    Raises:
        InvalidInput: one is wrong; all that is wrong is told.
        NotFound: there is no such file, or no file in a folder.
    """
    return read_texts(((str(path), _content(path)) for path in all_files(paths)), taken)


def read_texts(texts: Iterable[tuple[str, str]], taken: Collection[str] = ()) -> list[OwnCheck]:
    """The checks of texts, each with the name under which it is spoken of.

    Raises:
        InvalidInput: one is wrong; all that is wrong is told.
    """
    found: list[OwnCheck] = []
    faults: list[str] = []
    places: dict[str, Place] = {}
    for name, text in texts:
        checks, wrong = read_text(text, name)
        faults += wrong
        for own in checks:
            id_ = own.stated.id
            if id_ in places or id_ in taken:
                where = f"the one at {places[id_]}" if id_ in places else "a check that is there already"
                faults.append(f"{own.place}: the id '{id_}' is that of {where}")
            places.setdefault(id_, own.place)
        found += checks
    if faults:
        rest = f"\n… and {len(faults) - 20} more" if len(faults) > 20 else ""  # noqa: PLR2004
        raise InvalidInput(
            "\n".join(faults[:20]) + rest,
            hint="docs/howto/write-your-own-check.md says what a check may hold.",
        )
    return found


def _content(path: Path) -> str:
    try:
        return read_bytes(path, _MOST_BYTES).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path} is not UTF-8", hint="Write it again as UTF-8.") from error
    except OSError as error:
        if error.errno == errno.EFBIG:
            raise InvalidInput(f"{path} has more than {_MOST_BYTES:,} bytes", hint="Divide it.") from error
        raise InvalidInput(
            f"{path} cannot be read: {error.strerror}", hint="Name a file that you may read."
        ) from error


def read_text(text: str, name: str) -> tuple[list[OwnCheck], list[str]]:
    """The checks of a text, and what is wrong with it; with anything wrong there are no checks."""
    try:
        value, node = load(text), compose(text)
    except DialectError as error:
        place = f"{name}:{error.line}:{error.column}" if error.line else name
        return [], [f"{place}: {error.message}"]
    if not isinstance(value, dict):
        return [], [f"{name}:1:1: a file of checks begins with 'checks:'"]
    faults = Faults(name, text, node)
    _refuse_twice(node, (), faults)
    try:
        file = CheckFile.model_validate(_tuples(value))
    except ValidationError as error:
        told = error.errors(include_url=False)
        for one in told:
            # A list is also called too short when it is its items that are wrong.
            if one["type"] != "too_short" or not any(_below(other["loc"], one["loc"]) for other in told):
                _say(one, faults)
        return [], faults.lines()
    checks = [_own_check(one, ("checks", position), faults) for position, one in enumerate(file.checks)]
    lines = faults.lines()
    return [] if lines else [one for one in checks if one is not None], lines


def _tuples(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_tuples(one) for one in value)
    if isinstance(value, dict):
        return {key: _tuples(one) for key, one in value.items()}
    return value


def _refuse_twice(node: YamlNode, path: KeyPath, faults: Faults) -> None:
    if node.__class__ is SequenceNode:
        for position, item in enumerate(node.value):
            _refuse_twice(item, (*path, position), faults)
    elif node.__class__ is MappingNode:
        seen: set[str] = set()
        for key, value in node.value:
            if key.value in seen:
                faults.add((*path, key.value), f"the key '{key.value}' stands here twice")
            seen.add(key.value)
            _refuse_twice(value, (*path, key.value), faults)


_PARTS: Mapping[str, Any] = {
    "checks": CheckOf,
    "kinds": KindOf,
    "variables": VariableOf,
    "validations": Validation,
    "tests": Case,
}


def _below(inner: Sequence[Any], outer: Sequence[Any]) -> bool:
    return len(inner) > len(outer) and tuple(inner[: len(outer)]) == tuple(outer)


def _say(error: Any, faults: Faults) -> None:
    path = tuple(part for part in error["loc"] if part not in {"function-before", "constrained-str"})
    kind, last = error["type"], path[-1] if path else ""
    if kind == "extra_forbidden":
        hint = did_you_mean(str(last), _keys_of(path))
        faults.add(path, f"there is no key '{last}' here. {hint}".strip())
    elif kind == "missing":
        faults.add(path[:-1], f"'{last}' is missing")
    elif kind == "string_pattern_mismatch" and last == "id":
        faults.add(path, "an id is words with hyphens between them, such as shop-own-registry")
    elif kind == "too_short":
        faults.add(path, f"'{last}' is empty")
    elif kind == "string_type":
        faults.add(path, f"'{last}' is a text, and what stands here is {_written(error['input'])}")
    elif kind in {"literal_error", "is_instance_of"}:
        expected = error["ctx"].get("expected") or ", ".join(Severity)
        faults.add(path, f"'{last}' is one of {expected}")
    else:
        faults.add(path, f"'{last}': {error['msg'][:1].lower()}{error['msg'][1:].replace('tuple', 'list')}")


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return f"{str(value).lower()} (of `y`, `yes`, `on` and the like YAML makes a truth value: quote it)"
    if isinstance(value, tuple | dict):
        return "a list" if isinstance(value, tuple) else "a map"
    return "nothing" if value is None else f"{value}: quote it"


def _keys_of(path: Sequence[str | int]) -> list[str]:
    model: Any = CheckFile
    for part in path[:-1]:
        if isinstance(part, str):
            model = _PARTS.get(part, model)
    return [one.alias or name for name, one in model.model_fields.items()]


def _field_of_object(node: Node) -> str:
    if isinstance(node, Select) and isinstance(node.operand, Name) and node.operand.name == "object":
        return node.field
    if isinstance(node, Index) and isinstance(node.operand, Name) and node.operand.name == "object":
        return node.key.text.strip("\"'") if isinstance(node.key, Literal) else ""
    return ""


def _own_check(stated: CheckOf, path: KeyPath, faults: Faults) -> OwnCheck | None:
    return _Reader(stated, path, faults).read()


class _Reader:
    """Reads the expressions and paths of one check."""

    def __init__(self, stated: CheckOf, path: KeyPath, faults: Faults) -> None:
        self.stated = stated
        self.path = path
        self.faults = faults
        self.variables: dict[str, Node] = {}
        self.uses: set[str] = set()

    def read(self) -> OwnCheck | None:
        """The check; None where a fault was noted."""
        before = len(self.faults.found)
        stated, items = self.stated, self.stated.each is not None
        each = self._dotted(stated.each, ("each",))
        for position, variable in enumerate(stated.variables):
            node = self._expression(variable.expression, ("variables", position, "expression"), item=items)
            if variable.name in self.variables:
                self.faults.add(
                    (*self.path, "variables", position), f"there are two variables '{variable.name}'"
                )
            elif node is not None:
                self.variables[variable.name] = node
        when = self._expression(stated.when, ("when",), item=False) if stated.when else None
        held, asked, calls = self._validations(items=items)
        self._cases()
        if len(self.faults.found) > before:
            return None
        calls |= functions_of(when) if when is not None else set()
        question = Question(lowered(when) if when is not None else "", tuple(asked), tuple(sorted(calls)))
        return OwnCheck(
            stated, self.faults.place(self.path), when, each, tuple(held), question, frozenset(self.uses)
        )

    def _validations(self, *, items: bool) -> tuple[list[Held], list[tuple[str, str]], set[str]]:
        held: list[Held] = []
        asked: list[tuple[str, str]] = []
        calls: set[str] = set()
        for position, one in enumerate(self.stated.validations):
            at: KeyPath = ("validations", position)
            if one.message is not None and one.message_expression is not None:
                self.faults.add((*self.path, *at), "either 'message' or 'messageExpression', not both")
            node = self._expression(one.expression, (*at, "expression"), item=items)
            message = None
            if one.message_expression is not None:
                message = self._expression(one.message_expression, (*at, "messageExpression"), item=items)
            path = self._dotted(one.path, (*at, "path"))
            if node is None:
                continue
            held.append(Held(one, node, path or ()))
            asked.append((lowered(node), lowered(message) if message is not None else ""))
            calls |= functions_of(node) | (functions_of(message) if message is not None else set())
        return held, asked, calls

    def _dotted(self, text: str | None, at: KeyPath) -> KeyPath | None:
        if text is None:
            return None
        try:
            return read_path(text)
        except ValueError as error:
            self.faults.add((*self.path, *at), str(error))
            return None

    def _expression(self, text: str, at: KeyPath, *, item: bool) -> Node | None:
        known = [name for name in VARIABLES if name != "item" or item]
        try:
            node = parse(text)
            hold(node, known)
            node = unfolded(node, self.variables)
        except ExpressionFault as fault:
            self.faults.add((*self.path, *at), fault.message, fault, text)
            return None
        self._kept(node, (*self.path, *at))
        used = {name.name for name in free_names(node)}
        self.uses |= used
        self._applies(used, (*self.path, *at))
        return node

    def _kept(self, node: Node, at: KeyPath) -> None:
        """Refuses parts of objects that a run does not keep, lest they look absent."""
        kinds = {one.kind for one in self.stated.kinds}
        for one in walk(node):
            field = _field_of_object(one)
            if field == "status":
                self.faults.add(
                    at, "'object.status' is not there: checks look at what is written, not at states"
                )
            elif field in {"data", "stringData"} and "Secret" in kinds:
                self.faults.add(at, f"'object.{field}' of a Secret is not there: its values are never read")

    def _applies(self, used: set[str], at: KeyPath) -> None:
        kinds = [one.kind for one in self.stated.kinds]
        strange = [kind for kind in kinds if kind not in workloads.KINDS]
        for name in sorted(used & _OF_WORKLOADS):
            if strange:
                self.faults.add(at, f"'{name}' is known for kinds that run pods, not for {strange[0]}")
        strange = [kind for kind in strange if kind != "Service"]
        if "routes" in used and strange:
            self.faults.add(
                at, f"'routes' is known for Services and kinds that run pods, not for {strange[0]}"
            )

    def _cases(self) -> None:
        for position, case in enumerate(self.stated.tests):
            at = (*self.path, "tests", position)
            if (case.manifest is None) == (not case.files):
                self.faults.add(at, "a test has either 'manifest' or 'files'")
            if case.messages is not None and case.expect != "gap":
                self.faults.add(at, "'messages' belong to a test that expects a gap")
