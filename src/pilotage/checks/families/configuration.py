"""Configuration of pods: changes that reach nobody until a restart, certificates that are never renewed."""
# ruff: noqa: D205, D212, D416 - the docstring of a check is its page, in fixed sections

from __future__ import annotations

import re
from collections.abc import Iterator

from pilotage.checks.model import Answers, Confidence, Gap, NotApplicable, Pass, Severity, check
from pilotage.checks.objects import KubeObject
from pilotage.checks.scene import Scene
from pilotage.checks.values import KeyPath, as_list, as_text, dig
from pilotage.checks.workloads import SERVING, Workload

BOSKOS = "kubernetes-2019-03-26-statefulset-update-woken-by-node-drain"
KIAM = "dfds-2020-01-21-kiam-server-certificate-expired"
SYSELEVEN = "syseleven-2024-02-10-expired-client-cert-stale-lb-config"

_HASHED = re.compile(r"-[a-z0-9]*\d[a-z0-9]*$")
_FOLLOWS = re.compile(r"checksum|hash|sha256|reloader|config-?version|rollme", re.IGNORECASE)
_HASH_LENGTHS = range(8, 13)


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
    mounted as `*.crt`, `*.pem` or `tls.key`) that a container mounts with `subPath`, in pods that nothing
    replaces when the Secret changes.

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
            confidence=Confidence.HIGH if name in made else Confidence.MEDIUM,
        )


def _is_certificate(scene: Scene, workload: Workload, item: tuple[object, KeyPath], made: set[str]) -> bool:
    volume, path = item
    name = as_text(dig(volume, "secret", "secretName"))
    secret = scene.find("Secret", name, workload.object) if name else None
    if name in made or (secret is not None and secret.get("type") == "kubernetes.io/tls"):
        return True
    return as_text(workload.object.get(*path)).endswith((".crt", ".pem", "tls.key"))


CHECKS = (certificate_by_subpath, config_change_sleeps)
