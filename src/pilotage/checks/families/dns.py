"""Name look-ups from the side of those who ask."""
# ruff: noqa: D205, D212, D416 - the docstring of a check is its page, in fixed sections

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator

import msgspec

from pilotage.checks.coredns.pairs import dns_servers
from pilotage.checks.model import (
    DOCUMENTATION_ONLY,
    Answers,
    Confidence,
    Gap,
    NotApplicable,
    Pass,
    Severity,
    check,
)
from pilotage.checks.placeholders import address_for_show
from pilotage.checks.scene import Scene
from pilotage.checks.values import KeyPath, as_int, as_list, as_map, as_text, dig
from pilotage.checks.workloads import KINDS, SERVING, Workload
from pilotage.core.regex import regex

ZALANDO = "zalando-2019-01-07-coredns-oom-total-dns-outage"
SEOUL = "aws-2018-11-22-seoul-dns-resolver-minimum-hosts-removed"

_URL = regex(r"^[a-z][a-z0-9+.-]*://(?:[^/@\s]*@)?([a-z0-9.-]+?)\.?(?::\d+)?(?:[/?#].*)?$", re.IGNORECASE)
_ADDRESS = regex(r"^([a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9-]+)+)(?::\d+)?$", re.IGNORECASE)
_ABOUT_HOSTS = regex(r"(?:^|_)(?:HOST|HOSTS|HOSTNAME|URL|URI|ENDPOINT|ADDR|ADDRESS|SERVER|BROKERS?)(?:_|$)")
_NOT_ASKED_FOR = regex(
    r"(?:^|_)(?:BASE|PUBLIC|EXTERNAL|SITE|WEBSITE|FRONTEND|ROOT|ISSUER|AUTHORITY|AUDIENCE|CALLBACK|REDIRECT|ORIGIN|COOKIE"
    r"|DOMAIN|DOCS?|HELP|HOMEPAGE|LINK|LOGO|TERMS|PRIVACY|SUPPORT|VITE|REACT|IMAGE|REGISTRY|REPO|REPOSITORY|REPOSITORIES"
    r"|GIT|BROWSER|CALENDLY|BOOKING|NAMESPACE)S?(?:_|$)|(?:^|_)(?:KC_HOSTNAME|SERVER_HOSTNAME|SERVER_NAME|APP_HOST|APP_URL)$"
)
"""What names an address for others, most of all for browsers, or a place of images, which nodes ask."""
_NOW_AND_THEN = regex(r"OIDC|OPENID|OAUTH|METADATA|DISCOVERY|LICEN[CS]E|UPDATE|TELEMETRY")
"""What is asked when a program starts or once in a while, however many requests it gets."""
_TOP = regex(r"\.(?:com|net|org|io|dev|app|cloud|co|eu|de|uk|fr|jp|kr|cn|in|us|ai|tech|info|biz)$")
_RESERVED = regex(r"(?:^|\.)(?:example\.(?:com|net|org)|localhost|invalid|test)$")
_WEB = regex(r"^(?:schemas?\.|www\.w3\.org$|json-schema\.org$)")
_DEFAULT_NDOTS = 5


class _Named(msgspec.Struct, frozen=True):
    """A host that a workload is told about.

    Attributes:
        host: its name.
        variable: the variable that says so.
        path: where that stands.
        by_https: whether it is part of a URL of https, in which a dot at its end is sent along.
    """

    host: str
    variable: str
    path: KeyPath
    by_https: bool = False


def _external(variable: str, value: str) -> str | None:
    """The host outside of the cluster that a variable names, to look it up; None where it names none."""
    url = _URL.match(value)
    address = _ADDRESS.match(value) if _ABOUT_HOSTS.search(variable.upper()) else None
    match = url or address
    if match is None or value.rstrip("/").endswith(".") or _NOT_ASKED_FOR.search(variable.upper()):
        return None
    host = match[1].lower()
    if not _TOP.search(host) or _RESERVED.search(host) or _WEB.match(host):
        return None
    return host


def _hosts(workload: Workload) -> Iterator[_Named]:
    for container in workload.running:
        for position, item in enumerate(as_list(container.data.get("env"))):
            name, value = as_text(dig(item, "name")), as_text(dig(item, "value"))
            if (host := _external(name, value.strip())) is not None:
                https = value.strip().lower().startswith("https:")
                yield _Named(host, name, (*container.path, "env", position), https)


def _ndots(workload: Workload) -> int | None:
    """The `ndots` of a pod's own options; None where none is written."""
    for option in as_list(dig(workload.pod, "dnsConfig", "options")):
        if dig(option, "name") == "ndots":
            value = dig(option, "value")
            text = value if isinstance(value, str) else str(as_int(value))
            return int(text) if text.isascii() and text.isdigit() and len(text) < 4 else None  # noqa: PLR2004
    return None


def _policy(workload: Workload) -> str:
    return as_text(workload.pod.get("dnsPolicy")) or "ClusterFirst"


@check(
    "ndots5-external",
    title="Each look-up of a name outside of the cluster becomes up to ten queries",
    severity=Severity.LOW,
    incidents=(ZALANDO,),
    about=SERVING,
)
def ndots5_external(scene: Scene) -> Answers:
    """
    What it does
    Looks for workloads that are told by a variable to call a host outside of the cluster, with fewer than
    five dots in its name, and whose pods have the default resolver option `ndots:5`. Medium where the
    workload serves requests from outside, since then the look-ups grow with the traffic, but not for what is
    asked once in a while (a provider of sign-in), nor for the one name that one pod asks for. Names by which
    routes lead to it are its own.

    Why it matters
    With `ndots:5` the resolver first tries the name with each search domain of the cluster, for IPv4 and
    IPv6, before it asks for the name itself: ten queries instead of two, eight of them for names that do
    not exist. At a spike of traffic cluster DNS gets five times the load that the calls need.

    Incidents
    At Zalando the pods had `ndots:5` and a runtime that caches nothing. A spike of requests became ten
    times as many queries, and all pods of CoreDNS were killed for memory.

    Fix
    Set `dnsConfig: {options: [{name: ndots, value: "2"}]}` in the pod, or write the name with a dot at its
    end, unless it stands in a URL of https.

    References
    - https://kubernetes.io/docs/concepts/services-networking/dns-pod-service/#pod-dns-config
    - https://pracucci.com/kubernetes-dns-resolution-ndots-options-and-why-it-may-affect-application-performances.html
    """
    for workload in scene.workloads:
        if workload.kind not in SERVING:
            continue
        own = _own_names(scene, workload)
        named = [
            one for one in _hosts(workload) if one.host.count(".") < _DEFAULT_NDOTS and one.host not in own
        ]
        if not named:
            continue
        if not _asks_cluster(workload):
            yield NotApplicable(workload.object, "its pods do not use the cluster's search domains")
            continue
        ndots = _ndots(workload)
        costly = [one for one in named if one.host.count(".") < (_DEFAULT_NDOTS if ndots is None else ndots)]
        if not costly:
            yield Pass(workload.object)
            continue
        edge = scene.exposed(workload, "edge")
        often = not all(_NOW_AND_THEN.search(one.variable.upper()) for one in costly)
        yield Gap(
            workload.object,
            f"`{costly[0].host}` is looked up with each search domain first: up to ten queries each time",
            costly[0].path,
            evidence=(
                *(f"{one.variable}: {one.host}" for one in costly[:4]),
                f"dnsConfig.options.ndots: {'absent (5)' if ndots is None else ndots}",
            ),
            fix=_WITHOUT_DOT if any(one.by_https for one in costly) else "",
            severity=Severity.MEDIUM
            if edge is not None and often and not _asks_little(scene, workload, costly)
            else None,
            confidence=Confidence.MEDIUM,
            related=(edge.object,) if edge is not None else (),
        )


_WITHOUT_DOT = (
    'Set `dnsConfig: {options: [{name: ndots, value: "2"}]}` in the pod. A dot behind the name would be '
    "sent along in a URL of https, and not every server takes it."
)


def _asks_little(scene: Scene, workload: Workload, named: list[_Named]) -> bool:
    """Whether one pod alone asks for one name, which no traffic makes a load for cluster DNS."""
    scale = scene.scale(workload)
    return len({one.host for one in named}) == 1 and scale is not None and scale.most == 1


def _own_names(scene: Scene, workload: Workload) -> set[str]:
    """The host names by which routes lead to a workload: whoever is told them is told its own name."""
    services = scene.services_of(workload)
    return {backend.host.lower() for service in services for backend in scene.routes_to(service)}


def _asks_cluster(workload: Workload) -> bool:
    policy = _policy(workload)
    if policy == "ClusterFirst":
        return workload.pod.get("hostNetwork") is not True
    return policy == "ClusterFirstWithHostNet"


_SERVICE_NAME = regex(r"\b([a-z0-9-]+\.[a-z0-9-]+\.svc(?:\.cluster\.local)?)\b")


@check(
    "hostnetwork-no-cluster-dns",
    title="A pod on the node's network is told to call a Service that it cannot look up",
    severity=Severity.MEDIUM,
    incidents=DOCUMENTATION_ONLY,
    about=KINDS,
)
def hostnetwork_no_cluster_dns(scene: Scene) -> Answers:
    """
    What it does
    Looks for pods with `hostNetwork: true` whose variables or arguments name a Service
    (`name.namespace.svc`), and whose `dnsPolicy` is not `ClusterFirstWithHostNet`.

    Why it matters
    On the node's network the default policy means the node's resolver, which knows no Service. The look-up
    fails at once or, worse, is answered by a server outside that has an address for every name.

    Incidents
    None is known to the library; the policy is documented.

    Fix
    Set `dnsPolicy: ClusterFirstWithHostNet`.

    References
    - https://kubernetes.io/docs/concepts/services-networking/dns-pod-service/#pod-s-dns-policy
    """
    for workload in scene.workloads:
        if workload.pod.get("hostNetwork") is not True:
            continue
        found = next(_services_named(workload), None)
        if found is None:
            yield NotApplicable(workload.object, "it is told of no Service")
        elif _policy(workload) == "ClusterFirstWithHostNet" or as_list(
            dig(workload.pod, "dnsConfig", "nameservers")
        ):
            yield Pass(workload.object)
        else:
            name, path = found
            yield Gap(
                workload.object,
                f"`{name}` is looked up with the node's resolver, which knows no Service",
                path,
                evidence=(
                    "hostNetwork: true",
                    f"dnsPolicy: {as_text(workload.pod.get('dnsPolicy')) or 'absent'}",
                ),
            )


def _services_named(workload: Workload) -> Iterator[tuple[str, KeyPath]]:
    for container in workload.running:
        for position, item in enumerate(as_list(container.data.get("env"))):
            match = _SERVICE_NAME.search(as_text(dig(item, "value")))
            if match is not None:
                yield match[1], (*container.path, "env", position)
        for key in ("command", "args"):
            for position, word in enumerate(as_list(container.data.get(key))):
                match = _SERVICE_NAME.search(as_text(word))
                if match is not None and not _own_name(word, match[1]):
                    yield match[1], (*container.path, key, position)


_LABEL = ("issuer", "audience", "cert", "dns-name", "-san", "advertise", "hostname-override")
"""Parts of flags whose value is a name that is told to others and not looked up."""


def _own_name(word: object, name: str) -> bool:
    """Whether an argument only says how something is called, such as the hosts of a certificate."""
    text = as_text(word).lower()
    return f",{name}" in text or f"{name}," in text or any(part in text for part in _LABEL)


@check(
    "pod-one-nameserver",
    title="All look-ups of a pod hang on one DNS server outside of the cluster",
    severity=Severity.MEDIUM,
    incidents=(),
    alike=(SEOUL,),
    about=SERVING,
)
def pod_one_nameserver(scene: Scene) -> Answers:
    """
    What it does
    Looks for pods with `dnsPolicy: None` and a single server in `dnsConfig.nameservers`, other than the
    address of a Service for DNS, one that is local to the node, or one for show (`1.2.3.4`, `192.0.2.1`).

    Why it matters
    The pod asks that server and no other. When it is away, each look-up of the pod fails after its timeout,
    while all other pods resolve names as usual: hard to see, and nothing restarts it.

    Incidents
    In AWS's Seoul region hosts of the resolver fleet left service, and instances with no other resolver
    could resolve nothing for over an hour.

    Fix
    Name two servers that do not fail together, or use `dnsPolicy: ClusterFirst`.

    References
    - https://kubernetes.io/docs/concepts/services-networking/dns-pod-service/#pod-dns-config
    """
    cluster = _cluster_addresses(scene)
    for workload in scene.workloads:
        if workload.kind not in SERVING or _policy(workload) != "None":
            continue
        named = [as_text(one) for one in as_list(dig(workload.pod, "dnsConfig", "nameservers"))]
        if len(named) != 1 or not named[0]:
            yield Pass(workload.object)
        elif address_for_show(named[0]):
            yield NotApplicable(workload.object, "the address is still to be filled in")
        elif named[0] in cluster or not _elsewhere(named[0]):
            yield NotApplicable(workload.object, "the address stands for many servers, or is the node")
        else:
            yield Gap(
                workload.object,
                f"Each name is asked of {named[0]} alone",
                (*workload.pod_path, "dnsConfig", "nameservers"),
                evidence=("dnsPolicy: None", f"dnsConfig.nameservers: {named[0]}"),
            )


def _elsewhere(address: str) -> bool:
    """Whether an address is not local to the node and, as far as one can see, not that of a Service."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return False
    # The tenth address of the range of Services is the custom for cluster DNS.
    return not (found.is_link_local or found.is_loopback or address.endswith((".0.10", ":a", ".0.2")))


def _cluster_addresses(scene: Scene) -> set[str]:
    servers = {id(one.workload.object) for one in dns_servers(scene)}
    return {
        as_text(service.spec.get("clusterIP"))
        for service in scene.of("Service")
        if as_map(service.spec.get("selector")).get("k8s-app") == "kube-dns"
        or any(id(workload.object) in servers for workload in scene.workloads_of(service))
    }


CHECKS = (ndots5_external, hostnetwork_no_cluster_dns, pod_one_nameserver)
