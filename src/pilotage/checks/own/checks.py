"""Makes runnable checks of what users wrote: with the same answers and ignores as those that are shipped."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

from pilotage.checks.model import OWN, Answer, Answers, Check, Cited, Gap, NotApplicable, Pass, Unknown
from pilotage.checks.objects import KubeObject
from pilotage.checks.own.evaluation import Asked, Evaluator, Limits, NoAnswer
from pilotage.checks.own.model import Held, OwnCheck
from pilotage.checks.own.reading import RELATIONS, read_files
from pilotage.checks.own.views import Unseen, variables_of, without_nulls
from pilotage.checks.scene import Scene
from pilotage.checks.values import KeyPath, as_list, dotted
from pilotage.checks.workloads import workload_of
from pilotage.core.errors import InvalidInput

_MOST_EVIDENCE = 5
_AT_ONCE = 50
"""Objects that are sent to the process together."""
_PIECE = "it is only a piece of an object, such as a patch: none of its containers names an image"


@contextlib.contextmanager
def own_checks(
    paths: Sequence[Path], taken: Collection[str] = (), limits: Limits | None = None
) -> Iterator[dict[str, Check]]:
    """The checks of some files by id, for as long as they are needed; their process ends with this.

    Args:
        paths: files and folders of checks.
        taken: ids that they may not have.
        limits: what the evaluation of a check for an object may take.

    Raises:
        InvalidInput: a file is wrong.
        MissingExtra: the CEL library is not installed.
    """
    checks = read_files(paths, taken)
    with Evaluator(limits or Limits()) as evaluator:
        prove(checks, evaluator)
        yield {own.stated.id: check_of(own, evaluator) for own in checks}


def prove(checks: Sequence[OwnCheck], evaluator: Evaluator) -> None:
    """Has all expressions compiled, so that what the library cannot read is told before anything is checked.

    Raises:
        InvalidInput: it cannot read one.
    """
    for own in checks:
        try:
            evaluator.prove(own.question)
        except NoAnswer as error:
            raise InvalidInput(
                f"{own.place}: {own.stated.id}: an expression cannot be read: {error}",
                hint="Write it in another way.",
            ) from error


def check_of(own: OwnCheck, evaluator: Evaluator) -> Check:
    """The check that asks what a user wrote."""
    stated = own.stated

    def look(scene: Scene) -> Answers:
        subjects = _subjects(own, scene)
        while objects := list(itertools.islice(subjects, _AT_ONCE)):
            yield from _answers(own, objects, scene, evaluator)

    kinds = [one.kind for one in stated.kinds]
    grouped = [f"{one.kind}.{one.group}" for one in stated.kinds if one.group]
    needs = dict.fromkeys(kind for name in sorted(own.uses) for kind in RELATIONS.get(name, ()))
    return Check(
        id=stated.id,
        title=stated.title,
        severity=stated.severity,
        cited=(
            *(Cited(one, exact=True) for one in stated.incidents),
            *(Cited(one, exact=False) for one in stated.alike),
        ),
        about=(*kinds, *grouped),
        needs=tuple(kind for kind in needs if kind not in kinds),
        chart_severity=stated.chart_severity,
        written=lambda: _page(own),
        look=look,
        family=OWN,
        breaks=stated.chart_severity is None,
    )


def _page(own: OwnCheck) -> dict[str, str]:
    stated = own.stated
    kinds = ", ".join(one.kind for one in stated.kinds)
    asked = "\n".join(f"- `{one.stated.expression.strip()}`" for one in own.held)
    what = (
        stated.what
        or f"Looks at {kinds} and holds {'each item of ' + stated.each if stated.each else 'each'} to:"
    )
    none = "None is named." if not (stated.incidents or stated.alike) else "See the incidents that it cites."
    return {
        "What it does": what if stated.what else f"{what}\n\n{asked}",
        "Why it matters": stated.why or f"A check of your own, in {own.place}.",
        "Incidents": none,
        "Fix": stated.fix,
        "References": "\n".join(f"- {one}" for one in stated.references) or f"- {own.place}",
    }


def _subjects(own: OwnCheck, scene: Scene) -> Iterator[KubeObject]:
    for kind in own.stated.kinds:
        names = [kind.kind, f"{kind.kind}.{kind.group}"] if kind.group else [kind.kind]
        for one in scene.of(*names):
            if kind.group is not None and one.group != kind.group:
                continue
            # Pods of a Deployment that is looked at itself would each tell the same again.
            if workload_of(one) is None or scene.owner(one) is one:
                yield one


def _answers(own: OwnCheck, objects: Sequence[KubeObject], scene: Scene, evaluator: Evaluator) -> Answers:
    asked: list[Asked] = []
    told: dict[int, Answer] = {}
    for number, one in enumerate(objects):
        view = workload_of(one)
        if view is not None and view.partial:
            told[number] = Unknown(_PIECE, one)
            continue
        try:
            variables = variables_of(one, scene, own.uses)
        except Unseen as error:
            told[number] = Unknown(str(error), one)
            continue
        items = None if own.each is None else as_list(one.get(*own.each))
        if own.each is not None and not items:
            told[number] = NotApplicable(one, f"{dotted(own.each)} is empty or absent")
            continue
        asked.append(Asked(variables, without_nulls(items)))
    answers = iter(evaluator.ask(own.question, asked))
    for number, one in enumerate(objects):
        if number in told:
            yield told[number]
            continue
        answer = next(answers)
        if isinstance(answer, NoAnswer):
            yield Unknown(str(answer), one)
        else:
            yield from _of_object(own, one, answer)


def _condition(one: KubeObject, answer: dict[str, Any]) -> Answer | None:
    """What the answer to `when` already says; None where the validations decide."""
    when = answer["when"]
    if "fault" in when:
        return Unknown(f"'when' cannot be told: {when['fault']}", one)
    if when["value"] is True:
        return None
    if when["value"] is False:
        return NotApplicable(one, "its condition 'when' is not met")
    return Unknown("'when' gives a text, neither true nor false", one)


def _of_object(own: OwnCheck, one: KubeObject, answer: dict[str, Any]) -> Answers:
    """One finding for each validation, however many items fail it."""
    decided = _condition(one, answer)
    if decided is not None:
        yield decided
        return
    of: dict[int, list[Answer]] = {position: [] for position in range(len(own.held))}
    for number, results in enumerate(answer["held"]):
        at = () if own.each is None else (*own.each, number)
        for position, (held, result) in enumerate(zip(own.held, results, strict=True)):
            said = _said(own, one, held, result, at)
            if said is not None:
                of[position].append(said)
    told = [said for found in of.values() for said in _joined(found)]
    yield from told or [Pass(one)]


def _joined(found: Sequence[Answer]) -> Iterator[Answer]:
    gaps = [one for one in found if isinstance(one, Gap)]
    yield from (one for one in found if not isinstance(one, Gap))
    if gaps:
        first, rest = gaps[0], gaps[1:]
        more = tuple(f"{dotted(one.path)}: {one.message}" for one in rest[:_MOST_EVIDENCE])
        if len(rest) > _MOST_EVIDENCE:
            more = (*more, f"and {len(rest) - _MOST_EVIDENCE} more")
        yield Gap(first.subject, first.message, first.path, evidence=(*first.evidence, *more))


def _said(own: OwnCheck, one: KubeObject, held: Held, result: dict[str, Any], at: KeyPath) -> Answer | None:
    path = (*at, *held.path)
    if "fault" in result:
        return Unknown(f"`{_short(held)}` cannot be told: {result['fault']}", one, path)
    if result["value"] is True:
        return None
    if result["value"] is not False:
        return Unknown(f"`{_short(held)}` gives a text, neither true nor false", one, path)
    message = held.stated.message or own.stated.title
    made = result.get("message")
    notes: tuple[str, ...] = ()
    if made is not None:
        if isinstance(made.get("value"), str) and made["value"].strip():
            message = made["value"].strip()
        else:
            notes = (f"no message: {made.get('fault', 'its expression gives no text')}",)
    evidence = (f"{dotted(path)}: {_seen(one.get(*path))}",) if path else ()
    return Gap(one, message, path, evidence=(*evidence, f"false: {_short(held)}", *notes))


def _short(held: Held) -> str:
    text = " ".join(held.stated.expression.split())
    return text if len(text) <= 120 else text[:119] + "…"  # noqa: PLR2004


def _seen(value: Any) -> str:
    if value is None:
        return "absent"
    if isinstance(value, dict | list):
        return f"{len(value)} entries"
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return text if len(text) <= 120 else text[:119] + "…"  # noqa: PLR2004
