"""The process itself: old workers, slots for servers, state over reloads, sockets that command it."""
# ruff: noqa: D205, D212, D416 - the docstring of a check is its page, in fixed sections

from __future__ import annotations

from collections.abc import Iterator

from pilotage.checks.controllers import Controller, controllers_of
from pilotage.checks.haproxy.addresses import Kind, address_of
from pilotage.checks.haproxy.config import HaproxyConfig, Proxy
from pilotage.checks.haproxy.servers import Server
from pilotage.checks.haproxy.statements import Statement
from pilotage.checks.haproxy.times import milliseconds, spoken
from pilotage.checks.model import (
    DOCUMENTATION_ONLY,
    Answer,
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
from pilotage.checks.scene import Scale, Scene
from pilotage.core.regex import regex

ABOUT = ("HaproxyConfig",)
SERVING = ("Deployment", "DaemonSet", "StatefulSet")
CRESTA = "cresta-ingress-nginx-issue-12797-2025-02-04-serial-reloads-block-endpoint-updates"
SLACK = "slack-2020-05-12-haproxy-slots-full-of-stale-servers"
SKYSCANNER = "skyscanner-2019-04-23-haproxy-ingress-hot-podding"
GOOGLE = "google-cloud-2017-04-05-https-load-balancer-stale-config"
JW_PLAYER = "jw-player-2019-03-19-cryptominer-public-weave-scope-lb"
INGRESS_NIGHTMARE = "kubernetes-ingress-nginx-2025-03-24-ingressnightmare-cve-2025-1974"

_LONG = 600_000.0
_SOON = 60_000.0
_HARD_STOP = "ingress.operator.openshift.io/hard-stop-after"
_CLUSTER_NAME = regex(r"(?:_[\w-]+\._(?:tcp|udp)\.)?([a-z0-9-]+)\.([a-z0-9-]+)\.svc(?:\.[a-z0-9.-]+)?\.?")
_CALM = {"false", "none", "no", "off"}


@check(
    "haproxy-old-workers",
    title="Each reload leaves an old process for as long as a connection lives",
    severity=Severity.MEDIUM,
    incidents=(),
    alike=(CRESTA, SKYSCANNER),
    about=(*ABOUT, *SERVING, "IngressController"),
    uses=("ConfigMap",),
)
def haproxy_old_workers(scene: Scene) -> Answers:
    """
    What it does
    Looks for configurations that let connections live for ten minutes or more (`timeout tunnel`, or `timeout
    client` and `server` in `mode tcp`) without `hard-stop-after` in `global`; for haproxy-ingress with
    `timeout-stop`, and the HAProxy Kubernetes Ingress Controller with `hard-stop-after`, of a minute or less
    beside tunnels; and for OpenShift's IngressController without the annotation for it. A file that nothing
    seems to generate, so that it is seldom reloaded, is of low severity.

    Why it matters
    A reload starts a new process, and the old one stays until its last connection ends: websockets and
    database connections stay for hours. Where every change of a pod reloads, dozens of old processes pile
    up, each with its memory and its own health checks, until the machine is out of memory. A limit that is
    too short does the opposite: each reload cuts all long connections at once, and all clients come back
    together.

    Incidents
    With ingress-nginx a setting that waits for old workers, made against such a pile, held back updates, and
    requests went to pods that were gone. At Skyscanner changes of pods reloaded all proxies again and again,
    and ingress pods were OOM-killed.

    Fix
    Set `hard-stop-after` to what a client may be asked to bear, such as `30m`, and reload less often.

    References
    - https://docs.haproxy.org/2.8/configuration.html#3.1-hard-stop-after
    - https://haproxy-ingress.github.io/docs/configuration/keys/#timeout
    - https://github.com/openshift/cluster-ingress-operator/pull/522
    - https://github.com/jcmoraisjr/haproxy-ingress/issues/135
    """
    for config in scene.configs(HaproxyConfig):
        if config.of("global") and config.serving:
            yield _old_workers(config)
    for controller in controllers_of(scene, "haproxy-ingress", "haproxytech"):
        yield _controller_stop(controller)
    for one in scene.of("IngressController"):
        if one.group == "operator.openshift.io":
            yield _openshift_stop(one)


def _old_workers(config: HaproxyConfig) -> Answer:
    subject = config.global_subject
    longest = max(_long_connections(config), key=lambda pair: pair[0], default=None)
    stop = config.global_setting("hard-stop-after")
    if longest is None:
        return NotApplicable(subject, "its connections end within ten minutes")
    time, line, proxy = longest
    said = (f"{proxy.title}: {line}",)
    limit = milliseconds(stop.word(1)) if stop is not None else None
    if stop is not None and limit is not None and 0 < limit <= _SOON and line.begins("timeout tunnel"):
        return Gap(
            subject,
            f"a reload cuts every long connection after {spoken(limit)}, and all clients return together",
            ("hard-stop-after",),
            evidence=(str(stop), *said),
            fix="Raise `hard-stop-after` to what reloads allow, such as `30m`.",
            severity=Severity.LOW,
        )
    if stop is not None:
        return Pass(subject)
    return Gap(
        subject,
        f"connections may last {spoken(time)} and no `hard-stop-after` ends them: after each reload an "
        "old process stays that long",
        ("hard-stop-after",),
        evidence=("no hard-stop-after", *said),
        severity=None if config.generated else Severity.LOW,
    )


def _long_connections(config: HaproxyConfig) -> Iterator[tuple[float, Statement, Proxy]]:
    for proxy in (*config.serving, *config.upstream):
        phrases = ["timeout tunnel"]
        if proxy.mode == "tcp":
            phrases += ["timeout client" if proxy.takes_requests else "timeout server"]
        for phrase in phrases:
            line = proxy.setting(phrase)
            time = milliseconds(line.word(2)) if line is not None else None
            if line is not None and time is not None and time >= _LONG:
                yield time, line, proxy


def _controller_stop(controller: Controller) -> Answer:
    key = "timeout-stop" if controller.product == "haproxy-ingress" else "hard-stop-after"
    if controller.config_unread:
        return Unknown(
            f"the ConfigMap {controller.flags['configmap']} is not in the scene", controller.object
        )
    stated = controller.setting(key)
    limit = milliseconds(stated, unit="ms") if stated else None
    config_map = controller.config_map
    if limit is None or limit > _SOON or config_map is None:
        return Pass(controller.object)
    return Gap(
        config_map,
        f"{controller.name} ends old processes {spoken(limit)} after a reload: every websocket is cut "
        "then, and all clients return together",
        ("data", key),
        evidence=(f"{key}: {stated}", f"{controller.object.key} uses it"),
        fix=f"Raise `{key}` to `10m` or more.",
        severity=Severity.LOW,
        related=(controller.object,),
    )


def _openshift_stop(one: KubeObject) -> Answer:
    if one.annotations.get(_HARD_STOP):
        return Pass(one)
    return Gap(
        one,
        "no limit ends old router processes: each reload leaves one for as long as its last connection lives",
        ("metadata", "annotations"),
        evidence=(f"no annotation {_HARD_STOP}",),
        fix=f'Annotate it with `{_HARD_STOP}: "30m"`, and raise `spec.tuningOptions.reloadInterval`.',
        severity=Severity.LOW,
        confidence=Confidence.MEDIUM,
    )


@check(
    "haproxy-slots",
    title="More servers than HAProxy has slots for",
    severity=Severity.HIGH,
    incidents=(SLACK,),
    alike=(SKYSCANNER, CRESTA),
    about=(*ABOUT, *SERVING),
    uses=("ConfigMap",),
)
def haproxy_slots(scene: Scene) -> Answers:
    """
    What it does
    Compares the slots of each `server-template` for a Service of the cluster with the most pods that its
    workload may have. For haproxy-ingress it looks for `slots-min-free: "0"` and for dynamic scaling switched
    off, with which each new pod reloads HAProxy.

    Why it matters
    A `server-template` makes a fixed number of servers. When the autoscaler adds pods beyond it, no request
    reaches them: the service scales, its load per served pod does not fall, and no error tells why.
    Controllers without a free slot reload for each pod, just when many come and go.

    Incidents
    At Slack a scale-up started more web servers than HAProxy had slots for. The program that kept both in
    step found no free slot and gave up before it had freed any; hours later the list held only servers that
    were about to go, and nobody could connect. At Skyscanner changes that could not be applied at run time
    restarted HAProxy on all nodes, each restart overloaded the first pods anew, and their removal was the
    next change.

    Fix
    Give the template more slots than the most pods, with room for a rollout; in haproxy-ingress leave
    `slots-min-free` at 6 or more, or use `dynamic-scaling: Add` (0.16 and later).

    References
    - https://docs.haproxy.org/2.8/configuration.html#4-server-template
    - https://haproxy-ingress.github.io/docs/configuration/keys/#dynamic-scaling
    """
    for config in scene.configs(HaproxyConfig):
        for proxy in config.upstream:
            for server in proxy.servers:
                if server.is_template and server.slots:
                    yield from _slots(scene, proxy, server)
    for controller in controllers_of(scene, "haproxy-ingress"):
        yield _controller_slots(controller)


def _slots(scene: Scene, proxy: Proxy, server: Server) -> Answers:
    named = _CLUSTER_NAME.fullmatch(server.address.host)
    if named is None:
        return
    services = [
        one for one in scene.of("Service") if one.name == named[1] and one.namespace in {named[2], ""}
    ]
    for service in services[:1]:
        scales = [
            (one, scale) for one in scene.workloads_of(service) if (scale := scene.scale(one)) is not None
        ]
        most = sum(_most(scale) for _, scale in scales)
        if not scales:
            yield Unknown(f"the workload behind {service.key} is not in the scene", proxy, server.path)
        elif most <= server.slots:
            yield Pass(proxy)
        else:
            workload, scale = scales[0]
            counted = scale.autoscaler or workload.object
            yield Gap(
                proxy,
                f"`{server.name}` has {server.slots} slots, {workload.object.key} may have {most} pods: "
                f"{most - server.slots} of them get no request",
                server.path,
                evidence=(str(server.statement)[:120], f"{counted.key}: up to {most} pods"),
                related=(counted,),
            )


def _most(scale: Scale) -> int:
    return scale.most if scale.most is not None else scale.least


def _controller_slots(controller: Controller) -> Answer:
    if controller.config_unread:
        return Unknown(
            f"the ConfigMap {controller.flags['configmap']} is not in the scene", controller.object
        )
    config_map = controller.config_map
    calm = controller.setting("dynamic-scaling").lower() in _CALM
    none_free = controller.setting("slots-min-free") == "0"
    if config_map is None or not (calm or none_free) or controller.setting("dynamic-scaling") == "Add":
        return Pass(controller.object)
    key = "dynamic-scaling" if calm else "slots-min-free"
    return Gap(
        config_map,
        f"haproxy-ingress keeps no free slot: each pod that comes reloads HAProxy on {controller.object.key}",
        ("data", key),
        evidence=(f"{key}: {controller.setting(key)}", f"{controller.object.key} uses it"),
        fix="Set `slots-min-free` to 6 or more and leave `dynamic-scaling` on.",
        severity=Severity.MEDIUM,
        related=(controller.object,),
    )


@check(
    "hp-stale-state",
    title="After a reload servers get the addresses of an old state file",
    severity=Severity.MEDIUM,
    incidents=(),
    alike=(GOOGLE, SLACK),
    about=ABOUT,
)
def hp_stale_state(scene: Scene) -> Answers:
    """
    What it does
    Looks for backends with traffic that load the state of their servers from a file
    (`load-server-state-from-file`) and have a `server-template`, whose slots then get their addresses from
    that file.

    Why it matters
    The file is as old as its last writing. If it was not written just before the reload, or could not be
    (disk full, the socket was busy), slots come up with addresses that belong to other pods by now, and with
    servers out that are back: HAProxy sends requests to strangers while every log says that it reloaded well.

    Incidents
    At Google a master with old files put load balancers back to an old configuration, a step meant as a
    safeguard; balancers that had been changed shortly before failed every request. At Slack the slots of
    HAProxy kept servers that had gone, and those that had taken their place got no requests.

    Fix
    Let slots resolve at start instead (`resolvers`, `init-addr none`), or write the file in the reload itself
    and give up the reload when that fails.

    References
    - https://docs.haproxy.org/2.8/configuration.html#4-load-server-state-from-file
    - https://docs.haproxy.org/2.8/management.html#9.3-show%20servers%20state
    """
    for config in scene.configs(HaproxyConfig):
        for proxy in config.upstream:
            line = proxy.setting("load-server-state-from-file")
            if line is None or line.word(1) == "none":
                continue
            templates = [one for one in proxy.servers if one.is_template]
            if not templates:
                yield Pass(proxy)
                continue
            first = templates[0]
            yield Gap(
                proxy,
                f"`{proxy.title}`: after a reload the {first.slots} slots of `{first.name}` get addresses "
                "that a state file remembers",
                first.path,
                evidence=(str(line), str(first.statement)[:120]),
                confidence=Confidence.MEDIUM,
            )


@check(
    "hp-admin-open",
    title="Whoever reaches a port can take servers out",
    severity=Severity.HIGH,
    incidents=(),
    alike=(JW_PLAYER, INGRESS_NIGHTMARE),
    about=ABOUT,
)
def hp_admin_open(scene: Scene) -> Answers:
    """
    What it does
    Looks for `stats socket` on an address that other machines reach: with `level admin` of high, else of
    medium severity. And for `stats admin` that is allowed to everybody on a page without `stats auth`.

    Why it matters
    The socket asks for no password. `disable server`, `set maxconn`, `shutdown sessions` and, with `admin`,
    `set server addr` or new certificates are one line over a TCP connection from any pod or machine nearby,
    be it an attacker or a script with the wrong address.

    Incidents
    At JW Player a dashboard without sign-in was reachable, and a crawler used it to run a miner on every
    node. The webhook of ingress-nginx answered anybody on the pod network, and a forged request took over
    clusters.

    Fix
    Use a local socket, `stats socket /run/haproxy.sock mode 600 level admin`, or bind to loopback; give the
    page `stats auth` and a condition.

    References
    - https://docs.haproxy.org/2.8/configuration.html#3.1-stats%20socket
    - https://docs.haproxy.org/2.8/configuration.html#4-stats%20admin
    """
    for config in scene.configs(HaproxyConfig):
        for section in config.of("global"):
            for line in section.all("stats socket"):
                address = address_of(line.words[2]) if line.word(2) else None
                if address is None or address.kind is Kind.OPEN:
                    yield Unknown("the address of the socket is in a variable", section, ("stats socket",))
                    continue
                if address.loopback:
                    yield Pass(section)
                    continue
                level = line.after("level") or "operator"
                if level != "user" and "ssl" not in line.words:
                    yield Gap(
                        section,
                        f"the socket on `{line.word(2)}` takes commands of level {level} from whoever "
                        "reaches it",
                        ("stats socket", line.word(2)),
                        evidence=(str(line),),
                        severity=None if level == "admin" else Severity.MEDIUM,
                    )
        for proxy in config.serving:
            yield from _open_page(proxy)


def _open_page(proxy: Proxy) -> Answers:
    line = proxy.setting("stats admin")
    if line is None:
        return
    outside = [one for one in proxy.binds if not address_of(one.words[1]).loopback]
    anybody = line.words[2:] in {
        ("if", "TRUE"),
        ("if", "true"),
        ("unless", "FALSE"),
        ("if", "{", "always_true", "}"),
    }
    guarded = proxy.setting("stats auth") is not None or any(True for _ in proxy.rules("stats http-request"))
    if not outside or not anybody or guarded or any(True for _ in proxy.rules("http-request auth")):
        yield Pass(proxy)
        return
    yield Gap(
        proxy,
        f"`{proxy.title}`: whoever opens its page on `{outside[0].word(1)}` can take servers out, without a "
        "password",
        ("stats admin",),
        evidence=(str(line), str(outside[0])[:120], "no stats auth"),
    )


@check(
    "hp-nbproc",
    title="Several processes, each with limits, checks and tables of its own",
    severity=Severity.MEDIUM,
    incidents=DOCUMENTATION_ONLY,
    about=ABOUT,
)
def hp_nbproc(scene: Scene) -> Answers:
    """
    What it does
    Looks for `nbproc` above 1 in `global`.

    Why it matters
    Each process has its own connection limits, queues, stick tables and health checks: a server gets N
    times its `maxconn`, a rate limit admits N times its rate, a session sticks in one process only, and a
    command on the socket reaches one of them. HAProxy 2.5 removed it: the configuration does not start
    there, so that an upgrade is stopped by this line.

    Incidents
    No public incident is known to us that names this setting; it rests on the documentation.

    Fix
    Remove `nbproc` and `bind-process`; HAProxy runs a thread for each CPU by itself (`nbthread`).

    References
    - https://docs.haproxy.org/2.4/configuration.html#3.1-nbproc
    - https://www.haproxy.com/blog/announcing-haproxy-2-5
    """
    for config in scene.configs(HaproxyConfig):
        for section in config.of("global"):
            line = section.last("nbproc")
            number = line.word(1) if line is not None else "1"
            if not number.isdecimal() or int(number[:6]) <= 1:
                yield Pass(section)
            else:
                yield Gap(
                    section,
                    f"{number} processes: `maxconn`, rates and tables count in each of them, and HAProxy "
                    "from 2.5 on does not start with this line",
                    ("nbproc",),
                    evidence=(str(line),),
                )


CHECKS = (haproxy_old_workers, haproxy_slots, hp_admin_open, hp_nbproc, hp_stale_state)
