"""Tries users' checks on the cases that stand beside them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pilotage.checks.model import Answer, Check, Gap, NotApplicable, Pass, Unknown
from pilotage.checks.objects import Place
from pilotage.checks.own.checks import check_of
from pilotage.checks.own.evaluation import Evaluator
from pilotage.checks.own.model import Case, Outcome, OwnCheck
from pilotage.checks.readers.assemble import assemble
from pilotage.checks.readers.files import read_paths
from pilotage.checks.readers.files import read_text as read_manifest
from pilotage.checks.readers.reading import Reading
from pilotage.checks.runner import run
from pilotage.core.errors import NotFound


@dataclass(frozen=True)
class Tried:
    """What came of a case.

    Attributes:
        check: id of the check.
        case: name of the case.
        place: where the check stands.
        wrong: what is not as expected, each a sentence; empty where all is.
        unread: whether the manifests of the case could not be read.
    """

    check: str
    case: str
    place: Place
    wrong: tuple[str, ...] = ()
    unread: bool = False


@dataclass(frozen=True)
class Trial:
    """What came of all cases.

    Attributes:
        tried: each case.
        lacking: check -> what no case of it shows: a gap, a pass.
    """

    tried: tuple[Tried, ...]
    lacking: dict[str, tuple[str, ...]]

    @property
    def failed(self) -> tuple[Tried, ...]:
        """The cases that are not as expected."""
        return tuple(one for one in self.tried if one.wrong)


def try_checks(checks: Sequence[OwnCheck], evaluator: Evaluator) -> Trial:
    """Tries every case of some checks."""
    tried: list[Tried] = []
    lacking: dict[str, tuple[str, ...]] = {}
    for own in checks:
        check = check_of(own, evaluator)
        tried += [_tried(own, check, case) for case in own.stated.tests]
        expected = {case.expect for case in own.stated.tests}
        missing = tuple(one for one in ("gap", "pass") if one not in expected)
        if missing:
            lacking[check.id] = missing
    return Trial(tuple(tried), lacking)


def _tried(own: OwnCheck, check: Check, case: Case) -> Tried:
    id_, place = own.stated.id, own.place
    try:
        reading = _read(own, case)
    except NotFound as error:
        return Tried(id_, case.name, place, (error.message,), unread=True)
    if reading.problems:
        wrong = tuple(f"{one.place}: {one.message}" for one in reading.problems)
        return Tried(id_, case.name, place, wrong, unread=True)
    answers: list[Answer] = []
    run({id_: check}, assemble(reading), reading=reading, listener=lambda _, answer: answers.append(answer))
    return Tried(id_, case.name, place, tuple(_differences(case, answers)))


def _read(own: OwnCheck, case: Case) -> Reading:
    if case.manifest is not None:
        return read_manifest(case.manifest, f"{own.stated.id}/{case.name}.yaml")
    folder = Path(own.place.file).parent
    return read_paths([str(folder / one) for one in case.files])


def outcome_of(answers: Sequence[Answer]) -> Outcome:
    """The word for some answers: the gravest of them."""
    kinds: tuple[tuple[type, Outcome], ...] = ((Gap, "gap"), (Unknown, "unknown"), (Pass, "pass"))
    for kind, word in kinds:
        if any(isinstance(one, kind) for one in answers):
            return word
    return "not-applicable"


def _differences(case: Case, answers: Sequence[Answer]) -> Iterator[str]:
    found = outcome_of(answers)
    if found != case.expect:
        yield f"expected {case.expect}, found {found}{_because(answers)}"
        return
    messages = [one.message for one in answers if isinstance(one, Gap)]
    if case.messages is not None and sorted(messages) != sorted(case.messages):
        yield f"expected the messages {list(case.messages)}, found {messages}"


def _because(answers: Sequence[Answer]) -> str:
    if not answers:
        return ": it looked at nothing"
    said = []
    for one in answers:
        if isinstance(one, Gap):
            said.append(one.message)
        elif isinstance(one, Unknown | NotApplicable):
            said.append(one.why)
    return f": {'; '.join(said[:3])}" if said else ""
