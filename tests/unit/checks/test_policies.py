"""Policies say what their checks say: tried on the fixtures with our own evaluation, without a server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from pilotage.checks.objects import KubeObject
from pilotage.checks.own.evaluation import Asked, Evaluator, Question
from pilotage.checks.own.lowering import functions_of, lowered, unfolded
from pilotage.checks.own.parser import parse
from pilotage.checks.own.reading import read_text
from pilotage.checks.policies.from_own import policy_of
from pilotage.checks.policies.policy import RESOURCES, NotExpressible, Policy
from pilotage.checks.policies.shipped import shipped_policies, stated_reasons, why_not
from pilotage.checks.policies.writing import Binding, Telling, as_yaml, objects_of
from pilotage.checks.readers.files import read_paths
from pilotage.checks.registry import all_checks

FIXTURES = Path(__file__).parents[2] / "golden" / "checks"
POLICIES = {id_: one for id_, one in shipped_policies().items() if id_ in all_checks()}
TELLING = Telling("A title", "high", "Do it.", ("Somewhere 2020: something fell over",))


@pytest.fixture(scope="module")
def evaluator() -> Iterator[Evaluator]:
    with Evaluator() as running:
        yield running


def written(policy: Policy) -> dict[str, Any]:
    return objects_of(policy, TELLING, Binding("Deny"))[0]["spec"]


def verdicts(policy: Policy, one: KubeObject, old: Any, evaluator: Evaluator) -> list[Any]:
    """What the written expressions say of an object, whose forerunner `old` may be null."""
    spec = written(policy)
    known = {}
    for variable in spec.get("variables", []):
        known[variable["name"]] = unfolded(parse(variable["expression"]), known)
    nodes = [unfolded(parse(one["expression"]), known) for one in spec["validations"]]
    question = Question(
        "",
        tuple((lowered(node), "") for node in nodes),
        tuple(sorted({name for node in nodes for name in functions_of(node)})),
    )
    (answer,) = evaluator.ask(question, [Asked({"object": dict(one.data), "oldObject": old})])
    return [held.get("value", held) for held in answer["held"][0]]


def subjects(policy: Policy, fixture: Path) -> list[KubeObject]:
    return [
        one
        for one in read_paths([str(fixture)]).objects
        if one.kind in RESOURCES and RESOURCES[one.kind] in policy.resources and "beta" not in one.api_version
    ]


def fixtures(policy: Policy, *beginnings: str) -> list[Path]:
    return sorted(path for path in (FIXTURES / policy.check).iterdir() if path.name.startswith(beginnings))


@pytest.mark.parametrize("policy", POLICIES.values(), ids=lambda one: one.check)
def test_policy_agrees_with_its_check_on_the_fixtures(policy: Policy, evaluator: Evaluator) -> None:
    for fixture in fixtures(policy, "bad-"):
        found = [verdicts(policy, one, None, evaluator) for one in subjects(policy, fixture)]
        refused = any(False in verdict for verdict in found)
        assert refused == (fixture.stem not in policy.unseen_fixtures), (fixture.name, found)
    for fixture in fixtures(policy, "ok-", "near-"):
        for one in subjects(policy, fixture):
            assert all(said is True for said in verdicts(policy, one, None, evaluator)), fixture.name


@pytest.mark.parametrize("policy", POLICIES.values(), ids=lambda one: one.check)
def test_an_object_that_had_the_gap_can_be_updated(policy: Policy, evaluator: Evaluator) -> None:
    good = next(one for fixture in fixtures(policy, "ok-") for one in subjects(policy, fixture))
    for fixture in fixtures(policy, "bad-"):
        for one in subjects(policy, fixture):
            assert all(said is True for said in verdicts(policy, one, dict(one.data), evaluator)), (
                fixture.name
            )
            if False in verdicts(policy, one, None, evaluator) and one.kind == good.kind:
                assert False in verdicts(policy, one, dict(good.data), evaluator), fixture.name


@pytest.mark.parametrize("policy", shipped_policies().values(), ids=lambda one: one.check)
def test_policy_is_complete(policy: Policy) -> None:
    assert policy.resources
    assert policy.conditions
    assert all(condition.message and "\n" not in condition.message for condition in policy.conditions)
    policy_object, binding = objects_of(policy, TELLING, Binding("Audit", ("kube-system", "ops")))
    assert binding["spec"]["policyName"] == policy_object["metadata"]["name"]
    assert "Somewhere 2020: something fell over." in policy_object["spec"]["validations"][0]["message"]
    text = as_yaml([policy_object, binding])
    assert list(yaml.safe_load_all(text)) == [policy_object, binding]


def test_every_check_is_a_policy_or_has_a_reason() -> None:
    checks = all_checks()
    assert len(POLICIES) >= 10
    for id_, one in checks.items():
        assert bool(why_not(one)) != (id_ in POLICIES), id_
    assert not set(stated_reasons()) & set(shipped_policies())


def own(**changes: str) -> Policy:
    parts = {
        "id": "shop-one",
        "title": "Something is wrong",
        "severity": "low",
        "kinds": "[Deployment]",
        "validations": "[{expression: object.spec.replicas > 2}]",
        "fix": "Do it.",
    } | changes
    text = "checks:\n  - " + "\n    ".join(f"{key}: {value}" for key, value in parts.items())
    rules, wrong = read_text(text, "own.yaml")
    assert not wrong
    return policy_of(rules[0])


def test_own_checks_become_policies() -> None:
    policy = own(
        when="object.metadata.name != 'a'",
        each="spec.template.spec.containers",
        variables="[{name: x, expression: '\"r/\"'}]",
        validations="[{expression: item.image.startsWith(variables.x), messageExpression: 'item.name'}]",
    )
    spec = written(policy)
    (validation,) = spec["validations"]
    assert validation["expression"].splitlines()[0] == (
        "(!(object.metadata.name != 'a') || "
        'object.?spec.?template.?spec.?containers.orValue([]).all(item, item.image.startsWith("r/")))'
    )
    assert "messageExpression" not in validation
    assert spec["matchConstraints"]["resourceRules"][0]["resources"] == ["deployments"]


def test_own_messages_and_kinds_become_policies() -> None:
    policy = own(
        kinds="[{kind: Certificate, group: cert-manager.io, resource: certificates}]",
        validations="[{expression: 'semver(object.spec.x).major() > 1', messageExpression: '\"no \" + object.kind'}]",
    )
    rules, _ = objects_of(policy, TELLING, Binding())
    assert rules["spec"]["validations"][0]["messageExpression"] == '"no " + object.kind'
    assert rules["spec"]["matchConstraints"]["resourceRules"][0]["apiGroups"] == ["cert-manager.io"]
    assert rules["metadata"]["annotations"]["pilotage.dev/needs-kubernetes"] == "1.33"


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"when": "services.size() > 0"}, "uses 'services'"),
        ({"validations": "[{expression: workload.replicas > 1}]"}, "uses 'workload'"),
        ({"kinds": "[Certificate]"}, "has no 'group' and 'resource'"),
    ],
)
def test_own_checks_that_cannot_be_policies(changes: dict[str, str], why: str) -> None:
    with pytest.raises(NotExpressible, match=why):
        own(**changes)


def test_reasons_and_policies_are_of_checks_that_exist() -> None:
    assert set(stated_reasons()) <= set(all_checks())
    assert set(shipped_policies()) <= set(all_checks())
