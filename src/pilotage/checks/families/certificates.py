"""Certificates that routes and webhooks use: whether they are there, hold, and fit the hosts."""
# ruff: noqa: D205, D212, D416 - the docstring of a check is its page, in fixed sections

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import msgspec

from pilotage.checks.absence import folder_of, surely_absent
from pilotage.checks.certificate import Certificate, NotACertificate, first_in_pem
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
from pilotage.checks.placeholders import left_open
from pilotage.checks.scene import Scene
from pilotage.checks.values import KeyPath, as_int, as_list, as_map, as_text, dig, duration, human_seconds

KIAM = "dfds-2020-01-21-kiam-server-certificate-expired"
TEAMS = "microsoft-2020-02-03-teams-expired-auth-certificate"
O2 = "ericsson-o2-2018-12-06-sgsn-mme-expired-certificate"
METAKUBE = "syseleven-2024-02-10-expired-client-cert-stale-lb-config"
WRONG_CLUSTER = "uk-ministry-of-justice-2021-07-12-default-certificate-applied-to-wrong-cluster"
LATER_ROUTES = "dfds-2021-09-17-traefik-1-7-bad-secret-504"

ROUTES = ("Ingress", "IngressRoute", "HTTPProxy", "Gateway")
HOOKS = ("ValidatingWebhookConfiguration", "MutatingWebhookConfiguration", "APIService")
_SOON = timedelta(days=21)
_ENOUGH_SECONDS = 7 * 86_400
_LONG_LIVED_SECONDS = 30 * 86_400
_GATEWAY_API = "gateway.networking.k8s.io"
_LONGEST_BUNDLE = 400_000
_SHORTEST = 12


class _Use(msgspec.Struct, frozen=True):
    """A route that ends TLS with the certificate of a Secret.

    Attributes:
        route: the route.
        path: where it names the Secret.
        secret: the Secret's name.
        hosts: the hosts for which it is to serve; empty where the route does not say.
        namespace: the Secret's; empty means that of the route.
    """

    route: KubeObject
    path: KeyPath
    secret: str
    hosts: tuple[str, ...]
    namespace: str = ""


def _uses(scene: Scene) -> Iterator[_Use]:
    for route in scene.of("Ingress"):
        for position, item in enumerate(as_list(route.spec.get("tls"))):
            hosts = tuple(host for host in as_list(dig(item, "hosts")) if isinstance(host, str))
            yield _Use(
                route, ("spec", "tls", position, "secretName"), as_text(dig(item, "secretName")), hosts
            )
    for route in scene.of("IngressRoute"):
        yield _Use(route, ("spec", "tls", "secretName"), as_text(route.get("spec", "tls", "secretName")), ())
    for route in scene.of("HTTPProxy"):
        path: KeyPath = ("spec", "virtualhost", "tls", "secretName")
        host = as_text(route.get("spec", "virtualhost", "fqdn"))
        # `namespace/name` is a delegation, which only the owner of the Secret can follow.
        name = as_text(route.get(*path))
        yield _Use(route, path, "" if "/" in name else name, (host,) if host else ())
    for route in scene.of("Gateway"):
        if route.group == _GATEWAY_API:
            yield from _listeners(route)


def _listeners(gateway: KubeObject) -> Iterator[_Use]:
    for position, listener in enumerate(as_list(gateway.spec.get("listeners"))):
        host = as_text(dig(listener, "hostname"))
        for place, item in enumerate(as_list(dig(listener, "tls", "certificateRefs"))):
            if as_text(dig(item, "kind")) in {"", "Secret"}:
                path = ("spec", "listeners", position, "tls", "certificateRefs", place)
                name, space = as_text(dig(item, "name")), as_text(dig(item, "namespace"))
                yield _Use(gateway, path, name, (host,) if host else (), space)


def _text_of(secret: KubeObject, key: str) -> str | None:
    """A key of a Secret as text; None where the scene does not hold its data."""
    plain = as_map(secret.data.get("stringData")).get(key)
    if isinstance(plain, str):
        return plain
    data = secret.data.get("data")
    if not isinstance(data, dict):
        return None
    coded = data.get(key)
    if not isinstance(coded, str):
        return "" if coded is None else None
    return _decoded(coded)


def _decoded(coded: str) -> str:
    if len(coded) > _LONGEST_BUNDLE:
        return ""
    try:
        return base64.b64decode("".join(coded.split()), validate=True).decode("utf-8", "replace")
    except (binascii.Error, ValueError):
        return ""


def _managed(scene: Scene, secret: KubeObject) -> bool:
    """Whether cert-manager renews it; what it has made bears its annotations."""
    if any(str(key).startswith("cert-manager.io/") for key in secret.annotations):
        return True
    if scene.live:
        return False
    return any(
        as_text(one.spec.get("secretName")) == secret.name and secret.namespace in {one.namespace, ""}
        for one in scene.of("Certificate")
    )


@check(
    "ing-tls-expiry",
    title="A certificate in use has ended or ends within three weeks",
    severity=Severity.HIGH,
    incidents=(KIAM, TEAMS, O2, METAKUBE),
    about=(*ROUTES, *HOOKS),
    needs=("Secret",),
)
def ing_tls_expiry(scene: Scene) -> Answers:
    """
    What it does
    Reads the certificates in Secrets that Ingresses, IngressRoutes, HTTPProxies and Gateways name, and the
    `caBundle` of webhooks and APIServices. It tells of those that have ended and of those that end within 21
    days. A Secret that cert-manager renews is told only when it has ended.

    Why it matters
    At that second every client refuses the connection. Nothing in the cluster changes, so nothing is rolled
    back, and the one who knows how to renew it is often not the one on call. An ended `caBundle` lets every
    call of a webhook fail, and with it every change of what it covers.

    Incidents
    The certificate of KIAM at DFDS, one of Microsoft Teams, those in Ericsson's nodes of a mobile network for
    30 million people, and a client certificate at SysEleven ran out in use, unwatched.

    Fix
    Renew it, and let something renew it from now on (cert-manager, the cloud). Alert on the end date as the
    running endpoint shows it, weeks ahead.

    References
    - https://kubernetes.io/docs/concepts/configuration/secret/#tls-secrets
    - https://cert-manager.io/docs/usage/certificate/#renewal
    """
    now = datetime.now(tz=UTC)
    told: set[int] = set()
    for use in _uses(scene):
        secret = scene.find("Secret", use.secret, use.route, use.namespace) if use.secret else None
        if secret is None or id(secret) in told:
            continue
        told.add(id(secret))
        text = _text_of(secret, "tls.crt")
        if not text:
            yield Unknown("its data is not in the scene", secret)
            continue
        try:
            found = first_in_pem(text)
        except NotACertificate:
            yield NotApplicable(secret, "see ing-tls-secret-broken")
            continue
        managed = _managed(scene, secret)
        yield _life(secret, ("data", "tls.crt"), found, now if managed else now + _SOON, use.route)
    yield from _bundles(scene, now)


def _life(
    subject: KubeObject, path: KeyPath, found: Certificate, until: datetime, user: KubeObject
) -> Answer:
    if found.ends > until:
        return Pass(subject)
    ended = found.ends <= datetime.now(tz=UTC)
    return Gap(
        subject,
        f"The certificate {'ended' if ended else 'ends'} on {found.ends:%Y-%m-%d}, and {user.key} uses it",
        path,
        evidence=(f"not after: {found.ends:%Y-%m-%d}", f"names: {', '.join(found.names[:5]) or 'none'}"),
        severity=Severity.CRITICAL if ended else Severity.HIGH,
        related=() if user is subject else (user,),
    )


def _bundles(scene: Scene, now: datetime) -> Iterator[Answer]:
    for hook in scene.webhooks:
        bundle = as_text(dig(hook.data, "clientConfig", "caBundle"))
        yield from _bundle(hook.object, (*hook.path, "clientConfig", "caBundle"), bundle, now)
    for one in scene.of("APIService"):
        yield from _bundle(one, ("spec", "caBundle"), as_text(one.spec.get("caBundle")), now)


def _bundle(one: KubeObject, path: KeyPath, coded: str, now: datetime) -> Iterator[Answer]:
    try:
        found = first_in_pem(_decoded(coded)) if coded else None
    except NotACertificate:
        # A placeholder that an injector fills in.
        return
    if found is not None:
        yield _life(one, path, found, now + _SOON, one)


@check(
    "ing-tls-secret-broken",
    title="A route names a TLS Secret that is absent or holds no certificate",
    severity=Severity.HIGH,
    breaks=True,
    incidents=(LATER_ROUTES,),
    about=ROUTES,
    needs=("Secret",),
)
def ing_tls_secret_broken(scene: Scene) -> Answers:
    """
    What it does
    Follows the TLS Secrets that Ingresses, IngressRoutes, HTTPProxies and Gateways name. It tells of Secrets
    that are absent, and of those without `tls.crt` and `tls.key` or with something else in `tls.crt`, unless
    that is a placeholder: a word or less, or a comment beside it says so. In
    files a Secret counts as absent only where they hold other Secrets of that namespace or folder; one that
    cert-manager, External Secrets or Sealed Secrets make is not missing.

    Why it matters
    Most controllers then serve a certificate of their own making, which every client refuses. Some pass over
    the whole route; some stop taking up routes of others.

    Incidents
    At DFDS one Ingress referred to a Secret in a form that Traefik 1.7 did not expect. From then on no route
    that came later worked, for any team.

    Fix
    Create the Secret with `kubectl create secret tls` in the namespace of the route, before the route.

    References
    - https://kubernetes.io/docs/concepts/services-networking/ingress/#tls
    - https://kubernetes.github.io/ingress-nginx/user-guide/tls/
    """
    made = _made_elsewhere(scene)
    told: set[int] = set()
    for use in _uses(scene):
        answer = _secret_answer(scene, use, made) if use.secret else None
        if answer is None:
            continue
        if isinstance(answer, Gap) and answer.subject is not use.route:
            if id(answer.subject) in told:
                continue
            told.add(id(answer.subject))
        yield answer


def _made_elsewhere(scene: Scene) -> set[str]:
    """Names of Secrets that a controller will make from something else in the files."""
    if scene.live:
        return set()
    found = {as_text(one.spec.get("secretName")) for one in scene.of("Certificate")}
    found |= {one.name for one in scene.of("SealedSecret", "ExternalSecret", "OnePasswordItem")}
    found |= {as_text(one.get("spec", "target", "name")) for one in scene.of("ExternalSecret")}
    return found - {""}


def _secret_answer(scene: Scene, use: _Use, made: set[str]) -> Answer:
    secret = scene.find("Secret", use.secret, use.route, use.namespace)
    if secret is None:
        return _absent_secret(scene, use, made)
    certificate, key = _text_of(secret, "tls.crt"), _text_of(secret, "tls.key")
    if certificate is None or key is None:
        return Unknown("its data is not in the scene", secret)
    if _placeholder(secret, certificate):
        return Unknown("its data is a placeholder", secret)
    why = _fault(certificate, key)
    if not why:
        return Pass(use.route)
    return Gap(
        secret,
        f"{use.route.key} takes its certificate from here, and {why}",
        ("data",),
        evidence=(why, f"type: {as_text(secret.data.get('type')) or 'Opaque'}"),
        related=(use.route,),
    )


def _placeholder(secret: KubeObject, certificate: str) -> bool:
    """Whether nobody means it for a certificate: it says so, a comment does, or it is a letter or two."""
    if 0 < len(certificate.strip()) < _SHORTEST or certificate[:1] == "<":
        return True
    return left_open(secret, ("data", "tls.crt"), certificate)


def _absent_secret(scene: Scene, use: _Use, made: set[str]) -> Answer:
    automatic = any("cert-manager.io/" in str(key) for key in use.route.annotations)
    automatic = automatic or use.route.annotations.get("kubernetes.io/tls-acme") == "true"
    if automatic or use.secret in made:
        return NotApplicable(use.route, "a controller makes its Secret")
    if not _keeps_certificates(scene, use):
        return Unknown(f"Secret `{use.secret}` is not among the files", use.route, use.path)
    return Gap(
        use.route,
        f"Secret `{use.secret}`, from which it is to take its certificate, does not exist",
        use.path,
        evidence=(f"secretName: {use.secret}",),
        confidence=Confidence.HIGH if scene.live else Confidence.MEDIUM,
    )


def _keeps_certificates(scene: Scene, use: _Use) -> bool:
    """Whether the files would hold the Secret if there was one: they hold others of its type."""
    if not surely_absent(scene, "Secret", use.secret, use.route, use.namespace):
        return False
    if scene.live:
        return True
    wanted, folder = use.namespace or use.route.namespace, folder_of(use.route)
    return any(
        one.namespace == wanted and (wanted or folder_of(one) == folder)
        for one in scene.of("Secret")
        if one.data.get("type") == "kubernetes.io/tls" or _text_of(one, "tls.crt") is not None
    )


def _fault(certificate: str, key: str) -> str:
    if not certificate:
        return "tls.crt is absent, empty or not base64"
    try:
        first_in_pem(certificate)
    except NotACertificate as error:
        return f"tls.crt holds no certificate ({error})"
    return "" if key.strip() else "tls.key is absent, empty or not base64"


@check(
    "ing-tls-name-mismatch",
    title="A host is served with a certificate that is not for its name",
    severity=Severity.HIGH,
    breaks=True,
    incidents=(WRONG_CLUSTER,),
    about=ROUTES,
    needs=("Secret",),
)
def ing_tls_name_mismatch(scene: Scene) -> Answers:
    """
    What it does
    Compares the hosts for which a route ends TLS with the names in the certificate of its Secret. A wildcard
    stands for one label.

    Why it matters
    Clients refuse the connection, whatever the certificate's date; the application never sees a request.

    Incidents
    At the UK's Ministry of Justice the certificate of one cluster was put into another. Every site there
    failed, since its name was not among the certificate's.

    Fix
    Issue the certificate for these hosts, or name the Secret that holds the right one.

    References
    - https://kubernetes.io/docs/concepts/services-networking/ingress/#tls
    - https://www.rfc-editor.org/rfc/rfc6125#section-6.4
    """
    for use in _uses(scene):
        secret = scene.find("Secret", use.secret, use.route, use.namespace) if use.secret else None
        text = _text_of(secret, "tls.crt") if secret is not None else None
        if secret is None or not text:
            continue
        try:
            found = first_in_pem(text)
        except NotACertificate:
            continue
        wrong = [host for host in use.hosts if host.strip("*") and not _covered(found, host)]
        if not wrong or not found.names:
            yield Pass(use.route)
            continue
        yield Gap(
            use.route,
            f"The certificate of {secret.key} is not for {', '.join(wrong[:5])}",
            use.path,
            evidence=(f"hosts: {', '.join(wrong[:5])}", f"names: {', '.join(found.names[:5])}"),
            related=(secret,),
        )


def _covered(found: Certificate, host: str) -> bool:
    return host in found.names if host.startswith("*.") else found.covers(host)


@check(
    "cert-renews-late",
    title="A certificate is renewed so late that nobody can step in when that fails",
    severity=Severity.MEDIUM,
    incidents=(),
    alike=(KIAM, TEAMS),
    about=("Certificate",),
)
def cert_renews_late(scene: Scene) -> Answers:
    """
    What it does
    Compares `renewBefore` or `renewBeforePercentage` of cert-manager's Certificates with seven days.
    Certificates that live for less than thirty days are short on purpose and are left alone, as are those
    that say nothing: cert-manager then renews when a third of their life is left.

    Why it matters
    A renewal fails for reasons outside of the cluster: a limit of the issuer, a changed DNS zone, a key that
    was taken away. What is left of the old certificate is the time in which somebody can notice and mend it;
    a day is a weekend too short.

    Incidents
    At DFDS and at Microsoft Teams a certificate ran out in use, and the time to notice was nil. Both were
    renewed by hand; the end is the same for one whose automatic renewal failed the day before.

    Fix
    Leave `renewBefore` away or set it to a third of `duration`, and alert on certificates that are not ready.

    References
    - https://cert-manager.io/docs/usage/certificate/#renewal
    """
    for one in scene.of("Certificate"):
        life = duration(one.spec.get("duration", "2160h"))
        left, key = _left_at_renewal(one, life)
        if life is None or left is None:
            yield NotApplicable(one, "it leaves the time of renewal to cert-manager")
        elif life < _LONG_LIVED_SECONDS:
            yield NotApplicable(one, "it is short-lived on purpose")
        elif left >= _ENOUGH_SECONDS:
            yield Pass(one)
        else:
            yield Gap(
                one,
                f"It is renewed {human_seconds(left)} before it ends, of a life of {human_seconds(life)}",
                ("spec", key),
                evidence=(
                    f"{key}: {one.spec.get(key)}",
                    f"duration: {one.spec.get('duration', '2160h (the default)')}",
                ),
                patch=(Operation("remove", ("spec", key)),),
            )


def _left_at_renewal(one: KubeObject, life: float | None) -> tuple[float | None, str]:
    """Seconds of its life that are left when it is renewed, and the field that says so."""
    share = as_int(one.spec.get("renewBeforePercentage"))
    if share is not None and life is not None:
        return life * share / 100, "renewBeforePercentage"
    stated = one.spec.get("renewBefore")
    return None if stated is None else duration(stated), "renewBefore"


CHECKS = (cert_renews_late, ing_tls_expiry, ing_tls_name_mismatch, ing_tls_secret_broken)
