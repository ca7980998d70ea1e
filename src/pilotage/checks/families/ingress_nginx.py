"""ingress-nginx: snippets, reloads, the ceiling of connections, the firewall that it brings."""
# ruff: noqa: D205, D212, D416 - the docstring of a check is its page, in fixed sections

from __future__ import annotations

from collections.abc import Iterator

from pilotage.checks.controllers import Controller, answering, controllers_of
from pilotage.checks.known_settings import default_of
from pilotage.checks.model import (
    Answer,
    Answers,
    Confidence,
    Gap,
    NotApplicable,
    Operation,
    Pass,
    Severity,
    Unknown,
    check,
)
from pilotage.checks.objects import KubeObject
from pilotage.checks.scene import Scene
from pilotage.checks.workloads import SERVING

CRESTA = "cresta-ingress-nginx-issue-12797-2025-02-04-serial-reloads-block-endpoint-updates"
NIGHTMARE = "kubernetes-ingress-nginx-2025-03-24-ingressnightmare-cve-2025-1974"
MALFORMED = "dfds-2021-09-06-traefik-v2-malformed-ingressroute-404"
COINBASE = "coinbase-2021-05-19-nginx-connection-ceiling-and-slow-autoscaling"
JUSTICE = "uk-ministry-of-justice-2026-03-30-waf-rules-after-ingress-upgrade"
FASTLY = "fastly-2021-06-08-valid-customer-config-bug"

PREFIX = "nginx.ingress.kubernetes.io/"
_SNIPPETS = (
    "configuration-snippet",
    "server-snippet",
    "stream-snippet",
    "auth-snippet",
    "modsecurity-snippet",
)
_UNTESTED_SINCE = ((1, 11, 5), (1, 12, 1))
_LEAST_CONNECTIONS = 4096


def _on(value: str) -> bool:
    return value.lower() in {"true", "on", "yes", "1"}


@check(
    "nginx-snippet-blast",
    title="A snippet of one Ingress can break the configuration of every host",
    severity=Severity.MEDIUM,
    incidents=(),
    alike=(NIGHTMARE, MALFORMED, FASTLY),
    about=("Ingress",),
    needs=("ConfigMap",),
)
def nginx_snippet_blast(scene: Scene) -> Answers:
    """
    What it does
    Looks for Ingresses with snippet annotations of ingress-nginx. Where the scene holds the controller that
    answers them, it reads `allow-snippet-annotations` of its ConfigMap (true by default before 1.9, false
    since): where snippets are off, the annotation has no effect, and that is told with low severity.

    Why it matters
    A snippet is put into the one nginx.conf of all hosts as it is. A missing semicolon makes nginx refuse the
    whole file: from then on no change of any Ingress takes effect, and a pod that restarts serves nothing.
    Since 1.11.5 and 1.12.1 the admission webhook does not try the file with nginx any more, so nothing stops
    such an Ingress.

    Incidents
    The flaws known as IngressNightmare put directives into that file, too, and led to the end of the test. At
    DFDS one malformed route stopped a shared Traefik when its pods restarted. At Fastly one valid setting of
    one customer made most of a shared network answer with errors.

    Fix
    Use an annotation that exists for the purpose (`rewrite-target`, `auth-url`, `custom-headers` for headers
    of answers); set what all need, such as headers for the pods (`proxy-set-headers`), in the ConfigMap.
    Where neither does it, have a pipeline apply the Ingress to a controller of the same version first, and
    look that nginx takes the file. Leave `allow-snippet-annotations` off on controllers that teams share.

    References
    - https://kubernetes.github.io/ingress-nginx/user-guide/nginx-configuration/configmap/#allow-snippet-annotations
    - https://github.com/kubernetes/ingress-nginx/issues/6648
    - https://github.com/kubernetes/ingress-nginx/blob/controller-v1.12.1/internal/ingress/controller/controller.go
    """
    for ingress in scene.of("Ingress"):
        used = [name for name in _SNIPPETS if PREFIX + name in ingress.annotations]
        if used:
            yield _snippet(ingress, used[0], answering(scene, ingress, "ingress-nginx"))
        elif any(str(key).startswith(PREFIX) for key in ingress.annotations):
            yield Pass(ingress)


def _snippet(ingress: KubeObject, name: str, controller: Controller | None) -> Answer:
    key = PREFIX + name
    path = ("metadata", "annotations", key)
    unread = _on(str(ingress.annotations.get(f"{PREFIX}ssl-passthrough")))
    fix = _UNREAD if unread else ""
    if controller is None or controller.config_unread:
        return Gap(
            ingress,
            f"`{key}` is written as it is into the one file that nginx reads for all hosts",
            path,
            evidence=(f"annotation: {key}",),
            fix=fix,
            confidence=Confidence.MEDIUM,
        )
    if not _snippets_allowed(controller):
        return Gap(
            ingress,
            f"`{key}` has no effect: {controller.object.key} does not take snippets",
            path,
            evidence=(f"annotation: {key}", "allow-snippet-annotations: false"),
            severity=Severity.LOW,
            related=(controller.object,),
        )
    untested = _untested(controller)
    return Gap(
        ingress,
        f"`{key}` is written as it is into the one file that nginx reads for all hosts"
        f"{', and the webhook of this version does not try it with nginx first' if untested else ''}",
        path,
        evidence=(f"annotation: {key}", f"image: {controller.container.image}"),
        fix=fix,
        related=(controller.object,),
    )


_UNREAD = (
    "Take the snippet out: with `ssl-passthrough` nginx hands the connections of this host on unread, so "
    "that it changes nothing for them, and can still break the file."
)


def _snippets_allowed(controller: Controller) -> bool:
    key = "allow-snippet-annotations"
    stated = controller.setting(key)
    default = default_of("ingress-nginx", key, controller.version)
    # Of a version that we do not know, the dangerous reading.
    return _on(stated or (default.value if default is not None else "true"))


def _untested(controller: Controller) -> bool:
    if not controller.version:
        return False
    first, second = _UNTESTED_SINCE
    old = controller.before(*first)
    return not old and not (controller.version[:2] == second[:2] and controller.before(*second))


def _read(scene: Scene, key: str) -> Iterator[tuple[Controller, str | None]]:
    """Every ingress-nginx with a key of its ConfigMap; None where the ConfigMap is out of sight."""
    for one in controllers_of(scene, "ingress-nginx"):
        yield one, None if one.config_unread else one.setting(key)


def _out_of_sight(one: Controller) -> Unknown:
    return Unknown(f"its ConfigMap {one.flags.get('configmap', '')} is not among the files", one.object)


@check(
    "nginx-serial-reloads",
    title="Reloads of nginx run one by one, and updates of endpoints wait for them",
    severity=Severity.HIGH,
    incidents=(CRESTA,),
    about=SERVING,
    needs=("ConfigMap",),
)
def nginx_serial_reloads(scene: Scene) -> Answers:
    """
    What it does
    Reads `enable-serial-reloads` of the ConfigMap of ingress-nginx.

    Why it matters
    The option keeps many generations of workers from piling up: each reload waits until the old workers have
    ended, up to `worker-shutdown-timeout`, four minutes. The list of endpoints, which needs no reload, waits
    in the same queue. A rollout in that time leaves nginx with addresses of pods that are gone.

    Incidents
    That is what an ingress-nginx at Cresta did, and an essay tells of failing calls in production from it.

    Fix
    Leave `enable-serial-reloads` off. Against worker generations lower `worker-shutdown-timeout`, and join
    changes of many Ingresses into few.

    References
    - https://github.com/kubernetes/ingress-nginx/issues/12797
    - https://lorenzhw.substack.com/p/our-last-kubernetes-ingress-production
    """
    key = "enable-serial-reloads"
    for one, value in _read(scene, key):
        if value is None:
            yield _out_of_sight(one)
        elif not _on(value) or one.config_map is None:
            yield Pass(one.object)
        else:
            yield Gap(
                one.config_map,
                "Updates of endpoints wait for reloads, which wait for old workers",
                ("data", key),
                evidence=(
                    f"{key}: {value}",
                    f"worker-shutdown-timeout: {one.setting('worker-shutdown-timeout') or '240s'}",
                ),
                patch=(Operation("replace", ("data", key), "false"),),
                related=(one.object,),
            )


@check(
    "nginx-worker-connections-low",
    title="nginx may hold few connections before it refuses new ones",
    severity=Severity.MEDIUM,
    incidents=(COINBASE,),
    about=SERVING,
    needs=("ConfigMap",),
)
def nginx_worker_connections_low(scene: Scene) -> Answers:
    """
    What it does
    Reads `max-worker-connections` of the ConfigMap of ingress-nginx (16384 by default) and looks for less
    than 4096. 0 means as many as files may be open.

    Why it matters
    A client and its backend take two connections of a worker. When the number is used up, nginx refuses or
    drops new ones while CPU and memory look idle, so no autoscaler helps.

    Incidents
    At Coinbase a spike reached the maximum of connections in the NGINX routers. Instances failed for 40
    minutes; raising the limit by hand ended it.

    Fix
    Leave the key out, or set it to the measured peak with a reserve, twice over: once for clients, once for
    backends.

    References
    - https://kubernetes.github.io/ingress-nginx/user-guide/nginx-configuration/configmap/#max-worker-connections
    - https://nginx.org/en/docs/ngx_core_module.html#worker_connections
    """
    key = "max-worker-connections"
    for one, value in _read(scene, key):
        if value is None:
            yield _out_of_sight(one)
        elif one.config_map is None or not _few(value):
            yield Pass(one.object)
        else:
            yield Gap(
                one.config_map,
                f"A worker holds {value} connections, half of them to backends",
                ("data", key),
                evidence=(f"{key}: {value}", "default: 16384"),
                related=(one.object,),
            )


def _few(value: str) -> bool:
    return value.isascii() and value.isdigit() and 0 < int(value[:9]) < _LEAST_CONNECTIONS


@check(
    "nginx-firewall-blocking",
    title="The bundled firewall rules block, and an upgrade of the controller changes them",
    severity=Severity.LOW,
    incidents=(JUSTICE,),
    about=SERVING,
    needs=("ConfigMap",),
)
def nginx_firewall_blocking(scene: Scene) -> Answers:
    """
    What it does
    Looks for `enable-owasp-modsecurity-crs` together with `SecRuleEngine On` in `modsecurity-snippet` of the
    ConfigMap of ingress-nginx: the rules then block on every host.

    Why it matters
    The rules come with the image. A new patch release of the controller can bring rules that take a cookie or
    a header of good users for an attack, on all hosts at once.

    Incidents
    At the UK's Ministry of Justice an upgrade of the ingress brought rules that blocked a harmless cookie and
    a header; users could not sign in.

    Fix
    Run new rules with `SecRuleEngine DetectionOnly` for some days after each upgrade, read what they would
    have blocked, and only then let them block. Turn blocking on per Ingress where it is needed.

    References
    - https://kubernetes.github.io/ingress-nginx/user-guide/third-party-addons/modsecurity/
    - https://coreruleset.org/docs/2-how-crs-works/2-1-anomaly_scoring/
    """
    for one, value in _read(scene, "enable-owasp-modsecurity-crs"):
        if value is None:
            yield _out_of_sight(one)
            continue
        rules = " ".join(one.setting("modsecurity-snippet").split())
        if not _on(value):
            yield NotApplicable(one.object, "the bundled rules are off")
        elif "SecRuleEngine On" not in rules or one.config_map is None:
            yield Pass(one.object)
        else:
            yield Gap(
                one.config_map,
                "The rules that come with the image block requests of every host",
                ("data", "modsecurity-snippet"),
                evidence=("enable-owasp-modsecurity-crs: true", "modsecurity-snippet: SecRuleEngine On"),
                related=(one.object,),
            )


CHECKS = (
    nginx_firewall_blocking,
    nginx_serial_reloads,
    nginx_snippet_blast,
    nginx_worker_connections_low,
)
