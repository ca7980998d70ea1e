"""Configuration of pods: changes that reach nobody until a restart, certificates that are never renewed."""
# ruff: noqa: D205, D212, D416 - the docstring of a check is its page, in fixed sections

from __future__ import annotations

import re
from collections.abc import Iterator

from pilotage.checks.absence import surely_absent
from pilotage.checks.dialect import DialectError, compose
from pilotage.checks.model import (
    Answers,
    Confidence,
    Gap,
    NotApplicable,
    Pass,
    Severity,
    Unknown,
    check,
)
from pilotage.checks.objects import KubeObject
from pilotage.checks.placeholders import unrendered
from pilotage.checks.scene import Reference, Scene
from pilotage.checks.values import KeyPath, as_list, as_map, as_text, dig
from pilotage.checks.workloads import KINDS, SERVING, Workload
from pilotage.core.regex import regex

BOSKOS = "kubernetes-2019-03-26-statefulset-update-woken-by-node-drain"
PROW = "kubernetes-2019-02-05-prow-pods-in-wrong-namespace"
KIAM = "dfds-2020-01-21-kiam-server-certificate-expired"
SYSELEVEN = "syseleven-2024-02-10-expired-client-cert-stale-lb-config"
SKYSCANNER = "skyscanner-2021-08-25-argocd-template-deleted-all-namespaces"

_HASHED = regex(r"-[a-z0-9]*\d[a-z0-9]*$")
_FOLLOWS = regex(r"checksum|hash|sha256|reloader|config-?version|rollme", re.IGNORECASE)
_HASH_LENGTHS = range(8, 13)
_KEPT = tuple(kind for kind in SERVING if kind != "Pod")
_EVERYWHERE = {"kube-root-ca.crt", "openshift-service-ca.crt", "istio-ca-root-cert"}
"""ConfigMaps that a controller puts into every namespace."""
_COPIED = regex(r"reflector|replicat|kubed|config-syncer|secret-?sync|trust\.cert-manager", re.IGNORECASE)
"""Annotations and labels of objects that something copies into other namespaces."""


def _follows(workload: Workload) -> bool:
    """Whether something replaces its pods when its configuration changes."""
    return any(_FOLLOWS.search(key) for key in (*workload.pod_annotations, *workload.object.annotations))


def _has_hash(name: str) -> bool:
    match = _HASHED.search(name)
    return match is not None and len(match[0]) - 1 in _HASH_LENGTHS


@check(
    "config-change-sleeps",
    title="A change of the configuration reaches pods behind traffic only at their next restart",
    severity=Severity.LOW,
    incidents=(),
    alike=(BOSKOS,),
    about=SERVING,
    needs=("ConfigMap", "Service"),
)
def config_change_sleeps(scene: Scene) -> Answers:
    """
    What it does
    Looks for workloads to which traffic from outside leads and that take a ConfigMap of the scene in a way
    that never follows its changes: variables (`env`, `envFrom`) or a file mounted with `subPath`. They pass
    when the pod template has an annotation with a checksum or hash, when a reloader is asked for, when the
    ConfigMap is immutable, or when its name ends in a hash (as Kustomize writes it).

    Why it matters
    The change is applied, and nothing changes. It takes effect pod by pod, with drains and crashes, perhaps
    weeks later; for all that time the pods of one service differ, and when the change is bad nobody thinks
    of it.

    Incidents
    Kubernetes' CI applied a broken image that did nothing until a node was drained days later; jobs then
    failed all night. There the update strategy held it back; the mechanism is the same.

    Fix
    Put a checksum of the configuration into an annotation of the pod template, or let Kustomize's
    `configMapGenerator` name it by its content, so that each change is a rollout.

    References
    -
      https://kubernetes.io/docs/concepts/configuration/configmap/#mounted-configmaps-are-updated-automatically
    - https://helm.sh/docs/howto/charts_tips_and_tricks/#automatically-roll-deployments
    """
    for workload in scene.workloads:
        exposure = scene.exposed(workload, "edge") if workload.kind in SERVING else None
        if exposure is None or workload.kind == "Pod":
            continue
        taken = list(_taken(scene, workload, "ConfigMap"))
        if not taken:
            yield NotApplicable(workload.object, "it takes no ConfigMap of the scene in such a way")
        elif _follows(workload) or all(config.get("immutable") is True for _, config, _ in taken):
            yield Pass(workload.object)
        else:
            path, config, how = taken[0]
            yield Gap(
                workload.object,
                f"It takes {config.key} {how}: a change waits for the next restart of each pod",
                path,
                evidence=tuple(f"{one.key} {way}" for _, one, way in taken[:5]),
                confidence=Confidence.MEDIUM,
                related=tuple(dict.fromkeys(one for _, one, _ in taken[:5])),
            )


def _taken(scene: Scene, workload: Workload, kind: str) -> Iterator[tuple[KeyPath, KubeObject, str]]:
    """References to objects of a kind that never follow a change: the way, the object, how it is taken."""
    mounted = {as_text(dig(volume, "name")) for volume, _ in _by_sub_path(workload)}
    for reference in scene.references(workload):
        if reference.kind != kind or _has_hash(reference.name):
            continue
        config = scene.find(kind, reference.name, workload.object)
        if config is None:
            continue
        if "env" in reference.path or "envFrom" in reference.path:
            yield reference.path, config, "as variables"
            continue
        volume = workload.object.get(*reference.path[: len(workload.pod_path) + 2])
        if as_text(dig(volume, "name")) in mounted:
            yield reference.path, config, "through `subPath`"


def _by_sub_path(workload: Workload) -> Iterator[tuple[object, KeyPath]]:
    """Volumes that a running container mounts with `subPath`, with the way to the mount."""
    volumes = {as_text(dig(one, "name")): one for one in as_list(workload.pod.get("volumes"))}
    for container in workload.running:
        for position, mount in enumerate(as_list(container.data.get("volumeMounts"))):
            volume = volumes.get(as_text(dig(mount, "name")))
            if volume is not None and (dig(mount, "subPath") or dig(mount, "subPathExpr")):
                yield volume, (*container.path, "volumeMounts", position, "subPath")


@check(
    "pod-config-missing",
    title="Pods name a Secret or ConfigMap that their namespace does not have",
    severity=Severity.HIGH,
    breaks=True,
    incidents=(),
    alike=(PROW,),
    about=(*_KEPT, "CronJob"),
    needs=("ConfigMap", "Secret"),
    uses=("Certificate", "ClusterPolicy", "ExternalSecret", "SealedSecret"),
)
def pod_config_missing(scene: Scene) -> Answers:
    """
    What it does
    Follows the Secrets and ConfigMaps that pods mount or take variables from, unless they are optional. In a
    cluster it speaks up for each that is not there. In files it does so only where the very object stands in
    another namespace and the files surely hold what there is: it is in the same file, or others of that kind
    are in the namespace of the pods. Objects that are copied into namespaces (reflector, replicator, a policy
    of Kyverno), sealed, or made from an outside store or a Certificate are not judged.

    Why it matters
    Secrets and ConfigMaps do not reach across namespaces. A pod that names an absent one is scheduled and
    then waits in `ContainerCreating` or `CreateContainerConfigError` for ever. Pods that run already go on,
    so a Secret that somebody removed shows at the next restart, on all of them.

    Incidents
    The CI of Kubernetes made its pods in `default` after an update, while their secrets were in `test-pods`;
    nearly all of them hung while they started, the job that was to roll the update back among them.

    Fix
    Create the object in the namespace of the pods, or move the pods to where it is; mark the reference
    `optional: true` where the program can do without it.

    References
    - https://kubernetes.io/docs/concepts/configuration/secret/#restriction-secret-must-exist
    - https://kubernetes.io/docs/concepts/configuration/configmap/#using-configmaps-as-files-from-a-pod
    """
    made = _Made(scene)
    for workload in scene.workloads:
        if workload.kind not in {*_KEPT, "CronJob"}:
            continue
        named = [one for one in scene.references(workload) if _is_needed(one)]
        answers = [answer for one in named if (answer := _missing(scene, workload, one, made)) is not None]
        gap = next((one for one in answers if isinstance(one, Gap)), None)
        if gap is not None:
            yield gap
        elif answers:
            yield answers[0]
        elif named:
            yield Pass(workload.object)


def _is_needed(one: Reference) -> bool:
    named = bool(one.name) and not unrendered(one.name) and one.name not in _EVERYWHERE
    return (
        one.kind in {"ConfigMap", "Secret"}
        and not one.optional
        and "imagePullSecrets" not in one.path
        and named
    )


def _missing(scene: Scene, workload: Workload, named: Reference, made: _Made) -> Gap | Unknown | None:
    """What is to be said about a reference; None where the object is there or somebody makes it."""
    one = workload.object
    if scene.find(named.kind, named.name, one) is not None or made.in_namespace(named, one.namespace):
        return None
    elsewhere = [] if scene.live else _elsewhere(scene, workload, named)
    if not elsewhere and not (scene.live and surely_absent(scene, named.kind, named.name, one)):
        return Unknown(f"{named.kind} `{named.name}` may be kept elsewhere", one, named.path)
    only = f"; `{elsewhere[0].namespace}` has one of that name" if elsewhere else ""
    scale = scene.scale(workload)
    return Gap(
        one,
        f"{named.kind} `{named.name}` is not in namespace `{one.namespace}`{only}: a pod that starts waits "
        "for it for ever",
        named.path,
        evidence=(f"{named.kind}: {named.name}", *(f"there is {found.key}" for found in elsewhere[:3])),
        severity=Severity.LOW if scale is not None and scale.least == 0 else None,
        confidence=Confidence.HIGH if scene.live else Confidence.MEDIUM,
        related=tuple(elsewhere[:3]),
    )


def _elsewhere(scene: Scene, workload: Workload, named: Reference) -> list[KubeObject]:
    """Objects of that name in other namespaces, where a pod surely means one of them."""
    one = workload.object
    if not one.namespace:
        return []
    found = [item for item in scene.index.named(named.kind, named.name) if item.namespace != one.namespace]
    if any(_COPIED.search(key) for item in found for key in (*item.annotations, *item.labels)):
        return []
    absent = surely_absent(scene, named.kind, named.name, one)
    return [item for item in found if item.namespace and (absent or item.file == one.file)]


class _Made:
    """Secrets and ConfigMaps that controllers make from other objects of the files; a cluster has them.

    Args:
        scene: where these are.
    """

    def __init__(self, scene: Scene) -> None:
        self._secrets: set[tuple[str, str]] = set()
        self._anywhere: set[tuple[str, str]] = set()
        if scene.live:
            return
        for one in scene.of("Certificate", "ExternalSecret", "SealedSecret"):
            names = (as_text(one.spec.get("secretName")), as_text(dig(one.spec, "target", "name")), one.name)
            self._secrets |= {(one.namespace, name) for name in names}
        for policy in scene.of("ClusterPolicy"):
            for rule in as_list(policy.spec.get("rules")):
                kind, name = dig(rule, "generate", "kind"), dig(rule, "generate", "name")
                self._anywhere.add((as_text(kind), as_text(name)))

    def in_namespace(self, named: Reference, namespace: str) -> bool:
        """Whether an object that a pod of a namespace names is made."""
        if (named.kind, named.name) in self._anywhere:
            return True
        return named.kind == "Secret" and bool({(namespace, named.name), ("", named.name)} & self._secrets)


@check(
    "certificate-by-subpath",
    title="A renewed certificate never reaches the pod, since it is mounted by subPath",
    severity=Severity.MEDIUM,
    incidents=(),
    alike=(KIAM, SYSELEVEN),
    about=(*SERVING, "Certificate"),
    needs=("Secret",),
)
def certificate_by_subpath(scene: Scene) -> Answers:
    """
    What it does
    Looks for Secrets with a certificate (type `kubernetes.io/tls`, made by a Certificate of cert-manager, or
    mounted as `*.crt`, `*.pem` without `key` in its name, or `tls.key`) that a container mounts with
    `subPath`, in pods that nothing replaces when the Secret changes. What is only trusted (`ca.crt`) lives
    for years and is of low severity; so is what has neither the type nor the names of what is renewed.

    Why it matters
    A file that is mounted with `subPath` stays what it was when the container started. cert-manager renews
    the Secret in time, every dashboard shows a valid certificate, and the process presents the old one until
    it expires, on all pods in the same minute.

    Incidents
    At DFDS the certificate of an agent for credentials expired in use, and pods lost access to AWS. At
    SysEleven an expired client certificate froze a balancer's configuration. How they were mounted is not
    stated.

    Fix
    Mount the whole volume as a folder without `subPath`, and let the program read the files again; else let
    a reloader replace the pods.

    References
    - https://kubernetes.io/docs/concepts/configuration/secret/#mounted-secrets-are-updated-automatically
    - https://cert-manager.io/docs/usage/certificate/
    """
    made = {as_text(one.spec.get("secretName")) for one in scene.of("Certificate")}
    for workload in scene.workloads:
        if workload.kind not in SERVING:
            continue
        found = [item for item in _by_sub_path(workload) if dig(item[0], "secret") is not None]
        if not found:
            continue
        held = [item for item in found if _is_certificate(scene, workload, item, made)]
        if not held or _follows(workload):
            yield Pass(workload.object)
            continue
        volume, path = held[0]
        name = as_text(dig(volume, "secret", "secretName"))
        yield Gap(
            workload.object,
            f"The certificate of Secret `{name}` stays what it was when the container started",
            path,
            evidence=(f"subPath: {workload.object.get(*path)}", f"volume: secret {name}"),
            severity=None if any(_is_renewed(scene, workload, item, made) for item in held) else Severity.LOW,
            confidence=Confidence.HIGH if name in made else Confidence.MEDIUM,
        )


_Item = tuple[object, KeyPath]


def _is_renewed(scene: Scene, workload: Workload, item: _Item, made: set[str]) -> bool:
    """Whether it is what the pod presents, and of the form that something renews."""
    file = _file(workload, item)
    return not file.startswith("ca") and (file.startswith("tls.") or _of_tls(scene, workload, item, made))


def _is_certificate(scene: Scene, workload: Workload, item: _Item, made: set[str]) -> bool:
    file = _file(workload, item)
    # A key that stands by itself signs something else, and nothing renews it.
    named = file == "tls.key" or (file.endswith((".crt", ".pem")) and "key" not in file)
    return named or _of_tls(scene, workload, item, made)


def _of_tls(scene: Scene, workload: Workload, item: _Item, made: set[str]) -> bool:
    name = as_text(dig(item[0], "secret", "secretName"))
    secret = scene.find("Secret", name, workload.object) if name else None
    return name in made or (secret is not None and secret.get("type") == "kubernetes.io/tls")


def _file(workload: Workload, item: _Item) -> str:
    return as_text(workload.object.get(*item[1])).rpartition("/")[2].lower()


@check(
    "config-no-yaml",
    title="A configuration that is called YAML and cannot be read as YAML",
    severity=Severity.HIGH,
    breaks=True,
    incidents=(),
    alike=(SKYSCANNER,),
    about=("ConfigMap",),
    uses=KINDS,
)
def config_no_yaml(scene: Scene) -> Answers:
    """
    What it does
    Reads the values of ConfigMaps that pods use and whose keys end in `.yaml` or `.yml`, and speaks up where
    that breaks off: a line that stands too deep, a quote that is not closed, a tab. Of several documents in a
    value it reads the first one. Templates, which something fills in before they are read, are left alone.
    Of the ConfigMaps of a cluster only those values are there that other checks read.

    Why it matters
    For the API server the value is a text, so that it is taken as it is. The program that reads it ends at
    its start, or goes on with what it had before, and nobody learns of it until then.

    Incidents
    At Skyscanner a template lost its delimiters, so that what it rendered could not be read. The change had
    passed review and was applied, and all namespaces of a cluster went with their services.

    Fix
    Mend the line that is named, and read the value with the program itself before it is applied.

    References
    - https://kubernetes.io/docs/concepts/configuration/configmap/
    - https://yaml.org/spec/1.2.2/
    """
    users: dict[int, KubeObject] = {}
    for workload in scene.workloads:
        for named in scene.references(workload):
            if named.kind != "ConfigMap":
                continue
            found = scene.find(named.kind, named.name, workload.object)
            if found is not None:
                users.setdefault(id(found), workload.object)
    for one in scene.of("ConfigMap"):
        user = users.get(id(one))
        texts = {key: text for key, text in as_map(one.get("data")).items() if _is_yaml(key, text)}
        if user is None or not texts:
            continue
        wrong = [(key, error) for key, text in texts.items() if (error := _breaks_off(text)) is not None]
        if not wrong:
            yield Pass(one)
        for key, error in wrong:
            yield Gap(
                one,
                f"`{key}` breaks off in its line {error.line}, and {user.key} uses it: {error.message}",
                ("data", key),
                evidence=(f"line {error.line} of `{key}`: {error.message}",),
                confidence=Confidence.MEDIUM,
                related=(user,),
            )


def _is_yaml(key: str, text: object) -> bool:
    """Whether a value is meant to be YAML as it stands, and long enough to be a file."""
    named = key.endswith((".yaml", ".yml"))
    return named and isinstance(text, str) and "\n" in text and not unrendered(text) and "{%" not in text


def _breaks_off(text: str) -> DialectError | None:
    """Where a text is no YAML; None where it is."""
    try:
        compose(text)
    except DialectError as error:
        return error if error.line else None
    return None


CHECKS = (certificate_by_subpath, config_change_sleeps, config_no_yaml, pod_config_missing)
