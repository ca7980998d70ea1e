"""Settings of ingress controllers that mean nothing to them, and versions with known faults."""
# ruff: noqa: D205, D212, D416 - the docstring of a check is its page, in fixed sections

from __future__ import annotations

import functools
from collections.abc import Iterator
from importlib.resources import files

import msgspec

from pilotage.checks.controllers import Controller, Version, controllers_of, version_of
from pilotage.checks.dialect import load
from pilotage.checks.known_settings import FILES, Known, Standing, known_by
from pilotage.checks.model import (
    Answer,
    Answers,
    Confidence,
    Gap,
    Pass,
    Severity,
    Unknown,
    check,
)
from pilotage.checks.objects import KubeObject
from pilotage.checks.scene import Scene
from pilotage.checks.values import KeyPath, as_list, as_map, as_text
from pilotage.checks.workloads import SERVING

MISPLACED = "zalando-2018-09-07-iam-404-cronjob-api-server-oom"
NIGHTMARE = "kubernetes-ingress-nginx-2025-03-24-ingressnightmare-cve-2025-1974"
MALFORMED = "dfds-2021-09-06-traefik-v2-malformed-ingressroute-404"
LATER_ROUTES = "dfds-2021-09-17-traefik-1-7-bad-secret-504"


@check(
    "ing-unknown-annotation",
    title="An annotation means nothing to the ingress controller",
    severity=Severity.MEDIUM,
    breaks=True,
    incidents=(),
    alike=(MISPLACED,),
    about=("Ingress", "Service"),
)
def ing_unknown_annotation(scene: Scene) -> Answers:
    """
    What it does
    Compares annotations under `nginx.ingress.kubernetes.io/`, `haproxy-ingress.github.io/`, `haproxy.org/`
    and `traefik.ingress.kubernetes.io/` with what each version of the controller knows. Where the scene holds
    one installation of that controller and its image names a version, a key that is too new or was removed
    is told, too; else only what no version ever knew (and what only Traefik 1 knew).

    Why it matters
    A key that the controller does not know is passed over in silence. The time limit, the access list or the
    canary that it should have set is not there, and everything looks applied.

    Incidents
    At Zalando a setting in the wrong place was dropped in the same silence: everybody took it for in force,
    and the pods that it should have held back took down the API server.

    Fix
    Correct the spelling, use the key that has replaced it, or upgrade the controller first.

    References
    - https://kubernetes.github.io/ingress-nginx/user-guide/nginx-configuration/annotations/
    - https://haproxy-ingress.github.io/docs/configuration/keys/
    - https://www.haproxy.com/documentation/kubernetes-ingress/community/configuration-reference/ingress/
    - https://doc.traefik.io/traefik/routing/providers/kubernetes-ingress/
    """
    versions = {product: _one_version(scene, product) for product in FILES}
    known = [one for product in FILES if (one := known_by(product)) is not None]
    for subject in scene.of("Ingress", "Service"):
        for key in subject.annotations:
            for one in known:
                if key.startswith(one.prefix) and key != one.prefix + "ingress.class":
                    answer = _annotation(subject, key, one, versions[one.product])
                    alone = key.endswith("/affinity") and _has_one_pod(scene, subject)
                    if isinstance(answer, Gap) and alone:
                        answer = msgspec.structs.replace(answer, severity=Severity.LOW)
                    yield answer


def _has_one_pod(scene: Scene, service: KubeObject) -> bool:
    """Whether one pod is all there is behind a Service, so that clients have no choice of pods."""
    scales = [scene.scale(one) for one in scene.workloads_of(service)]
    return len(scales) == 1 and scales[0] is not None and scales[0].most == 1


def _one_version(scene: Scene, product: str) -> Version:
    """The version of a controller where the scene knows just one."""
    found = {one.version for one in controllers_of(scene, product) if one.version}
    return found.pop() if len(found) == 1 else ()


def _annotation(subject: KubeObject, key: str, known: Known, version: Version) -> Answer:
    bare = key.removeprefix(known.prefix)
    if known.product == "traefik":
        bare = bare.lower()
        # Nobody runs Traefik 1 beside Ingresses of the version that this file needs, unless it says so.
        version = version or known.last
    standing = known.standing("annotations", bare, version)
    if standing is Standing.KNOWN:
        return Pass(subject)
    return _gap(
        subject, ("metadata", "annotations", key), known, _Verdict("annotations", bare, standing, version)
    )


_REPLACED = {("traefik", "affinity"): 'service.sticky.cookie: "true"'}
"""What does the same now, where it has another name."""


class _Verdict(msgspec.Struct, frozen=True):
    table: str
    key: str
    standing: Standing
    version: Version


def _gap(subject: KubeObject, path: KeyPath, known: Known, verdict: _Verdict) -> Gap:
    number = ".".join(str(part) for part in verdict.version[:2])
    bounds = known.range(verdict.table, verdict.key)
    evidence = [f"key: {path[-1]}"]
    if verdict.standing is Standing.TOO_NEW and bounds is not None and bounds.since is not None:
        since = ".".join(str(part) for part in bounds.since)
        message = f"`{path[-1]}` came with {known.product} {since}; this is {number}"
        fix = f"Upgrade the controller to {since} or later first, or leave the key out."
    elif verdict.standing is Standing.GONE and (key := _REPLACED.get((known.product, verdict.key))):
        message = f"`{path[-1]}` is of Traefik 1, so it has no effect"
        fix = f"Write `{known.prefix}{key}` on the Service."
    elif verdict.standing is Standing.GONE:
        until = ".".join(str(part) for part in (bounds.until if bounds and bounds.until else ()))
        message = f"`{path[-1]}` was removed from {known.product} after {until}, so it has no effect"
        fix = "Use what has replaced it; the controller's release notes name it."
    else:
        near = known.nearest(verdict.table, verdict.key)
        message = f"No version of {known.product} knows `{path[-1]}`"
        fix = f"Perhaps `{near}` is meant." if near else "Look the name up in the controller's documentation."
        evidence += [f"nearest known: {near}"] if near else []
    confidence = Confidence.MEDIUM if verdict.standing is Standing.UNKNOWN else Confidence.HIGH
    return Gap(subject, message, path, evidence=tuple(evidence), fix=fix, confidence=confidence)


@check(
    "controller-unknown-setting",
    title="A key of the controller's ConfigMap, or a flag, means nothing to its version",
    severity=Severity.MEDIUM,
    breaks=True,
    incidents=(),
    alike=(MISPLACED,),
    about=SERVING,
    needs=("ConfigMap",),
)
def controller_unknown_setting(scene: Scene) -> Answers:
    """
    What it does
    Finds the ConfigMap of ingress-nginx, haproxy-ingress and haproxytech's controller by the flag that names
    it, and compares its keys with what that version knows; for ingress-nginx its flags, too. A flag that it
    does not know is of high severity.

    Why it matters
    A key that is not known is passed over in silence, in the one place whose settings hold for every host. A
    flag that is not known keeps the controller from starting: after an upgrade no pod becomes ready.

    Incidents
    At Zalando a setting that was dropped in silence was taken for in force until the API server went down.

    Fix
    Correct the spelling or use the key that has replaced it. Before an upgrade, compare flags and keys with
    the release notes.

    References
    - https://kubernetes.github.io/ingress-nginx/user-guide/nginx-configuration/configmap/
    - https://kubernetes.github.io/ingress-nginx/user-guide/cli-arguments/
    - https://haproxy-ingress.github.io/docs/configuration/keys/
    """
    for one in controllers_of(scene, "ingress-nginx", "haproxy-ingress", "haproxytech"):
        known = known_by(one.product)
        if known is None:
            continue
        if one.config_unread:
            yield Unknown(f"its ConfigMap {one.flags['configmap']} is not among the files", one.object)
        settings = list(_settings(one, known))
        flags = list(_flags(one, known))
        yield from (*settings, *flags)
        if one.config_map is not None and not settings and not flags:
            yield Pass(one.object)


def _settings(one: Controller, known: Known) -> Iterator[Gap]:
    if one.config_map is None:
        return
    for key in as_map(one.config_map.data.get("data")):
        # Keys in capitals are files that others read from there.
        standing = known.standing("settings", str(key), one.version)
        if standing is not Standing.KNOWN:
            verdict = _Verdict("settings", str(key), standing, one.version)
            yield _gap(one.config_map, ("data", key), known, verdict)


def _flags(one: Controller, known: Known) -> Iterator[Gap]:
    for name in one.flags if known.tables["flags"] and one.version else ():
        standing = known.standing("flags", name, one.version)
        if standing is Standing.KNOWN or not _is_own_flag(one, name):
            continue
        yield Gap(
            one.object,
            f"ingress-nginx {'.'.join(map(str, one.version))} does not know `--{name}` and will not start",
            one.container.path,
            evidence=(f"flag: --{name}", f"image: {one.container.image}"),
            severity=Severity.HIGH,
            confidence=Confidence.MEDIUM,
        )


_LOGGING = {
    "v",
    "logtostderr",
    "alsologtostderr",
    "stderrthreshold",
    "vmodule",
    "log_dir",
    "log_file",
    "help",
}


def _is_own_flag(one: Controller, name: str) -> bool:
    """Whether a word is a flag of the controller: neither one of its logging library nor of a wrapper."""
    words = one.container.words
    written = any(word.startswith(f"--{name}") for word in words)
    return (
        written and name not in _LOGGING and not name.startswith(("log_", "skip_", "add_dir", "one_output"))
    )


class _BadVersion(msgspec.Struct, frozen=True):
    """A row of `data/bad_versions.yaml`."""

    product: str
    since: Version
    before: Version
    severity: Severity
    what: str
    flag: str
    incident: str
    source: str


@functools.cache
def _bad_versions() -> tuple[_BadVersion, ...]:
    text = files("pilotage.checks").joinpath("data/bad_versions.yaml").read_text("utf-8")
    return tuple(
        _BadVersion(
            as_text(row.get("product")),
            version_of(as_text(row.get("since"))),
            version_of(as_text(row.get("before"))),
            Severity(as_text(row.get("severity"))),
            as_text(row.get("what")),
            as_text(row.get("flag")),
            as_text(row.get("incident")),
            as_text(row.get("source")),
        )
        for row in as_list(as_map(load(text)).get("versions"))
    )


@check(
    "controller-bad-version",
    title="This version of the controller has a fault that has taken others down",
    severity=Severity.HIGH,
    incidents=(MALFORMED, LATER_ROUTES, NIGHTMARE),
    about=SERVING,
)
def controller_bad_version(scene: Scene) -> Answers:
    """
    What it does
    Compares the version in the image's tag of Traefik and ingress-nginx with a table of versions whose faults
    have caused incidents. A tag that names no patch release counts as the last one; an image by digest, or
    with a tag that is no version, is unknown. The fault of ingress-nginx counts where its webhook is on.

    Why it matters
    Each of these faults lets one object of one team, or anybody on the pod network, take the router that all
    share. They lie dormant until such an object comes or the pods restart.

    Incidents
    Traefik before 2.5 stopped routing altogether over one malformed IngressRoute when its pods restarted at
    DFDS; Traefik 1.7 took up no new route there after one bad Secret. The webhook of ingress-nginx before
    1.11.5 and 1.12.1 let anybody on the pod network run code in the controller.

    Fix
    Upgrade to a version that has the fix. ingress-nginx gets none any more since March 2026: plan the move
    to another controller.

    References
    - https://github.com/traefik/traefik/issues/8098
    - https://kubernetes.io/blog/2025/03/24/ingress-nginx-CVE-2025-1974/
    - https://www.kubernetes.io/blog/2025/11/11/ingress-nginx-retirement/
    """
    for one in controllers_of(scene, "traefik", "ingress-nginx"):
        if not one.version:
            yield Unknown(f"the tag of `{one.container.image}` names no version", one.object)
            continue
        found = [row for row in _bad_versions() if row.product == one.product and _hit(one, row)]
        if not found:
            yield Pass(one.object)
        for row in found:
            yield Gap(
                one.object,
                f"{one.name} {'.'.join(map(str, one.version))}: {row.what}",
                (*one.container.path, "image"),
                evidence=(f"image: {one.container.image}", f"source: {row.source}"),
                fix=f"Upgrade to {_mended(one.product)} or later.{_RETIRED.get(one.product, '')}",
                severity=row.severity,
                incidents=(row.incident,),
            )


_RETIRED = {
    "ingress-nginx": " It gets no more fixes since March 2026: plan the move to another controller.",
}


def _mended(product: str) -> str:
    """The first version without any of the faults that are known of a product."""
    return ".".join(map(str, max(row.before for row in _bad_versions() if row.product == product)))


def _hit(one: Controller, row: _BadVersion) -> bool:
    if row.flag and row.flag not in one.flags:
        return False
    return one.version[:2] >= row.since[:2] and one.before(*row.before)


CHECKS = (controller_bad_version, controller_unknown_setting, ing_unknown_annotation)
