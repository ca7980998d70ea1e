"""The control plane: who asks it for everything, what answers in its name, what piles up in it."""
# ruff: noqa: D205, D212, D416 - the docstring of a check is its page, in fixed sections

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pilotage.checks import components, lone
from pilotage.checks.accounts import ClusterGrants, account_of, readable
from pilotage.checks.model import (
    DOCUMENTATION_ONLY,
    Answers,
    Confidence,
    Gap,
    NotApplicable,
    Pass,
    Severity,
    Unknown,
    check,
)
from pilotage.checks.nodes import on_control_plane_only, which_nodes
from pilotage.checks.objects import KubeObject
from pilotage.checks.scene import Scene
from pilotage.checks.values import as_list, as_map, as_text, dig, duration, quantity
from pilotage.checks.workloads import SCALED, Workload

OPENAI = "openai-2024-12-11-telemetry-agent-overloaded-control-planes"
CIVIS = "civis-analytics-2019-01-16-api-server-overload-daemonsets"
ZALANDO = "zalando-2018-09-07-iam-404-cronjob-api-server-oom"
LOVEHOLIDAYS = "loveholidays-2019-gke-upgrade-stuck-nodes-hpa"
JETSTACK = "jetstack-2019-09-05-opa-webhook-gke-master-upgrade"
TREE_CACHE = "elastic-2019-01-18-zookeeper-treecache-proxy-oom"

_MANY = frozenset(
    {"pods", "events", "secrets", "configmaps", "endpoints", "endpointslices", "replicasets", "jobs"}
)
_NODE_FIELD = "spec.nodeName"
_OF_THEIR_NODE = {"filebeat", "fluent-bit", "aws-for-fluent-bit", "vector"}
"""Agents that ask for the pods of their own node unless they are told otherwise."""
_RESERVED = {"exempt", "system", "leader-election", "node-high"}
_PILES = {
    "Job": 2_000, "Pod": 20_000, "ReplicaSet": 10_000, "ConfigMap": 10_000,
    "PolicyReport": 10_000, "EphemeralReport": 10_000, "AdmissionReport": 10_000, "Workflow": 5_000,
    "PipelineRun": 5_000, "TaskRun": 5_000, "CertificateRequest": 5_000,
}  # fmt: skip
_COUNTED = {
    "count/jobs.batch": "Job",
    "pods": "Pod",
    "count/pods": "Pod",
    "count/replicasets.apps": "ReplicaSet",
    "count/configmaps": "ConfigMap",
    "configmaps": "ConfigMap",
}
_LEAST_LEASE_SECONDS = 10
_LEASE_FLAGS = ("leader-elect-lease-duration", "leader-election-lease-duration", "lease-duration")
_RENEW_FLAGS = ("leader-elect-renew-deadline", "leader-election-renew-deadline", "renew-deadline")


@check(
    "daemonset-lists-api",
    title="An agent on every node may list the whole cluster's objects",
    severity=Severity.MEDIUM,
    incidents=(OPENAI, CIVIS),
    alike=(TREE_CACHE,),
    about=("DaemonSet",),
    needs=("ClusterRole", "ClusterRoleBinding", "FlowSchema"),
    chart_severity=Severity.LOW,
)
def daemonset_lists_api(scene: Scene) -> Answers:
    """
    What it does
    Looks for DaemonSets whose account may list or watch, in all namespaces, kinds of which there are many
    (pods, events, Secrets, ConfigMaps, endpoints, ReplicaSets, Jobs), unless a FlowSchema names that account,
    so that the API server can hold its requests back. kube-proxy and network plugins are left alone, since
    that is their work, and so are agents on nodes of the control plane only and those that elect a leader,
    since few of them ask. Where a container is given its node's name, or the program is one that does so by
    itself (Filebeat, Fluent Bit, Vector), it most likely asks for the pods of its node only; an ingress
    controller must know all routes; and a role that another workload shares may be there for that one. In
    all three cases the severity is low.

    Why it matters
    Each node adds another asker, and each answer grows with the cluster: the cost is the product. When many
    agents start together, after an update or an outage of the API server, they ask for everything at once.

    Incidents
    At OpenAI an agent for telemetry called the API from every node in ways that cost more the larger the
    cluster was; most large control planes went down. At Civis agents on 290 nodes made a cluster unusable. At
    Elastic it was ZooKeeper: every proxy kept a copy of the whole tree and read it anew whenever it
    reconnected.

    Fix
    Take out of the ClusterRole what the agent does not use. Ask only for the pods of the node
    (`spec.nodeName` as field selector), put one collector per cluster between the agents and the API, and
    give the account a FlowSchema with a priority level of its own.

    References
    - https://kubernetes.io/docs/concepts/cluster-administration/flow-control/
    - https://status.openai.com/incidents/ctrsv3lwd797
    """
    grants = ClusterGrants(scene)
    fenced = {pair for schema in scene.of("FlowSchema") for pair in _accounts(schema)}
    names = {name for _, name in fenced}
    for workload in scene.workloads:
        if workload.kind != "DaemonSet":
            continue
        found = {
            resource: role for role, rule in grants.rules_of(workload) for resource in readable(rule, _MANY)
        }
        account = account_of(workload)
        home = workload.object.namespace
        if not found or ((home, account) in fenced if home else account in names):
            yield Pass(workload.object)
        elif "network-agent" in components.roles(workload):
            yield NotApplicable(workload.object, "following the cluster is its work")
        elif on_control_plane_only(workload) or lone.elects_a_leader(workload):
            yield NotApplicable(workload.object, "few of its pods ask")
        else:
            yield _listing(scene, workload, found)


def _listing(scene: Scene, workload: Workload, found: Mapping[str, KubeObject]) -> Gap:
    account, what, role = account_of(workload), ", ".join(sorted(found)), next(iter(found.values()))
    routes = "ingress-controller" in components.roles(workload)
    shared = _shares_account(scene, workload)
    one_node = "pods" in found and (_knows_node(workload) or _asks_its_node(workload))
    low = routes or shared is not None or one_node
    where = which_nodes(workload)
    return Gap(
        workload.object,
        f"On {where} its account `{account}` may list {what} of all namespaces",
        (*workload.pod_path, "serviceAccountName"),
        evidence=(f"{role.key}: list or watch {what}", "no FlowSchema names the account"),
        fix=_FENCE
        if routes
        else _narrow(what, shared, asks_for_pods="pods" in found and not _asks_its_node(workload)),
        severity=Severity.LOW if low else None,
        confidence=Confidence.LOW if low else Confidence.MEDIUM,
        related=(role,),
    )


_FENCE = (
    "Each of its pods must know all routes. Run as many as the traffic needs instead of one on each node, "
    "and give the account a FlowSchema with a priority level of its own."
)
_PODS_OF_ITS_NODE = (
    " Where the pods of its node are enough for it, let it ask for those only (`spec.nodeName` as field "
    "selector)."
)


def _narrow(what: str, shared: Workload | None, *, asks_for_pods: bool) -> str:
    """What makes the grant smaller, or what it allows less dangerous."""
    if shared is not None:
        first = f"Give it an account of its own: {shared.object.key} uses this one, too."
    else:
        first = f"Take `list` and `watch` of {what} out of the ClusterRole where the agent does not use them."
    own = _PODS_OF_ITS_NODE if asks_for_pods else ""
    return f"{first}{own} For what remains, give the account a FlowSchema with a priority level of its own."


def _shares_account(scene: Scene, workload: Workload) -> Workload | None:
    """Another workload, no agent, that uses the same account and runs something else."""
    account = account_of(workload)
    beside = scene.workloads_beside(workload.object) if account != "default" else []
    own = {components.bare_image(one.image) for one in workload.running}
    return next(
        (
            one
            for one in beside
            if one.kind in SCALED
            and account_of(one) == account
            and own.isdisjoint(components.bare_image(each.image) for each in one.running)
        ),
        None,
    )


def _asks_its_node(workload: Workload) -> bool:
    return any(
        components.bare_image(one.image).rpartition("/")[2] in _OF_THEIR_NODE for one in workload.running
    )


def _accounts(schema: KubeObject) -> Iterator[tuple[str, str]]:
    """Namespace and name of each account that a FlowSchema speaks of."""
    for rule in as_list(schema.spec.get("rules")):
        for subject in as_list(dig(rule, "subjects")):
            name = as_text(dig(subject, "serviceAccount", "name"))
            if name and name != "*":
                yield as_text(dig(subject, "serviceAccount", "namespace")), name


def _knows_node(workload: Workload) -> bool:
    return any(
        dig(item, "valueFrom", "fieldRef", "fieldPath") == _NODE_FIELD
        for container in workload.running
        for item in as_list(container.data.get("env"))
    )


@check(
    "apf-unfenced",
    title="Requests of applications take the API server's reserved places",
    severity=Severity.HIGH,
    incidents=(),
    alike=(OPENAI, CIVIS),
    about=("FlowSchema",),
)
def apf_unfenced(scene: Scene) -> Answers:
    """
    What it does
    Looks for FlowSchemas that are not among those that Kubernetes brings, and that put requests into the
    level `exempt`, which has no bound, or into one of the levels of nodes and leader election (`system`,
    `node-high`, `leader-election`).

    Why it matters
    These levels are what lets nodes report and controllers keep their leases while the API server is full.
    A client in there is held back by nothing: when it asks for too much, the nodes are what goes.

    Incidents
    At OpenAI agents overloaded the API servers until the engineers themselves could not get in to remove
    them. At Civis nothing held agents back, and the scheduler got no CPU.

    Fix
    Point the FlowSchema at a PriorityLevelConfiguration of its own with a small share.

    References
    - https://kubernetes.io/docs/concepts/cluster-administration/flow-control/#defaults
    """
    for schema in scene.of("FlowSchema"):
        level = as_text(schema.get("spec", "priorityLevelConfiguration", "name"))
        built_in = schema.annotations.get("apf.kubernetes.io/autoupdate-spec") is not None
        if built_in or schema.name in {"exempt", "probes"} or schema.name.startswith(("system-", "kube-")):
            yield NotApplicable(schema, "Kubernetes brings it")
        elif level in _RESERVED:
            yield Gap(
                schema,
                "Its requests are bounded by nothing"
                if level == "exempt"
                else f"Its requests share the level `{level}`",
                ("spec", "priorityLevelConfiguration", "name"),
                evidence=(
                    f"priorityLevelConfiguration: {level}",
                    f"accounts: {', '.join(name for _, name in _accounts(schema)) or 'others'}",
                ),
                severity=None if level == "exempt" else Severity.MEDIUM,
            )
        else:
            yield Pass(schema)


@check(
    "apiservice-fragile",
    title="A part of the API hangs on a single pod, or on none",
    severity=Severity.MEDIUM,
    incidents=(),
    alike=(LOVEHOLIDAYS, JETSTACK),
    about=("APIService",),
    needs=("Service", "Deployment"),
    uses=lone.USES,
    chart_severity=Severity.LOW,
)
def apiservice_fragile(scene: Scene) -> Answers:
    """
    What it does
    Follows each APIService to its Service and on to the workload. It speaks up when the API server says that
    it is not available (in a cluster), when no pods are behind it (high severity), and when one replica
    alone answers: of low severity for a controller that elects no leader and is thus meant to run once.

    Why it matters
    An aggregated API that does not answer takes with it whatever uses it: autoscalers lose their metrics,
    and namespaces cannot be deleted while any API group fails to list. Each discovery waits for it.

    Incidents
    At loveholidays the autoscaler lost sight of its metrics in an upgrade and ran ten times the pods. At
    Jetstack one component that the API server asked did not answer, and the control plane hung.

    Fix
    Run two replicas on different nodes with a PodDisruptionBudget; delete the APIService of what is gone.

    References
    - https://kubernetes.io/docs/tasks/extend-kubernetes/configure-aggregation-layer/
    - https://github.com/kubernetes-sigs/metrics-server#high-availability
    """
    alone: dict[int, tuple[Workload, list[KubeObject]]] = {}
    for one in scene.of("APIService"):
        name = as_text(one.get("spec", "service", "name"))
        namespace = as_text(one.get("spec", "service", "namespace"))
        if not name:
            yield NotApplicable(one, "the API server answers itself")
            continue
        down = next((item for item in as_list(one.get("status", "conditions")) if _unavailable(item)), None)
        service = scene.find("Service", name, one, namespace)
        behind = scene.workloads_of(service) if service is not None else []
        scales = [scale for workload in behind if (scale := scene.scale(workload)) is not None]
        missing = f"Service {namespace}/{name} with its pods"
        if down is not None:
            yield Gap(
                one,
                "The API server says that it is not available",
                ("status", "conditions"),
                evidence=(f"{dig(down, 'reason')}: {dig(down, 'message')}",),
                severity=Severity.HIGH,
            )
        elif not behind and not scene.live:
            yield Unknown(f"{missing} may be kept elsewhere", one, ("spec", "service"))
        elif not behind:
            yield Gap(one, f"{missing} does not exist", ("spec", "service"), severity=Severity.HIGH)
        elif len(behind) > len(scales) or sum(scale.least for scale in scales) > 1:
            yield Pass(one)
        else:
            alone.setdefault(id(behind[0]), (behind[0], []))[1].append(one)
    for workload, services in alone.values():
        yield _alone(scene, workload, sorted(services, key=lambda one: one.name))


def _alone(scene: Scene, workload: Workload, services: list[KubeObject]) -> Gap:
    names = [f"`{one.name}`" for one in services]
    more = f" and {len(names) - 1} more parts of the API" if len(names) > 2 else ""  # noqa: PLR2004
    alone = lone.only_one_works(scene, workload)
    told = f"{names[0]}{more}" if more else " and ".join(names)
    return Gap(
        workload.object,
        f"One pod alone answers for {told}",
        ("spec", "replicas"),
        evidence=(
            f"replicas: {workload.object.spec.get('replicas', 'absent, which means 1')}",
            *((alone,) if alone else ()),
        ),
        fix=lone.fix_of_one(scene, workload),
        severity=Severity.LOW if alone else None,
        related=tuple(services),
    )


def _unavailable(condition: object) -> bool:
    return (as_text(dig(condition, "type")), as_text(dig(condition, "status"))) == ("Available", "False")


@check(
    "object-pileup",
    title="Objects of one kind pile up in a cluster",
    severity=Severity.MEDIUM,
    incidents=(ZALANDO,),
    about=(*_PILES, "ResourceQuota"),
)
def object_pileup(scene: Scene) -> Answers:
    """
    What it does
    Counts, in a cluster, objects of kinds that controllers make by the thousand (Jobs, pods, ReplicaSets,
    ConfigMaps, reports of policies, runs of pipelines), and speaks up once per kind above a number at which
    most clusters have a leak: 2,000 Jobs, 20,000 pods, 10,000 ReplicaSets, ConfigMaps or reports, 5,000
    runs. It names the namespace that holds most of them. Files it does not count; of a ResourceQuota it
    reads `status.used`, where `count/…` tells the number of one namespace.

    Why it matters
    Every object is in etcd, in the cache of each API server, and in that of each component that watches its
    kind. A restart of one of them lists them all. The growth is slow and the end is sudden.

    Incidents
    At Zalando pods of one CronJob grew in number until the API server was killed for lack of memory.

    Fix
    Find what makes them and does not clear them away: history limits, `ttlSecondsAfterFinished`,
    `revisionHistoryLimit`, the retention of reports. Then delete the old ones in portions.

    References
    - https://kubernetes.io/docs/setup/best-practices/cluster-large/
    """
    for quota in scene.of("ResourceQuota"):
        yield from _counted(quota)
    if not scene.live:
        return
    for kind, most in _PILES.items():
        found, numbers = list(scene.of(kind)), scene.numbers(kind)
        if not found:
            continue
        if numbers.total() <= most:
            yield Pass(found[0])
            continue
        namespace, here = numbers.most_common(1)[0]
        first = min(
            (one for one in found if one.namespace == namespace), key=lambda one: one.name, default=None
        )
        place = next(iter(scene.index.named("Namespace", namespace)), first or found[0])
        yield Gap(
            place,
            f"{numbers.total()} objects of kind {kind}, {here} of them in namespace {namespace}",
            (),
            evidence=(f"number at which it speaks up: {most}",),
            confidence=Confidence.MEDIUM,
        )


def _counted(quota: KubeObject) -> Iterator[Gap | Pass]:
    used = as_map(quota.get("status", "used"))
    counts = {key: quantity(used.get(key)) for key in _COUNTED if key in used}
    over = [key for key, number in counts.items() if number is not None and number > _PILES[_COUNTED[key]]]
    if counts and not over:
        yield Pass(quota)
    for key in over[:1]:
        yield Gap(
            quota,
            f"{used.get(key)} objects of kind {_COUNTED[key]} in one namespace",
            ("status", "used", key),
            evidence=(f"status.used: {key}: {used.get(key)}", f"it speaks up above {_PILES[_COUNTED[key]]}"),
            confidence=Confidence.MEDIUM,
        )


@check(
    "leader-lease-tight",
    title="A controller gives up its lead after a short pause of the API server",
    severity=Severity.MEDIUM,
    incidents=DOCUMENTATION_ONLY,
    about=("Deployment", "StatefulSet", "DaemonSet", "Pod"),
)
def leader_lease_tight(scene: Scene) -> Answers:
    """
    What it does
    Reads the flags for leader election (`--leader-elect-lease-duration`, `--leader-election-lease-duration`,
    `--lease-duration` and the deadlines for renewal) and speaks up when the lease is below 10 seconds, or
    when the deadline for renewal is not below the lease.

    Why it matters
    The leader exits when it cannot renew in time. With a short lease each slow second of the API server ends
    leaders, and those who take over begin with a list of everything, which makes it slower. A deadline that
    is not below the lease lets most programs refuse to start.

    Incidents
    No public incident with this very cause is known to us; the behaviour is documented.

    Fix
    Use the defaults: a lease of 15 s, a deadline of 10 s, a retry every 2 s; raise all three in large
    clusters.

    References
    - https://kubernetes.io/docs/reference/command-line-tools-reference/kube-controller-manager/
    - https://pkg.go.dev/k8s.io/client-go/tools/leaderelection
    """
    for workload in scene.workloads:
        for container in workload.containers:
            flags = dict(_flags(container.words))
            leases = [(name, flags[name]) for name in _LEASE_FLAGS if name in flags]
            lease = duration(leases[0][1]) if leases else None
            if lease is None:
                continue
            name, stated = leases[0]
            renew = next(
                (found for key in _RENEW_FLAGS if (found := duration(flags.get(key))) is not None), None
            )
            wrong_order = renew is not None and renew >= lease
            if lease >= _LEAST_LEASE_SECONDS and not wrong_order:
                yield Pass(workload.object)
                continue
            yield Gap(
                workload.object,
                f"The lease of `{container.name}` is {stated}"
                + (", and the deadline to renew it is not below" if wrong_order else ""),
                (*container.path, "args" if container.get("args") else "command"),
                evidence=(f"--{name}: {stated}", *((f"deadline to renew: {renew:g} s",) if renew else ())),
                severity=Severity.HIGH if wrong_order else None,
            )


def _flags(words: list[str]) -> Iterator[tuple[str, str]]:
    for position, word in enumerate(words):
        name, equals, value = word.lstrip("-").partition("=")
        if not word.startswith("-"):
            continue
        following = words[position + 1] if position + 1 < len(words) else ""
        yield name, value if equals else ("" if following.startswith("-") else following)


CHECKS = (apf_unfenced, apiservice_fragile, daemonset_lists_api, leader_lease_tight, object_pileup)
