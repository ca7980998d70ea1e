"""What controllers know, by version."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest

from pilotage.checks.dialect import load
from pilotage.checks.known_settings import FILES, Known, Standing, default_of, default_seconds, known_by
from pilotage.library.shipped import bundled_files


def known(product: str) -> Known:
    found = known_by(product)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("table", "key", "version", "standing"),
    [
        ("annotations", "proxy-read-timeout", (1, 13, 3), Standing.KNOWN),
        ("annotations", "proxy-read-timeout", (), Standing.KNOWN),
        ("annotations", "custom-headers", (1, 10, 0), Standing.TOO_NEW),
        ("annotations", "custom-headers", (1, 11, 0), Standing.KNOWN),
        ("annotations", "enable-opentracing", (1, 10, 0), Standing.GONE),
        ("annotations", "enable-opentracing", (), Standing.KNOWN),
        ("annotations", "secure-backend", (1, 13, 3), Standing.UNKNOWN),
        ("annotations", "secure-backend", (1, 99), Standing.KNOWN),
        ("settings", "enable-serial-reloads", (1, 11, 0), Standing.KNOWN),
        ("settings", "annotations-risk-level", (1, 8, 0), Standing.TOO_NEW),
        ("flags", "validating-webhook", (1, 0, 0), Standing.KNOWN),
        ("flags", "disable-leader-election", (1, 10, 0), Standing.TOO_NEW),
    ],
)
def test_of_ingress_nginx(table: str, key: str, version: tuple[int, ...], standing: Standing) -> None:
    assert known("ingress-nginx").standing(table, key, version) is standing


def test_keys_with_a_number_in_them() -> None:
    traefik = known("traefik")
    assert traefik.standing("annotations", "router.tls.domains.12.main", (3, 1)) is Standing.KNOWN
    assert traefik.standing("annotations", "router.tls.domains.x.main", (3, 1)) is Standing.UNKNOWN


def test_where_there_is_one_list_annotations_are_the_settings() -> None:
    for product in ("haproxy-ingress", "haproxytech", "traefik"):
        one = known(product)
        assert one.tables["annotations"] == one.tables["settings"]


def test_the_nearest_key_is_offered() -> None:
    assert known("ingress-nginx").nearest("annotations", "proxy-read-timout") == "proxy-read-timeout"
    assert known("ingress-nginx").nearest("annotations", "xyz") == ""


def test_of_others_there_is_no_list() -> None:
    assert known_by("kong") is None


@pytest.mark.parametrize("name", sorted(FILES.values()))
def test_data_names_its_source_and_well_formed_ranges(name: str) -> None:
    data = load(files("pilotage.checks").joinpath(f"data/{name}.yaml").read_text("utf-8"))
    assert data["source"]["repository"].startswith("https://github.com/")
    assert data["prefix"].endswith("/")
    for table in ("annotations", "settings", "flags"):
        for key, value in data.get(table, {}).items():
            assert re.fullmatch(r"[a-z0-9][a-z0-9.*-]*", key), key
            assert value is None or re.fullmatch(r"(\d+\.\d+)?-(\d+\.\d+)?", value), (key, value)


def test_bad_versions_name_incident_and_source() -> None:
    rows = load(files("pilotage.checks").joinpath("data/bad_versions.yaml").read_text("utf-8"))["versions"]
    incidents = {path.stem for path in bundled_files()}
    for row in rows:
        assert row["incident"] in incidents
        assert row["source"].startswith("https://")
        assert re.fullmatch(r"\d+\.\d+", row["since"])
        assert re.fullmatch(r"\d+\.\d+\.\d+", row["before"])


@pytest.mark.parametrize(
    ("key", "version", "value"),
    [
        ("allow-snippet-annotations", (1, 8, 1), "true"),
        ("allow-snippet-annotations", (1, 9, 0), "false"),
        ("allow-snippet-annotations", (), None),
        ("strict-validate-path-type", (1, 11, 5), "false"),
        ("strict-validate-path-type", (1, 12), "true"),
        ("max-worker-connections", (), "16384"),
        ("no-such-key", (1, 12), None),
    ],
)
def test_defaults_by_version(key: str, version: tuple[int, ...], value: str | None) -> None:
    found = default_of("ingress-nginx", key, version)
    assert (found.value if found is not None else None) == value


def test_defaults_that_are_durations() -> None:
    assert default_seconds("ingress-nginx", "worker-shutdown-timeout", (1, 12)) == 240
    assert default_seconds("ingress-nginx", "worker-shutdown-timeout", (0, 25, 1)) == 10
    assert default_seconds("traefik", "graceTimeOut", (3, 1)) == 10
    assert default_seconds("istio-gateway", "terminationDrainDuration") == 5
    assert default_seconds("traefik", "no-such-key") == 0


def test_every_default_names_its_source() -> None:
    rows = load(files("pilotage.checks").joinpath("data/controller_defaults.yaml").read_text("utf-8"))[
        "defaults"
    ]
    for row in rows:
        found = default_of(row["product"], row["key"], (99, 0) if "before" not in row else (0, 1))
        assert found is not None
        assert found.source.startswith("https://")
