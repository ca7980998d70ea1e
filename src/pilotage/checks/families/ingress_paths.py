"""ingress-nginx: rewritten and refused paths, canaries without a main Ingress, Secrets that it misses."""
# ruff: noqa: D205, D212, D416 - the docstring of a check is its page, in fixed sections

from __future__ import annotations

from collections.abc import Iterator

from pilotage.checks.absence import folder_of, surely_absent
from pilotage.checks.controllers import answering, controllers_of
from pilotage.checks.known_settings import default_of
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
from pilotage.checks.scene import Scene
from pilotage.checks.values import KeyPath, as_list, as_text, dig
from pilotage.checks.workloads import SERVING
from pilotage.core.regex import regex

MALFORMED = "dfds-2021-09-06-traefik-v2-malformed-ingressroute-404"
LATER_ROUTES = "dfds-2021-09-17-traefik-1-7-bad-secret-504"
RULES = "uk-ministry-of-justice-2026-03-30-waf-rules-after-ingress-upgrade"

PREFIX = "nginx.ingress.kubernetes.io/"
_GROUP = regex(r"(?<!\\)\((?!\?(?!P?<))")
_PLACEHOLDER = regex(r"\$(\d)")
_PLAIN_PATH = regex(r"/[A-Za-z0-9._\-/]*")
_SECRETS = ("auth-secret", "auth-tls-secret", "proxy-ssl-secret")


def _paths(ingress: KubeObject) -> Iterator[tuple[KeyPath, str, str, str]]:
    """Way, host, path and path type of every path."""
    for place, rule in enumerate(as_list(ingress.spec.get("rules"))):
        for position, item in enumerate(as_list(dig(rule, "http", "paths"))):
            way: KeyPath = ("spec", "rules", place, "http", "paths", position)
            path = as_text(dig(item, "path")) or "/"
            yield way, as_text(dig(rule, "host")), path, as_text(dig(item, "pathType"))


@check(
    "nginx-rewrite-groups",
    title="A rewrite uses a part of the path that the path does not capture",
    severity=Severity.MEDIUM,
    breaks=True,
    incidents=DOCUMENTATION_ONLY,
    about=("Ingress",),
)
def nginx_rewrite_groups(scene: Scene) -> Answers:
    """
    What it does
    Compares the placeholders (`$1`, `$2` …) in `nginx.ingress.kubernetes.io/rewrite-target` with the number
    of groups in each path of the Ingress.

    Why it matters
    A placeholder without a group is empty. Every request below that path then reaches the application as the
    same one, mostly `/`: pages load, and everything behind them answers nonsense. A path that is added later
    to an Ingress with a rewrite falls into the same trap.

    Incidents
    No public incident with this very cause is in the library; the project documents the change of 0.22 that
    broke rewrites without groups.

    Fix
    Capture what is to be kept: path `/something(/|$)(.*)` with `rewrite-target: /$2`. Give paths that are not
    to be rewritten an Ingress of their own.

    References
    - https://kubernetes.github.io/ingress-nginx/examples/rewrite/
    """
    key = PREFIX + "rewrite-target"
    for ingress in scene.of("Ingress"):
        target = as_text(ingress.annotations.get(key))
        used = [int(number) for number in _PLACEHOLDER.findall(target)]
        if not target:
            continue
        if not used:
            yield NotApplicable(ingress, "its rewrite uses no part of the path")
            continue
        lacking = [
            (way, path) for way, _, path, _ in _paths(ingress) if len(_GROUP.findall(path)) < max(used)
        ]
        if not lacking:
            yield Pass(ingress)
            continue
        way, path = lacking[0]
        yield Gap(
            ingress,
            f"`{target}` uses group {max(used)}, and the path `{path}` captures {len(_GROUP.findall(path))}",
            (*way, "path"),
            evidence=(f"rewrite-target: {target}", *(f"path: {one}" for _, one in lacking[:5])),
        )


@check(
    "nginx-path-type-strict",
    title="The webhook refuses every change of an Ingress with such a path",
    severity=Severity.MEDIUM,
    breaks=True,
    incidents=(),
    alike=(RULES,),
    about=("Ingress",),
    needs=("ConfigMap",),
)
def nginx_path_type_strict(scene: Scene) -> Answers:
    """
    What it does
    Looks for paths of type `Prefix` or `Exact` with characters of a regular expression, where the
    ingress-nginx that answers them is 1.12 or newer, has its webhook on, and `strict-validate-path-type` is
    not off (it is on by default since 1.12).

    Why it matters
    The object that is stored goes on working, but nobody can change it any more: the next rollout that
    touches the Ingress is refused, maybe in the middle of an incident. The upgrade itself shows nothing.

    Incidents
    At the UK's Ministry of Justice an upgrade of ingress-nginx brought stricter rules that met traffic which
    had always passed; the announcement had been read and these cases still were not found.

    Fix
    Use `pathType: ImplementationSpecific` for paths that are regular expressions.

    References
    - https://kubernetes.github.io/ingress-nginx/user-guide/nginx-configuration/configmap/#strict-validate-path-type
    - https://github.com/kubernetes/ingress-nginx/blob/controller-v1.12.1/internal/ingress/inspector/inspector.go
    """
    for ingress in scene.of("Ingress"):
        one = answering(scene, ingress, "ingress-nginx")
        if one is None or not one.version:
            continue
        default = default_of("ingress-nginx", "strict-validate-path-type", one.version)
        stated = one.setting("strict-validate-path-type").lower()
        if not stated and (default is None or default.value == "false"):
            continue
        if "validating-webhook" not in one.flags:
            yield NotApplicable(ingress, "its controller has no webhook")
            continue
        if one.config_unread:
            yield Unknown(f"ConfigMap {one.flags['configmap']} is not among the files", ingress)
            continue
        odd = [
            (way, path)
            for way, _, path, kind in _paths(ingress)
            if kind in {"Prefix", "Exact"} and not _PLAIN_PATH.fullmatch(path)
        ]
        if not odd or stated == "false":
            yield Pass(ingress)
            continue
        way, path = odd[0]
        yield Gap(
            ingress,
            f"`{path}` does not fit its path type, so {one.object.key} refuses every change of the Ingress",
            (*way, "pathType"),
            evidence=(
                f"path: {path}",
                f"strict-validate-path-type: {stated or 'true (the default since 1.12)'}",
            ),
            related=(one.object,),
        )


@check(
    "nginx-canary-orphan",
    title="A canary Ingress has no main Ingress for its host and path",
    severity=Severity.MEDIUM,
    breaks=True,
    incidents=DOCUMENTATION_ONLY,
    about=("Ingress",),
)
def nginx_canary_orphan(scene: Scene) -> Answers:
    """
    What it does
    Looks for Ingresses with `nginx.ingress.kubernetes.io/canary: "true"` whose host and path no other Ingress
    of the class serves. In files it speaks only where another Ingress of that host is there or all of the
    folder is known.

    Why it matters
    A canary only adds to a main Ingress. Without one ingress-nginx leaves it out: nobody gets the new
    version, and after the main one was removed the host answers 404, though an Ingress for it seems to be
    there.

    Incidents
    No public incident with this very cause is in the library; the project documents the rule.

    Fix
    Keep a main Ingress with the same host and path, or remove the annotation from the one that is left.

    References
    - https://kubernetes.github.io/ingress-nginx/user-guide/nginx-configuration/annotations/#canary
    """
    mains: set[tuple[str, str]] = set()
    hosts: set[tuple[str, str]] = set()
    canaries: list[KubeObject] = []
    for ingress in scene.of("Ingress"):
        if str(ingress.annotations.get(PREFIX + "canary")) == "true":
            canaries.append(ingress)
            continue
        for _, host, path, _ in _paths(ingress):
            mains.add((host, path))
            hosts.add((host, folder_of(ingress)))
    for ingress in canaries:
        yield _canary(scene, ingress, mains, hosts)


def _canary(
    scene: Scene, ingress: KubeObject, mains: set[tuple[str, str]], hosts: set[tuple[str, str]]
) -> Answer:
    orphans = [(way, host, path) for way, host, path, _ in _paths(ingress) if (host, path) not in mains]
    if not orphans:
        return Pass(ingress)
    way, host, path = orphans[0]
    if not scene.live and (host, folder_of(ingress)) not in hosts:
        return Unknown(f"no Ingress for {host} is among the files", ingress)
    return Gap(
        ingress,
        f"No main Ingress serves `{host}{path}`, so the canary is left out",
        way,
        evidence=(f"canary: {host}{path}",),
        confidence=Confidence.HIGH if scene.live else Confidence.MEDIUM,
    )


@check(
    "nginx-secret-missing",
    title="An Ingress needs a Secret for sign-in or TLS that does not exist",
    severity=Severity.HIGH,
    breaks=True,
    incidents=(),
    alike=(LATER_ROUTES,),
    about=("Ingress",),
    needs=("Secret",),
)
def nginx_secret_missing(scene: Scene) -> Answers:
    """
    What it does
    Follows `auth-secret`, `auth-tls-secret` and `proxy-ssl-secret` of ingress-nginx to their Secrets. In
    files a Secret counts as absent only where they hold other Secrets of that namespace or folder.

    Why it matters
    When the Secret cannot be read, ingress-nginx denies the whole location: every request to the path gets
    503. It takes effect at the next reload after somebody has removed or renamed the Secret.

    Incidents
    At DFDS one Ingress that referred to a Secret which Traefik could not read kept every later route of all
    teams from working.

    Fix
    Create the Secret before the Ingress, in the namespace that the annotation names, and let one change
    remove both.

    References
    - https://kubernetes.github.io/ingress-nginx/user-guide/nginx-configuration/annotations/#authentication
    - https://kubernetes.github.io/ingress-nginx/user-guide/nginx-configuration/annotations/#client-certificate-authentication
    """
    for ingress in scene.of("Ingress"):
        for name in _SECRETS:
            key = PREFIX + name
            named = as_text(ingress.annotations.get(key))
            space, _, secret = named.rpartition("/")
            if not secret:
                continue
            if scene.find("Secret", secret, ingress, space) is not None:
                yield Pass(ingress)
            elif not surely_absent(scene, "Secret", secret, ingress, space):
                yield Unknown(f"Secret `{named}` is not among the files", ingress)
            else:
                yield Gap(
                    ingress,
                    f"Secret `{named}` does not exist, so every request gets 503",
                    ("metadata", "annotations", key),
                    evidence=(f"{key}: {named}",),
                    confidence=Confidence.HIGH if scene.live else Confidence.MEDIUM,
                )


@check(
    "nginx-no-admission",
    title="Nothing checks an Ingress before ingress-nginx has to read it",
    severity=Severity.LOW,
    incidents=(),
    alike=(MALFORMED,),
    about=SERVING,
)
def nginx_no_admission(scene: Scene) -> Answers:
    """
    What it does
    Looks for ingress-nginx 1.11.5, 1.12.1 or newer without `--validating-webhook`. Older ones are left out:
    there the webhook itself is the greater danger, see `controller-bad-version`. Since those versions it no
    longer tests the whole configuration, but still refuses annotations and paths.

    Why it matters
    Without the webhook such an Ingress is stored. The controller meets it at the next sync, logs an error and
    leaves it out, or takes half of it; the one who applied it sees success.

    Incidents
    At DFDS nothing kept a malformed IngressRoute out; it lay in the cluster for days, until the restart of
    all proxies made it the end of every route.

    Fix
    Switch the webhook on, with two replicas or more of the controller, and a NetworkPolicy that lets only the
    API server reach its port. ingress-nginx's own chart has `controller.admissionWebhooks` for it. Without
    that chart it takes flags, a certificate, a Service and a ValidatingWebhookConfiguration, as the finding
    says.

    References
    - https://kubernetes.github.io/ingress-nginx/how-it-works/#avoiding-outage-from-wrong-configuration
    """
    for one in controllers_of(scene, "ingress-nginx"):
        old = one.before(1, 11, 5) or (one.version[:2] == (1, 12) and one.before(1, 12, 1))
        if not one.version or old:
            yield NotApplicable(one.object, "see controller-bad-version")
        elif "validating-webhook" in one.flags:
            yield Pass(one.object)
        else:
            yield Gap(
                one.object,
                "It has no admission webhook, so an Ingress with an annotation that is not allowed, or with "
                "a host and path that another has, is stored and met at the next sync",
                one.container.path,
                evidence=("--validating-webhook: absent", f"image: {one.container.image}"),
                fix=_OWN_CHART if _of_own_chart(one.object) else _BY_HAND,
            )


def _of_own_chart(one: KubeObject) -> bool:
    return as_text(one.labels.get("helm.sh/chart")).startswith("ingress-nginx-")


_OWN_CHART = (
    "Set `controller.admissionWebhooks.enabled: true` in the chart's values, with two replicas or more."
)
_BY_HAND = (
    "Run it with `--validating-webhook=` and a free port, `--validating-webhook-certificate` and "
    "`--validating-webhook-key`, let that port through where a NetworkPolicy closes the pod, and point a "
    "ValidatingWebhookConfiguration there by a Service. The chart of ingress-nginx itself brings all of that "
    "with `controller.admissionWebhooks.enabled`; other charts may have no switch for it."
)


CHECKS = (
    nginx_canary_orphan,
    nginx_no_admission,
    nginx_path_type_strict,
    nginx_rewrite_groups,
    nginx_secret_missing,
)
