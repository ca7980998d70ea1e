"""Delivery: what a GitOps controller may delete, and what evicts without a bound."""
# ruff: noqa: D205, D212, D416 - the docstring of a check is its page, in fixed sections

from __future__ import annotations

import fnmatch
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from pilotage.checks.absence import by_name
from pilotage.checks.dialect import DialectError, load
from pilotage.checks.model import (
    Answers,
    Confidence,
    Gap,
    NotApplicable,
    Operation,
    Pass,
    Severity,
    check,
)
from pilotage.checks.objects import KubeObject
from pilotage.checks.placeholders import to_fill_in
from pilotage.checks.scene import Scene
from pilotage.checks.values import as_list, as_map, as_text, dig

SKYSCANNER = "skyscanner-2021-08-25-argocd-template-deleted-all-namespaces"
MOJ = "uk-ministry-of-justice-2025-03-18-descheduler-evicted-pods-of-cordoned-nodes"
ROLLOVER = "dfds-2023-02-14-node-rollover-left-zero-nodes"
ELB_STATE = "aws-2012-12-24-us-east-elb-state-data-deleted"

_SYNC_OPTIONS = "argocd.argoproj.io/sync-options"
_FLUX_PRUNE = "kustomize.toolkit.fluxcd.io/prune"
_MOST_RELATED = 5
_HELM_KEEP = "helm.sh/resource-policy"
_CASCADE = "resources-finalizer.argocd.argoproj.io"
_CAPS = ("maxNoOfPodsToEvictPerNode", "maxNoOfPodsToEvictPerNamespace", "maxNoOfPodsToEvictTotal")
_LONGEST_POLICY = 1_000_000
_NAMED = 3
_PRECIOUS = ("Namespace", "CustomResourceDefinition")


def _argo(scene: Scene, *kinds: str) -> Iterator[KubeObject]:
    for one in scene.of(*kinds):
        if one.group == "argoproj.io":
            yield one


def _automated(application: Mapping[str, Any]) -> Mapping[str, Any]:
    """The automated policy of an Application's spec that prunes; empty where nothing is pruned by itself."""
    automated = as_map(dig(application, "syncPolicy", "automated"))
    pruned = automated.get("prune") is True and automated.get("enabled") is not False
    options = [as_text(one) for one in as_list(dig(application, "syncPolicy", "syncOptions"))]
    return automated if pruned and not {"Prune=false", "Prune=confirm"} & set(options) else {}


@check(
    "gitops-allows-empty",
    title="An empty rendering deletes everything that an Application holds",
    severity=Severity.HIGH,
    incidents=(SKYSCANNER,),
    alike=(ELB_STATE,),
    about=("Application", "ApplicationSet"),
)
def gitops_allows_empty(scene: Scene) -> Answers:
    """
    What it does
    Looks for Argo CD Applications, also in the template of an ApplicationSet, that prune by themselves and
    have `allowEmpty: true`.

    Why it matters
    Argo CD refuses to sync to nothing, unless it was told that nothing is fine. A template that renders to
    nothing, a folder that was renamed, a generator that fails, then deletes every object of the Application
    in one pass.

    Incidents
    At Skyscanner a template lost its delimiters, no namespace definition was valid any more, and Argo CD
    deleted every namespace of every region with all that ran in it. At AWS the state of load balancers had
    been deleted, and the control plane wrote what was left of it into balancers that worked.

    Fix
    Take `allowEmpty` out; where an Application may really become empty, delete the Application.

    References
    - https://argo-cd.readthedocs.io/en/stable/user-guide/auto_sync/#automatic-pruning-with-allow-empty-v18
    """
    for one in _argo(scene, "Application", "ApplicationSet"):
        root = ("spec",) if one.kind == "Application" else ("spec", "template", "spec")
        automated = as_map(one.get(*root, "syncPolicy", "automated"))
        if automated.get("allowEmpty") is not True or not _automated(as_map(one.get(*root))):
            yield Pass(one)
            continue
        path = (*root, "syncPolicy", "automated", "allowEmpty")
        yield Gap(
            one,
            "A source that renders to nothing deletes everything that it holds",
            path,
            evidence=("syncPolicy.automated.prune: true", "syncPolicy.automated.allowEmpty: true"),
            patch=(Operation("remove", path),),
        )


@check(
    "gitops-prune-unfenced",
    title="A generator that loses its input deletes Applications with all that they run",
    severity=Severity.HIGH,
    incidents=(SKYSCANNER,),
    about=("ApplicationSet", "Application"),
)
def gitops_prune_unfenced(scene: Scene) -> Answers:
    """
    What it does
    Looks for ApplicationSets that may delete Applications (`applicationsSync` is not `create-only` or
    `create-update`) together with their objects (`preserveResourcesOnDeletion` is not set); and for root
    Applications (those whose target namespace is Argo CD's own and whose source is a folder of Applications,
    seen by `directory` or by a path with `apps`) that prune by themselves: with the finalizer that deletes
    in cascade of high severity, of low where none of the Applications in that folder bears it.

    Why it matters
    An entry that is missing, since a file was renamed, a template broke or a cluster did not answer, means
    "delete" to such a generator. The Application goes, and all its objects go with it; a root goes on to its
    children.

    Incidents
    At Skyscanner one root file generated the configuration of all regions. A slip in it made every namespace
    invalid, and the controllers deleted them all in their ordinary loop.

    Fix
    Set `spec.syncPolicy.preserveResourcesOnDeletion: true`, or `applicationsSync: create-update`; let root
    Applications sync without prune, or with `Prune=confirm`.

    References
    - https://argo-cd.readthedocs.io/en/stable/operator-manual/applicationset/Application-Deletion/
    -
      https://argo-cd.readthedocs.io/en/stable/operator-manual/applicationset/Controlling-Resource-Modification/
    - https://github.com/argoproj/argo-cd/issues/3473
    """
    for one in _argo(scene, "ApplicationSet"):
        yield _generated(one)
    for one in _argo(scene, "Application"):
        if _is_root(one):
            yield _root_answer(one, _children(scene, one))


def _generated(one: KubeObject) -> Gap | Pass | NotApplicable:
    policy = as_map(one.spec.get("syncPolicy"))
    keeps = as_text(policy.get("applicationsSync")) in {"create-only", "create-update"}
    if keeps or policy.get("preserveResourcesOnDeletion") is True:
        return Pass(one)
    generators = set(_generators(one))
    if generators <= {"list", "pullRequest"}:
        return NotApplicable(one, "its entries are written in it, or are meant to go")
    return Gap(
        one,
        "An entry that its generator no longer yields is deleted, with everything that runs in it",
        ("spec", "syncPolicy"),
        fix="Set `spec.syncPolicy.preserveResourcesOnDeletion: true`, or `applicationsSync: create-update`.",
        evidence=(
            f"generators: {', '.join(sorted(generators))}",
            f"applicationsSync: {policy.get('applicationsSync', 'absent, which means sync')}",
            "preserveResourcesOnDeletion: absent",
        ),
        severity=None if _automated(as_map(one.get("spec", "template", "spec"))) else Severity.MEDIUM,
        confidence=Confidence.MEDIUM,
    )


_FOR_ROOT = (
    "Let it sync without `prune`, or put `argocd.argoproj.io/sync-options: Prune=confirm` on the "
    "Applications that its source holds."
)


def _children(scene: Scene, root: KubeObject) -> list[KubeObject]:
    """The Applications in a root's folder; where kustomizations name some of them, those alone."""
    held = [one for one in _argo(scene, "Application") if one is not root and _holds(root, one)]
    return [one for one in held if not scene.unbuilt.leaves(one.source)] or held


def _root_answer(one: KubeObject, held: list[KubeObject]) -> Gap | Pass:
    """What a root may delete; of Applications that bear no finalizer only the object goes, and its pods stay.

    Args:
        one: the root Application.
        held: the Applications that its source holds, as far as they are here.
    """
    if not _automated(one.spec):
        return Pass(one)
    message = "It prunes Applications that its source no longer holds"
    severity = Severity.MEDIUM
    if held and not any(_cascades(other) for other in held):
        message += "; none here bears the finalizer, so that what they run stays, with nobody to keep it"
        severity = Severity.LOW
    elif _cascades(one):
        message += ", and bears the finalizer that deletes all of theirs"
        severity = Severity.HIGH
    return Gap(
        one,
        message,
        ("spec", "syncPolicy", "automated", "prune"),
        evidence=("syncPolicy.automated.prune: true", f"source: {_source(one)}"),
        fix=_FOR_ROOT,
        severity=severity,
        confidence=Confidence.MEDIUM,
    )


def _cascades(one: KubeObject) -> bool:
    finalizers = {as_text(item).partition("/")[0] for item in as_list(one.metadata.get("finalizers"))}
    return _CASCADE in finalizers


def _generators(one: KubeObject) -> Iterator[str]:
    for item in as_list(one.spec.get("generators")):
        for key, value in as_map(item).items():
            if key in {"matrix", "merge"}:
                yield from (inner for part in as_list(dig(value, "generators")) for inner in as_map(part))
            elif key != "selector":
                yield key


def _source(one: KubeObject) -> str:
    source = as_map(one.spec.get("source"))
    return f"{as_text(source.get('repoURL'))} {as_text(source.get('path'))}".strip()


def _is_root(one: KubeObject) -> bool:
    target = as_text(dig(one.spec, "destination", "namespace"))
    source = as_map(one.spec.get("source"))
    folder = PurePosixPath(as_text(source.get("path"))).parts
    holds_apps = "directory" in source or any("app" in part.lower() for part in folder)
    return bool(target) and target == (one.namespace or "argocd") and holds_apps and not source.get("chart")


@check(
    "prune-takes-namespaces",
    title="Namespaces stand in what a GitOps controller may delete by itself",
    severity=Severity.HIGH,
    incidents=(SKYSCANNER,),
    about=("Application", "Kustomization"),
    needs=("Namespace", "CustomResourceDefinition"),
)
def prune_takes_namespaces(scene: Scene) -> Answers:
    """
    What it does
    Looks for Namespaces and CustomResourceDefinitions that a pruning Argo CD Application or Flux
    Kustomization holds, without a mark that keeps them: `argocd.argoproj.io/sync-options: Prune=false`
    (or `confirm`), `kustomize.toolkit.fluxcd.io/prune: disabled`. In a cluster it goes by the marks of
    the controllers on the objects; in files by the folder that the source names, and of Argo CD only by
    sources in the repository that most of them name. One finding for each controller object.

    Why it matters
    Deleting a Namespace deletes all that is in it, deleting a CustomResourceDefinition all objects of its
    kind, in every namespace. Both follow from one file that is missing in one commit, and neither can be
    undone.

    Incidents
    At Skyscanner namespaces were part of what Argo CD reconciled. When their definitions became invalid, it
    deleted all of them, in all regions, with every service inside.

    Fix
    Put the annotation that keeps it on each Namespace and CustomResourceDefinition, or move them into a
    source of their own that does not prune.

    References
    - https://argo-cd.readthedocs.io/en/stable/user-guide/sync-options/#no-prune-resources
    - https://fluxcd.io/flux/components/kustomize/kustomizations/#prune
    """
    precious = [
        one
        for one in scene.of(*_PRECIOUS)
        if not _kept(one) and one.name not in _IMMORTAL and not to_fill_in(one.name)
    ]
    own = _own_repository(scene)
    for controller in _pruning(scene):
        if _repository(controller) not in {"", own}:
            yield NotApplicable(controller, "its source is another repository")
            continue
        held = list({one.key: one for one in precious if _holds(controller, one)}.values())
        if not held:
            yield Pass(controller)
            continue
        held.sort(key=lambda one: one.key)
        names = ", ".join(one.key for one in held[:_NAMED]) + (
            f" and {len(held) - _NAMED} more" if len(held) > _NAMED else ""
        )
        yield Gap(
            controller,
            f"It may delete {names}",
            ("spec", "syncPolicy", "automated", "prune")
            if controller.kind == "Application"
            else ("spec", "prune"),
            evidence=tuple(f"{one.key}: no mark that keeps it" for one in held[:5]),
            confidence=Confidence.HIGH if scene.live else Confidence.MEDIUM,
            related=tuple(held[:5]),
        )


_IMMORTAL = frozenset({"default", "kube-system", "kube-public"})
"""Namespaces that the API server lets nobody delete."""


def _pruning(scene: Scene) -> Iterator[KubeObject]:
    for one in _argo(scene, "Application"):
        if _automated(one.spec):
            yield one
    for one in scene.of("Kustomization"):
        if one.group == "kustomize.toolkit.fluxcd.io" and one.spec.get("prune") is True:
            yield one


def _own_repository(scene: Scene) -> str:
    """The repository that most Applications name: the one that was read, as far as anybody can tell."""
    named = Counter(_repository(one) for one in _pruning(scene))
    del named[""]
    return max(named, key=lambda one: (named[one], one), default="")


def _repository(controller: KubeObject) -> str:
    """Where an Application's source lies, without protocol and account; empty where it is not stated."""
    url = as_text(dig(controller.spec, "source", "repoURL")).lower().removesuffix("/").removesuffix(".git")
    return url.rpartition("://")[2].rpartition("@")[2].replace(":", "/")


def _kept(one: KubeObject) -> bool:
    options = {part.strip() for part in as_text(one.annotations.get(_SYNC_OPTIONS)).split(",")}
    if options & {"Prune=false", "Prune=confirm"}:
        return True
    return one.annotations.get(_FLUX_PRUNE) == "disabled"


def _holds(controller: KubeObject, one: KubeObject) -> bool:
    argo = controller.kind == "Application"
    if one.live:
        if argo:
            tracked = as_text(one.annotations.get("argocd.argoproj.io/tracking-id")).partition(":")[0]
            return controller.name in (tracked, one.labels.get("argocd.argoproj.io/instance"))
        return one.labels.get("kustomize.toolkit.fluxcd.io/name") == controller.name
    path = as_text(dig(controller.spec, "source", "path") if argo else controller.spec.get("path"))
    wanted = tuple(part for part in PurePosixPath(path).parts if part not in {".", "/"})
    folder = PurePosixPath(one.file).parent.parts
    # The source's folder is relative to its repository, which need not be where we were called.
    for start in range(len(folder) - len(wanted) + 1) if wanted else ():
        if folder[start : start + len(wanted)] == wanted:
            below = PurePosixPath(one.file).parts[start + len(wanted) :]
            return not argo or _reads(as_map(dig(controller.spec, "source", "directory")), below)
    return False


def _reads(directory: Mapping[str, Any], below: tuple[str, ...]) -> bool:
    """Whether a source that states how its folder is read takes a file below it."""
    if directory and directory.get("recurse") is not True and len(below) > 1:
        return False
    include, exclude = as_text(directory.get("include")), as_text(directory.get("exclude"))
    name = "/".join(below)
    return (not include or _fits(name, include)) and not (exclude and _fits(name, exclude))


def _fits(name: str, pattern: str) -> bool:
    """Whether a name fits one of the globs of a pattern: `{a.yaml,b/*.yaml}`."""
    globs = pattern[1:-1].split(",") if pattern.startswith("{") and pattern.endswith("}") else [pattern]
    return any(fnmatch.fnmatchcase(name, one.strip()) for one in globs)


@check(
    "helm-deletes-crd",
    title="Uninstalling a chart deletes all objects of a kind in the cluster",
    severity=Severity.MEDIUM,
    incidents=(),
    alike=(SKYSCANNER,),
    about=("CustomResourceDefinition",),
    chart_severity=Severity.LOW,
)
def helm_deletes_crd(scene: Scene) -> Answers:
    """
    What it does
    Looks for CustomResourceDefinitions that Helm manages as templates (label
    `app.kubernetes.io/managed-by: Helm`) without `helm.sh/resource-policy: keep`, and tells all of a release
    at once.

    Why it matters
    An uninstall, or an upgrade to a chart that no longer brings the template, deletes the definition, and
    the API server deletes all objects of that kind with it: certificates, routes, databases of an operator.

    Incidents
    No public incident with this very cause is in the library. At Skyscanner an automatic deletion of
    namespaces took with it all that was inside.

    Fix
    Add the annotation `helm.sh/resource-policy: keep`, or ship the definitions in the chart's `crds` folder.

    References
    - https://helm.sh/docs/chart_best_practices/custom_resource_definitions/
    - https://helm.sh/docs/howto/charts_tips_and_tricks/#tell-helm-not-to-uninstall-a-resource
    """
    lost: dict[tuple[str, str], list[KubeObject]] = defaultdict(list)
    for one in scene.of("CustomResourceDefinition"):
        if one.labels.get("app.kubernetes.io/managed-by") != "Helm":
            yield NotApplicable(one, "Helm does not manage it")
        elif one.annotations.get(_HELM_KEEP) == "keep":
            yield Pass(one)
        else:
            release = as_text(one.annotations.get("meta.helm.sh/release-name"))
            lost[one.file, release or as_text(one.labels.get("app.kubernetes.io/instance"))].append(one)
    yield from (_lost_with_release(found) for found in lost.values())


def _lost_with_release(found: list[KubeObject]) -> Gap:
    """One finding for all definitions of a release: they have one cause and one cure."""
    one, *others = sorted(found, key=by_name)
    kind = as_text(one.get("spec", "names", "kind")) or one.name
    more = f", and so do {len(others)} more definitions" if len(others) > 1 else ""
    more = f", and so does {others[0].name}" if len(others) == 1 else more
    return Gap(
        one,
        f"Helm deletes it with the release, and with it every {kind} of the cluster{more}",
        ("metadata", "annotations"),
        evidence=(
            "app.kubernetes.io/managed-by: Helm",
            f"{_HELM_KEEP}: absent",
            *((f"likewise: {', '.join(item.name for item in others)}",) if others else ()),
        ),
        related=tuple(others[:_MOST_RELATED]),
    )


@check(
    "descheduler-unbounded",
    title="A descheduler may evict all pods that it dislikes in one pass",
    severity=Severity.MEDIUM,
    incidents=(MOJ,),
    about=("ConfigMap",),
)
def descheduler_unbounded(scene: Scene) -> Answers:
    """
    What it does
    Looks for policies of the descheduler in ConfigMaps (`kind: DeschedulerPolicy`) without any of
    `maxNoOfPodsToEvictPerNode`, `maxNoOfPodsToEvictPerNamespace`, `maxNoOfPodsToEvictTotal`.

    Why it matters
    A descheduler looks at the cluster as it is at that moment. When many nodes are cordoned, tainted or full
    at once, its strategies find nearly every pod misplaced, and only budgets stand between them and an
    eviction; pods without a budget go all together.

    Incidents
    At the UK Ministry of Justice nodes were cordoned for an upgrade, and the descheduler evicted the pods of
    all of them at the same time, faster than new ones found room.

    Fix
    Set `maxNoOfPodsToEvictPerNode` and `maxNoOfPodsToEvictPerNamespace` to small numbers, `nodeFit: true` for
    the evictor, and stop the descheduler before nodes are cordoned.

    References
    - https://github.com/kubernetes-sigs/descheduler#policy-default-evictor-and-strategy-plugins
    """
    for one in scene.of("ConfigMap"):
        for key, text in as_map(one.get("data")).items():
            policy = _policy(as_text(text))
            if as_text(policy.get("kind")) != "DeschedulerPolicy":
                continue
            if any(policy.get(cap) is not None for cap in _CAPS):
                yield Pass(one)
                continue
            yield Gap(
                one,
                "The policy sets no number of pods at which a pass ends",
                ("data", key),
                evidence=tuple(f"{cap}: absent" for cap in _CAPS),
            )


def _policy(text: str) -> Mapping[str, Any]:
    if "DeschedulerPolicy" not in text or len(text) > _LONGEST_POLICY:
        return {}
    try:
        return as_map(load(text))
    except DialectError:
        return {}


CHECKS = (
    descheduler_unbounded,
    gitops_allows_empty,
    gitops_prune_unfenced,
    helm_deletes_crd,
    prune_takes_namespaces,
)
