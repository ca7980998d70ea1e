"""API versions: those that are gone, those that are going, and kinds that do not exist."""
# ruff: noqa: D205, D212, D416 - the docstring of a check is its page, in fixed sections

from __future__ import annotations

from collections.abc import Iterable

from pilotage.checks.model import (
    ANYTHING,
    DOCUMENTATION_ONLY,
    Answers,
    Confidence,
    Gap,
    NotApplicable,
    Operation,
    Pass,
    Patch,
    Severity,
    check,
)
from pilotage.checks.objects import KubeObject
from pilotage.checks.scene import Scene
from pilotage.checks.schema.lifecycle import Standing, Version, lives, standing
from pilotage.checks.schema.migration import migration
from pilotage.checks.schema.published import groups, kinds_of, nearest_minor, served
from pilotage.checks.schema.survey import survey
from pilotage.core.regex import regex
from pilotage.core.text import likeness

REDDIT = "reddit-2023-03-14-pi-day-calico-route-reflectors"
# Kinds of other products that were once served in groups of Kubernetes' own.
_KUSTOMIZE = "builtin"
_OPENSHIFT = frozenset(
    "DeploymentConfig Route Template BuildConfig ImageStream ImageStreamTag Project ProjectRequest "
    "SecurityContextConstraints Build Group User Identity OAuthClient ImageStreamImport".split()
)
_SOON = 2
_LIKE = 0.75


def _dotted(version: Version) -> str:
    return f"{version[0]}.{version[1]}"


@check(
    "removed-api",
    title="An API version that the target version does not serve, or will soon not serve",
    severity=Severity.HIGH,
    breaks=True,
    incidents=(),
    alike=(REDDIT,),
    about=(ANYTHING,),
)
def removed_api(scene: Scene) -> Answers:
    """
    What it does
    Looks for API versions that the Kubernetes version in mind (`--kubernetes`) does not serve any more, does
    not serve yet, or serves for the last versions: deprecated ones are of medium severity where their end is
    at most two versions away, else of low, and left out where no end is set. It rests on the definitions of
    each version since 1.25 and on what the sources say of the life of each API. What lies in a folder named
    after the old version, while another file holds the same object in a served one, is of low severity. A
    live cluster is not judged: it shows each object in whatever version it is asked for.

    Why it matters
    After the upgrade the object cannot be applied any more, and what creates it (a pipeline, an operator, a
    chart at its next release) fails then, not before.

    Incidents
    Reddit's cluster lost its pod network in an upgrade to 1.24, since that version took away the node label
    `node-role.kubernetes.io/master`, which nobody knew to be in use. A removed API version is the same kind
    of trap: the documentation names it, nobody searched the objects.

    Fix
    Write the version that the finding names, with what changes beside it: a selector, fields that are called
    otherwise, defaults that are others. `kubectl convert` does the same for kinds of Kubernetes' own. Where
    nothing replaces a kind, the finding says what does its work now.

    References
    - https://kubernetes.io/docs/reference/using-api/deprecation-guide/
    - https://kubernetes.io/docs/reference/using-api/deprecation-policy/
    """
    for one in scene.objects:
        if one.live:
            yield NotApplicable(one, "a cluster shows an object in any version that it serves")
            continue
        stands = standing(one.api_version, one.kind, scene.version)
        if stands is not None and stands.gone is stands.first is stands.going is None:
            yield NotApplicable(one, "it is deprecated, and no version is known in which it goes")
        elif stands is not None:
            yield _version_gap(one, stands, scene.version, older=_for_old_clusters(scene, one))
        elif one.group in groups() and served(one.api_version, one.kind) is not None:
            yield Pass(one)
        else:
            yield NotApplicable(one, "nothing is known of its API version")


def _for_old_clusters(scene: Scene, one: KubeObject) -> bool:
    """Whether its path names its old version, and another file holds the same object in a served one."""
    old = one.api_version.rpartition("/")[2]
    return old in _PART.split(one.file) and any(
        other.file != one.file
        and other.api_version != one.api_version
        and standing(other.api_version, other.kind, scene.version) is None
        for other in scene.index.named(one.kind, one.name, one.namespace)
    )


_PART = regex(r"[/\\._-]")
_IN_BOTH = (
    "Another file holds the same object in a version that is served: apply that one, and delete this one "
    "when no old cluster is left."
)


def _version_gap(one: KubeObject, stands: Standing, version: Version, *, older: bool) -> Gap:
    name = f"{one.kind} {one.api_version}"
    move = migration(one, stands.instead)
    if stands.gone is not None:
        message = f"{name} is not served since {_dotted(stands.gone)}; the target is {_dotted(version)}"
        severity = Severity.HIGH
    elif stands.first is not None:
        message = f"{name} is served from {_dotted(stands.first)} on; the target is {_dotted(version)}"
        severity = Severity.HIGH
    else:
        since = _dotted(stands.deprecated) if stands.deprecated is not None else "long ago"
        message = f"{name} is deprecated since {since}"
        soon = stands.going is not None and stands.going[1] - version[1] <= _SOON
        severity = Severity.MEDIUM if soon else Severity.LOW
        if stands.going is not None:
            message += f" and is to go in {_dotted(stands.going)}"
    return Gap(
        one,
        message,
        ("apiVersion",),
        evidence=(f"apiVersion: {one.api_version}",),
        fix=_IN_BOTH if older else move.fix,
        patch=() if older else move.patch,
        severity=Severity.LOW if older else severity,
    )


@check(
    "unknown-kind",
    title="A kind that Kubernetes does not have under this API version",
    severity=Severity.HIGH,
    breaks=True,
    incidents=DOCUMENTATION_ONLY,
    about=(ANYTHING,),
)
def unknown_kind(scene: Scene) -> Answers:
    """
    What it does
    Looks for objects whose API group is one of Kubernetes' own and whose kind does not exist there:
    `apiVersion: v1, kind: Deployment`, `kind: Deployement`. Groups of others are not judged, nor are kinds
    that a CustomResourceDefinition of the scene defines.

    Why it matters
    The API server refuses the object, and the release stops half-way.

    Incidents
    No public incident is known to us; the behaviour is documented.

    Fix
    Write the kind and the API version that the finding names.

    References
    - https://kubernetes.io/docs/reference/using-api/#api-groups
    """
    known = kinds_of(nearest_minor(scene.version))
    for one in scene.objects:
        if one.api_version == _KUSTOMIZE:
            yield NotApplicable(one, "it tells Kustomize what to do, and no server sees it")
        elif one.group not in groups() or one.kind in _OPENSHIFT:
            yield NotApplicable(one, "its API group is not one of Kubernetes' own")
        elif one.live or one.api_version in known.get(one.kind, ()) or survey(scene).defined(one):
            yield Pass(one)
        elif served(one.api_version, one.kind) is not None or f"{one.api_version} {one.kind}" in lives():
            yield NotApplicable(one, "another version has it: see removed-api")
        else:
            yield _kind_gap(one, known)


def _kind_gap(one: KubeObject, known: dict[str, list[str]]) -> Gap:
    versions = known.get(one.kind, [])
    if versions:
        fix = f"Write `apiVersion: {versions[0]}`."
        message = f"{one.kind} is in {' and '.join(versions)}, not in {one.api_version}"
        patch: Patch = (Operation("replace", ("apiVersion",), versions[0]),) if len(versions) == 1 else ()
        return Gap(one, message, ("apiVersion",), (f"apiVersion: {one.api_version}",), fix=fix, patch=patch)
    near = _near(one.kind, known)
    message = f"Kubernetes has no kind {one.kind} in {one.api_version}"
    fix = (
        f"Write `kind: {near}`."
        if near
        else "No kind has nearly that name. Where a product defines it, write the API group of that product, "
        "and install its CustomResourceDefinition first."
    )
    patch = (Operation("replace", ("kind",), near),) if near else ()
    return Gap(
        one,
        message,
        ("kind",),
        (f"kind: {one.kind}",),
        fix=fix,
        patch=patch,
        confidence=Confidence.HIGH if near else Confidence.MEDIUM,
    )


def _near(kind: str, known: Iterable[str]) -> str:
    like, name = max((likeness(kind.lower(), one.lower()), one) for one in known)
    return name if like >= _LIKE else ""


CHECKS = (removed_api, unknown_kind)
