"""Users' checks answer as those that are shipped do: gaps with places, passes, and what could not be told."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from pilotage.checks.baseline import Baseline
from pilotage.checks.model import Answer, Check, Gap, NotApplicable, Pass, Severity, Unknown
from pilotage.checks.objects import KubeObject
from pilotage.checks.own.checks import check_of
from pilotage.checks.own.evaluation import Evaluator
from pilotage.checks.own.reading import read_text
from pilotage.checks.readers.assemble import assemble
from pilotage.checks.readers.files import read_text as read_manifest
from pilotage.checks.report import Report
from pilotage.checks.runner import RunSettings, run
from pilotage.checks.scene import Scene

WEB = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 2
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
        - {name: a, image: x}
        - {name: b, image: other}
"""
SERVICE = """\
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {selector: {app: web}}
"""


@pytest.fixture(scope="module")
def evaluator() -> Iterator[Evaluator]:
    with Evaluator() as running:
        yield running


def check(evaluator: Evaluator, **changes: Any) -> Check:
    parts = {
        "id": "shop-one",
        "title": "Something is wrong",
        "severity": "medium",
        "kinds": "[Deployment]",
        "validations": "[{expression: 'object.spec.replicas > 2'}]",
        "fix": "Do it.",
    } | {key: str(value) for key, value in changes.items()}
    text = "checks:\n  - " + "\n    ".join(f"{key}: {value}" for key, value in parts.items())
    rules, wrong = read_text(text, "own.yaml")
    assert not wrong
    return check_of(rules[0], evaluator)


def asked(one: Check, manifest: str, settings: RunSettings | None = None) -> tuple[Report, list[Answer]]:
    answers: list[Answer] = []
    reading = read_manifest(manifest, "web.yaml")
    assert not reading.problems
    report = run(
        {one.id: one},
        assemble(reading),
        settings,
        reading=reading,
        listener=lambda _, answer: answers.append(answer),
    )
    return report, answers


def test_a_gap_has_place_evidence_fix_and_incident(evaluator: Evaluator) -> None:
    one = check(
        evaluator,
        validations="[{expression: object.spec.replicas > 2, path: spec.replicas, message: too few}]",
        incidents="[a-2020]",
        alike="[b-2021]",
    )
    report, _ = asked(one, WEB)
    (finding,) = report.findings
    assert (finding.place.line, finding.place.path) == (5, "spec.replicas")
    assert finding.message == "too few"
    assert finding.evidence == ("spec.replicas: 2", "false: object.spec.replicas > 2")
    assert finding.fix == "Do it."
    assert finding.severity is Severity.MEDIUM
    assert [(cited.id, cited.exact) for cited in finding.incidents] == [("a-2020", True), ("b-2021", False)]


def test_several_items_are_one_finding_at_the_first(evaluator: Evaluator) -> None:
    one = check(
        evaluator,
        each="spec.template.spec.containers",
        validations="[{expression: item.image == 'z', messageExpression: '\"image \" + item.image', path: image}]",
    )
    report, _ = asked(one, WEB)
    (finding,) = report.findings
    assert finding.place.path == "spec.template.spec.containers[0].image"
    assert finding.message == "image x"
    assert "spec.template.spec.containers[1].image: image other" in finding.evidence


@pytest.mark.parametrize(
    ("changes", "kind", "why"),
    [
        ({"validations": "[{expression: object.spec.replicas == 2}]"}, Pass, ""),
        ({"when": "object.kind == 'Job'"}, NotApplicable, "'when' is not met"),
        ({"when": "object.spec.absent"}, Unknown, "'when' cannot be told: no such key: absent"),
        ({"when": "object.kind"}, Unknown, "neither true nor false"),
        ({"validations": "[{expression: object.spec.absent > 1}]"}, Unknown, "no such key: absent"),
        ({"validations": "[{expression: object.kind}]"}, Unknown, "neither true nor false"),
        ({"each": "spec.absent"}, NotApplicable, "spec.absent is empty or absent"),
        (
            {"each": "spec.template.spec.containers", "validations": "[{expression: item.port > 1}]"},
            Unknown,
            "port",
        ),
        (
            {"when": "namespaceObject.metadata.labels.a == 'b'"},
            Unknown,
            "the Namespace shop is not in what was read",
        ),
        (
            {"when": "services.size() > 0"},
            Unknown,
            "'services' cannot be told: no Service is in what was read",
        ),
        ({"when": "budgets.size() == 0"}, Unknown, "no PodDisruptionBudget is in what was read"),
        ({"validations": "[{expression: workload.replicas == 2}]"}, Pass, ""),
        (
            {
                "validations": "[{expression: workload.graceSeconds == 30 && workload.strategy == 'RollingUpdate'}]"
            },
            Pass,
            "",
        ),
    ],
)
def test_answer(evaluator: Evaluator, changes: dict[str, str], kind: type, why: str) -> None:
    _, answers = asked(check(evaluator, **changes), WEB)
    assert answers
    assert all(isinstance(answer, kind) for answer in answers), answers
    assert all(why in getattr(answer, "why", "") for answer in answers)


def test_relations(evaluator: Evaluator) -> None:
    one = check(evaluator, validations="[{expression: \"services.map(s, s.metadata.name) == ['web']\"}]")
    _, answers = asked(one, WEB + SERVICE)
    assert [type(answer) for answer in answers] == [Pass]
    assert one.needs == ("Service",)
    none = check(evaluator, validations="[{expression: budgets.size() > 0}]")
    other = "---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: x}\nspec: {selector: {matchLabels: {app: y}}}\n"
    _, answers = asked(none, WEB + other)
    assert [type(answer) for answer in answers] == [Gap]


def test_kinds_that_cannot_be_read_make_it_unknown(evaluator: Evaluator) -> None:
    one = check(evaluator, validations="[{expression: services.size() > 0}]")
    scene = Scene(
        [KubeObject({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a"}})],
        blind={"Service": "forbidden"},
        live=True,
    )
    report = run({one.id: one}, scene)
    assert [told.why for told in report.unknown] == ["Service: forbidden"]
    assert not report.findings


def test_null_is_absent_as_for_the_api_server(evaluator: Evaluator) -> None:
    one = check(evaluator, validations="[{expression: '!has(object.spec.paused)'}]")
    _, answers = asked(one, WEB.replace("replicas: 2", "paused: null"))
    assert [type(answer) for answer in answers] == [Pass]


def test_pods_of_a_controller_are_not_told_again(evaluator: Evaluator) -> None:
    owner = {"kind": "Deployment", "name": "web", "controller": True}
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "web-1", "ownerReferences": [owner]},
        "spec": {"containers": [{"name": "a", "image": "x"}]},
    }
    web = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web"},
        "spec": {"template": {"spec": pod["spec"]}},
    }
    one = check(evaluator, kinds="[Pod, Deployment]", validations="[{expression: 'false'}]")
    report = run({one.id: one}, Scene([KubeObject(web), KubeObject(pod)]))
    assert [finding.subject for finding in report.findings] == ["Deployment web"]


def test_kinds_of_other_groups(evaluator: Evaluator) -> None:
    one = check(
        evaluator,
        kinds="[{kind: Service, group: serving.knative.dev}]",
        validations="[{expression: 'false'}]",
    )
    knative = "---\napiVersion: serving.knative.dev/v1\nkind: Service\nmetadata: {name: fn}\nspec: {}\n"
    report, _ = asked(one, SERVICE + knative)
    assert [finding.place.line for finding in report.findings] == [7]


def test_ignore_and_baseline_hold(evaluator: Evaluator) -> None:
    one = check(evaluator)
    text = WEB.replace(
        "namespace: shop}", "namespace: shop, annotations: {pilotage.dev/ignore: 'shop-one: agreed'}}"
    )
    report, _ = asked(one, text)
    assert not report.findings
    assert [ignored.reason for ignored in report.ignored] == ["agreed"]
    first, _ = asked(one, WEB)
    second, _ = asked(one, "# moved\n" + WEB, RunSettings(baseline=Baseline.of(first.findings)))
    assert not second.findings
    assert len(second.known) == 1


def test_page_has_its_sections(evaluator: Evaluator) -> None:
    page = check(evaluator).page
    assert "`object.spec.replicas > 2`" in page["What it does"]
    assert page["Fix"] == "Do it."
    assert page["References"] == "- own.yaml:2:5"


def test_an_object_without_what_is_asked_for_is_unknown_with_the_reason(evaluator: Evaluator) -> None:
    bare = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 2}\n"
    image = "object.spec.template.spec.containers[0].image != 'x'"
    _, (answer,) = asked(check(evaluator, validations=f'[{{expression: "{image}"}}]'), bare)
    assert isinstance(answer, Unknown)
    assert "only a piece of an object" in answer.why
    lacking = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {}\n"
    asks = {"kinds": "[Service]", "validations": "[{expression: \"object.spec.type != 'NodePort'\"}]"}
    _, (answer,) = asked(check(evaluator, **asks), lacking)
    assert isinstance(answer, Unknown)
    assert "cannot be told: " in answer.why
    asks["validations"] = "[{expression: \"!has(object.spec.type) || object.spec.type != 'NodePort'\"}]"
    _, (answer,) = asked(check(evaluator, **asks), lacking)
    assert isinstance(answer, Pass)
