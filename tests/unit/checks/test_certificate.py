"""The few fields of a certificate that are read, against a library that reads all of them."""

from __future__ import annotations

import base64
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID
from hypothesis import given
from hypothesis import strategies as st

from pilotage.checks.certificate import Certificate, NotACertificate, first_in_pem
from pilotage.checks.families.certificates import ing_tls_expiry, ing_tls_secret_broken
from pilotage.checks.model import Gap, Pass, Severity, Unknown
from pilotage.checks.objects import KubeObject
from pilotage.checks.scene import Scene

KEY = ec.generate_private_key(ec.SECP256R1())
NOW = datetime.now(tz=UTC).replace(microsecond=0)


def issued(
    names: list[str], *, begins: datetime = NOW - timedelta(days=1), ends: datetime, address: bool = False
) -> str:
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "common.example")])
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(KEY.public_key())
    builder = builder.serial_number(7).not_valid_before(begins).not_valid_after(ends)
    builder = builder.add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
    others: list[x509.GeneralName] = [x509.DNSName(one) for one in names]
    others += [x509.IPAddress(ip_address("192.0.2.1"))] if address else []
    if others:
        builder = builder.add_extension(x509.SubjectAlternativeName(others), critical=False)
    return builder.sign(KEY, hashes.SHA256()).public_bytes(Encoding.PEM).decode()


@pytest.mark.parametrize("year", [1999, 2030, 2049, 2050, 2120])
@pytest.mark.parametrize("names", [[], ["a.example"], ["a.example", "*.b.example"]])
def test_dates_and_names_are_those_of_the_library(year: int, names: list[str]) -> None:
    ends = datetime(year, 6, 1, 12, 30, 45, tzinfo=UTC)
    text = issued(names, begins=ends - timedelta(days=90), ends=ends, address=year == 2030)
    found, known = first_in_pem(text), x509.load_pem_x509_certificate(text.encode())
    assert (found.begins, found.ends) == (known.not_valid_before_utc, known.not_valid_after_utc)
    assert list(found.names) == (names or ["common.example"])
    assert found.addresses is (year == 2030)


def test_of_a_chain_the_first_is_read() -> None:
    first, second = issued(["a.example"], ends=NOW), issued(["b.example"], ends=NOW)
    assert first_in_pem("a comment\n" + first + second).names == ("a.example",)


@pytest.mark.parametrize(
    ("host", "covered"),
    [
        ("a.example", True),
        ("A.Example.", True),
        ("x.b.example", True),
        ("x.y.b.example", False),
        ("b.example", False),
        ("a.example.org", False),
    ],
)
def test_which_hosts_it_covers(host: str, covered: bool) -> None:
    one = Certificate(NOW, NOW, ("a.example", "*.b.example"), addresses=False)
    assert one.covers(host) is covered


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no certificate",
        "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----",
        "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----",
        "-----BEGIN CERTIFICATE-----\nMIID\n-----END CERTIFICATE-----",
        "-----BEGIN CERTIFICATE-----\n!!!!\n-----END CERTIFICATE-----",
    ],
)
def test_what_is_none_is_refused(text: str) -> None:
    with pytest.raises(NotACertificate):
        first_in_pem(text)


WHOLE = base64.b64decode("".join(issued(["a.example"], ends=NOW).splitlines()[1:-1]))


@given(st.integers(0, len(WHOLE) - 1), st.integers(0, 255), st.integers(0, len(WHOLE)))
def test_a_spoilt_one_is_read_or_refused(at: int, value: int, length: int) -> None:
    spoilt = bytearray(WHOLE)
    spoilt[at] = value
    body = base64.b64encode(bytes(spoilt[:length])).decode()
    try:
        found = first_in_pem(f"-----BEGIN CERTIFICATE-----\n{body}\n-----END CERTIFICATE-----\n")
    except NotACertificate:
        return
    assert found.ends.tzinfo is UTC


def scene_of(certificate: str | None, **more: object) -> Scene:
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "tls", "namespace": "shop", **more},
        "type": "kubernetes.io/tls",
    }
    if certificate is not None:
        encoded = base64.b64encode(certificate.encode()).decode()
        secret["data"] = {"tls.crt": encoded, "tls.key": base64.b64encode(b"key").decode()}
    ingress = {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "Ingress",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"tls": [{"secretName": "tls"}]},
    }
    return Scene([KubeObject(secret), KubeObject(ingress)], live=True)


@pytest.mark.parametrize(("days", "gap"), [(20, True), (22, False)])
def test_three_weeks_before_the_end_it_is_told(days: int, gap: bool) -> None:
    (answer,) = ing_tls_expiry.look(scene_of(issued([], ends=NOW + timedelta(days=days, hours=1))))
    if gap:
        assert isinstance(answer, Gap)
        assert answer.severity is Severity.HIGH
        assert " ends on " in answer.message
    else:
        assert isinstance(answer, Pass)


def test_what_cert_manager_renews_is_told_only_when_it_has_ended() -> None:
    annotations = {"cert-manager.io/certificate-name": "web"}
    soon = scene_of(issued([], ends=NOW + timedelta(days=3)), annotations=annotations)
    (answer,) = ing_tls_expiry.look(soon)
    assert isinstance(answer, Pass)


def test_a_secret_without_its_data_is_unknown() -> None:
    for check in (ing_tls_expiry, ing_tls_secret_broken):
        (answer,) = check.look(scene_of(None))
        assert isinstance(answer, Unknown)
