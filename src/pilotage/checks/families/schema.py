"""Manifests against the definitions: fields that nobody reads, values that the API server refuses."""
# ruff: noqa: D205, D212, D416 - the docstring of a check is its page, in fixed sections

from __future__ import annotations

from collections.abc import Callable, Iterator

from pilotage.checks.absence import to_be_completed
from pilotage.checks.families.cronjobs import settings_out_of_place
from pilotage.checks.model import (
    ANYTHING,
    Answers,
    Confidence,
    Gap,
    NotApplicable,
    Operation,
    Pass,
    Patch,
    Severity,
    Unknown,
    check,
)
from pilotage.checks.placeholders import is_encrypted, is_unwritten, left_open
from pilotage.checks.scene import Scene
from pilotage.checks.schema import words
from pilotage.checks.schema.gone_volumes import in_gone_volume
from pilotage.checks.schema.guards import WRITTEN_TO_HOLD, weight
from pilotage.checks.schema.misplacing import misplaced_gap, together
from pilotage.checks.schema.places import Suggestion, suggest
from pilotage.checks.schema.survey import Look, answers, is_piece, looks, survey, written_elsewhere
from pilotage.checks.schema.walk import Fault, Rule
from pilotage.checks.values import KeyPath, as_map, dig, dotted

ZALANDO = "zalando-2018-09-07-iam-404-cronjob-api-server-oom"
MONZO = "monzo-2017-10-27-partial-outage-linkerd-empty-endpoints"
GOOGLE = "google-cloud-2025-06-12-service-control-null-policy"
SKYSCANNER = "skyscanner-2021-08-25-argocd-template-deleted-all-namespaces"

_TO_FILL_IN = "a text that is still to be filled in stands there"


def _each(
    scene: Scene,
    rule: Rule,
    matters: Callable[[Look, Fault], bool],
    otherwise: str,
    gap: Callable[[Look, Fault], Gap],
) -> Answers:
    """A gap for each fault that matters; where none of an object's does, why it is not judged, or a pass."""
    for answer in answers(scene, rule):
        if isinstance(answer, NotApplicable | Pass):
            yield answer
            continue
        look, found = answer
        wrong = [fault for fault in found if matters(look, fault)]
        if not wrong:
            yield NotApplicable(look.object, otherwise) if otherwise else Pass(look.object)
        for fault in wrong:
            yield gap(look, fault)


def _unknown(scene: Scene) -> Iterator[tuple[Look, list[tuple[Fault, Suggestion]]] | NotApplicable | Pass]:
    for answer in answers(scene, Rule.UNKNOWN):
        if isinstance(answer, NotApplicable | Pass):
            yield answer
            continue
        look, found = answer
        assert look.shape is not None  # noqa: S101 - an object with faults has a shape
        told: set[KeyPath] = {("sops",)} if is_encrypted(look.object) else set()
        told |= {(*level, key) for level, key, _ in settings_out_of_place(look.object)}
        left = [
            fault
            for fault in found
            if fault.path not in told
            and str(fault.path[-1])[:1] != "$"
            and not _told_as_missing(look, fault)
            and (look.custom or not in_gone_volume(fault.path, survey(scene).published.minor))
        ]
        if is_unwritten(look.object):
            yield NotApplicable(look.object, _TO_FILL_IN)
        elif left:
            yield look, [(fault, _suggest(scene, look, fault)) for fault in left]
        else:
            yield NotApplicable(
                look.object, "see cron-policy-misplaced, missing-required or volume-gone, or it is a patch"
            )


def _suggest(scene: Scene, look: Look, fault: Fault) -> Suggestion:
    assert look.shape is not None  # noqa: S101 - an object with faults has a shape
    versions = survey(scene).versions_with(look.object, fault.path) if look.custom else []
    if versions:
        return Suggestion(version=versions[-1])
    return suggest(look.shape, look.data, fault)


def _told_as_missing(look: Look, fault: Fault) -> bool:
    """Whether it is the one unknown field beside a required one that is missing: one cause, told there."""
    level = fault.path[:-1]
    beside = [one for one in look.faults if one.path[:-1] == level]
    missing = [one for one in beside if one.rule is Rule.REQUIRED and one.value is None]
    alone = sum(one.rule is Rule.UNKNOWN for one in beside) == 1
    return alone and len(missing) == 1 and missing[0].shape.fits(fault.value)


@check(
    "unknown-field",
    title="A field that the API does not know takes no effect",
    severity=Severity.MEDIUM,
    breaks=True,
    incidents=(),
    alike=(ZALANDO,),
    about=(ANYTHING,),
)
def unknown_field(scene: Scene) -> Answers:
    """
    What it does
    Compares every object with the published definitions of the Kubernetes version in mind (`--kubernetes`),
    and every custom resource with its CustomResourceDefinition, where the files or `--crds` hold it. Tells
    fields that the type does not have, with the nearest field that it has, or since which version it has
    them. Fields that guard (probes, limits, deadlines, policies) are of high severity. Those of volumes that
    no kubelet mounts any more are left out: see `volume-gone`. In a cluster, which keeps no such field, it
    reads the annotation of the last `kubectl apply`.

    Why it matters
    The API server drops what it does not know. kubectl has refused such objects since 1.27, but most other
    clients only get a warning that nobody reads: the manifest says that there is a limit, the cluster has
    none.

    Incidents
    No public incident is known that began with a misspelt field. In Zalando's CronJob the fields were spelt
    right and stood at the wrong level, with the same result: they were dropped in silence.

    Fix
    Write the field as the API spells it; take it out only when you know what it was meant for.

    References
    - https://kubernetes.io/docs/reference/using-api/api-concepts/#field-validation
    - https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/
    """
    yield from _kinds_without_definition(scene)
    for answer in _unknown(scene):
        if isinstance(answer, NotApplicable | Pass):
            yield answer
            continue
        look, found = answer
        here = [(fault, hint) for fault, hint in found if not hint.places]
        if not here:
            yield NotApplicable(look.object, "its fields stand at the wrong level: see misplaced-field")
        for same in words.grouped(here):
            yield _unknown_gap(look, same, survey(scene).published.minor)


def _kinds_without_definition(scene: Scene) -> Iterator[Unknown]:
    missing: dict[tuple[str, str], list[Look]] = {}
    for look in looks(scene):
        # What bears no metadata is read by a program on a node, never by an API server.
        if look.custom and look.shape is None and "metadata" in look.data:
            missing.setdefault((look.object.kind, look.object.api_version), []).append(look)
    for (kind, version), found in missing.items():
        yield Unknown(
            f"no definition of {kind} {version}, of which there {_are(len(found))}: name its "
            "CustomResourceDefinition with --crds",
            found[0].object,
        )


def _are(count: int) -> str:
    return "is one" if count == 1 else f"are {count}"


def _unknown_gap(look: Look, same: list[tuple[Fault, Suggestion]], minor: int) -> Gap:
    fault, hint = same[0]
    key = str(fault.path[-1])
    patch: Patch = ()
    if hint.spelling and not look.object.live:
        patch = tuple(Operation("move", (*one.path[:-1], hint.spelling), source=one.path) for one, _ in same)
    return Gap(
        look.object,
        words.unknown(fault, hint, minor, len(same)),
        fault.path,
        evidence=words.evidence([one for one, _ in same]),
        fix=words.instead_of(key, hint, look.object),
        patch=patch,
        severity=Severity.HIGH if hint.renamed else weight(fault.path, hint.spelling),
        confidence=Confidence.HIGH if hint.spelling or hint.renamed or not look.custom else Confidence.MEDIUM,
    )


@check(
    "misplaced-field",
    title="A field stands at a level where nobody reads it",
    severity=Severity.HIGH,
    breaks=True,
    incidents=(),
    alike=(ZALANDO,),
    about=(ANYTHING,),
)
def misplaced_field(scene: Scene) -> Answers:
    """
    What it does
    Looks for fields that the API does not know where they stand, but knows at another level of the same
    object: a pod's setting in a container, a container's in the pod, a level of indentation too much or too
    little. Names that level. The settings of CronJobs have a check of their own, `cron-policy-misplaced`.

    Why it matters
    The field is right, so a reader of the manifest believes it. The API server drops it: the probe is not
    run, the limit does not hold, the pod is scheduled anywhere.

    Incidents
    In Zalando's CronJob `concurrencyPolicy: Forbid` and both history limits stood in the pod template. They
    took no effect, runs piled up, and the API server was killed for lack of memory.

    Fix
    Move the field to the level that is named; mind the indentation.

    References
    - https://kubernetes.io/docs/reference/using-api/api-concepts/#field-validation
    - https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/
    """
    for answer in _unknown(scene):
        if isinstance(answer, NotApplicable | Pass):
            yield answer
            continue
        look, found = answer
        moved = [(fault, hint) for fault, hint in found if hint.places]
        if not moved:
            yield NotApplicable(look.object, "its fields are known nowhere: see unknown-field")
        for same in together(look, moved):
            yield misplaced_gap(look, same)


@check(
    "wrong-type",
    title="A value has a type that the API server refuses",
    severity=Severity.HIGH,
    breaks=True,
    incidents=(),
    alike=(SKYSCANNER,),
    about=(ANYTHING,),
)
def wrong_type(scene: Scene) -> Answers:
    """
    What it does
    Looks for values of the wrong type: a number or `on` where text is wanted (`value: 8080` of an environment
    variable, a label `"true"` without its quotes), text where a number is wanted, quantities such as `512MB`,
    lists instead of mappings, base64 that is none. A text that is still to be filled in (`${REPLICAS}`,
    `{{ … }}`, `<your LUN>`, or since a comment beside it says so) is left alone.

    Why it matters
    The API server refuses the whole object. The release stops half-way: what came before is applied, what
    comes after is not, and a tool that keeps a cluster in the state of a folder has no valid object to keep.

    Incidents
    At Skyscanner a template lost its delimiters, so that every namespace definition that it rendered was
    invalid. The change had passed review; ArgoCD then removed all namespaces with their services.

    Fix
    Write the value as the type demands: text that looks like a number or a boolean goes in quotes.

    References
    - https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/
    - https://kubernetes.io/docs/reference/using-api/api-concepts/#field-validation
    """
    return _each(scene, Rule.TYPE, _filled_in, _TO_FILL_IN, _type_gap)


def _filled_in(look: Look, fault: Fault) -> bool:
    return not left_open(look.object, fault.path, fault.value) and not is_unwritten(look.object)


def _type_gap(look: Look, fault: Fault) -> Gap:
    secret = look.object.kind == "Secret" and not look.custom
    better = None if secret else words.in_the_right_type(fault)
    return Gap(
        look.object,
        words.wrong_type(fault, secret=secret),
        fault.path,
        evidence=words.evidence([fault], secret=secret),
        fix=words.write_instead(fault, better),
        patch=() if better is None or look.object.live else (Operation("replace", fault.path, better),),
    )


@check(
    "null-value",
    title="A key stands there without a value",
    severity=Severity.MEDIUM,
    breaks=True,
    incidents=(),
    alike=(GOOGLE, MONZO),
    about=(ANYTHING,),
    chart_severity=Severity.LOW,
)
def null_value(scene: Scene) -> Answers:
    """
    What it does
    Looks for keys without a value (`limits:` with nothing below, `null`, `~`) among limits, probes,
    deadlines, budgets and selectors of webhooks, and for empty items of lists. In lists of custom resources
    the API server refuses them: those are of high severity. Templates whose values come from comments (ytt)
    are left alone.

    Why it matters
    In a field of Kubernetes itself, null means "absent", and the default is used: `limits:` with nothing
    below is no limit. Most often a template rendered nothing there. An empty item of a list is an item with
    no name.

    Incidents
    In June 2025 a policy with blank fields crashed Google Cloud's authorisation check in every region.
    Monzo's linkerd could not start, since it met endpoints that were null where it expected a list.

    Fix
    Write the value, or take the key out.

    References
    - https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#defaulting-and-nullable
    """
    return _each(scene, Rule.NULL, _null_matters, "", _null_gap)


def _null_gap(look: Look, fault: Fault) -> Gap:
    refused = _is_refused(look, fault)
    return Gap(
        look.object,
        words.null(fault, refused=refused),
        fault.path,
        evidence=(f"{dotted(fault.path)}: null",),
        severity=Severity.HIGH if refused else Severity.MEDIUM,
    )


def _null_matters(look: Look, fault: Fault) -> bool:
    # The text is read last: most nulls do not matter.
    return _null_is_felt(look, fault) and not is_unwritten(look.object)


def _null_is_felt(look: Look, fault: Fault) -> bool:
    if look.custom and look.shape is not None and fault.path[:1] != ("metadata",):
        return _is_refused(look, fault)
    last = fault.path[-1]
    beside = as_map(dig(look.data, *fault.path[:-1]) if len(fault.path) > 1 else look.data)
    other = _EITHER.get(last) if isinstance(last, str) else None
    if other is not None and beside.get(other) is not None:
        return False
    return isinstance(last, int) or last in WRITTEN_TO_HOLD


_EITHER = {"minAvailable": "maxUnavailable", "maxUnavailable": "minAvailable"}


def _is_refused(look: Look, fault: Fault) -> bool:
    """In a custom resource null is as good as absent, but in a list it is an item of no type."""
    return look.custom and isinstance(fault.path[-1], int) and not fault.shape.nullable


@check(
    "missing-required",
    title="A field that must be there is missing",
    severity=Severity.HIGH,
    breaks=True,
    incidents=(),
    alike=(SKYSCANNER,),
    about=(ANYTHING,),
    chart_severity=Severity.LOW,
)
def missing_required(scene: Scene) -> Answers:
    """
    What it does
    Looks for fields that the definition requires and that are absent, null or an empty text. What the
    definitions call required and the API server does not demand is left out; that was found by asking it.
    Pieces of objects are not judged (patches, what a Kustomize folder completes that was not rendered or a
    Kustomization of Flux patches, what no kustomization names while another file holds it in whole), nor is
    a key below which a comment stands in the place of the value.

    Why it matters
    The API server refuses the object, and the release stops half-way. An empty text mostly means that a
    template got no value.

    Incidents
    At Skyscanner a template lost its delimiters, and every namespace definition that it rendered was invalid.
    ArgoCD then removed all namespaces with their services.

    Fix
    Write the field.

    References
    - https://kubernetes.io/docs/concepts/overview/working-with-objects/#required-fields
    """

    def whole(look: Look, fault: Fault) -> bool:
        if is_piece(look.object) or to_be_completed(scene, look.object):
            return False
        return _filled_in(look, fault) and not written_elsewhere(scene, look.object, str(fault.path[-1]))

    return _each(
        scene, Rule.REQUIRED, whole, "it is a piece of an object, or still to be filled in", _missing_gap
    )


def _missing_gap(look: Look, fault: Fault) -> Gap:
    return Gap(
        look.object,
        words.missing(fault),
        fault.path if fault.value is not None else fault.path[:-1],
        evidence=(words.said(fault),),
        fix=words.write_missing(fault, _unknown_beside(look, fault)),
    )


def _unknown_beside(look: Look, fault: Fault) -> list[str]:
    """Fields at the same level that nobody reads: one of them may be the missing one under another name."""
    level = fault.path[:-1]
    return [str(one.path[-1]) for one in look.faults if one.rule is Rule.UNKNOWN and one.path[:-1] == level]


@check(
    "bad-enum-value",
    title="A value is none of those that the field allows",
    severity=Severity.HIGH,
    breaks=True,
    incidents=(),
    alike=(SKYSCANNER,),
    about=(ANYTHING,),
)
def bad_enum_value(scene: Scene) -> Answers:
    """
    What it does
    Looks for values outside of the set that the API allows: `protocol: tcp`, `imagePullPolicy: always`,
    `restartPolicy: never`. Case counts.

    Why it matters
    The API server refuses the object, and the release stops half-way.

    Incidents
    No public incident is known that began with such a value. At Skyscanner objects that a template had made
    invalid passed review, and ArgoCD removed what they had described.

    Fix
    Write one of the values that the finding names.

    References
    - https://kubernetes.io/docs/reference/using-api/api-concepts/#field-validation
    """
    return _each(scene, Rule.VALUE, _filled_in, _TO_FILL_IN, _value_gap)


def _value_gap(look: Look, fault: Fault) -> Gap:
    meant = words.meant(fault)
    return Gap(
        look.object,
        words.bad_value(fault),
        fault.path,
        evidence=words.evidence([fault]),
        fix=f"Write `{meant}`." if meant else "",
        patch=(Operation("replace", fault.path, meant),) if meant and not look.object.live else (),
    )


CHECKS = (
    bad_enum_value,
    misplaced_field,
    missing_required,
    null_value,
    unknown_field,
    wrong_type,
)
