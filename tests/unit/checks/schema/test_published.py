"""The packaged definitions: what they hold, and that their two sources agree."""

from __future__ import annotations

import pytest

from pilotage.checks.schema.codes import Code, parse
from pilotage.checks.schema.lifecycle import lives, standing
from pilotage.checks.schema.published import (
    Definitions,
    definitions,
    kinds_of,
    minors,
    nearest_minor,
    renamed,
    served,
    server_rows,
    table,
)
from pilotage.checks.schema.shapes import Free, Scalar, Sequence, Struct


def test_thirteen_versions_with_their_origin() -> None:
    assert minors() == tuple(range(25, 38))
    for minor, row in table()["versions"].items():
        assert row["release"].startswith(f"v1.{minor}.")
        assert len(row["sha256"]) == 64


@pytest.mark.parametrize(
    ("code", "parts"),
    [
        ("s", Code("", "s")),
        ("[@core.v1.EnvVar|name", Code("[", "core.v1.EnvVar", named=True, keys=("name",))),
        ("{[s", Code("{[", "s")),
        ("[s=A|B", Code("[", "s", allowed=("A", "B"))),
        ("[@x|a,b", Code("[", "x", named=True, keys=("a", "b"))),
    ],
)
def test_codes(code: str, parts: Code) -> None:
    assert parse(code) == parts


@pytest.mark.parametrize("code", ["", "x", "[", "ss", "{z"])
def test_what_is_no_code_is_refused(code: str) -> None:
    with pytest.raises(ValueError, match="no code"):
        parse(code)


@pytest.mark.parametrize("minor", range(25, 38))
def test_every_type_of_every_version_can_be_made(minor: int) -> None:
    made = Definitions(minor)
    for kind, versions in kinds_of(minor).items():
        for version in versions:
            shape = made.of(version, kind)
            assert isinstance(shape, Struct)
            assert shape.fields, kind
    for name, shape in made._made.items():
        assert name in table()["types"], "a type that nothing defines"
        assert set(shape.required) <= set(shape.fields), name


def test_a_field_with_its_versions() -> None:
    old, new = definitions(26).named("core.v1.Container"), definitions(36).named("core.v1.Container")
    assert "restartPolicy" in new.fields
    assert old.known["restartPolicy"] == (28, 37)
    assert "image" not in old.known


def test_types_of_fields() -> None:
    container = definitions(36).named("core.v1.Container")
    ports = container.fields["ports"]
    assert isinstance(ports, Sequence)
    assert ports.keys == ("containerPort", "protocol")
    policy = container.fields["imagePullPolicy"]
    assert isinstance(policy, Scalar)
    assert policy.allowed == ("Always", "IfNotPresent", "Never")
    limits = definitions(36).named("core.v1.ResourceRequirements").fields["limits"]
    assert isinstance(limits, Free)
    assert isinstance(limits.value, Scalar)
    assert limits.value.code == "q"


def test_a_version_beyond_the_table_is_judged_by_the_nearest() -> None:
    assert nearest_minor((1, 20)) == 25
    assert nearest_minor((1, 99)) == 37
    assert nearest_minor((1, 30)) == 30


def test_tables_name_types_and_fields_that_exist() -> None:
    for section in ("not_demanded", "empty_refused", "repeats_accepted"):
        rows = server_rows(section)
        assert rows
        for row in rows:
            name, _, field = row.rpartition(".")
            assert field in table()["types"][name], row
    for row in renamed():
        name, _, field = row.rpartition(".")
        assert name in table()["types"], row
        assert field not in table()["types"][name], "the type has it after all"


def test_what_was_planned_and_what_is_served_agree() -> None:
    """An API that is said to be removed in a version is not in that version's definitions, with few exceptions."""
    contradicted = set()
    for key, life in lives().items():
        known = served(*key.split(" "))
        if known is None or life.removed is None or not minors()[0] < life.removed[1] <= minors()[-1]:
            continue
        if known.last != life.removed[1] - 1:
            contradicted.add(key)
    # Alpha and beta versions whose end was moved; the definitions count.
    assert all("alpha" in key or "beta" in key for key in contradicted)
    assert len(contradicted) < 12, contradicted


def test_removed_long_ago_is_in_no_definition() -> None:
    for key, life in lives().items():
        if life.removed is not None and life.removed[1] <= minors()[0]:
            assert served(*key.split(" ")) is None, key


@pytest.mark.parametrize(
    ("version", "kind", "target", "gone", "instead"),
    [
        ("batch/v1beta1", "CronJob", (1, 24), None, "batch/v1"),
        ("batch/v1beta1", "CronJob", (1, 25), (1, 25), "batch/v1"),
        ("extensions/v1beta1", "Ingress", (1, 36), (1, 22), "networking.k8s.io/v1"),
        ("autoscaling/v2beta2", "HorizontalPodAutoscaler", (1, 26), (1, 26), "autoscaling/v2"),
        ("autoscaling/v2beta2", "HorizontalPodAutoscaler", (1, 25), None, "autoscaling/v2"),
        (
            "flowcontrol.apiserver.k8s.io/v1beta3",
            "FlowSchema",
            (1, 32),
            (1, 32),
            "flowcontrol.apiserver.k8s.io/v1",
        ),
        ("policy/v1beta1", "PodSecurityPolicy", (1, 30), (1, 25), ""),
    ],
)
def test_standing(
    version: str, kind: str, target: tuple[int, int], gone: tuple[int, int] | None, instead: str
) -> None:
    stands = standing(version, kind, target)
    assert stands is not None
    assert stands.gone == gone
    assert stands.instead == instead


def test_what_is_current_has_no_standing() -> None:
    assert standing("apps/v1", "Deployment", (1, 36)) is None
    assert standing("example.com/v1", "Anything", (1, 36)) is None


def test_what_is_not_there_yet() -> None:
    stands = standing("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy", (1, 29))
    assert stands is not None
    assert stands.first == (1, 30)
    assert standing("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy", (1, 30)) is None
