"""Configuration that reaches every proxy at once."""
# ruff: noqa: D205, D212, D416 - the docstring of a check is its page, in fixed sections

from __future__ import annotations

from pilotage.checks.model import Answer, Answers, Confidence, Gap, NotApplicable, Pass, Severity, check
from pilotage.checks.objects import KubeObject
from pilotage.checks.scene import Scene
from pilotage.checks.values import as_list, as_map, as_text, dig

CLOUDFLARE_WAF = "cloudflare-2019-07-02-waf-regex-global-cpu"
CLOUDFLARE_FILE = "cloudflare-2025-11-18-bot-management-feature-file"
GOOGLE = "google-cloud-2016-10-13-https-load-balancer-502-config-bug"
GOOGLE_RESTARTS = "google-cloud-2018-07-17-load-balancer-front-ends-restarting"

_ROOT = "istio-system"
_KINDS = ("EnvoyFilter", "WasmPlugin")


@check(
    "edge-config-all-at-once",
    title="A change of Envoy's configuration reaches every proxy of the mesh at once",
    severity=Severity.MEDIUM,
    incidents=(),
    alike=(CLOUDFLARE_WAF, CLOUDFLARE_FILE, GOOGLE, GOOGLE_RESTARTS),
    about=_KINDS,
)
def edge_config_all_at_once(scene: Scene) -> Answers:
    """
    What it does
    Looks for EnvoyFilters and WasmPlugins in Istio's root namespace (`istio-system`) that select no
    workload: they apply to every sidecar and gateway. What Istio itself installs is left out.

    Why it matters
    Istio hands such a change to all proxies within seconds, and nothing watches whether they still serve. An
    EnvoyFilter edits configuration below the level that Istio checks; a filter that crashes, or that a new
    version of Envoy reads differently, takes all gateways and all sidecars together.

    Incidents
    At Cloudflare a firewall rule, and years later a feature file, went to all proxies at once and stopped
    them all; at Google a configuration that set off a bug in the balancer spread to a third of requests,
    and two years later another made front ends restart over and over.

    Fix
    Put it into the namespace of one gateway with a `workloadSelector`, first on a canary with a label of its
    own. Widen it step by step, and give it a `proxyVersion` match.

    References
    - https://istio.io/latest/docs/reference/config/networking/envoy-filter/
    - https://istio.io/latest/docs/reference/config/proxy_extensions/wasm-plugin/
    """
    for one in scene.of(*_KINDS):
        yield _reach(one)


def _reach(one: KubeObject) -> Answer:
    if one.namespace != _ROOT:
        return Pass(one) if one.namespace else NotApplicable(one, "its namespace is not stated")
    own = any(str(key).startswith(("install.operator.istio.io/", "istio.io/")) for key in one.labels)
    if own or one.name.startswith(("stats-filter-", "tcp-stats-filter-", "metadata-exchange")):
        return NotApplicable(one, "Istio installs it itself")
    selects = (
        as_map(dig(one.spec.get("workloadSelector"), "labels"))
        or as_map(dig(one.spec.get("selector"), "matchLabels"))
        or as_list(one.spec.get("targetRefs"))
        or as_map(one.spec.get("targetRef"))
    )
    if selects:
        return Pass(one)
    versions = [
        as_text(dig(item, "match", "proxy", "proxyVersion"))
        for item in as_list(one.spec.get("configPatches"))
    ]
    return Gap(
        one,
        "It applies to every sidecar and gateway of the mesh as soon as it is written",
        ("spec",),
        evidence=(
            f"namespace: {one.namespace} (root)",
            "selector: none",
            f"proxyVersion: {', '.join(version for version in versions if version) or 'any'}",
        ),
        confidence=Confidence.MEDIUM,
    )


CHECKS = (edge_config_all_at_once,)
