"""Keys that stand twice: in a list whose items are told apart by them, and in a mapping."""
# ruff: noqa: D205, D212, D416 - the docstring of a check is its page, in fixed sections

from __future__ import annotations

from pilotage.checks.model import (
    ANYTHING,
    DOCUMENTATION_ONLY,
    Answers,
    Gap,
    NotApplicable,
    Pass,
    Severity,
    check,
)
from pilotage.checks.objects import Document, KubeObject
from pilotage.checks.repeating import Repeating, repeated_keys
from pilotage.checks.scene import Scene
from pilotage.checks.schema import words
from pilotage.checks.schema.guards import is_guard
from pilotage.checks.schema.published import server_rows
from pilotage.checks.schema.shapes import Sequence, Struct
from pilotage.checks.schema.survey import Look, answers
from pilotage.checks.schema.walk import Fault, Rule
from pilotage.checks.values import KeyPath, dig, dotted

ZALANDO = "zalando-2018-09-07-iam-404-cronjob-api-server-oom"
_MOST_EVIDENCE = 5
_HOLDERS = frozenset(
    {"spec", "template", "containers", "initContainers", "env", "volumes", "rules", "webhooks"}
)


@check(
    "duplicate-list-key",
    title="Two items of a list have the same key",
    severity=Severity.HIGH,
    breaks=True,
    incidents=DOCUMENTATION_ONLY,
    about=(ANYTHING,),
)
def duplicate_list_key(scene: Scene) -> Answers:
    """
    What it does
    Looks for lists whose items are told apart by a key and that hold one key twice: two environment variables
    of one name, two ports of one number and protocol, two volumes of one name. Where the API server refuses
    the second, it is of high severity; two environment variables with different values are of medium, two
    equal items of low severity.

    Why it matters
    Of two environment variables the last one counts, and a later `kubectl apply` that takes one of them out
    can take out both, since it merges the list by that key.

    Incidents
    No public incident is known to us; the behaviour is documented.

    Fix
    Keep one of them.

    References
    - https://kubernetes.io/docs/reference/using-api/server-side-apply/#merge-strategy
    """
    for answer in answers(scene, Rule.REPEATED):
        if isinstance(answer, NotApplicable | Pass):
            yield answer
            continue
        look, found = answer
        for fault in found:
            yield _repeated_gap(look, fault)


def _repeated_gap(look: Look, fault: Fault) -> Gap:
    items = [dig(look.data, *fault.path[:-1], position) for position in fault.positions]
    holder = _holder(look, fault.path[:-2])
    taken = f"{holder}.{fault.path[-2]}" in server_rows("repeats_accepted")
    severity = Severity.HIGH
    if taken:
        severity = Severity.LOW if all(item == items[0] for item in items) else Severity.MEDIUM
    keys = fault.shape.keys if isinstance(fault.shape, Sequence) else ()
    return Gap(
        look.object,
        words.repeated(fault, keys, refused=not taken),
        fault.path,
        evidence=tuple(
            f"{dotted((*fault.path[:-1], position))}: {words.shown(item)}"
            for position, item in list(zip(fault.positions, items, strict=True))[:_MOST_EVIDENCE]
        ),
        severity=severity,
    )


def _holder(look: Look, path: KeyPath) -> str:
    """The name of the type of a part of an object."""
    shape: object = look.shape
    for part in path:
        if isinstance(shape, Struct):
            shape = shape.fields.get(str(part))
        elif isinstance(shape, Sequence):
            shape = shape.item
    return shape.name if isinstance(shape, Struct) else ""


@check(
    "duplicate-key",
    title="A key stands twice in a mapping, and the first one is lost",
    severity=Severity.MEDIUM,
    breaks=True,
    incidents=(),
    alike=(ZALANDO,),
    about=(ANYTHING,),
)
def duplicate_key(scene: Scene) -> Answers:
    """
    What it does
    Looks in YAML for mappings that name a key twice: two `resources:` in one container, two `env:`, one label
    twice. Fields that guard are of high severity; where the same value stands each time, it is low.

    Why it matters
    kubectl takes the last one and says nothing. What stands under the first is lost, though it reads as if
    it held: a limit, a probe, half of the environment. It happens when two branches each add the key and
    merge without a conflict.

    Incidents
    No public incident is known that began with a key that stood twice. In Zalando's CronJob settings were
    lost in the same silence, since they stood at the wrong level: runs piled up, and the API server was
    killed.

    Fix
    Join what stands under both.

    References
    - https://yaml.org/spec/1.2.2/#3213-node-comparison
    """
    for one in scene.objects:
        if one.document is None:
            yield NotApplicable(one, "a cluster keeps one of each")
            continue
        found = list(repeated_keys(one.data)) if isinstance(one.data, Repeating) else []
        found = [path for path in found if path[0] != "status"]
        if not found:
            yield Pass(one)
        for path in found:
            yield _twice_gap(one, one.document, path)


def _twice_gap(one: KubeObject, document: Document, path: KeyPath) -> Gap:
    way = (*one.prefix, *path)
    lines = document.lines_of_key(way)
    stands = ", ".join(str(line) for line in lines)
    same = document.same_each_time(way)
    what = "with the same value" if same else "and only the last one counts"
    return Gap(
        one,
        f"`{path[-1]}` stands {_times(len(lines))} in {words.level(path[:-1])}, {what}",
        path,
        evidence=(f"{dotted(path)}: lines {stands}",),
        fix=_fix(one, path, same=same),
        severity=_twice_severity(path[-1], same=same),
    )


def _fix(one: KubeObject, path: KeyPath, *, same: bool) -> str:
    if same:
        return "Keep one of them, before somebody changes the other."
    value = one.get(*path)
    if isinstance(value, dict | list):
        return ""
    last = "the last" if one.kind == "Secret" else f"`{words.shown(value)}`"
    return f"Keep the one that is meant: {last} counts now."


def _twice_severity(key: str | int, *, same: bool) -> Severity:
    if same:
        return Severity.LOW
    return Severity.HIGH if is_guard(key) or key in _HOLDERS else Severity.MEDIUM


def _times(count: int) -> str:
    return "twice" if count == 2 else f"{count} times"  # noqa: PLR2004


CHECKS = (duplicate_key, duplicate_list_key)
