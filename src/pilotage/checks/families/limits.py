"""Memory and CPU limits: what may take a node, what a default limit kills, what a limit slows down."""
# ruff: noqa: D205, D212, D416 - the docstring of a check is its page, in fixed sections

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from decimal import Decimal

from pilotage.checks import components
from pilotage.checks.allowances import container_amount, limit_default
from pilotage.checks.components import idle
from pilotage.checks.gone_images import gone_image
from pilotage.checks.index import SHARED, nearest
from pilotage.checks.model import Answers, Confidence, Gap, NotApplicable, Pass, Severity, check
from pilotage.checks.nodes import on_control_plane_only, which_nodes
from pilotage.checks.objects import KubeObject
from pilotage.checks.placeholders import to_fill_in
from pilotage.checks.scene import Scene
from pilotage.checks.serving import way_in
from pilotage.checks.values import as_list, as_text, dig, human_bytes
from pilotage.checks.work import does_little
from pilotage.checks.workloads import SERVING, Container, Workload
from pilotage.core.regex import regex

BLUE_MATADOR = "blue-matador-2019-06-15-fluentd-system-oom"
NU_NL = "nu-nl-2019-02-01-elastalert-oom-nodes"
DFDS_LIMITS = "dfds-2022-06-02-alb-502-traefik-oom-limitrange"
OMIO = "omio-2020-02-17-cpu-limit-throttling"
TARGET = "target-2019-01-cascading-failure-consul-gossip"

_WHOLE_CORE = Decimal(1)
_GATHERS = regex(
    r"fluent|beat(?![a-z])|logstash|promtail|vector|collectd|telegraf|datadog|dd-agent|newrelic|sysdig|"
    r"prometheus|otel|opentelemetry|collector|splunk|dynatrace|oneagent|instana|falco|alloy|grafana-agent|"
    r"logging|logs?-agent|jaeger|xray|x-ray|cadvisor|tetragon|zipkin|metrics|telemetry|monitoring",
    re.IGNORECASE,
)
_BUFFERS = regex(
    r"fluent|beat(?![a-z])|logstash|promtail|vector|splunk|otel|opentelemetry|collector|alloy|logging|logs?-agent",
    re.IGNORECASE,
)
"""Those of them that hold back what they cannot hand on."""
_NODE_LOGS = {"/var/log", "/var/log/pods", "/var/log/containers", "/var/lib/docker/containers", "/"}
_FEW_LINES = regex(
    r"secret|token|cert|tls|keytab|(?<![a-z])keys?(?![a-z])|credential|password|auth|config|env(?![a-z])|"
    r"socket|metrics|textfile|(?<![a-z])(?:run|sock|ssh|gpg|kubeconfig)(?![a-z])",
    re.IGNORECASE,
)
"""Names of volumes for what is a few lines long."""
_SCRATCH = "/tmp"  # noqa: S108 - a folder of a container, to compare with
_LIMIT = "Set a memory limit somewhat above what it uses at its worst."
_ABOVE_ITS_OWN = "Set a memory limit above the sum of what its own watchdog lets its processes have."


def _unbound(scene: Scene, workload: Workload) -> list[Container]:
    return [
        one
        for one in workload.running
        if container_amount(scene, one, "limits", "memory") is None and not idle(one)
    ]


@check(
    "agent-no-memory-limit",
    title="A pod on every node may take all of the node's memory",
    severity=Severity.MEDIUM,
    incidents=(BLUE_MATADOR,),
    alike=(TARGET,),
    about=("DaemonSet",),
    needs=("LimitRange",),
    chart_severity=Severity.LOW,
)
def agent_no_memory_limit(scene: Scene) -> Answers:
    """
    What it does
    Looks for DaemonSets with a container that has no memory limit, neither of its own nor from a LimitRange
    of its namespace. Containers that only sleep are left out, and agents that carry the network or the names
    of the node (by their image: kube-proxy, Calico, Cilium and the like): for them a kill is as bad as a
    full node. The severity is medium for what gathers logs, metrics or traces of its node (by names, or by
    the folders of the node that it mounts) and for what gets traffic from outside, since its memory grows
    with what comes in; else, on nodes of the control plane only, and where a watchdog of its own ends it (a
    table), it is low.

    Why it matters
    An agent that leaks, or that buffers since its target is away, grows on all nodes at the same time. With
    no limit the kernel's choice falls on whatever pod it finds, and nodes turn NotReady one after another.

    Incidents
    At Blue Matador log shippers without a limit took the memory of their nodes until the kernel ended
    processes; with a limit the agent is the one that is killed.

    Fix
    Set a memory limit somewhat above what the agent uses at its worst, and let its buffers spill to disk.

    References
    - https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/
    - https://www.bluematador.com/blog/post-mortem-kubernetes-node-oom
    """
    for workload in scene.workloads:
        if workload.kind != "DaemonSet":
            continue
        unbound = _unbound(scene, workload)
        if not unbound:
            yield Pass(workload.object)
        elif components.is_agent(workload):
            yield NotApplicable(workload.object, "the node depends on it")
        elif any(to_fill_in(one.image) for one in unbound):
            yield NotApplicable(workload.object, "its image is still to be filled in")
        elif all(gone_image(one.image) is not None for one in unbound):
            yield NotApplicable(workload.object, "see image-gone")
        else:
            yield _agent_gap(scene, workload, unbound)


def _agent_gap(scene: Scene, workload: Workload, unbound: list[Container]) -> Gap:
    names = ", ".join(f"`{one.name}`" for one in unbound)
    edge = scene.exposed(workload, "edge")
    guarded = all("guards-its-memory" in components.container_roles(one) for one in unbound)
    gathers = any(_gathers(one) for one in unbound)
    grows = not guarded and not on_control_plane_only(workload) and (gathers or edge is not None)
    way = f", and it gets {way_in(edge)}" if grows and edge is not None else ""
    buffers = any(_BUFFERS.search(f"{one.name} {components.bare_image(one.image)}") for one in unbound)
    return Gap(
        workload.object,
        f"No memory limit holds {names}: on {which_nodes(workload)} only its own watchdog does"
        if guarded
        else f"Without a memory limit {names} may take the memory of {which_nodes(workload)}{way}",
        (*unbound[0].path, "resources"),
        evidence=tuple(f"{one.name}: resources.limits.memory: absent" for one in unbound),
        fix=_ABOVE_ITS_OWN if guarded else "" if grows and gathers and buffers else _LIMIT,
        severity=None if grows else Severity.LOW,
        confidence=Confidence.HIGH if scene.live else Confidence.MEDIUM,
    )


def _gathers(container: Container) -> bool:
    """Whether it takes in what its node makes: logs, metrics, traces."""
    name, pod = container.workload.object.name, container.workload.pod
    if _GATHERS.search(f"{name} {container.name} {components.bare_image(container.image)}"):
        return True
    logs = {
        dig(volume, "name")
        for volume in as_list(pod.get("volumes"))
        if as_text(dig(volume, "hostPath", "path")).rstrip("/") in _NODE_LOGS
    }
    return any(dig(mount, "name") in logs for mount in as_list(container.data.get("volumeMounts")))


@check(
    "limitrange-reaches-edge",
    title="A default memory limit that nobody chose applies to pods at the edge",
    severity=Severity.MEDIUM,
    incidents=(DFDS_LIMITS,),
    about=("LimitRange",),
    needs=("Service",),
)
def limitrange_reaches_edge(scene: Scene) -> Answers:
    """
    What it does
    Looks for LimitRanges with a default memory limit in whose namespace an ingress controller (by its
    image), or a workload behind a Service of type LoadBalancer or NodePort, has a container without a limit
    of its own.

    Why it matters
    The default is written into the pod when it is created. A proxy's memory grows with connections and
    routes; at the default it is killed, and every connection that it holds breaks. The proxy's own log shows
    nothing, since the process that would write it is gone.

    Incidents
    At DFDS a script put default limits on namespaces, Traefik's among them. Its pods reached the limit now
    and then, and a few requests ended in 502 for as long as nobody looked at the pods.

    Fix
    Write the memory limit of the proxy into its own manifest, by what it needs at its peak; keep default
    limits out of namespaces with shared components.

    References
    - https://kubernetes.io/docs/concepts/policy/limit-range/
    """
    for ranges in scene.of("LimitRange"):
        default = limit_default(scene, ranges, "limits", "memory")
        hit = list(_edge_without_limit(scene, ranges)) if default is not None else []
        if default is None or not hit:
            yield Pass(ranges)
            continue
        first = hit[0]
        yield Gap(
            ranges,
            f"`{first.name}` of {first.workload.object.key} takes traffic from outside and gets the default "
            f"limit of {human_bytes(default)}",
            ("spec", "limits"),
            evidence=tuple(f"{one.workload.object.key}: {one.name} has no memory limit" for one in hit[:5]),
            related=tuple(dict.fromkeys(one.workload.object for one in hit[:5])),
        )


def _edge_without_limit(scene: Scene, ranges: KubeObject) -> Iterator[Container]:
    for workload in scene.workloads_beside(ranges):
        if workload.kind not in SERVING:
            continue
        exposures = scene.exposures(workload)
        balanced = any(one.by == "edge" and one.object is one.service for one in exposures)
        if balanced or "ingress-controller" in components.roles(workload):
            yield from (one for one in workload.running if one.limit("memory") is None)


@check(
    "ns-no-default-limit",
    title="One workload without a limit may take the nodes of all others",
    severity=Severity.LOW,
    incidents=(NU_NL,),
    alike=(BLUE_MATADOR,),
    about=("Namespace",),
    needs=("LimitRange",),
)
def ns_no_default_limit(scene: Scene) -> Answers:
    """
    What it does
    Looks for namespaces of which the scene holds the Namespace, that have workloads with containers without
    a memory limit and no LimitRange that would give them one. One finding for each namespace. DaemonSets
    are told by `agent-no-memory-limit`, Jobs by `job-greedy-retry`; `kube-system` is left out. Where several
    files hold the same Namespace, which are variants, each workload counts for the nearest one.

    Why it matters
    A container without a limit can use what its node has. When it grows, other pods of the node are killed
    or evicted first; when it is moved, the next node follows.

    Incidents
    At nu.nl a chart set no limits and no LimitRange stood behind it. A new rule made its pods grow, nodes
    ran out of memory and turned NotReady, and replacing nodes only moved the growth on.

    Fix
    Add a LimitRange with a default memory limit to the namespace, and limits of their own to what needs
    more. What shares out the memory of its node by itself is told to share out less than its limit (workers
    of Spark by `SPARK_WORKER_MEMORY`).

    References
    - https://kubernetes.io/docs/concepts/policy/limit-range/
    - https://kubernetes.io/docs/tasks/administer-cluster/manage-resources/memory-default-namespace/
    """
    unbound = _unbound_by_namespace(scene)
    for namespace in scene.of("Namespace"):
        if namespace.name in {"kube-system", "kube-public", "kube-node-lease"}:
            yield NotApplicable(namespace, "it belongs to the control plane")
            continue
        found = unbound.get(id(namespace), [])
        if not found:
            yield Pass(namespace)
            continue
        number = len({one.workload.object.key for one in found})
        yield Gap(
            namespace,
            f"{number} workload{'s have' if number > 1 else ' has'} no memory limit, and no LimitRange gives "
            "one",
            (),
            evidence=tuple(dict.fromkeys(f"{one.workload.object.key}: {one.name}" for one in found))[:5],
            confidence=Confidence.HIGH if scene.live else Confidence.MEDIUM,
            related=tuple(dict.fromkeys(one.workload.object for one in found[:5])),
        )


def _unbound_by_namespace(scene: Scene) -> dict[int, list[Container]]:
    """Namespace object -> containers without a limit; of variants of one Namespace each has the nearest."""
    found: dict[int, list[Container]] = defaultdict(list)
    for workload in scene.workloads:
        one = workload.object
        if workload.kind in {"DaemonSet", "Job", "CronJob"} or not one.namespace:
            continue
        homes = nearest(one, scene.index.named("Namespace", one.namespace))
        # Every manifest without a namespace may be meant for `default`, wherever it lies.
        meant = one.namespace not in SHARED or any(
            scene.index.belong(home, one, named=False) for home in homes
        )
        for home in homes if len(homes) == 1 and meant else ():
            found[id(home)] += _unbound(scene, workload)
    return found


@check(
    "memory-volume-unbounded",
    title="A volume in memory may take the node's memory",
    severity=Severity.MEDIUM,
    incidents=(),
    alike=(BLUE_MATADOR, NU_NL),
    about=(*SERVING, "Job", "CronJob"),
    needs=("LimitRange",),
    chart_severity=Severity.LOW,
)
def memory_volume_unbounded(scene: Scene) -> Answers:
    """
    What it does
    Looks for `emptyDir` volumes with `medium: Memory` and no `sizeLimit` that are mounted by a container
    without a memory limit, and to which one of those may write. Volumes for secrets, certificates,
    configuration, metrics and sockets, by their names, are left out: what lies there is a few lines long;
    where only the folder says so, or where it is `/tmp` of a sidecar, the severity is low. Init containers
    that only print or copy something into it are left out as well.

    Why it matters
    What is written to such a volume is memory. With a limit on the container it counts against the
    container; without one and without a `sizeLimit` the volume may grow to all that the node can give, and
    what the kernel kills then is some other process.

    Incidents
    At Blue Matador and at nu.nl pods without a limit used up the memory of their nodes. There it was the
    process that grew; the mechanism is the same.

    Fix
    Set `sizeLimit`, and a memory limit on every container that mounts the volume.

    References
    - https://kubernetes.io/docs/concepts/storage/volumes/#emptydir
    """
    for workload in scene.workloads:
        found = False
        for position, volume in enumerate(as_list(workload.pod.get("volumes"))):
            if dig(volume, "emptyDir", "medium") != "Memory":
                continue
            found = True
            name = as_text(dig(volume, "name"))
            few = _FEW_LINES.search(name) is not None
            users = [] if few else list(_mounting(workload, name))
            unbound = [one for one in users if container_amount(scene, one, "limits", "memory") is None]
            if dig(volume, "emptyDir", "sizeLimit") is not None or not unbound:
                continue
            yield Gap(
                workload.object,
                f"Volume `{dig(volume, 'name')}` lies in memory without a `sizeLimit`, and "
                f"`{unbound[0].name}`, which mounts it, has no memory limit",
                (*workload.pod_path, "volumes", position, "emptyDir"),
                evidence=(
                    "emptyDir.medium: Memory",
                    "emptyDir.sizeLimit: absent",
                    f"{unbound[0].name}: resources.limits.memory: absent",
                ),
                severity=Severity.LOW if all(_holds_little(one, name) for one in unbound) else None,
            )
            break
        else:
            if found:
                yield Pass(workload.object)


def _holds_little(container: Container, volume: str) -> bool:
    """Whether a container keeps keys, sockets or the like there, or has it as the `/tmp` of a sidecar."""
    folders = [
        as_text(dig(mount, "mountPath"))
        for mount in as_list(container.data.get("volumeMounts"))
        if dig(mount, "name") == volume
    ]
    beside = container.init or container.path != container.workload.containers[0].path
    return all(_FEW_LINES.search(one) or (beside and one.rstrip("/") == _SCRATCH) for one in folders)


def _mounting(workload: Workload, volume: str) -> Iterator[Container]:
    for container in (*workload.containers, *workload.init_containers):
        mounts = as_list(container.data.get("volumeMounts"))
        if container.init and not container.sidecar and does_little(workload, container):
            continue
        if any(dig(one, "name") == volume and dig(one, "readOnly") is not True for one in mounts):
            yield container


@check(
    "agent-cpu-limit",
    title="A CPU limit holds back the agent that carries the node's network or names",
    severity=Severity.MEDIUM,
    incidents=(),
    alike=(OMIO,),
    about=("DaemonSet", "Deployment"),
    chart_severity=Severity.LOW,
)
def agent_cpu_limit(scene: Scene) -> Answers:
    """
    What it does
    Looks for CPU limits below one core on containers that carry the network or the names of a node or of the
    cluster (kube-proxy, Calico, Cilium, flannel, node-local DNS, CoreDNS; recognised by image). A container
    that only puts a plugin on the node and then waits (Multus in its thin form) is left out.

    Why it matters
    A CPU limit stops all threads of a container until the next period, also on an idle node. A network agent
    that is stopped writes new endpoints late and misses its probes; DNS that is stopped makes every lookup
    of the node slow, and no usage metric shows why.

    Incidents
    At Omio containers were held back though they had not used up what they were allowed; they missed probes
    and answered late until the limits were taken off.

    Fix
    Take the CPU limit off and keep a request that is what the agent needs; watch
    `container_cpu_cfs_throttled_periods_total` where a limit must stay.

    References
    -
      https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/#how-pods-with-resource-limits-are-run
    """
    for workload in scene.workloads:
        carrying = [
            one
            for one in workload.running
            if components.container_roles(one) & {"network-agent", "node-dns", "cluster-dns"}
            and not components.installs_only(one)
        ]
        if not carrying:
            continue
        held = [one for one in carrying if (one.limit("cpu") or _WHOLE_CORE) < _WHOLE_CORE]
        if not held:
            yield Pass(workload.object)
            continue
        limit = held[0].get("resources", "limits", "cpu")
        yield Gap(
            workload.object,
            f"`{held[0].name}` is stopped for the rest of each period in which it has used up its {limit} of "
            f"CPU, and {_waits(held[0])} wait for it",
            (*held[0].path, "resources", "limits", "cpu"),
            evidence=(
                f"image: {held[0].image}",
                f"resources.limits.cpu: {limit}",
            ),
        )


def _waits(container: Container) -> str:
    """What waits for an agent that is stopped; what the kernel carries goes on without it."""
    if components.container_roles(container) & {"node-dns", "cluster-dns"}:
        return "lookups of names"
    announces = "speaker" in components.bare_image(container.image)
    return "its announcements and answers" if announces else "new pods and new endpoints"


CHECKS = (
    agent_cpu_limit,
    agent_no_memory_limit,
    limitrange_reaches_edge,
    memory_volume_unbounded,
    ns_no_default_limit,
)
