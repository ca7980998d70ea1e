"""What a file of users' checks holds, and what is made of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from pilotage.checks.model import Severity
from pilotage.checks.objects import Place
from pilotage.checks.own.evaluation import Question
from pilotage.checks.own.tree import Node
from pilotage.checks.values import KeyPath

Outcome = Literal["gap", "pass", "not-applicable", "unknown"]
_Id = Annotated[str, Field(pattern=r"^[a-z][a-z0-9]*(-[a-z0-9]+)+$", max_length=63)]
_Text = Annotated[str, Field(min_length=1, max_length=2_000)]
_Expression = Annotated[str, Field(min_length=1)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, use_attribute_docstrings=True)


class KindOf(_Part):
    """A kind of object."""

    kind: Annotated[str, Field(min_length=1)]
    """As in `kind: Deployment`."""
    group: str | None = None
    """API group; none is needed for kinds of Kubernetes itself."""
    resource: str | None = None
    """Its name in addresses (`certificates`); needed for the export of other kinds."""


def _severity(value: Any) -> Any:
    return Severity(value) if isinstance(value, str) and value in set(Severity) else value


def _kind(value: Any) -> Any:
    return {"kind": value} if isinstance(value, str) else value


class VariableOf(_Part):
    """A value with a name, for expressions below it: `variables.NAME`."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
    expression: _Expression


class Validation(_Part):
    """Something that must be true."""

    expression: _Expression
    message: _Text | None = None
    """What is wrong when it is false; default: the title."""
    message_expression: Annotated[_Expression | None, Field(alias="messageExpression")] = None
    """CEL that gives the message."""
    path: str | None = None
    """The part of the object (of the item, with `each`) that is then wrong."""


class Case(_Part):
    """A test of a check."""

    name: _Text
    manifest: str | None = None
    """Text of one or several documents."""
    files: tuple[str, ...] = ()
    """Files with manifests, relative to the file of the check."""
    expect: Outcome
    messages: tuple[str, ...] | None = None
    """The messages of the gaps, all of them."""


class CheckOf(_Part):
    """A check as a user writes it."""

    id: _Id
    title: Annotated[str, Field(min_length=1, max_length=120)]
    severity: Annotated[Severity, BeforeValidator(_severity)]
    kinds: Annotated[tuple[Annotated[KindOf, BeforeValidator(_kind)], ...], Field(min_length=1)]
    when: _Expression | None = None
    """Whether the check has anything to say about an object."""
    each: str | None = None
    """A list in the object; its items are asked about one after the other as `item`."""
    variables: tuple[VariableOf, ...] = ()
    validations: Annotated[tuple[Validation, ...], Field(min_length=1)]
    fix: _Text
    what: _Text | None = None
    why: _Text | None = None
    references: tuple[str, ...] = ()
    incidents: tuple[str, ...] = ()
    """Incidents that this very gap caused."""
    alike: tuple[str, ...] = ()
    """Incidents of the same mechanism."""
    chart_severity: Annotated[
        Severity | None,
        Field(alias="chartSeverity"),
        BeforeValidator(_severity),
    ] = None
    tests: tuple[Case, ...] = ()


class CheckFile(_Part):
    """The file."""

    checks: Annotated[tuple[CheckOf, ...], Field(min_length=1)]


@dataclass(frozen=True)
class Held:
    """A validation, read.

    Attributes:
        stated: as it was written.
        expression: its parts, with the variables put in.
        path: the part of the object, or of the item, that it speaks of.
    """

    stated: Validation
    expression: Node
    path: KeyPath


@dataclass(frozen=True, eq=False)
class OwnCheck:
    """A check of a user, read and found in order.

    Attributes:
        stated: as it was written.
        place: where it stands.
        when: its condition, with the variables put in.
        each: the list whose items are asked about; None asks about the object.
        held: its validations.
        question: what the process is asked.
        uses: the variables that its expressions use.
    """

    stated: CheckOf
    place: Place
    when: Node | None
    each: KeyPath | None
    held: tuple[Held, ...]
    question: Question
    uses: frozenset[str]
