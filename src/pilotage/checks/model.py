"""What a check is and what it can say.

A check is a generator over a `Scene`. For every object that it looked at it yields a `Gap`, a `Pass`, an
`Unknown` or a `NotApplicable`; of what it yields nothing about it says nothing, so silence never counts as
a pass. The runner turns gaps into findings.
"""

from __future__ import annotations

import enum
import functools
import inspect
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import msgspec

from pilotage.checks.objects import Place, Subject
from pilotage.checks.values import KeyPath, pointer

if TYPE_CHECKING:
    from pilotage.checks.scene import Scene

OWN = "own"
"""The family of checks that users wrote."""


class Severity(enum.StrEnum):
    """How bad it would be."""

    CRITICAL = "critical"
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"

    @property
    def rank(self) -> int:
        """3 for critical, 0 for low."""
        return 3 - list(Severity).index(self)

    def lowered(self) -> Severity:
        """The next lower one."""
        return list(Severity)[min(list(Severity).index(self) + 1, 3)]


class Confidence(enum.StrEnum):
    """How sure it is that the gap is one."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class Operation(msgspec.Struct, frozen=True):
    """One step of a patch, as in RFC 6902.

    Attributes:
        op: `add`, `replace`, `remove` or `move`.
        path: where; `-` as the last part appends to a list.
        value: what to put there.
        source: for a move, from where.
    """

    op: str
    path: KeyPath
    value: Any = None
    source: KeyPath = ()

    def as_json(self) -> dict[str, Any]:
        """The step as a JSON Patch has it."""
        step: dict[str, Any] = {"op": self.op}
        if self.op == "move":
            step["from"] = pointer(self.source)
        step["path"] = pointer(self.path)
        if self.op in {"add", "replace"}:
            step["value"] = self.value
        return step


Patch = tuple[Operation, ...]
"""A change of one object that mends it without anybody having to think."""


class Gap(msgspec.Struct, frozen=True):
    """What a check found, in its own words; the runner adds the rest.

    Attributes:
        subject: the object.
        message: what is wrong with it, one sentence that names figures.
        path: the part of the object that is wrong; where something is absent, the part that should hold it.
        evidence: what was read there, `key: value` or one sentence; each an item.
        fix: what to write instead; empty takes the check's own.
        patch: the change, where it is mechanical.
        severity: where it differs from the check's.
        confidence: how sure it is.
        incidents: where they differ from the check's.
        related: other objects that the finding rests on.
    """

    subject: Subject
    message: str
    path: KeyPath = ()
    evidence: tuple[str, ...] = ()
    fix: str = ""
    patch: Patch = ()
    severity: Severity | None = None
    confidence: Confidence = Confidence.HIGH
    incidents: tuple[str, ...] | None = None
    related: tuple[Subject, ...] = ()


class Pass(msgspec.Struct, frozen=True):
    """The check looked at the object and it is in order."""

    subject: Subject


class NotApplicable(msgspec.Struct, frozen=True):
    """The check has nothing to say about the object, and why."""

    subject: Subject
    why: str


class Unknown(msgspec.Struct, frozen=True):
    """The check could not look: a permission, an absent kind, something unparsable.

    Attributes:
        why: one sentence.
        subject: the object; None where it could not look at all.
        path: the part that could not be read.
    """

    why: str
    subject: Subject | None = None
    path: KeyPath = ()


Answer = Gap | Pass | NotApplicable | Unknown
Answers = Iterator[Answer]


class Cited(msgspec.Struct, frozen=True):
    """An incident that a check or a finding refers to.

    Attributes:
        id: id of the record.
        exact: whether it was caused by this very gap; else it shows the same mechanism.
    """

    id: str
    exact: bool


class _DocumentationOnly(enum.Enum):
    MARK = "documentation only"


DOCUMENTATION_ONLY = _DocumentationOnly.MARK
"""In place of incidents: none is known, the check rests on documentation; its page says on which."""

ANYTHING = "*"
"""In place of kinds: the check looks at whatever there is, and asks a cluster for nothing by itself."""

SECTIONS = ("What it does", "Why it matters", "Incidents", "Fix", "References")


class Check(msgspec.Struct, frozen=True, dict=True):
    """One check.

    Attributes:
        id: kebab-case, never reused.
        title: what is wrong when it fires, a few words.
        severity: unless a gap says otherwise.
        cited: incidents; empty when it is documentation only.
        about: the kinds that it looks at.
        needs: the kinds without which it cannot tell; where one cannot be read, it answers `Unknown`.
        chart_severity: the most that it is in a chart with nobody's values but its own; None means no
            difference.
        written: gives the page.
        look: the generator.
        family: name of its module.
        uses: kinds that it takes into account where they are; one that is not readable is told as well.
        breaks: whether it is as bad in what nobody relies on.
    """

    id: str
    title: str
    severity: Severity
    cited: tuple[Cited, ...]
    about: tuple[str, ...]
    needs: tuple[str, ...]
    chart_severity: Severity | None
    written: Callable[[], dict[str, str]]
    look: Callable[[Scene], Answers]
    family: str
    uses: tuple[str, ...] = ()
    breaks: bool = False

    @property
    def own(self) -> bool:
        """Whether a user wrote it."""
        return self.family == OWN

    @property
    def documentation_only(self) -> bool:
        """Whether no public incident is known and it rests on documentation."""
        return not self.cited and not self.own

    @functools.cached_property
    def page(self) -> dict[str, str]:
        """Section -> text; read when somebody asks, which of most checks nobody does."""
        return self.written()

    @property
    def fix(self) -> str:
        """The first paragraph of the section Fix."""
        return " ".join(self.page["Fix"].split("\n\n")[0].split())

    @property
    def references(self) -> list[str]:
        """The addresses of the section References."""
        return re.findall(r"https?://[^\s>)]+", self.page["References"])


def check(  # noqa: PLR0913 - as many as a check has properties
    id: str,  # noqa: A002 - the word of the model
    *,
    title: str,
    severity: Severity,
    incidents: tuple[str, ...] | _DocumentationOnly,
    alike: tuple[str, ...] = (),
    about: tuple[str, ...],
    needs: tuple[str, ...] = (),
    uses: tuple[str, ...] = (),
    chart_severity: Severity | None = None,
    breaks: bool = False,
) -> Callable[[Callable[[Scene], Answers]], Check]:
    """Makes a check of a generator; registers nothing.

    Args:
        id: kebab-case, never reused.
        title: what is wrong when it fires.
        severity: how bad it would be.
        incidents: ids of records that this very gap caused, or `DOCUMENTATION_ONLY`.
        alike: ids of records that show the same mechanism, though not this very line.
        about: kinds that it looks at.
        needs: further kinds without which it cannot tell.
        uses: further kinds that it takes into account where they are.
        chart_severity: severity in a chart with its default values, where a user has chosen nothing yet.
        breaks: whether what it tells is refused, ignored or leads nowhere, which is as bad in an example.
            What only waits for a bad day is milder where nobody relies on the object.
    """

    def made(look: Callable[[Scene], Answers]) -> Check:
        exact = () if isinstance(incidents, _DocumentationOnly) else incidents
        if not exact and not alike and not isinstance(incidents, _DocumentationOnly):
            raise ValueError(f"{id}: name an incident, or say DOCUMENTATION_ONLY")
        return Check(
            id=id,
            title=title,
            severity=severity,
            cited=(*(Cited(one, exact=True) for one in exact), *(Cited(one, exact=False) for one in alike)),
            about=about,
            needs=needs,
            uses=uses,
            chart_severity=chart_severity,
            written=lambda: read_page(inspect.getdoc(look) or "", id),
            look=look,
            family=look.__module__.rpartition(".")[2],
            breaks=breaks,
        )

    return made


def read_page(text: str, where: str) -> dict[str, str]:
    """The five sections of a docstring.

    Raises:
        ValueError: one is missing, empty or out of order.
    """
    heads = "|".join(SECTIONS)
    parts = re.split(rf"^({heads}):?[ ]*$", text, flags=re.MULTILINE)
    names = tuple(parts[1::2])
    if names != SECTIONS or parts[0].strip():
        raise ValueError(
            f"{where}: the docstring must have the sections {', '.join(SECTIONS)}, found {names}"
        )
    page = {
        name: inspect.cleandoc("\n" + body.strip("\n")) for name, body in zip(names, parts[2::2], strict=True)
    }
    empty = [name for name, body in page.items() if not body.strip()]
    if empty:
        raise ValueError(f"{where}: empty section {empty[0]}")
    return page


class Finding(msgspec.Struct, frozen=True):
    """What a reader gets.

    Attributes:
        check: the check's id.
        title: the check's title.
        severity: with all overrides applied.
        confidence: how sure it is.
        place: where.
        subject: key of the object.
        message: what is wrong.
        evidence: what was read.
        fix: what to write instead.
        patch: the change, where it is mechanical.
        incidents: what it refers to.
        fingerprint: stable under moves and under changes of unrelated things.
        related: places of other objects that it rests on.
        count: for how many objects of the same owner it stands.
    """

    check: str
    title: str
    severity: Severity
    confidence: Confidence
    place: Place
    subject: str
    message: str
    evidence: tuple[str, ...]
    fix: str
    patch: Patch
    incidents: tuple[Cited, ...]
    fingerprint: str
    related: tuple[Place, ...] = ()
    count: int = 1
