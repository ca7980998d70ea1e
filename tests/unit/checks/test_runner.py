"""The runner: which checks, what becomes of their answers, ignores, baselines."""

from __future__ import annotations

from pathlib import Path

import pytest

from pilotage.checks.baseline import baseline_text, read_baseline
from pilotage.checks.ignores import entries
from pilotage.checks.model import (
    DOCUMENTATION_ONLY,
    Answers,
    Check,
    Gap,
    NotApplicable,
    Pass,
    Severity,
    Unknown,
    check,
)
from pilotage.checks.objects import KubeObject
from pilotage.checks.readers.files import read_text
from pilotage.checks.report import Report
from pilotage.checks.runner import RunSettings, chosen, run
from pilotage.checks.scene import Scene
from pilotage.core.errors import InvalidInput, NotFound, UnknownTerm
from rig.reports import full_report

POD = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: {}\nspec:\n  containers:\n  - name: a\n    image: x\n"


def made(id_: str, severity: Severity = Severity.HIGH, needs: tuple[str, ...] = ()) -> Check:
    def look(scene: Scene) -> Answers:
        """What it does
        X.
        Why it matters
        X.
        Incidents
        X.
        Fix
        Mend it.
        References
        X.
        """
        for one in scene.of("Pod"):
            if one.name == "good":
                yield Pass(one)
            elif one.name == "other":
                yield NotApplicable(one, "x")
            elif one.name == "dark":
                yield Unknown("too dark", one)
            else:
                yield Gap(one, "It is bad", ("spec", "containers", 0, "image"))

    options = {"title": "x", "severity": severity, "incidents": DOCUMENTATION_ONLY, "about": ("Pod",)}
    return check(id_, needs=needs, chart_severity=Severity.LOW, **options)(look)


CHECKS = {one.id: one for one in (made("first-check"), made("second-check", Severity.LOW))}


def ran(text: str, *, checks: dict[str, Check] | None = None, settings: RunSettings | None = None) -> Report:
    reading = read_text(text, "pods.yaml")
    return run(checks or CHECKS, Scene(reading.objects), settings, reading=reading)


def test_every_answer_is_counted_and_silence_is_no_pass() -> None:
    text = "---\n".join(POD.format(name) for name in ("bad", "good", "other", "dark"))
    report = ran(text, settings=RunSettings(select=("first-check",)))
    tally = report.tallies["first-check"]
    assert (tally.findings, tally.passed, tally.not_applicable, tally.unknown) == (1, 1, 1, 1)
    assert [str(one.place) for one in report.unknown] == ["pods.yaml:28:1"]
    (finding,) = report.findings
    assert str(finding.place) == "pods.yaml:8:5"
    assert finding.fix == "Mend it."
    assert report.reaches(Severity.HIGH)
    assert not report.reaches(Severity.CRITICAL)


def test_a_check_without_its_kinds_says_nothing() -> None:
    report = run(CHECKS, Scene([KubeObject({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}})]))
    assert report.tallies == {}


def test_what_cannot_be_read_turns_exactly_its_checks_to_unknown() -> None:
    checks = CHECKS | {"third-check": made("third-check", needs=("Secret",))}
    objects = read_text(POD.format("bad")).objects
    report = run(checks, Scene(objects, blind={"Secret": "may not list secrets"}))
    assert [(one.check, one.why) for one in report.unknown] == [
        ("third-check", "Secret: may not list secrets")
    ]
    assert {finding.check for finding in report.findings} == {"first-check", "second-check"}


def test_selection_and_severities() -> None:
    assert list(chosen(CHECKS, RunSettings(select=("first-*",)))) == ["first-check"]
    assert list(chosen(CHECKS, RunSettings(ignore=("first-check",)))) == ["second-check"]
    assert len(chosen(CHECKS, RunSettings(select=("test_runner",)))) == 2
    with pytest.raises(UnknownTerm) as caught:
        chosen(CHECKS, RunSettings(select=("schema,hp-*",)))
    assert "--select a --select b" in caught.value.hint
    with pytest.raises(UnknownTerm, match="names no check") as caught:
        chosen(CHECKS, RunSettings(select=("first-chek",)))
    assert "first-check" in caught.value.hint
    report = ran(POD.format("bad"), settings=RunSettings(severities={"first-check": Severity.MEDIUM}))
    assert [str(finding.severity) for finding in report.findings] == ["medium", "low"]


def test_defaults_of_a_chart_are_judged_mildly(tmp_path: Path) -> None:
    from pilotage.checks.readers.files import read_paths

    (tmp_path / "a.yaml").write_text(POD.format("bad"))
    reading = read_paths([str(tmp_path)], chart_defaults=True)
    assert run(CHECKS, Scene(reading.objects)).findings[0].severity == Severity.LOW


def test_pods_of_an_owner_that_is_not_there_make_one_finding() -> None:
    objects = []
    for number in range(5):
        (one,) = read_text(POD.format(f"bad-{number}")).objects
        owner = {"kind": "ReplicaSet", "name": "web-1", "controller": True}
        metadata = {"name": f"bad-{number}", "namespace": "n", "ownerReferences": [owner]}
        objects.append(KubeObject({**one.data, "metadata": metadata}))
    report = run(CHECKS, Scene(objects, live=True), RunSettings(select=("first-check",)))
    (finding,) = report.findings
    assert finding.count == 5
    assert str(finding.place) == "Pod n/bad-0 spec.containers[0].image"


@pytest.mark.parametrize(
    "text",
    [
        POD.format("bad").replace("    image: x", "    image: x  # pilotage: ignore[first-check] tried"),
        POD.format("bad").replace("    image: x", "    # pilotage: ignore[first-check] tried\n    image: x"),
        POD.format("bad").replace("spec:", "# pilotage: ignore[first-check] tried\n\n# and more\nspec:"),
        "# pilotage: ignore[first-check] tried\n" + POD.format("bad"),
        POD.format("bad") + "---\n# pilotage: ignore[first-check] tried\n" + POD.format("bad"),
        POD.format("bad").replace(
            "  name: bad", '  name: bad\n  annotations: {pilotage.dev/ignore: "first-check: tried"}'
        ),
    ],
)
def test_an_ignore_silences_one_check_where_it_stands(text: str) -> None:
    report = ran(text)
    pods = text.count("kind: Pod")
    assert [one.check for one in report.findings] == ["first-check"] * (pods - 1) + ["second-check"] * pods
    assert [(one.finding.check, one.reason) for one in report.ignored] == [("first-check", "tried")]
    assert not report.idle_ignores


@pytest.mark.parametrize(
    ("comment", "why"),
    [
        ("ignore[first-check] tried", "matches nothing"),
        ("ignore[first-chek] tried", "no check 'first-chek'"),
        ("ignore[first-check]", "gives no reason"),
    ],
)
def test_an_ignore_that_does_nothing_is_reported(comment: str, why: str) -> None:
    (idle,) = ran(f"# pilotage: {comment}\n" + POD.format("good")).idle_ignores
    assert why in idle.why
    assert str(idle.place) == "pods.yaml:1:1"


def test_an_ignore_of_a_check_that_did_not_run_is_not_idle() -> None:
    text = "# pilotage: ignore[first-check] tried\n" + POD.format("good")
    assert not ran(text, settings=RunSettings(select=("second-check",))).idle_ignores


def test_entries_of_an_annotation() -> None:
    text = "first-check: it is so; really\nsecond-check: because: of that"
    assert list(entries(text)) == [("first-check", "it is so; really"), ("second-check", "because: of that")]
    assert list(entries("a-b: x; c-d: y")) == [("a-b", "x"), ("c-d", "y")]
    assert list(entries("")) == []


def test_a_baseline_shows_only_what_is_new(tmp_path: Path) -> None:
    file = tmp_path / "baseline.json"
    before = ran(POD.format("bad"))
    file.write_text(baseline_text(before.findings))
    moved = "# a comment\n\n---\n" + POD.format("worse") + "---\n" + POD.format("bad")
    after = ran(moved, settings=RunSettings(baseline=read_baseline(file)))
    assert {finding.subject for finding in after.findings} == {"Pod worse"}
    assert len(after.known) == 2
    assert after.gone == 0
    gone = ran(POD.format("good"), settings=RunSettings(baseline=read_baseline(file)))
    assert gone.gone == 2


def test_a_baseline_counts_equal_objects(tmp_path: Path) -> None:
    file = tmp_path / "baseline.json"
    file.write_text(baseline_text(ran(POD.format("bad")).findings))
    twice = ran(
        POD.format("bad") + "---\n" + POD.format("bad"), settings=RunSettings(baseline=read_baseline(file))
    )
    assert len(twice.findings) == 2


def test_what_is_no_baseline_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "baseline.json"
    with pytest.raises(NotFound):
        read_baseline(file)
    for text in ("", "[]", '{"findings": [1]}', '{"version": 7, "findings": []}'):
        file.write_text(text)
        with pytest.raises(InvalidInput):
            read_baseline(file)


def test_what_is_ignored_stands_in_the_order_of_findings() -> None:
    # Sorted by where objects lie in memory, two runs would differ.
    ignored = [one.finding for one in full_report().ignored]
    assert len(ignored) > 1
    assert ignored == sorted(ignored, key=lambda one: (-one.severity.rank, one.check, one.place.file))
