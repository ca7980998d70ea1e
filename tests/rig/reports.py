"""A report with one of everything, for the tests of its forms."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from pathlib import Path

from pilotage.checks.model import Severity
from pilotage.checks.objects import Place
from pilotage.checks.readers.files import read_text
from pilotage.checks.readers.reading import Problem, Reading, Trouble
from pilotage.checks.registry import all_checks
from pilotage.checks.report import Report
from pilotage.checks.reports.incidents import Incident
from pilotage.checks.rules.rule import Rule, RuleBook
from pilotage.checks.runner import RunSettings, run
from pilotage.checks.scene import Scene
from pilotage.cli.check.incidents import incidents_of

HOSTILE = "x<script>alert(1)</script>`|,:%0A\u202e\x1b[31m"
TEXT = """
apiVersion: batch/v1
kind: CronJob
metadata: {name: one, namespace: dev}
spec:
  schedule: "*/5 * * * *"
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: Never
          concurrencyPolicy: "Forbid"
          containers: [{name: a, image: "a:1"}]
---
apiVersion: batch/v1
kind: CronJob
metadata:
  name: two
  annotations: {pilotage.dev/ignore: "cron-overlap-unbounded: the queue stops them; no-such-check: x"}
spec:
  schedule: "*/5 * * * *"
  jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: "a:1"}]}}}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: hook}
webhooks:
  - name: HOSTILE
    failurePolicy: Fail
    clientConfig: {service: {name: s, namespace: elsewhere}}
    rules: [{apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["*"]}]
"""


def full_report(file: str = "deploy/with space,.yaml") -> Report:
    """Findings of several checks and files, ignored ones, idle decisions, what could not be looked at or read."""
    text = TEXT.replace("HOSTILE", '"x<script>alert(1)</script>`|,:%0A\\u202e\\e[31m"')
    reading: Reading = read_text(text, file)
    reading.problems.append(Problem(Place("deploy/b.yaml", 3, 1), f"broken: {HOSTILE}", Trouble.BROKEN))
    reading.problems.append(Problem(Place("deploy/c.yaml", 1), "a template", Trouble.TEMPLATE, grave=False))
    reading.objects += read_text(TEXT.replace("HOSTILE", "a.b.c"), "deploy/d.yaml").objects
    rules = RuleBook(
        [
            Rule(checks=("webhook-self-*",), reason="known", place=Place("pilotage.toml", 3)),
            Rule(checks=("cronjobs",), names=("nobody",), reason="x", place=Place("pilotage.toml", 9)),
            Rule(
                checks=("cronjobs",), names=("one",), severity=Severity.LOW, reason="dev", place=Place("p", 1)
            ),
        ],
        today=dt.date(2026, 11, 30),
    )
    settings = RunSettings(rules=rules, select=("cronjobs", "webhooks", "webhook_backends"))
    return run(all_checks(), Scene(reading.objects), settings, reading=reading)


def empty_report(folder: Path) -> Report:
    """A run that found nothing to look at."""
    return run(all_checks(), Scene(), reading=read_text("a: 1\n", str(folder)))


def incidents(report: Report, lang: str = "en") -> Mapping[str, Incident]:
    """What its checks cite."""
    return incidents_of(report.checks.values(), "ko" if lang == "ko" else "en")
