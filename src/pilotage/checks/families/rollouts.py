"""Rollouts and drains: how many pods behind traffic may be gone at once."""
# ruff: noqa: D205, D212, D416 - the docstring of a check is its page, in fixed sections

from __future__ import annotations

from collections.abc import Iterator

from pilotage.checks import components, lone, volumes
from pilotage.checks.model import (
    Answer,
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
from pilotage.checks.scene import Exposure, Scale, Scene
from pilotage.checks.serving import way_in
from pilotage.checks.values import as_list, as_text, dig, percent_or_count
from pilotage.checks.workloads import Workload

SCAP = "wikimedia-2018-06-26-deploy-tool-depooled-most-servers"
BOSKOS = "kubernetes-2019-03-26-statefulset-update-woken-by-node-drain"

_KEPT = (
    "One node at a time may have {held}. Where several of it may share their files, put those on a "
    "ReadWriteMany volume; w{apart}"
)
_APART = (
    "here the program can replicate, let it (or an operator for it) run two or more, each with a volume of "
    "its own. Else keep the way back short: a class of volumes that other nodes and zones can attach, a "
    "graceful end that frees the volume, and drains that are announced."
)
_NOT_SHARED = "Two of it may not share the files on {held}. W{apart}"
_IN_A_FOLDER = (
    "A pod on another node finds another folder there, or none. Put what lies in it where each node can read "
    "it (a volume of a network class, or the image itself), then run two replicas on "
    "different nodes, with a PodDisruptionBudget."
)
_ELSEWHERE = (
    "Where nothing of worth lies on {held}, as it seems, take an `emptyDir` in its place, and run two "
    "replicas on different nodes, with a PodDisruptionBudget."
)

_HELD = (
    "One node at a time may have {held}, so that `RollingUpdate` alone would leave the new pod waiting. "
    "Where the program allows two instances, put the data on a ReadWriteMany volume, a database or an object "
    "store, and roll; else announce each rollout, and pull the new image before it, so that it is short."
)
_CONSOLE = (
    "Only those who look at it wait for it. Run two replicas on different nodes, with `sessionAffinity: "
    "ClientIP` on its Service where it keeps sessions of its own; or leave it at one, and say so here."
)
_ONE_AFTER_ANOTHER = (
    "Where two of it may run beside each other for a moment, use `RollingUpdate` with `maxUnavailable: 0` "
    "and a readiness probe. Where they may not, keep `Recreate`, pull the new image before each rollout and "
    "announce it."
)
_MEMBERS = (
    "Its pods are members of a quorum, which loses its data with them. Run them as a StatefulSet with a "
    "volume for each, which replaces one member after the other, and have them know each other by the names "
    "of a headless Service (such as `{name}-0.{name}-peers`): a new pod has another address, and a discovery "
    "service counts it as one member more.{arguments}"
)
_ETCD = (
    " Start `etcd` itself, not a script that registers addresses, with these names in `--name`, "
    "`--initial-cluster`, `--initial-advertise-peer-urls` and `--advertise-client-urls`, with "
    "`--listen-peer-urls` and `--listen-client-urls` on `0.0.0.0`, and with `--data-dir` on the volume."
)


def _serving(scene: Scene, *kinds: str) -> Iterator[tuple[Workload, Exposure | None]]:
    for workload in scene.workloads:
        if workload.kind in kinds:
            yield workload, scene.exposed(workload)


@check(
    "recreate-behind-traffic",
    title="Every rollout takes all pods behind traffic away first",
    severity=Severity.HIGH,
    incidents=(),
    alike=(SCAP,),
    about=("Deployment",),
    needs=("Service",),
    uses=lone.USES,
    chart_severity=Severity.LOW,
)
def recreate_behind_traffic(scene: Scene) -> Answers:
    """
    What it does
    Looks for Deployments with the strategy `Recreate` to which an Ingress, another route, a webhook or a
    Service leads. Where only Services inside of the cluster lead there, or where the pods hold a volume that
    one node may have at a time, or where there is one pod, which has its gaps anyway, the severity is lower;
    for one pod of a console, at which people look, it is low. Where both of the first hold, where the
    program works as one instance only (Jenkins, the proxy of JupyterHub and others of a table), and for
    controllers that look after other workloads, and where only metrics are read, nothing is said: there
    `Recreate` is right.

    Why it matters
    `Recreate` stops all old pods and only then starts new ones. Until a new one is ready there is nothing
    that could answer; when the new version does not start, that lasts until somebody rolls back.

    Incidents
    At Wikimedia a deploy run took more than nine of ten servers out of the balancer before it put any back,
    and nearly all requests failed. It was another tool; the mechanism is that of `Recreate`.

    Fix
    Use `RollingUpdate` with `maxUnavailable: 0` and a readiness probe. Where a volume forbids two pods, use a
    StatefulSet with more than one replica, or plan each rollout as a time of unavailability.

    References
    - https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#recreate-deployment
    """
    for workload, exposure in _serving(scene, "Deployment"):
        scale = scene.scale(workload)
        if workload.strategy != "Recreate" or exposure is None:
            yield Pass(workload.object)
        elif scale is not None and scale.most == 0:
            yield NotApplicable(workload.object, "it is scaled to zero")
        else:
            yield _recreated(scene, workload, exposure, scale)


def _recreated(scene: Scene, workload: Workload, exposure: Exposure, scale: Scale | None) -> Answer:
    single = scale is not None and scale.least <= 1
    held = lone.volume_of_one_node(scene, workload)
    severity = Severity.MEDIUM if exposure.by == "service" else Severity.HIGH
    severity = severity.lowered() if held else severity
    severity = severity.lowered() if single else severity
    severity = Severity.LOW if single and lone.is_console(workload) else severity
    why = lone.why_stopped_first(scene, workload, exposure, held) if single else ""
    if why:
        return NotApplicable(workload.object, why)
    if exposure.by == "service" and _for_metrics(exposure.service):
        return NotApplicable(workload.object, "only its metrics are asked for")
    pods = "its one pod" if single else "all its pods"
    fix = _HELD.format(held=held) if held else _ONE_AFTER_ANOTHER if single else ""
    store = next(
        (one for one in workload.containers if "quorum-store" in components.container_roles(one)), None
    )
    if not single and store is not None:
        arguments = _ETCD if "etcd" in components.bare_image(store.image) else ""
        fix = _MEMBERS.format(name=workload.object.name, arguments=arguments)
    return Gap(
        workload.object,
        f"`Recreate` stops {pods} before a new one starts, and it gets {way_in(exposure)}",
        ("spec", "strategy", "type"),
        evidence=("spec.strategy.type: Recreate", f"spec.replicas: {workload.replicas}"),
        fix=fix,
        severity=severity,
        related=(exposure.object,),
    )


def _for_metrics(service: KubeObject) -> bool:
    """Whether a Service is there for whoever reads the metrics, and for nobody else."""
    names = [as_text(dig(port, "name")) for port in as_list(service.spec.get("ports"))]
    return bool(names) and all("metrics" in name or "prometheus" in name for name in names)


@check(
    "rollout-all-unavailable",
    title="A rolling update may take all pods behind traffic away at once",
    severity=Severity.HIGH,
    incidents=(),
    alike=(SCAP,),
    about=("Deployment", "DaemonSet"),
    needs=("Service",),
)
def rollout_all_unavailable(scene: Scene) -> Answers:
    """
    What it does
    Works out how many pods a rolling update may make unavailable (`maxUnavailable`, percentages rounded as
    the controller does, against the least number of replicas that an autoscaler allows) and speaks up when
    that is all of them, for Deployments and DaemonSets to which an Ingress, another route or a webhook
    leads. Where all of them is one pod the severity is medium; programs that work as one instance only, for
    which that is right, are left out.

    Why it matters
    `maxUnavailable: 1` looks careful and is everything when there is one replica; so is `100%` on a
    DaemonSet of ingress controllers. The rollout then stops serving first and starts the new version after.

    Incidents
    At Wikimedia a deploy run had more than nine of ten servers out of the balancer at the same time, and
    nearly all requests failed. It was another tool; the mechanism is the same.

    Fix
    Set `maxUnavailable: 0` with `maxSurge: 1` (on a DaemonSet `1`), or run enough replicas that some remain.

    References
    - https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#max-unavailable
    """
    for workload in scene.workloads:
        if workload.kind not in {"Deployment", "DaemonSet"}:
            continue
        exposure = scene.exposed(workload, "edge", "webhook", "api")
        if exposure is None or workload.strategy != "RollingUpdate":
            yield NotApplicable(workload.object, "no traffic from outside, or no rolling update")
        else:
            yield _unavailable(scene, workload, exposure)


def _unavailable(scene: Scene, workload: Workload, exposure: Exposure) -> Answer:
    key = "strategy" if workload.kind == "Deployment" else "updateStrategy"
    path = ("spec", key, "rollingUpdate", "maxUnavailable")
    stated = workload.object.get(*path)
    if stated is None:
        return Pass(workload.object)
    scale = scene.scale(workload)
    least = scale.least if scale is not None else None
    if least is None:
        gone = stated == "100%"
    else:
        number = percent_or_count(stated, least, round_up=False)
        gone = number is not None and number >= least > 0
    if not gone:
        return Pass(workload.object)
    if "replaced-together" in components.roles(workload):
        return NotApplicable(workload.object, "its makers want the old ones gone before new ones start")
    if least == 1 and (program := lone.program_of(scene, workload, exposure)) is not None:
        return NotApplicable(workload.object, program.why)
    of = "all pods" if least is None else f"all {least} replicas" if least > 1 else "the one replica"
    return Gap(
        workload.object,
        f"`maxUnavailable: {stated}` lets a rollout take {of} away at once, and it gets {way_in(exposure)}",
        path,
        evidence=(
            f"{'.'.join(path)}: {stated}",
            *((f"least replicas: {least}",) if least is not None else ()),
        ),
        patch=(Operation("replace", path, 0 if workload.kind == "Deployment" else 1),),
        severity=None if least != 1 else Severity.LOW if lone.is_console(workload) else Severity.MEDIUM,
        related=(exposure.object,),
    )


@check(
    "single-replica-edge",
    title="One pod alone gets the traffic from outside",
    severity=Severity.MEDIUM,
    incidents=(BOSKOS,),
    about=("Deployment", "StatefulSet", "Rollout"),
    needs=("Service",),
    uses=lone.USES,
    chart_severity=Severity.LOW,
)
def single_replica_edge(scene: Scene) -> Answers:
    """
    What it does
    Looks for workloads of one replica (no autoscaler that keeps more) to which an Ingress, another route or
    a Service with a port outside of the cluster leads. Those with `Recreate` or with an update that takes
    the one pod away first are told by `recreate-behind-traffic` and `rollout-all-unavailable`. Left out are
    programs that work as one instance only (a table), controllers that look after other workloads (by what
    their account may make, or since they elect a leader), and pods beside which another workload answers
    behind the same Service. Where a volume binds it to one node (a claim for one node, or one whose volume
    lies among the files and is a folder of one node), and for consoles, at which people look (a table), the
    severity is low.

    Why it matters
    A drained or lost node, an eviction or a crash of that one pod is an outage of its whole service, as
    long as the next one takes to start; and when the next one cannot start, until somebody notices.

    Incidents
    Kubernetes' own CI lent out projects through a StatefulSet of one pod. A node was drained in an upgrade,
    the new pod crash-looped, and jobs failed for nine hours.

    Fix
    Run at least two replicas on different nodes, with a PodDisruptionBudget; where only one may work at a
    time, run standbys with leader election.

    References
    - https://kubernetes.io/docs/concepts/workloads/pods/disruptions/
    """
    for workload, _ in _serving(scene, "Deployment", "StatefulSet", "Rollout"):
        exposure = scene.exposed(workload, "edge")
        scale = scene.scale(workload)
        if exposure is None or scale is None:
            yield NotApplicable(workload.object, "no traffic from outside leads to it")
        elif scale.least != 1:
            yield Pass(workload.object)
        elif workload.strategy == "Recreate" or (
            workload.strategy == "RollingUpdate" and isinstance(_unavailable(scene, workload, exposure), Gap)
        ):
            yield NotApplicable(workload.object, "see recreate-behind-traffic and rollout-all-unavailable")
        elif why := lone.why_alone(scene, workload, exposure):
            yield NotApplicable(workload.object, why)
        elif (other := lone.beside(scene, workload)) is not None:
            yield NotApplicable(workload.object, f"{other.object.key} answers beside it")
        else:
            yield _single(scene, workload, exposure, scale)


def _single(scene: Scene, workload: Workload, exposure: Exposure, scale: Scale) -> Gap:
    stated = workload.stated_replicas
    program = lone.program_of(scene, workload, exposure)
    bound, fix = _bound_to_its_node(scene, workload, exposure)
    fix = program.fix if program is not None else fix
    if not fix and lone.is_console(workload):
        fix = _CONSOLE
    return Gap(
        workload.object,
        f"One replica alone gets {way_in(exposure)}{bound}",
        ("spec", "replicas") if scale.autoscaler is None else (),
        evidence=(
            f"spec.replicas: {stated if stated is not None else 'absent, which means 1'}"
            if scale.autoscaler is None
            else f"{scale.autoscaler.key}: keeps 1 replica at least",
        ),
        fix=fix,
        severity=Severity.LOW if fix else None,
        confidence=Confidence.HIGH if stated is not None or scale.autoscaler else Confidence.MEDIUM,
        related=(exposure.object,),
    )


def _bound_to_its_node(scene: Scene, workload: Workload, exposure: Exposure) -> tuple[str, str]:
    """What binds its pod to one node, as the end of a sentence, and the fix there; both empty for nothing."""
    if folder := volumes.folder_of_one_node(scene, workload):
        return f", and its files lie in a folder of one node ({folder})", _IN_A_FOLDER
    held = lone.volume_of_one_node(scene, workload)
    if not held:
        return "", ""
    if elsewhere := volumes.kept_elsewhere(workload, exposure):
        told = f", and {held} binds it to one node, though its data lies in {elsewhere.what}"
        return told, f"{elsewhere.first}{_ELSEWHERE.format(held=held)}"
    alone = "files-for-one" in components.roles(workload)
    return f", and its files lie on {held}", (_NOT_SHARED if alone else _KEPT).format(held=held, apart=_APART)


@check(
    "update-waits-for-restart",
    title="An update does nothing until a pod happens to be replaced",
    severity=Severity.MEDIUM,
    incidents=(BOSKOS,),
    about=("StatefulSet", "DaemonSet"),
    chart_severity=Severity.LOW,
)
def update_waits_for_restart(scene: Scene) -> Answers:
    """
    What it does
    Looks for StatefulSets and DaemonSets with the update strategy `OnDelete`, and for StatefulSets whose
    `partition` is not below the number of replicas. A StatefulSet that an operator owns is left alone:
    there the operator does the replacing.

    Why it matters
    Applying a new version changes nothing that anybody could see. The new version starts when a node is
    drained or a pod dies, perhaps weeks later, at night, on all pods of a node pool in a row; nobody thinks
    of the change by then.

    Incidents
    Kubernetes' CI updated a StatefulSet of one pod to a broken image; the pod was not replaced and all
    looked well. Days later a node drain started the new image, which could not start, and CI failed for
    nine hours.

    Fix
    Use `RollingUpdate`; where somebody must decide, use `partition` and lower it in the same change that
    brings the new version, and alert on `updatedReplicas` below `replicas`.

    References
    - https://kubernetes.io/docs/concepts/workloads/controllers/statefulset/#update-strategies
    """
    for workload in scene.workloads:
        one = workload.object
        if workload.kind not in {"StatefulSet", "DaemonSet"}:
            continue
        partition = one.get("spec", "updateStrategy", "rollingUpdate", "partition")
        held = (
            isinstance(partition, int)
            and workload.replicas is not None
            and partition >= workload.replicas > 0
        )
        if workload.strategy != "OnDelete" and not held:
            yield Pass(one)
        elif one.controller() is not None:
            yield NotApplicable(one, "an operator owns it")
        else:
            path = ("spec", "updateStrategy", "type" if workload.strategy == "OnDelete" else "rollingUpdate")
            stated = f"partition: {partition}" if held else "type: OnDelete"
            yield Gap(
                one,
                f"`{stated}` holds every update back until a pod is replaced for another reason",
                path,
                evidence=(f"spec.updateStrategy: {one.get('spec', 'updateStrategy')}",),
            )


CHECKS = (
    recreate_behind_traffic,
    rollout_all_unavailable,
    single_replica_edge,
    update_waits_for_restart,
)
