"""Images: a name that means another program tomorrow, and a registry that must answer for each restart."""
# ruff: noqa: D205, D212, D416 - the docstring of a check is its page, in fixed sections

from __future__ import annotations

import itertools
import re

from pilotage.checks import components, lone
from pilotage.checks.gone_images import gone_image
from pilotage.checks.model import Answers, Confidence, Gap, NotApplicable, Pass, Severity, check
from pilotage.checks.placeholders import to_fill_in
from pilotage.checks.scene import Scene
from pilotage.checks.values import as_text
from pilotage.checks.workloads import SERVING, Container, Workload
from pilotage.core.regex import regex

DFDS_AMI = "dfds-2022-10-31-bad-eks-ami-pleg"
DFDS_ZERO = "dfds-2023-02-14-node-rollover-left-zero-nodes"
BOSKOS = "kubernetes-2019-03-26-statefulset-update-woken-by-node-drain"

_RELEASED = (
    "Let each release write a version or a digest under `images` of the kustomization (`kustomize edit "
    "set image`), and apply what was released."
)
_BUILT = "Let each release write a version or a digest into what is built, and apply what was released."
_MOVING = {
    "",
    "latest",
    "main",
    "master",
    "edge",
    "nightly",
    "dev",
    "develop",
    "canary",
    "stable",
    "head",
    "next",
}


_ON_THIS_MACHINE = ("localhost/", "localhost:", "127.0.0.1:", "kind-registry:", "k3d-registry")
"""Registries of a cluster in which somebody tries things."""
_BRANCHES = ("latest", "main", "master", "nightly", "edge", "dev", "canary", "unstable", "snapshot")
_FOR_SHOW = regex(
    r"example/|your[-_]?(?:name|user(?:name)?|repo(?:sitory)?|registry|org|hub|id)?/|"
    r"[^@]*-(?:example|sample)(?:[:@]|$)"
)
"""An image's name that a reader replaces by their own, by its beginning or its end."""
_PLATFORM = regex(r"linux|windows|amd64|arm64(?:v8)?|arm32v7|armv?7|x86[-_]64|x64|ppc64le|s390x|i386")
_SCAFFOLD = {"manager", "webhook", "webhooks", "metrics-server"}


def _filled_in(container: Container) -> bool:
    """Whether somebody else writes the image in: Skaffold, Kustomize, a person."""
    image, workload = container.image, container.workload
    own = {container.name, workload.object.name, as_text(workload.pod_labels.get("app"))}
    if components.filled_in_by_mesh(container):
        return True
    # No repository is written with capitals: `PROJECT_ID` in one is for a person to replace.
    replaced = components.bare_image(image).partition("/")[2]
    return (
        image in own
        or not image.strip()
        or image.startswith((":", "/"))
        or _FOR_SHOW.match(image) is not None
        or to_fill_in(image)
        or replaced != replaced.lower()
        or any(mark in image for mark in "<>${}")
    )


def _moves(image: str) -> bool:
    return "@sha256:" not in image and components.image_tag(image) in _MOVING


def _pinned(container: Container) -> bool:
    return not _moves(container.image)


def _names_a_version(container: Container) -> bool:
    """Whether the image has a digest, or a tag that is the name of a version, a build or a commit.

    One that is a word (`alpine`, a branch) is moved as often as it is not.
    """
    tag = _PLATFORM.sub("", components.image_tag(container.image).lower())
    return "@sha256:" in container.image or (
        _pinned(container) and re.search(r"\d", tag) is not None and not tag.startswith(_BRANCHES)
    )


def _written_by_a_release(workload: Workload) -> bool:
    """Whether it is of the manifests of an operator's branch of development, laid out as by Kubebuilder.

    What a user applies is built from them, with the tag of a release.
    """
    folders = workload.object.file.split("/")[:-1]
    return any(one == "config" and inner in _SCAFFOLD for one, inner in itertools.pairwise(folders))


def _by_kustomize(scene: Scene, container: Container) -> str:
    """The image that Kustomize makes of it; empty where none of its files names it.

    Rendered, it is known by its image, which is not what the object's own file says.
    """
    document = container.workload.object.document
    if document is not None and document.file.origin is not None and document.file.application:
        return "" if container.image in document.text else container.image
    return scene.unbuilt.images.get(components.bare_image(container.image), "")


def _written(scene: Scene, container: Container) -> bool:
    """Whether a tool or a person writes another image in, whose tag does not move."""
    made = _by_kustomize(scene, container)
    if _filled_in(container) or bool(made and not _moves(made)):
        return True
    name = components.bare_image(container.image)
    if "/" not in name and scene.find("ImageStream", name, container.workload.object) is not None:
        return True
    return not scene.live and not made and _written_by_a_release(container.workload)


def _by_default(scene: Scene, container: Container) -> bool:
    """Whether the API server may have filled `Always` in: it does so for `latest`, beside a digest too."""
    return scene.live and components.image_tag(container.image) == "latest"


def _matters(scene: Scene, workload: Workload) -> str:
    """Why the workload matters to others; empty where it does not."""
    exposure = scene.exposed(workload, "edge", "webhook", "api")
    if exposure is not None:
        return f"it gets requests through {exposure.object.key}"
    return "other pods of its node depend on it" if components.is_agent(workload) else ""


@check(
    "image-tag-moves",
    title="A restart may bring another version of a pod behind traffic",
    severity=Severity.MEDIUM,
    incidents=(),
    alike=(DFDS_AMI, BOSKOS),
    about=SERVING,
    needs=("Service",),
    chart_severity=Severity.LOW,
)
def image_tag_moves(scene: Scene) -> Answers:
    """
    What it does
    Looks for images with a tag that is moved by habit (`latest`, none, `main`, `stable`, `nightly` and
    the like) and no digest, in workloads to which traffic from outside, a webhook or an aggregated API
    leads, and in agents that carry a node's network or names. It also says when the node's old copy is
    kept (`imagePullPolicy: IfNotPresent`), so that pods of one workload run different programs. Where a
    kustomization writes the tag under `images`, that tag counts; if it moves, too, as on a branch of
    development that a release pins, the severity is low, and so it is of what lies in a folder `build`,
    of images of a registry on `localhost` and of consoles, at which people look. The `config/` folder of
    an operator, from which a release is built, is left out, and so are names of ImageStreams, which
    OpenShift replaces by digests. What its maker has withdrawn is told by `image-gone`.

    Why it matters
    A drain, a crash or a new node becomes a deployment that nobody made, at a time that nobody chose, and
    there is no older name to go back to: `kubectl rollout undo` brings the same tag.

    Incidents
    At DFDS nodes took the newest image in a daily roll-over; a faulty one went onto all of them at once and
    no earlier one could be set. At Kubernetes' CI a broken image waited in a StatefulSet until a drain
    started it.

    Fix
    Name a version, better a digest, and let a pull request raise it.

    References
    - https://kubernetes.io/docs/concepts/containers/images/#image-names
    """
    for workload in scene.workloads:
        if workload.kind not in SERVING:
            continue
        why = _matters(scene, workload)
        if not why:
            continue
        # What only prepares the pod (a `busybox` that sets a value) ends before anybody is served.
        images = [one for one in workload.running if one.image and gone_image(one.image) is None]
        moving = [one for one in images if not _pinned(one) and not _written(scene, one)]
        if not moving:
            filled = any(not _pinned(one) for one in images)
            yield (
                NotApplicable(workload.object, "a tool fills its image in")
                if filled
                else Pass(workload.object)
            )
            continue
        yield _moving_gap(scene, workload, moving, why)


def _moving_gap(scene: Scene, workload: Workload, moving: list[Container], why: str) -> Gap:
    first = moving[0]
    tag = components.image_tag(first.image)
    by_kustomize = bool(_by_kustomize(scene, first))
    local = first.image.startswith(_ON_THIS_MACHINE)
    built = "build" in workload.object.file.split("/")[:-1]
    kept = as_text(first.get("imagePullPolicy")) in {"IfNotPresent", "Never"}
    moves = "has a tag that moves" if tag else "has no tag, which means latest"
    message = f"`{first.image}` {moves}, and {why}"
    message += "; nodes that have an older copy keep it, so its pods may differ" if kept else ""
    return Gap(
        workload.object,
        message,
        (*first.path, "image"),
        evidence=(
            *(f"{one.name}: image: {one.image}" for one in moving),
            f"imagePullPolicy: {first.get('imagePullPolicy') or 'absent'}",
        ),
        fix=_RELEASED if by_kustomize else _BUILT if built else "",
        severity=Severity.LOW if by_kustomize or built or local or lone.is_console(workload) else None,
        confidence=Confidence.HIGH if tag in {"", "latest"} else Confidence.MEDIUM,
    )


@check(
    "pull-always-critical",
    title="A critical pod cannot restart while the registry is away",
    severity=Severity.LOW,
    incidents=(),
    alike=(DFDS_ZERO,),
    about=SERVING,
    needs=("Service",),
)
def pull_always_critical(scene: Scene) -> Answers:
    """
    What it does
    Looks for `imagePullPolicy: Always`, written down, on images with a digest or a tag that has a number, in
    workloads to which traffic from outside, a webhook or an aggregated API leads, and in agents that carry a
    node's network or names. A tag that is a word or begins with a branch's name most likely moves, so that
    `Always` is meant. In a cluster `latest` with a digest is left out, since the API server writes `Always`
    there by itself.

    Why it matters
    The image is on the node already, and the version does not change. Still each start of a container asks
    the registry; while that is away, or limits requests, a pod that crashed cannot come back. Some tools
    demand `Always`, so that a pod cannot use a private image that another tenant has pulled; in a cluster
    of one team there is little to gain by it.

    Incidents
    At DFDS a cluster without nodes stayed so when the script that adds them met a timeout of Docker Hub: the
    lesson is to know what a start must download. GitHub's availability report of July 2020 tells of pods
    that could not restart for exactly this reason; it is not in the library.

    Fix
    Set `imagePullPolicy: IfNotPresent` for images with a version; mirror the images of critical components
    in a registry of your own.

    References
    - https://github.blog/2020-08-05-github-availability-report-july-2020/
    - https://kubernetes.io/docs/concepts/containers/images/#image-pull-policy
    """
    for workload in scene.workloads:
        why = _matters(scene, workload) if workload.kind in SERVING else ""
        if not why:
            continue
        asking = [
            one
            for one in (*workload.containers, *workload.init_containers)
            if as_text(one.get("imagePullPolicy")) == "Always"
            and not _by_default(scene, one)
            and not one.image.startswith(_ON_THIS_MACHINE)
        ]
        pinned = [one for one in asking if _names_a_version(one)]
        if not pinned:
            yield NotApplicable(workload.object, "its tag moves") if asking else Pass(workload.object)
            continue
        yield Gap(
            workload.object,
            f"`{pinned[0].name}` asks the registry at each start for `{pinned[0].image}`, and {why}",
            (*pinned[0].path, "imagePullPolicy"),
            evidence=tuple(f"{one.name}: imagePullPolicy: Always, image: {one.image}" for one in pinned),
            confidence=Confidence.MEDIUM,
        )


CHECKS = (image_tag_moves, pull_always_critical)
