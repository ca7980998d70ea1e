"""What rules do to findings: nothing that they do not name, and nothing in silence."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import msgspec
import pytest

from pilotage.checks.model import Check, Gap, Severity
from pilotage.checks.objects import KubeObject, Place
from pilotage.checks.readers.files import read_text
from pilotage.checks.registry import all_checks
from pilotage.checks.report import Report
from pilotage.checks.rules.rule import Rule, RuleBook
from pilotage.checks.runner import RunSettings, run
from pilotage.checks.scene import Scene

TODAY = dt.date(2026, 11, 30)
CRON = """
apiVersion: batch/v1
kind: CronJob
metadata: {{name: {name}, namespace: {namespace}}}
spec:
  schedule: "*/5 * * * *"
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: Never
          containers: [{{name: a, image: "a:1"}}]
---
"""


def asked(*rules: Rule, whole: bool = True, **settings: object) -> Report:
    text = "".join(
        CRON.format(name=name, namespace=space) for name, space in (("one", "dev-a"), ("two", "prod"))
    )
    reading = read_text(text, "deploy/crons.yaml")
    book = RuleBook(rules, today=TODAY, whole=whole)
    scene = Scene(reading.objects)
    return run(all_checks(), scene, RunSettings(rules=book, **settings), reading=reading)


def told(report: Report) -> set[tuple[str, str]]:
    return {(one.check, one.subject) for one in report.findings}


EVERYTHING = told(asked())
OVERLAP = "cron-overlap-unbounded"


def test_there_is_something_to_rule() -> None:
    assert {(OVERLAP, "CronJob dev-a/one"), (OVERLAP, "CronJob prod/two")} < EVERYTHING
    assert len({check for check, _ in EVERYTHING}) > 1


@pytest.mark.parametrize(
    "rule",
    [
        Rule(checks=(OVERLAP,), names=("one",)),
        Rule(checks=("cron-overlap-*",), namespaces=("dev-*",)),
        Rule(checks=(OVERLAP,), kinds=("Cron*",), names=("o*",), paths=("deploy/**",)),
    ],
)
def test_one_is_ignored_and_hides_no_other(rule: Rule) -> None:
    report = asked(msgspec.structs.replace(rule, reason="known", place=Place("pilotage.toml", 3)))
    assert told(report) == EVERYTHING - {(OVERLAP, "CronJob dev-a/one")}
    (ignored,) = report.ignored
    assert (ignored.reason, str(ignored.place)) == ("known", "pilotage.toml:3")
    assert not report.idle_rules


def test_all_conditions_must_hold() -> None:
    report = asked(Rule(names=("one",), namespaces=("prod",), reason="x"))
    assert told(report) == EVERYTHING
    (idle,) = report.idle_rules
    assert idle.why == "it means nothing that was checked"


def test_a_rule_of_a_family_without_other_conditions() -> None:
    assert not [one for one in asked(Rule(checks=("cronjobs",), reason="x")).findings if "cron-" in one.check]


def test_severity_of_rules_and_of_everything_else() -> None:
    def overlap(report: Report) -> list[Severity]:
        found = sorted(report.findings, key=lambda one: one.subject)
        return [one.severity for one in found if one.check == OVERLAP]

    low, critical = Severity.LOW, Severity.CRITICAL
    rule = Rule(checks=(OVERLAP,), names=("one",), severity=low, reason="x")
    own = overlap(asked())[0]
    assert overlap(asked(rule)) == [low, own]
    assert overlap(asked(rule, usual_severities={OVERLAP: critical})) == [low, critical]
    assert overlap(asked(rule, severities={OVERLAP: critical})) == [critical, critical]
    later = Rule(checks=(OVERLAP,), severity=critical, reason="y")
    assert overlap(asked(rule, later)) == [critical, critical]


def test_an_expired_rule_is_over_and_said_so() -> None:
    rule = Rule(checks=(OVERLAP,), reason="x", expires=TODAY - dt.timedelta(days=1))
    report = asked(rule)
    assert told(report) == EVERYTHING
    (idle,) = report.idle_rules
    assert idle.why == "it expired on 2026-11-29: 2 findings are back"
    last_day = Rule(checks=(OVERLAP,), reason="x", expires=TODAY)
    assert not asked(last_day).idle_rules
    gone = Rule(names=("nobody",), reason="x", expires=dt.date(2020, 1, 1))
    assert asked(gone).idle_rules[0].why == "it expired on 2020-01-01: remove it"


def test_idle_rules() -> None:
    quiet = Rule(checks=("cron-policy-misplaced",), names=("one",), reason="x")
    assert asked(quiet).idle_rules[0].why == "there is no such finding any more"
    nothing = Rule(names=("nobody",), reason="x")
    assert asked(nothing).idle_rules
    assert not asked(nothing, whole=False).idle_rules
    other = Rule(checks=("webhooks",), names=("nobody",), reason="x")
    assert not asked(other, select=("cronjobs",)).idle_rules


def test_paths_are_relative_to_the_file_of_the_rules(tmp_path: Path) -> None:
    file = tmp_path / "deploy" / "a.yaml"
    reading = read_text(CRON.format(name="one", namespace="x"), str(file))
    (one,) = reading.objects
    assert Rule(paths=("deploy/*",)).means(one, tmp_path)
    assert not Rule(paths=("deploy/*",)).means(one, tmp_path.parent)
    assert not Rule(paths=("**",)).means(KubeObject({"kind": "Pod", "metadata": {"name": "a"}}), tmp_path)


def test_a_rule_for_an_owner_covers_its_pods() -> None:
    owner = {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "db", "uid": "1"}}
    reference = {"kind": "StatefulSet", "name": "db", "controller": True}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "db-0", "ownerReferences": [reference]}}
    scene = Scene([KubeObject(owner), KubeObject(pod)], live=True)
    book = RuleBook([Rule(kinds=("StatefulSet",), reason="x")])
    check: Check = all_checks()[OVERLAP]
    assert book.decide(check, scene.objects[1], scene)[0] is not None
    assert book.decide(check, Gap(scene.objects[1], "x").subject, Scene(scene.objects[1:]))[0] is None
